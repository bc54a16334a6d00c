// Layering that starts from lanes in force.
#include <algorithm>
#include <utility>

#include "smd/routing/layers/layering.h"

namespace smd {
namespace {

constexpr std::uint64_t kBudget = 20'000'000;

}  // namespace

bool Layering::put(std::uint32_t tree, SwitchIdx source, std::uint8_t lane) {
  const std::uint8_t now = row(row_of(tree))[source.value()];
  if (now == kWaiting) set_lane(row_of(tree), source.value(), lane);
  return now == kWaiting || now == kNoPath || now == lane;
}

void Layering::reopen(std::uint32_t tree, SwitchIdx source) {
  const std::size_t number = row_of(tree);
  const std::uint8_t now = row(number)[source.value()];
  if (now >= kLeftOut) return;
  reopened_.push_back({number, source.value(), now});
  set_lane(number, source.value(), kWaiting);
}

std::optional<unsigned> Layering::resume(unsigned most) {
  std::vector<LaneGraph> lanes;
  std::uint64_t budget = kBudget;
  for (std::uint8_t number = 0; number < most; ++number) {
    lanes.emplace_back(dependencies_);
    if (std::find(lanes_.begin(), lanes_.end(), number) == lanes_.end()) continue;
    each_dependency(number,
                    [&](Dependency dependency, std::uint32_t) { lanes.back().set(dependency); });
    if (!lanes.back().sort()) return std::nullopt;
  }
  const bool too_many = std::ranges::any_of(
      lanes_, [&](std::uint8_t lane) { return lane >= most && lane < kLeftOut; });
  if (too_many) return std::nullopt;

  for (const Reopened& bundle : reopened_) {
    if (row(bundle.row)[bundle.source] != kWaiting) continue;
    list_dependencies(bundle.row, bundle.source);
    if (lanes[bundle.lane].add_all(needed_, budget))
      set_lane(bundle.row, bundle.source, bundle.lane);
  }
  for (std::size_t number = 0; number < waiting_.size(); ++number) {
    if (waiting_[number] == 0) continue;
    for (std::uint32_t source = 0; source < trees_.switches(); ++source) {
      if (row(number)[source] != kWaiting) continue;
      list_dependencies(number, source);
      const auto taker = std::ranges::find_if(
          lanes, [&](LaneGraph& lane) { return lane.add_all(needed_, budget); });
      if (taker == lanes.end()) return std::nullopt;
      set_lane(number, source, static_cast<std::uint8_t>(taker - lanes.begin()));
    }
  }
  unsigned used = 1;
  for (const std::uint8_t lane : lanes_) {
    if (lane < kLeftOut) used = std::max(used, lane + 1u);
  }
  return used;
}

}  // namespace smd
