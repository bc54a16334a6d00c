// How even loads have to be after a change.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "smd/routing/switch_graph.h"
#include "smd/routing/tables.h"

namespace smd {

/// Paths that begin at each switch, and what all trees to each draw.
struct Traffic {
  IndexVector<SwitchIdx, std::uint32_t> sources;
  IndexVector<SwitchIdx, std::uint64_t> draws;
};

/// No routes leave every channel below this: what begins or ends at a switch passes its cables,
/// and all paths together, as long as they are, spread over all of them.
/// `load` and `costs` by edge.
[[nodiscard]] std::uint64_t find_least_peak(const SwitchGraph& graph,
                                            const Traffic& traffic,
                                            const std::vector<std::uint32_t>& costs,
                                            std::span<const std::uint64_t> load);

[[nodiscard]] Evenness measure_evenness(std::span<const std::uint64_t> load);

/// What no channel need go below.
struct LoadAim {
  std::uint64_t best;    // nothing can be noticeably evener
  std::uint64_t enough;  // as even as routes from scratch, or `best`
};

/// `before`: of the tables in force. It says nothing about a fabric that has more channels now.
[[nodiscard]] LoadAim find_load_aim(std::uint64_t least_peak,
                                    const Evenness& before,
                                    std::span<const std::uint64_t> load);

/// What to hand on: `before` where that still says something, else as it is now.
[[nodiscard]] Evenness carry_evenness(const Evenness& before, std::span<const std::uint64_t> load);

}  // namespace smd
