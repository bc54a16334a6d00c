// Brute force: what the tables in the switches, as they are at one moment, can do to packets. An
// explicit graph of channels, searched for a cycle; written from the definition, with none of the
// code that it judges.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "smd/plan/transition.h"

namespace smd::test {

/// The fabric while a plan is carried out, entry by entry.
struct Moment {
  const Fabric* fabric = nullptr;
  ForwardingTables tables;
  std::set<PortIdx> active;
  std::set<Turn> blocked;

  static Moment begin(const TransitionTask& task) {
    Moment moment{.fabric = task.fabric,
                  .tables = *task.held,
                  .active = {},
                  .blocked = {task.blocked.begin(), task.blocked.end()}};
    for (const PortIdx port : task.fabric->peer.indices()) {
      if (task.fabric->peer[port] != kNone<PortIdx> &&
          task.fabric->port_info[port].state() == PortState::Active)
        moment.active.insert(port);
    }
    return moment;
  }

  bool flows(PortIdx port) const {
    const PortIdx peer = fabric->peer[port];
    return peer != kNone<PortIdx> && active.contains(port) && active.contains(peer);
  }
};

/// Empty, or a cycle of channels as text. With `discards`, turns that are blocked and packets that
/// would leave by the port they came in by end there, as in a switch; without, only blocked turns.
inline std::string find_cycle(const Moment& moment, bool discards) {
  const Fabric& f = *moment.fabric;
  std::map<PortIdx, std::set<PortIdx>> after;  // by the port a channel begins at
  const auto leaves = [&](SwitchIdx sw, Lid lid) {
    const PortNum egress = moment.tables.route(sw, lid);
    const NodeIdx node = f.switch_node[sw];
    if (egress == PortNum{0} || egress.value() > f.num_ports(node)) return kNone<PortIdx>;
    const PortIdx port = f.port_of(node, egress);
    return moment.flows(port) && f.is_switch(f.node_of[f.peer[port]]) ? port : kNone<PortIdx>;
  };
  for (std::size_t lid = 1; lid <= moment.tables.top().value(); ++lid) {
    const Lid to{static_cast<std::uint16_t>(lid)};
    for (const SwitchIdx sw : f.switch_node.indices()) {
      const PortIdx first = leaves(sw, to);
      if (first == kNone<PortIdx>) continue;
      const PortIdx in = f.peer[first];
      const SwitchIdx peer = f.switch_at(in);
      const PortIdx second = leaves(peer, to);
      if (second == kNone<PortIdx> || (discards && second == in)) continue;
      if (moment.blocked.contains({peer, f.number_of(in), f.number_of(second)})) continue;
      after[first].insert(second);
    }
  }
  std::map<PortIdx, int> colour;
  std::vector<PortIdx> path;
  const auto visit = [&](const auto& self, PortIdx at) -> bool {
    colour[at] = 1;
    path.push_back(at);
    for (const PortIdx next : after[at]) {
      if (colour[next] == 1 || (colour[next] == 0 && self(self, next))) {
        if (colour[next] == 1) path.push_back(next);
        colour[next] = 2;
        return true;
      }
    }
    colour[at] = 2;
    path.pop_back();
    return false;
  };
  std::vector<PortIdx> starts;
  for (const auto& [port, next] : after) starts.push_back(port);
  for (const PortIdx start : starts) {
    if (colour[start] != 0 || !visit(visit, start)) continue;
    std::string text;
    for (const PortIdx port : path) text += (text.empty() ? "" : " -> ") + print_port(f, port);
    return text;
  }
  return "";
}

}  // namespace smd::test
