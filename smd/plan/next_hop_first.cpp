#include <algorithm>
#include <map>

#include "smd/plan/plan_builder.h"
#include "smd/plan/planner.h"

namespace smd {
namespace {

// Entries without a route send nobody anywhere: they go with the nearest.
std::vector<std::vector<std::size_t>> sort_by_distance(const Mixture& mixture) {
  constexpr std::uint16_t kFar = 0xffff;
  const std::vector<std::uint16_t> distances = mixture.measure_distances();
  std::map<std::uint16_t, std::vector<std::size_t>> levels;
  for (std::size_t i = 0; i < distances.size(); ++i) {
    if (mixture.stage(i) != Stage::Fresh)
      levels[distances[i] == kFar ? 0 : distances[i]].push_back(i);
  }
  if (levels.empty()) levels[0];  // a phase to wake links in
  std::vector<std::vector<std::size_t>> sorted;
  for (auto& [distance, changes] : levels) sorted.push_back(std::move(changes));
  return sorted;
}

std::vector<OrderedPhase> prove(Mixture& mixture,
                                const TurnGraph& empty,
                                const std::vector<std::vector<std::size_t>>& levels,
                                InFlight in_flight) {
  mixture.set_stages(Stage::Pending);
  std::vector<OrderedPhase> phases;
  for (const std::vector<std::size_t>& level : levels) {
    phases.emplace_back();
    for (const std::size_t i : level) {
      mixture.set_stage(i, Stage::Now);
      phases.back().entries.push_back(mixture.changes()[i]);
    }
    if (auto order = find_order(mixture, empty, true))
      phases.back().certificate = std::move(*order);
    for (const std::size_t i : level)
      mixture.set_stage(i, in_flight == InFlight::Linger ? Stage::Done : Stage::Fresh);
  }
  return phases;
}

auto count_proved(const std::vector<OrderedPhase>& phases) {
  return std::ranges::count_if(phases,
                               [](const auto& phase) { return !phase.certificate.empty(); });
}

}  // namespace

TransitionPlan plan_next_hop_first(const TransitionTask& task, const PlannerOptions& options) {
  PlanBuilder builder{task, options.whole_tables};
  if (!builder.has_work() || builder.scene().silent) return plan_transition(task, options);
  Mixture mixture{task, builder.scene(), find_changes(task)};
  TransitionPlan plan = builder.begin(TransitionKind::NextHopFirst);
  const TurnGraph empty = builder.empty_graph(true);
  mixture.set_stages(Stage::Pending);
  const auto levels = sort_by_distance(mixture);
  std::vector<OrderedPhase> phases = prove(mixture, empty, levels, InFlight::Linger);
  if (count_proved(phases) != static_cast<std::ptrdiff_t>(phases.size())) {
    std::vector<OrderedPhase> drained = prove(mixture, empty, levels, InFlight::Drained);
    if (count_proved(drained) > count_proved(phases)) {
      phases = std::move(drained);
      plan.in_flight = InFlight::Drained;
    }
  }
  const bool wake_first = builder.must_wake_first(mixture);
  ChannelOrder waking;
  if (wake_first) {
    mixture.set_stages(Stage::Pending);
    if (auto order = find_order(mixture, empty, false)) waking = std::move(*order);
  }
  (void)builder.fill(plan, mixture, phases, wake_first, &waking);
  return plan;
}

}  // namespace smd
