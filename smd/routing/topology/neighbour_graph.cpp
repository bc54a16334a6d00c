#include "smd/routing/topology/neighbour_graph.h"

#include <fmt/core.h>
#include <algorithm>
#include <tuple>

namespace smd {
namespace {

struct LinkEnd {
  std::uint32_t rank;  // of the switch it leads to
  PortNum port;
};

}  // namespace

NeighbourGraph::NeighbourGraph(const Fabric& fabric) : rank_(fabric.switch_count()) {
  const auto guid = [&](SwitchIdx sw) { return fabric.node_guid[fabric.switch_node[sw]]; };
  for (const SwitchIdx sw : fabric.switch_node.indices()) by_guid_.push_back(sw);
  std::sort(by_guid_.begin(), by_guid_.end(), [&](SwitchIdx a, SwitchIdx b) {
    return guid(a) < guid(b);
  });
  for (std::uint32_t r = 0; r < by_guid_.size(); ++r) rank_[by_guid_[r]] = r;

  std::vector<LinkEnd> ends;
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    const NodeIdx node = fabric.switch_node[sw];
    ends.clear();
    for (const PortIdx port : fabric.external_ports(node)) {
      const PortIdx peer = fabric.peer[port];
      if (peer == kNone<PortIdx> || fabric.node_of[peer] == node) continue;
      const SwitchIdx neighbour = fabric.switch_at(peer);
      if (neighbour != kNone<SwitchIdx>) ends.push_back({rank_[neighbour], fabric.number_of(port)});
    }
    std::sort(ends.begin(), ends.end(), [](const LinkEnd& a, const LinkEnd& b) {
      return std::tie(a.rank, a.port) < std::tie(b.rank, b.port);
    });
    first_.push_back(static_cast<std::uint32_t>(neighbours_.size()));
    for (std::size_t i = 0; i < ends.size(); ++i) {
      if (i == 0 || ends[i].rank != ends[i - 1].rank) {
        neighbours_.push_back({by_guid_[ends[i].rank], 0});
        first_port_.push_back(static_cast<std::uint32_t>(ports_.size()));
      }
      ports_.push_back(ends[i].port);
    }
  }
  first_.push_back(static_cast<std::uint32_t>(neighbours_.size()));
  first_port_.push_back(static_cast<std::uint32_t>(ports_.size()));

  // Links are numbered from the end with the smaller GUID.
  for (const SwitchIdx sw : by_guid_) {
    for (std::uint32_t at = first_[sw.value()]; at < first_[sw.value() + 1]; ++at) {
      const SwitchIdx to = neighbours_[at].to;
      if (rank_[to] < rank_[sw]) continue;
      neighbours_[at].link = static_cast<std::uint32_t>(links_);
      neighbours_[first_[to.value()] + *find(to, sw)].link = static_cast<std::uint32_t>(links_++);
    }
  }
}

std::optional<std::uint32_t> NeighbourGraph::find(SwitchIdx sw, SwitchIdx to) const {
  const auto all = around(sw);
  const auto found = std::lower_bound(
      all.begin(), all.end(), rank_[to], [&](const Neighbour& n, std::uint32_t rank) {
        return rank_[n.to] < rank;
      });
  if (found == all.end() || found->to != to) return std::nullopt;
  return static_cast<std::uint32_t>(found - all.begin());
}

SwitchIdx NeighbourGraph::find_island() const {
  if (switches() == 0) return kNone<SwitchIdx>;
  IndexVector<SwitchIdx, char> seen(switches(), 0);
  std::vector<SwitchIdx> queue{by_guid_.front()};
  seen[queue.front()] = 1;
  for (std::size_t at = 0; at < queue.size(); ++at) {
    for (const Neighbour& n : around(queue[at])) {
      if (seen[n.to]) continue;
      seen[n.to] = 1;
      queue.push_back(n.to);
    }
  }
  for (const SwitchIdx sw : by_guid_) {
    if (!seen[sw]) return sw;
  }
  return kNone<SwitchIdx>;
}

std::string print_switch(const Fabric& fabric, SwitchIdx sw) {
  return name_of(fabric, fabric.switch_node[sw]);
}

CornerSearch::CornerSearch(const NeighbourGraph& graph)
    : graph_(graph),
      near_(graph.switches(), kNone<SwitchIdx>),
      place_(graph.switches(), 0),
      seen_(graph.switches()) {}

const std::vector<Corner>& CornerSearch::find(SwitchIdx sw) {
  corners_.clear();
  crowded_ = kNone<SwitchIdx>;
  const auto around = graph_.around(sw);
  for (std::uint32_t i = 0; i < around.size(); ++i) {
    near_[around[i].to] = sw;
    place_[around[i].to] = i;
  }
  for (std::uint32_t i = 0; i < around.size(); ++i) {
    for (const Neighbour& onward : graph_.around(around[i].to)) {
      if (onward.to == sw) continue;
      if (near_[onward.to] == sw) {
        const std::uint32_t other = place_[onward.to];
        if (i < other)
          corners_.push_back({Corner::Kind::Triangle, i, other, onward.link, onward.link});
        continue;
      }
      Seen& seen = seen_[onward.to];
      if (seen.by != sw) {
        seen = {sw, i, onward.link};
      } else {
        const SwitchIdx first = around[seen.place].to, own = around[i].to;
        if (seen.second == kNone<SwitchIdx>) {
          seen.second = own;
        } else if (are_strangers(first, seen.second) && are_strangers(first, own) &&
                   are_strangers(seen.second, own)) {
          crowded_ = onward.to;
        }
        corners_.push_back({Corner::Kind::Square, seen.place, i, seen.link, onward.link});
      }
    }
  }
  return corners_;
}

bool CornerSearch::are_strangers(SwitchIdx a, SwitchIdx b) const { return !graph_.find(a, b); }

Result<LinkClasses> classify_links(const Fabric& fabric, const NeighbourGraph& graph) {
  DisjointSets sets{graph.links()};
  CornerSearch search{graph};
  for (const SwitchIdx sw : graph.by_guid()) {
    const auto around = graph.around(sw);
    for (const Corner& corner : search.find(sw)) {
      const std::uint32_t a = around[corner.a].link, b = around[corner.b].link;
      if (corner.kind == Corner::Kind::Triangle) {
        sets.join(a, b);
      } else {
        sets.join(a, corner.opposite_b);
        sets.join(b, corner.opposite_a);
      }
    }
    if (search.crowded() != kNone<SwitchIdx>) {
      return fail(
          Errc::Unsupported,
          fmt::format("{} and {} have three neighbours in common that are none of each other",
                      print_switch(fabric, sw),
                      print_switch(fabric, search.crowded())));
    }
  }
  LinkClasses classes{.of = std::vector<std::uint32_t>(graph.links())};
  for (std::uint32_t link = 0; link < graph.links(); ++link) {
    const std::uint32_t first = sets.find(link);
    classes.of[link] = first == link ? classes.count++ : classes.of[first];
  }
  return classes;
}

}  // namespace smd
