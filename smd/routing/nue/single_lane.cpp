#include "smd/routing/nue/single_lane.h"

#include <array>

namespace smd {
namespace {

// How far apart destinations are that follow each other.
constexpr std::array<std::size_t, 2> kStrides{2, 6};

}  // namespace

std::unique_ptr<NuePlanner> plan_single_lane(const SwitchGraph& graph,
                                             const Channels& channels,
                                             const Targets& targets,
                                             const std::vector<std::uint32_t>& costs) {
  auto best = std::make_unique<NuePlanner>(graph, channels, targets, costs);
  if (best->plan(1, true)) {
    best->polish();
    return best;
  }
  std::uint64_t fewest = ~std::uint64_t{0};
  for (const std::size_t stride : kStrides) {
    auto planner = std::make_unique<NuePlanner>(graph, channels, targets, costs);
    if (!planner->plan_in_strides(stride, fewest)) continue;
    fewest = planner->count_links();
    best = std::move(planner);
  }
  best->relieve();
  return best;
}

}  // namespace smd
