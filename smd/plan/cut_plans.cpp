#include "smd/plan/cut_plans.h"

#include <algorithm>

#include "smd/base/check.h"
#include "smd/plan/lane_search.h"
#include "smd/routing/cut_nodes.h"

namespace smd {
namespace {

// Channels that lead up, the lowest first, then those that lead down, the upmost first: what an
// orientation allows always rises.
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
    const PortIdx far = fabric.peer[port];
    if (far == kNone<PortIdx>) continue;
    const SwitchIdx from = fabric.switch_of[fabric.node_of[port]];
    const SwitchIdx to = fabric.switch_of[fabric.node_of[far]];
    if (from == kNone<SwitchIdx> || to == kNone<SwitchIdx>) continue;
    order[port] = place[to] < place[from] ? count - place[from] : count + place[from] + 1;
  }
  return order;
}

class TurnCut {
 public:
  TurnCut(PlanBuilder& builder, Mixture& mixture)
      : builder_(builder),
        mixture_(mixture),
        fabric_(*builder.task().fabric),
        graph_(builder.empty_graph(false)) {}

  std::optional<TransitionPlan> run(bool only_needed) {
    const Orientation* orientation = builder_.task().orientation;
    if (orientation != nullptr && orientation->rank.size() != fabric_.switch_count())
      orientation = nullptr;
    mixture_.set_stages(Stage::Fresh);
    mixture_.mark(graph_, true);
    const bool oriented = orientation != nullptr && graph_.sort_by(order_by(fabric_, *orientation));
    if (!oriented && !graph_.sort()) return std::nullopt;
    if (oriented && !only_needed) block_forbidden(*orientation);
    block_falling();
    return assemble();
  }

 private:
  void block(const Turn& turn) {
    const auto [in, out] = ports_of(fabric_, turn);
    graph_.strike(in, out);
    blocked_.push_back(turn);
  }

  void block_forbidden(const Orientation& orientation) {
    for (const ForbiddenTurn& turn : find_forbidden_turns(fabric_, orientation))
      block({turn.sw, turn.in, turn.out});
  }

  // What rises anyway goes first, so that less stands in the way of the rest.
  void block_falling() {
    TurnGraph mixed = builder_.empty_graph(false);
    mixture_.set_stages(Stage::Now);
    mixture_.mark(mixed, true);
    for (const bool only_rising : {true, false}) {
      mixed.for_each_turn([&](PortIdx in, PortIdx out) {
        if (graph_.has(in, out) || (only_rising && !graph_.rises(in, out))) return;
        if (graph_.insert(in, out)) return;
        block({fabric_.switch_of[fabric_.node_of[in]],
               fabric_.number_of(in),
               fabric_.number_of(out)});
      });
    }
  }

  TransitionPlan assemble() {
    std::ranges::sort(blocked_);
    std::vector<Turn> fresh, still;
    for (const Turn& turn : blocked_) {
      const bool was = std::ranges::binary_search(builder_.task().blocked, turn);
      const bool is_kept = std::ranges::binary_search(builder_.scene().kept, turn);
      if (!is_kept) (was ? still : fresh).push_back(turn);
    }
    builder_.keep_blocked(still);

    TransitionPlan plan = builder_.begin(TransitionKind::CutDependencies);
    OrderedPhase phase{.entries = mixture_.changes(), .certificate = graph_.order()};
    const ChannelOrder order = phase.certificate;
    // With the waking proved there is nothing that could fail.
    SMD_CHECK(builder_.fill(
                  plan, mixture_, {std::move(phase)}, builder_.must_wake_first(mixture_), &order),
              "a proved plan is filled");
    plan.blocked.insert(plan.blocked.end(), fresh.begin(), fresh.end());
    std::ranges::sort(plan.blocked);
    plan.phases.front().block = std::move(fresh);
    return plan;
  }

  PlanBuilder& builder_;
  Mixture& mixture_;
  const Fabric& fabric_;
  TurnGraph graph_;
  std::vector<Turn> blocked_;
};

}  // namespace

std::optional<TransitionPlan> plan_cut_dependencies(PlanBuilder& builder,
                                                    Mixture& mixture,
                                                    bool only_needed) {
  return TurnCut{builder, mixture}.run(only_needed);
}

TransitionPlan plan_cut_ports(const PlanBuilder& builder, Mixture& mixture) {
  const TransitionTask& task = builder.task();
  const Fabric& fabric = *task.fabric;
  std::vector<PortIdx> deactivated;
  PlanScene cut = builder.scene();  // as it is while tables are written
  for (Flow& flow : cut.flow) {
    if (flow == Flow::Later) flow = Flow::Never;
  }
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    std::vector<PortNum> up = find_up_ports(fabric, *task.orientation, sw);
    if (!up.empty()) up.pop_back();
    for (const PortNum number : up) {
      const PortIdx port = fabric.port_of(fabric.switch_node[sw], number);
      if (fabric.port_info[port].state() != PortState::Active) continue;
      deactivated.push_back(port);
      cut.flow[port] = cut.flow[fabric.peer[port]] = Flow::Never;
    }
  }
  std::ranges::sort(deactivated);
  TransitionPlan plan = builder.begin(TransitionKind::CutPorts);
  builder.fill_at_once(plan, mixture, deactivated);
  // A barrier before the ports come up again: what old entries sent is gone by then.
  plan.in_flight = InFlight::Drained;
  plan.phases.resize(2);
  plan.phases[1].activate.swap(plan.phases[0].activate);
  Mixture without{task, cut, mixture.changes()};
  without.set_stages(Stage::Now);
  mixture.set_stages(Stage::Fresh);
  const TurnGraph empty = builder.empty_graph(false);
  if (auto order = find_order(without, empty, false))
    plan.phases[0].certificate = std::move(*order);
  if (auto order = find_order(mixture, empty, true)) plan.phases[1].certificate = std::move(*order);
  return plan;
}

TransitionPlan plan_deactivate_all(const PlanBuilder& builder, Mixture& mixture) {
  const Fabric& fabric = *builder.task().fabric;
  std::vector<PortIdx> active;
  for (const PortIdx port : fabric.peer.indices()) {
    if (fabric.peer[port] != kNone<PortIdx> && fabric.port_info[port].state() == PortState::Active)
      active.push_back(port);
  }
  TransitionPlan plan = builder.begin(TransitionKind::DeactivateAll);
  builder.fill_at_once(plan, mixture, active);
  mixture.set_stages(Stage::Fresh);
  prove_silent(builder, mixture, plan);
  return plan;
}

void prove_silent(const PlanBuilder& builder, Mixture& mixture, TransitionPlan& plan) {
  plan.phases[0].told = true;
  if (auto order = find_order(mixture, builder.empty_graph(false), true)) {
    plan.phases[0].certificate = std::move(*order);
  } else if (builder.task().lanes != nullptr) {
    if (auto by_lane = find_wanted_order(builder.task(), builder.scene())) {
      plan.lanes = by_lane->lanes;
      plan.phases[0].certificate = std::move(by_lane->order);
    }
  }
}

TransitionPlan plan_unordered(const PlanBuilder& builder, const Mixture& mixture) {
  TransitionPlan plan = builder.begin(TransitionKind::Unordered);
  builder.fill_at_once(plan, mixture, {});
  return plan;
}

}  // namespace smd
