#include "smd/routing/nue/paths_of_switches.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>

#include "smd/routing/graph/channels.h"
#include "smd/routing/graph/switch_graph.h"
#include "smd/routing/nue/turn_set.h"

namespace smd {
namespace {

constexpr std::size_t kPorts = 256;

class PathsOfSwitches {
 public:
  PathsOfSwitches(const Fabric& fabric,
                  const LidMap& lids,
                  const SwitchGraph& graph,
                  std::size_t beside,
                  ForwardingTables& lft)
      : fabric_(fabric),
        lids_(lids),
        graph_(graph),
        lft_(lft),
        channels_(graph),
        by_port_(graph.switches() * kPorts, kNoChannel),
        sends_(graph.switches(), 0),
        met_(graph.switches(), 0),
        chosen_(graph.switches(), kNoChannel),
        distance_(graph.switches(), kUnreached) {
    for (Channel channel = 0; channel < channels_.size(); ++channel) {
      by_port_[channels_.from[channel].value() * kPorts + graph.edge(channel).port.value()] =
          channel;
    }
    find_senders(beside);
  }

  /// Else every entry is met, and there is nothing to choose.
  [[nodiscard]] bool has_choice() const {
    return std::ranges::any_of(sends_, [](char sends) { return sends == 0; });
  }

  std::vector<Lid> run() {
    TurnSet turns{channels_, order_channels()};
    turns_ = &turns;
    for_each_lid([this](Lid lid, SwitchIdx at, bool to_host) {
      if (!to_host) return true;
      mark_met(lid, at);
      return add_entries(lid, at, [this](SwitchIdx sw) { return met_[sw] != 0; });
    });
    if (closed_) return {};
    turns.keep();
    for_each_lid([this](Lid lid, SwitchIdx at, bool) {
      return add_entries(lid, at, [](SwitchIdx) { return true; });
    });
    if (!closed_) return {};
    turns.take_back();
    turns.forget_barred();
    closed_ = false;
    for (const bool to_hosts : {false, true}) {
      for_each_lid([this, to_hosts](Lid lid, SwitchIdx at, bool to_host) {
        return to_host != to_hosts || choose(lid, at, to_host);
      });
    }
    return closed_ ? std::vector<Lid>{} : write();
  }

 private:
  struct Choice {
    SwitchIdx sw;
    Lid lid;
    PortNum egress;
  };

  void find_senders(std::size_t beside) {
    for (const SwitchIdx sw : fabric_.switch_node.indices()) {
      const NodeIdx node = fabric_.switch_node[sw];
      std::size_t hosts = 0;
      for (const PortIdx port : fabric_.external_ports(node)) {
        const PortIdx peer = fabric_.peer[port];
        hosts += peer != kNone<PortIdx> && (fabric_.is_host(peer) || is_router(peer));
      }
      sends_[sw] = hosts > beside ? 1 : 0;
    }
    if (fabric_.sm_port == kNone<PortIdx>) return;
    NodeIdx node = fabric_.node_of[fabric_.sm_port];
    if (!fabric_.is_switch(node) && fabric_.peer[fabric_.sm_port] != kNone<PortIdx>)
      node = fabric_.node_of[fabric_.peer[fabric_.sm_port]];
    if (fabric_.is_switch(node)) sends_[fabric_.switch_of[node]] = 1;
  }

  /// Routers draw nothing of their own, but pass on what other subnets send.
  [[nodiscard]] bool is_router(PortIdx port) const {
    return fabric_.node_info[fabric_.node_of[port]].node_type ==
           static_cast<std::uint8_t>(NodeType::Router);
  }

  // Up, away from hosts, before down: what hosts' paths on a tree agree with.
  [[nodiscard]] std::vector<Channel> order_channels() const {
    std::vector<SwitchIdx> senders;
    for (const SwitchIdx sw : sends_.indices()) {
      if (sends_[sw] != 0) senders.push_back(sw);
    }
    const auto level = compute_distances(graph_, senders);
    const auto rank = [&](Channel channel) {
      const std::int64_t from = level[channels_.from[channel]], to = level[channels_.to[channel]];
      return from < to ? from : std::numeric_limits<std::int64_t>::max() - from;
    };
    std::vector<Channel> order(channels_.size());
    std::iota(order.begin(), order.end(), Channel{0});
    std::ranges::stable_sort(order, {}, rank);
    return order;
  }

  /// `visit(lid, switch that it is at, whether it is one of a sender's hosts)` until it is false,
  /// which closes; ascending.
  template <typename Visit>
  void for_each_lid(Visit visit) {
    for (std::size_t l = 1; l < lids_.owner.size() && !closed_; ++l) {
      const PortIdx owner = lids_.owner[l];
      if (owner == kNone<PortIdx>) continue;
      const NodeIdx node = fabric_.node_of[owner];
      SwitchIdx at = fabric_.switch_of[node];
      if (!fabric_.is_switch(node)) {
        const PortIdx peer = fabric_.peer[owner];
        at = peer == kNone<PortIdx> ? kNone<SwitchIdx> : fabric_.switch_of[fabric_.node_of[peer]];
      }
      if (at == kNone<SwitchIdx>) continue;
      const bool to_host = !fabric_.is_switch(node) && sends_[at] != 0;
      closed_ = !visit(Lid{static_cast<std::uint16_t>(l)}, at, to_host);
    }
  }

  [[nodiscard]] Channel next(SwitchIdx sw, Lid lid) const {
    const PortNum egress = lft_.route(sw, lid);
    return egress == kNoRoute ? kNoChannel : by_port_[sw.value() * kPorts + egress.value()];
  }

  /// Switches that packets of senders for `lid` come by.
  void mark_met(Lid lid, SwitchIdx at) {
    std::ranges::fill(met_, char{0});
    met_[at] = 1;
    for (const SwitchIdx sender : sends_.indices()) {
      if (sends_[sender] == 0) continue;
      for (SwitchIdx sw = sender; met_[sw] == 0;) {
        met_[sw] = 1;
        const Channel channel = next(sw, lid);
        if (channel == kNoChannel) break;
        sw = channels_.to[channel];
      }
    }
  }

  /// The turns of entries of switches that `which` names. False when they close a cycle.
  template <typename Which>
  bool add_entries(Lid lid, SwitchIdx at, Which which) {
    for (const SwitchIdx sw : sends_.indices()) {
      if (sw == at || !which(sw)) continue;
      const Channel in = next(sw, lid);
      if (in == kNoChannel || channels_.to[in] == at) continue;
      const Channel out = next(channels_.to[in], lid);
      if (out != kNoChannel && !turns_->add(in, out)) return false;
    }
    return true;
  }

  void find_distances(SwitchIdx at) {
    near_to_far_.assign(1, at);
    std::ranges::fill(distance_, kUnreached);
    distance_[at] = 0;
    for (std::size_t i = 0; i < near_to_far_.size(); ++i) {
      for (const SwitchEdge& edge : graph_.edges(near_to_far_[i])) {
        if (distance_[edge.to] != kUnreached) continue;
        distance_[edge.to] = distance_[near_to_far_[i]] + 1;
        near_to_far_.push_back(edge.to);
      }
    }
  }

  [[nodiscard]] bool leads_on(Channel channel, SwitchIdx at) const {
    const SwitchIdx to = channels_.to[channel];
    return to == at || chosen_[to] != kNoChannel;
  }

  /// Of the channels out of `sw` that lead on: one that brings no new turn, else the first whose
  /// turn closes no cycle, by the lowest switch, so that different LIDs turn at the same few.
  bool choose_at(SwitchIdx sw, Lid lid, SwitchIdx at, bool shortest) {
    const auto may = [&](Channel channel) {
      const SwitchIdx to = channels_.to[channel];
      return leads_on(channel, at) && (!shortest || distance_[to] + 1 == distance_[sw]);
    };
    const auto is_known = [&](Channel channel) {
      const SwitchIdx to = channels_.to[channel];
      return to == at || turns_->has(channel, chosen_[to]);
    };
    const Channel now = next(sw, lid);
    if (now != kNoChannel && may(now) && is_known(now)) {
      chosen_[sw] = now;
      return true;
    }
    candidates_.clear();
    for (Channel c = channels_.first[sw.value()]; c < channels_.first[sw.value() + 1]; ++c) {
      if (may(c)) candidates_.push_back(c);
    }
    std::ranges::stable_sort(candidates_, {}, [&](Channel c) { return channels_.to[c]; });
    for (const bool known : {true, false}) {
      for (const Channel c : candidates_) {
        if (known ? !is_known(c) : !turns_->add(c, chosen_[channels_.to[c]])) continue;
        chosen_[sw] = c;
        return true;
      }
    }
    return false;
  }

  /// All entries for the LID of a switch; of others those that are not met.
  bool choose(Lid lid, SwitchIdx at, bool to_host) {
    std::ranges::fill(chosen_, kNoChannel);
    if (to_host) {
      mark_met(lid, at);
      for (const SwitchIdx sw : met_.indices()) {
        if (met_[sw] != 0 && sw != at) chosen_[sw] = next(sw, lid);
      }
    }
    find_distances(at);
    left_.clear();
    for (const SwitchIdx sw : near_to_far_) {
      if (sw == at || chosen_[sw] != kNoChannel) continue;
      if (!choose_at(sw, lid, at, true)) left_.push_back(sw);
    }
    // Where no shortest path will do, a longer one, over switches that have theirs.
    for (bool found = true; found && !left_.empty();) {
      found = std::erase_if(left_, [&](SwitchIdx sw) { return choose_at(sw, lid, at, false); }) > 0;
    }
    if (!left_.empty()) return false;
    for (const SwitchIdx sw : near_to_far_) {
      if (sw == at || chosen_[sw] == next(sw, lid)) continue;
      choices_.push_back({sw, lid, graph_.edge(chosen_[sw]).port});
    }
    return true;
  }

  std::vector<Lid> write() {
    std::vector<Lid> changed;
    for (const Choice& choice : choices_) {
      lft_.set_route(choice.sw, choice.lid, choice.egress);
      changed.push_back(choice.lid);
    }
    std::ranges::sort(changed);
    changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
    return changed;
  }

  const Fabric& fabric_;
  const LidMap& lids_;
  const SwitchGraph& graph_;
  ForwardingTables& lft_;
  Channels channels_;
  std::vector<Channel> by_port_;        // switch-major; kNoChannel where no other switch is
  IndexVector<SwitchIdx, char> sends_;  // a host, a router or the manager hangs here
  TurnSet* turns_ = nullptr;            // of what is settled
  bool closed_ = false;                 // a cycle that nothing can be done about
  std::vector<Choice> choices_;
  // Scratch of one LID.
  IndexVector<SwitchIdx, char> met_;
  IndexVector<SwitchIdx, Channel> chosen_;
  IndexVector<SwitchIdx, std::uint32_t> distance_;
  std::vector<SwitchIdx> near_to_far_, left_;
  std::vector<Channel> candidates_;
};

}  // namespace

bool lead_switches_apart(const Fabric& fabric, const LidMap& lids, RoutingTables& tables) {
  if (tables.vls != 1 || !tables.sl_to_vl.empty() || !tables.default_port.empty()) return false;
  const SwitchGraph graph{fabric};
  std::vector<Lid> led;
  for (const std::size_t beside : {0, 1}) {
    PathsOfSwitches paths{fabric, lids, graph, beside, tables.lft};
    if (led.empty() && paths.has_choice()) led = paths.run();
  }
  if (led.empty()) return false;
  tables.load.by_edge.clear();
  if (tables.recomputed) {
    std::vector<Lid> all;
    std::ranges::set_union(*tables.recomputed, led, std::back_inserter(all));
    tables.recomputed = std::move(all);
  }
  return true;
}

}  // namespace smd
