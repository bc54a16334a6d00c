#include "smd/plan/plan_builder.h"

#include <algorithm>
#include <iterator>

namespace smd {
namespace {

void append_sorted(std::vector<PortIdx>& ports, const std::vector<PortIdx>& more) {
  ports.insert(ports.end(), more.begin(), more.end());
  std::ranges::sort(ports);
}

}  // namespace

PlanBuilder::PlanBuilder(const TransitionTask& task, bool whole_tables)
    : task_(task), whole_tables_(whole_tables), scene_(task) {}

bool PlanBuilder::has_work() const {
  return !scene_.wake_inner.empty() || !scene_.wake_outer.empty() || !scene_.restored.empty() ||
         (whole_tables_ && task_.fabric->switch_count() != 0) || differ(task_) ||
         rows_differ(task_);
}

TurnGraph PlanBuilder::empty_graph(bool bounces) const {
  TurnGraph graph{*task_.fabric};
  if (!bounces) graph.strike_bounces();
  for (const Turn& turn : scene_.kept) {
    const auto [in, out] = ports_of(*task_.fabric, turn);
    if (graph.is_channel(in) && graph.is_channel(out)) graph.strike(in, out);
  }
  return graph;
}

void PlanBuilder::keep_blocked(const std::vector<Turn>& turns) {
  for (const Turn& turn : turns) {
    std::erase(scene_.restored, turn);
    scene_.kept.push_back(turn);
  }
  std::ranges::sort(scene_.kept);
}

TransitionPlan PlanBuilder::begin(TransitionKind kind) const {
  return {.kind = kind, .blocked = scene_.kept, .whole_tables = whole_tables_};
}

bool PlanBuilder::must_wake_first(const Mixture& mixture) const {
  const Fabric& fabric = *task_.fabric;
  return std::ranges::any_of(mixture.changes(), [&](const EntryChange& change) {
    const NodeIdx node = fabric.switch_node[change.sw];
    return !scene_.idle[change.sw] && change.egress.value() <= fabric.num_ports(node) &&
           scene_.flow[fabric.port_of(node, change.egress)] == Flow::Later;
  });
}

std::vector<PortIdx> PlanBuilder::all_wakes() const {
  std::vector<PortIdx> ports = scene_.wake_inner;
  append_sorted(ports, scene_.wake_outer);
  return ports;
}

bool PlanBuilder::fill(TransitionPlan& plan,
                       Mixture& mixture,
                       const std::vector<OrderedPhase>& phases,
                       bool wake_first,
                       const ChannelOrder* waking) const {
  ChannelOrder order;
  if (wake_first && waking == nullptr) {
    mixture.set_stages(Stage::Pending);
    auto found = find_order(mixture, empty_graph(true), false);
    if (!found) return false;
    order = std::move(*found);
    waking = &order;
  }
  fill_phases(plan, mixture, phases, wake_first ? waking : nullptr);
  return true;
}

void PlanBuilder::fill_phases(TransitionPlan& plan,
                              const Mixture& mixture,
                              const std::vector<OrderedPhase>& phases,
                              const ChannelOrder* before) const {
  if (before != nullptr)
    plan.phases.push_back({.activate = scene_.wake_inner, .certificate = *before});
  for (const OrderedPhase& ordered : phases) {
    TransitionPhase phase{.certificate = ordered.certificate};
    std::ranges::copy_if(ordered.entries,
                         std::back_inserter(phase.entries),
                         [&](const EntryChange& change) { return !scene_.idle[change.sw]; });
    plan.phases.push_back(std::move(phase));
  }
  if (plan.phases.empty()) plan.phases.resize(1);
  for (const EntryChange& change : mixture.changes()) {
    if (scene_.idle[change.sw]) plan.phases.front().entries.push_back(change);
  }
  std::ranges::sort(plan.phases.front().entries);
  plan.phases.front().restore = scene_.restored;
  plan.phases.front().rows = rows_differ(task_);
  plan.phases.back().activate = before != nullptr ? scene_.wake_outer : all_wakes();
}

void PlanBuilder::fill_at_once(TransitionPlan& plan,
                               const Mixture& mixture,
                               const std::vector<PortIdx>& deactivated) const {
  plan.phases.push_back({.restore = scene_.restored,
                         .deactivate = deactivated,
                         .rows = rows_differ(task_),
                         .entries = mixture.changes(),
                         .activate = all_wakes()});
  append_sorted(plan.phases.back().activate, deactivated);
}

}  // namespace smd
