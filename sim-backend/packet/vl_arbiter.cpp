#include "sim-backend/packet/vl_arbiter.h"

#include "sim-backend/packet/credits.h"

namespace smd::sim {
namespace {

constexpr std::int32_t kLimitUnit = 4096;
constexpr std::uint8_t kNoLimit = 255;

std::uint16_t read_table(const std::array<VlArbEntry, 2 * kVlArbBlockSize>& registers,
                         unsigned vls,
                         std::vector<ArbitrationTables::Entry>& out) {
  std::uint16_t mask = 0;
  for (const VlArbEntry& entry : registers) {
    const unsigned vl = entry.vl.value();
    if (entry.weight == 0 || vl >= vls) continue;
    out.push_back(
        {static_cast<std::uint8_t>(vl), static_cast<std::uint16_t>(entry.weight * kBlockBytes)});
    mask = static_cast<std::uint16_t>(mask | 1u << vl);
  }
  return mask;
}

}  // namespace

ArbitrationTables build_arbitration(const VlArbTables& registers,
                                    std::uint8_t high_limit,
                                    unsigned vls) {
  ArbitrationTables tables{.high_limit = high_limit};
  tables.high_vls = read_table(registers.high, vls, tables.high);
  tables.low_vls = read_table(registers.low, vls, tables.low);
  return tables;
}

unsigned VlArbiter::scan(const std::vector<ArbitrationTables::Entry>& table,
                         Place& place,
                         std::uint16_t available) {
  if (!place.begun) place = {.at = 0, .begun = true, .left = table.front().bytes};
  // Once around and the first one again, whose weight is then whole.
  for (std::size_t step = 0; step <= table.size(); ++step) {
    const ArbitrationTables::Entry& entry = table[place.at];
    if (place.left > 0 && (available >> entry.vl & 1) != 0) return entry.vl;
    place.at = static_cast<std::uint8_t>(place.at + 1u < table.size() ? place.at + 1u : 0u);
    place.left = table[place.at].bytes;
  }
  return kNobody;
}

unsigned VlArbiter::choose(const ArbitrationTables& tables, std::uint16_t available) {
  const bool high = (available & tables.high_vls) != 0;
  const bool low = (available & tables.low_vls) != 0;
  if (!high && !low) return kNobody;
  if (!high_running_) {
    high_running_ = true;
    high_left_ = tables.high_limit * kLimitUnit;
  }
  bool expired = tables.high_limit != kNoLimit && high_left_ < 0;
  if (expired && !low) {
    // Low priority had its turn and nothing to send.
    expired = false;
    high_left_ = tables.high_limit * kLimitUnit;
  }
  chose_high_ = high && !expired;
  if (chose_high_) return scan(tables.high, high_, available);
  high_running_ = false;
  return scan(tables.low, low_, available);
}

void VlArbiter::charge(const ArbitrationTables& tables, unsigned bytes) {
  Place& place = chose_high_ ? high_ : low_;
  place.left -= static_cast<std::int32_t>(bytes);
  if (!chose_high_ || tables.high_limit == kNoLimit) return;
  // A limit of 0 is one packet.
  high_left_ -= static_cast<std::int32_t>(bytes);
}

}  // namespace smd::sim
