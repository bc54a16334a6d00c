// What routes give to a traffic pattern, counted exactly: no simulation. Routes to the base LIDs.
#pragma once

#include "smd/routing/patterns.h"
#include "smd/routing/tables.h"

namespace smd {

struct PatternLoad {
  std::uint64_t flows = 0;  // pairs of hosts that send, on different switches or not
  std::uint64_t lost = 0;   // of those: without a route

  // Per channel between switches, in what one host sends at full rate.
  double max = 0;
  double mean = 0;
  double stddev = 0;  // population

  double max_host = 0;    // what the busiest host is sent
  double throughput = 1;  // of its full rate that every host can send at once, at most 1
};

/// Channels that are faster or slower than the slowest host's cable carry accordingly more or less;
/// an unknown rate is taken for the same. Requires: pattern is about `hosts`.
[[nodiscard]] PatternLoad measure_pattern(const Fabric& fabric,
                                          const LidMap& lids,
                                          const ForwardingTables& tables,
                                          std::span<const PortIdx> hosts,
                                          const TrafficPattern& pattern);

struct EffectiveBisection {
  double mean = 1;   // share of its full rate that a flow gets
  double worst = 1;  // of the permutations: the mean of the worst one
  std::uint64_t lost = 0;
};

/// Over random permutations of the hosts: a flow gets one part in as many as there are flows on the
/// busiest channel of its path (Schneider, Hoefler and Lumsdaine, ORCS, 2009). Channels count as
/// equally fast.
[[nodiscard]] EffectiveBisection measure_effective_bisection(const Fabric& fabric,
                                                             const LidMap& lids,
                                                             const ForwardingTables& tables,
                                                             std::span<const PortIdx> hosts,
                                                             unsigned permutations,
                                                             std::uint64_t seed);

}  // namespace smd
