#include "smd/routing/topology/dragonfly.h"

#include <fmt/core.h>
#include <algorithm>
#include <numeric>
#include <optional>

#include "smd/routing/topology/grid.h"
#include "smd/routing/topology/lattice_record.h"
#include "smd/routing/topology/neighbour_graph.h"

namespace smd {
namespace {

// Common neighbours of the two ends of every link.
std::vector<std::uint32_t> count_common(const NeighbourGraph& graph) {
  std::vector<std::uint32_t> common(graph.links(), 0);
  CornerSearch search{graph};
  for (const SwitchIdx sw : graph.by_guid()) {
    const auto around = graph.around(sw);
    for (const Corner& corner : search.find(sw)) {
      if (corner.kind != Corner::Kind::Triangle) continue;
      // Each triangle shows a link from both of its ends: count it at one.
      for (const std::uint32_t place : {corner.a, corner.b}) {
        if (graph.rank(around[place].to) > graph.rank(sw)) ++common[around[place].link];
      }
    }
  }
  return common;
}

DragonflyShape number_groups(const NeighbourGraph& graph, DisjointSets& sets) {
  DragonflyShape shape;
  shape.group.assign(graph.switches(), 0);
  std::vector<std::uint32_t> number(graph.switches(), 0);
  for (std::uint32_t r = 0; r < graph.switches(); ++r) {
    const std::uint32_t first = sets.find(r);
    if (first == r) {
      number[r] = static_cast<std::uint32_t>(shape.members.size());
      shape.members.emplace_back();
    }
    shape.group[graph.by_guid()[r]] = number[first];
    shape.members[number[first]].push_back(graph.by_guid()[r]);
  }
  shape.place.assign(graph.switches(), 0);
  for (const auto& members : shape.members) {
    shape.places = std::max(shape.places, static_cast<std::uint32_t>(members.size()));
    for (std::uint32_t i = 0; i < members.size(); ++i) shape.place[members[i]] = i;
  }
  return shape;
}

/// The numbers and places that switches had before.
class PlacesBefore {
 public:
  PlacesBefore(const Fabric& fabric, const NeighbourGraph& graph, const LatticeRecord& record)
      : graph_(graph),
        groups_(record.sides.front()),
        places_(record.sides.back()),
        then_(graph.switches(), kNone) {
    auto known = record.cells.begin();
    for (const SwitchIdx sw : graph.by_guid()) {
      const Guid guid = fabric.node_guid[fabric.switch_node[sw]];
      while (known != record.cells.end() && known->first < guid) ++known;
      if (known != record.cells.end() && known->first == guid) then_[sw] = known->second;
    }
  }

  /// False, and nothing done, where the groups are not as many, or not most switches would keep
  /// theirs.
  bool give_to(DragonflyShape& shape) const {
    if (shape.members.size() != groups_) return false;
    const std::vector<std::uint32_t> number = match_groups(shape);
    DragonflyShape named = shape;
    named.places = std::max(places_, shape.places);
    std::size_t kept = 0;
    for (std::uint32_t now = 0; now < groups_; ++now) {
      auto& members = named.members[number[now]] = shape.members[now];
      kept += place(members, number[now], named);
      std::ranges::sort(members, {}, [&](SwitchIdx sw) { return named.place[sw]; });
    }
    if (2 * kept <= graph_.switches()) return false;
    named.places = 1 + std::ranges::max(named.place);
    shape = std::move(named);
    return true;
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;

  // The number of each group as it is: those first that have most switches in common.
  [[nodiscard]] std::vector<std::uint32_t> match_groups(const DragonflyShape& shape) const {
    std::vector<std::uint32_t> common(std::size_t{groups_} * groups_, 0);
    for (const SwitchIdx sw : graph_.by_guid()) {
      if (then_[sw] != kNone) ++common[shape.group[sw] * groups_ + then_[sw] / places_];
    }
    std::vector<std::uint32_t> pairs(common.size());
    std::iota(pairs.begin(), pairs.end(), 0u);
    std::ranges::stable_sort(
        pairs, std::greater{}, [&](std::uint32_t pair) { return common[pair]; });
    std::vector<std::uint32_t> number(groups_, kNone);
    std::vector<char> taken(groups_, 0);
    for (const std::uint32_t pair : pairs) {
      const std::uint32_t now = pair / groups_, then = pair % groups_;
      if (number[now] != kNone || taken[then]) continue;
      number[now] = then;
      taken[then] = 1;
    }
    return number;
  }

  // Who had a place in the group has it again, others take the first that are free.
  std::size_t place(const std::vector<SwitchIdx>& members,
                    std::uint32_t group,
                    DragonflyShape& named) const {
    const auto was_here = [&](SwitchIdx sw) {
      return then_[sw] != kNone && then_[sw] / places_ == group;
    };
    std::vector<char> taken(named.places, 0);
    std::size_t kept = 0;
    for (const SwitchIdx sw : members) {
      named.group[sw] = group;
      if (!was_here(sw)) continue;
      named.place[sw] = then_[sw] % places_;
      taken[named.place[sw]] = 1;
      ++kept;
    }
    std::uint32_t free = 0;
    for (const SwitchIdx sw : members) {
      if (was_here(sw)) continue;
      while (taken[free]) ++free;
      named.place[sw] = free++;
    }
    return kept;
  }

  const NeighbourGraph& graph_;
  std::uint32_t groups_, places_;
  IndexVector<SwitchIdx, std::uint32_t> then_;
};

bool name_as_before(const Fabric& fabric,
                    const NeighbourGraph& graph,
                    const LatticeRecord* before,
                    DragonflyShape& shape) {
  if (before == nullptr || before->sides.size() != 2) return false;
  return PlacesBefore{fabric, graph, *before}.give_to(shape);
}

// More of them are no damage, but another fabric.
constexpr std::ptrdiff_t kMostStrays = 64;

// Damage leaves some with too few neighbours in common: they join the group of which they are
// neighbours of the largest part, if that is half of it. `sets` is of ranks.
void adopt_strays(const NeighbourGraph& graph, DisjointSets& sets) {
  const auto switches = static_cast<std::uint32_t>(graph.switches());
  std::vector<std::uint32_t> size(switches), links(switches);
  for (bool adopted = true; adopted;) {
    adopted = false;
    size.assign(switches, 0);
    for (std::uint32_t r = 0; r < switches; ++r) ++size[sets.find(r)];
    const std::uint32_t largest = *std::max_element(size.begin(), size.end());
    const auto is_stray = [&](std::uint32_t own) { return own != 0 && own * 2 < largest; };
    if (std::count_if(size.begin(), size.end(), is_stray) > kMostStrays) return;
    for (std::uint32_t r = 0; r < switches && !adopted; ++r) {
      const std::uint32_t own = sets.find(r);
      if (own != r || !is_stray(size[own])) continue;
      links.assign(switches, 0);
      std::uint32_t best = own;
      for (std::uint32_t member = r; member < switches; ++member) {
        if (sets.find(member) != own) continue;
        for (const Neighbour& n : graph.around(graph.by_guid()[member])) {
          const std::uint32_t other = sets.find(graph.rank(n.to));
          if (other == own) continue;
          ++links[other];
          if (std::uint64_t{links[other]} * size[best] > std::uint64_t{links[best]} * size[other])
            best = other;
        }
      }
      adopted = best != own && links[best] * 2 >= size[best] && sets.join(own, best);
    }
  }
}

// What keeps these groups from being a dragonfly; nothing when nothing does.
std::optional<std::string> find_fault(const NeighbourGraph& graph, DragonflyShape& shape) {
  const std::size_t groups = shape.members.size();
  if (groups < 2) return "all switches are one group";
  std::size_t largest = 0, smallest = graph.switches();
  for (const auto& members : shape.members) {
    largest = std::max(largest, members.size());
    smallest = std::min(smallest, members.size());
  }
  if (largest < 2 || smallest * 2 < largest)
    return fmt::format("groups of {} and of {} switches", smallest, largest);

  std::vector<std::uint32_t> between(groups * groups, 0);
  std::size_t local = 0, wanted = 0;
  for (const SwitchIdx sw : graph.by_guid()) {
    wanted += shape.members[shape.group[sw]].size() - 1;
    for (const Neighbour& n : graph.around(sw)) {
      if (shape.group[n.to] == shape.group[sw]) {
        ++local;
      } else {
        ++between[shape.group[sw] * groups + shape.group[n.to]];
      }
    }
  }
  if (local * 4 < wanted * 3) return "groups are not complete graphs";
  std::size_t joined = 0;
  for (const std::uint32_t links : between) {
    joined += links != 0 ? 1 : 0;
    shape.global_trunk = std::max(shape.global_trunk, links);
  }
  if (joined * 4 < groups * (groups - 1) * 3)
    return fmt::format(
        "of {} pairs of groups {} are joined", groups * (groups - 1) / 2, joined / 2);
  return std::nullopt;
}

// Every router joined to one of each other group: rows and columns of a Hamming graph. Those are
// the groups that were before; else those across the first dimension.
std::optional<DragonflyShape> read_rows(const Fabric& fabric,
                                        const NeighbourGraph& graph,
                                        const LatticeRecord* before) {
  const Result<HammingShape> hamming = recognise_hamming(fabric, graph);
  if (!hamming || hamming->lattice.dimensions() != 2) return std::nullopt;
  std::optional<DragonflyShape> found;
  for (const std::size_t d : {0, 1}) {
    DisjointSets sets{graph.switches()};
    std::vector<std::uint32_t> first(hamming->lattice.sides[d], 0xffffffff);
    for (std::uint32_t r = 0; r < graph.switches(); ++r) {
      std::uint32_t& of_row = first[hamming->lattice.coordinate(graph.by_guid()[r], d)];
      if (of_row == 0xffffffff) of_row = r;
      sets.join(of_row, r);
    }
    DragonflyShape shape = number_groups(graph, sets);
    if (find_fault(graph, shape)) continue;
    if (name_as_before(fabric, graph, before, shape)) return shape;
    if (d == 0) found = std::move(shape);
  }
  return found;
}

}  // namespace

LatticeRecord record_dragonfly(const Fabric& fabric, const DragonflyShape& dragonfly) {
  LatticeRecord record{
      .engine = "dragonfly",
      .sides = {static_cast<std::uint32_t>(dragonfly.members.size()), dragonfly.places},
      .wraps = {},
      .cells = {}};
  for (const SwitchIdx sw : dragonfly.group.indices())
    record.cells.emplace_back(fabric.node_guid[fabric.switch_node[sw]],
                              dragonfly.group[sw] * dragonfly.places + dragonfly.place[sw]);
  std::ranges::sort(record.cells);
  return record;
}

Result<DragonflyShape> recognise_dragonfly(const Fabric& fabric,
                                           const NeighbourGraph& graph,
                                           const LatticeRecord* before) {
  if (const SwitchIdx apart = graph.find_island(); apart != kNone<SwitchIdx>) {
    return fail(Errc::Unsupported,
                fmt::format("{} is not connected with the rest", print_switch(fabric, apart)));
  }
  const std::vector<std::uint32_t> common = count_common(graph);
  std::vector<std::uint32_t> levels = common;
  std::sort(levels.begin(), levels.end(), std::greater<>{});
  levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
  std::string why = "no three switches are joined to each other, as those of a group would be";
  for (const std::uint32_t level : levels) {
    if (level == 0) break;
    DisjointSets sets{graph.switches()};
    for (std::uint32_t r = 0; r < graph.switches(); ++r) {
      for (const Neighbour& n : graph.around(graph.by_guid()[r])) {
        if (common[n.link] >= level) sets.join(r, graph.rank(n.to));
      }
    }
    adopt_strays(graph, sets);
    DragonflyShape shape = number_groups(graph, sets);
    const std::optional<std::string> fault = find_fault(graph, shape);
    if (!fault) {
      static_cast<void>(name_as_before(fabric, graph, before, shape));
      return shape;
    }
    why = *fault;
  }
  if (auto rows = read_rows(fabric, graph, before)) return std::move(*rows);
  return fail(Errc::Unsupported, std::move(why));
}

Result<DragonflyShape> recognise_dragonfly(const Fabric& fabric) {
  return recognise_dragonfly(fabric, NeighbourGraph{fabric});
}

std::string print_dragonfly(const DragonflyShape& dragonfly) {
  std::size_t largest = 0;
  for (const auto& members : dragonfly.members) largest = std::max(largest, members.size());
  return fmt::format("dragonfly of {} groups of {}, {} link{} between groups",
                     dragonfly.members.size(),
                     largest,
                     dragonfly.global_trunk,
                     dragonfly.global_trunk == 1 ? "" : "s");
}

}  // namespace smd
