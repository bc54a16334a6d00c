#include "smd/plan/make/ordered_phases.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "smd/plan/make/vl_transient_graph.h"

namespace smd {
namespace {

enum class Sequence : std::uint8_t { NextHopFirst, NextHopLast, AllNear };

std::vector<std::size_t> sort_changes(const TransientGraph& transient,
                                      const std::vector<std::uint16_t>& distances,
                                      Sequence sequence) {
  std::vector<std::size_t> sorted(transient.changes().size());
  std::iota(sorted.begin(), sorted.end(), std::size_t{0});
  std::ranges::sort(sorted, {}, [&](std::size_t i) {
    const int near = distances[i], lid = transient.changes()[i].lid.value();
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

// What gives switches their first entry for a LID, or the first that leads over a cable that is
// there: before that they discard its packets, so whoever leads packets there that got on before
// comes in the same phase at the earliest.
class FirstEntries {
 public:
  FirstEntries(const TransitionTask& task,
               const InitialState& initial,
               const std::vector<EntryChange>& changes) {
    for (const TableBlock& each : task.unknown) unknown_.emplace_back(each.sw, each.block);
    std::ranges::sort(unknown_);
    for (std::size_t i = 0; i < changes.size(); ++i) {
      const SwitchIdx next = next_switch(task, initial, changes[i].sw, changes[i].egress);
      if (next == kNone<SwitchIdx> || !is_given_first(task, next, changes[i].lid) ||
          !got_on(task, changes[i].sw, changes[i].lid))
        continue;
      const auto first = std::ranges::lower_bound(
          changes, std::pair{next, changes[i].lid}, {}, [](const EntryChange& each) {
            return std::pair{each.sw, each.lid};
          });
      if (first == changes.end() || first->sw != next || first->lid != changes[i].lid) continue;
      if (needed_.empty()) needed_.assign(changes.size(), kNothing);
      needed_[i] = static_cast<std::size_t>(first - changes.begin());
    }
  }

  // `stage_of` of changes, by index.
  template <class StageOf>
  [[nodiscard]] bool are_missing(std::size_t change, const StageOf& stage_of) const {
    return !needed_.empty() && needed_[change] != kNothing &&
           stage_of(needed_[change]) == EntryStage::Pending;
  }

 private:
  static constexpr std::size_t kNothing = std::numeric_limits<std::size_t>::max();

  static SwitchIdx next_switch(const TransitionTask& task,
                               const InitialState& initial,
                               SwitchIdx sw,
                               PortNum egress) {
    const NodeIdx node = task.fabric->switch_node[sw];
    if (egress.value() > task.fabric->num_ports(node)) return kNone<SwitchIdx>;
    return initial.peer_switch[task.fabric->port_of(node, egress)];
  }

  [[nodiscard]] bool is_given_first(const TransitionTask& task, SwitchIdx sw, Lid lid) const {
    const auto block = static_cast<std::uint32_t>(lid.value() / kLftBlockSize);
    return !got_on(task, sw, lid) && entry_of(*task.wanted, sw, lid) != kNoRoute &&
           lid.value() < task.lids->owner.size() &&
           task.lids->owner[lid.value()] != kNone<PortIdx> &&
           !std::ranges::binary_search(unknown_, std::pair{sw, block});
  }

  static bool got_on(const TransitionTask& task, SwitchIdx sw, Lid lid) {
    const Fabric& fabric = *task.fabric;
    const PortNum held = entry_of(*task.held, sw, lid);
    const NodeIdx node = fabric.switch_node[sw];
    return held.value() <= fabric.num_ports(node) &&
           (held == PortNum{0} || fabric.peer[fabric.port_of(node, held)] != kNone<PortIdx>);
  }

  std::vector<std::pair<SwitchIdx, std::uint32_t>> unknown_;  // blocks that may hold anything
  std::vector<std::size_t> needed_;                           // by change; empty: none needs any
};

// Stops where no change fits.
OrderedPlan pass(TransientGraph& transient,
                 const FirstEntries& first,
                 const TurnGraph& empty,
                 std::vector<std::size_t> pending,
                 InFlight in_flight,
                 std::size_t max_phases) {
  const auto stage_of = [&](std::size_t change) { return transient.stage(change); };
  OrderedPlan plan{.phases = {}, .in_flight = in_flight};
  transient.set_stages(EntryStage::Pending);
  std::vector<std::size_t> now, left;
  while (!pending.empty() && plan.phases.size() < max_phases) {
    TurnGraph graph = empty;
    if (!transient.mark_sorted(graph, true)) break;
    now.clear();
    left.clear();
    for (const std::size_t change : pending) {
      const bool waits = first.are_missing(change, stage_of);
      (!waits && transient.try_now(graph, change) ? now : left).push_back(change);
    }
    if (now.empty()) break;
    OrderedPhase phase{.entries = {}, .certificate = graph.order()};
    for (const std::size_t change : now) {
      transient.set_stage(change,
                          in_flight == InFlight::Linger ? EntryStage::Done : EntryStage::Settled);
      phase.entries.push_back(transient.changes()[change]);
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
std::vector<std::size_t> list_pending(TransientGraph& transient,
                                      const std::vector<std::uint16_t>& distances,
                                      Sequence sequence) {
  transient.set_stages(EntryStage::Pending);
  std::vector<std::size_t> pending = sort_changes(transient, distances, sequence);
  std::erase_if(pending, [&](std::size_t i) { return transient.stage(i) == EntryStage::Settled; });
  return pending;
}

using Edge = VlTurnGraph::Edge;

ChannelOrder order_of(const VlTurnGraph& graph) {
  ChannelOrder order;
  order.reserve(graph.order().size());
  for (const std::uint32_t place : graph.order()) order.push_back(place);
  return order;
}

class VlPhaseSearch {
 public:
  VlPhaseSearch(const TransitionTask& task,
                const InitialState& initial,
                const std::vector<EntryChange>& changes,
                PlanBudget& budget)
      : fabric_(*task.fabric),
        changes_(changes),
        budget_(budget),
        transient_(task, initial, changes) {}

  VlTransientGraph& transient() { return transient_; }

  // Of the transient graph as it is. `lossless`: no SL-to-VL entry may discard anything.
  std::optional<VlTurnGraph> build(bool lossless) {
    std::optional<VlTurnGraph> graph = collect(lossless);
    if (!graph || !graph->sort()) return std::nullopt;
    return graph;
  }

  // Unsorted.
  std::optional<VlTurnGraph> collect(bool lossless) {
    if (!steady_ || transient_.state() != steady_state_) {
      steady_.emplace(fabric_.port_count() * transient_.vls());
      steady_state_ = transient_.state();
      steady_passes_ = add_all(*steady_, false, false);
    }
    if (lossless && !steady_passes_) return std::nullopt;
    VlTurnGraph graph = *steady_;
    if (!add_all(graph, true, lossless) || budget_.is_spent()) {
      steady_.reset();
      return std::nullopt;
    }
    return graph;
  }

  // All dependencies, and what is recorded beside them.
  std::optional<VlTurnGraph> build_recording() {
    steady_.reset();
    VlTurnGraph graph{fabric_.port_count() * transient_.vls()};
    (void)add_all(graph, false, false);
    (void)add_all(graph, true, false);
    if (budget_.is_spent() || !graph.sort()) return std::nullopt;
    return graph;
  }

  std::optional<ChannelOrder> find_order(bool lossless) {
    const auto graph = build(lossless);
    if (!graph) return std::nullopt;
    return order_of(*graph);
  }

  std::vector<std::uint32_t> list_pending() const {
    std::vector<std::uint32_t> pending;
    for (std::uint32_t i = 0; i < changes_.size(); ++i) {
      if (transient_.stage(i) == EntryStage::Pending) pending.push_back(i);
    }
    return pending;
  }

  // As many pending changes as fit into one phase, and wait for no first entry. None when the state
  // itself has a cycle.
  std::optional<OrderedPhase> fill_phase(const FirstEntries* first) {
    const auto stage_of = [&](std::size_t change) { return transient_.stage(change); };
    auto graph = build(false);
    if (!graph) return std::nullopt;
    std::vector<std::uint32_t> now;
    for (std::size_t lid = 1; lid < transient_.lids(); ++lid) {
      std::vector<std::uint32_t> pending;
      for (const std::uint32_t i : transient_.changes_of(lid)) {
        if (transient_.stage(i) == EntryStage::Pending) pending.push_back(i);
      }
      if (pending.empty()) continue;
      if (try_now(*graph, lid, pending)) {
        now.insert(now.end(), pending.begin(), pending.end());
        continue;
      }
      for (const std::uint32_t i : pending) {
        const bool waits = first != nullptr && first->are_missing(i, stage_of);
        if (!waits && pending.size() > 1 && try_now(*graph, lid, {&i, 1})) now.push_back(i);
      }
    }
    OrderedPhase phase{.entries = {}, .certificate = order_of(*graph)};
    for (const std::uint32_t i : now) {
      transient_.set_stage(i, EntryStage::Settled);
      phase.entries.push_back(changes_[i]);
    }
    std::ranges::sort(phase.entries);
    return phase;
  }

 private:
  // LIDs that change, or those that do not. False where packets are discarded, and nobody may.
  bool add_all(VlTurnGraph& graph, bool changing, bool lossless) {
    transient_.skip_alike(true);
    bool passes = true;
    for (std::size_t lid = 1; lid < transient_.lids() && (passes || !lossless); ++lid) {
      if (transient_.changes_of(lid).empty() == changing) continue;
      if (budget_.is_spent()) break;
      edges_.clear();
      passes = transient_.collect(lid, edges_) && passes;
      for (const Edge& edge : edges_) graph.add(edge);
      budget_.spend(fabric_.switch_count() + edges_.size());
    }
    transient_.skip_alike(false);
    return passes || (changing && !lossless);
  }

  bool try_now(VlTurnGraph& graph, std::size_t lid, std::span<const std::uint32_t> changes) {
    for (const std::uint32_t i : changes) transient_.set_stage(i, EntryStage::Now);
    edges_.clear();
    bool fits = transient_.collect(lid, edges_);
    budget_.spend(fabric_.switch_count() + edges_.size());
    std::vector<Edge> added;
    for (std::size_t e = 0; fits && e < edges_.size(); ++e) {
      if (graph.has(edges_[e])) continue;
      fits = graph.insert(edges_[e], budget_);
      if (fits) added.push_back(edges_[e]);
    }
    if (fits) return true;
    for (const Edge& edge : added) graph.remove(edge);
    for (const std::uint32_t i : changes) transient_.set_stage(i, EntryStage::Pending);
    return false;
  }

  const Fabric& fabric_;
  const std::vector<EntryChange>& changes_;
  PlanBudget& budget_;
  VlTransientGraph transient_;
  std::vector<Edge> edges_;

  // Of LIDs that do not change, in that state; they are most.
  std::optional<VlTurnGraph> steady_;
  VlTransientGraph::State steady_state_;
  bool steady_passes_ = false;
};

std::optional<VlPlan> find_at_once(VlPhaseSearch& search, bool sl_to_vl, bool lossless) {
  VlTransientGraph& transient = search.transient();
  transient.set_sl_to_vl(sl_to_vl ? VlTransientGraph::SlToVlState::Both
                                  : VlTransientGraph::SlToVlState::Wanted);
  transient.set_advertised(true);
  transient.set_stages(EntryStage::Now);
  auto order = search.find_order(lossless);
  if (!order) return std::nullopt;
  VlPlan plan{
      .vls = transient.vls(), .before = std::nullopt, .phases = {}, .advertised_last = false};
  plan.phases.push_back({.entries = {}, .certificate = std::move(*order)});
  return plan;
}

}  // namespace

std::optional<ChannelOrder> find_order(TransientGraph& transient,
                                       const TurnGraph& empty,
                                       bool all_flow) {
  TurnGraph graph = empty;
  if (!transient.mark_sorted(graph, all_flow)) return std::nullopt;
  return graph.order();
}

std::optional<OrderedPhase> find_single_phase(TransientGraph& transient,
                                              const TurnGraph& empty,
                                              bool all_flow) {
  transient.set_stages(EntryStage::Now);
  auto order = find_order(transient, empty, all_flow);
  if (!order) return std::nullopt;
  OrderedPhase phase{.entries = transient.changes(), .certificate = std::move(*order)};
  return phase;
}

std::optional<OrderedPlan> find_phases(TransientGraph& transient,
                                       const TurnGraph& empty,
                                       unsigned max_phases) {
  if (transient.changes().size() > kMostOrderedChanges) return std::nullopt;
  const std::vector<std::uint16_t> distances = transient.measure_distances();
  const FirstEntries first{transient.task(), transient.initial(), transient.changes()};
  std::optional<OrderedPlan> best;
  for (const InFlight in_flight : {InFlight::Linger, InFlight::Drained}) {
    for (const Sequence sequence : kSequences) {
      const std::size_t limit = best ? best->phases.size() - 1 : max_phases;
      if (limit < 2) return best;
      OrderedPlan found = pass(
          transient, first, empty, list_pending(transient, distances, sequence), in_flight, limit);
      if (found.left == 0) best = std::move(found);
    }
  }
  return best;
}

OrderedPlan find_most(TransientGraph& transient, const TurnGraph& empty, unsigned max_phases) {
  const std::vector<std::uint16_t> distances = transient.measure_distances();
  const FirstEntries first{transient.task(), transient.initial(), transient.changes()};
  std::optional<OrderedPlan> best;
  for (const Sequence sequence : kSequences) {
    OrderedPlan found = pass(transient,
                             first,
                             empty,
                             list_pending(transient, distances, sequence),
                             InFlight::Drained,
                             max_phases);
    if (!best ||
        std::pair(found.left, found.phases.size()) < std::pair(best->left, best->phases.size()))
      best = std::move(found);
    if (best->left == 0 && best->phases.size() <= 1) break;
  }
  return std::move(*best);
}

std::optional<VlPlan> find_vl_phases(const TransitionTask& task,
                                     const InitialState& initial,
                                     const std::vector<EntryChange>& changes,
                                     bool activate_first,
                                     unsigned max_phases,
                                     PlanBudget& budget,
                                     bool lossless) {
  if (!task.unknown.empty() || !task.sl_to_vl->unknown.empty()) return std::nullopt;
  const bool sl_to_vl = sl_to_vl_differs(task);
  VlPhaseSearch search{task, initial, changes, budget};
  VlTransientGraph& transient = search.transient();

  std::optional<ChannelOrder> before;
  if (sl_to_vl || activate_first) {
    transient.set_sl_to_vl(sl_to_vl ? VlTransientGraph::SlToVlState::Both
                                    : VlTransientGraph::SlToVlState::Wanted);
    transient.set_stages(EntryStage::Pending);
    before = search.find_order(sl_to_vl && lossless);
  }
  if (auto plan =
          activate_first && !before ? std::nullopt : find_at_once(search, sl_to_vl, lossless)) {
    plan->phases.front().entries = changes;
    if (activate_first) plan->before = std::move(before);
    return plan;
  }
  if ((sl_to_vl || activate_first) && !before) return std::nullopt;

  VlPlan plan{
      .vls = transient.vls(), .before = std::move(before), .phases = {}, .advertised_last = true};
  transient.set_sl_to_vl(VlTransientGraph::SlToVlState::Wanted);
  transient.set_advertised(false);
  transient.set_stages(EntryStage::Pending);
  const FirstEntries first{task, initial, changes};
  while (!search.list_pending().empty()) {
    if (plan.phases.size() + 2 > max_phases || budget.is_spent()) return std::nullopt;
    auto phase = search.fill_phase(lossless ? &first : nullptr);
    if (!phase || phase->entries.empty()) return std::nullopt;
    plan.phases.push_back(std::move(*phase));
  }
  transient.set_advertised(true);
  auto last = search.find_order(lossless);
  if (!last) return std::nullopt;
  plan.phases.push_back({.entries = {}, .certificate = std::move(*last)});
  return plan;
}

std::optional<BlockedSlPlan> find_blocked_sls(const TransitionTask& task,
                                              const InitialState& initial,
                                              const std::vector<EntryChange>& changes,
                                              bool activate_first,
                                              PlanBudget& budget) {
  if (!task.unknown.empty() || !task.sl_to_vl->unknown.empty()) return std::nullopt;
  VlPhaseSearch search{task, initial, changes, budget};
  VlTransientGraph& transient = search.transient();
  std::vector<VlUse> uses;
  transient.record_uses(&uses);
  transient.set_silent();
  auto graph = search.build_recording();
  if (!graph) return std::nullopt;
  std::map<Turn, std::uint16_t> needed, blocked_sls;
  const auto bit = [](unsigned sl) { return static_cast<std::uint16_t>(1u << sl); };
  for (const VlUse& use : uses) needed[use.turn] |= bit(use.sl);

  transient.set_flowing();
  transient.set_stages(EntryStage::Now);
  std::vector<Edge> edges;
  for (std::size_t lid = 1; lid < transient.lids(); ++lid) {
    uses.clear();
    edges.clear();
    (void)transient.collect(lid, edges);
    budget.spend(task.fabric->switch_count() + uses.size());
    if (budget.is_spent()) return std::nullopt;
    for (const VlUse& use : uses) {
      const auto known = blocked_sls.find(use.turn);
      if (known != blocked_sls.end() && (known->second & bit(use.sl)) != 0) continue;
      if (graph->insert(use.edge, budget)) continue;
      const auto need = needed.find(use.turn);
      if (need != needed.end() && (need->second & bit(use.sl)) != 0) return std::nullopt;
      blocked_sls[use.turn] |= bit(use.sl);
    }
  }
  BlockedSlPlan out{.plan = {.vls = transient.vls(),
                             .before = std::nullopt,
                             .phases = {},
                             .advertised_last = false},
                    .blocked_sls = {}};
  for (const auto& [turn, sls] : blocked_sls) out.blocked_sls.push_back({turn, sls});
  const ChannelOrder order = order_of(*graph);
  out.plan.phases.push_back({.entries = changes, .certificate = order});
  if (!sl_to_vl_only_discards(task, with_blocked_sls(task.sl_to_vl->wanted, out.blocked_sls))) {
    transient.record_uses(nullptr);
    transient.set_sl_to_vl(VlTransientGraph::SlToVlState::Both);
    transient.set_advertised(false);
    transient.set_stages(EntryStage::Pending);
    out.plan.before = search.find_order(false);
    if (!out.plan.before) return std::nullopt;
  } else if (activate_first) {
    out.plan.before = order;
  }
  return out;
}

std::string find_vl_circle(const TransitionTask& task,
                           const InitialState& initial,
                           const std::vector<EntryChange>& changes,
                           PlanBudget budget) {
  if (!task.unknown.empty() || !task.sl_to_vl->unknown.empty()) return "not all entries are known";
  VlPhaseSearch search{task, initial, changes, budget};
  VlTransientGraph& transient = search.transient();
  transient.set_sl_to_vl(VlTransientGraph::SlToVlState::Both);
  transient.set_advertised(true);
  transient.set_stages(EntryStage::Now);
  const auto graph = search.collect(false);
  if (!graph) return "not looked for, the fabric is too large";
  std::string text;
  for (const VlTurnGraph::VlChannel at : graph->find_cycle()) {
    const PortIdx port{at / transient.vls()};
    text += fmt::format("{}{} VL {}",
                        text.empty() ? "" : " > ",
                        print_port(*task.fabric, port),
                        at % transient.vls());
  }
  return text;
}

std::optional<VlOrder> find_wanted_order(const TransitionTask& task, const InitialState& initial) {
  const std::vector<EntryChange> changes;
  PlanBudget budget{std::numeric_limits<std::uint64_t>::max()};
  VlPhaseSearch search{task, initial, changes, budget};
  search.transient().set_silent();
  auto order = search.find_order(false);
  if (!order) return std::nullopt;
  return VlOrder{search.transient().vls(), std::move(*order)};
}

}  // namespace smd
