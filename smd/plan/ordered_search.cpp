#include "smd/plan/ordered_search.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>
#include <utility>

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

// Stops where no change fits.
OrderedPlan pass(Mixture& mixture,
                 const TurnGraph& empty,
                 std::vector<std::size_t> pending,
                 InFlight in_flight,
                 std::size_t max_phases) {
  OrderedPlan plan{.phases = {}, .in_flight = in_flight};
  mixture.set_stages(Stage::Pending);
  std::vector<std::size_t> now, left;
  while (!pending.empty() && plan.phases.size() < max_phases) {
    TurnGraph graph = empty;
    mixture.mark(graph, true);
    if (!graph.sort()) break;
    now.clear();
    left.clear();
    for (const std::size_t change : pending)
      (mixture.try_now(graph, change) ? now : left).push_back(change);
    if (now.empty()) break;
    OrderedPhase phase{.entries = {}, .certificate = graph.order()};
    for (const std::size_t change : now) {
      mixture.set_stage(change, in_flight == InFlight::Linger ? Stage::Done : Stage::Fresh);
      phase.entries.push_back(mixture.changes()[change]);
    }
    std::ranges::sort(phase.entries);
    plan.phases.push_back(std::move(phase));
    pending.swap(left);
  }
  plan.left = pending.size();
  return plan;
}

constexpr std::array kSequences{Sequence::NextHopFirst, Sequence::NextHopLast, Sequence::AllNear};

// Of switches with data.
std::vector<std::size_t> list_pending(Mixture& mixture,
                                      const std::vector<std::uint16_t>& distances,
                                      Sequence sequence) {
  mixture.set_stages(Stage::Pending);
  std::vector<std::size_t> pending = sort_changes(mixture, distances, sequence);
  std::erase_if(pending, [&](std::size_t i) { return mixture.stage(i) == Stage::Fresh; });
  return pending;
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
  OrderedPhase phase{.entries = mixture.changes(), .certificate = std::move(*order)};
  return phase;
}

std::optional<OrderedPlan> find_phases(Mixture& mixture,
                                       const TurnGraph& empty,
                                       unsigned max_phases) {
  if (mixture.changes().size() > kMostOrderedChanges) return std::nullopt;
  const std::vector<std::uint16_t> distances = mixture.measure_distances();
  std::optional<OrderedPlan> best;
  for (const InFlight in_flight : {InFlight::Linger, InFlight::Drained}) {
    for (const Sequence sequence : kSequences) {
      const std::size_t limit = best ? best->phases.size() - 1 : max_phases;
      if (limit < 2) return best;
      OrderedPlan found =
          pass(mixture, empty, list_pending(mixture, distances, sequence), in_flight, limit);
      if (found.left == 0) best = std::move(found);
    }
  }
  return best;
}

OrderedPlan find_most(Mixture& mixture, const TurnGraph& empty, unsigned max_phases) {
  const std::vector<std::uint16_t> distances = mixture.measure_distances();
  std::optional<OrderedPlan> best;
  for (const Sequence sequence : kSequences) {
    OrderedPlan found = pass(
        mixture, empty, list_pending(mixture, distances, sequence), InFlight::Drained, max_phases);
    if (!best ||
        std::pair(found.left, found.phases.size()) < std::pair(best->left, best->phases.size()))
      best = std::move(found);
    if (best->left == 0 && best->phases.size() <= 1) break;
  }
  return std::move(*best);
}

}  // namespace smd
