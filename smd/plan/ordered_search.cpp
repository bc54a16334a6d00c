#include "smd/plan/ordered_search.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>

namespace smd {
namespace {

enum class Sequence : std::uint8_t { NextHopFirst, NextHopLast, AllNear };

std::vector<std::size_t> sort_changes(const Mixture& mixture,
                                      const std::vector<std::uint16_t>& distances,
                                      Sequence sequence) {
  std::vector<std::size_t> sorted(mixture.changes().size());
  std::iota(sorted.begin(), sorted.end(), std::size_t{0});
  std::ranges::sort(sorted, {}, [&](std::size_t i) {
    const int near = distances[i], lid = mixture.changes()[i].lid.value();
    switch (sequence) {
      case Sequence::NextHopFirst:
        return std::tuple(lid, near, i);
      case Sequence::NextHopLast:
        return std::tuple(lid, -near, i);
      case Sequence::AllNear:
        break;
    }
    return std::tuple(near, lid, i);
  });
  return sorted;
}

std::optional<OrderedPlan> pass(Mixture& mixture,
                                const TurnGraph& empty,
                                std::vector<std::size_t> pending,
                                InFlight in_flight,
                                std::size_t max_phases) {
  OrderedPlan plan{.phases = {}, .in_flight = in_flight};
  mixture.set_stages(Stage::Pending);
  std::vector<std::size_t> left;
  while (!pending.empty()) {
    if (plan.phases.size() == max_phases) return std::nullopt;
    TurnGraph graph = empty;
    mixture.mark(graph, true);
    if (!graph.sort()) return std::nullopt;
    OrderedPhase phase;
    left.clear();
    for (const std::size_t change : pending)
      (mixture.try_now(graph, change) ? phase.changes : left).push_back(change);
    if (phase.changes.empty()) return std::nullopt;
    for (const std::size_t change : phase.changes)
      mixture.set_stage(change, in_flight == InFlight::Linger ? Stage::Done : Stage::Fresh);
    std::ranges::sort(phase.changes);
    phase.certificate = graph.order();
    plan.phases.push_back(std::move(phase));
    pending.swap(left);
  }
  return plan;
}

}  // namespace

std::optional<ChannelOrder> find_order(Mixture& mixture, const TurnGraph& empty, bool all_flow) {
  TurnGraph graph = empty;
  mixture.mark(graph, all_flow);
  if (!graph.sort()) return std::nullopt;
  return graph.order();
}

std::optional<OrderedPhase> find_single_phase(Mixture& mixture,
                                              const TurnGraph& empty,
                                              bool all_flow) {
  mixture.set_stages(Stage::Now);
  auto order = find_order(mixture, empty, all_flow);
  if (!order) return std::nullopt;
  OrderedPhase phase{.changes = std::vector<std::size_t>(mixture.changes().size()),
                     .certificate = std::move(*order)};
  std::iota(phase.changes.begin(), phase.changes.end(), std::size_t{0});
  return phase;
}

std::optional<OrderedPlan> find_phases(Mixture& mixture,
                                       const TurnGraph& empty,
                                       unsigned max_phases) {
  if (mixture.changes().size() > kMostOrderedChanges) return std::nullopt;
  const std::vector<std::uint16_t> distances = mixture.measure_distances();
  std::optional<OrderedPlan> best;
  for (const InFlight in_flight : {InFlight::Linger, InFlight::Drained}) {
    for (const Sequence sequence :
         {Sequence::NextHopFirst, Sequence::NextHopLast, Sequence::AllNear}) {
      const std::size_t limit = best ? best->phases.size() - 1 : max_phases;
      if (limit < 2) return best;
      mixture.set_stages(Stage::Pending);
      std::vector<std::size_t> pending = sort_changes(mixture, distances, sequence);
      std::erase_if(pending, [&](std::size_t i) { return mixture.stage(i) == Stage::Fresh; });
      auto found = pass(mixture, empty, std::move(pending), in_flight, limit);
      if (found) best = std::move(found);
    }
  }
  return best;
}

}  // namespace smd
