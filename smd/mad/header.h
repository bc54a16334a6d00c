// The common MAD header (IBA 13.4.2): 24 bytes in front of every management datagram of 256 bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "smd/base/result.h"

namespace smd {

inline constexpr std::size_t kMadSize = 256;
using MadBytes = std::array<std::byte, kMadSize>;

enum class MgmtClass : std::uint8_t {
  SubnLid = 0x01,
  SubnAdm = 0x03,
  Performance = 0x04,
  SubnDirected = 0x81,
  CongestionControl = 0x21,
};

/// Method codes (IBA 13.4.5, 15.2.2); bit 7 (R) is part of the value.
enum class Method : std::uint8_t {
  Get = 0x01,
  Set = 0x02,
  Send = 0x03,
  Trap = 0x05,
  Report = 0x06,
  TrapRepress = 0x07,
  GetTable = 0x12,
  GetTraceTable = 0x13,
  GetMulti = 0x14,
  Delete = 0x15,
  GetResp = 0x81,
  ReportResp = 0x86,
  GetTableResp = 0x92,
};

inline constexpr std::uint8_t kResponseBit = 0x80;

[[nodiscard]] constexpr bool is_response(Method method) {
  return (static_cast<std::uint8_t>(method) & kResponseBit) != 0 || method == Method::TrapRepress;
}

enum class AttributeId : std::uint16_t {
  ClassPortInfo = 0x0001,
  Notice = 0x0002,
  NodeDescription = 0x0010,
  NodeInfo = 0x0011,
  SwitchInfo = 0x0012,
  GuidInfo = 0x0014,
  PortInfo = 0x0015,
  PKeyTable = 0x0016,
  SlToVlMappingTable = 0x0017,
  VlArbitrationTable = 0x0018,
  LinearForwardingTable = 0x0019,
  RandomForwardingTable = 0x001a,
  MulticastForwardingTable = 0x001b,
  SmInfo = 0x0020,
  SwitchPortStateTable = 0x0034,
  // Of one vendor (Mellanox): vendor.h.
  PrivateLftInfo = 0xff10,
  GeneralInfo = 0xff17,
  AdaptiveRoutingInfo = 0xff20,
  ExtendedPortInfo = 0xff90,
};

/// Status codes of a MAD (low five bits, IBA 13.4.7).
enum class MadStatus : std::uint16_t {
  Ok = 0,
  Busy = 0x0001,
  BadVersion = 0x0004,
  BadMethod = 0x0008,
  BadMethodAttribute = 0x000c,
  BadField = 0x001c,
};

/// For class 0x81 the status word also holds D and hop fields; see smp.h.
struct MadHeader {
  std::uint8_t base_version = 1;
  std::uint8_t mgmt_class = 0;  // raw: unknown classes must survive
  std::uint8_t class_version = 1;
  std::uint8_t method = 0;  // raw, R bit included
  std::uint16_t status = 0;
  std::uint16_t class_specific = 0;
  std::uint64_t transaction_id = 0;
  std::uint16_t attribute_id = 0;
  std::uint32_t attribute_modifier = 0;

  friend bool operator==(const MadHeader&, const MadHeader&) = default;
};

/// Requires nothing of the bytes beyond 24 of them; Malformed when there are fewer.
Result<MadHeader> decode_mad_header(std::span<const std::byte> mad);

/// Requires: mad.size() >= 24.
void encode_mad_header(const MadHeader& header, std::span<std::byte> mad);

/// "Get PortInfo mod 3 tid 0x…".
[[nodiscard]] std::string print_mad_header(const MadHeader& header);

/// "PortInfo", or "0x1234" for ids that subnet management has no name for.
[[nodiscard]] std::string print_attribute_id(std::uint16_t id);

/// "Get", "GetResp", or "method 0x42".
[[nodiscard]] std::string print_method(std::uint8_t method);

/// "ok", or "0x001c (invalid field)".
[[nodiscard]] std::string print_mad_status(std::uint16_t status);

/// Small modifiers in decimal, composed ones in hexadecimal.
[[nodiscard]] std::string print_modifier(std::uint32_t modifier);

}  // namespace smd
