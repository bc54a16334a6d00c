#include "smd/multicast/group.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "smd/ib/rates.h"
#include "smd/multicast/subnet_limits.h"

namespace smd {
namespace {

constexpr std::uint8_t kTransient = 1;

constexpr std::uint64_t begin(std::uint8_t flags, std::uint8_t scope, std::uint16_t signature) {
  return std::uint64_t{0xff} << 56 | std::uint64_t{flags} << 52 | std::uint64_t{scope} << 48 |
         std::uint64_t{signature} << 32;
}

constexpr std::uint8_t kLongestLife = 63;

std::optional<std::uint8_t> choose_mtu(const Bound& bound, std::uint8_t most) {
  switch (bound.selector) {
    case Selector::GreaterThan:
      return most > bound.value ? std::optional(most) : std::nullopt;
    case Selector::LessThan:
      if (bound.value <= 1) return std::nullopt;
      return std::min(most, static_cast<std::uint8_t>(bound.value - 1));
    case Selector::Exactly:
      return bound.value != 0 && bound.value <= most ? std::optional(bound.value) : std::nullopt;
    case Selector::Best:
      break;
  }
  return most;
}

std::optional<std::uint8_t> choose_rate(const Bound& bound, std::uint8_t most) {
  if (bound.selector == Selector::Best) return most;
  const unsigned wanted = rate_order(bound.value);
  if (wanted == 0) return std::nullopt;
  if (bound.selector == Selector::GreaterThan)
    return rate_order(most) > wanted ? std::optional(most) : std::nullopt;
  if (bound.selector == Selector::Exactly)
    return wanted <= rate_order(most) ? std::optional(bound.value) : std::nullopt;
  if (rate_order(most) < wanted) return most;
  const std::uint8_t below = rate_below(bound.value);
  return below != 0 ? std::optional(below) : std::nullopt;
}

/// Packets live `least` at most; a group may say longer, not less.
std::optional<std::uint8_t> choose_life_time(const Bound& bound, std::uint8_t least) {
  switch (bound.selector) {
    case Selector::GreaterThan:
      if (bound.value == kLongestLife) return std::nullopt;
      return std::max(least, static_cast<std::uint8_t>(bound.value + 1));
    case Selector::LessThan:
      return least < bound.value ? std::optional(least) : std::nullopt;
    case Selector::Exactly:
      return least <= bound.value ? std::optional(bound.value) : std::nullopt;
    case Selector::Best:
      break;
  }
  return least;
}

/// What a group has, against what is asked; `order` makes codes comparable.
template <class Order>
bool keeps(const std::optional<Bound>& bound, std::uint8_t has, Order order) {
  if (!bound) return true;
  switch (bound->selector) {
    case Selector::GreaterThan:
      return order(has) > order(bound->value);
    case Selector::LessThan:
      return order(has) < order(bound->value);
    case Selector::Exactly:
      return has == bound->value;
    case Selector::Best:
      break;
  }
  return true;
}

template <class T>
bool agrees(const std::optional<T>& asked, const T& has) {
  return !asked || *asked == has;
}

Lid nth(std::uint32_t n) { return Lid{static_cast<std::uint16_t>(kFirstMlid.value() + n)}; }

/// Makes bad companions greater.
auto strangeness(const Group& group, const Group& other) {
  const GroupTraits& a = group.traits;
  const GroupTraits& b = other.traits;
  const bool alike =
      std::tie(a.p_key, a.mtu, a.rate, a.sl) == std::tie(b.p_key, b.mtu, b.rate, b.sl);
  return std::tuple(other.permanent, !alike);
}

}  // namespace

bool may_be_asked_for(const Gid& mgid) {
  if (!is_multicast(mgid)) return false;
  const std::uint8_t scope = mgid_scope(mgid);
  if (is_of_ipoib(mgid)) return true;
  if (mgid_flags(mgid) > kTransient) return false;
  return mgid_signature(mgid) != kAssignedSignature || scope != kLinkLocalScope;
}

Guid find_only_sender(const Group& group) {
  if (group.permanent || is_of_ipoib(group.mgid)) return Guid{};
  std::map<Guid, bool> receives;  // by port
  for (const auto& each : group.members) {
    bool& any = receives[port_of(each)];
    any = any || join_state::receives(each.second.join_state);
  }
  const auto sends_only = [](const auto& each) { return !each.second; };
  const auto found = std::ranges::find_if(receives, sends_only);
  if (found == receives.end() || std::any_of(std::next(found), receives.end(), sends_only))
    return Guid{};
  return found->first;
}

// 8 bits of ones, flags and scope, 16 bits of signature, 64 of prefix, 32 of id.
Gid assigned_mgid(std::uint8_t scope, std::uint64_t subnet_prefix, std::uint32_t id) {
  return {begin(kTransient, scope, kAssignedSignature) | subnet_prefix >> 32,
          Guid{subnet_prefix << 32 | id}};
}

Gid ipoib_broadcast(PKey p_key, std::uint8_t scope) {
  const auto full = static_cast<std::uint16_t>(p_key.value() | kFullMembership);
  return {begin(kTransient, scope, kIpv4Signature) | std::uint64_t{full} << 16, Guid{0xffffffff}};
}

std::string print_gid(const Gid& gid) {
  std::string text;
  for (const std::uint64_t half : {gid.prefix, gid.guid.value()}) {
    for (int shift = 48; shift >= 0; shift -= 16)
      text += fmt::format("{}{:04x}", text.empty() ? "" : ":", half >> shift & 0xffff);
  }
  return text;
}

tl::expected<GroupTraits, Refusal> choose_traits(const SubnetLimits& subnet,
                                                 const GroupRequest& request,
                                                 Guid port,
                                                 const SubnetLimits::Ability& ability) {
  using tl::unexpected;
  if (!join_state::keeps_group(*request.join_state)) return unexpected(Refusal::RequestInvalid);
  if (!request.q_key || !request.p_key || !request.tclass || !request.flow_label || !request.sl)
    return unexpected(Refusal::InsufficientComponents);
  const Gid mgid = request.mgid.value_or(Gid{});
  const std::uint8_t scope =
      mgid == Gid{} ? request.scope.value_or(kLinkLocalScope) : mgid_scope(mgid);
  const auto mtu =
      request.mtu ? choose_mtu(*request.mtu, ability.mtu_all) : std::optional(ability.mtu_all);
  const auto rate =
      request.rate ? choose_rate(*request.rate, ability.rate) : std::optional(ability.rate);
  const auto life = request.life_time ? choose_life_time(*request.life_time, subnet.life_time())
                                      : std::optional(subnet.life_time());
  // What is made up is of a scope that means something.
  const bool named = mgid != Gid{} ? may_be_asked_for(mgid) : scope != 0 && scope < 15;
  if (!named || !mtu || !rate || !life) return unexpected(Refusal::RequestInvalid);
  if (partition_of(*request.p_key) == 0 || !subnet.in_partition(port, *request.p_key))
    return unexpected(Refusal::RequestInvalid);
  const std::uint8_t hops = scope == kLinkLocalScope ? std::uint8_t{0} : kRoutedHopLimit;
  return GroupTraits{.q_key = *request.q_key,
                     .p_key = *request.p_key,
                     .mtu = *mtu,
                     .rate = *rate,
                     .life_time = *life,
                     .sl = *request.sl,
                     .tclass = *request.tclass,
                     .hop_limit = request.hop_limit.value_or(hops),
                     .scope = scope,
                     .flow_label = *request.flow_label};
}

bool meets_bounds(const GroupTraits& traits, const GroupRequest& request) {
  const auto plain = [](std::uint8_t code) { return unsigned{code}; };
  return keeps(request.mtu, traits.mtu, plain) && keeps(request.rate, traits.rate, rate_order) &&
         keeps(request.life_time, traits.life_time, plain);
}

bool fits(const SubnetLimits& subnet,
          const Group& group,
          const GroupRequest& request,
          Guid port,
          const SubnetLimits::Ability& ability) {
  const GroupTraits& traits = group.traits;
  if (request.p_key && !same_partition(*request.p_key, traits.p_key)) return false;
  return agrees(request.q_key, traits.q_key) && agrees(request.mlid, group.mlid) &&
         agrees(request.tclass, traits.tclass) &&
         (agrees(request.sl, traits.sl) || agrees(request.sl, subnet.packet_sl(traits.sl))) &&
         agrees(request.flow_label, traits.flow_label) &&
         agrees(request.hop_limit, traits.hop_limit) && meets_bounds(traits, request) &&
         ability.mtu >= traits.mtu && rate_order(ability.rate) >= rate_order(traits.rate) &&
         subnet.in_partition(port, traits.p_key);
}

Lid MlidPool::add(const Group& group, const std::map<Gid, Group>& groups) {
  Lid mlid = kUnassignedLid;
  if (!freed_.empty() && place_of(*freed_.begin()) < capacity_) {
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
    if (place_of(mlid) >= capacity_) continue;
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
  for (; end_ <= place_of(mlid); ++end_) freed_.insert(nth(end_));
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
