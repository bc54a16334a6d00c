#include "smd/routing/trees/rebalance.h"

#include <algorithm>
#include <cmath>

#include "smd/routing/trees/tree_balance.h"

namespace smd {
namespace {

bool says_something(const Imbalance& before, std::span<const std::uint64_t> load) {
  return before.peak > 0 && load.size() <= before.channels;
}

// Looked at to rebalance one channel.
constexpr std::size_t kMostTrees = 1024;

// Switches whose paths are followed before a tree is read.
constexpr std::size_t kFewChanged = 8;

// Moves that help only with a second one.
constexpr std::size_t kMostPassedOn = 64;

// A pass over all trees that takes less than this part of the fullest channel is the last one.
constexpr std::uint64_t kLeastGain = 64;

// Of the channels: where fewer are too full they are looked at one by one.
constexpr std::size_t kFew = 32;

// Trees times switches up to which passes save no time that anybody would notice.
constexpr std::size_t kSmall = 1u << 16;

// Channels that nothing rebalances. After the passes the fullest ones are mostly such.
constexpr std::size_t kMostStuckAfterPasses = 4;

// Of trees and of switches of trees that are looked at, over all channels: well under a second.
constexpr std::uint64_t kMostSteps = 1u << 26;

}  // namespace

std::uint64_t find_least_peak(const SwitchGraph& graph,
                              const Traffic& traffic,
                              const std::vector<std::uint32_t>& costs,
                              std::span<const std::uint64_t> load) {
  const auto& [sources, demand] = traffic;
  std::uint64_t all_sources = 0, all_demand = 0;
  for (const SwitchIdx sw : sources.indices()) {
    all_sources += sources[sw];
    all_demand += demand[sw];
  }
  double least = 0, all_width = 0, all_paths = 0;  // widths in links that cost 1
  for (const SwitchIdx sw : sources.indices()) {
    const auto in = static_cast<double>(demand[sw] * (all_sources - sources[sw]));
    const auto out = static_cast<double>(sources[sw] * (all_demand - demand[sw]));
    double width = 0;
    for (std::size_t at = 0; at < graph.edges(sw).size(); ++at) {
      const std::size_t edge = graph.first_edge(sw) + at;
      width += 1.0 / costs[edge];
      all_paths += static_cast<double>(load[edge]) / costs[edge];
    }
    if (width > 0) least = std::max(least, std::max(in, out) / width);
    all_width += width;
  }
  if (all_width > 0) least = std::max(least, all_paths / all_width);
  return static_cast<std::uint64_t>(least);
}

bool is_uneven(const SwitchGraph& graph,
               const Targets& targets,
               const std::vector<std::uint32_t>& costs,
               std::span<const std::uint64_t> load) {
  if (load.empty()) return false;
  const Demand demand = find_demand(targets);
  Traffic traffic{.sources = demand.sends, .demand = {}};
  for (const std::uint32_t receives : demand.receives) traffic.demand.push_back(receives);
  const std::uint64_t least = find_least_peak(graph, traffic, costs, load);
  return std::ranges::max(load) > find_load_target(least, {}, load).best;
}

Imbalance measure_imbalance(std::span<const std::uint64_t> load) {
  std::uint64_t highest = 0, sum = 0;
  for (const std::uint64_t paths : load) {
    highest = std::max(highest, paths);
    sum += paths;
  }
  if (sum == 0) return {};
  return {.peak = static_cast<double>(highest) * static_cast<double>(load.size()) /
                  static_cast<double>(sum),
          .channels = static_cast<std::uint32_t>(load.size())};
}

LoadTarget find_load_target(std::uint64_t least_peak,
                            const Imbalance& before,
                            std::span<const std::uint64_t> load) {
  const std::uint64_t best = least_peak + least_peak / 32;
  if (!says_something(before, load)) return {best, best};
  double sum = 0;
  for (const std::uint64_t paths : load) sum += static_cast<double>(paths);
  const double as_before = before.peak * sum / static_cast<double>(load.size());
  return {best, std::max(best, static_cast<std::uint64_t>(std::llround(as_before)))};
}

Imbalance carry_imbalance(const Imbalance& before, std::span<const std::uint64_t> load) {
  return says_something(before, load) ? before : measure_imbalance(load);
}

LoadRebalancer::LoadRebalancer(const SwitchGraph& graph,
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
      read_(graph.switches(), 0),
      next_(graph.switches()),
      depth_(graph.switches()),
      flow_(graph.switches()),
      passes_(graph.switches()),
      peak_on_way_(graph.switches()) {
  for (const SwitchIdx sw : sources.indices()) {
    const auto edges = graph.edges(sw);
    std::fill_n(from_.begin() + graph.first_edge(sw), edges.size(), sw.value());
  }
  near_to_far_.reserve(graph.switches());  // one reading may begin while another is gone through
}

void LoadRebalancer::count_loads() {
  for (std::uint32_t tree = 0; tree < trees_.count(); ++tree) {
    read(tree);
    for (std::size_t at = 1; at < near_to_far_.size(); ++at) {
      const std::uint32_t edge = next_[near_to_far_[at]];
      load_[edge] += flow_[near_to_far_[at]] * trees_.demand(tree) * costs_[edge];
    }
  }
  steps_ = 0;
}

void LoadRebalancer::run(const LoadTarget& aim) {
  run(aim.best, Which::Changed);
  run(aim.enough, Which::All);
}

void LoadRebalancer::run_from_scratch(std::uint64_t limit) {
  if (std::size_t{trees_.count()} * depth_.size() <= kSmall) return run(limit, Which::All);
  which_ = Which::All;
  limit_ = limit;
  only_evening_ = true;
  const auto many_are_full = [&] {
    const auto is_full = [limit](std::uint64_t load) { return load > limit; };
    return static_cast<std::size_t>(std::ranges::count_if(load_, is_full)) > load_.size() / kFew;
  };
  std::uint64_t before = kNever;
  for (std::uint64_t peak; many_are_full() && steps_ < kMostSteps; before = peak) {
    peak = std::ranges::max(load_);
    if (peak >= before - before / kLeastGain) break;
    for (std::uint32_t tree = 0; tree < trees_.count(); ++tree)
      even(tree, std::max(limit, peak / 2));
  }
  run(limit, Which::All, kMostStuckAfterPasses);
}

void LoadRebalancer::run_settling(std::uint64_t limit) {
  settles_idle_ = true;
  run(limit, Which::All, kMostStuckAfterPasses);
  settles_idle_ = false;
}

// Near to far, so that those behind it see where a switch now sends.
void LoadRebalancer::settle_idle(std::uint32_t tree) {
  peak_on_way_[near_to_far_.front()] = 0;
  for (std::size_t at = 1; at < near_to_far_.size(); ++at) {
    const std::uint32_t sw = near_to_far_[at];
    const auto find_peak_by = [&](std::uint32_t edge) {
      return std::max(load_[edge], peak_on_way_[graph_.edge(edge).to.value()]);
    };
    peak_on_way_[sw] = find_peak_by(next_[sw]);
    if (flow_[sw] != 0) continue;
    std::uint32_t best = next_[sw];
    const std::uint32_t first = graph_.first_edge(SwitchIdx{sw});
    for (std::uint32_t edge = first; edge < first + graph_.edges(SwitchIdx{sw}).size(); ++edge) {
      const bool nearer = depth_[graph_.edge(edge).to.value()] < depth_[sw];
      if (nearer && find_peak_by(edge) < find_peak_by(best)) best = edge;
    }
    if (best == next_[sw] || !trees_.take(tree, SwitchIdx{sw}, best)) continue;
    next_[sw] = best;
    peak_on_way_[sw] = find_peak_by(best);
  }
}

void LoadRebalancer::even(std::uint32_t tree, std::uint64_t limit) {
  const std::uint32_t demand = trees_.demand(tree);
  if (demand == 0) return;
  read(tree);
  full_ = {};
  std::ranges::fill(passes_, 0);
  peak_on_way_[near_to_far_.front()] = 0;
  for (std::size_t at = 1; at < near_to_far_.size(); ++at) {
    const std::uint32_t sw = near_to_far_[at];
    const auto find_peak_on_way = [&] {
      return std::max(load_[next_[sw]], peak_on_way_[graph_.edge(next_[sw]).to.value()]);
    };
    peak_on_way_[sw] = find_peak_on_way();
    if (peak_on_way_[sw] <= limit || flow_[sw] == 0) continue;
    list_candidates(SwitchIdx{sw}, flow_[sw] * demand, peak_on_way_[sw]);
    const auto taken = std::ranges::find_if(candidates_, [&](const auto& edge) {
      return trees_.take(tree, SwitchIdx{sw}, edge.second);
    });
    if (taken == candidates_.end()) continue;
    move(SwitchIdx{sw}, taken->second, demand);
    peak_on_way_[sw] = find_peak_on_way();
  }
}

void LoadRebalancer::run(std::uint64_t limit, Which which, std::size_t most_stuck) {
  which_ = which;
  limit_ = limit;
  passed_on_ = 0;
  full_ = {};
  movable_.clear();
  for (std::uint32_t tree = 0; tree < trees_.count(); ++tree) {
    if (trees_.demand(tree) != 0 && (which == Which::All || trees_.has_changed(tree)))
      movable_.push_back(tree);
  }
  list_changed();
  for (std::uint32_t edge = 0; edge < load_.size(); ++edge) {
    if (load_[edge] > limit) full_.emplace(load_[edge], ~edge);
  }
  std::size_t stuck = 0;
  while (!full_.empty() && stuck < most_stuck && steps_ < kMostSteps) {
    const auto [load, place] = full_.top();
    full_.pop();
    const std::uint32_t edge = ~place;
    if (load_[edge] != load) continue;  // queued again when that changed
    only_evening_ = true;
    lighten(edge, limit);
    if (load_[edge] != load || which == Which::Changed) continue;
    only_evening_ = false;
    lighten(edge, limit);
    if (load_[edge] == load && !pass_on(edge)) ++stuck;
  }
}

void LoadRebalancer::lighten(std::uint32_t full, std::uint64_t limit) {
  const SwitchIdx sw{from_[full]};
  std::size_t tried = 0;
  for (const std::uint32_t tree : movable_) {
    if (load_[full] <= limit) return;
    ++steps_;
    if (trees_.edge(tree, sw) != full) continue;
    if (++tried > kMostTrees) return;
    if (!may_move(tree, full)) continue;
    if (settles_idle_ || !read_passing(tree, full)) read(tree);
    if (settles_idle_) settle_idle(tree);
    rebalance_tree(tree, full, limit);
  }
}

void LoadRebalancer::list_changed() {
  changed_.clear();
  if (which_ != Which::Changed) return;
  for (const SwitchIdx sw : sources_.indices()) {
    if (trees_.may_have_changed(sw)) changed_.push_back(sw);
  }
  if (changed_.size() > kFewChanged) changed_.clear();
}

// A tree is read for those alone that have changed and whose paths pass the full channel.
bool LoadRebalancer::may_move(std::uint32_t tree, std::uint32_t full) const {
  return changed_.empty() || std::ranges::any_of(changed_, [&](SwitchIdx sw) {
           if (!trees_.has_changed(tree, sw)) return false;
           std::uint32_t edge = trees_.edge(tree, sw);
           for (std::size_t links = 0; edge != full && edge != kNoEdge && links < depth_.size();
                ++links)
             edge = trees_.edge(tree, graph_.edge(edge).to);
           return edge == full;
         });
}

void LoadRebalancer::rebalance_tree(std::uint32_t tree, std::uint32_t full, std::uint64_t limit) {
  const std::uint32_t before = from_[full];
  const std::uint32_t demand = trees_.demand(tree);
  passes_[near_to_far_.front()] = 0;
  for (std::size_t at = 1; at < near_to_far_.size() && load_[full] > limit; ++at) {
    const std::uint32_t sw = near_to_far_[at];
    passes_[sw] = sw == before || passes_[graph_.edge(next_[sw]).to.value()];
    if (!passes_[sw] || flow_[sw] == 0) continue;
    if (which_ == Which::Changed && !trees_.has_changed(tree, SwitchIdx{sw})) continue;
    const std::uint64_t paths = flow_[sw] * demand;
    list_candidates(SwitchIdx{sw}, paths, load_[full]);
    const auto taken = std::ranges::find_if(candidates_, [&](const auto& edge) {
      return trees_.take(tree, SwitchIdx{sw}, edge.second);
    });
    if (taken == candidates_.end()) continue;
    move(SwitchIdx{sw}, taken->second, demand);
    passes_[sw] = 0;
  }
}

bool LoadRebalancer::pass_on(std::uint32_t full) {
  const SwitchIdx before{from_[full]};
  const std::uint64_t much = load_[full];
  std::size_t tried = 0;
  for (std::uint32_t tree = 0; tree < trees_.count(); ++tree) {
    if (trees_.demand(tree) == 0 || trees_.edge(tree, before) != full) continue;
    if (++tried > kMostTrees) return false;
    read(tree);
    mark_passing(full);
    for (const std::uint32_t place : near_to_far_) {
      const SwitchIdx sw{place};
      if (!passes_[place] || flow_[place] == 0) continue;
      const std::uint64_t paths = flow_[place] * trees_.demand(tree);
      for (std::size_t at = 0; at < graph_.edges(sw).size(); ++at) {
        const auto edge = static_cast<std::uint32_t>(graph_.first_edge(sw) + at);
        if (!is_alternative(place, edge) || find_peak(sw, edge, paths, much + 1) != much) continue;
        if (++passed_on_ > kMostPassedOn) return false;
        if (pass_on(full, tree, sw, edge)) return true;
        read(tree);
        mark_passing(full);
      }
    }
  }
  return false;
}

bool LoadRebalancer::pass_on(std::uint32_t full,
                             std::uint32_t tree,
                             SwitchIdx sw,
                             std::uint32_t edge) {
  const std::uint64_t much = load_[full];
  const std::uint32_t back = next_[sw.value()];
  if (!trees_.take(tree, sw, edge)) return false;
  std::vector<std::uint32_t> as_full;
  move(sw, edge, trees_.demand(tree));
  for (std::uint32_t at = sw.value(); next_[at] != kNoEdge;
       at = graph_.edge(next_[at]).to.value()) {
    if (load_[next_[at]] == much) as_full.push_back(next_[at]);
  }
  const auto is_below = [&](std::uint32_t channel) {
    if (load_[channel] == much) lighten(channel, much - 1);
    return load_[channel] < much;
  };
  if (std::ranges::all_of(as_full, is_below)) return true;
  read(tree);
  if (next_[sw.value()] == edge && trees_.take(tree, sw, back)) move(sw, back, trees_.demand(tree));
  return false;
}

void LoadRebalancer::move(SwitchIdx sw, std::uint32_t edge, std::uint32_t demand) {
  const std::uint64_t paths = flow_[sw.value()];
  const auto shift = [&](std::uint32_t channel, bool is_new) {
    const std::uint64_t moved = paths * demand * costs_[channel];
    load_[channel] += is_new ? moved : ~moved + 1;
    if (load_[channel] > limit_) full_.emplace(load_[channel], ~channel);
  };
  shift(next_[sw.value()], false);
  shift(edge, true);
  Fork fork = begin_fork(sw, edge);
  next_[sw.value()] = edge;
  while (!fork.met()) {
    const auto [channel, is_new] = advance(fork);
    flow_[from_[channel]] += is_new ? paths : ~paths + 1;
    shift(channel, is_new);
  }
}

// One tree as rebalancing sees it, and what another next hop of a switch would do.

void LoadRebalancer::begin_reading(std::uint32_t tree) {
  steps_ += depth_.size();
  tree_ = tree;
  ++reading_;
  const std::uint32_t root = trees_.root(tree).value();
  read_[root] = reading_;
  depth_[root] = 0;
  next_[root] = kNoEdge;
  passes_[root] = 0;
  near_to_far_.assign(1, root);
}

void LoadRebalancer::follow(std::uint32_t start) {
  path_.clear();
  std::uint32_t sw = start;
  while (read_[sw] != reading_) {
    read_[sw] = reading_;
    next_[sw] = trees_.edge(tree_, SwitchIdx{sw});
    depth_[sw] = kDead;
    passes_[sw] = 0;
    path_.push_back(sw);
    if (next_[sw] == kNoEdge) break;
    sw = graph_.edge(next_[sw]).to.value();
  }
  std::uint32_t depth = depth_[sw];
  for (std::size_t at = path_.size(); at-- > 0 && depth != kDead;) depth_[path_[at]] = ++depth;
}

void LoadRebalancer::read(std::uint32_t tree) {
  begin_reading(tree);
  std::uint32_t deepest = 0;
  for (std::uint32_t start = 0; start < depth_.size(); ++start) {
    follow(start);
    if (depth_[start] != kDead) deepest = std::max(deepest, depth_[start]);
  }
  std::vector<std::uint32_t> first(deepest + 2, 0);
  for (const std::uint32_t depth : depth_) {
    if (depth < kDead) ++first[depth + 1];
  }
  for (std::size_t depth = 1; depth < first.size(); ++depth) first[depth] += first[depth - 1];
  near_to_far_.resize(first.back());
  for (std::uint32_t sw = 0; sw < depth_.size(); ++sw) {
    flow_[sw] = sources_[SwitchIdx{sw}];
    if (depth_[sw] < kDead) near_to_far_[first[depth_[sw]]++] = sw;
  }
  for (std::size_t at = near_to_far_.size(); at-- > 1;) {
    const std::uint32_t sw = near_to_far_[at];
    flow_[graph_.edge(next_[sw]).to.value()] += flow_[sw];
  }
}

// Whoever passes hands over to somebody who does, so that they are found from the channel on.
bool LoadRebalancer::read_passing(std::uint32_t tree, std::uint32_t full) {
  const std::uint64_t steps = steps_;
  begin_reading(tree);
  const std::uint32_t before = from_[full];
  follow(before);
  if (depth_[before] == kDead) return true;  // it leads nowhere
  near_to_far_.push_back(before);
  std::size_t looked_at = 0;
  for (std::size_t at = 1; at < near_to_far_.size();) {
    const std::size_t end = near_to_far_.size();
    for (; at < end; ++at) {
      const SwitchIdx sw{near_to_far_[at]};
      looked_at += graph_.edges(sw).size();
      if (looked_at > depth_.size() / 4) {
        steps_ = steps;
        return false;
      }
      for (const SwitchEdge& link : graph_.edges(sw)) {
        const std::uint32_t from = link.to.value();
        if (read_[from] == reading_) continue;
        const std::uint32_t edge = trees_.edge(tree, link.to);
        if (edge == kNoEdge || graph_.edge(edge).to != sw) continue;
        read_[from] = reading_;
        next_[from] = edge;
        depth_[from] = depth_[sw.value()] + 1;
        near_to_far_.push_back(from);
      }
    }
    std::sort(near_to_far_.begin() + static_cast<std::ptrdiff_t>(end), near_to_far_.end());
  }
  for (const std::uint32_t sw : near_to_far_) flow_[sw] = sources_[SwitchIdx{sw}];
  for (std::size_t at = near_to_far_.size(); at-- > 2;) {
    const std::uint32_t sw = near_to_far_[at];
    flow_[graph_.edge(next_[sw]).to.value()] += flow_[sw];
  }
  return true;
}

// As long as its own at the most, and not over the channel that is too full. Depths are those that
// read() found: every path leads to a lesser one, also after moves that made some shorter.
bool LoadRebalancer::is_alternative(std::uint32_t sw, std::uint32_t edge) const {
  const std::uint32_t to = graph_.edge(edge).to.value();
  return edge != next_[sw] && depth_[to] < depth_[sw] && !passes_[to];
}

void LoadRebalancer::mark_passing(std::uint32_t full) {
  passes_[near_to_far_.front()] = 0;
  for (std::size_t at = 1; at < near_to_far_.size(); ++at) {
    const std::uint32_t sw = near_to_far_[at];
    passes_[sw] = sw == from_[full] || passes_[graph_.edge(next_[sw]).to.value()];
  }
}

std::uint64_t LoadRebalancer::find_peak(SwitchIdx sw,
                                        std::uint32_t edge,
                                        std::uint64_t paths,
                                        std::uint64_t bound) const {
  std::uint64_t peak = load_[edge] + paths * costs_[edge];
  Fork fork = begin_fork(sw, edge);
  while (peak < bound && !fork.met()) {
    if (const auto [channel, is_new] = advance(fork); is_new)
      peak = std::max(peak, load_[channel] + paths * costs_[channel]);
  }
  return peak < bound ? peak : kNever;
}

void LoadRebalancer::list_candidates(SwitchIdx sw, std::uint64_t paths, std::uint64_t bound) {
  candidates_.clear();
  std::uint32_t edge = graph_.first_edge(sw);
  const std::uint32_t end = edge + static_cast<std::uint32_t>(graph_.edges(sw).size());
  for (; edge != end; ++edge) {
    const std::uint32_t to = graph_.edge(edge).to.value();
    if (read_[to] != reading_) follow(to);
    if (!is_alternative(sw.value(), edge) || load_[edge] >= bound) continue;
    const std::uint64_t peak = find_peak(sw, edge, paths, bound);
    if (peak < bound && (!only_evening_ || evens_loads(sw, edge, paths)))
      candidates_.emplace_back(peak, edge);
  }
  std::ranges::sort(candidates_);
}

bool LoadRebalancer::evens_loads(SwitchIdx sw, std::uint32_t edge, std::uint64_t paths) const {
  double grown = 0;
  const auto count = [&](std::uint32_t channel, bool is_new) {
    const auto moved = static_cast<double>(paths * costs_[channel]);
    const auto now = static_cast<double>(load_[channel]);
    grown += is_new ? moved * (2 * now + moved) : -moved * (2 * now - moved);
  };
  count(edge, true);
  count(next_[sw.value()], false);
  for (Fork fork = begin_fork(sw, edge); !fork.met();) {
    const auto [channel, is_new] = advance(fork);
    count(channel, is_new);
  }
  return grown < 0;
}

LoadRebalancer::Fork LoadRebalancer::begin_fork(SwitchIdx sw, std::uint32_t edge) const {
  return {.on_new = graph_.edge(edge).to.value(),
          .on_old = graph_.edge(next_[sw.value()]).to.value()};
}

// Where both paths meet, nothing changes.
LoadRebalancer::Step LoadRebalancer::advance(Fork& fork) const {
  const bool is_new = depth_[fork.on_new] > depth_[fork.on_old];
  std::uint32_t& at = is_new ? fork.on_new : fork.on_old;
  const std::uint32_t edge = next_[at];
  at = graph_.edge(edge).to.value();
  return {edge, is_new};
}

}  // namespace smd
