#include "smd/routing/keep/relief.h"

#include <algorithm>

namespace smd {
namespace {

// Channels that could not be relieved in one go.
constexpr std::size_t kMostStuck = 16;

// Looked at to relieve one channel.
constexpr std::size_t kMostTrees = 1024;

// Moves that help only with a second one.
constexpr std::size_t kMostPassedOn = 64;

constexpr std::uint32_t kNoWay = MovableTrees::kNoWay;

}  // namespace

Relief::Relief(const SwitchGraph& graph,
               const IndexVector<SwitchIdx, std::uint32_t>& sources,
               const std::vector<std::uint32_t>& costs,
               std::vector<std::uint64_t>& load,
               MovableTrees& trees)
    : graph_(graph),
      sources_(sources),
      costs_(costs),
      load_(load),
      trees_(trees),
      from_(graph.edge_count()),
      way_(graph.switches()),
      depth_(graph.switches()),
      flow_(graph.switches()),
      passes_(graph.switches()) {
  for (const SwitchIdx sw : sources.indices()) {
    const auto edges = graph.edges(sw);
    std::fill_n(from_.begin() + graph.first_edge(sw), edges.size(), sw.value());
  }
}

void Relief::run(const LoadAim& aim) {
  run(aim.best, Which::Changed);
  run(aim.enough, Which::All);
}

void Relief::run(std::uint64_t limit, Which which) {
  which_ = which;
  limit_ = limit;
  passed_on_ = 0;
  full_ = {};
  for (std::uint32_t edge = 0; edge < load_.size(); ++edge) {
    if (load_[edge] > limit) full_.emplace(load_[edge], ~edge);
  }
  std::size_t stuck = 0;
  while (!full_.empty() && stuck < kMostStuck) {
    const auto [load, place] = full_.top();
    full_.pop();
    const std::uint32_t edge = ~place;
    if (load_[edge] != load) continue;  // queued again when that changed
    only_evener_ = true;
    lighten(edge, limit);
    if (load_[edge] != load || which == Which::Changed) continue;
    only_evener_ = false;
    lighten(edge, limit);
    if (load_[edge] == load && !pass_on(edge)) ++stuck;
  }
}

void Relief::lighten(std::uint32_t full, std::uint64_t limit) {
  const SwitchIdx sw{from_[full]};
  std::size_t tried = 0;
  for (std::uint32_t tree = 0; tree < trees_.count() && load_[full] > limit; ++tree) {
    if (trees_.draws(tree) == 0 || trees_.edge(tree, sw) != full) continue;
    if (which_ == Which::Changed && !trees_.has_changed(tree)) continue;
    if (++tried > kMostTrees) return;
    read(tree);
    relieve_tree(tree, full, limit);
  }
}

void Relief::relieve_tree(std::uint32_t tree, std::uint32_t full, std::uint64_t limit) {
  const std::uint32_t before = from_[full];
  const std::uint32_t draws = trees_.draws(tree);
  passes_[near_to_far_.front()] = 0;
  for (std::size_t at = 1; at < near_to_far_.size() && load_[full] > limit; ++at) {
    const std::uint32_t sw = near_to_far_[at];
    passes_[sw] = sw == before || passes_[graph_.edge(way_[sw]).to.value()];
    if (!passes_[sw] || flow_[sw] == 0) continue;
    if (which_ == Which::Changed && !trees_.has_changed(tree, SwitchIdx{sw})) continue;
    const std::uint64_t paths = flow_[sw] * draws;
    list_ways(SwitchIdx{sw}, paths, load_[full]);
    const auto taken = std::ranges::find_if(
        ways_, [&](const auto& way) { return trees_.take(tree, SwitchIdx{sw}, way.second); });
    if (taken == ways_.end()) continue;
    move(SwitchIdx{sw}, taken->second, draws);
    passes_[sw] = 0;
  }
}

bool Relief::pass_on(std::uint32_t full) {
  const SwitchIdx before{from_[full]};
  const std::uint64_t much = load_[full];
  std::size_t tried = 0;
  for (std::uint32_t tree = 0; tree < trees_.count(); ++tree) {
    if (trees_.draws(tree) == 0 || trees_.edge(tree, before) != full) continue;
    if (++tried > kMostTrees) return false;
    read(tree);
    mark_passing(full);
    for (const std::uint32_t place : near_to_far_) {
      const SwitchIdx sw{place};
      if (!passes_[place] || flow_[place] == 0) continue;
      const std::uint64_t paths = flow_[place] * trees_.draws(tree);
      for (std::size_t at = 0; at < graph_.edges(sw).size(); ++at) {
        const auto edge = static_cast<std::uint32_t>(graph_.first_edge(sw) + at);
        if (!is_other_way(place, edge) || find_peak(sw, edge, paths, much + 1) != much) continue;
        if (++passed_on_ > kMostPassedOn) return false;
        if (pass_on(full, tree, sw, edge)) return true;
        read(tree);
        mark_passing(full);
      }
    }
  }
  return false;
}

bool Relief::pass_on(std::uint32_t full, std::uint32_t tree, SwitchIdx sw, std::uint32_t edge) {
  const std::uint64_t much = load_[full];
  const std::uint32_t back = way_[sw.value()];
  if (!trees_.take(tree, sw, edge)) return false;
  std::vector<std::uint32_t> as_full;
  move(sw, edge, trees_.draws(tree));
  for (std::uint32_t at = sw.value(); way_[at] != kNoWay; at = graph_.edge(way_[at]).to.value()) {
    if (load_[way_[at]] == much) as_full.push_back(way_[at]);
  }
  const auto is_below = [&](std::uint32_t channel) {
    if (load_[channel] == much) lighten(channel, much - 1);
    return load_[channel] < much;
  };
  if (std::ranges::all_of(as_full, is_below)) return true;
  read(tree);
  if (way_[sw.value()] == edge && trees_.take(tree, sw, back)) move(sw, back, trees_.draws(tree));
  return false;
}

void Relief::move(SwitchIdx sw, std::uint32_t edge, std::uint32_t draws) {
  const std::uint64_t paths = flow_[sw.value()];
  const auto shift = [&](std::uint32_t way, bool is_new) {
    const std::uint64_t moved = paths * draws * costs_[way];
    load_[way] += is_new ? moved : ~moved + 1;
    if (load_[way] > limit_) full_.emplace(load_[way], ~way);
  };
  shift(way_[sw.value()], false);
  shift(edge, true);
  Fork fork = begin_fork(sw, edge);
  way_[sw.value()] = edge;
  while (!fork.met()) {
    const auto [way, is_new] = advance(fork);
    flow_[from_[way]] += is_new ? paths : ~paths + 1;
    shift(way, is_new);
  }
}

}  // namespace smd
