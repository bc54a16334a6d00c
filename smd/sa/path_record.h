// PathRecord (IBA 15.2.5.16): a way from one port to another, and what a packet must know to take
// it. In a request each of MTU, rate and lifetime is a bound that its selector explains.
#pragma once

#include "smd/ib/bound.h"
#include "smd/ib/types.h"
#include "smd/sa/component_mask.h"

namespace smd::sa {

struct PathRecord {
  std::uint64_t service_id = 0;
  Gid dgid;
  Gid sgid;
  Lid dlid;
  Lid slid;
  bool raw_traffic = false;
  std::uint32_t flow_label = 0;  // 20 bits
  std::uint8_t hop_limit = 0;
  std::uint8_t tclass = 0;
  bool reversible = false;
  std::uint8_t numb_path = 0;  // 7 bits
  PKey p_key;
  std::uint16_t qos_class = 0;  // 12 bits
  std::uint8_t sl = 0;          // 4 bits
  Bound mtu;
  Bound rate;
  Bound life_time;
  std::uint8_t preference = 0;

  friend bool operator==(const PathRecord&, const PathRecord&) = default;
};

inline constexpr std::size_t kPathRecordSize = 64;

/// Bits of its ComponentMask.
namespace path_component {
inline constexpr std::uint64_t kServiceId = component_bit(0) | component_bit(1);
inline constexpr std::uint64_t kDgid = component_bit(2);
inline constexpr std::uint64_t kSgid = component_bit(3);
inline constexpr std::uint64_t kDlid = component_bit(4);
inline constexpr std::uint64_t kSlid = component_bit(5);
inline constexpr std::uint64_t kRawTraffic = component_bit(6);
inline constexpr std::uint64_t kReversible = component_bit(11);
inline constexpr std::uint64_t kNumbPath = component_bit(12);
inline constexpr std::uint64_t kPKey = component_bit(13);
inline constexpr std::uint64_t kQosClass = component_bit(14);
inline constexpr std::uint64_t kSl = component_bit(15);
inline constexpr std::uint64_t kMtuSelector = component_bit(16);
inline constexpr std::uint64_t kMtu = component_bit(17);
inline constexpr std::uint64_t kRateSelector = component_bit(18);
inline constexpr std::uint64_t kRate = component_bit(19);
inline constexpr std::uint64_t kLifeTimeSelector = component_bit(20);
inline constexpr std::uint64_t kLifeTime = component_bit(21);
}  // namespace path_component

Result<PathRecord> decode_path_record(std::span<const std::byte> data);

/// Requires: data.size() >= 64.
void encode_record(const PathRecord& record, std::span<std::byte> data);

}  // namespace smd::sa
