#include "smd/routing/fat_tree/shape.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <bitset>
#include <string_view>
#include <tuple>
#include <utility>

#include "smd/routing/graph/disjoint_sets.h"

namespace smd {
namespace {

// Subtrees of one level, which those of the next level consist of.
struct Subtree {
  SwitchIdx root;                          // stands for it among the merged sets
  Guid guid;                               // lowest of its leaves
  std::array<std::uint16_t, 256> votes{};  // by port of the switches above
  std::uint32_t port = 0;                  // that most of those have it at
  std::uint64_t place = 0;
  SwitchIdx within = kNone<SwitchIdx>;  // root of the next larger one
};

class LeafNumbering {
 public:
  LeafNumbering(const SwitchGraph& graph,
                const IndexVector<SwitchIdx, Guid>& guids,
                const IndexVector<SwitchIdx, std::uint32_t>& hosts,
                const IndexVector<SwitchIdx, std::uint32_t>& level)
      : graph_(graph),
        guids_(guids),
        level_(level),
        sets_(graph.switches()),
        subtree_of_(graph.switches(), kUnreached),
        place_(graph.switches(), kNoPlace) {
    for (const SwitchIdx sw : level.indices()) {
      top_ = std::max(top_, level[sw]);
      if (level[sw] != 0 || hosts[sw] == 0) continue;
      place_[sw] = 0;
      leaves_.push_back(sw);
    }
  }

  IndexVector<SwitchIdx, std::uint64_t> run() {
    std::uint64_t stride = 1;
    for (std::uint32_t at = 1; at <= top_; ++at) {
      list_subtrees();
      vote(at);
      for (const SwitchIdx sw : level_.indices()) {
        if (level_[sw] != at) continue;
        for (const SwitchEdge& edge : graph_.edges(sw)) {
          if (level_[edge.to] + 1 == at) sets_.join(sw, edge.to);
        }
      }
      for (Subtree& subtree : subtrees_) subtree.within = sets_.find(subtree.root);
      const std::uint64_t places = place_subtrees(at);
      for (const SwitchIdx leaf : leaves_)
        place_[leaf] += stride * subtrees_[subtree_of_[root_before_[leaf]]].place;
      stride *= places;
    }
    return std::move(place_);
  }

 private:
  void list_subtrees() {
    for (const Subtree& subtree : subtrees_) subtree_of_[subtree.root] = kUnreached;
    subtrees_.clear();
    root_before_.assign(graph_.switches(), kNone<SwitchIdx>);
    for (const SwitchIdx leaf : leaves_) {
      const SwitchIdx root = root_before_[leaf] = sets_.find(leaf);
      if (subtree_of_[root] == kUnreached) {
        subtree_of_[root] = static_cast<std::uint32_t>(subtrees_.size());
        subtrees_.push_back({.root = root, .guid = guids_[leaf]});
      }
      Guid& guid = subtrees_[subtree_of_[root]].guid;
      guid = std::min(guid, guids_[leaf]);
    }
  }

  // Of parallel cables between two switches the lowest port counts.
  void vote(std::uint32_t at) {
    up_ports_.reset();
    std::vector<std::pair<SwitchIdx, std::uint8_t>> above;
    for (const SwitchIdx sw : level_.indices()) {
      if (level_[sw] == at) {
        for (const SwitchEdge& edge : graph_.edges(sw)) {
          if (level_[edge.to] == at + 1) up_ports_.set(edge.port.value());
        }
      }
      if (level_[sw] + 1 != at) continue;
      const std::uint32_t number = subtree_of_[sets_.find(sw)];
      if (number == kUnreached) continue;
      above.clear();
      for (const SwitchEdge& edge : graph_.edges(sw)) {
        if (level_[edge.to] == at) above.emplace_back(edge.to, edge.peer_port.value());
      }
      std::sort(above.begin(), above.end());
      for (std::size_t i = 0; i < above.size(); ++i) {
        if (i == 0 || above[i].first != above[i - 1].first)
          ++subtrees_[number].votes[above[i].second];
      }
    }
    for (Subtree& subtree : subtrees_) {
      const auto most = std::max_element(subtree.votes.begin(), subtree.votes.end());
      subtree.port = static_cast<std::uint32_t>(most - subtree.votes.begin());
    }
  }

  /// Returns how many places there are within a subtree.
  std::uint64_t place_subtrees(std::uint32_t at) {
    std::vector<Subtree*> order;
    for (Subtree& subtree : subtrees_) order.push_back(&subtree);
    std::sort(order.begin(), order.end(), [](const Subtree* a, const Subtree* b) {
      return std::tie(a->within, a->port, a->guid) < std::tie(b->within, b->port, b->guid);
    });
    std::bitset<256> ports;
    std::size_t families = 0;
    for (std::size_t from = 0, to = 0; from < order.size(); from = to, ++families) {
      to = end_of_family(order, from);
      if (is_clear(order, from, to)) {
        for (std::size_t i = from; i < to; ++i) ports.set(order[i]->port);
      }
    }
    // With many families a port that none of them uses is no place. With one, which may have lost
    // some, every port is from where the cables that lead up end.
    std::array<std::uint32_t, 256> place_of{};
    std::uint32_t count = 0;
    for (std::uint32_t port = 1; port < ports.size(); ++port) {
      const bool passed = (ports << (ports.size() - port)).any();
      if (families == 1 && !passed && up_ports_[port - 1]) count = 0;
      place_of[port] = count;
      if (families == 1 || ports[port]) ++count;
    }
    std::uint64_t most = 1;
    for (std::size_t from = 0, to = 0; from < order.size(); from = to) {
      to = end_of_family(order, from);
      const bool clear = is_clear(order, from, to);
      for (std::size_t i = from; i < to; ++i) {
        order[i]->place = clear ? place_of[order[i]->port] : i - from;
        most = std::max(most, order[i]->place + 1);
      }
    }
    return at == top_ ? 1 : most;
  }

  static std::size_t end_of_family(const std::vector<Subtree*>& order, std::size_t from) {
    std::size_t to = from;
    while (to < order.size() && order[to]->within == order[from]->within) ++to;
    return to;
  }

  // Nobody claims another's port, and everybody claims one.
  static bool is_clear(const std::vector<Subtree*>& order, std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      if (order[i]->port == 0 || (i != from && order[i]->port == order[i - 1]->port)) return false;
    }
    return true;
  }

  const SwitchGraph& graph_;
  const IndexVector<SwitchIdx, Guid>& guids_;
  const IndexVector<SwitchIdx, std::uint32_t>& level_;
  DisjointSets sets_;
  std::uint32_t top_ = 0;
  std::vector<SwitchIdx> leaves_;
  std::vector<Subtree> subtrees_;
  IndexVector<SwitchIdx, std::uint32_t> subtree_of_;  // by root
  IndexVector<SwitchIdx, SwitchIdx> root_before_;     // by leaf
  std::bitset<256> up_ports_;
  IndexVector<SwitchIdx, std::uint64_t> place_;
};

std::string name_of(const Fabric& fabric, SwitchIdx sw) {
  return smd::name_of(fabric, fabric.switch_node[sw]);
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
  IndexVector<SwitchIdx, std::uint32_t> links(graph.switches(), 0);
  IndexVector<SwitchIdx, SwitchIdx> seen_from(graph.switches(), kNone<SwitchIdx>);
  for (const SwitchIdx sw : tree.level.indices()) {
    std::uint32_t parents = 0;
    for (const SwitchEdge& edge : graph.edges(sw)) {
      if (tree.level[edge.to] != tree.level[sw] + 1) continue;
      ++links[sw];
      parents += seen_from[edge.to] != sw;
      seen_from[edge.to] = sw;
    }
    FatTreeShape::Level& own = tree.levels[tree.level[sw]];
    own.parents = std::max(own.parents, parents);
    own.links = std::max(own.links, links[sw]);
  }
  for (const SwitchIdx sw : tree.level.indices()) {
    FatTreeShape::Level& own = tree.levels[tree.level[sw]];
    own.missing += own.links - links[sw];
  }
}

void measure_trunks(const SwitchGraph& graph, FatTreeShape& tree) {
  IndexVector<SwitchIdx, std::uint32_t> cables(graph.switches(), 0);
  for (const SwitchIdx sw : tree.level.indices()) {
    FatTreeShape::Level& own = tree.levels[tree.level[sw]];
    for (const SwitchEdge& edge : graph.edges(sw)) ++cables[edge.to];
    for (const SwitchEdge& edge : graph.edges(sw)) {
      const std::uint32_t width = std::exchange(cables[edge.to], 0);
      if (width == 0 || tree.level[edge.to] != tree.level[sw] + 1) continue;
      own.narrowest = own.narrowest == 0 ? width : std::min(own.narrowest, width);
      own.widest = std::max(own.widest, width);
    }
  }
}

std::string count_of(std::size_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string count_above(const FatTreeShape& tree) {
  return tree.systems.most > 1 ? count_of(tree.hosts_above, "adapter", "adapters")
                               : count_of(tree.hosts_above, "host", "hosts");
}

void place_hosts(const Fabric& fabric, FatTreeShape& tree) {
  std::bitset<256> ports;
  for (const SwitchIdx sw : tree.level.indices()) {
    for (const PortIdx port : fabric.external_ports(fabric.switch_node[sw])) {
      const PortIdx peer = fabric.peer[port];
      if (peer == kNone<PortIdx> || !fabric.is_host(peer)) continue;
      ++tree.hosts;
      if (tree.level[sw] == 0) {
        ports.set(fabric.number_of(port).value());
      } else {
        ++tree.hosts_above;
      }
    }
  }
  tree.systems = count_hosts(fabric);
  for (std::size_t port = 0; port < ports.size(); ++port) {
    tree.host_place[port] = static_cast<std::uint8_t>(tree.host_places);
    tree.host_places += ports[port];
  }
}

}  // namespace

IndexVector<SwitchIdx, std::uint64_t> number_leaves(
    const SwitchGraph& graph,
    const IndexVector<SwitchIdx, Guid>& guids,
    const IndexVector<SwitchIdx, std::uint32_t>& hosts,
    const IndexVector<SwitchIdx, std::uint32_t>& level) {
  return LeafNumbering{graph, guids, hosts, level}.run();
}

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
  measure_trunks(graph, tree);
  place_hosts(fabric, tree);
  tree.leaf_place = number_leaves(graph, guids, hosts, tree.level);
  return tree;
}

Result<FatTreeShape> recognise_fat_tree(const Fabric& fabric) {
  IndexVector<SwitchIdx, std::uint32_t> hosts;
  for (const NodeIdx node : fabric.switch_node) {
    std::uint32_t count = 0;
    for (const PortIdx port : fabric.external_ports(node)) {
      const PortIdx peer = fabric.peer[port];
      count += peer != kNone<PortIdx> && fabric.is_host(peer);
    }
    hosts.push_back(count);
  }
  return recognise_fat_tree(fabric, SwitchGraph{fabric}, list_switch_guids(fabric), hosts);
}

std::string describe_tree(const FatTreeShape& tree) {
  constexpr std::array<std::string_view, 4> kNumbers{"one", "two", "three", "four"};
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kNames{
      {{"leaf", "leaves"}, {"spine", "spines"}, {"core", "cores"}}};
  const std::size_t levels = tree.levels.size();
  std::string text = levels <= kNumbers.size() && levels != 0
                         ? fmt::format("{}-level tree", kNumbers[levels - 1])
                         : fmt::format("tree of {} levels", levels);
  std::uint32_t narrowest = 0, widest = 0;
  for (std::size_t at = 0; at < levels; ++at) {
    const FatTreeShape::Level& level = tree.levels[at];
    text += ", ";
    text += at < kNames.size() ? count_of(level.switches, kNames[at].first, kNames[at].second)
                               : fmt::format("{} on level {}", level.switches, at + 1);
    if (level.widest == 0) continue;
    narrowest = narrowest == 0 ? level.narrowest : std::min(narrowest, level.narrowest);
    widest = std::max(widest, level.widest);
  }
  if (widest > 1) {
    text += narrowest == widest ? fmt::format(", trunks of {}", widest)
                                : fmt::format(", trunks of {} to {}", narrowest, widest);
  }
  if (tree.missing() != 0) text += ", " + count_of(tree.missing(), "cable", "cables") + " missing";
  if (tree.hosts_above != 0) text += ", " + count_above(tree) + " above the leaves";
  if (tree.level_links != 0)
    text += ", " + count_of(tree.level_links, "cable", "cables") + " within a level";
  return text;
}

std::string describe_shape(const Fabric& fabric) {
  if (fabric.switch_count() == 0) return "no switch";
  const auto tree = recognise_fat_tree(fabric);
  return tree ? describe_tree(*tree) : tree.error().context;
}

std::string print_fat_tree(const FatTreeShape& tree) {
  std::string text = "fat tree of ";
  for (std::size_t at = 0; at < tree.levels.size(); ++at)
    text += fmt::format("{}{}", at == 0 ? "" : " + ", tree.levels[at].switches);
  text += " switches, " +
          (tree.systems.most > 1 ? print_hosts(tree.systems) : fmt::format("{} hosts", tree.hosts));
  if (tree.missing() != 0) text += fmt::format(", {} cables missing", tree.missing());
  if (tree.hosts_above != 0) {
    text += fmt::format(
        ", {} {} above the leaves", tree.hosts_above, tree.systems.most > 1 ? "adapters" : "hosts");
  }
  if (tree.level_links != 0) text += fmt::format(", {} cables within a level", tree.level_links);
  return text;
}

}  // namespace smd
