// What a set of routes is worth, whoever made them: the same measures for both sides.
#pragma once

#include <cstdint>

#include "smd/routing/tables.h"

namespace smd::bench {

struct RouteQuality {
  double mean_hops = 0;  // links between switches, over ordered pairs of hosts
  unsigned max_hops = 0;
  std::uint64_t lost = 0;    // ordered pairs of hosts that have no route
  unsigned lanes = 1;        // VLs on which packets of hosts travel
  bool credit_loop = false;  // packets of hosts can wait for each other in a circle
  std::uint64_t max_load = 0;
  double bisection = 0;  // effective, mean of 50 random permutations of the hosts, in parts of 1
};

/// Paths without an SL of their own have SL 0.
[[nodiscard]] RouteQuality measure_quality(const Fabric& fabric,
                                           const LidMap& lids,
                                           const RoutingTables& tables);

}  // namespace smd::bench
