#include "smd/routing/itb_vl/sl_tables.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace smd {

UpDownRule::UpDownRule(const SwitchGraph& graph, const UpDownGraph& oriented)
    : is_up_(graph.edge_count(), 0) {
  for (const SwitchIdx sw : oriented.order()) {
    for (const UpDownGraph::Link& link : oriented.up(sw)) is_up_[link.edge] = 1;
  }
}

CycleRule::CycleRule(const SwitchGraph& graph, unsigned vls)
    : turns_(graph), vls_(vls, AcyclicGraph{turns_}) {}

bool CycleRule::may_stay(std::uint32_t in, std::uint32_t out, unsigned vl) {
  const Dependency turn = turns_.between(in, out);
  if (vls_[vl].has(turn)) return true;
  std::uint64_t budget = std::numeric_limits<std::uint64_t>::max();
  if (vls_[vl].add(turn, budget) != AcyclicGraph::Answer::Added) return false;
  added_.push_back({turn, vl});
  return true;
}

void CycleRule::roll_back(std::size_t checkpoint) {
  for (; added_.size() > checkpoint; added_.pop_back())
    vls_[added_.back().vl].remove(added_.back().turn);
}

SlTables::SlTables(const SwitchGraph& graph,
                   std::unique_ptr<TurnRule> rule,
                   unsigned vls,
                   unsigned sls,
                   std::span<const std::uint8_t> wishes)
    : SlPlacer(std::move(rule)),
      turns_(graph),
      count_(vls),
      sls_(sls),
      wishes_(wishes),
      vls_(turns_.size() * kSls, kNoVl) {}

bool SlTables::may_turn(std::uint32_t in, std::uint32_t out, unsigned from, unsigned to) {
  return to > from || (to == from && rule_->may_stay(in, out, from));
}

bool SlTables::place(const EdgePath& path, std::uint8_t sl) {
  unsigned vl = 0;
  for (std::size_t i = 1; i < path.size(); ++i) {
    const std::size_t entry = turns_.between(path[i - 1], path[i]) * kSls + sl;
    if (vls_[entry] != kNoVl) {
      if (!may_turn(path[i - 1], path[i], vl, vls_[entry])) return false;
      vl = vls_[entry];
      continue;
    }
    const unsigned wish = wishes_.empty() ? kNoVl : wishes_[entry];
    if (wish < count_ && may_turn(path[i - 1], path[i], vl, wish)) {
      vl = wish;
    } else if (!rule_->may_stay(path[i - 1], path[i], vl) && ++vl == count_) {
      return false;
    }
    vls_[entry] = static_cast<std::uint8_t>(vl);
    written_.push_back(entry);
  }
  return true;
}

void SlTables::roll_back(Checkpoint to) {
  for (; written_.size() > to.entries; written_.pop_back()) vls_[written_.back()] = kNoVl;
  rule_->roll_back(to.rule);
}

bool SlLayers::place(const EdgePath& path, std::uint8_t sl) {
  for (std::size_t i = 1; i < path.size(); ++i) {
    if (!rule_->may_stay(path[i - 1], path[i], sl)) return false;
  }
  return true;
}

bool find_path(const SwitchGraph& graph,
               const SwitchTrees& trees,
               SwitchIdx from,
               SwitchIdx to,
               EdgePath& path) {
  path.clear();
  while (from != to) {
    const std::uint32_t edge = trees.edge(to, from);
    if (edge == kNoEdge) return false;
    path.push_back(edge);
    from = graph.edge(edge).to;
  }
  return true;
}

std::uint32_t count_cuts(const UpDownRule& rule, const EdgePath& path) {
  std::uint32_t cuts = 0;
  for (std::size_t i = 1; i < path.size(); ++i) cuts += rule.is_cut(path[i - 1], path[i]) ? 1 : 0;
  return cuts;
}

std::vector<Pair> list_pairs(const SwitchGraph& graph,
                             const SwitchTrees& trees,
                             const UpDownRule* rule) {
  std::vector<Pair> pairs;
  EdgePath path;
  const auto measure = [&](SwitchIdx from, SwitchIdx to) -> std::uint32_t {
    if (!find_path(graph, trees, from, to, path)) return kUnreached;
    return rule == nullptr ? static_cast<std::uint32_t>(path.size()) : count_cuts(*rule, path);
  };
  for (SwitchIdx a{0}; a.value() < trees.switches(); a = next(a)) {
    for (SwitchIdx b = next(a); b.value() < trees.switches(); b = next(b)) {
      const std::uint32_t there = measure(a, b), back = measure(b, a);
      if (there == kUnreached || back == kUnreached) continue;
      pairs.push_back({a, b, std::max(there, back)});
    }
  }
  std::ranges::stable_sort(pairs, std::greater<>{}, &Pair::difficulty);
  return pairs;
}

std::vector<Pair> allocate_sls(const SwitchGraph& graph,
                               const SwitchTrees& trees,
                               std::span<const Pair> pairs,
                               const PairSls* wishes,
                               bool stop,
                               SlPlacer& placer,
                               PairSls& sls) {
  std::vector<Pair> failed;
  EdgePath there, back;
  const auto fits = [&](std::uint8_t sl) {
    const SlPlacer::Checkpoint before = placer.checkpoint();
    if (placer.place(there, sl) && placer.place(back, sl)) return true;
    placer.roll_back(before);
    return false;
  };
  // Those with a wish first, so that nobody takes it from them.
  for (const bool wished : {true, false}) {
    if (wished && wishes == nullptr) continue;
    for (const Pair& pair : pairs) {
      const std::uint8_t wish = wishes != nullptr ? wishes->sl(pair.a, pair.b) : PairSls::kUnset;
      if (sls.sl(pair.a, pair.b) != PairSls::kUnset || (wished && wish >= placer.sls())) continue;
      if (!find_path(graph, trees, pair.a, pair.b, there) ||
          !find_path(graph, trees, pair.b, pair.a, back))
        continue;
      std::uint8_t sl = wished ? wish : std::uint8_t{0};
      if (wished && !fits(sl)) continue;
      while (!wished && sl < placer.sls() && !fits(sl)) ++sl;
      if (sl < placer.sls()) {
        sls.set_sl(pair.a, pair.b, sl);
      } else {
        failed.push_back(pair);
        if (stop) return failed;
      }
    }
  }
  return failed;
}

}  // namespace smd
