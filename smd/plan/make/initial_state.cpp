#include "smd/plan/make/transient_graph.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "smd/routing/updn/orientation.h"

namespace smd {
namespace {

/// By port, with a link: PortInfo is long, and each is looked at from both ends.
IndexVector<PortIdx, PortState> list_states(const Fabric& fabric) {
  IndexVector<PortIdx, PortState> states(fabric.port_count(), PortState::Down);
  for (const PortIdx port : fabric.peer.indices()) {
    if (fabric.peer[port] != kNone<PortIdx>) states[port] = fabric.port_info[port].state();
  }
  return states;
}

bool awaits_activation(PortState state) {
  return state == PortState::Initialize || state == PortState::Armed;
}

bool is_up_or_to_activate(PortState state) {
  return state == PortState::Active || awaits_activation(state);
}

/// One end sends, and its first packet makes an Armed one at the other end Active.
bool carries_data(PortState one, PortState other) {
  return std::max(one, other) == PortState::Active && std::min(one, other) >= PortState::Armed;
}

bool has_link(const Fabric& fabric, SwitchIdx sw, PortNum number) {
  const NodeIdx node = fabric.switch_node[sw];
  return number.value() <= fabric.num_ports(node) &&
         fabric.peer[fabric.port_of(node, number)] != kNone<PortIdx>;
}

// Both tables' rows in steps of a block, unknown blocks included, until visit says to stop.
template <class Visit>
void for_each_differing_block(const TransitionTask& task, Visit&& visit) {
  const std::size_t blocks = std::max(task.held->blocks(), task.wanted->blocks());
  std::vector<TableBlock> unknown = task.unknown;
  std::ranges::sort(unknown, {}, [](const TableBlock& b) { return std::pair(b.sw, b.block); });
  auto at = unknown.begin();
  const bool same_size = task.held->blocks() == blocks && task.wanted->blocks() == blocks;
  for (const SwitchIdx sw : task.fabric->switch_node.indices()) {
    const bool known = at == unknown.end() || at->sw != sw;
    if (known && same_size && sw.value() < task.held->switches()) {
      bool go_on = true;
      task.held->for_each_other_block(sw, *task.wanted, sw, [&](std::size_t block) {
        return go_on = visit(sw, static_cast<std::uint32_t>(block), false);
      });
      if (!go_on) return;
      continue;
    }
    for (std::uint32_t block = 0; block < blocks; ++block) {
      bool is_unknown = false;
      for (; at != unknown.end() && at->sw == sw && at->block == block; ++at) is_unknown = true;
      const bool both = block < task.held->blocks() && block < task.wanted->blocks() &&
                        sw.value() < task.held->switches();
      if (!is_unknown && both &&
          std::memcmp(task.held->block(sw, block).data(),
                      task.wanted->block(sw, block).data(),
                      kLftBlockSize) == 0)
        continue;
      if (!visit(sw, block, is_unknown)) return;
    }
  }
}

}  // namespace

InitialState::InitialState(const TransitionTask& task)
    : flow(task.fabric->port_count(), Flow::Never),
      peer_switch(task.fabric->port_count(), kNone<SwitchIdx>),
      idle(task.fabric->switch_count(), 1) {
  const Fabric& fabric = *task.fabric;
  const IndexVector<PortIdx, PortState> states = list_states(fabric);
  for (const PortIdx port : fabric.peer.indices()) {
    const PortIdx peer = fabric.peer[port];
    if (peer == kNone<PortIdx>) continue;
    const SwitchIdx own = fabric.switch_at(port);
    const SwitchIdx other = fabric.switch_at(peer);
    const bool carries = carries_data(states[port], states[peer]);
    const bool both_send = carries && states[port] == states[peer];
    const bool joins = own != kNone<SwitchIdx> && other != kNone<SwitchIdx>;
    if (carries) silent = false;
    if (carries && own != kNone<SwitchIdx>) idle[own] = 0;
    if (joins) {
      peer_switch[port] = other;
      if (is_up_or_to_activate(states[port]) && is_up_or_to_activate(states[peer]))
        flow[port] = both_send ? Flow::Now : carries ? Flow::Half : Flow::Later;
    }
    if (awaits_activation(states[port])) (joins ? activate_inner : activate_outer).push_back(port);
  }

  // Nobody passes a port without a link; what it comes back as is looked at then.
  restored = list_needed(fabric, task.orientation, task.blocked);
  std::ranges::set_difference(task.blocked, restored, std::back_inserter(kept));
}

std::vector<Turn> list_needed(const Fabric& fabric,
                              const Orientation* orientation,
                              std::span<const Turn> blocked) {
  std::vector<ForbiddenTurn> forbidden;
  if (!blocked.empty() && orientation != nullptr &&
      orientation->rank.size() == fabric.switch_count())
    forbidden = find_forbidden_turns(fabric, *orientation);
  std::vector<Turn> needed;
  for (const Turn& turn : blocked) {
    if (has_link(fabric, turn.sw, turn.in) && has_link(fabric, turn.sw, turn.out) &&
        !std::ranges::binary_search(forbidden, ForbiddenTurn{turn.sw, turn.in, turn.out}))
      needed.push_back(turn);
  }
  return needed;
}

std::vector<EntryChange> find_changes(const TransitionTask& task) {
  std::vector<EntryChange> changes;
  for_each_differing_block(task, [&](SwitchIdx sw, std::uint32_t block, bool unknown) {
    for (std::uint32_t i = block == 0 ? 1 : 0; i < kLftBlockSize; ++i) {
      const Lid lid{static_cast<std::uint16_t>(block * kLftBlockSize + i)};
      const PortNum wanted = entry_of(*task.wanted, sw, lid);
      if (unknown || wanted != entry_of(*task.held, sw, lid)) changes.push_back({sw, lid, wanted});
    }
    return true;
  });
  return changes;
}

bool differ(const TransitionTask& task) {
  bool found = false;
  for_each_differing_block(task, [&](SwitchIdx sw, std::uint32_t block, bool unknown) {
    for (std::uint32_t i = block == 0 ? 1 : 0; i < kLftBlockSize && !found; ++i) {
      const Lid lid{static_cast<std::uint16_t>(block * kLftBlockSize + i)};
      found = unknown || entry_of(*task.wanted, sw, lid) != entry_of(*task.held, sw, lid);
    }
    return !found;
  });
  return found;
}

}  // namespace smd
