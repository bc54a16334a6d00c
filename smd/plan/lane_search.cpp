#include "smd/plan/lane_search.h"

#include <algorithm>
#include <map>
#include <utility>

#include "smd/plan/lane_mixture.h"

namespace smd {
namespace {

using Edge = LaneTurnGraph::Edge;

ChannelOrder order_of(const LaneTurnGraph& graph) {
  ChannelOrder order;
  order.reserve(graph.order().size());
  for (const std::uint32_t place : graph.order()) order.push_back(place);
  return order;
}

class LaneSearch {
 public:
  LaneSearch(const TransitionTask& task,
             const PlanScene& scene,
             const std::vector<EntryChange>& changes)
      : fabric_(*task.fabric), changes_(changes), mixture_(task, scene, changes) {}

  LaneMixture& mixture() { return mixture_; }

  // Of the mixture as it is. `lossless`: no row may discard anything.
  std::optional<LaneTurnGraph> build(bool lossless) {
    LaneTurnGraph graph{fabric_.port_count() * mixture_.lanes()};
    for (std::size_t lid = 1; lid < mixture_.lids(); ++lid) {
      edges_.clear();
      if (!mixture_.collect(lid, edges_) && lossless) return std::nullopt;
      for (const Edge& edge : edges_) graph.add(edge);
    }
    if (!graph.sort()) return std::nullopt;
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
      if (mixture_.stage(i) == Stage::Pending) pending.push_back(i);
    }
    return pending;
  }

  // As many pending changes as fit into one phase. None when the state itself has a cycle.
  std::optional<OrderedPhase> fill_phase() {
    auto graph = build(false);
    if (!graph) return std::nullopt;
    std::vector<std::uint32_t> now;
    for (std::size_t lid = 1; lid < mixture_.lids(); ++lid) {
      std::vector<std::uint32_t> pending;
      for (const std::uint32_t i : mixture_.changes_of(lid)) {
        if (mixture_.stage(i) == Stage::Pending) pending.push_back(i);
      }
      if (pending.empty()) continue;
      if (try_now(*graph, lid, pending)) {
        now.insert(now.end(), pending.begin(), pending.end());
        continue;
      }
      for (const std::uint32_t i : pending) {
        if (pending.size() > 1 && try_now(*graph, lid, {&i, 1})) now.push_back(i);
      }
    }
    OrderedPhase phase{.entries = {}, .certificate = order_of(*graph)};
    for (const std::uint32_t i : now) {
      mixture_.set_stage(i, Stage::Fresh);
      phase.entries.push_back(changes_[i]);
    }
    std::ranges::sort(phase.entries);
    return phase;
  }

 private:
  bool try_now(LaneTurnGraph& graph, std::size_t lid, std::span<const std::uint32_t> changes) {
    for (const std::uint32_t i : changes) mixture_.set_stage(i, Stage::Now);
    edges_.clear();
    bool fits = mixture_.collect(lid, edges_);
    std::vector<Edge> added;
    for (std::size_t e = 0; fits && e < edges_.size(); ++e) {
      if (graph.has(edges_[e])) continue;
      fits = graph.insert(edges_[e]);
      if (fits) added.push_back(edges_[e]);
    }
    if (fits) return true;
    for (const Edge& edge : added) graph.remove(edge);
    for (const std::uint32_t i : changes) mixture_.set_stage(i, Stage::Pending);
    return false;
  }

  const Fabric& fabric_;
  const std::vector<EntryChange>& changes_;
  LaneMixture mixture_;
  std::vector<Edge> edges_;
};

std::size_t count_pairs(const TransitionTask& task) {
  return std::max(task.held->blocks(), task.wanted->blocks()) * kLftBlockSize *
         task.fabric->switch_count();
}

std::optional<LanePlan> find_at_once(LaneSearch& search, bool rows) {
  LaneMixture& mixture = search.mixture();
  mixture.set_rows(rows ? LaneMixture::Rows::Both : LaneMixture::Rows::Wanted);
  mixture.set_told(true);
  mixture.set_stages(Stage::Now);
  auto order = search.find_order(true);
  if (!order) return std::nullopt;
  LanePlan plan{.lanes = mixture.lanes(), .before = std::nullopt, .phases = {}, .told_last = false};
  plan.phases.push_back({.entries = {}, .certificate = std::move(*order)});
  return plan;
}

}  // namespace

std::optional<LanePlan> find_lane_phases(const TransitionTask& task,
                                         const PlanScene& scene,
                                         const std::vector<EntryChange>& changes,
                                         bool wake_first,
                                         unsigned max_phases) {
  if (!task.unknown.empty() || !task.lanes->unknown.empty() || count_pairs(task) > kMostLanePairs)
    return std::nullopt;
  const bool rows = rows_differ(task);
  LaneSearch search{task, scene, changes};
  LaneMixture& mixture = search.mixture();

  std::optional<ChannelOrder> before;
  if (rows || wake_first) {
    mixture.set_rows(rows ? LaneMixture::Rows::Both : LaneMixture::Rows::Wanted);
    mixture.set_stages(Stage::Pending);
    before = search.find_order(rows);
  }
  if (auto plan = wake_first && !before ? std::nullopt : find_at_once(search, rows)) {
    plan->phases.front().entries = changes;
    if (wake_first) plan->before = std::move(before);
    return plan;
  }
  if ((rows || wake_first) && !before) return std::nullopt;
  if (count_pairs(task) > kMostOrderedLanePairs) return std::nullopt;

  LanePlan plan{
      .lanes = mixture.lanes(), .before = std::move(before), .phases = {}, .told_last = true};
  mixture.set_rows(LaneMixture::Rows::Wanted);
  mixture.set_told(false);
  mixture.set_stages(Stage::Pending);
  while (!search.list_pending().empty()) {
    if (plan.phases.size() + 2 > max_phases) return std::nullopt;
    auto phase = search.fill_phase();
    if (!phase || phase->entries.empty()) return std::nullopt;
    plan.phases.push_back(std::move(*phase));
  }
  mixture.set_told(true);
  auto last = search.find_order(true);
  if (!last) return std::nullopt;
  plan.phases.push_back({.entries = {}, .certificate = std::move(*last)});
  return plan;
}

std::optional<LaneCutPlan> find_lane_cut(const TransitionTask& task,
                                         const PlanScene& scene,
                                         const std::vector<EntryChange>& changes,
                                         bool wake_first) {
  if (!task.unknown.empty() || !task.lanes->unknown.empty() || count_pairs(task) > kMostLanePairs)
    return std::nullopt;
  LaneSearch search{task, scene, changes};
  LaneMixture& mixture = search.mixture();
  std::vector<LaneUse> uses;
  mixture.tell_uses(&uses);
  mixture.set_silent();
  auto graph = search.build(false);
  if (!graph) return std::nullopt;
  std::map<Turn, std::uint16_t> needed, cut;
  const auto bit = [](unsigned sl) { return static_cast<std::uint16_t>(1u << sl); };
  for (const LaneUse& use : uses) needed[use.way] |= bit(use.sl);

  mixture.set_flowing();
  mixture.set_stages(Stage::Now);
  std::vector<Edge> edges;
  for (std::size_t lid = 1; lid < mixture.lids(); ++lid) {
    uses.clear();
    edges.clear();
    (void)mixture.collect(lid, edges);
    for (const LaneUse& use : uses) {
      const auto known = cut.find(use.way);
      if (known != cut.end() && (known->second & bit(use.sl)) != 0) continue;
      if (graph->insert(use.edge)) continue;
      const auto need = needed.find(use.way);
      if (need != needed.end() && (need->second & bit(use.sl)) != 0) return std::nullopt;
      cut[use.way] |= bit(use.sl);
    }
  }
  LaneCutPlan out{
      .plan = {.lanes = mixture.lanes(), .before = std::nullopt, .phases = {}, .told_last = false},
      .cut = {}};
  for (const auto& [way, sls] : cut) out.cut.push_back({way, sls});
  const ChannelOrder order = order_of(*graph);
  out.plan.phases.push_back({.entries = changes, .certificate = order});
  if (!rows_only_discard(task, with_cuts(task.lanes->wanted, out.cut))) {
    mixture.tell_uses(nullptr);
    mixture.set_rows(LaneMixture::Rows::Both);
    mixture.set_told(false);
    mixture.set_stages(Stage::Pending);
    out.plan.before = search.find_order(false);
    if (!out.plan.before) return std::nullopt;
  } else if (wake_first) {
    out.plan.before = order;
  }
  return out;
}

std::optional<LaneOrder> find_wanted_order(const TransitionTask& task, const PlanScene& scene) {
  const std::vector<EntryChange> changes;
  LaneSearch search{task, scene, changes};
  search.mixture().set_silent();
  auto order = search.find_order(false);
  if (!order) return std::nullopt;
  return LaneOrder{search.mixture().lanes(), std::move(*order)};
}

}  // namespace smd
