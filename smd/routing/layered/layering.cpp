#include "smd/routing/layered/layering.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "smd/routing/graph/acyclic_graph.h"

namespace smd {
namespace {

// Channels that searches may look at, per dependency that a layer could have.
constexpr std::uint64_t kSearchesPerDependency = 100;

// Whether so many layers hold the rest, each a fifth less than the one before.
bool is_likely(std::size_t left, std::size_t last, unsigned layers) {
  std::size_t room = 0;
  for (unsigned layer = 0; layer < layers; ++layer) {
    last = last * 4 / 5;
    room += last;
  }
  return left <= std::max(room, std::size_t{100});
}

constexpr std::uint64_t kBudget = 20'000'000;

}  // namespace

Layering::Layering(const SwitchGraph& graph, const InTrees& trees, Bundle bundle)
    : trees_(trees),
      dependencies_(graph),
      bundle_(bundle),
      layers_((bundle == Bundle::Pair ? graph.switches() : trees.count()) * graph.switches(),
              kNoPath),
      waiting_(bundle == Bundle::Pair ? graph.switches() : trees.count(), 0),
      carried_(graph.switches(), 0),
      fits_(graph.switches(), 0) {
  for (std::uint32_t tree = 0; tree < trees.count(); ++tree) {
    const std::size_t number = row_of(tree);
    for (const std::uint32_t source : trees.near_to_far(trees.root(tree))) {
      if (source == trees.root(tree).value() || row(number)[source] == kWaiting) continue;
      set_layer(number, source, kWaiting);
    }
  }
}

std::size_t Layering::row_of(std::uint32_t tree) const {
  return bundle_ == Bundle::Pair ? trees_.root(tree).value() : tree;
}

std::uint8_t Layering::layer(std::uint32_t tree, SwitchIdx source) const {
  const std::uint8_t found = layers_[row_of(tree) * trees_.switches() + source.value()];
  return found == kNoPath ? 0 : found;
}

void Layering::set_layer(std::size_t number, std::uint32_t source, std::uint8_t layer) {
  const auto set = [&](std::size_t r, std::size_t s) {
    std::uint8_t& mark = row(r)[s];
    if (mark == kWaiting) --waiting_[r];
    if (layer == kWaiting) ++waiting_[r];
    mark = layer;
  };
  set(number, source);
  if (bundle_ == Bundle::Pair) set(source, number);
}

std::optional<unsigned> Layering::assign(unsigned most, bool only_if_likely) {
  std::vector<std::uint32_t> uses(dependencies_.size(), 0);
  AcyclicGraph layer{dependencies_};
  unsigned number = 0;
  std::size_t before = count_waiting();
  for (std::size_t left = before; left != 0; ++number) {
    if (number == most) return std::nullopt;
    if (only_if_likely && number != 0 && !is_likely(left, before - left, most - number))
      return std::nullopt;
    before = left;
    std::fill(uses.begin(), uses.end(), 0);
    layer.clear();
    std::size_t distinct = 0;
    each_dependency(kWaiting, [&](Dependency dependency, std::uint32_t paths) {
      if (uses[dependency] == 0) {
        layer.set(dependency);
        ++distinct;
      }
      uses[dependency] += paths;
    });
    const auto mark = static_cast<std::uint8_t>(number);
    if (layer.sort()) {
      settle(mark);
      left = 0;
      continue;
    }
    // The last layer would have to take all of it.
    if (number + 1 == most) return std::nullopt;
    const std::uint64_t budget = distinct * kSearchesPerDependency;
    keep_heaviest(dependencies_, uses, layer, budget);
    leave_out_what_is_cut(layer);
    settle(mark);
    layer.clear();
    each_dependency(mark, [&](Dependency dependency, std::uint32_t) { layer.set(dependency); });
    fill_up(layer, mark, budget);
    left = count_waiting();
  }
  return std::max(number, 1u);
}

std::size_t Layering::count_waiting() const {
  return std::accumulate(waiting_.begin(), waiting_.end(), std::size_t{0});
}

// A path fits where the path of its next switch does and its first dependency is in the layer.
void Layering::leave_out_what_is_cut(const AcyclicGraph& layer) {
  for (std::uint32_t tree = 0; tree < trees_.count(); ++tree) {
    const std::size_t number = row_of(tree);
    if (waiting_[number] == 0) continue;
    const std::uint8_t* const slots = trees_.slots(tree).data();
    const std::uint32_t root = trees_.root(tree).value();
    const std::vector<std::uint32_t>& order = trees_.order(tree);
    for (std::size_t at = 1; at < order.size(); ++at) {
      const std::uint32_t sw = order[at];
      const Channel channel = dependencies_.first_of(sw) + slots[sw];
      const std::uint32_t next = dependencies_.to(channel);
      fits_[sw] =
          next == root || (fits_[next] && layer.has(dependencies_.at(channel, slots[next])));
      if (!fits_[sw] && row(number)[sw] == kWaiting) set_layer(number, sw, kLeftOut);
    }
  }
}

// Whoever waits has found a layer.
void Layering::settle(std::uint8_t layer) {
  for (std::size_t number = 0; number < waiting_.size(); ++number) {
    if (waiting_[number] == 0) continue;
    std::replace(row(number), row(number) + trees_.switches(), kWaiting, layer);
    waiting_[number] = 0;
  }
}

void Layering::fill_up(AcyclicGraph& layer, std::uint8_t number, std::uint64_t budget) {
  for (std::size_t r = 0; r < waiting_.size(); ++r) {
    const std::size_t first = bundle_ == Bundle::Pair ? r + 1 : 0;
    for (std::size_t at = first; at < trees_.switches(); ++at) {
      if (row(r)[at] != kLeftOut) continue;
      const auto source = static_cast<std::uint32_t>(at);
      list_dependencies(r, source);
      set_layer(r, source, layer.add_all(needed_, budget) ? number : kWaiting);
    }
  }
}

void Layering::list_dependencies(std::size_t row, std::uint32_t source) {
  needed_.clear();
  each_path(row, source, [&](std::uint32_t tree, std::uint32_t from) { list_path(tree, from); });
}

void Layering::list_meanwhile(std::size_t row, std::uint32_t source) {
  needed_.clear();
  if (before_.empty()) return;
  each_path(row, source, [&](std::uint32_t tree, std::uint32_t from) {
    const std::uint8_t* const now = trees_.slots(tree).data();
    const std::uint8_t* const old = before_.data() + tree * trees_.switches();
    std::vector<std::uint32_t> reached(1, from);
    for (std::size_t at = 0; at < reached.size(); ++at) {
      const std::uint32_t sw = reached[at];
      for (const std::uint8_t slot : {now[sw], old[sw]}) {
        if (slot == kNoSlot) continue;
        const Channel channel = dependencies_.first_of(sw) + slot;
        const std::uint32_t next = dependencies_.to(channel);
        if (now[next] != kNoSlot) needed_.push_back(dependencies_.at(channel, now[next]));
        if (std::ranges::count(reached, next) == 0) reached.push_back(next);
      }
    }
  });
}

void Layering::list_path(std::uint32_t tree, std::uint32_t source) {
  const std::uint8_t* const slots = trees_.slots(tree).data();
  std::uint32_t sw = source;
  if (slots[sw] == kNoSlot) return;
  Channel channel = dependencies_.first_of(sw) + slots[sw];
  for (sw = dependencies_.to(channel); slots[sw] != kNoSlot; sw = dependencies_.to(channel)) {
    needed_.push_back(dependencies_.at(channel, slots[sw]));
    channel = dependencies_.first_of(sw) + slots[sw];
  }
}

// Layering that starts from layers in force.

bool Layering::put(std::uint32_t tree, SwitchIdx source, std::uint8_t layer) {
  const std::uint8_t now = row(row_of(tree))[source.value()];
  if (now == kWaiting) set_layer(row_of(tree), source.value(), layer);
  return now == kWaiting || now == kNoPath || now == layer;
}

bool Layering::open(std::span<const std::uint8_t> before) {
  before_ = before;
  open_.clear();
  budget_ = kBudget;
  for (std::uint8_t number = 0; number < kLeftOut; ++number) {
    if (std::ranges::none_of(
            layers_, [&](std::uint8_t layer) { return layer >= number && layer < kLeftOut; }))
      break;
    open_.emplace_back(dependencies_);
    each_dependency(number,
                    [&](Dependency dependency, std::uint32_t) { open_.back().set(dependency); });
    if (!open_.back().sort()) return false;
  }
  return true;
}

// All of needed_ into the layer, or nothing. What is new there joins taken_.
bool Layering::take_needed(std::uint8_t layer) {
  std::erase_if(needed_, [&](Dependency dependency) { return open_[layer].has(dependency); });
  std::ranges::sort(needed_);
  const auto twice = std::ranges::unique(needed_);
  needed_.erase(twice.begin(), twice.end());
  if (!open_[layer].add_all(needed_, budget_)) return false;
  for (const Dependency dependency : needed_) taken_.push_back({dependency, layer});
  return true;
}

bool Layering::take_in(std::span<const LayeredUse> all) {
  taken_.clear();
  for (std::uint8_t layer = 0; layer < open_.size(); ++layer) {
    const auto bit = static_cast<std::uint16_t>(1u << layer);
    needed_.clear();
    for (const LayeredUse& needed : all) {
      if ((needed.layers & bit) != 0) needed_.push_back(needed.dependency);
    }
    if (take_needed(layer)) continue;
    for (const auto& [dependency, of] : taken_) open_[of].remove(dependency);
    return false;
  }
  return true;
}

bool Layering::take_in(std::uint32_t tree, std::span<const std::uint32_t> sources) {
  wanted_.clear();
  for (const std::uint32_t source : sources) {
    const std::uint16_t bit = layer_bit(tree, source);
    if (bit == 0) continue;
    needed_.clear();
    list_path(tree, source);
    for (const Dependency dependency : needed_) wanted_.push_back({dependency, bit});
  }
  return take_in(wanted_);
}

bool Layering::move(std::uint32_t tree, std::span<const std::uint32_t> sources, unsigned most) {
  taken_.clear();
  std::vector<std::uint8_t> found;
  const auto fits = [&](std::uint32_t source, std::uint8_t layer) {
    if (layer == open_.size()) open_.emplace_back(dependencies_);
    needed_.clear();
    list_path(tree, source);
    return take_needed(layer);
  };
  for (const std::uint32_t source : sources) {
    const std::uint8_t own = row(tree)[source];
    std::optional<std::uint8_t> layer;
    if (own < open_.size() && fits(source, own)) layer = own;
    for (std::uint8_t other = 0; !layer && other < most; ++other) {
      if (other != own && fits(source, other)) layer = other;
    }
    if (!layer) {
      for (const auto& [dependency, of] : taken_) open_[of].remove(dependency);
      return false;
    }
    found.push_back(*layer);
  }
  for (std::size_t i = 0; i < sources.size(); ++i) set_layer(tree, sources[i], found[i]);
  return true;
}

unsigned Layering::count_layers() const {
  unsigned used = 1;
  for (const std::uint8_t layer : layers_) {
    if (layer < kLeftOut) used = std::max(used, layer + 1u);
  }
  return used;
}

std::uint16_t Layering::layer_bit(std::uint32_t tree, std::uint32_t source) const {
  const std::uint8_t layer = layers_[row_of(tree) * trees_.switches() + source];
  return layer < open_.size() ? static_cast<std::uint16_t>(1u << layer) : std::uint16_t{0};
}

void Layering::reopen(std::uint32_t tree, SwitchIdx source) {
  const std::size_t number = row_of(tree);
  const std::uint8_t now = row(number)[source.value()];
  if (now >= kLeftOut) return;
  reopened_.push_back({number, source.value(), now});
  set_layer(number, source.value(), kWaiting);
}

std::optional<unsigned> Layering::resume(unsigned most) {
  std::vector<AcyclicGraph> layers;
  std::uint64_t budget = kBudget;
  for (std::uint8_t number = 0; number < most; ++number) {
    layers.emplace_back(dependencies_);
    if (std::find(layers_.begin(), layers_.end(), number) == layers_.end()) continue;
    each_dependency(number,
                    [&](Dependency dependency, std::uint32_t) { layers.back().set(dependency); });
    if (!layers.back().sort()) return std::nullopt;
  }
  const bool too_many = std::ranges::any_of(
      layers_, [&](std::uint8_t layer) { return layer >= most && layer < kLeftOut; });
  if (too_many) return std::nullopt;

  // Where there is room beside what may still happen by the paths of before, else where there is
  // any.
  const auto find_layer = [&]() -> std::optional<std::uint8_t> {
    for (const bool beside : {true, false}) {
      for (std::size_t at = 0; at < layers.size(); ++at) {
        if (beside && at < open_.size() && !open_[at].add_all(meanwhile_, budget)) continue;
        if (layers[at].add_all(needed_, budget)) return static_cast<std::uint8_t>(at);
      }
    }
    return std::nullopt;
  };
  for (const Reopened& bundle : reopened_) {
    if (row(bundle.row)[bundle.source] != kWaiting) continue;
    list_dependencies(bundle.row, bundle.source);
    if (layers[bundle.layer].add_all(needed_, budget))
      set_layer(bundle.row, bundle.source, bundle.layer);
  }
  for (std::size_t number = 0; number < waiting_.size(); ++number) {
    if (waiting_[number] == 0) continue;
    for (std::uint32_t source = 0; source < trees_.switches(); ++source) {
      if (row(number)[source] != kWaiting) continue;
      list_meanwhile(number, source);
      meanwhile_.swap(needed_);
      list_dependencies(number, source);
      const std::optional<std::uint8_t> found = find_layer();
      if (!found) return std::nullopt;
      set_layer(number, source, *found);
    }
  }
  return count_layers();
}

}  // namespace smd
