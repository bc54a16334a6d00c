#include "smd/plan/bridged_search.h"

#include <algorithm>

#include "smd/plan/bridge_routes.h"
#include "smd/plan/tree_walk.h"

namespace smd {
namespace {

constexpr unsigned kMostBridges = 8;

// Tables as wide as both, and as wanted where no data is.
ForwardingTables start_tables(const TransitionTask& task, const PlanScene& scene) {
  ForwardingTables tables{task.fabric->switch_count(),
                          std::max(task.held->top(), task.wanted->top())};
  for (const SwitchIdx sw : task.fabric->switch_node.indices()) {
    const ForwardingTables& from = scene.idle[sw] ? *task.wanted : *task.held;
    if (sw.value() < from.switches()) std::ranges::copy(from.row(sw), tables.row(sw).begin());
  }
  return tables;
}

bool is_too_much(const TransitionTask& task) {
  std::vector<char> changes(kTopUnicastLid.value() + 1u, 0);
  for (const EntryChange& change : find_changes(task)) changes[change.lid.value()] = 1;
  const auto lids = static_cast<std::size_t>(std::ranges::count(changes, 1));
  return lids * task.fabric->port_count() > kMostBridgedPairs;
}

class BridgedSearch {
 public:
  BridgedSearch(const TransitionTask& task,
                const PlanScene& scene,
                const TurnGraph& empty,
                unsigned max_phases)
      : task_(task),
        scene_(scene),
        empty_(empty),
        max_phases_(max_phases),
        now_(start_tables(task, scene)) {}

  // `greedy`: whatever goes over to its wanted value without a bridge does so first.
  std::optional<OrderedPlan> bridge(bool greedy) {
    if (!bridge_to(*task_.wanted, greedy)) return std::nullopt;
    return std::move(plan_);
  }

  // Over a tree that goes with the held tables, or one that goes with the wanted ones: next to so
  // few turns there is room for bridges.
  std::optional<OrderedPlan> bridge_over(const ForwardingTables& stop, bool is_first) {
    const bool there = is_first ? go(stop, false) : bridge_to(stop, false);
    if (!there) return std::nullopt;
    if (!(is_first ? bridge_to(*task_.wanted, true) : go(*task_.wanted, false)))
      return std::nullopt;
    return std::move(plan_);
  }

  // From tree to tree.
  std::optional<OrderedPlan> walk(const std::vector<ForwardingTables>& stops) {
    for (const ForwardingTables& stop : stops) {
      if (!go(stop, false)) return std::nullopt;
    }
    if (!go(*task_.wanted, false)) return std::nullopt;
    return std::move(plan_);
  }

  [[nodiscard]] std::vector<ForwardingTables> find_stops() const {
    const TransitionTask task = leg_to(*task_.wanted);
    Mixture mixture{task, scene_, find_changes(task)};
    return find_tree_walk(task, scene_, mixture, empty_);
  }

 private:
  bool bridge_to(const ForwardingTables& goal, bool greedy) {
    for (unsigned bridges = 0; bridges <= kMostBridges; ++bridges) {
      if ((bridges != 0 || greedy) && go(goal, greedy)) return true;
      const TransitionTask task = leg_to(goal);
      Mixture mixture{task, scene_, find_changes(task)};
      const Bridge bridge = build_bridge(task, scene_, mixture, empty_);
      const std::size_t before = plan_.phases.size();
      (void)go(bridge.tables, true);
      if (plan_.phases.size() == before) return false;
    }
    return false;
  }

  [[nodiscard]] TransitionTask leg_to(const ForwardingTables& tables) const {
    return {.fabric = task_.fabric,
            .lids = task_.lids,
            .held = &now_,
            .wanted = &tables,
            .unknown = {},
            .blocked = task_.blocked,
            .orientation = task_.orientation};
  }

  // True when the tables are reached. Otherwise, with `partly`, as far as the phases lead.
  bool go(const ForwardingTables& tables, bool partly) {
    const TransitionTask task = leg_to(tables);
    Mixture mixture{task, scene_, find_changes(task)};
    const auto spent = static_cast<unsigned>(plan_.phases.size());
    OrderedPlan leg = find_most(mixture, empty_, max_phases_ - std::min(spent, max_phases_));
    if (leg.left != 0 && !partly) return false;
    for (OrderedPhase& phase : leg.phases) {
      for (const EntryChange& change : phase.entries)
        now_.set_route(change.sw, change.lid, change.egress);
      plan_.phases.push_back(std::move(phase));
    }
    return leg.left == 0;
  }

  const TransitionTask& task_;
  const PlanScene& scene_;
  const TurnGraph& empty_;
  unsigned max_phases_;
  ForwardingTables now_;
  OrderedPlan plan_{.phases = {}, .in_flight = InFlight::Drained};
};

}  // namespace

std::optional<OrderedPlan> find_bridged_phases(const TransitionTask& task,
                                               const PlanScene& scene,
                                               const TurnGraph& empty,
                                               unsigned max_phases) {
  const bool fits = std::ranges::all_of(task.fabric->switch_info, [](const SwitchInfo& info) {
    return info.linear_fdb_cap != 0 || info.random_fdb_cap == 0;
  });
  if (!fits || !task.unknown.empty() || is_too_much(task)) return std::nullopt;
  std::optional<OrderedPlan> best;
  for (const bool greedy : {true, false}) {
    const unsigned limit = best ? static_cast<unsigned>(best->phases.size()) - 1 : max_phases;
    if (auto found = BridgedSearch{task, scene, empty, limit}.bridge(greedy))
      best = std::move(found);
  }
  if (best || task.fabric->switch_count() * task.wanted->top().value() > kMostWalkedEntries)
    return best;

  const auto search = [&] { return BridgedSearch{task, scene, empty, max_phases}; };
  const std::vector<ForwardingTables> stops = search().find_stops();
  if (stops.empty()) return std::nullopt;
  for (const bool is_first : {true, false}) {
    if (auto found = search().bridge_over(is_first ? stops.front() : stops.back(), is_first))
      return found;
  }
  return search().walk(stops);
}

}  // namespace smd
