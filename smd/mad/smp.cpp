#include "smd/mad/smp.h"

#include <fmt/core.h>

#include <algorithm>

#include "smd/mad/codec.h"

namespace smd {
namespace {

constexpr std::uint8_t kVersion = 1;
constexpr std::uint16_t kDirectionBit = 0x8000;
constexpr std::size_t kReservedBeforeData = 28;     // directed: bytes 36-63
constexpr std::size_t kLidReservedBeforeData = 32;  // LID-routed: bytes 32-63
constexpr std::size_t kDataOffset = 64;

std::string print_path(const Smp& smp) {
  std::string text = "0";
  const std::size_t hops = std::min<std::size_t>(smp.hop_count, kMaxHops);
  for (std::size_t i = 1; i <= hops; ++i) text += fmt::format(",{}", smp.initial_path[i]);
  return text;
}

}  // namespace

Result<Smp> decode_smp(std::span<const std::byte> mad) {
  if (mad.size() != kMadSize) {
    return fail(Errc::Malformed, fmt::format("SMP: {} bytes, a MAD has {}", mad.size(), kMadSize));
  }
  const Result<MadHeader> header = decode_mad_header(mad);
  if (!header) return tl::unexpected(header.error());
  const bool directed = header->mgmt_class == static_cast<std::uint8_t>(MgmtClass::SubnDirected);
  if (!directed && header->mgmt_class != static_cast<std::uint8_t>(MgmtClass::SubnLid)) {
    return fail(Errc::Malformed,
                fmt::format("SMP: class 0x{:02x}, not 0x01 or 0x81", header->mgmt_class));
  }
  if (header->base_version != kVersion || header->class_version != kVersion) {
    return fail(Errc::Malformed,
                fmt::format("SMP: base version {} and class version {}, both must be 1",
                            header->base_version,
                            header->class_version));
  }

  Smp smp;
  smp.directed = directed;
  smp.method = static_cast<Method>(header->method);
  smp.status = header->status;
  smp.transaction_id = header->transaction_id;
  smp.attribute_id = header->attribute_id;
  smp.attribute_modifier = header->attribute_modifier;

  ByteReader in(mad);
  in.skip(24);
  smp.m_key = MKey{in.u64()};
  if (directed) {
    smp.returning = (header->status & kDirectionBit) != 0;
    smp.status = header->status & static_cast<std::uint16_t>(~kDirectionBit);
    smp.hop_pointer = static_cast<std::uint8_t>(header->class_specific >> 8);
    smp.hop_count = static_cast<std::uint8_t>(header->class_specific & 0xff);
    if (smp.hop_count > kMaxHops) {
      return fail(Errc::Malformed,
                  fmt::format("SMP: hop count {}, at most {}", smp.hop_count, kMaxHops));
    }
    smp.dr_slid = Lid{in.u16()};
    smp.dr_dlid = Lid{in.u16()};
  }
  std::ranges::copy(mad.subspan(kDataOffset, kSmpDataSize), smp.data.begin());
  if (directed) {
    ByteReader paths(mad.subspan(kDataOffset + kSmpDataSize));
    smp.initial_path = paths.bytes<64>();
    smp.return_path = paths.bytes<64>();
  }
  return smp;
}

void encode_smp(const Smp& smp, std::span<std::byte, kMadSize> mad) {
  const std::uint16_t direction = smp.returning ? kDirectionBit : std::uint16_t{0};
  const MadHeader header{
      .base_version = kVersion,
      .mgmt_class =
          static_cast<std::uint8_t>(smp.directed ? MgmtClass::SubnDirected : MgmtClass::SubnLid),
      .class_version = kVersion,
      .method = static_cast<std::uint8_t>(smp.method),
      .status = smp.directed ? static_cast<std::uint16_t>(direction | (smp.status & ~kDirectionBit))
                             : smp.status,
      .class_specific = smp.directed
                            ? static_cast<std::uint16_t>(smp.hop_pointer << 8 | smp.hop_count)
                            : std::uint16_t{0},
      .transaction_id = smp.transaction_id,
      .attribute_id = smp.attribute_id,
      .attribute_modifier = smp.attribute_modifier,
  };
  encode_mad_header(header, mad);

  ByteWriter out(mad.subspan(24));
  out.u64(smp.m_key.value());
  if (smp.directed) {
    out.u16(smp.dr_slid.value());
    out.u16(smp.dr_dlid.value());
    out.zeros(kReservedBeforeData);
  } else {
    out.zeros(kLidReservedBeforeData);
  }
  for (const std::byte b : smp.data) out.u8(static_cast<std::uint8_t>(b));
  if (smp.directed) {
    out.bytes(smp.initial_path);
    out.bytes(smp.return_path);
  } else {
    out.zeros(128);
  }
}

std::string print_smp(const Smp& smp) {
  std::string line = fmt::format("{} {} mod {} tid 0x{:x}",
                                 print_method(static_cast<std::uint8_t>(smp.method)),
                                 print_attribute_id(smp.attribute_id),
                                 print_modifier(smp.attribute_modifier),
                                 smp.transaction_id);
  if (smp.directed) {
    line += fmt::format(" path {} hop {}/{}{}",
                        print_path(smp),
                        smp.hop_pointer,
                        smp.hop_count,
                        smp.returning ? " back" : "");
    if (smp.dr_slid != kPermissiveLid) line += fmt::format(" drslid {}", smp.dr_slid);
    if (smp.dr_dlid != kPermissiveLid) line += fmt::format(" drdlid {}", smp.dr_dlid);
  } else {
    line += " by lid";
  }
  if (smp.status != 0) line += fmt::format(" status {}", print_mad_status(smp.status));
  return line;
}

}  // namespace smd
