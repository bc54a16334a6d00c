#include "smd/routing/shape/link_classes.h"

#include <fmt/core.h>

namespace smd {

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

DisjointSets::DisjointSets(std::size_t count) : parent_(count) {
  for (std::uint32_t i = 0; i < count; ++i) parent_[i] = i;
}

std::uint32_t DisjointSets::find(std::uint32_t member) {
  while (parent_[member] != member) {
    parent_[member] = parent_[parent_[member]];
    member = parent_[member];
  }
  return member;
}

bool DisjointSets::join(std::uint32_t a, std::uint32_t b) {
  a = find(a);
  b = find(b);
  if (a == b) return false;
  (a < b ? parent_[b] : parent_[a]) = a < b ? a : b;
  return true;
}

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
        sets.join(a, corner.far_b);
        sets.join(b, corner.far_a);
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
