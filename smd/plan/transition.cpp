#include "smd/plan/transition.h"

#include <fmt/format.h>

namespace smd {

std::string_view print_transition_kind(TransitionKind kind) {
  switch (kind) {
    case TransitionKind::Nothing:
      return "nothing";
    case TransitionKind::Initial:
      return "initial";
    case TransitionKind::Certified:
      return "certified";
    case TransitionKind::CutDependencies:
      return "cut-dependencies";
    case TransitionKind::CutPorts:
      return "cut-ports";
    case TransitionKind::DeactivateAll:
      return "deactivate-all";
    case TransitionKind::NextHopFirst:
      return "next-hop-first";
    case TransitionKind::Unordered:
      return "unordered";
  }
  return "unknown";
}

bool carries_data(const Fabric& fabric, PortIdx port) {
  const PortIdx peer = fabric.peer[port];
  return peer != kNone<PortIdx> && fabric.port_info[port].state() == PortState::Active &&
         fabric.port_info[peer].state() == PortState::Active;
}

bool awaits_activation(const Fabric& fabric, PortIdx port) {
  if (fabric.peer[port] == kNone<PortIdx>) return false;
  const PortState state = fabric.port_info[port].state();
  return state == PortState::Initialize || state == PortState::Armed;
}

std::string print_turn(const Fabric& fabric, const Turn& turn) {
  return fmt::format(
      "{}>{}", print_port(fabric, fabric.port_of(fabric.switch_node[turn.sw], turn.in)), turn.out);
}

}  // namespace smd
