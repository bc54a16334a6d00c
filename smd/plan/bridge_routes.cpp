#include "smd/plan/bridge_routes.h"

#include <algorithm>
#include <array>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "smd/plan/trial_graph.h"

namespace smd {
namespace {

// What a tree grows by, where several links could be next.
enum class Taste : std::uint8_t { Wanted, Short, Late, Held };

constexpr std::array kTastes{Taste::Wanted, Taste::Short, Taste::Late, Taste::Held};

// By switch: the port by which packets to one LID leave for another switch.
using Exits = IndexVector<SwitchIdx, PortIdx>;

class BridgeBuilder {
 public:
  BridgeBuilder(const TransitionTask& task,
                const PlanScene& scene,
                Mixture& mixture,
                const TurnGraph& empty)
      : task_(task),
        scene_(scene),
        fabric_(*task.fabric),
        mixture_(mixture),
        old_(marked(empty, Stage::Pending)),
        new_(marked(empty, Stage::Fresh)),
        serves_(fabric_.switch_count(), 0),
        held_(fabric_.switch_count()),
        wanted_(fabric_.switch_count()),
        tree_(fabric_.switch_count()) {}

  Bridge run() {
    Bridge bridge{.tables = *task_.held, .built = 0};
    if (!old_.sort() || !new_.sort()) return bridge;
    std::vector<Lid> left;
    for (const Lid lid : list_lids()) {
      if (!read(lid)) continue;
      tree_ = wanted_;
      if (mixes(true)) {
        write(lid, bridge);
      } else {
        left.push_back(lid);
      }
    }
    for (const Lid lid : left) {
      (void)read(lid);
      if (grow_any()) write(lid, bridge);
    }
    return bridge;
  }

 private:
  TrialGraph marked(const TurnGraph& empty, Stage stage) {
    TurnGraph graph = empty;
    mixture_.set_stages(stage);
    mixture_.mark(graph, true);
    return TrialGraph{std::move(graph)};
  }

  [[nodiscard]] std::vector<Lid> list_lids() const {
    std::vector<Lid> lids;
    for (const EntryChange& change : mixture_.changes()) lids.push_back(change.lid);
    std::ranges::sort(lids);
    const auto [first, last] = std::ranges::unique(lids);
    lids.erase(first, last);
    return lids;
  }

  [[nodiscard]] PortIdx exit_of(const ForwardingTables& tables, SwitchIdx sw, Lid lid) const {
    const NodeIdx node = fabric_.switch_node[sw];
    const PortNum egress = entry_of(tables, sw, lid);
    if (egress.value() > fabric_.num_ports(node)) return kNone<PortIdx>;
    const PortIdx port = fabric_.port_of(node, egress);
    return scene_.flow[port] == Flow::Now ? port : kNone<PortIdx>;
  }

  // False where the destination moves, or where a switch has a way to it only before or only
  // afterwards.
  bool read(Lid lid) {
    root_ = kNone<SwitchIdx>;
    for (const SwitchIdx sw : held_.indices()) {
      held_[sw] = exit_of(*task_.held, sw, lid);
      wanted_[sw] = exit_of(*task_.wanted, sw, lid);
      serves_[sw] = !scene_.idle[sw];
      if (scene_.idle[sw] || (held_[sw] != kNone<PortIdx> && wanted_[sw] != kNone<PortIdx>))
        continue;
      const PortNum egress = entry_of(*task_.held, sw, lid);
      if (egress != entry_of(*task_.wanted, sw, lid)) return false;
      serves_[sw] = egress != kNoRoute;
      if (!serves_[sw]) continue;
      if (root_ != kNone<SwitchIdx>) return false;
      root_ = sw;
    }
    return root_ != kNone<SwitchIdx>;
  }

  // Packets that one table sends to a switch leave it as another says: adds these turns.
  [[nodiscard]] bool add(TrialGraph& graph, const Exits& arrive, const Exits& leave) {
    for (const SwitchIdx sw : arrive.indices()) {
      if (!serves_[sw] || arrive[sw] == kNone<PortIdx>) continue;
      const PortIdx in = fabric_.peer[arrive[sw]];
      const PortIdx out = leave[scene_.beyond[arrive[sw]]];
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
      for (const Taste taste : kTastes) {
        const std::size_t old_mark = old_.mark(), new_mark = new_.mark();
        if (grow(taste, strict)) return true;
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

  Candidate judge(PortIdx port, std::uint32_t depth, Taste taste) const {
    const SwitchIdx sw = fabric_.switch_of[fabric_.node_of[port]];
    const int not_wanted = wanted_[sw] != port, not_held = held_[sw] != port;
    Candidate candidate{.rank = {}, .port = port, .depth = depth};
    switch (taste) {
      case Taste::Wanted:
        candidate.rank = {not_wanted, depth, not_held, port.value()};
        break;
      case Taste::Short:
        candidate.rank = {0, depth, 2 * not_wanted + not_held, port.value()};
        break;
      case Taste::Late:
        candidate.rank = {0,
                          ~(old_.position(port) + new_.position(port)),
                          2 * not_wanted + not_held,
                          port.value()};
        break;
      case Taste::Held:
        candidate.rank = {not_held, depth, not_wanted, port.value()};
        break;
    }
    return candidate;
  }

  // From the destination outwards; a link whose turns close a cycle is passed by.
  [[nodiscard]] bool grow(Taste taste, bool strict) {
    tree_.assign(tree_.size(), kNone<PortIdx>);
    std::vector<char> grown(tree_.size(), 0);
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> next;
    std::size_t missing = 0;
    for (const SwitchIdx sw : tree_.indices()) missing += serves_[sw] != 0;
    const auto reach = [&](SwitchIdx sw, std::uint32_t depth) {
      grown[sw.value()] = 1;
      --missing;
      for (const PortIdx port : fabric_.external_ports(fabric_.switch_node[sw])) {
        if (scene_.flow[port] != Flow::Now || grown[scene_.beyond[port].value()]) continue;
        next.push(judge(fabric_.peer[port], depth + 1, taste));
      }
    };
    reach(root_, 0);
    while (!next.empty() && missing != 0) {
      const Candidate candidate = next.top();
      next.pop();
      const SwitchIdx sw = fabric_.switch_of[fabric_.node_of[candidate.port]];
      if (grown[sw.value()] || !serves_[sw] || !fits(sw, candidate.port, strict)) continue;
      tree_[sw] = candidate.port;
      reach(sw, candidate.depth);
    }
    return missing == 0;
  }

  [[nodiscard]] bool fits(SwitchIdx sw, PortIdx out, bool strict) {
    const std::size_t old_mark = old_.mark(), new_mark = new_.mark();
    const SwitchIdx far = scene_.beyond[out];
    const PortIdx in = fabric_.peer[out];
    const auto go_on = [&](TrialGraph& graph, PortIdx next) {
      return next == kNone<PortIdx> || next == in || graph.insert(in, next);
    };
    bool fit = go_on(old_, tree_[far]) && go_on(new_, tree_[far]);
    if (fit && strict) {
      fit = go_on(new_, wanted_[far]);
      for (const PortIdx port : fabric_.external_ports(fabric_.switch_node[sw])) {
        if (!fit) break;
        const SwitchIdx from = scene_.beyond[port];
        if (from == kNone<SwitchIdx> || port == out || held_[from] != fabric_.peer[port]) continue;
        fit = old_.insert(port, out);
      }
    }
    if (fit) return true;
    old_.undo(old_mark);
    new_.undo(new_mark);
    return false;
  }

  void write(Lid lid, Bridge& bridge) const {
    for (const SwitchIdx sw : tree_.indices()) {
      if (tree_[sw] != kNone<PortIdx>)
        bridge.tables.set_route(sw, lid, fabric_.number_of(tree_[sw]));
    }
    ++bridge.built;
  }

  const TransitionTask& task_;
  const PlanScene& scene_;
  const Fabric& fabric_;
  Mixture& mixture_;
  TrialGraph old_, new_;
  SwitchIdx root_ = kNone<SwitchIdx>;    // who has the destination
  IndexVector<SwitchIdx, char> serves_;  // has data, and a way to it
  Exits held_, wanted_, tree_;
};

}  // namespace

Bridge build_bridge(const TransitionTask& task,
                    const PlanScene& scene,
                    Mixture& mixture,
                    const TurnGraph& empty) {
  return BridgeBuilder{task, scene, mixture, empty}.run();
}

}  // namespace smd
