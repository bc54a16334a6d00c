// What a rule carries at most: the share of its hosts' links at which the fullest channel is full,
// counted way by way over a shape, and in closed form for shapes that are all alike.
#pragma once

#include "sim-backend/adaptive/rule.h"

namespace smd::sim {

/// Who sends to whom, router by router; each host of a router to any host of the other.
enum class RouterPattern : std::uint8_t {
  Uniform,        // any router, the own one included
  BetweenGroups,  // any router of another group
  NextDiagonal,   // the next one in every dimension (MDN)
  NextRouter,     // the next one in the fabric's order (HRN)
  NextGroup       // any router of the next group (adv+1)
};

/// "uniform", "uniform between groups", "mdn", "hrn", "adv+1".
[[nodiscard]] std::string_view pattern_name(RouterPattern pattern);

/// Counted. Requires: the rule is Minimal, MinimalAdaptive or Valiant; every router has as many
/// hosts; patterns of groups are for dragonflies. Trunks are shared evenly, as by JSQ or by chance;
/// so are gateways, where the rule does not take its own first, and dimensions that are left to it.
[[nodiscard]] double count_limit(const AdaptiveRoutes& routes, RouterPattern pattern);

/// Of a butterfly from its sides K, trunks t and hosts c of a router; of a dragonfly from its
/// routers a, groups b, global trunk t and c, where its global cables are what limits it. Nothing
/// for pairs of rule and pattern without a closed form. That of MinimalAdaptive is for any way to
/// share the dimensions: no other one carries more.
[[nodiscard]] std::optional<double> closed_limit(const AdaptiveRoutes& routes,
                                                 RouterPattern pattern);

}  // namespace smd::sim
