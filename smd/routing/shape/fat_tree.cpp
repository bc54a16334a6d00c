#include "smd/routing/shape/fat_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <bitset>

#include "smd/routing/shape/leaf_places.h"
#include "smd/routing/shape/tree_levels.h"

namespace smd {
namespace {

std::string name_of(const Fabric& fabric, SwitchIdx sw) {
  const NodeIdx node = fabric.switch_node[sw];
  const std::string& name = fabric.description[node];
  return name.empty() ? fmt::format("{}", fabric.node_guid[node]) : name;
}

std::string say_why_not(const Fabric& fabric, const SwitchGraph& graph, const FatTreeShape& tree) {
  for (const SwitchIdx sw : tree.level.indices()) {
    for (const SwitchEdge& edge : graph.edges(sw)) {
      if (tree.level[edge.to] != tree.level[sw]) continue;
      return fmt::format(
          "no fat tree: {} of {} links join switches that are equally far from the leaves, such as "
          "{} and {}",
          tree.level_links,
          graph.edge_count() / 2,
          name_of(fabric, sw),
          name_of(fabric, edge.to));
    }
  }
  return "no fat tree";
}

void count_levels(const SwitchGraph& graph, FatTreeShape& tree) {
  for (const SwitchIdx sw : tree.level.indices()) {
    if (tree.level[sw] >= tree.levels.size()) tree.levels.resize(tree.level[sw] + 1u);
    ++tree.levels[tree.level[sw]].switches;
  }
  IndexVector<SwitchIdx, std::uint32_t> cables(graph.switches(), 0);
  IndexVector<SwitchIdx, SwitchIdx> seen_from(graph.switches(), kNone<SwitchIdx>);
  for (const SwitchIdx sw : tree.level.indices()) {
    std::uint32_t parents = 0;
    for (const SwitchEdge& edge : graph.edges(sw)) {
      if (tree.level[edge.to] != tree.level[sw] + 1) continue;
      ++cables[sw];
      parents += seen_from[edge.to] != sw;
      seen_from[edge.to] = sw;
    }
    FatTreeShape::Level& own = tree.levels[tree.level[sw]];
    own.parents = std::max(own.parents, parents);
    own.cables = std::max(own.cables, cables[sw]);
  }
  for (const SwitchIdx sw : tree.level.indices()) {
    FatTreeShape::Level& own = tree.levels[tree.level[sw]];
    own.missing += own.cables - cables[sw];
  }
}

void place_hosts(const Fabric& fabric, FatTreeShape& tree) {
  std::bitset<256> ports;
  for (const SwitchIdx sw : tree.level.indices()) {
    for (const PortIdx port : fabric.external_ports(fabric.switch_node[sw])) {
      const PortIdx far = fabric.peer[port];
      if (far == kNone<PortIdx> || fabric.is_switch(fabric.node_of[far])) continue;
      ++tree.hosts;
      if (tree.level[sw] == 0) {
        ports.set(fabric.number_of(port).value());
      } else {
        ++tree.hosts_above;
      }
    }
  }
  for (std::size_t port = 0; port < ports.size(); ++port) {
    tree.host_place[port] = static_cast<std::uint8_t>(tree.host_places);
    tree.host_places += ports[port];
  }
}

}  // namespace

Result<FatTreeShape> recognise_fat_tree(const Fabric& fabric,
                                        const SwitchGraph& graph,
                                        const IndexVector<SwitchIdx, Guid>& guids,
                                        const IndexVector<SwitchIdx, std::uint32_t>& hosts) {
  FatTreeShape tree;
  tree.level = find_tree_levels(graph, guids, hosts);
  tree.level_links = count_level_links(graph, tree.level);
  if (10 * tree.level_links > graph.edge_count() / 2)
    return fail(Errc::Unsupported, say_why_not(fabric, graph, tree));
  count_levels(graph, tree);
  place_hosts(fabric, tree);
  tree.leaf_place = number_leaves(graph, guids, hosts, tree.level);
  return tree;
}

Result<FatTreeShape> recognise_fat_tree(const Fabric& fabric) {
  IndexVector<SwitchIdx, std::uint32_t> hosts;
  for (const NodeIdx node : fabric.switch_node) {
    std::uint32_t count = 0;
    for (const PortIdx port : fabric.external_ports(node)) {
      const PortIdx far = fabric.peer[port];
      count += far != kNone<PortIdx> && !fabric.is_switch(fabric.node_of[far]);
    }
    hosts.push_back(count);
  }
  return recognise_fat_tree(fabric, SwitchGraph{fabric}, list_switch_guids(fabric), hosts);
}

std::string print_fat_tree(const FatTreeShape& tree) {
  std::string text = "fat tree of ";
  for (std::size_t at = 0; at < tree.levels.size(); ++at)
    text += fmt::format("{}{}", at == 0 ? "" : " + ", tree.levels[at].switches);
  text += fmt::format(" switches, {} hosts", tree.hosts);
  if (tree.missing() != 0) text += fmt::format(", {} cables missing", tree.missing());
  if (tree.hosts_above != 0) text += fmt::format(", {} hosts above the leaves", tree.hosts_above);
  if (tree.level_links != 0) text += fmt::format(", {} cables within a level", tree.level_links);
  return text;
}

}  // namespace smd
