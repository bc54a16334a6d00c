#include "smd/plan/transition.h"

#include <fmt/format.h>
#include <algorithm>

#include "smd/routing/sl_to_vl.h"

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
    case TransitionKind::Held:
      return "held";
    case TransitionKind::Unordered:
      return "unordered";
  }
  return "unknown";
}

bool sl_to_vl_differs(const TransitionTask& task) {
  if (task.sl_to_vl == nullptr) return false;
  const SlToVlTask& vls = *task.sl_to_vl;
  bool differ = !vls.unknown.empty() || vls.fresh;
  for (const SwitchIdx sw : task.fabric->switch_node.indices()) {
    for_each_turn(*task.fabric, sw, [&](PortNum in, PortNum out) {
      differ = differ || vls.held.row(sw, in, out) != vls.wanted.row(sw, in, out);
    });
  }
  return differ;
}

SlToVlMaps with_blocked_sls(const SlToVlMaps& sl_to_vl, const std::vector<BlockedSls>& blocked) {
  SlToVlMaps out = sl_to_vl;
  for (const BlockedSls& blocked_sls : blocked) {
    const auto [sw, in, egress] = blocked_sls.turn;
    SlToVl row = sl_to_vl.row(sw, in, egress);
    for (unsigned sl = 0; sl < row.size(); ++sl) {
      if (blocked_sls.sls >> sl & 1) row[sl] = blocked_sls.vl;
    }
    out.set_row(sw, in, egress, out.add_row(row));
  }
  return out;
}

bool sl_to_vl_only_discards(const TransitionTask& task, const SlToVlMaps& wanted) {
  bool only = true;
  for (const SwitchIdx sw : task.fabric->switch_node.indices()) {
    for_each_turn(*task.fabric, sw, [&](PortNum in, PortNum out) {
      const SlToVl& before = task.sl_to_vl->held.row(sw, in, out);
      const SlToVl& after = wanted.row(sw, in, out);
      for (std::size_t sl = 0; sl < after.size(); ++sl)
        only = only && (after[sl] == before[sl] || after[sl] == kManagementVl);
    });
  }
  return only;
}

bool sl_to_vl_discards(const TransitionTask& task) {
  if (task.sl_to_vl == nullptr) return false;
  bool discard = false;
  for (const SwitchIdx sw : task.fabric->switch_node.indices()) {
    for_each_turn(*task.fabric, sw, [&](PortNum in, PortNum out) {
      const SlToVl& row = task.sl_to_vl->wanted.row(sw, in, out);
      discard = discard || std::ranges::count(row, kManagementVl) != 0;
    });
  }
  return discard;
}

bool carries_data(const Fabric& fabric, PortIdx port) {
  const PortIdx peer = fabric.peer[port];
  if (peer == kNone<PortIdx>) return false;
  const PortState own = fabric.port_info[port].state(), other = fabric.port_info[peer].state();
  return std::max(own, other) == PortState::Active && std::min(own, other) >= PortState::Armed;
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
