#include "sim-backend/experiments/change/thesis_plan.h"

#include <algorithm>

namespace smd::sim {

void ThesisPlan::learn() {
  const Fabric& fabric = subnet_.snapshot();
  const bool grew = std::ranges::any_of(
      fabric.switch_node, [&](NodeIdx node) { return !stored_.contains(fabric.node_guid[node]); });
  if (!grew) stored_.clear();
  for (NodeIdx node : fabric.switch_node) {
    stored_.emplace(fabric.node_guid[node], subnet_.sweep.path[node].size());
  }
}

bool ThesisPlan::leads_up(PortIdx port) const {
  const Fabric& fabric = subnet_.snapshot();
  const PortIdx peer = fabric.peer[port];
  if (peer == kNone<PortIdx>) return false;
  const NodeIdx here = fabric.node_of[port];
  const NodeIdx there = fabric.node_of[peer];
  if (!fabric.is_switch(here) || !fabric.is_switch(there)) return false;
  return stored_.at(fabric.node_guid[there]) < stored_.at(fabric.node_guid[here]);
}

/// Of a cut node: a port upwards that is not the highest-numbered one.
bool ThesisPlan::is_lower_up_port(PortIdx port) const {
  if (!leads_up(port)) return false;
  const Fabric& fabric = subnet_.snapshot();
  for (PortIdx other : fabric.external_ports(fabric.node_of[port])) {
    if (other > port && leads_up(other)) return true;
  }
  return false;
}

bool ThesisPlan::initialises(SwitchIdx sw, PortNum port) const {
  const Fabric& fabric = subnet_.snapshot();
  const PortIdx at = fabric.port_of(fabric.switch_node[sw], port);
  return fabric.port_info[at].state() == PortState::Initialize;
}

bool ThesisPlan::is_blocked(const Turn& turn) const {
  const Guid guid = subnet_.snapshot().node_guid[subnet_.snapshot().switch_node[turn.sw]];
  const auto& nodes = subnet_.fabric.spec().nodes;
  const auto node = std::ranges::find(nodes, guid, &NodeSpec::guid) - nodes.begin();
  return subnet_.fabric.sl_to_vl(static_cast<std::uint32_t>(node), turn.in, turn.out)[0] ==
         kManagementVl;
}

/// Ordered pairs of linked ports inside switches, sorted.
std::vector<Turn> ThesisPlan::turns() const {
  const Fabric& fabric = subnet_.snapshot();
  std::vector<Turn> out;
  for (SwitchIdx sw : fabric.switch_node.indices()) {
    for (PortIdx in : fabric.external_ports(fabric.switch_node[sw])) {
      for (PortIdx to : fabric.external_ports(fabric.switch_node[sw])) {
        if (in == to || fabric.peer[in] == kNone<PortIdx> || fabric.peer[to] == kNone<PortIdx>) {
          continue;
        }
        out.push_back({sw, fabric.number_of(in), fabric.number_of(to)});
      }
    }
  }
  return out;
}

std::vector<Turn> ThesisPlan::forbidden_turns() const {
  const Fabric& fabric = subnet_.snapshot();
  std::vector<Turn> out = turns();
  std::erase_if(out, [&](const Turn& turn) {
    const NodeIdx node = fabric.switch_node[turn.sw];
    return !leads_up(fabric.port_of(node, turn.in)) || !leads_up(fabric.port_of(node, turn.out));
  });
  return out;
}

TransitionPlan ThesisPlan::first_blocks() const {
  TransitionPlan plan{.kind = TransitionKind::CutDependencies, .phases = {{}}};
  plan.phases[0].block = forbidden_turns();
  return plan;
}

TransitionPlan ThesisPlan::plan(Mechanism mechanism) const {
  TransitionPlan plan{.kind = TransitionKind::Unordered, .phases = {{}}};
  TransitionPhase& phase = plan.phases[0];
  phase.to_wanted = true;
  const std::vector<Turn> forbidden = forbidden_turns();
  for (const Turn& turn : turns()) {
    const bool is_new = initialises(turn.sw, turn.in) || initialises(turn.sw, turn.out);
    const bool blocked =
        mechanism == Mechanism::Dependencies && std::ranges::binary_search(forbidden, turn);
    if (is_new || blocked != is_blocked(turn)) {
      (blocked ? phase.block : phase.restore).push_back(turn);
    }
  }
  const Fabric& fabric = subnet_.snapshot();
  for (PortIdx port : fabric.peer.indices()) {
    if (fabric.peer[port] == kNone<PortIdx>) continue;
    const bool active = fabric.port_info[port].state() == PortState::Active;
    const bool goes_down =
        mechanism == Mechanism::Full || (mechanism == Mechanism::Ports && is_lower_up_port(port));
    if (active && goes_down) phase.deactivate.push_back(port);
    if (!active || goes_down) phase.activate.push_back(port);
  }
  return plan;
}

}  // namespace smd::sim
