// InformInfo (IBA 13.4.8.3): which notices a client wants to be told; InformInfoRecord (IBA
// 15.2.5.12): the same as the administration keeps it.
#pragma once

#include "smd/ib/types.h"
#include "smd/sa/component_mask.h"

namespace smd::sa {

/// "Any", in the fields that have it.
inline constexpr std::uint16_t kAnyType = 0xffff;
inline constexpr std::uint16_t kAnyTrap = 0xffff;
inline constexpr std::uint32_t kAnyProducer = 0xffffff;
inline constexpr Lid kAnyLid{0xffff};

struct InformInfo {
  Gid gid;                        // of the source of the notice; zero: by LID
  Lid lid_first = kAnyLid;        // 0xffff: from anybody
  Lid lid_last = kUnassignedLid;  // 0: lid_first alone
  std::uint8_t is_generic = 1;    // raw; 0 or 1 mean something
  std::uint8_t subscribe = 1;     // likewise
  std::uint16_t type = kAnyType;
  std::uint16_t trap_or_device = kAnyTrap;
  std::uint32_t qpn = 0;       // 24 bits: whose subscription ends
  std::uint8_t resp_time = 0;  // 5 bits: 4.096 us * 2^n, how long the subscriber takes to answer
  std::uint32_t producer_or_vendor = kAnyProducer;  // 24 bits

  friend bool operator==(const InformInfo&, const InformInfo&) = default;
};

struct InformInfoRecord {
  Gid subscriber;
  std::uint16_t number = 0;  // of the subscription, among its subscriber's
  InformInfo info;

  friend bool operator==(const InformInfoRecord&, const InformInfoRecord&) = default;
};

inline constexpr std::size_t kInformInfoSize = 36;

extern const RecordShape kInformInfoRecord;

Result<InformInfo> decode_inform_info(std::span<const std::byte> data);
Result<InformInfoRecord> decode_inform_info_record(std::span<const std::byte> data);

/// Requires: data.size() >= 36.
void encode_record(const InformInfo& info, std::span<std::byte> data);

/// Fills `data`, which has the size of the record's shape.
void encode_record(const InformInfoRecord& record, std::span<std::byte> data);

}  // namespace smd::sa
