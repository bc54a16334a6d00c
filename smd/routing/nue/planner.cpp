#include "smd/routing/nue/planner.h"

#include <algorithm>

#include "smd/routing/nue/locality.h"
#include "smd/routing/orientation_repair.h"

namespace smd {
namespace {

constexpr std::size_t kNoRow = ~std::size_t{0};

// How often the switches that a tree leaves out are given escape routes before all are.
constexpr int kEscapeRounds = 6;

// Lanes on which a switch without shortest routes is tried, beginning with its neighbourhood's.
constexpr unsigned kMostLanesTried = 2;

}  // namespace

NuePlanner::NuePlanner(const SwitchGraph& graph,
                       const Channels& channels,
                       const Targets& targets,
                       const std::vector<std::uint32_t>& costs)
    : graph_(graph),
      channels_(channels),
      targets_(targets),
      costs_(costs),
      drawn_(graph.switches(), 0),
      islands_(find_islands(graph)),
      island_of_(graph.switches(), 0),
      row_of_(graph.switches(), kNoRow),
      lane_of_(graph.switches(), 0),
      growth_(channels),
      priced_(channels),
      settled_(graph.switches(), kUnreached),
      flow_(graph.switches(), 0) {
  for (std::uint32_t i = 0; i < islands_.size(); ++i) {
    for (const SwitchIdx sw : islands_[i]) island_of_[sw] = i;
  }
  for (const SwitchIdx sw : targets.of.indices()) {
    for (const Target& target : targets.of[sw]) drawn_[sw] += target.host ? target.draws : 0;
  }
}

NuePlanner::Homes NuePlanner::begin(unsigned lanes) {
  lanes_.clear();
  planned_.clear();
  slots_.clear();
  row_of_.assign(channels_.switches(), kNoRow);
  detours_.assign(channels_.switches(), 0);
  load_.assign(channels_.size(), 0);
  links_ = 0;
  price_.clear();

  Homes homes{.by_lane = std::vector<std::vector<SwitchIdx>>(lanes), .without_hosts = {}};
  std::vector<std::vector<SwitchIdx>> roots(lanes);  // one per island
  for (const std::vector<SwitchIdx>& island : islands_) {
    std::vector<SwitchIdx> with_hosts;
    for (const SwitchIdx sw : island) {
      if (!targets_.of[sw].empty())
        (targets_.hosts[sw] != 0 ? with_hosts : homes.without_hosts).push_back(sw);
    }
    const bool none = with_hosts.empty();
    const auto parts = split_by_locality(graph_, none ? island : std::move(with_hosts), lanes);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      roots[lane].push_back(parts[lane].empty() ? island.front() : parts[lane].front());
      if (none) continue;
      std::vector<SwitchIdx>& home = homes.by_lane[lane];
      home.insert(home.end(), parts[lane].begin(), parts[lane].end());
    }
  }
  for (const std::vector<SwitchIdx>& of_lane : roots) {
    EscapeTree escape{channels_, of_lane};
    TurnSet turns{channels_, escape.list_channels()};
    for (const auto& [in, out] : escape.list_turns()) turns.add(in, out);
    turns.keep();
    lanes_.push_back({std::move(turns), std::move(escape), TurnCounts{channels_}});
  }
  return homes;
}

bool NuePlanner::plan(unsigned lanes, bool shortest) {
  even_ = false;
  return plan(begin(lanes), shortest, ~std::uint64_t{0});
}

bool NuePlanner::plan_in_strides(std::size_t stride, std::uint64_t most) {
  even_ = true;
  Homes homes = begin(1);
  std::vector<SwitchIdx>& home = homes.by_lane.front();
  std::ranges::sort(home);
  std::vector<SwitchIdx> ordered;
  for (std::size_t first = 0; first < std::min(stride, home.size()); ++first) {
    for (std::size_t at = first; at < home.size(); at += stride) ordered.push_back(home[at]);
  }
  home = std::move(ordered);
  return plan(homes, false, most);
}

bool NuePlanner::plan(const Homes& homes, bool shortest, std::uint64_t most_links) {
  const auto lanes = static_cast<unsigned>(lanes_.size());
  std::vector<SwitchIdx> late, longer;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    for (const SwitchIdx destination : homes.by_lane[lane]) {
      if (plan_shortest(destination, lane)) continue;
      if (shortest) return false;
      lane_of_[destination] = static_cast<std::uint8_t>(lane);
      late.push_back(destination);
    }
  }
  for (const SwitchIdx destination : late) {
    const unsigned home = lane_of_[destination];
    bool found = false;
    for (unsigned step = 1; step < lanes && !found; ++step)
      found = plan_shortest(destination, (home + step) % lanes);
    if (!found) longer.push_back(destination);
  }
  for (const SwitchIdx destination : longer) {
    if (even_) {
      complete(destination, lanes_.front());
      accept(destination, 0);
    } else {
      plan_least_detour(destination);
    }
    if (links_ > most_links) return false;
  }
  for (std::size_t i = 0; i < homes.without_hosts.size(); ++i) {
    const auto lane = static_cast<unsigned>(i % lanes);
    complete(homes.without_hosts[i], lanes_[lane]);
    accept(homes.without_hosts[i], lane);
  }
  return true;
}

bool NuePlanner::plan_shortest(SwitchIdx destination, unsigned lane) {
  growth_.forget_settled();
  if (!growth_.grow(lanes_[lane].turns, destination, load_, {.shortest = true, .even = even_})) {
    lanes_[lane].turns.take_back();
    return false;
  }
  accept(destination, lane);
  return true;
}

void NuePlanner::plan_least_detour(SwitchIdx destination) {
  const auto least = compute_distances(graph_, {&destination, 1});
  unsigned best = 0;
  std::uint64_t shortest = ~std::uint64_t{0};
  const unsigned home = lane_of_[destination];
  const auto count = static_cast<unsigned>(lanes_.size());
  for (unsigned step = 0; step < std::min(count, kMostLanesTried) && shortest != 0; ++step) {
    const unsigned lane = (home + step) % count;
    complete(destination, lanes_[lane]);
    const std::uint64_t detours = measure_detours(least);
    if (count == 1) {
      detours_[destination] = detours;
      return accept(destination, lane);
    }
    lanes_[lane].turns.take_back();
    if (detours >= shortest) continue;
    shortest = detours;
    best = lane;
  }
  complete(destination, lanes_[best]);
  detours_[destination] = measure_detours(least);
  accept(destination, best);
}

void NuePlanner::complete(SwitchIdx destination, Lane& lane) {
  const std::vector<SwitchIdx>& island = islands_[island_of_[destination]];
  growth_.forget_settled();
  for (const SwitchIdx sw : island) settled_[sw] = kUnreached;
  settled_[destination] = 0;
  lane.escape.aim_at(destination);
  const GrowthRules rules{.fitting = targets_.hosts[destination] == 0, .even = even_};
  for (int round = 0;; ++round) {
    growth_.grow(lane.turns, destination, load_, rules);
    if (growth_.tree().order.size() == island.size()) return;
    lane.turns.take_back();
    for (const SwitchIdx sw : island) {
      if (growth_.tree().depth[sw] == kUnreached || round >= kEscapeRounds)
        settle_along(lane.escape, sw);
    }
  }
}

void NuePlanner::settle_along(const EscapeTree& escape, SwitchIdx sw) {
  walk_.clear();
  for (; settled_[sw] == kUnreached; sw = channels_.to[escape.exit(sw)]) walk_.push_back(sw);
  std::uint32_t depth = settled_[sw];
  for (std::size_t at = walk_.size(); at-- > 0;) {
    settled_[walk_[at]] = ++depth;
    growth_.settle(walk_[at], escape.exit(walk_[at]), depth);
  }
}

void NuePlanner::accept(SwitchIdx destination, unsigned lane, const GrownTree& tree) {
  lanes_[lane].turns.keep();
  lane_of_[destination] = static_cast<std::uint8_t>(lane);
  if (row_of_[destination] == kNoRow) {
    row_of_[destination] = planned_.size();
    planned_.push_back(destination);
    slots_.resize(slots_.size() + channels_.switches(), kNoSlot);
  }
  std::uint8_t* const slots = slots_.data() + row_of_[destination] * channels_.switches();
  for (std::size_t at = 1; at < tree.order.size(); ++at) {
    const SwitchIdx sw = tree.order[at];
    slots[sw.value()] = static_cast<std::uint8_t>(channels_.slot(tree.exit[sw]));
  }
  lanes_[lane].counts.add(tree);
  change_load(tree, destination, true);
}

void NuePlanner::read(SwitchIdx destination, GrownTree& tree) const {
  const std::uint8_t* const slots = slots_.data() + row_of_[destination] * channels_.switches();
  tree.exit.assign(channels_.switches(), kNoChannel);
  tree.depth.assign(channels_.switches(), kUnreached);
  tree.order.assign(1, destination);
  tree.depth[destination] = 0;
  for (std::size_t at = 0; at < tree.order.size(); ++at) {
    const SwitchIdx sw = tree.order[at];
    for (Channel c = channels_.first[sw.value()]; c < channels_.first[sw.value() + 1]; ++c) {
      const SwitchIdx far = channels_.to[c];
      if (tree.exit[far] != kNoChannel || slots[far.value()] == kNoSlot) continue;
      if (channels_.first[far.value()] + slots[far.value()] != channels_.reverse[c]) continue;
      tree.exit[far] = channels_.reverse[c];
      tree.depth[far] = tree.depth[sw] + 1;
      tree.order.push_back(far);
    }
  }
}

}  // namespace smd
