// Links that came up, and the trees in force: what gets shorter over them goes there, and of the
// rest their share.
#include <algorithm>

#include "smd/routing/nue/kept_trees.h"

namespace smd {

void KeptTrees::use_gained() {
  for (const Channel gained : gained_) {
    for (const Wanted& wanted : wanted_) shorten(wanted, gained);
  }
  for (const Channel gained : gained_) fill(gained);
}

// Every link from the switch to the last one.
template <class Visit>
void KeptTrees::follow(SwitchIdx sw, const Wanted& wanted, Visit&& visit) const {
  while (sw != wanted.last) {
    const Channel exit = entry(sw, wanted.lid);
    if (exit == kNoChannel) return;
    visit(exit);
    sw = channels_.to[exit];
  }
}

// Links to the last switch; kUnreached on other islands.
std::uint32_t KeptTrees::depth(SwitchIdx sw, const Wanted& wanted) const {
  std::uint32_t links = 0;
  for (; sw != wanted.last; ++links) {
    const Channel exit = entry(sw, wanted.lid);
    if (exit == kNoChannel) return kUnreached;
    sw = channels_.to[exit];
  }
  return links;
}

std::uint64_t KeptTrees::count_paths(SwitchIdx sw, Lid lid) const {
  std::uint64_t paths = targets_.hosts[sw];
  for (Channel c = channels_.first[sw.value()]; c < channels_.first[sw.value() + 1]; ++c) {
    if (entry(channels_.to[c], lid) == channels_.reverse[c])
      paths += count_paths(channels_.to[c], lid);
  }
  return paths;
}

// On from the switch that the link makes nearer, as far as others get nearer by that or their load
// gets evener.
void KeptTrees::shorten(const Wanted& wanted, Channel gained) {
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
      const SwitchIdx far = channels_.to[c];
      const Channel way = channels_.reverse[c];
      const bool follows = entry(far, wanted.lid) == way;
      if (!follows) {
        const std::uint32_t links = depth(far, wanted);
        if (links == own + 1) move(wanted, way, true);
        if (links <= own + 1 || !move(wanted, way, false)) continue;
      }
      nearer.push_back(far);
    }
  }
}

// Of the LIDs that are as far over the link as otherwise, those that lie far apart first.
void KeptTrees::fill(Channel gained) {
  const SwitchIdx sw = channels_.from[gained];
  std::vector<std::pair<std::uint16_t, const Wanted*>> some;
  for (const Wanted& wanted : wanted_) {
    const Channel exit = entry(sw, wanted.lid);
    if (wanted.draws == 0 || exit == kNoChannel || exit == gained) continue;
    if (depth(channels_.to[gained], wanted) + 1 == depth(sw, wanted))
      some.emplace_back(static_cast<std::uint16_t>(wanted.lid.value() * 40503u), &wanted);
  }
  std::ranges::sort(some);
  for (const auto& [place, wanted] : some) {
    if (load_[entry(sw, wanted->lid)] > load_[gained]) move(*wanted, gained, true);
  }
}

// As turn(). With `if_even` only if the sum of the squares of the loads shrinks by that.
// Requires: the way beyond does not come back.
bool KeptTrees::move(const Wanted& wanted, Channel exit, bool if_even) {
  const SwitchIdx sw = channels_.from[exit];
  const std::uint64_t paths = count_paths(sw, wanted.lid) * wanted.draws;
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
  const double grown = change_load(exit, true);
  const auto refuse = [&] {
    change_load(exit, false);
    change_load(old, true);
    return false;
  };
  if (if_even && grown >= shrunk) return refuse();

  return turn(wanted, exit) || refuse();
}

}  // namespace smd
