#include "smd/plan/make/fallback_plans.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "smd/base/check.h"
#include "smd/plan/make/ordered_phases.h"
#include "smd/plan/make/planner.h"
#include "smd/routing/updn/orientation.h"

namespace smd {
namespace {

void append_sorted(std::vector<PortIdx>& ports, const std::vector<PortIdx>& more) {
  ports.insert(ports.end(), more.begin(), more.end());
  std::ranges::sort(ports);
}

// Channels that lead up, the lowest first, then those that lead down, the upmost first: what an
// orientation allows always respects the order.
ChannelOrder order_by(const Fabric& fabric, const Orientation& orientation) {
  std::vector<SwitchIdx> switches;
  for (const SwitchIdx sw : fabric.switch_node.indices()) switches.push_back(sw);
  std::ranges::sort(switches, {}, [&](SwitchIdx sw) {
    return std::pair(orientation.rank[sw], fabric.node_guid[fabric.switch_node[sw]]);
  });
  IndexVector<SwitchIdx, std::uint32_t> place(switches.size());
  const auto count = static_cast<std::uint32_t>(switches.size());
  for (std::uint32_t i = 0; i < count; ++i) place[switches[i]] = i;
  ChannelOrder order(fabric.port_count(), 0);
  for (const PortIdx port : fabric.peer.indices()) {
    const PortIdx peer = fabric.peer[port];
    if (peer == kNone<PortIdx>) continue;
    const SwitchIdx from = fabric.switch_at(port);
    const SwitchIdx to = fabric.switch_at(peer);
    if (from == kNone<SwitchIdx> || to == kNone<SwitchIdx>) continue;
    order[port] = place[to] < place[from] ? count - place[from] : count + place[from] + 1;
  }
  return order;
}

class TurnBlocking {
 public:
  TurnBlocking(PlanBuilder& builder, TransientGraph& transient)
      : builder_(builder),
        transient_(transient),
        fabric_(*builder.task().fabric),
        graph_(builder.empty_graph(false)) {}

  std::optional<TransitionPlan> run(bool only_needed) {
    const Orientation* orientation = builder_.task().orientation;
    if (orientation != nullptr && orientation->rank.size() != fabric_.switch_count())
      orientation = nullptr;
    transient_.set_stages(EntryStage::Settled);
    transient_.mark(graph_, true);
    const bool oriented = orientation != nullptr && graph_.sort_by(order_by(fabric_, *orientation));
    if (!oriented && !graph_.sort()) return std::nullopt;
    if (oriented && !only_needed) block_forbidden(*orientation);
    block_violating();
    return assemble();
  }

 private:
  void block(const Turn& turn) {
    const auto [in, out] = ports_of(fabric_, turn);
    graph_.forbid(in, out);
    blocked_.push_back(turn);
  }

  void block_forbidden(const Orientation& orientation) {
    for (const ForbiddenTurn& turn : find_forbidden_turns(fabric_, orientation))
      block({turn.sw, turn.in, turn.out});
  }

  // What respects the order anyway goes first, so that less stands in the way of the rest.
  void block_violating() {
    TurnGraph mixed = builder_.empty_graph(false);
    transient_.set_stages(EntryStage::Now);
    transient_.mark(mixed, true);
    for (const bool only_respecting : {true, false}) {
      mixed.for_each_turn([&](PortIdx in, PortIdx out) {
        if (graph_.has(in, out) || (only_respecting && !graph_.respects_order(in, out))) return;
        if (graph_.insert(in, out)) return;
        block({fabric_.switch_at(in), fabric_.number_of(in), fabric_.number_of(out)});
      });
    }
  }

  TransitionPlan assemble() {
    std::ranges::sort(blocked_);
    std::vector<Turn> newly_blocked, still;
    for (const Turn& turn : blocked_) {
      const bool was = std::ranges::binary_search(builder_.task().blocked, turn);
      const bool is_kept = std::ranges::binary_search(builder_.initial().kept, turn);
      if (!is_kept) (was ? still : newly_blocked).push_back(turn);
    }
    builder_.keep_blocked(still);

    TransitionPlan plan = builder_.begin(TransitionKind::CutDependencies);
    OrderedPhase phase{.entries = transient_.changes(), .certificate = graph_.order()};
    const ChannelOrder order = phase.certificate;
    // With the activation proved there is nothing that could fail.
    SMD_CHECK(
        builder_.fill(
            plan, transient_, {std::move(phase)}, builder_.must_activate_first(transient_), &order),
        "a proved plan is filled");
    plan.blocked.insert(plan.blocked.end(), newly_blocked.begin(), newly_blocked.end());
    std::ranges::sort(plan.blocked);
    plan.phases.front().block = std::move(newly_blocked);
    return plan;
  }

  PlanBuilder& builder_;
  TransientGraph& transient_;
  const Fabric& fabric_;
  TurnGraph graph_;
  std::vector<Turn> blocked_;
};

// Entries without a route send nobody anywhere: they go with the nearest.
std::vector<std::vector<std::size_t>> sort_by_distance(const TransientGraph& transient) {
  constexpr std::uint16_t kUnreached = 0xffff;
  const std::vector<std::uint16_t> distances = transient.measure_distances();
  std::map<std::uint16_t, std::vector<std::size_t>> levels;
  for (std::size_t i = 0; i < distances.size(); ++i) {
    if (transient.stage(i) != EntryStage::Settled)
      levels[distances[i] == kUnreached ? 0 : distances[i]].push_back(i);
  }
  if (levels.empty()) levels[0];  // a phase to activate links in
  std::vector<std::vector<std::size_t>> sorted;
  for (auto& [distance, changes] : levels) sorted.push_back(std::move(changes));
  return sorted;
}

std::vector<OrderedPhase> prove(TransientGraph& transient,
                                const TurnGraph& empty,
                                const std::vector<std::vector<std::size_t>>& levels,
                                InFlight in_flight) {
  transient.set_stages(EntryStage::Pending);
  std::vector<OrderedPhase> phases;
  for (const std::vector<std::size_t>& level : levels) {
    phases.emplace_back();
    for (const std::size_t i : level) {
      transient.set_stage(i, EntryStage::Now);
      phases.back().entries.push_back(transient.changes()[i]);
    }
    if (auto order = find_order(transient, empty, true))
      phases.back().certificate = std::move(*order);
    for (const std::size_t i : level)
      transient.set_stage(i,
                          in_flight == InFlight::Linger ? EntryStage::Done : EntryStage::Settled);
  }
  return phases;
}

auto count_proved(const std::vector<OrderedPhase>& phases) {
  return std::ranges::count_if(phases,
                               [](const auto& phase) { return !phase.certificate.empty(); });
}

}  // namespace

PlanBuilder::PlanBuilder(const TransitionTask& task, bool whole_tables)
    : task_(task), whole_tables_(whole_tables), initial_(task) {}

bool PlanBuilder::has_work() const {
  return !initial_.activate_inner.empty() || !initial_.activate_outer.empty() ||
         !initial_.restored.empty() || (whole_tables_ && task_.fabric->switch_count() != 0) ||
         differ(task_) || sl_to_vl_differs(task_);
}

TurnGraph PlanBuilder::empty_graph(bool u_turns) const {
  TurnGraph graph{*task_.fabric};
  if (!u_turns) graph.forbid_u_turns();
  for (const Turn& turn : initial_.kept) {
    const auto [in, out] = ports_of(*task_.fabric, turn);
    if (graph.is_channel(in) && graph.is_channel(out)) graph.forbid(in, out);
  }
  return graph;
}

void PlanBuilder::keep_blocked(const std::vector<Turn>& turns) {
  for (const Turn& turn : turns) {
    std::erase(initial_.restored, turn);
    initial_.kept.push_back(turn);
  }
  std::ranges::sort(initial_.kept);
}

TransitionPlan PlanBuilder::begin(TransitionKind kind) const {
  return {.kind = kind, .blocked = initial_.kept, .whole_tables = whole_tables_};
}

bool PlanBuilder::must_activate_first(const TransientGraph& transient) const {
  const Fabric& fabric = *task_.fabric;
  return std::ranges::any_of(transient.changes(), [&](const EntryChange& change) {
    const NodeIdx node = fabric.switch_node[change.sw];
    if (initial_.idle[change.sw] || change.egress.value() > fabric.num_ports(node)) return false;
    const Flow flow = initial_.flow[fabric.port_of(node, change.egress)];
    return flow == Flow::Later || flow == Flow::Half;
  });
}

std::vector<PortIdx> PlanBuilder::all_activations() const {
  std::vector<PortIdx> ports = initial_.activate_inner;
  append_sorted(ports, initial_.activate_outer);
  return ports;
}

bool PlanBuilder::fill(TransitionPlan& plan,
                       TransientGraph& transient,
                       const std::vector<OrderedPhase>& phases,
                       bool activate_first,
                       const ChannelOrder* activation) const {
  ChannelOrder order;
  if (activate_first && activation == nullptr) {
    transient.set_stages(EntryStage::Pending);
    auto found = find_order(transient, empty_graph(true), false);
    if (!found) return false;
    order = std::move(*found);
    activation = &order;
  }
  fill_phases(plan, transient, phases, activate_first ? activation : nullptr);
  return true;
}

void PlanBuilder::fill_phases(TransitionPlan& plan,
                              const TransientGraph& transient,
                              const std::vector<OrderedPhase>& phases,
                              const ChannelOrder* before) const {
  if (before != nullptr)
    plan.phases.push_back({.activate = initial_.activate_inner, .certificate = *before});
  for (const OrderedPhase& ordered : phases) {
    TransitionPhase phase{.certificate = ordered.certificate};
    std::ranges::copy_if(ordered.entries,
                         std::back_inserter(phase.entries),
                         [&](const EntryChange& change) { return !initial_.idle[change.sw]; });
    plan.phases.push_back(std::move(phase));
  }
  if (plan.phases.empty()) plan.phases.resize(1);
  for (const EntryChange& change : transient.changes()) {
    if (initial_.idle[change.sw]) plan.phases.front().entries.push_back(change);
  }
  std::ranges::sort(plan.phases.front().entries);
  plan.phases.front().restore = initial_.restored;
  plan.phases.front().sl_to_vl = sl_to_vl_differs(task_);
  plan.phases.back().activate = before != nullptr ? initial_.activate_outer : all_activations();
}

void PlanBuilder::fill_at_once(TransitionPlan& plan,
                               const TransientGraph& transient,
                               const std::vector<PortIdx>& deactivated) const {
  plan.phases.push_back({.restore = initial_.restored,
                         .deactivate = deactivated,
                         .sl_to_vl = sl_to_vl_differs(task_),
                         .entries = transient.changes(),
                         .activate = all_activations()});
  append_sorted(plan.phases.back().activate, deactivated);
}

std::optional<TransitionPlan> plan_cut_dependencies(PlanBuilder& builder,
                                                    TransientGraph& transient,
                                                    bool only_needed) {
  return TurnBlocking{builder, transient}.run(only_needed);
}

TransitionPlan plan_cut_ports(const PlanBuilder& builder, TransientGraph& transient) {
  const TransitionTask& task = builder.task();
  const Fabric& fabric = *task.fabric;
  std::vector<PortIdx> deactivated;
  InitialState reduced = builder.initial();  // as it is while tables are written
  for (Flow& flow : reduced.flow) {
    if (flow == Flow::Later) flow = Flow::Never;
  }
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    std::vector<PortNum> up = find_up_ports(fabric, *task.orientation, sw);
    if (!up.empty()) up.pop_back();
    for (const PortNum number : up) {
      const PortIdx port = fabric.port_of(fabric.switch_node[sw], number);
      if (fabric.port_info[port].state() != PortState::Active) continue;
      deactivated.push_back(port);
      reduced.flow[port] = reduced.flow[fabric.peer[port]] = Flow::Never;
    }
  }
  std::ranges::sort(deactivated);
  TransitionPlan plan = builder.begin(TransitionKind::CutPorts);
  builder.fill_at_once(plan, transient, deactivated);
  // A barrier before the ports come up again: what old entries sent is gone by then.
  plan.in_flight = InFlight::Drained;
  plan.phases.resize(2);
  plan.phases[1].activate.swap(plan.phases[0].activate);
  TransientGraph without{task, reduced, transient.changes()};
  without.set_stages(EntryStage::Now);
  transient.set_stages(EntryStage::Settled);
  const TurnGraph empty = builder.empty_graph(false);
  if (auto order = find_order(without, empty, false))
    plan.phases[0].certificate = std::move(*order);
  if (auto order = find_order(transient, empty, true))
    plan.phases[1].certificate = std::move(*order);
  return plan;
}

TransitionPlan plan_deactivate_all(const PlanBuilder& builder, TransientGraph& transient) {
  const Fabric& fabric = *builder.task().fabric;
  std::vector<PortIdx> active;
  for (const PortIdx port : fabric.peer.indices()) {
    if (fabric.peer[port] != kNone<PortIdx> && fabric.port_info[port].state() == PortState::Active)
      active.push_back(port);
  }
  TransitionPlan plan = builder.begin(TransitionKind::DeactivateAll);
  builder.fill_at_once(plan, transient, active);
  transient.set_stages(EntryStage::Settled);
  prove_silent(builder, transient, plan);
  return plan;
}

void prove_silent(const PlanBuilder& builder, TransientGraph& transient, TransitionPlan& plan) {
  plan.phases[0].advertised = true;
  if (auto order = find_order(transient, builder.empty_graph(false), true)) {
    plan.phases[0].certificate = std::move(*order);
  } else if (builder.task().sl_to_vl != nullptr) {
    if (auto by_vl = find_wanted_order(builder.task(), builder.initial())) {
      plan.vls = by_vl->vls;
      plan.phases[0].certificate = std::move(by_vl->order);
    }
  }
}

TransitionPlan plan_unordered(const PlanBuilder& builder, const TransientGraph& transient) {
  TransitionPlan plan = builder.begin(TransitionKind::Unordered);
  builder.fill_at_once(plan, transient, {});
  return plan;
}

TransitionPlan plan_next_hop_first(const TransitionTask& task, const PlannerOptions& options) {
  PlanBuilder builder{task, options.whole_tables};
  if (!builder.has_work() || builder.initial().silent) return plan_transition(task, options);
  TransientGraph transient{task, builder.initial(), find_changes(task)};
  TransitionPlan plan = builder.begin(TransitionKind::NextHopFirst);
  const TurnGraph empty = builder.empty_graph(true);
  transient.set_stages(EntryStage::Pending);
  const auto levels = sort_by_distance(transient);
  std::vector<OrderedPhase> phases = prove(transient, empty, levels, InFlight::Linger);
  if (count_proved(phases) != static_cast<std::ptrdiff_t>(phases.size())) {
    std::vector<OrderedPhase> drained = prove(transient, empty, levels, InFlight::Drained);
    if (count_proved(drained) > count_proved(phases)) {
      phases = std::move(drained);
      plan.in_flight = InFlight::Drained;
    }
  }
  const bool activate_first = builder.must_activate_first(transient);
  ChannelOrder activation;
  if (activate_first) {
    transient.set_stages(EntryStage::Pending);
    if (auto order = find_order(transient, empty, false)) activation = std::move(*order);
  }
  (void)builder.fill(plan, transient, phases, activate_first, &activation);
  return plan;
}

}  // namespace smd
