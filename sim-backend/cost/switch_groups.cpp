#include "sim-backend/cost/switch_groups.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace smd::sim {
namespace {

using NodeSet = std::set<std::uint32_t>;

struct Graph {
  std::vector<std::map<std::uint32_t, unsigned>> peers;  // of switches: cables to each
  std::vector<bool> is_switch, has_hosts;

  explicit Graph(const FabricSpec& spec)
      : peers(spec.nodes.size()),
        is_switch(spec.nodes.size()),
        has_hosts(spec.nodes.size(), false) {
    for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
      is_switch[n] = spec.nodes[n].type == NodeType::Switch;
      if (!is_switch[n]) continue;
      for (const PortSpec& port : spec.nodes[n].ports) {
        if (port.peer_node == kNoNode) continue;
        if (spec.nodes[port.peer_node].type == NodeType::Switch) {
          ++peers[n][port.peer_node];
        } else {
          has_hosts[n] = true;
        }
      }
    }
  }

  [[nodiscard]] bool are_joined(std::uint32_t a, std::uint32_t b) const {
    return peers[a].contains(b);
  }
};

/// Switches that cables which `is_local` join, group by group.
template <class IsLocal>
std::vector<std::vector<std::uint32_t>> split(const Graph& graph,
                                              IsLocal is_local,
                                              std::vector<std::uint32_t>& group_of) {
  std::vector<std::vector<std::uint32_t>> groups;
  group_of.assign(graph.peers.size(), UINT32_MAX);
  for (std::uint32_t first = 0; first < graph.peers.size(); ++first) {
    if (!graph.is_switch[first] || group_of[first] != UINT32_MAX) continue;
    const auto number = static_cast<std::uint32_t>(groups.size());
    std::vector<std::uint32_t> members{first};
    group_of[first] = number;
    for (std::size_t i = 0; i < members.size(); ++i) {
      for (const auto& [peer, cables] : graph.peers[members[i]]) {
        if (group_of[peer] != UINT32_MAX || !is_local(members[i], peer)) continue;
        group_of[peer] = number;
        members.push_back(peer);
      }
    }
    groups.push_back(std::move(members));
  }
  return groups;
}

/// Cables between any two groups, where all have as many; 0 where not.
std::uint64_t global_trunk(const Graph& graph,
                           std::size_t groups,
                           const std::vector<std::uint32_t>& group_of) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> cables;
  for (std::uint32_t n = 0; n < graph.peers.size(); ++n) {
    for (const auto& [peer, count] : graph.peers[n]) {
      if (group_of[n] < group_of[peer]) cables[{group_of[n], group_of[peer]}] += count;
    }
  }
  if (cables.empty() || cables.size() != groups * (groups - 1) / 2) return 0;
  const std::uint64_t trunk = cables.begin()->second;
  return std::ranges::all_of(cables, [&](const auto& pair) { return pair.second == trunk; }) ? trunk
                                                                                             : 0;
}

std::optional<SwitchGroups> find_dragonfly_plus(const Graph& graph) {
  SwitchGroups out;
  const auto groups = split(
      graph,
      [&](std::uint32_t a, std::uint32_t b) { return graph.has_hosts[a] != graph.has_hosts[b]; },
      out.group_of);
  std::size_t leaves = 0, spines = 0;
  for (const auto& members : groups) {
    std::size_t with_hosts = 0;
    for (const std::uint32_t member : members) with_hosts += graph.has_hosts[member];
    if (leaves == 0) leaves = with_hosts, spines = members.size() - with_hosts;
    if (with_hosts != leaves || members.size() - with_hosts != spines) return std::nullopt;
    for (const std::uint32_t member : members) {
      std::size_t within = 0;
      for (const auto& [peer, cables] : graph.peers[member]) {
        const bool local = out.group_of[peer] == out.group_of[member];
        within += local;
        // Leaves have no cables to other groups, spines none to spines of their own.
        if (graph.has_hosts[member] ? !local : local != graph.has_hosts[peer]) return std::nullopt;
      }
      if (within != (graph.has_hosts[member] ? spines : leaves)) return std::nullopt;
    }
  }
  const std::uint64_t trunk = global_trunk(graph, groups.size(), out.group_of);
  if (groups.size() < 2 || leaves == 0 || spines == 0 || trunk == 0) return std::nullopt;
  out.shape = fmt::format(
      "dragonfly+ of {} groups of {} leaves and {} spines, trunks of {} between "
      "groups",
      groups.size(),
      leaves,
      spines,
      trunk);
  return out;
}

/// Sides of the butterfly that a switch is in: neighbours within the group in cliques, one for each
/// dimension. Nothing where they are none.
std::optional<std::vector<std::uint32_t>> sides_around(const Graph& graph, const NodeSet& near) {
  std::vector<std::uint32_t> sides;
  NodeSet left = near;
  while (!left.empty()) {
    const std::uint32_t first = *left.begin();
    NodeSet clique{first};
    for (const std::uint32_t other : left) {
      if (graph.are_joined(first, other)) clique.insert(other);
    }
    for (const std::uint32_t a : clique) {
      for (const std::uint32_t b : near) {
        if (a != b && graph.are_joined(a, b) != clique.contains(b)) return std::nullopt;
      }
      left.erase(a);
    }
    sides.push_back(static_cast<std::uint32_t>(clique.size()) + 1);
  }
  std::ranges::sort(sides, std::greater());
  return sides;
}

std::optional<SwitchGroups> find_butterfly_groups(const Graph& graph) {
  SwitchGroups out;
  // Of a whole group every cable within it is in a triangle, and none to another group is.
  const auto has_triangle = [&](std::uint32_t a, std::uint32_t b) {
    return std::ranges::any_of(graph.peers[a], [&](const auto& peer) {
      return peer.first != b && graph.are_joined(peer.first, b);
    });
  };
  const auto groups = split(graph, has_triangle, out.group_of);
  std::optional<std::vector<std::uint32_t>> sides;
  for (const auto& members : groups) {
    for (const std::uint32_t member : members) {
      NodeSet near;
      for (const auto& [peer, cables] : graph.peers[member]) {
        if (out.group_of[peer] == out.group_of[member]) near.insert(peer);
      }
      const auto own = sides_around(graph, near);
      if (!own || (sides && *own != *sides)) return std::nullopt;
      sides = own;
    }
    const auto product =
        std::accumulate(sides->begin(), sides->end(), std::size_t{1}, std::multiplies<>());
    if (members.size() != product) return std::nullopt;
  }
  const std::uint64_t trunk = global_trunk(graph, groups.size(), out.group_of);
  if (groups.size() < 2 || !sides || sides->size() < 2 || trunk == 0) return std::nullopt;
  std::string text;
  for (const std::uint32_t side : *sides) {
    text += fmt::format("{}{}", text.empty() ? "" : " x ", side);
  }
  out.shape = fmt::format("dragonfly of {} groups, butterflies of {}, trunks of {} between groups",
                          groups.size(),
                          text,
                          trunk);
  return out;
}

}  // namespace

std::optional<SwitchGroups> find_switch_groups(const FabricSpec& spec) {
  const Graph graph(spec);
  if (auto found = find_dragonfly_plus(graph)) return found;
  return find_butterfly_groups(graph);
}

}  // namespace smd::sim
