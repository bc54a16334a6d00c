#include "smd/routing/fat_tree/tree_fabric.h"

#include <algorithm>
#include <utility>

#include "smd/routing/updn/islands.h"

namespace smd {
namespace {

std::vector<std::uint64_t> list_dividers(const FatTreeShape& shape, const UpSlots& slots) {
  std::vector<std::uint64_t> dividers;
  std::uint64_t divider = 1;
  for (std::uint32_t level = 0; level < shape.levels.size(); ++level) {
    dividers.push_back(divider);
    if (slots.parents(level) != 0) divider *= slots.parents(level);
  }
  return dividers;
}

std::vector<std::uint64_t> number_lids(const Targets& targets, const FatTreeShape& shape, Lid top) {
  std::vector<std::uint64_t> numbers(std::size_t{top.value()} + 1, 0);
  for (const SwitchIdx sw : targets.of.indices()) {
    const std::uint64_t place = shape.leaf_place[sw];
    for (const Target& target : targets.of[sw]) {
      const std::uint64_t first =
          place == kNoPlace || !target.is_traffic()
              ? target.base.value()
              : place * shape.host_places + shape.host_place[target.egress.value()];
      for (std::size_t offset = 0; offset < std::size_t{1} << target.lmc; ++offset)
        numbers[target.base.value() + offset] = first + offset;
    }
  }
  return numbers;
}

IndexVector<SwitchIdx, std::uint64_t> find_sources(const SwitchGraph& graph,
                                                   const FatTreeShape& shape) {
  IndexVector<SwitchIdx, std::uint64_t> source = shape.leaf_place;
  for (std::uint32_t level = 0; level + 1 < shape.levels.size(); ++level) {
    for (const SwitchIdx sw : source.indices()) {
      if (shape.level[sw] != level) continue;
      for (const SwitchEdge& edge : graph.edges(sw)) {
        if (shape.level[edge.to] == level + 1)
          source[edge.to] = std::min(source[edge.to], source[sw]);
      }
    }
  }
  for (std::uint64_t& place : source) {
    if (place == kNoPlace) place = 0;
  }
  return source;
}

}  // namespace

bool TreeFabric::is_of(const Fabric& other, const LidMap& with_lids) const {
  return fabric.node_guid == other.node_guid && fabric.first_port == other.first_port &&
         fabric.switch_of == other.switch_of && fabric.switch_node == other.switch_node &&
         fabric.node_of == other.node_of && fabric.peer == other.peer &&
         fabric.demand == other.demand && lids == with_lids;
}

Result<std::shared_ptr<const TreeFabric>> build_tree_fabric(const Fabric& fabric,
                                                            const LidMap& lids) {
  SwitchGraph graph{fabric};
  Targets targets = find_targets(fabric, lids);
  IndexVector<SwitchIdx, Guid> guids = list_switch_guids(fabric);
  auto shape = recognise_fat_tree(fabric, graph, guids, targets.hosts);
  if (!shape) return tl::unexpected<Error>(shape.error());
  Orientation orientation =
      make_orientation(guids, rank_by_levels(graph, guids, targets.hosts, shape->level));
  UpDownGraph up_down{graph, orientation.rank, guids};
  UpSlots slots{graph, guids, *shape};
  auto dividers = list_dividers(*shape, slots);
  auto numbers = number_lids(targets, *shape, lids.top);
  auto sources = find_sources(graph, *shape);
  std::vector<SwitchIdx> destinations;
  for (const SwitchIdx sw : targets.of.indices()) {
    if (!targets.of[sw].empty()) destinations.push_back(sw);
  }
  return std::make_shared<const TreeFabric>(TreeFabric{.fabric = fabric,
                                                       .lids = lids,
                                                       .graph = std::move(graph),
                                                       .targets = std::move(targets),
                                                       .guids = std::move(guids),
                                                       .shape = std::move(*shape),
                                                       .orientation = std::move(orientation),
                                                       .up_down = std::move(up_down),
                                                       .slots = std::move(slots),
                                                       .divider = std::move(dividers),
                                                       .number = std::move(numbers),
                                                       .source = std::move(sources),
                                                       .destinations = std::move(destinations)});
}

}  // namespace smd
