// What given routes are worth to traffic, in three measures that may want opposite things, and what
// the fullest channel must carry whatever the routes. Shares no code with the engines.
#pragma once

#include <cstdint>
#include <optional>

#include "smd/fabric/fabric.h"
#include "smd/routing/tables.h"
#include "smd/routing/verify/channel_load.h"
#include "smd/routing/verify/patterns.h"

namespace smd {

/// As those of RouteMeasures, where every flow is spread evenly over the LIDs of its destination.
struct SpreadMeasures {
  double uniform = 1, shifts = 1, worst_shift = 1;

  friend bool operator==(const SpreadMeasures&, const SpreadMeasures&) = default;
};

/// Shares are of `full_rate`, at most 1. Routes to the base LIDs.
struct RouteMeasures {
  FullRate full_rate;
  LoadReport load;         // over all pairs of hosts
  double mean_hops = 0;    // links between switches, over pairs that arrive
  std::uint64_t lost = 0;  // pairs of hosts without a route

  double uniform = 1;       // everybody to everybody at once
  double permutations = 1;  // what a flow gets, mean over random permutations of the hosts
  double shifts = 1;        // hosts of one switch to those of another, mean over all such shifts
  double worst_shift = 1;   // the one of them that gets least

  std::optional<SpreadMeasures> spread;  // nothing: not asked for, or hosts have one LID each

  friend bool operator==(const RouteMeasures&, const RouteMeasures&) = default;
};

struct MeasureOptions {
  unsigned permutations = 50;
  std::uint64_t seed = 1;
  bool shifts = true;
  bool spread = false;
  unsigned threads = 0;  // that follow shifts; 0: as many as it is worth
};

/// The same for the same tables, by any number of threads. On 11,664 hosts at 648 of 1,620 switches
/// it takes longest over shifts, of which there are 647.
///
/// A shift has hosts in the order of their switches: it takes the first host of the first switch to
/// the first of another one, and everybody else as far. Every channel serves its flows alike, and
/// the slowest flow says what a shift gets. All of them one after another are all-to-all as most
/// programs send it; their mean is that of the times.
[[nodiscard]] RouteMeasures measure_routes(const Fabric& fabric,
                                           const LidMap& lids,
                                           const ForwardingTables& tables,
                                           const MeasureOptions& options = {});

}  // namespace smd
