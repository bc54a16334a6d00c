#include "smd/routing/layers/gone_targets.h"

#include <utility>
#include <vector>

namespace smd {
namespace {

struct LastHop {
  SwitchIdx sw = kNone<SwitchIdx>;
  PortNum exit;
};

// Where the entries lead out of the switches, as the fabric was.
LastHop follow(const PreviousRoutes& before, SwitchIdx at, Lid lid) {
  const Fabric& fabric = *before.fabric;
  for (std::size_t links = 0; links < fabric.switch_count(); ++links) {
    const NodeIdx node = fabric.switch_node[at];
    const PortNum exit = before.routing->lft.route(at, lid);
    if (exit.value() > fabric.num_ports(node)) return {};
    const PortIdx far = fabric.peer[fabric.port_of(node, exit)];
    if (exit == PortNum{0} || far == kNone<PortIdx> || !fabric.is_switch(fabric.node_of[far]))
      return {at, exit};
    at = fabric.switch_of[fabric.node_of[far]];
  }
  return {};
}

}  // namespace

void add_gone_targets(const Fabric& fabric,
                      const LidMap& lids,
                      const PreviousRoutes& in_force,
                      Targets& targets) {
  const ForwardingTables& tables = in_force.routing->lft;
  std::vector<std::uint32_t> unowned;
  for (std::uint32_t lid = 1; lid <= tables.top().value(); ++lid) {
    if (lids.owner_of(Lid{static_cast<std::uint16_t>(lid)}) == kNone<PortIdx>)
      unowned.push_back(lid);
  }
  std::vector<SwitchIdx> known(unowned.size(), kNone<SwitchIdx>);  // who has an entry
  for (const SwitchIdx sw : in_force.fabric->switch_node.indices()) {
    const std::span<const PortNum> row = tables.row(sw);
    for (std::size_t i = 0; i < unowned.size(); ++i) {
      if (row[unowned[i]] != kNoRoute && known[i] == kNone<SwitchIdx>) known[i] = sw;
    }
  }
  for (std::size_t i = 0; i < unowned.size(); ++i) {
    if (known[i] == kNone<SwitchIdx>) continue;
    const Lid lid{static_cast<std::uint16_t>(unowned[i])};
    const LastHop last = follow(in_force, known[i], lid);
    if (last.sw == kNone<SwitchIdx> || last.exit == PortNum{0}) continue;
    const auto node =
        fabric.find_node(in_force.fabric->node_guid[in_force.fabric->switch_node[last.sw]]);
    if (!node || !fabric.is_switch(*node) || last.exit.value() > fabric.num_ports(*node)) continue;
    const PortIdx far = fabric.peer[fabric.port_of(*node, last.exit)];
    if (far != kNone<PortIdx> && fabric.is_switch(fabric.node_of[far])) continue;
    targets.of[fabric.switch_of[*node]].push_back(
        {.base = lid, .lmc = 0, .exit = last.exit, .host = true});
  }
}

}  // namespace smd
