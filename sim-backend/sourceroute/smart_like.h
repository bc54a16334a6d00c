// Balanced routes over turns without circles: a stand-in for smart-routing (Cherkasova, Kotov,
// Rokicki 1995), whose linear program and backtracking were never published. What it gives is
// printed as smart-like, not as theirs.
//
// Turns: those of a spanning tree, so that everybody reaches everybody, then all others, those that
// most shortest paths take first, as far as they close no circle. Ways: each pair in turn takes the
// one that adds least to the squares of all loads, detours among them, until nothing gets better.
#pragma once

#include "sim-backend/sourceroute/route_set.h"

namespace smd::sim {

/// From several spanning trees, the one that comes to the evenest loads.
[[nodiscard]] RouteSet smart_like(const RouteNet& net, std::uint64_t seed);

/// The same balance among shortest paths over all turns: they may wait in circles.
[[nodiscard]] RouteSet balance_locally(const RouteNet& net,
                                       std::uint64_t seed,
                                       std::size_t per_pair);

}  // namespace smd::sim
