#include "smd/routing/layered/almost_minimal.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace smd {
namespace {

// What a path may be longer than the shortest, and than the longest of all shortest ones. Between
// neighbours nothing shorter than three links is another path where there are no triangles; and
// more than one link above the diameter is not needed on graphs of diameter two.
constexpr std::uint32_t kMostDetour = 2;
constexpr std::uint32_t kMostBeyondDiameter = 1;

}  // namespace

bool wants_almost_minimal(const LidMap& lids, const RoutingRequest& request) {
  return request.options.non_minimal == NonMinimal::AlmostMinimal &&
         std::ranges::any_of(lids.lmc, [](std::uint8_t lmc) { return lmc > 0; });
}

bool has_almost_minimal(const RoutingTables& tables) {
  return std::ranges::count(tables.notes, kAlmostMinimalNote) != 0;
}

AlmostMinimalSearch::AlmostMinimalSearch(const SwitchGraph& graph,
                                         const TreePlan& plan,
                                         InTrees& trees,
                                         std::span<const std::uint32_t> slowness,
                                         std::vector<std::uint64_t>& loads,
                                         std::vector<std::uint32_t> rank)
    : graph_(graph),
      plan_(plan),
      trees_(trees),
      slowness_(slowness),
      loads_(loads),
      rank_(std::move(rank)),
      most_links_(graph.switches()),
      links_(graph.switches()),
      directly_behind_(graph.switches()),
      used_(graph.edge_count(), 0),
      is_behind_(graph.switches(), 0) {
  for (std::uint32_t sw = 0; sw < graph.switches(); ++sw) {
    if (!is_source(sw)) continue;
    const SwitchIdx from{sw};
    const auto distances = compute_distances(graph, std::span(&from, 1));
    for (const SwitchIdx to : distances.indices()) {
      if (is_source(to.value()) && distances[to] != kUnreached)
        diameter_ = std::max(diameter_, distances[to]);
    }
  }
}

void AlmostMinimalSearch::aim_at(SwitchIdx root) {
  if (root == root_) return;
  root_ = root;
  least_links_ = compute_distances(graph_, std::span(&root, 1));
  for (const SwitchIdx sw : least_links_.indices()) {
    const std::uint32_t least = least_links_[sw];
    most_links_[sw.value()] =
        least == kUnreached
            ? 0
            : std::max(least, std::min(least + kMostDetour, diameter_ + kMostBeyondDiameter));
  }
}

template <class Visit>
void AlmostMinimalSearch::walk(std::uint32_t tree, std::uint32_t sw, Visit&& visit) const {
  const std::span<const std::uint8_t> slots = std::as_const(trees_).slots(tree);
  while (slots[sw] != kNoSlot) {
    const std::uint32_t edge = edge_of(sw, slots[sw]);
    visit(edge);
    sw = graph_.edge(edge).to.value();
  }
}

void AlmostMinimalSearch::measure(std::uint32_t tree) {
  const std::span<const std::uint8_t> slots = std::as_const(trees_).slots(tree);
  std::ranges::fill(directly_behind_, 0);
  links_[root_.value()] = 0;
  for (const std::uint32_t sw : trees_.order(tree)) {
    if (slots[sw] == kNoSlot) continue;
    const std::uint32_t next = graph_.edge(edge_of(sw, slots[sw])).to.value();
    links_[sw] = links_[next] + 1;
    ++directly_behind_[next];
  }
}

bool AlmostMinimalSearch::exceeds(std::uint32_t tree) {
  aim_at(trees_.root(tree));
  measure(tree);
  return std::ranges::any_of(trees_.order(tree), [&](std::uint32_t sw) {
    return trees_.slots(tree)[sw] != kNoSlot && links_[sw] > most_links_[sw];
  });
}

// Marks what lower offsets, or all others, have on the way from the source.
void AlmostMinimalSearch::mark(const TreeFamily& family, std::uint32_t tree, std::uint32_t source) {
  const std::uint32_t end = beside_ == Beside::AllOffsets ? family.first_tree + family.trees : tree;
  for (std::uint32_t other = family.first_tree; other < end; ++other) {
    if (other == tree) continue;
    walk(other, source, [&](std::uint32_t edge) {
      if (used_[edge]++ == 0) marked_.push_back(edge);
    });
  }
}

void AlmostMinimalSearch::unmark() {
  for (const std::uint32_t edge : marked_) used_[edge] = 0;
  marked_.clear();
}

void AlmostMinimalSearch::list_behind(std::uint32_t tree, std::uint32_t sw) {
  for (const std::uint32_t other : behind_) is_behind_[other] = 0;
  behind_.assign(1, sw);
  is_behind_[sw] = 1;
  if (directly_behind_[sw] == 0) return;
  const std::span<const std::uint8_t> slots = std::as_const(trees_).slots(tree);
  for (std::size_t at = 0; at < behind_.size(); ++at) {
    for (const SwitchEdge& edge : graph_.edges(SwitchIdx{behind_[at]})) {
      const std::uint32_t from = edge.to.value();
      if (is_behind_[from] || links_[from] != links_[behind_[at]] + 1) continue;
      const std::uint8_t by = slots[from];
      if (by == kNoSlot || graph_.edge(edge_of(from, by)).to.value() != behind_[at]) continue;
      is_behind_[from] = 1;
      behind_.push_back(from);
    }
  }
}

// Ways of the switch in hand that take it and all behind it over fewer links of other offsets.
bool AlmostMinimalSearch::find_ways(const TreeFamily& family,
                                    std::uint32_t tree,
                                    std::uint32_t sw) {
  const std::uint8_t now = trees_.slots(tree)[sw];
  std::uint32_t room = kUnreached;  // links that every path may still grow by
  for (const std::uint32_t source : behind_)
    room = std::min(room, most_links_[source] - std::min(most_links_[source], links_[source]));
  ways_.clear();
  std::uint8_t slot = 0;
  for (const SwitchEdge& edge : graph_.edges(SwitchIdx{sw})) {
    const std::uint8_t by = slot++;
    const std::uint32_t to = edge.to.value();
    if (by == now || is_behind_[to] || (to != root_.value() && trees_.slots(tree)[to] == kNoSlot))
      continue;
    if (links_[to] + 1 > links_[sw] + room) continue;
    ways_.push_back({.shared = 0, .links = links_[to] + 1, .load = 0, .slot = by});
  }
  if (ways_.empty()) return false;
  shared_now_ = 0;
  for (const std::uint32_t source : behind_) {
    if (!is_source(source)) continue;
    mark(family, tree, source);
    const std::uint64_t weight = plan_.weight_of_source[source];
    walk(tree, sw, [&](std::uint32_t edge) { shared_now_ += weight * used_[edge]; });
    for (Candidate& way : ways_) {
      const std::uint32_t first = edge_of(sw, way.slot);
      way.shared += weight * used_[first];
      walk(tree, graph_.edge(first).to.value(), [&](std::uint32_t edge) {
        way.shared += weight * used_[edge];
      });
    }
    unmark();
  }
  std::erase_if(ways_, [&](const Candidate& way) { return way.shared >= shared_now_; });
  for (Candidate& way : ways_) {
    const std::uint32_t first = edge_of(sw, way.slot);
    way.load = loads_[first];
    walk(
        tree, graph_.edge(first).to.value(), [&](std::uint32_t edge) { way.load += loads_[edge]; });
  }
  std::ranges::sort(ways_);
  return !ways_.empty();
}

void AlmostMinimalSearch::take(const TreeFamily& family,
                               std::uint32_t tree,
                               std::uint32_t sw,
                               std::uint8_t slot) {
  std::uint64_t paths = 0;
  for (const std::uint32_t source : behind_) paths += plan_.weight_of_source[source];
  paths *= family.weight;
  const std::uint8_t old = trees_.slots(tree)[sw];
  walk(tree, sw, [&](std::uint32_t edge) { loads_[edge] -= paths * slowness_[edge]; });
  --directly_behind_[graph_.edge(edge_of(sw, old)).to.value()];
  trees_.slots(tree)[sw] = slot;
  walk(tree, sw, [&](std::uint32_t edge) { loads_[edge] += paths * slowness_[edge]; });
  const std::uint32_t next = graph_.edge(edge_of(sw, slot)).to.value();
  ++directly_behind_[next];
  const std::uint32_t before = links_[sw];
  for (const std::uint32_t source : behind_) links_[source] += links_[next] + 1 - before;
}

void AlmostMinimalSearch::put_order(std::uint32_t tree) {
  std::vector<std::uint32_t> order = trees_.near_to_far(root_);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t sw) { return links_[sw]; });
  trees_.set_order(tree, std::move(order));
}

std::vector<std::uint32_t> AlmostMinimalSearch::spread(const TreeFamily& family,
                                                       std::uint32_t offset,
                                                       Beside beside,
                                                       std::span<const std::uint32_t> some,
                                                       const Check& fits) {
  std::vector<std::uint32_t> moved;
  if (plan_.is_idle(family) || family.weight == 0) return moved;
  const std::uint32_t tree = family.first_tree + offset;
  beside_ = beside;
  aim_at(family.root);
  measure(tree);

  // Who shares most with other offsets is first; of equals another one at each LID.
  struct Turn {
    std::uint64_t shared;
    std::uint32_t place;
    std::uint32_t sw;
  };

  std::vector<Turn> turns;
  const auto count = static_cast<std::uint32_t>(graph_.switches());
  const std::uint32_t start = (rank_[root_.value()] + family.base.value() + offset) % count;
  const auto add = [&](std::uint32_t sw) {
    if (sw == root_.value() || !is_source(sw) || trees_.slots(tree)[sw] == kNoSlot) return;
    mark(family, tree, sw);
    std::uint64_t shared = 0;
    walk(tree, sw, [&](std::uint32_t edge) { shared += used_[edge]; });
    unmark();
    if (shared != 0) turns.push_back({shared, (rank_[sw] + count - start) % count, sw});
  };
  std::ranges::for_each(some, add);
  std::ranges::sort(turns, [](const Turn& a, const Turn& b) {
    return std::pair(b.shared, a.place) < std::pair(a.shared, b.place);
  });

  for (const Turn& turn : turns) {
    list_behind(tree, turn.sw);
    if (!find_ways(family, tree, turn.sw)) continue;
    bool found = false;
    for (const Candidate& way : ways_) {
      found = fits(tree, turn.sw, way.slot, behind_);
      if (!found) continue;
      take(family, tree, turn.sw, way.slot);
      moved.push_back(turn.sw);
      lengthened_ = lengthened_ || way.links > least_links_[SwitchIdx{turn.sw}];
      if (beside == Beside::AllOffsets) put_order(tree);  // `fits` of a change reads it
      break;
    }
    if (!found) refused_ += plan_.weight_of_source[turn.sw] * family.weight;
  }
  if (beside == Beside::LowerOffsets && !moved.empty()) put_order(tree);
  return moved;
}

void start_alike(BalancedTrees& trees) {
  for (const TreeFamily& family : trees.plan.families) {
    for (std::uint32_t offset = 1; offset < family.trees; ++offset)
      std::ranges::copy(trees.trees.slots(family.first_tree),
                        trees.trees.slots(family.first_tree + offset).begin());
  }
}

std::optional<unsigned> lead_apart(const Fabric& fabric,
                                   const SwitchGraph& graph,
                                   BalancedTrees& trees,
                                   Layering& layering,
                                   unsigned most,
                                   std::vector<std::string>& notes) {
  TreeGrower grower{fabric, graph, trees.plan, trees.trees};
  std::uint32_t offsets = 0;
  for (const TreeFamily& family : trees.plan.families) {
    offsets = std::max(offsets, family.trees);
    for (std::uint32_t offset = 0; offset < family.trees; ++offset) grower.load(family, offset);
  }
  std::vector<std::uint32_t> rank(graph.switches());
  for (std::uint32_t sw = 0; sw < rank.size(); ++sw) rank[sw] = grower.rank(sw);
  AlmostMinimalSearch search{
      graph, trees.plan, trees.trees, grower.slowness(), grower.loads(), std::move(rank)};
  const AlmostMinimalSearch::Check fits = [&](std::uint32_t tree,
                                              std::uint32_t sw,
                                              std::uint8_t slot,
                                              std::span<const std::uint32_t> sources) {
    const std::uint8_t now = std::exchange(trees.trees.slots(tree)[sw], slot);
    const bool moved = layering.move(tree, sources, most);
    trees.trees.slots(tree)[sw] = now;
    return moved;
  };
  for (std::uint32_t offset = 1; offset < offsets; ++offset) {
    // What paths of the offset before needed where they were before they moved is free again.
    if (!layering.open({})) return std::nullopt;  // a cycle that move() has left: there is none
    for (const TreeFamily& family : trees.plan.families) {
      if (offset >= family.trees) continue;
      static_cast<void>(search.spread(family,
                                      offset,
                                      AlmostMinimalSearch::Beside::LowerOffsets,
                                      trees.trees.near_to_far(family.root),
                                      fits));
    }
  }
  if (!search.has_lengthened()) return std::nullopt;
  notes.emplace_back(kAlmostMinimalNote);
  if (search.count_refused() != 0)
    notes.push_back(fmt::format(
        "{}{}, when all of them were led apart: {} data VLs have no room for the others",
        search.count_refused(),
        kSharingNote,
        most));
  return layering.count_layers();
}

}  // namespace smd
