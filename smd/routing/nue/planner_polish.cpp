// Second thoughts of the planner: once every destination has its tree, some can do with less.
#include "smd/routing/nue/planner.h"

#include <algorithm>

namespace smd {
namespace {

// Detours are left alone where they are fewer than one link in so many.
constexpr std::uint64_t kRare = 500;

// Lanes on which a tree is grown again, beginning with its own.
constexpr unsigned kMostLanesRetried = 3;

// Trees that do not get shorter, before polishing ends: some, and so many for each that does.
constexpr int kPatience = 32;
constexpr int kPatiencePerSuccess = 4;

}  // namespace

// Every destination has its tree now, which it gets back if there is no better one.
void NuePlanner::give_up_escapes() {
  for (Lane& lane : lanes_) {
    for (const auto& [in, out] : lane.escape.list_turns()) {
      if (!lane.counts.is_taken(in, out)) lane.turns.remove(in, out);
    }
    lane.turns.forget_barred();
  }
}

std::uint64_t NuePlanner::count_detours() const {
  std::uint64_t detours = 0;
  for (const SwitchIdx destination : planned_)
    detours += detours_[destination] * targets_.hosts[destination];
  return detours;
}

void NuePlanner::polish() {
  give_up_escapes();
  if (count_detours() < links_ / kRare) return;
  int patience = kPatience;
  for (const SwitchIdx destination : planned_) {
    if (detours_[destination] == 0) continue;
    patience += reroute(destination) ? kPatiencePerSuccess : -1;
    if (patience < 0) return;
  }
}

bool NuePlanner::reroute(SwitchIdx destination) {
  const auto least = compute_distances(graph_, {&destination, 1});
  read(destination, old_);
  remove(destination, old_);
  growth_.forget_settled();
  const auto grow = [&](unsigned lane) {
    growth_.grow(lanes_[lane].turns, destination, load_, {});
    return growth_.tree().order.size() == old_.order.size();
  };
  std::uint64_t fewest = detours_[destination];
  const auto lanes = static_cast<unsigned>(lanes_.size());
  unsigned best = lanes;
  for (unsigned step = 0; step < std::min(lanes, kMostLanesRetried) && fewest != 0; ++step) {
    const unsigned lane = (lane_of_[destination] + step) % lanes;
    const bool whole = grow(lane);
    lanes_[lane].turns.take_back();
    if (!whole || measure_detours(least) >= fewest) continue;
    fewest = measure_detours(least);
    best = lane;
  }
  // Growing again may end otherwise: the order of the channels has changed meanwhile.
  if (best != lanes) {
    if (grow(best) && measure_detours(least) < detours_[destination]) {
      detours_[destination] = measure_detours(least);
      accept(destination, best);
      return true;
    }
    lanes_[best].turns.take_back();
  }
  put_back(destination, old_);
  return false;
}

void NuePlanner::remove(SwitchIdx destination, const GrownTree& tree) {
  Lane& lane = lanes_[lane_of_[destination]];
  lane.counts.remove(tree, lane.turns);
  change_load(tree, destination, false);
}

// The turns of the tree closed no cycle with those that the lane has now.
void NuePlanner::put_back(SwitchIdx destination, const GrownTree& tree) {
  Lane& lane = lanes_[lane_of_[destination]];
  for (std::size_t at = 1; at < tree.order.size(); ++at) {
    const Channel in = tree.exit[tree.order[at]];
    const Channel out = tree.exit[channels_.to[in]];
    if (out != kNoChannel) lane.turns.add(in, out);
  }
  lane.turns.keep();
  lane.counts.add(tree);
  change_load(tree, destination, true);
}

std::uint64_t NuePlanner::measure_detours(
    const IndexVector<SwitchIdx, std::uint32_t>& least) const {
  std::uint64_t sum = 0;
  for (const SwitchIdx sw : growth_.tree().order)
    sum += std::uint64_t{targets_.hosts[sw]} * (growth_.tree().depth[sw] - least[sw]);
  return sum;
}

void NuePlanner::change_load(const GrownTree& tree, SwitchIdx destination, bool add) {
  const std::uint64_t hosts = targets_.hosts[destination], drawn = drawn_[destination];
  if (hosts == 0) return;
  for (const SwitchIdx sw : tree.order) flow_[sw] = targets_.hosts[sw];
  for (std::size_t at = tree.order.size(); at-- > 1;) {
    const SwitchIdx sw = tree.order[at];
    const Channel exit = tree.exit[sw];
    const std::uint64_t weight = flow_[sw] * drawn * costs_[exit], paths = flow_[sw] * hosts;
    load_[exit] += add ? weight : 0 - weight;
    links_ += add ? paths : 0 - paths;
    flow_[channels_.to[exit]] += flow_[sw];
  }
}

}  // namespace smd
