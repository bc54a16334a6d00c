#include "smd/routing/layered/tree_search.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <ranges>
#include <utility>

namespace smd {

TreeSearch::TreeSearch(const SwitchGraph& graph, TreeGrower& grower, InTrees& trees)
    : graph_(graph),
      grower_(grower),
      trees_(trees),
      hops_(graph.switches(), kUnreached),
      reaches_(graph.switches(), 0),
      cost_(graph.switches(), 0),
      old_(graph.switches(), kNoSlot),
      now_(graph.switches(), kNoSlot),
      layers_(graph.switches(), 0) {}

void TreeSearch::count_hops(std::uint32_t tree) {
  constexpr std::uint32_t kOnTheWay = kUnreached - 1;
  const std::span<std::uint8_t> slots = trees_.slots(tree);
  const std::uint32_t root = trees_.root(tree).value();
  const std::vector<std::uint32_t>& all = trees_.near_to_far(trees_.root(tree));
  for (const std::uint32_t sw : all) hops_[sw] = kUnreached;
  for (const std::uint32_t sw : all) {
    walk_.clear();
    std::uint32_t at = sw;
    while (hops_[at] == kUnreached && slots[at] != kNoSlot) {
      hops_[at] = kOnTheWay;
      walk_.push_back(at);
      at = next_of(at, slots[at]);
    }
    if (hops_[at] == kOnTheWay) slots[walk_.back()] = kNoSlot;
    if (hops_[at] == kUnreached) {
      hops_[at] = 0;
      reaches_[at] = at == root;
    }
    for (std::size_t i = walk_.size(); i-- > 0;) {
      const bool ends = slots[walk_[i]] == kNoSlot;
      hops_[walk_[i]] = ends ? 0 : hops_[at] + 1;
      reaches_[walk_[i]] = !ends && reaches_[at];
      at = walk_[i];
    }
  }
}

void TreeSearch::put_order(std::uint32_t tree) {
  count_hops(tree);
  const std::vector<std::uint32_t>& all = trees_.near_to_far(trees_.root(tree));
  const bool shortest = std::ranges::all_of(
      all, [&](std::uint32_t sw) { return reaches_[sw] && hops_[sw] == grower_.distance(sw); });
  if (shortest) return trees_.set_order(tree, {});
  std::vector<std::uint32_t> order = all;
  std::ranges::stable_sort(order, {}, [&](std::uint32_t sw) { return hops_[sw]; });
  trees_.set_order(tree, std::move(order));
}

void TreeSearch::measure(std::uint32_t tree) {
  const std::span<const std::uint8_t> slots = trees_.slots(tree);
  for (const std::uint32_t sw : trees_.order(tree)) {
    if (slots[sw] == kNoSlot) {
      cost_[sw] = 0;
    } else {
      const std::uint32_t edge = edge_of(sw, slots[sw]);
      cost_[sw] = cost_[graph_.edge(edge).to.value()] + grower_.loads()[edge];
    }
  }
}

// Ways to the switch for neighbours that have none.
void TreeSearch::push_from(const TreeFamily& family, std::uint32_t offset, std::uint32_t sw) {
  for (const SwitchEdge& there : graph_.edges(SwitchIdx{sw})) {
    const std::uint32_t from = there.to.value();
    if (reaches_[from]) continue;
    std::uint8_t slot = 0;
    for (const SwitchEdge& back : graph_.edges(there.to)) {
      const std::uint8_t by = slot++;
      if (back.to.value() != sw || back.port != there.peer_port) continue;
      std::uint32_t uses = 0;
      for (std::uint32_t lower = 0; lower < offset; ++lower)
        uses += trees_.slots(family.first_tree + lower)[from] == by;
      // What carries nothing need not be spread: all of it by the same neighbour.
      const std::uint64_t cost =
          family.weight == 0 ? grower_.rank(sw) : cost_[sw] + grower_.loads()[edge_of(from, by)];
      queue_.push_back({hops_[sw] + 1, by != old_[from], uses, cost, from, by});
      std::push_heap(queue_.begin(), queue_.end(), std::greater{});
    }
  }
}

// What may be where, by the next hops that are or were.
void TreeSearch::flood(std::uint32_t tree, const Layering& layering) {
  const std::vector<std::uint32_t>& order = trees_.order(tree);
  for (const std::uint32_t sw : order) layers_[sw] = layering.layer_bit(tree, sw);
  for (bool grows = true; grows;) {
    grows = false;
    for (const std::uint32_t sw : order | std::views::reverse) {
      for (const std::uint8_t slot : {now_[sw], old_[sw]}) {
        if (slot == kNoSlot) continue;
        std::uint16_t& there = layers_[next_of(sw, slot)];
        grows = grows || (layers_[sw] & ~there) != 0;
        there |= layers_[sw];
      }
    }
  }
}

bool TreeSearch::may_take(std::uint32_t tree,
                          std::uint32_t sw,
                          std::uint8_t slot,
                          std::span<const std::uint8_t> before,
                          Layering& layering) {
  const std::span<const std::uint8_t> slots = trees_.slots(tree);
  for (const std::uint32_t at : trees_.near_to_far(trees_.root(tree))) {
    now_[at] = slots[at];
    old_[at] = before[at] == slots[at] && at != sw ? kNoSlot : before[at];
  }
  flood(tree, layering);
  any_order_ = true;
  needed_.clear();
  grown_.clear();
  stage(sw, slot, layering);
  return layering.take_in(needed_);
}

void TreeSearch::grow_layers(std::uint32_t sw, std::uint16_t layers) {
  const auto more = static_cast<std::uint16_t>(layers & ~layers_[sw]);
  if (more == 0) return;
  grown_.emplace_back(sw, layers_[sw]);
  layers_[sw] |= more;
  for (const std::uint8_t slot : {now_[sw], old_[sw]})
    if (slot != kNoSlot) spread_.emplace_back(edge_of(sw, slot), more);
}

// Packets of these layers may come over the channel.
void TreeSearch::spread(std::uint32_t channel, std::uint16_t layers, const Layering& layering) {
  const std::uint32_t sw = graph_.edge(channel).to.value();
  for (const std::uint8_t slot : {now_[sw], any_order_ ? old_[sw] : kNoSlot})
    if (slot != kNoSlot) needed_.push_back({layering.dependencies().at(channel, slot), layers});
  grow_layers(sw, layers);
}

// What follows when the switch leaves by this slot.
void TreeSearch::stage(std::uint32_t sw, std::uint8_t slot, const Layering& layering) {
  now_[sw] = slot;
  for (const SwitchEdge& there : graph_.edges(SwitchIdx{sw})) {
    const std::uint32_t from = there.to.value();
    std::uint8_t by = 0;
    for (const SwitchEdge& back : graph_.edges(there.to)) {
      if (back.to.value() == sw && back.port == there.peer_port &&
          (now_[from] == by || old_[from] == by)) {
        for (const std::uint8_t out : {slot, any_order_ ? old_[sw] : kNoSlot})
          if (out != kNoSlot)
            needed_.push_back({layering.dependencies().at(edge_of(from, by), out), layers_[from]});
      }
      ++by;
    }
  }
  spread_.emplace_back(edge_of(sw, slot), layers_[sw]);
  while (!spread_.empty()) {
    const auto [channel, layers] = spread_.back();
    spread_.pop_back();
    spread(channel, layers, layering);
  }
}

bool TreeSearch::fits(std::uint32_t sw, std::uint8_t slot, Layering& layering) {
  needed_.clear();
  grown_.clear();
  stage(sw, slot, layering);
  if (layering.take_in(needed_)) return true;
  now_[sw] = kNoSlot;
  for (const auto& [at, before] : grown_ | std::views::reverse) layers_[at] = before;
  return false;
}

TreeSearch::Outcome TreeSearch::complete(const TreeFamily& family,
                                         std::uint32_t offset,
                                         Layering& layering) {
  const std::uint32_t tree = family.first_tree + offset;
  const std::span<std::uint8_t> slots = trees_.slots(tree);
  const std::vector<std::uint32_t>& all = trees_.near_to_far(family.root);
  Outcome completed;
  any_order_ = false;
  std::ranges::fill(reaches_, 0);
  count_hops(tree);
  measure(tree);
  queue_.clear();
  for (const std::uint32_t sw : all) {
    now_[sw] = reaches_[sw] ? slots[sw] : kNoSlot;
    old_[sw] = reaches_[sw] ? kNoSlot : slots[sw];
  }
  flood(tree, layering);
  for (const std::uint32_t sw : all)
    if (reaches_[sw]) push_from(family, offset, sw);
  std::vector<Candidate> refused;
  while (true) {
    if (queue_.empty()) {
      std::erase_if(refused, [&](const Candidate& one) { return reaches_[one.sw] != 0; });
      if (refused.empty()) break;
      place(family, offset, choose_refused(tree, refused, layering, completed), completed);
      continue;
    }
    std::pop_heap(queue_.begin(), queue_.end(), std::greater{});
    const Candidate best = queue_.back();
    queue_.pop_back();
    if (reaches_[best.sw]) continue;
    if (fits(best.sw, best.slot, layering)) {
      place(family, offset, best, completed);
    } else {
      refused.push_back(best);
    }
  }
  put_order(tree);
  return completed;
}

// The best whose path fits its layer once all is written, whatever happens until then; else the
// best.
TreeSearch::Candidate TreeSearch::choose_refused(std::uint32_t tree,
                                                 std::vector<Candidate>& refused,
                                                 Layering& layering,
                                                 Outcome& completed) {
  completed.fits = false;
  std::ranges::sort(refused, {}, &Candidate::key);
  const std::span<std::uint8_t> slots = trees_.slots(tree);
  for (const Candidate& one : refused) {
    const std::uint8_t old = std::exchange(slots[one.sw], one.slot);
    const bool fits = layering.take_in(tree, std::span(&one.sw, 1));
    slots[one.sw] = old;
    if (!fits) continue;
    now_[one.sw] = one.slot;
    layers_[one.sw] = layering.layer_bit(tree, one.sw);
    return one;
  }
  const Candidate& one = refused.front();
  completed.elsewhere.push_back(one.sw);
  now_[one.sw] = one.slot;
  layers_[one.sw] = 0;
  return one;
}

void TreeSearch::place(const TreeFamily& family,
                       std::uint32_t offset,
                       const Candidate& one,
                       Outcome& completed) {
  trees_.slots(family.first_tree + offset)[one.sw] = one.slot;
  reaches_[one.sw] = 1;
  hops_[one.sw] = one.hops;
  const std::uint32_t edge = edge_of(one.sw, one.slot);
  cost_[one.sw] = cost_[graph_.edge(edge).to.value()] + grower_.loads()[edge];
  if (one.differs) completed.changed.push_back(one.sw);
  push_from(family, offset, one.sw);
}

std::vector<std::uint32_t> TreeSearch::shorten(std::uint32_t tree,
                                               std::span<const std::uint8_t> before,
                                               std::span<const std::uint32_t> most,
                                               Layering& layering) {
  const std::span<std::uint8_t> slots = trees_.slots(tree);
  std::vector<std::uint32_t> changed;
  count_hops(tree);
  for (const std::uint32_t sw : std::vector(trees_.order(tree))) {
    if (!reaches_[sw] || hops_[sw] <= most[sw]) continue;
    std::vector<std::pair<std::uint32_t, std::uint8_t>> nearer;
    std::uint8_t slot = 0;
    for (const SwitchEdge& edge : graph_.edges(SwitchIdx{sw})) {
      const std::uint32_t to = edge.to.value();
      if (reaches_[to] && hops_[to] + 1 < hops_[sw]) nearer.emplace_back(hops_[to], slot);
      ++slot;
    }
    std::ranges::sort(nearer);
    const auto found = std::ranges::find_if(
        nearer, [&](const auto& one) { return may_take(tree, sw, one.second, before, layering); });
    if (found == nearer.end()) continue;
    slots[sw] = found->second;
    changed.push_back(sw);
    put_order(tree);
  }
  return changed;
}

}  // namespace smd
