#include <algorithm>
#include <array>

#include "sim-backend/traffic/phases/pattern_entries.h"

namespace smd::sim {

std::span<const PhasePattern* const> phase_patterns() {
  static constexpr std::array kAll{&kAllReducePhase,
                                   &kAllToAllPhase,
                                   &kBroadcastPhase,
                                   &kGatherPhase,
                                   &kHaloPhase,
                                   &kReducePhase,
                                   &kRingAllReducePhase};
  return kAll;
}

const PhasePattern* find_phase_pattern(std::string_view name) {
  const auto all = phase_patterns();
  const auto found = std::ranges::find(all, name, [](const PhasePattern* p) { return p->name; });
  return found == all.end() ? nullptr : *found;
}

}  // namespace smd::sim
