#include "smd/multicast/mlid_pool.h"

#include <algorithm>
#include <tuple>

#include "smd/multicast/realm.h"

namespace smd {
namespace {

Lid nth(std::uint32_t n) { return Lid{static_cast<std::uint16_t>(kFirstMlid.value() + n)}; }

std::uint32_t place(Lid mlid) { return std::uint32_t{mlid.value()} - kFirstMlid.value(); }

/// Makes bad companions greater.
auto strangeness(const Group& group, const Group& other) {
  const GroupTraits& a = group.traits;
  const GroupTraits& b = other.traits;
  const bool alike =
      std::tie(a.p_key, a.mtu, a.rate, a.sl) == std::tie(b.p_key, b.mtu, b.rate, b.sl);
  return std::tuple(other.permanent, !alike);
}

}  // namespace

Lid MlidPool::add(const Group& group, const std::map<Gid, Group>& groups) {
  Lid mlid = kUnassignedLid;
  if (!freed_.empty() && place(*freed_.begin()) < capacity_) {
    mlid = *freed_.begin();
  } else if (end_ < capacity_) {
    mlid = nth(end_);
  } else {
    mlid = choose_shared(group, groups);
  }
  if (mlid != kUnassignedLid) add(group.mgid, mlid);
  return mlid;
}

// Few sharers first, so the first of those with the best company is the one, and whoever is no
// better needs no second look: a group costs as many looks as there are MLIDs, not groups.
Lid MlidPool::choose_shared(const Group& group, const std::map<Gid, Group>& groups) const {
  constexpr std::tuple kGood{false, false};
  Lid best = kUnassignedLid;
  std::tuple<bool, bool> best_worst{true, true};
  for (const auto& [size, mlid] : by_size_) {
    if (place(mlid) >= capacity_) continue;
    auto worst = kGood;
    const auto no_better = [&] { return best != kUnassignedLid && worst >= best_worst; };
    for (const Gid& mgid : groups_.at(mlid)) {
      worst = std::max(worst, strangeness(group, groups.at(mgid)));
      if (no_better()) break;
    }
    if (no_better()) continue;
    best = mlid;
    best_worst = worst;
    if (worst == kGood) break;
  }
  return best;
}

void MlidPool::count(Lid mlid, std::size_t before, std::size_t now) {
  by_size_.erase({before, mlid});
  if (now > 0) by_size_.emplace(now, mlid);
}

void MlidPool::add(const Gid& mgid, Lid mlid) {
  for (; end_ <= place(mlid); ++end_) freed_.insert(nth(end_));
  freed_.erase(mlid);
  std::set<Gid>& sharers = groups_[mlid];
  const std::size_t before = sharers.size();
  sharers.insert(mgid);
  count(mlid, before, sharers.size());
}

void MlidPool::remove(const Gid& mgid, Lid mlid) {
  const auto found = groups_.find(mlid);
  if (found == groups_.end()) return;
  const std::size_t before = found->second.size();
  found->second.erase(mgid);
  count(mlid, before, found->second.size());
  if (!found->second.empty()) return;
  groups_.erase(found);
  freed_.insert(mlid);
}

std::vector<Gid> MlidPool::groups_of(Lid mlid) const {
  const auto found = groups_.find(mlid);
  if (found == groups_.end()) return {};
  return {found->second.begin(), found->second.end()};
}

std::vector<Lid> MlidPool::mlids() const {
  std::vector<Lid> out;
  out.reserve(groups_.size());
  for (const auto& [mlid, sharers] : groups_) out.push_back(mlid);
  return out;
}

}  // namespace smd
