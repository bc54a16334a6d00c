#include "smd/routing/topology/dragonfly.h"

#include <fmt/core.h>
#include <algorithm>
#include <optional>

#include "smd/routing/topology/grid.h"
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
  return shape;
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

// Every router joined to one of each other group: rows and columns of a Hamming graph.
std::optional<DragonflyShape> read_rows(const Fabric& fabric, const NeighbourGraph& graph) {
  const Result<HammingShape> hamming = recognise_hamming(fabric, graph);
  if (!hamming || hamming->lattice.dimensions() != 2) return std::nullopt;
  DisjointSets sets{graph.switches()};
  std::vector<std::uint32_t> first(hamming->lattice.sides[0], 0xffffffff);
  for (std::uint32_t r = 0; r < graph.switches(); ++r) {
    std::uint32_t& of_row = first[hamming->lattice.coordinate(graph.by_guid()[r], 0)];
    if (of_row == 0xffffffff) of_row = r;
    sets.join(of_row, r);
  }
  DragonflyShape shape = number_groups(graph, sets);
  if (find_fault(graph, shape)) return std::nullopt;
  return shape;
}

}  // namespace

Result<DragonflyShape> recognise_dragonfly(const Fabric& fabric, const NeighbourGraph& graph) {
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
    if (!fault) return shape;
    why = *fault;
  }
  if (auto rows = read_rows(fabric, graph)) return std::move(*rows);
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
