#include "smd/routing/layers/layering.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "smd/routing/layers/heaviest.h"

namespace smd {
namespace {

// Channels that searches may look at, per dependency that a lane could have.
constexpr std::uint64_t kSearchesPerDependency = 100;

// Whether so many lanes hold the rest, each a fifth less than the one before.
bool is_likely(std::size_t left, std::size_t last, unsigned lanes) {
  std::size_t room = 0;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    last = last * 4 / 5;
    room += last;
  }
  return left <= std::max(room, std::size_t{100});
}

}  // namespace

Layering::Layering(const SwitchGraph& graph, const InTrees& trees, Bundle bundle)
    : trees_(trees),
      dependencies_(graph),
      bundle_(bundle),
      lanes_((bundle == Bundle::Pair ? graph.switches() : trees.count()) * graph.switches(),
             kNoPath),
      waiting_(bundle == Bundle::Pair ? graph.switches() : trees.count(), 0),
      carried_(graph.switches(), 0),
      fits_(graph.switches(), 0) {
  for (std::uint32_t tree = 0; tree < trees.count(); ++tree) {
    const std::size_t number = row_of(tree);
    for (const std::uint32_t source : trees.near_to_far(trees.root(tree))) {
      if (source == trees.root(tree).value() || row(number)[source] == kWaiting) continue;
      set_lane(number, source, kWaiting);
    }
  }
}

std::size_t Layering::row_of(std::uint32_t tree) const {
  return bundle_ == Bundle::Pair ? trees_.root(tree).value() : tree;
}

std::uint8_t Layering::lane(std::uint32_t tree, SwitchIdx source) const {
  const std::uint8_t found = lanes_[row_of(tree) * trees_.switches() + source.value()];
  return found == kNoPath ? 0 : found;
}

void Layering::set_lane(std::size_t number, std::uint32_t source, std::uint8_t lane) {
  const auto set = [&](std::size_t r, std::size_t s) {
    std::uint8_t& mark = row(r)[s];
    if (mark == kWaiting) --waiting_[r];
    if (lane == kWaiting) ++waiting_[r];
    mark = lane;
  };
  set(number, source);
  if (bundle_ == Bundle::Pair) set(source, number);
}

std::optional<unsigned> Layering::assign(unsigned most, bool only_if_likely) {
  std::vector<std::uint32_t> uses(dependencies_.size(), 0);
  LaneGraph lane{dependencies_};
  unsigned number = 0;
  std::size_t before = count_waiting();
  for (std::size_t left = before; left != 0; ++number) {
    if (number == most) return std::nullopt;
    if (only_if_likely && number != 0 && !is_likely(left, before - left, most - number))
      return std::nullopt;
    before = left;
    std::fill(uses.begin(), uses.end(), 0);
    lane.clear();
    std::size_t distinct = 0;
    each_dependency(kWaiting, [&](Dependency dependency, std::uint32_t paths) {
      if (uses[dependency] == 0) {
        lane.set(dependency);
        ++distinct;
      }
      uses[dependency] += paths;
    });
    const auto mark = static_cast<std::uint8_t>(number);
    if (lane.sort()) {
      settle(mark);
      left = 0;
      continue;
    }
    // The last lane would have to take all of it.
    if (number + 1 == most) return std::nullopt;
    const std::uint64_t budget = distinct * kSearchesPerDependency;
    keep_heaviest(dependencies_, uses, lane, budget);
    leave_out_what_is_cut(lane);
    settle(mark);
    lane.clear();
    each_dependency(mark, [&](Dependency dependency, std::uint32_t) { lane.set(dependency); });
    fill_up(lane, mark, budget);
    left = count_waiting();
  }
  return std::max(number, 1u);
}

std::size_t Layering::count_waiting() const {
  return std::accumulate(waiting_.begin(), waiting_.end(), std::size_t{0});
}

// A path fits where the path of its next switch does and its first dependency is in the lane.
void Layering::leave_out_what_is_cut(const LaneGraph& lane) {
  for (std::uint32_t tree = 0; tree < trees_.count(); ++tree) {
    const std::size_t number = row_of(tree);
    if (waiting_[number] == 0) continue;
    const std::uint8_t* const ways = trees_.ways(tree).data();
    const std::uint32_t root = trees_.root(tree).value();
    const std::vector<std::uint32_t>& order = trees_.near_to_far(trees_.root(tree));
    for (std::size_t at = 1; at < order.size(); ++at) {
      const std::uint32_t sw = order[at];
      const Channel channel = dependencies_.first_of(sw) + ways[sw];
      const std::uint32_t next = dependencies_.to(channel);
      fits_[sw] = next == root || (fits_[next] && lane.has(dependencies_.at(channel, ways[next])));
      if (!fits_[sw] && row(number)[sw] == kWaiting) set_lane(number, sw, kLeftOut);
    }
  }
}

// Whoever waits has found a lane.
void Layering::settle(std::uint8_t lane) {
  for (std::size_t number = 0; number < waiting_.size(); ++number) {
    if (waiting_[number] == 0) continue;
    std::replace(row(number), row(number) + trees_.switches(), kWaiting, lane);
    waiting_[number] = 0;
  }
}

void Layering::fill_up(LaneGraph& lane, std::uint8_t number, std::uint64_t budget) {
  for (std::size_t r = 0; r < waiting_.size(); ++r) {
    const std::size_t first = bundle_ == Bundle::Pair ? r + 1 : 0;
    for (std::size_t at = first; at < trees_.switches(); ++at) {
      if (row(r)[at] != kLeftOut) continue;
      const auto source = static_cast<std::uint32_t>(at);
      list_dependencies(r, source);
      set_lane(r, source, lane.add_all(needed_, budget) ? number : kWaiting);
    }
  }
}

void Layering::list_dependencies(std::size_t row, std::uint32_t source) {
  needed_.clear();
  if (bundle_ == Bundle::Path) return list_path(static_cast<std::uint32_t>(row), source);
  const auto end = static_cast<std::uint32_t>(row);
  for (const auto& [root, from] : {std::pair{end, source}, std::pair{source, end}}) {
    const std::uint32_t first = trees_.first_tree(SwitchIdx{root});
    for (std::uint32_t i = 0; i < trees_.tree_count(SwitchIdx{root}); ++i)
      list_path(first + i, from);
  }
}

void Layering::list_path(std::uint32_t tree, std::uint32_t source) {
  const std::uint8_t* const ways = trees_.ways(tree).data();
  std::uint32_t sw = source;
  if (ways[sw] == kNoWay) return;
  Channel channel = dependencies_.first_of(sw) + ways[sw];
  for (sw = dependencies_.to(channel); ways[sw] != kNoWay; sw = dependencies_.to(channel)) {
    needed_.push_back(dependencies_.at(channel, ways[sw]));
    channel = dependencies_.first_of(sw) + ways[sw];
  }
}

}  // namespace smd
