// Congestion on links of today: what a setting of congestion control does to victims, contributors
// and the hot link, and to a collective.
#pragma once

#include <string>

#include "sim-backend/congestion/preset.h"
#include "smd/base/result.h"

namespace smd::sim {

enum class ModernSetting : std::uint8_t {
  None,
  Planned,        // annex A10, set as `smsim cc-plan` says
  PlannedRare,    // the same, but a port marks one packet in so many as an empty path holds
  PlannedCoarse,  // the same, but the table has the waits of the formulas alone
  Published,      // annex A10: threshold 15, a mark on each packet, CCTI limit 127, timer 150
  Vendor,         // the same with the marking rate of a vendor's manager: 10 packets between marks
  Mvcm,           // window of the path
  MvcmOfTwo,      // window of two packets
};

struct ModernFabric {
  std::string name;
  std::string call;  // with 4x HDR
  std::string engine;
  unsigned vls = 4;
};

struct ModernLoad {
  unsigned contributors = 0;
  unsigned packets = 0;     // of each, of 2,048 bytes; 0: without end
  double load = 0.3;        // of victims
  unsigned warm_us = 100;   // until contributors begin
  unsigned lasts_us = 500;  // what is measured, where contributors have no end
};

struct ModernResult {
  double victim_mean_us = 0;
  double victim_p99_us = 0;
  double victim_accepted = 0;  // share of what they offer, in packets
  double fairness = 1;         // Jain's index of what contributors got through
  double least_share = 1;      // of the worst of them, against their mean
  double link_share = 0;       // of the hot spot's link
  double completed_us = 0;     // of contributors with an end, or a collective
  std::uint64_t marked = 0;
};

[[nodiscard]] Result<ModernResult> run_contention(const ModernFabric& fabric,
                                                  ModernSetting setting,
                                                  const ModernLoad& load);

/// A ring all-reduce over all hosts, of so many bytes of each.
[[nodiscard]] Result<ModernResult> run_all_reduce(const ModernFabric& fabric,
                                                  ModernSetting setting,
                                                  std::uint64_t bytes);

}  // namespace smd::sim
