#include "smd/plan/transition.h"

#include <fmt/format.h>

#include <algorithm>

#include "smd/routing/switch_rows.h"

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

bool rows_differ(const TransitionTask& task) {
  if (task.lanes == nullptr) return false;
  const LaneTask& lanes = *task.lanes;
  bool differ = !lanes.unknown.empty() || lanes.fresh;
  for (const SwitchIdx sw : task.fabric->switch_node.indices()) {
    for_each_way(*task.fabric, sw, [&](PortNum in, PortNum out) {
      differ = differ || lanes.held.row(sw, in, out) != lanes.wanted.row(sw, in, out);
    });
  }
  return differ;
}

LaneMaps with_cuts(const LaneMaps& rows, const std::vector<SlCut>& cuts) {
  LaneMaps out = rows;
  for (const SlCut& cut : cuts) {
    const auto [sw, in, egress] = cut.way;
    SlToVl row = rows.row(sw, in, egress);
    for (unsigned sl = 0; sl < row.size(); ++sl) {
      if (cut.sls >> sl & 1) row[sl] = kManagementVl;
    }
    out.set_row(sw, in, egress, out.add_row(row));
  }
  return out;
}

bool rows_only_discard(const TransitionTask& task, const LaneMaps& wanted) {
  bool only = true;
  for (const SwitchIdx sw : task.fabric->switch_node.indices()) {
    for_each_way(*task.fabric, sw, [&](PortNum in, PortNum out) {
      const SlToVl& before = task.lanes->held.row(sw, in, out);
      const SlToVl& after = wanted.row(sw, in, out);
      for (std::size_t sl = 0; sl < after.size(); ++sl)
        only = only && (after[sl] == before[sl] || after[sl] == kManagementVl);
    });
  }
  return only;
}

bool rows_discard(const TransitionTask& task) {
  if (task.lanes == nullptr) return false;
  bool discard = false;
  for (const SwitchIdx sw : task.fabric->switch_node.indices()) {
    for_each_way(*task.fabric, sw, [&](PortNum in, PortNum out) {
      const SlToVl& row = task.lanes->wanted.row(sw, in, out);
      discard = discard || std::ranges::count(row, kManagementVl) != 0;
    });
  }
  return discard;
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
