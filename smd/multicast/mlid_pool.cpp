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
    std::tuple<std::tuple<bool, bool>, std::size_t> best{{true, true}, SIZE_MAX};
    for (const auto& [lid, sharers] : groups_) {
      if (place(lid) >= capacity_) break;
      auto worst = std::tuple(false, false);
      for (const Gid& mgid : sharers) worst = std::max(worst, strangeness(group, groups.at(mgid)));
      if (const auto found = std::tuple(worst, sharers.size()); found < best) {
        best = found;
        mlid = lid;
      }
    }
  }
  if (mlid != kUnassignedLid) add(group.mgid, mlid);
  return mlid;
}

void MlidPool::add(const Gid& mgid, Lid mlid) {
  for (; end_ <= place(mlid); ++end_) freed_.insert(nth(end_));
  freed_.erase(mlid);
  groups_[mlid].insert(mgid);
}

void MlidPool::remove(const Gid& mgid, Lid mlid) {
  const auto found = groups_.find(mlid);
  if (found == groups_.end()) return;
  found->second.erase(mgid);
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
