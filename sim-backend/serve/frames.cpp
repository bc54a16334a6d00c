#include "sim-backend/serve/frames.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace smd::sim {
namespace {

constexpr std::uint32_t kMagic = 0xdeadbeef;
constexpr std::size_t kNodeNameSize = 32;

// Offsets of a packet.
constexpr std::size_t kDlid = 0, kSlid = 4, kDqp = 8, kSqp = 12, kStatus = 16, kLength = 24,
                      kMad = 32;

template <class T>
T load(std::span<const std::byte> bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

template <class T>
void store(std::span<std::byte> bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

template <class T>
constexpr T reverse(T value) {
  T out = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    out = static_cast<T>(out << 8 | (value & 0xff));
    value = static_cast<T>(value >> 8);
  }
  return out;
}

/// Between network and machine order; its own inverse.
template <class T>
constexpr T swap_order(T value) {
  return std::endian::native == std::endian::big ? value : reverse(value);
}

/// A LID is a 16-bit integer in network order, kept in the low half of a machine-order word.
Lid load_lid(std::span<const std::byte> bytes, std::size_t at) {
  return Lid{swap_order(static_cast<std::uint16_t>(load<std::uint32_t>(bytes, at)))};
}

void store_lid(std::span<std::byte> bytes, std::size_t at, Lid lid) {
  store<std::uint32_t>(bytes, at, swap_order(lid.value()));
}

}  // namespace

Result<ControlFrame> decode_control(std::span<const std::byte> datagram) {
  if (datagram.size() != kControlSize) {
    return fail(Errc::Malformed,
                fmt::format("control datagram of {} bytes, not {}", datagram.size(), kControlSize));
  }
  if (const auto magic = load<std::uint32_t>(datagram, 0); magic != kMagic) {
    return fail(Errc::Malformed,
                fmt::format("control datagram with magic number {:#x}, not {:#x}", magic, kMagic));
  }
  ControlFrame frame;
  frame.client = load<std::uint32_t>(datagram, 4);
  frame.type = load<std::uint32_t>(datagram, 8);
  frame.length = load<std::uint32_t>(datagram, 12);
  std::copy_n(datagram.begin() + 16, kControlDataSize, frame.data.begin());
  return frame;
}

void encode_control(const ControlFrame& frame, std::span<std::byte, kControlSize> datagram) {
  store(datagram, 0, kMagic);
  store(datagram, 4, frame.client);
  store(datagram, 8, frame.type);
  store(datagram, 12, frame.length);
  std::copy(frame.data.begin(), frame.data.end(), datagram.begin() + 16);
}

ConnectData decode_connect(const ControlData& data) {
  ConnectData connect;
  connect.id = load<std::uint32_t>(data, 0);
  connect.qp = load<std::uint32_t>(data, 4);
  connect.is_sm = load<std::uint32_t>(data, 8) != 0;
  for (std::size_t i = 0; i < kNodeNameSize - 1 && data[12 + i] != std::byte{0}; ++i) {
    connect.node.push_back(static_cast<char>(data[12 + i]));
  }
  return connect;
}

ControlData encode_connect(const ConnectData& connect) {
  ControlData data{};
  store(std::span{data}, 0, connect.id);
  store(std::span{data}, 4, connect.qp);
  store<std::uint32_t>(data, 8, connect.is_sm ? 1 : 0);
  std::memcpy(
      data.data() + 12, connect.node.data(), std::min(connect.node.size(), kNodeNameSize - 1));
  return data;
}

ControlData encode_vendor(std::uint32_t vendor, std::uint32_t part, std::uint32_t hw) {
  ControlData data{};
  store(std::span{data}, 0, vendor);
  store(std::span{data}, 4, part);
  store(std::span{data}, 8, hw);
  store<std::uint64_t>(data, 16, 1);  // firmware version
  return data;
}

ControlData encode_port(Lid lid, std::uint8_t state) {
  ControlData data{};
  store(std::span{data}, 0, lid.value());
  store(std::span{data}, 2, state);
  return data;
}

bool decode_flag(const ControlData& data) { return load<std::uint32_t>(data, 0) != 0; }

Result<PacketFrame> decode_packet(std::span<const std::byte> datagram) {
  if (datagram.size() != kPacketSize) {
    return fail(Errc::Malformed,
                fmt::format("packet of {} bytes, not {}", datagram.size(), kPacketSize));
  }
  PacketFrame frame;
  frame.dlid = load_lid(datagram, kDlid);
  frame.slid = load_lid(datagram, kSlid);
  frame.dqp = swap_order(load<std::uint32_t>(datagram, kDqp));
  frame.sqp = swap_order(load<std::uint32_t>(datagram, kSqp));
  frame.status = swap_order(load<std::uint32_t>(datagram, kStatus));
  frame.length = swap_order(load<std::uint64_t>(datagram, kLength));
  if (frame.length > kMadSize) {
    return fail(
        Errc::Malformed,
        fmt::format("packet that claims a MAD of {} bytes, more than {}", frame.length, kMadSize));
  }
  std::copy_n(datagram.begin() + kMad, kMadSize, frame.mad.begin());
  return frame;
}

void encode_packet(const PacketFrame& frame, std::span<std::byte, kPacketSize> datagram) {
  store_lid(datagram, kDlid, frame.dlid);
  store_lid(datagram, kSlid, frame.slid);
  store(datagram, kDqp, swap_order(frame.dqp));
  store(datagram, kSqp, swap_order(frame.sqp));
  store(datagram, kStatus, swap_order(frame.status));
  store<std::uint32_t>(datagram, 20, 0);
  store(datagram, kLength, swap_order(frame.length));
  std::copy(frame.mad.begin(), frame.mad.end(), datagram.begin() + kMad);
}

}  // namespace smd::sim
