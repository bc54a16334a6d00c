// Partially implicit routing by its definition: sets and maps, no care for speed. Written from the
// text and not from the engine.
#pragma once

#include <map>
#include <set>
#include <utility>

#include "smd/fabric/fabric.h"
#include "smd/routing/tables.h"
#include "tests/unit/routing/support/fera_oracle.h"

namespace smd::test {

struct PiraRoutes {
  std::map<std::pair<SwitchIdx, Lid>, PortNum> explicit_entries;
  std::map<SwitchIdx, PortNum> default_port;
};

/// Requires: every end port has one LID.
inline PiraRoutes pira_by_definition(const Fabric& f, const LidMap& lids, const Orientation& o) {
  struct Member {  // a switch, or one port of an adapter
    Lid lid;
    NodeIdx node;
    PortIdx end;
  };

  const auto ports_between = [&](const Member& x, NodeIdx y) {
    std::pair<PortNum, PortNum> lowest{kNoRoute, kNoRoute};  // of x, of y
    for (const PortIdx p : f.ports_of(x.node)) {
      if (!f.is_switch(x.node) && p != x.end) continue;
      if (f.peer[p] == kNone<PortIdx> || f.node_of[f.peer[p]] != y) continue;
      lowest.first = std::min(lowest.first, f.number_of(p));
      lowest.second = std::min(lowest.second, f.number_of(f.peer[p]));
    }
    return lowest;
  };
  const auto upper_neighbours = [&](const Member& x) {
    std::set<NodeIdx> found;
    for (const PortIdx p : f.ports_of(x.node)) {
      if (f.peer[p] == kNone<PortIdx>) continue;
      if (!f.is_switch(x.node) && p != x.end) continue;
      const NodeIdx y = f.node_of[f.peer[p]];
      if (!f.is_switch(y) || y == x.node) continue;
      if (!f.is_switch(x.node) || fera_above(f, o, f.switch_of[y], f.switch_of[x.node]))
        found.insert(y);
    }
    return found;
  };

  std::vector<Member> left;
  for (std::size_t lid = 1; lid < lids.owner.size(); ++lid) {
    const PortIdx end = lids.owner[lid];
    if (end == kNone<PortIdx>) continue;
    const Member x{Lid{static_cast<std::uint16_t>(lid)}, f.node_of[end], end};
    if (f.is_switch(x.node) || !upper_neighbours(x).empty()) left.push_back(x);
  }
  PiraRoutes out;
  std::map<NodeIdx, Lid> lid_of;
  std::vector<NodeIdx> explored;  // switches, in order
  while (!left.empty()) {
    const auto next = std::find_if(left.begin(), left.end(), [&](const Member& x) {
      for (const NodeIdx y : upper_neighbours(x)) {
        if (std::find(explored.begin(), explored.end(), y) == explored.end()) return false;
      }
      return true;
    });
    const Member x = *next;
    left.erase(next);
    const std::set<NodeIdx> above = upper_neighbours(x);
    NodeIdx father = kNone<NodeIdx>;
    for (const NodeIdx y : explored) {
      if (above.contains(y)) father = y;
    }
    const bool is_switch = f.is_switch(x.node);
    const SwitchIdx self = f.switch_of[x.node];
    if (is_switch) {
      out.explicit_entries[{self, x.lid}] = PortNum{0};
      lid_of[x.node] = x.lid;
      if (father != kNone<NodeIdx>) out.default_port[self] = ports_between(x, father).first;
      for (const NodeIdx y : above) {
        if (y != father) out.explicit_entries[{self, lid_of[y]}] = ports_between(x, y).first;
      }
    }
    for (const NodeIdx y : above)
      out.explicit_entries[{f.switch_of[y], x.lid}] = ports_between(x, y).second;
    for (const NodeIdx y : explored) {
      if (above.contains(y) || father == kNone<NodeIdx>) continue;
      const auto known = out.explicit_entries.find({f.switch_of[y], lid_of[father]});
      if (known != out.explicit_entries.end())
        out.explicit_entries[{f.switch_of[y], x.lid}] = known->second;
    }
    if (is_switch) explored.push_back(x.node);
  }
  return out;
}

}  // namespace smd::test
