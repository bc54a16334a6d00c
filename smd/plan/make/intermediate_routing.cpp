#include "smd/plan/make/intermediate_routing.h"

#include <algorithm>
#include <array>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "smd/plan/make/turn_graph.h"

namespace smd {
namespace {

// What a tree grows by, where several links could be next.
enum class GrowBy : std::uint8_t { Wanted, Short, Late, Held };

constexpr std::array kGrowBy{GrowBy::Wanted, GrowBy::Short, GrowBy::Late, GrowBy::Held};

// By switch: the port by which packets to one LID leave for another switch.
using EgressPorts = IndexVector<SwitchIdx, PortIdx>;

class IntermediateBuilder {
 public:
  IntermediateBuilder(const TransitionTask& task,
                      const InitialState& initial,
                      TransientGraph& transient,
                      const TurnGraph& empty)
      : task_(task),
        initial_(initial),
        fabric_(*task.fabric),
        transient_(transient),
        old_(marked(empty, EntryStage::Pending)),
        new_(marked(empty, EntryStage::Settled)),
        served_(fabric_.switch_count(), 0),
        held_(fabric_.switch_count()),
        wanted_(fabric_.switch_count()),
        tree_(fabric_.switch_count()) {}

  IntermediateRouting run() {
    IntermediateRouting intermediate{.tables = *task_.held, .built = 0};
    if (!old_.sort() || !new_.sort()) return intermediate;
    std::vector<Lid> left;
    for (const Lid lid : list_lids()) {
      if (!read(lid)) continue;
      tree_ = wanted_;
      if (mixes(true)) {
        write(lid, intermediate);
      } else {
        left.push_back(lid);
      }
    }
    for (const Lid lid : left) {
      (void)read(lid);
      if (grow_any()) write(lid, intermediate);
    }
    return intermediate;
  }

 private:
  TrialGraph marked(const TurnGraph& empty, EntryStage stage) {
    TurnGraph graph = empty;
    transient_.set_stages(stage);
    transient_.mark(graph, true);
    return TrialGraph{std::move(graph)};
  }

  [[nodiscard]] std::vector<Lid> list_lids() const {
    std::vector<Lid> lids;
    for (const EntryChange& change : transient_.changes()) lids.push_back(change.lid);
    std::ranges::sort(lids);
    const auto [first, last] = std::ranges::unique(lids);
    lids.erase(first, last);
    return lids;
  }

  [[nodiscard]] PortIdx egress_of(const ForwardingTables& tables, SwitchIdx sw, Lid lid) const {
    const NodeIdx node = fabric_.switch_node[sw];
    const PortNum egress = entry_of(tables, sw, lid);
    if (egress.value() > fabric_.num_ports(node)) return kNone<PortIdx>;
    const PortIdx port = fabric_.port_of(node, egress);
    return initial_.flow[port] == Flow::Now ? port : kNone<PortIdx>;
  }

  // False where the destination moves, or where a switch has a route to it only before or only
  // afterwards.
  bool read(Lid lid) {
    root_ = kNone<SwitchIdx>;
    for (const SwitchIdx sw : held_.indices()) {
      held_[sw] = egress_of(*task_.held, sw, lid);
      wanted_[sw] = egress_of(*task_.wanted, sw, lid);
      served_[sw] = !initial_.idle[sw];
      if (initial_.idle[sw] || (held_[sw] != kNone<PortIdx> && wanted_[sw] != kNone<PortIdx>))
        continue;
      const PortNum egress = entry_of(*task_.held, sw, lid);
      if (egress != entry_of(*task_.wanted, sw, lid)) return false;
      served_[sw] = egress != kNoRoute;
      if (!served_[sw]) continue;
      if (root_ != kNone<SwitchIdx>) return false;
      root_ = sw;
    }
    return root_ != kNone<SwitchIdx>;
  }

  // Packets that one table sends to a switch leave it as another says: adds these turns.
  [[nodiscard]] bool add(TrialGraph& graph, const EgressPorts& arrive, const EgressPorts& leave) {
    for (const SwitchIdx sw : arrive.indices()) {
      if (!served_[sw] || arrive[sw] == kNone<PortIdx>) continue;
      const PortIdx in = fabric_.peer[arrive[sw]];
      const PortIdx out = leave[initial_.peer_switch[arrive[sw]]];
      // Back where it came from: not while the nearer one of two switches changes first.
      if (out == kNone<PortIdx> || out == in) continue;
      if (!graph.insert(in, out)) return false;
    }
    return true;
  }

  // The tree goes with what is there. `strict`: also while both tables are in force, if the nearer
  // one of two switches changes first.
  [[nodiscard]] bool mixes(bool strict) {
    const std::size_t old_mark = old_.mark(), new_mark = new_.mark();
    if (add(old_, tree_, tree_) && add(new_, tree_, tree_) &&
        (!strict || (add(old_, held_, tree_) && add(new_, tree_, wanted_))))
      return true;
    old_.undo(old_mark);
    new_.undo(new_mark);
    return false;
  }

  [[nodiscard]] bool grow_any() {
    for (const bool strict : {true, false}) {
      for (const GrowBy growth : kGrowBy) {
        const std::size_t old_mark = old_.mark(), new_mark = new_.mark();
        if (grow(growth, strict)) return true;
        old_.undo(old_mark);
        new_.undo(new_mark);
      }
    }
    return false;
  }

  struct Candidate {
    std::tuple<int, std::uint32_t, int, std::uint32_t> rank;  // the least is next
    PortIdx port;
    std::uint32_t depth;

    bool operator>(const Candidate& other) const { return rank > other.rank; }
  };

  Candidate rank_candidate(PortIdx port, std::uint32_t depth, GrowBy growth) const {
    const SwitchIdx sw = fabric_.switch_at(port);
    const int not_wanted = wanted_[sw] != port, not_held = held_[sw] != port;
    Candidate candidate{.rank = {}, .port = port, .depth = depth};
    switch (growth) {
      case GrowBy::Wanted:
        candidate.rank = {not_wanted, depth, not_held, port.value()};
        break;
      case GrowBy::Short:
        candidate.rank = {0, depth, 2 * not_wanted + not_held, port.value()};
        break;
      case GrowBy::Late:
        candidate.rank = {0,
                          ~(old_.position(port) + new_.position(port)),
                          2 * not_wanted + not_held,
                          port.value()};
        break;
      case GrowBy::Held:
        candidate.rank = {not_held, depth, not_wanted, port.value()};
        break;
    }
    return candidate;
  }

  // From the destination outwards; a link whose turns close a cycle is passed by.
  [[nodiscard]] bool grow(GrowBy growth, bool strict) {
    tree_.assign(tree_.size(), kNone<PortIdx>);
    std::vector<char> grown(tree_.size(), 0);
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> next;
    std::size_t missing = 0;
    for (const SwitchIdx sw : tree_.indices()) missing += served_[sw] != 0;
    const auto reach = [&](SwitchIdx sw, std::uint32_t depth) {
      grown[sw.value()] = 1;
      --missing;
      for (const PortIdx port : fabric_.external_ports(fabric_.switch_node[sw])) {
        if (initial_.flow[port] != Flow::Now || grown[initial_.peer_switch[port].value()]) continue;
        next.push(rank_candidate(fabric_.peer[port], depth + 1, growth));
      }
    };
    reach(root_, 0);
    while (!next.empty() && missing != 0) {
      const Candidate candidate = next.top();
      next.pop();
      const SwitchIdx sw = fabric_.switch_at(candidate.port);
      if (grown[sw.value()] || !served_[sw] || !fits(sw, candidate.port, strict)) continue;
      tree_[sw] = candidate.port;
      reach(sw, candidate.depth);
    }
    return missing == 0;
  }

  [[nodiscard]] bool fits(SwitchIdx sw, PortIdx out, bool strict) {
    const std::size_t old_mark = old_.mark(), new_mark = new_.mark();
    const SwitchIdx peer = initial_.peer_switch[out];
    const PortIdx in = fabric_.peer[out];
    const auto go_on = [&](TrialGraph& graph, PortIdx next) {
      return next == kNone<PortIdx> || next == in || graph.insert(in, next);
    };
    bool fit = go_on(old_, tree_[peer]) && go_on(new_, tree_[peer]);
    if (fit && strict) {
      fit = go_on(new_, wanted_[peer]);
      for (const PortIdx port : fabric_.external_ports(fabric_.switch_node[sw])) {
        if (!fit) break;
        const SwitchIdx from = initial_.peer_switch[port];
        if (from == kNone<SwitchIdx> || port == out || held_[from] != fabric_.peer[port]) continue;
        fit = old_.insert(port, out);
      }
    }
    if (fit) return true;
    old_.undo(old_mark);
    new_.undo(new_mark);
    return false;
  }

  void write(Lid lid, IntermediateRouting& intermediate) const {
    for (const SwitchIdx sw : tree_.indices()) {
      if (tree_[sw] != kNone<PortIdx>)
        intermediate.tables.set_route(sw, lid, fabric_.number_of(tree_[sw]));
    }
    ++intermediate.built;
  }

  const TransitionTask& task_;
  const InitialState& initial_;
  const Fabric& fabric_;
  TransientGraph& transient_;
  TrialGraph old_, new_;
  SwitchIdx root_ = kNone<SwitchIdx>;    // who has the destination
  IndexVector<SwitchIdx, char> served_;  // has data, and a route to it
  EgressPorts held_, wanted_, tree_;
};

constexpr unsigned kMostIntermediateRoutings = 8;

// Tables as wide as both, and as wanted where no data is.
ForwardingTables start_tables(const TransitionTask& task, const InitialState& initial) {
  ForwardingTables tables{task.fabric->switch_count(),
                          std::max(task.held->top(), task.wanted->top())};
  for (const SwitchIdx sw : task.fabric->switch_node.indices()) {
    const ForwardingTables& from = initial.idle[sw] ? *task.wanted : *task.held;
    if (sw.value() < from.switches()) tables.set_row(sw, from, sw);
  }
  return tables;
}

bool is_too_much(const TransitionTask& task) {
  std::vector<char> changes(kTopUnicastLid.value() + 1u, 0);
  for (const EntryChange& change : find_changes(task)) changes[change.lid.value()] = 1;
  const auto lids = static_cast<std::size_t>(std::ranges::count(changes, 1));
  return lids * task.fabric->port_count() > kMostIntermediatePairs;
}

class IntermediateSearch {
 public:
  IntermediateSearch(const TransitionTask& task,
                     const InitialState& initial,
                     const TurnGraph& empty,
                     unsigned max_phases)
      : task_(task),
        initial_(initial),
        empty_(empty),
        max_phases_(max_phases),
        now_(start_tables(task, initial)) {}

  // `greedy`: whatever goes over to its wanted value without an intermediate routing does so first.
  std::optional<OrderedPlan> find(bool greedy) {
    if (!go_by_intermediates(*task_.wanted, greedy)) return std::nullopt;
    return std::move(plan_);
  }

  // Over a tree that goes with the held tables, or one that goes with the wanted ones: next to so
  // few turns there is room for intermediate routings.
  std::optional<OrderedPlan> find_over_trees(const ForwardingTables& stop, bool is_first) {
    const bool there = is_first ? go(stop, false) : go_by_intermediates(stop, false);
    if (!there) return std::nullopt;
    if (!(is_first ? go_by_intermediates(*task_.wanted, true) : go(*task_.wanted, false)))
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
    TransientGraph transient{task, initial_, find_changes(task)};
    return find_spanning_tree_steps(task, initial_, transient, empty_);
  }

 private:
  bool go_by_intermediates(const ForwardingTables& goal, bool greedy) {
    for (unsigned routings = 0; routings <= kMostIntermediateRoutings; ++routings) {
      if ((routings != 0 || greedy) && go(goal, greedy)) return true;
      const TransitionTask task = leg_to(goal);
      TransientGraph transient{task, initial_, find_changes(task)};
      const IntermediateRouting intermediate =
          build_intermediate_routing(task, initial_, transient, empty_);
      const std::size_t before = plan_.phases.size();
      (void)go(intermediate.tables, true);
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
    TransientGraph transient{task, initial_, find_changes(task)};
    const auto spent = static_cast<unsigned>(plan_.phases.size());
    OrderedPlan leg = find_most(transient, empty_, max_phases_ - std::min(spent, max_phases_));
    if (leg.left != 0 && !partly) return false;
    for (OrderedPhase& phase : leg.phases) {
      for (const EntryChange& change : phase.entries)
        now_.set_route(change.sw, change.lid, change.egress);
      plan_.phases.push_back(std::move(phase));
    }
    return leg.left == 0;
  }

  const TransitionTask& task_;
  const InitialState& initial_;
  const TurnGraph& empty_;
  unsigned max_phases_;
  ForwardingTables now_;
  OrderedPlan plan_{.phases = {}, .in_flight = InFlight::Drained};
};

}  // namespace

IntermediateRouting build_intermediate_routing(const TransitionTask& task,
                                               const InitialState& initial,
                                               TransientGraph& transient,
                                               const TurnGraph& empty) {
  return IntermediateBuilder{task, initial, transient, empty}.run();
}

std::optional<OrderedPlan> find_intermediate_phases(const TransitionTask& task,
                                                    const InitialState& initial,
                                                    const TurnGraph& empty,
                                                    unsigned max_phases) {
  const bool fits = std::ranges::all_of(task.fabric->switch_info, [](const SwitchInfo& info) {
    return info.linear_fdb_cap != 0 || info.random_fdb_cap == 0;
  });
  if (!fits || !task.unknown.empty() || is_too_much(task)) return std::nullopt;
  std::optional<OrderedPlan> best;
  for (const bool greedy : {true, false}) {
    const unsigned limit = best ? static_cast<unsigned>(best->phases.size()) - 1 : max_phases;
    if (auto found = IntermediateSearch{task, initial, empty, limit}.find(greedy))
      best = std::move(found);
  }
  if (best || task.fabric->switch_count() * task.wanted->top().value() > kMostTreeEntries)
    return best;

  const auto search = [&] { return IntermediateSearch{task, initial, empty, max_phases}; };
  const std::vector<ForwardingTables> stops = search().find_stops();
  if (stops.empty()) return std::nullopt;
  for (const bool is_first : {true, false}) {
    if (auto found = search().find_over_trees(is_first ? stops.front() : stops.back(), is_first))
      return found;
  }
  return search().walk(stops);
}

}  // namespace smd
