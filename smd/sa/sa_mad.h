// The administration's MADs: header, methods, attributes, ComponentMask, ClassPortInfo.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "smd/ib/rates.h"
#include "smd/ib/types.h"
#include "smd/mad/codec.h"
#include "smd/mad/header.h"

namespace smd::sa {

// The header of subnet administration (IBA 15.2.1.1): common MAD header, RMPP header (13.6.2), then
// SM_Key, AttributeOffset and ComponentMask; 200 bytes of data follow.

inline constexpr std::size_t kHeaderSize = 56;
inline constexpr std::size_t kDataSize = kMadSize - kHeaderSize;
inline constexpr std::uint8_t kClassVersion = 2;

/// The method of an answer; that of Set is the one of Get, that of GetTraceTable the one of
/// GetTable (IBA 15.2.2).
[[nodiscard]] constexpr std::uint8_t answer_method(std::uint8_t method) {
  auto of = static_cast<Method>(method);
  if (of == Method::Set) of = Method::Get;
  if (of == Method::GetTraceTable) of = Method::GetTable;
  return static_cast<std::uint8_t>(static_cast<std::uint8_t>(of) | kResponseBit);
}

/// Attribute ids of class 0x03 (IBA 15.2.4).
enum class RecordId : std::uint16_t {
  ClassPortInfo = 0x0001,
  Notice = 0x0002,
  InformInfo = 0x0003,
  NodeRecord = 0x0011,
  PortInfoRecord = 0x0012,
  SlToVlTableRecord = 0x0013,
  SwitchInfoRecord = 0x0014,
  LftRecord = 0x0015,
  RftRecord = 0x0016,
  MftRecord = 0x0017,
  SmInfoRecord = 0x0018,
  LinkRecord = 0x0020,
  GuidInfoRecord = 0x0030,
  ServiceRecord = 0x0031,
  PKeyTableRecord = 0x0033,
  PathRecord = 0x0035,
  VlArbTableRecord = 0x0036,
  McMemberRecord = 0x0038,
  TraceRecord = 0x0039,
  MultiPathRecord = 0x003a,
  InformInfoRecord = 0x00f3,
};

/// The status word of an answer: codes of the class in the upper byte (IBA 15.2.1.1, table 185),
/// those of every class in the lower.
enum class Status : std::uint16_t {
  Ok = 0,
  Busy = 0x0001,
  BadVersion = 0x0004,
  BadMethod = 0x0008,
  BadMethodAttribute = 0x000c,
  BadField = 0x001c,
  NoResources = 0x0100,
  RequestInvalid = 0x0200,
  NoRecords = 0x0300,
  TooManyRecords = 0x0400,
  InvalidGid = 0x0500,
  InsufficientComponents = 0x0600,
  Denied = 0x0700,
};

/// "PathRecord"; empty where the id is none of RecordId.
[[nodiscard]] std::string_view print_record_id(std::uint16_t id);

/// "ok", "no records"; "other" where it is none of Status.
[[nodiscard]] std::string_view print_status(Status status);

enum class RmppType : std::uint8_t { None = 0, Data = 1, Ack = 2, Stop = 3, Abort = 4 };

namespace rmpp_flag {
inline constexpr std::uint8_t kActive = 1;
inline constexpr std::uint8_t kFirst = 2;
inline constexpr std::uint8_t kLast = 4;
}  // namespace rmpp_flag

struct RmppHeader {
  std::uint8_t version = 0;         // 1 where RMPP is active
  std::uint8_t type = 0;            // raw; see RmppType
  std::uint8_t response_time = 31;  // 5 bits; 31: none given
  std::uint8_t flags = 0;           // 3 bits
  std::uint8_t status = 0;
  std::uint32_t segment = 0;  // of Data and Ack
  std::uint32_t length = 0;   // Data: PayloadLength; Ack: NewWindowLast

  [[nodiscard]] bool active() const { return (flags & rmpp_flag::kActive) != 0; }

  friend bool operator==(const RmppHeader&, const RmppHeader&) = default;
};

struct SaHeader {
  MadHeader mad;
  RmppHeader rmpp;
  SmKey sm_key;
  std::uint16_t attribute_offset = 0;  // of records in a table, in units of 8 bytes
  std::uint64_t component_mask = 0;

  friend bool operator==(const SaHeader&, const SaHeader&) = default;
};

/// Malformed when there are fewer than 56 bytes.
Result<SaHeader> decode_sa_header(std::span<const std::byte> mad);

/// Requires: mad.size() >= 56.
void encode_sa_header(const SaHeader& header, std::span<std::byte> mad);

// Which records a request asks for: those that agree with the request's record in every component
// whose bit is set in its ComponentMask (IBA 15.4.4). Compared as bytes, under a mask made once a
// request.

/// Bit `bit` of the mask stands for bits [first, first + width) of the record, the first being the
/// most significant bit of byte 0.
struct Component {
  std::uint8_t bit;
  std::uint16_t first;
  std::uint16_t width;
};

/// What a table of records looks like on the wire.
struct RecordShape {
  RecordId id;
  std::size_t size;  // a multiple of 8: the distance of records in a table; at most 200
  std::span<const Component> components;

  [[nodiscard]] std::uint16_t offset() const { return static_cast<std::uint16_t>(size / 8); }
};

inline constexpr std::uint64_t component_bit(unsigned bit) { return std::uint64_t{1} << bit; }

class ComponentFilter {
 public:
  /// Bits that no component has ask for nothing.
  ComponentFilter(const RecordShape& shape,
                  std::uint64_t mask,
                  std::span<const std::byte, kDataSize> wanted);

  /// Requires: record.size() == shape.size.
  [[nodiscard]] bool matches(std::span<const std::byte> record) const;

 private:
  std::size_t used_ = 0;  // bytes, up to the last that is compared
  std::array<std::byte, kDataSize> mask_{};
  std::array<std::byte, kDataSize> wanted_{};
};

// Words that several records have: bounds with their selector, GIDs, flow labels.

using codec::read_gid;
using codec::write_gid;

inline constexpr std::uint32_t kFlowLabelMask = 0xfffff;

/// Selector in the upper two bits (IBA 15.2.5.16).
[[nodiscard]] inline Bound read_bound(std::uint8_t byte) {
  return {static_cast<Selector>(codec::bits(byte, 6, 2)), codec::bits(byte, 0, 6)};
}

[[nodiscard]] inline std::uint8_t write_bound(const Bound& bound) {
  return codec::join(codec::place(static_cast<unsigned>(bound.selector), 6, 2),
                     codec::place(bound.value, 0, 6));
}

// ClassPortInfo (IBA 13.4.8.1): what this service can do and how long its answers take. Redirection
// and traps are not used: their fields are zero.

struct ClassPortInfo {
  std::uint8_t base_version = 1;
  std::uint8_t class_version = kClassVersion;
  std::uint16_t capability_mask = 0;
  std::uint32_t capability_mask2 = 0;  // 27 bits
  std::uint8_t resp_time_value = 0;    // 5 bits; 4.096 us * 2^n

  friend bool operator==(const ClassPortInfo&, const ClassPortInfo&) = default;
};

/// CapabilityMask bits of class 0x03 (IBA 15.2.5.1).
namespace sa_cap {
inline constexpr std::uint16_t kIsUdMulticastSupported = 1u << 9;
inline constexpr std::uint16_t kIsMultiPathSupported = 1u << 10;
inline constexpr std::uint16_t kIsPortInfoCapMaskMatchSupported = 1u << 13;
}  // namespace sa_cap

/// Of CapabilityMask2.
namespace sa_cap2 {
inline constexpr std::uint32_t kIsQosSupported = 1u << 1;
inline constexpr std::uint32_t kIsMulticastFdbTopSupported = 1u << 3;
inline constexpr std::uint32_t kIsAliasGuidsSupported = 1u << 5;
inline constexpr std::uint32_t kIsFullPortInfoRecordSupported = 1u << 6;
inline constexpr std::uint32_t kIsExtendedSpeedsSupported = 1u << 7;
inline constexpr std::uint32_t kIsPortInfoCapMask2MatchSupported = 1u << 10;
inline constexpr std::uint32_t kIsSendOnlyFullMemberSupported = 1u << 12;
inline constexpr std::uint32_t kIsLinkWidth2xSupported = 1u << 13;
inline constexpr std::uint32_t kIsLinkSpeedHdrSupported = 1u << 15;
}  // namespace sa_cap2

inline constexpr std::size_t kClassPortInfoSize = 72;

Result<ClassPortInfo> decode_class_port_info(std::span<const std::byte> data);

/// Requires: data.size() >= 72.
void encode_record(const ClassPortInfo& info, std::span<std::byte> data);

}  // namespace smd::sa
