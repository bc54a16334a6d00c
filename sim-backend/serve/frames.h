// The two datagrams that libumad2sim and ibsim exchange: 80 bytes of control, 288 bytes around a
// MAD. Layouts: docs/formats/ibsim-socket.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "smd/base/result.h"
#include "smd/ib/types.h"
#include "smd/mad/header.h"

namespace smd::sim {

inline constexpr std::size_t kControlSize = 80;
inline constexpr std::size_t kControlDataSize = 64;
inline constexpr std::size_t kPacketSize = 288;

enum class ControlType : std::uint32_t {
  Error = 0,  // only in replies
  Connect = 1,
  Disconnect = 2,
  GetPort = 3,
  GetVendor = 4,
  GetGid = 5,
  GetGuid = 6,
  GetNodeInfo = 7,
  GetPortInfo = 8,
  SetIsSm = 9,
  GetPKeys = 10,
};

using ControlData = std::array<std::byte, kControlDataSize>;

/// Integers travel in the byte order of the machine, since both ends share it.
struct ControlFrame {
  std::uint32_t client = 0;
  std::uint32_t type = 0;    // raw: unknown types are answered, with Error
  std::uint32_t length = 0;  // of data that means something; echoed, never trusted
  ControlData data{};

  friend bool operator==(const ControlFrame&, const ControlFrame&) = default;
};

/// Malformed unless 80 bytes that start with the magic number.
[[nodiscard]] Result<ControlFrame> decode_control(std::span<const std::byte> datagram);
void encode_control(const ControlFrame& frame, std::span<std::byte, kControlSize> datagram);

/// Data of Connect. `id` is the client's pid in the request and its number in the reply.
struct ConnectData {
  std::uint32_t id = 0;
  std::uint32_t qp = 0;
  bool is_sm = false;
  std::string node;  // at most 31 bytes; empty: wherever the fabric wants it

  friend bool operator==(const ConnectData&, const ConnectData&) = default;
};

[[nodiscard]] ConnectData decode_connect(const ControlData& data);
[[nodiscard]] ControlData encode_connect(const ConnectData& connect);

/// Data of the replies to GetVendor and GetPort.
[[nodiscard]] ControlData encode_vendor(std::uint32_t vendor, std::uint32_t part, std::uint32_t hw);
[[nodiscard]] ControlData encode_port(Lid lid, std::uint8_t state);

/// The 32-bit integer that the data of SetIsSm starts with.
[[nodiscard]] bool decode_flag(const ControlData& data);

/// ETIMEDOUT, as ibsim sends it back with a request that got lost.
inline constexpr std::uint32_t kStatusTimedOut = 110;

struct PacketFrame {
  Lid dlid;
  Lid slid;
  std::uint32_t dqp = 0;
  std::uint32_t sqp = 0;
  std::uint32_t status = 0;
  std::uint64_t length = kMadSize;  // of the MAD that means something
  MadBytes mad{};

  friend bool operator==(const PacketFrame&, const PacketFrame&) = default;
};

/// Malformed unless 288 bytes whose length field is at most 256.
[[nodiscard]] Result<PacketFrame> decode_packet(std::span<const std::byte> datagram);
void encode_packet(const PacketFrame& frame, std::span<std::byte, kPacketSize> datagram);

}  // namespace smd::sim
