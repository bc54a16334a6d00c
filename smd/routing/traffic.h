// What balance counts besides the number of paths: what end ports draw, and what links can carry.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "smd/routing/switch_graph.h"

namespace smd {

/// Sets Target::draws by port GUID; ports not named keep the 1. A port of weight 0 does not count
/// as a sender either. Requires: `weights` ascends by GUID.
void apply_weights(const Fabric& fabric,
                   std::span<const std::pair<Guid, std::uint32_t>> weights,
                   Targets& targets);

/// By edge, how much of a link's time a path takes: 1 everywhere where all links are equally fast,
/// else 16 on the fastest. Links of unknown speed count as fast.
[[nodiscard]] std::vector<std::uint32_t> find_link_costs(const Fabric& fabric,
                                                         const SwitchGraph& graph);

}  // namespace smd
