#include <algorithm>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>

#include "smd/plan/make/intermediate_routing.h"
#include "smd/plan/make/turn_graph.h"

namespace smd {
namespace {

// By switch: its port towards the root; kNone at the root and at switches without data.
using Parents = IndexVector<SwitchIdx, PortIdx>;

class SpanningTreeSteps {
 public:
  SpanningTreeSteps(const TransitionTask& task,
                    const InitialState& initial,
                    TransientGraph& transient,
                    const TurnGraph& empty)
      : task_(task),
        initial_(initial),
        fabric_(*task.fabric),
        old_(marked(transient, empty, EntryStage::Pending)),
        new_(marked(transient, empty, EntryStage::Settled)) {
    for (const SwitchIdx sw : initial_.idle.indices()) {
      if (!initial_.idle[sw]) live_.push_back(sw);
    }
  }

  std::vector<ForwardingTables> run() {
    std::vector<ForwardingTables> stops;
    if (live_.empty() || !find_homes() || !old_.sort() || !new_.sort()) return stops;
    const std::optional<Parents> last = grow_anywhere(new_, nullptr);
    if (!last) return stops;
    const std::optional<Parents> first = grow_anywhere(old_, &*last);
    if (!first) return stops;
    Parents now = rooted_as(*first, *last);
    stops.push_back(route_over(now));
    while (change_parents(now, *last)) stops.push_back(route_over(now));
    return stops;
  }

 private:
  static TrialGraph marked(TransientGraph& transient, const TurnGraph& empty, EntryStage stage) {
    TurnGraph graph = empty;
    transient.set_stages(stage);
    transient.mark(graph, true);
    return TrialGraph{std::move(graph)};
  }

  // Where each LID is: the only switch with data that does not hand its packets on to another one.
  // False where that changes, or where a switch with data has no route.
  bool find_homes() {
    const std::size_t lids = std::min(task_.held->blocks(), task_.wanted->blocks()) * kLftBlockSize;
    home_.assign(std::max(task_.held->blocks(), task_.wanted->blocks()) * kLftBlockSize,
                 kNone<SwitchIdx>);
    for (std::size_t value = 1; value < home_.size(); ++value) {
      const Lid lid{static_cast<std::uint16_t>(value)};
      bool any = false, all = true;
      for (const SwitchIdx sw : live_) {
        const PortNum held = entry_of(*task_.held, sw, lid),
                      wanted = entry_of(*task_.wanted, sw, lid);
        any = any || held != kNoRoute || wanted != kNoRoute;
        const bool onward = leads_on(sw, held);
        if (onward && leads_on(sw, wanted)) continue;
        all = all && held == wanted && held != kNoRoute && home_[value] == kNone<SwitchIdx>;
        home_[value] = sw;
      }
      if (!any) home_[value] = kNone<SwitchIdx>;
      if (any && (!all || value >= lids || home_[value] == kNone<SwitchIdx>)) return false;
    }
    return true;
  }

  [[nodiscard]] bool leads_on(SwitchIdx sw, PortNum egress) const {
    const NodeIdx node = fabric_.switch_node[sw];
    return egress.value() <= fabric_.num_ports(node) &&
           initial_.flow[fabric_.port_of(node, egress)] == Flow::Now;
  }

  // From the first root that does; along links of `liked` where it can.
  std::optional<Parents> grow_anywhere(TrialGraph& graph, const Parents* liked) {
    std::optional<Parents> best;
    std::size_t most = 0;
    for (const SwitchIdx root : live_) {
      const std::size_t mark = graph.mark();
      std::optional<Parents> tree = grow(graph, root, liked);
      graph.undo(mark);
      if (!tree) continue;
      if (liked == nullptr) return tree;
      const std::size_t shared = count_shared(*tree, *liked);
      if (best && shared <= most) continue;
      most = shared;
      best = std::move(tree);
    }
    return best;
  }

  [[nodiscard]] bool is_in(const Parents& tree, PortIdx port) const {
    const PortIdx peer = fabric_.peer[port];
    return tree[fabric_.switch_at(port)] == port || tree[initial_.peer_switch[port]] == peer;
  }

  [[nodiscard]] std::size_t count_shared(const Parents& tree, const Parents& other) const {
    std::size_t shared = 0;
    for (const SwitchIdx sw : live_) shared += tree[sw] != kNone<PortIdx> && is_in(other, tree[sw]);
    return shared;
  }

  struct Candidate {
    std::tuple<int, std::uint32_t, std::uint32_t> rank;  // the least is next
    PortIdx up;                                          // of the switch that would come in

    bool operator>(const Candidate& other) const { return rank > other.rank; }
  };

  std::optional<Parents> grow(TrialGraph& graph, SwitchIdx root, const Parents* liked) {
    Parents tree(initial_.idle.size(), kNone<PortIdx>);
    std::vector<std::uint32_t> depth(tree.size(), 0);
    std::vector<char> grown(tree.size(), 0);
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> next;
    std::size_t count = 0;
    const auto reach = [&](SwitchIdx sw) {
      grown[sw.value()] = 1;
      ++count;
      for (const PortIdx port : fabric_.external_ports(fabric_.switch_node[sw])) {
        if (initial_.flow[port] != Flow::Now || grown[initial_.peer_switch[port].value()]) continue;
        const bool is_liked = liked != nullptr && is_in(*liked, port);
        next.push({.rank = {!is_liked, depth[sw.value()], port.value()}, .up = fabric_.peer[port]});
      }
    };
    reach(root);
    while (!next.empty()) {
      const PortIdx up = next.top().up;
      next.pop();
      const SwitchIdx sw = fabric_.switch_at(up), parent = initial_.peer_switch[up];
      if (grown[sw.value()] || !joins(graph, tree, up)) continue;
      tree[sw] = up;
      depth[sw.value()] = depth[parent.value()] + 1;
      reach(sw);
    }
    if (count != live_.size()) return std::nullopt;
    return tree;
  }

  // Adds the turns between the link and those of the tree at its upper end.
  [[nodiscard]] bool joins(TrialGraph& graph, const Parents& tree, PortIdx up) {
    const std::size_t mark = graph.mark();
    const PortIdx in = fabric_.peer[up];
    for (const PortIdx port : fabric_.external_ports(fabric_.node_of[in])) {
      if (port == in || initial_.flow[port] != Flow::Now || !is_in(tree, port)) continue;
      if (graph.insert(in, port) && graph.insert(port, in)) continue;
      graph.undo(mark);
      return false;
    }
    return true;
  }

  // The same tree, hung up by the root of another.
  [[nodiscard]] Parents rooted_as(const Parents& tree, const Parents& other) const {
    Parents turned = tree;
    const auto root =
        std::ranges::find(live_, kNone<PortIdx>, [&](SwitchIdx sw) { return other[sw]; });
    PortIdx up = kNone<PortIdx>;
    for (SwitchIdx sw = *root;;) {
      const PortIdx before = tree[sw];
      turned[sw] = up;
      if (before == kNone<PortIdx>) return turned;
      up = fabric_.peer[before];
      sw = initial_.peer_switch[before];
    }
  }

  // As many as go at once; false when none is left.
  bool change_parents(Parents& now, const Parents& wanted) const {
    std::vector<std::vector<SwitchIdx>> above(
        now.size());  // old parents, and new ones of this time
    for (const SwitchIdx sw : live_) {
      if (now[sw] != kNone<PortIdx>) above[sw.value()].push_back(initial_.peer_switch[now[sw]]);
    }
    std::vector<SwitchIdx> order{live_};
    std::vector<std::size_t> depth(now.size(), 0);
    for (const SwitchIdx sw : live_) {
      for (SwitchIdx at = sw; wanted[at] != kNone<PortIdx>; at = initial_.peer_switch[wanted[at]])
        ++depth[sw.value()];
    }
    std::ranges::stable_sort(order, {}, [&](SwitchIdx sw) { return depth[sw.value()]; });
    bool any = false;
    for (const SwitchIdx sw : order) {
      if (now[sw] == wanted[sw]) continue;
      const SwitchIdx parent = initial_.peer_switch[wanted[sw]];
      if (is_above(above, sw, parent)) continue;
      above[sw.value()].push_back(parent);
      now[sw] = wanted[sw];
      any = true;
    }
    return any;
  }

  // From the lower switch, upwards over any parents, one gets to the upper.
  static bool is_above(const std::vector<std::vector<SwitchIdx>>& above,
                       SwitchIdx upper,
                       SwitchIdx lower) {
    std::vector<char> seen(above.size(), 0);
    std::vector<SwitchIdx> stack{lower};
    seen[lower.value()] = 1;
    while (!stack.empty()) {
      const SwitchIdx sw = stack.back();
      stack.pop_back();
      if (sw == upper) return true;
      for (const SwitchIdx next : above[sw.value()]) {
        if (seen[next.value()]) continue;
        seen[next.value()] = 1;
        stack.push_back(next);
      }
    }
    return false;
  }

  [[nodiscard]] ForwardingTables route_over(const Parents& tree) const {
    ForwardingTables tables = *task_.held;
    for (std::size_t value = 1; value < home_.size(); ++value) {
      if (home_[value] == kNone<SwitchIdx>) continue;
      const Lid lid{static_cast<std::uint16_t>(value)};
      for (const SwitchIdx sw : live_) {
        if (sw != home_[value] && tree[sw] != kNone<PortIdx>)
          tables.set_route(sw, lid, fabric_.number_of(tree[sw]));
      }
      for (SwitchIdx sw = home_[value]; tree[sw] != kNone<PortIdx>;) {
        const PortIdx down = fabric_.peer[tree[sw]];
        sw = initial_.peer_switch[tree[sw]];
        tables.set_route(sw, lid, fabric_.number_of(down));
      }
    }
    return tables;
  }

  const TransitionTask& task_;
  const InitialState& initial_;
  const Fabric& fabric_;
  TrialGraph old_, new_;
  std::vector<SwitchIdx> live_;  // that have data
  std::vector<SwitchIdx> home_;  // by LID; kNone: nobody has a route to it
};

}  // namespace

std::vector<ForwardingTables> find_spanning_tree_steps(const TransitionTask& task,
                                                       const InitialState& initial,
                                                       TransientGraph& transient,
                                                       const TurnGraph& empty) {
  return SpanningTreeSteps{task, initial, transient, empty}.run();
}

}  // namespace smd
