#include "smd/plan/transition.h"

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

}  // namespace smd
