#include "smd/routing/updn/forbidden_turns.h"

namespace smd {
namespace {

bool is_above(const Fabric& fabric, const Orientation& orientation, SwitchIdx a, SwitchIdx b) {
  if (orientation.rank[a] != orientation.rank[b]) return orientation.rank[a] < orientation.rank[b];
  return fabric.node_guid[fabric.switch_node[a]] < fabric.node_guid[fabric.switch_node[b]];
}

}  // namespace

std::vector<PortNum> find_up_ports(const Fabric& fabric,
                                   const Orientation& orientation,
                                   SwitchIdx sw) {
  std::vector<PortNum> up;
  for (const PortIdx port : fabric.external_ports(fabric.switch_node[sw])) {
    if (fabric.peer[port] == kNone<PortIdx>) continue;
    const SwitchIdx neighbour = fabric.switch_at(fabric.peer[port]);
    if (neighbour == kNone<SwitchIdx> || neighbour == sw ||
        !is_above(fabric, orientation, neighbour, sw))
      continue;
    up.push_back(fabric.number_of(port));
  }
  return up;
}

std::vector<ForbiddenTurn> find_forbidden_turns(const Fabric& fabric,
                                                const Orientation& orientation) {
  std::vector<ForbiddenTurn> turns;
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    const std::vector<PortNum> up = find_up_ports(fabric, orientation, sw);
    for (const PortNum in : up) {
      for (const PortNum out : up) {
        if (in != out) turns.push_back({.sw = sw, .in = in, .out = out});
      }
    }
  }
  return turns;
}

}  // namespace smd
