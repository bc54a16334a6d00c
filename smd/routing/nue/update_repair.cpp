// Trees that a change has broken are completed, or grown anew, on the layer that they have wherever
// that can be done. Links that came up take what they shorten and their share of the rest.

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "smd/routing/nue/update.h"

namespace smd {
namespace {

// How often switches that a tree leaves out are sent along turns that are free, before all switches
// are sent along the escape tree.
constexpr int kEscapeRounds = 6;

// Links that came up whose ways are compared together.
constexpr std::size_t kGainedAtOnce = 64;

}  // namespace

// Of LIDs that nobody has only as far as it goes beside all others.
bool NueUpdate::repair_all(const TurnRecord* record) {
  const auto is_owned = [&](const Broken& broken) {
    return lids_.owner_of(broken.lid.lid) != kNone<PortIdx>;
  };
  std::ranges::stable_partition(broken_, is_owned);
  std::vector<Broken> stuck;
  for (const Broken& broken : broken_) {
    moved_[broken.lid.lid.value()] = 1;
    if (!complete(broken)) stuck.push_back(broken);
  }
  find_escapes(record);
  for (const Broken& broken : stuck) {
    if (complete(broken) || repair(broken.lid)) continue;
    if (is_owned(broken)) return false;
    const Lid lid = broken.lid.lid;
    erase_entries(lid);
    std::erase_if(wanted_, [&](const TargetLid& wanted) { return wanted.lid == lid; });
  }
  return true;
}

// Whoever has no path finds one beside those that are left.
bool NueUpdate::complete(const Broken& broken) {
  const TargetLid& wanted = broken.lid;
  if (broken.count == 0)
    list_missing(wanted);
  else
    dead_.assign(missing_.begin() + static_cast<std::ptrdiff_t>(broken.first),
                 missing_.begin() + static_cast<std::ptrdiff_t>(broken.first + broken.count));
  const unsigned home = layer_[wanted.lid.value()];
  settle_beside(wanted);
  if (growth_.complete(turns_[home], wanted.last, load_, dead_)) {
    settle_all(wanted, home);
    return true;
  }
  turns_[home].take_back();
  for (const SwitchIdx sw : dead_) is_missing_[sw] = 0;
  return false;
}

// Not beside what is left of it: all of it anew. dead_: who has no path.
bool NueUpdate::repair(const TargetLid& wanted) {
  const unsigned home = layer_[wanted.lid.value()];
  for (const SwitchIdx sw : dead_) result_.lft.set_route(sw, wanted.lid, kNoRoute);
  walk(wanted);
  for (std::size_t at = 1; at < tree_.order.size(); ++at) {
    const Channel in = tree_.egress[tree_.order[at]];
    const Channel out = tree_.egress[channels_.to[in]];
    if (out != kNoChannel) taken_[home].remove(in, out);
  }
  change_load(tree_, wanted.demand, false);
  if (regrow_with_escapes(wanted)) return true;
  growth_.forget_settled();
  for (unsigned step = 0; step < turns_.size(); ++step) {
    if (regrow(wanted, static_cast<unsigned>((home + step) % turns_.size()))) return true;
  }
  return false;
}

// dead_: of the island, who has no entry that leads there.
void NueUpdate::list_missing(const TargetLid& wanted) {
  walk(wanted);
  dead_.clear();
  for (const SwitchIdx sw : tree_.depth.indices()) {
    if (tree_.depth[sw] == kUnreached && island_of_[sw] == island_of_[wanted.last])
      dead_.push_back(sw);
  }
}

// Neighbours of those that are missing, as far from the last switch as their entries say.
void NueUpdate::settle_beside(const TargetLid& wanted) {
  growth_.forget_settled();
  for (const SwitchIdx sw : dead_) is_missing_[sw] = 1;
  settled_.assign(1, wanted.last);
  depth_beside_[wanted.last] = 0;
  for (const SwitchIdx dead : dead_) {
    const std::uint32_t place = dead.value();
    for (Channel c = channels_.first[place]; c < channels_.first[place + 1]; ++c) {
      const SwitchIdx sw = channels_.to[c];
      if (is_missing_[sw] || sw == wanted.last) continue;
      const std::uint32_t depth =
          dead_.size() == 1 ? this->depth(sw, wanted) : depth_again(sw, wanted);
      growth_.settle(sw, entry(sw, wanted.lid), depth);
    }
  }
  for (const SwitchIdx sw : settled_) depth_beside_[sw] = kUnreached;
}

// What has grown for those that were missing.
void NueUpdate::settle_all(const TargetLid& wanted, unsigned layer) {
  turns_[layer].keep();
  const GrownTree& tree = growth_.tree();
  for (const SwitchIdx sw : tree.order) {
    const Channel egress = tree.egress[sw];
    const Channel next = tree.egress[channels_.to[egress]];
    if (next != kNoChannel) taken_[layer].add(egress, next);
    result_.lft.set_route(sw, wanted.lid, graph_.edge(egress).port);
    flow_[sw] = targets_.hosts[sw];
  }
  for (std::size_t at = tree.order.size(); at-- > 0;) {
    const SwitchIdx sw = tree.order[at];
    const Channel egress = tree.egress[sw];
    const std::uint64_t paths = flow_[sw] * wanted.demand;
    load_[egress] += paths * costs_[egress];
    const SwitchIdx to = channels_.to[egress];
    if (is_missing_[to])
      flow_[to] += flow_[sw];
    else if (paths != 0)
      follow(to, wanted, [&](Channel c) { load_[c] += paths * costs_[c]; });
  }
  for (const SwitchIdx sw : dead_) is_missing_[sw] = 0;
}

// On its layer. tree_: what is left of its routes, most of which stays.
bool NueUpdate::regrow_with_escapes(const TargetLid& wanted) {
  const unsigned home = layer_[wanted.lid.value()];
  const std::uint32_t island = island_of_[wanted.last];
  TurnSet& turns = turns_[home];
  escaping_.assign(channels_.switches(), kNoChannel);
  bool finds_paths = true;
  for (int round = 0; round < kEscapeRounds; ++round) {
    if (round + 1 == kEscapeRounds || !finds_paths) {
      if (!escapes_[home]) return false;
      escapes_[home]->aim_at(wanted.last);
      for (const SwitchIdx sw : escaping_.indices()) {
        if (island_of_[sw] == island && sw != wanted.last)
          escaping_[sw] = escapes_[home]->egress(sw);
      }
      round = kEscapeRounds - 1;
    }
    if (settle_beside_escapes(wanted, turns)) {
      growth_.grow(turns, wanted.last, load_, {});
      if (growth_.tree().order.size() == island_size_[island]) {
        take_grown(wanted, home);
        return true;
      }
    } else {
      finds_paths = false;
    }
    turns.take_back();
    for (const SwitchIdx sw : escaping_.indices()) {
      if (finds_paths && island_of_[sw] == island && growth_.tree().depth[sw] == kUnreached)
        finds_paths = escape(sw, wanted, turns);
    }
  }
  return false;
}

// Along turns that are free, each for itself; who escapes already stays on his way.
bool NueUpdate::escape(SwitchIdx start, const TargetLid& wanted, TurnSet& turns) {
  if (escaping_[start] != kNoChannel) return true;
  for (const Channel c :
       find_free_path(channels_, turns, start, wanted.last, escaping_, escape_steps_)) {
    const SwitchIdx sw = channels_.from[c];
    if (escaping_[sw] != kNoChannel && escaping_[sw] != c) return false;  // it has one way
    escaping_[sw] = c;
  }
  return escaping_[start] != kNoChannel;
}

// Those that escape, and whoever is left whose path meets none of them. False when the turns of
// those that escape close a cycle.
bool NueUpdate::settle_beside_escapes(const TargetLid& wanted, TurnSet& turns) {
  growth_.forget_settled();
  IndexVector<SwitchIdx, std::uint32_t> depth(channels_.switches(), kUnreached);
  depth[wanted.last] = 0;
  for (const SwitchIdx start : escaping_.indices()) {
    path_.clear();
    SwitchIdx sw = start;
    for (; escaping_[sw] != kNoChannel && depth[sw] == kUnreached; sw = channels_.to[escaping_[sw]])
      path_.push_back(sw);
    for (std::uint32_t links = depth[sw]; !path_.empty(); path_.pop_back()) {
      const Channel egress = escaping_[path_.back()];
      const Channel next = escaping_[channels_.to[egress]];
      if (next != kNoChannel && !turns.add(egress, next)) return false;
      depth[path_.back()] = ++links;
      growth_.settle(path_.back(), egress, links);
    }
  }
  for (std::size_t at = 1; at < tree_.order.size(); ++at) {  // whoever stands behind another
    const SwitchIdx sw = tree_.order[at], next = channels_.to[tree_.egress[sw]];
    if (escaping_[sw] != kNoChannel || depth[next] == kUnreached || escaping_[next] != kNoChannel)
      continue;
    depth[sw] = depth[next] + 1;
    growth_.settle(sw, tree_.egress[sw], depth[sw]);
  }
  return true;
}

bool NueUpdate::regrow(const TargetLid& wanted, unsigned layer) {
  growth_.grow(turns_[layer], wanted.last, load_, {});
  if (growth_.tree().order.size() != island_size_[island_of_[wanted.last]]) {
    turns_[layer].take_back();
    return false;
  }
  take_grown(wanted, layer);
  return true;
}

void NueUpdate::take_grown(const TargetLid& wanted, unsigned layer) {
  const GrownTree& tree = growth_.tree();
  turns_[layer].keep();
  layer_[wanted.lid.value()] = static_cast<std::uint8_t>(layer);
  for (std::size_t at = 1; at < tree.order.size(); ++at) {
    const SwitchIdx sw = tree.order[at];
    result_.lft.set_route(sw, wanted.lid, graph_.edge(tree.egress[sw]).port);
  }
  taken_[layer].add(tree);
  change_load(tree, wanted.demand, true);
}

// Links that came up, and the trees in force: what gets shorter over them goes there, and of the
// rest their share.

void NueUpdate::use_gained() {
  if (gained_.empty()) return;
  const std::span all{gained_};
  const auto in_turn = [&](auto&& use) {
    for (std::size_t first = 0; first < all.size(); first += kGainedAtOnce) {
      const auto some = all.subspan(first, std::min(kGainedAtOnce, all.size() - first));
      if (compared_.data() != some.data()) compare_distances(some);
      for (std::size_t i = 0; i < some.size(); ++i)
        use(some[i], std::span{distances_}.subspan(i * wanted_.size(), wanted_.size()));
    }
  };
  in_turn([&](Channel gained, std::span<const Distance> distances) {
    for (std::size_t at = 0; at < wanted_.size(); ++at) {
      if (distances[at] != Distance::Nearer && !is_shortened_[at]) continue;
      is_shortened_[at] = 1;
      shorten(wanted_[at], gained);
    }
  });
  if (std::ranges::count(is_shortened_, 0) != std::ssize(is_shortened_)) compared_ = {};
  scattered_.resize(wanted_.size());
  std::iota(scattered_.begin(), scattered_.end(), 0u);
  std::ranges::sort(scattered_, {}, [&](std::uint32_t at) {
    return static_cast<std::uint16_t>(wanted_[at].lid.value() * 40503u);
  });
  in_turn([&](Channel gained, std::span<const Distance> distances) { fill(gained, distances); });
}

// LID by LID, since links that came up together mostly are of one switch, and their ways the same.
void NueUpdate::compare_distances(std::span<const Channel> gained) {
  compared_ = gained;
  distances_.assign(gained.size() * wanted_.size(), Distance::Farther);
  is_shortened_.assign(wanted_.size(), 0);
  for (std::size_t at = 0; at < wanted_.size(); ++at) {
    const TargetLid& wanted = wanted_[at];
    settled_.assign(1, wanted.last);
    depth_beside_[wanted.last] = 0;
    for (std::size_t i = 0; i < gained.size(); ++i) {
      const std::uint32_t now = depth_again(channels_.from[gained[i]], wanted);
      if (now == kUnreached) continue;
      const std::uint32_t other = depth_again(channels_.to[gained[i]], wanted) + 1;
      if (other <= now)
        distances_[i * wanted_.size() + at] = other < now ? Distance::Nearer : Distance::AsFar;
    }
    for (const SwitchIdx sw : settled_) depth_beside_[sw] = kUnreached;
  }
}

// As depth(), and leaves it in depth_beside_ for every switch on the path, of settled_.
std::uint32_t NueUpdate::depth_again(SwitchIdx sw, const TargetLid& wanted) {
  path_.clear();
  while (depth_beside_[sw] == kUnreached) {
    const Channel egress = entry(sw, wanted.lid);
    if (egress == kNoChannel) return kUnreached;
    path_.push_back(sw);
    sw = channels_.to[egress];
  }
  std::uint32_t depth = depth_beside_[sw];
  for (std::size_t at = path_.size(); at-- > 0;) {
    depth_beside_[path_[at]] = ++depth;
    settled_.push_back(path_[at]);
  }
  return depth;
}

// Links to the last switch; kUnreached on other islands.
std::uint32_t NueUpdate::depth(SwitchIdx sw, const TargetLid& wanted) const {
  std::uint32_t links = 0;
  for (; sw != wanted.last; ++links) {
    const Channel egress = entry(sw, wanted.lid);
    if (egress == kNoChannel) return kUnreached;
    sw = channels_.to[egress];
  }
  return links;
}

std::uint64_t NueUpdate::count_paths(SwitchIdx sw, Lid lid) const {
  std::uint64_t paths = targets_.hosts[sw];
  for (Channel c = channels_.first[sw.value()]; c < channels_.first[sw.value() + 1]; ++c) {
    if (entry(channels_.to[c], lid) == channels_.reverse[c])
      paths += count_paths(channels_.to[c], lid);
  }
  return paths;
}

// On from the switch that the link makes nearer, as far as others get nearer by that or their load
// gets more even.
void NueUpdate::shorten(const TargetLid& wanted, Channel gained) {
  const SwitchIdx start = channels_.from[gained];
  const std::uint32_t now = depth(start, wanted);
  if (now == kUnreached || depth(channels_.to[gained], wanted) + 1 >= now ||
      !move(wanted, gained, false))
    return;
  std::vector<SwitchIdx> nearer{start};
  for (std::size_t at = 0; at < nearer.size(); ++at) {
    const std::uint32_t own = depth(nearer[at], wanted);
    for (Channel c = channels_.first[nearer[at].value()];
         c < channels_.first[nearer[at].value() + 1];
         ++c) {
      const SwitchIdx neighbour = channels_.to[c];
      const Channel channel = channels_.reverse[c];
      const bool follows = entry(neighbour, wanted.lid) == channel;
      if (!follows) {
        const std::uint32_t links = depth(neighbour, wanted);
        if (links == own + 1) move(wanted, channel, true);
        if (links <= own + 1 || !move(wanted, channel, false)) continue;
      }
      nearer.push_back(neighbour);
    }
  }
}

// Of the LIDs that are as far over the link as otherwise, those that lie far apart first.
void NueUpdate::fill(Channel gained, std::span<const Distance> distances) {
  const SwitchIdx sw = channels_.from[gained];
  for (const std::uint32_t at : scattered_) {
    const TargetLid& wanted = wanted_[at];
    if (distances[at] != Distance::AsFar || wanted.demand == 0) continue;
    const Channel egress = entry(sw, wanted.lid);
    if (egress != kNoChannel && egress != gained && load_[egress] > load_[gained])
      move(wanted, gained, true);
  }
}

// As turn(). With `if_even` only if the sum of the squares of the loads shrinks by that.
// Requires: the path behind it does not come back.
bool NueUpdate::move(const TargetLid& wanted, Channel egress, bool if_even) {
  const SwitchIdx sw = channels_.from[egress];
  const std::uint64_t paths = count_paths(sw, wanted.lid) * wanted.demand;
  if (if_even && paths == 0) return false;
  const auto change_load = [&](Channel first, bool add) {
    double grown = 0;
    const auto visit = [&](Channel c) {
      const std::uint64_t weight = paths * costs_[c];
      const auto before = static_cast<double>(load_[c]);
      load_[c] += add ? weight : 0 - weight;
      const auto after = static_cast<double>(load_[c]);
      grown += after * after - before * before;
    };
    visit(first);
    follow(channels_.to[first], wanted, visit);
    return grown;
  };
  const Channel old = entry(sw, wanted.lid);
  const double shrunk = -change_load(old, false);
  const double grown = change_load(egress, true);
  const auto refuse = [&] {
    change_load(egress, false);
    change_load(old, true);
    return false;
  };
  if (if_even && grown >= shrunk) return refuse();

  return turn(wanted, egress) || refuse();
}

}  // namespace smd
