// ServiceRecord (IBA 15.2.5.15): a service and the port that offers it.
#pragma once

#include <array>

#include "smd/ib/types.h"
#include "smd/sa/component_mask.h"

namespace smd::sa {

/// ServiceLease of a record that stays until it is deleted; any other is seconds.
inline constexpr std::uint32_t kForever = 0xffffffff;

struct ServiceRecord {
  std::uint64_t id = 0;
  Gid gid;
  PKey p_key;
  std::uint32_t lease_s = kForever;
  std::array<std::uint8_t, 16> key{};
  std::array<std::uint8_t, 64> name{};  // UTF-8, as it came
  std::array<std::uint8_t, 64> data{};  // ServiceData8, 16, 32 and 64

  friend bool operator==(const ServiceRecord&, const ServiceRecord&) = default;
};

/// Bits of its ComponentMask.
namespace service_component {
inline constexpr std::uint64_t kId = component_bit(0);
inline constexpr std::uint64_t kGid = component_bit(1);
inline constexpr std::uint64_t kPKey = component_bit(2);
inline constexpr std::uint64_t kLease = component_bit(4);
inline constexpr std::uint64_t kKey = component_bit(5);
}  // namespace service_component

extern const RecordShape kServiceRecord;

Result<ServiceRecord> decode_service_record(std::span<const std::byte> data);

/// Fills `data`, which has the size of the record's shape.
void encode_record(const ServiceRecord& record, std::span<std::byte> data);

}  // namespace smd::sa
