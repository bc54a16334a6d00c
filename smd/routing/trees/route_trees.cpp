#include "smd/routing/trees/route_trees.h"

namespace smd {

InTrees::InTrees(const SwitchGraph& graph, const IndexVector<SwitchIdx, std::uint32_t>& per_switch)
    : near_to_far_(graph.switches()) {
  first_tree_.reserve(graph.switches() + 1);
  for (const SwitchIdx root : per_switch.indices()) {
    first_tree_.push_back(static_cast<std::uint32_t>(roots_.size()));
    roots_.insert(roots_.end(), per_switch[root], root);
  }
  first_tree_.push_back(static_cast<std::uint32_t>(roots_.size()));
  slots_.assign(roots_.size() * graph.switches(), kNoSlot);
  own_order_.resize(roots_.size());
}

void write_entries(const SwitchGraph& graph,
                   const Targets& targets,
                   const InTrees& trees,
                   const TreeOfLid& tree_of,
                   ForwardingTables& tables) {
  // Ascending LIDs, so that a cache line of every row serves 64 of them.
  for (std::uint32_t value = 0; value < tree_of.size(); ++value) {
    if (tree_of[value] == kNoTree) continue;
    const Lid lid{static_cast<std::uint16_t>(value)};
    const std::span<const std::uint8_t> slots = trees.slots(tree_of[value]);
    for (std::uint32_t sw = 0; sw < slots.size(); ++sw) {
      if (slots[sw] == kNoSlot) continue;
      tables.set_route(
          SwitchIdx{sw}, lid, graph.edge(graph.first_edge(SwitchIdx{sw}) + slots[sw]).port);
    }
  }
  for (const SwitchIdx sw : targets.of.indices()) {
    for (const Target& target : targets.of[sw]) {
      for (unsigned offset = 0; offset < 1u << target.lmc; ++offset)
        tables.set_route(
            sw, Lid{static_cast<std::uint16_t>(target.base.value() + offset)}, target.egress);
    }
  }
}

}  // namespace smd
