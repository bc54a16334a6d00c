#include "smd/multicast/group_table.h"

#include <algorithm>
#include <utility>

#include "smd/multicast/group_rules.h"
#include "smd/multicast/mgid.h"

namespace smd {
namespace {

constexpr std::uint8_t kRoutedHopLimit = 255;

tl::unexpected<Refusal> refuse(Refusal why) { return tl::unexpected(why); }

bool is_kept(const Group& group) {
  return group.permanent || std::ranges::any_of(group.members, [](const auto& member) {
           return join_state::keeps_group(member.second.join_state);
         });
}

/// Who may change what is known of a member: itself; where somebody joined for it, everybody in the
/// group's partition (IBA o15-0.2.1).
bool may_modify(
    const Realm& realm, const Group& group, const Member& member, Guid port, Guid requester) {
  if (!member.proxy_join) return requester == port;
  return realm.in_partition(requester, group.traits.p_key);
}

GroupMembership membership(const Group& group, Guid port, const Member& member) {
  return {.mgid = group.mgid,
          .mlid = group.mlid,
          .traits = group.traits,
          .port = port,
          .member = member};
}

bool is_here(const Realm& realm, const Gid& port) {
  return port.prefix == realm.subnet_prefix() || port.prefix == kDefaultSubnetPrefix;
}

GroupTraits traits_of(const Realm& realm, const GroupWish& wish) {
  return {.q_key = wish.q_key,
          .p_key = wish.p_key,
          .mtu = wish.mtu,
          .rate = wish.rate,
          .life_time = realm.life_time(),
          .sl = wish.sl,
          .tclass = wish.tclass,
          .hop_limit = wish.scope == kLinkLocalScope ? std::uint8_t{0} : kRoutedHopLimit,
          .scope = wish.scope,
          .flow_label = wish.flow_label};
}

}  // namespace

GroupTable::Answer GroupTable::join(const Realm& realm,
                                    const GroupRequest& request,
                                    Guid requester) {
  if (!request.port_gid || !request.join_state) return refuse(Refusal::InsufficientComponents);
  const Guid port = request.port_gid->guid;
  const auto ability = realm.find_port(port);
  if (!ability || !is_here(realm, *request.port_gid)) return refuse(Refusal::InvalidGid);
  const bool proxy = requester != port;
  if (proxy && !realm.share_partition(requester, port)) return refuse(Refusal::RequestInvalid);
  const auto asked = static_cast<std::uint8_t>(*request.join_state & join_state::kAll);
  if (asked == 0) return refuse(Refusal::RequestInvalid);

  auto group = groups_.find(request.mgid.value_or(Gid{}));
  if (group == groups_.end()) {
    const auto created = create(realm, request, port, *ability);
    if (!created) return refuse(created.error());
    group = *created;
  } else if (!fits(realm, group->second, request, port, *ability)) {
    return refuse(Refusal::RequestInvalid);
  }
  auto member = group->second.members.find(port);
  if (member == group->second.members.end()) {
    member = group->second.members.emplace(port, Member{.proxy_join = proxy}).first;
  } else if (!may_modify(realm, group->second, member->second, port, requester)) {
    return refuse(Refusal::RequestInvalid);
  }
  const auto joined = static_cast<std::uint8_t>(member->second.join_state | asked);
  if (joined != std::exchange(member->second.join_state, joined)) touch(group->second.mlid);
  return membership(group->second, port, member->second);
}

GroupTable::Answer GroupTable::leave(const Realm& realm,
                                     const GroupRequest& request,
                                     Guid requester) {
  if (!request.mgid || !request.port_gid || !request.join_state)
    return refuse(Refusal::InsufficientComponents);
  const auto group = groups_.find(*request.mgid);
  if (group == groups_.end()) return refuse(Refusal::RequestInvalid);
  const Guid port = request.port_gid->guid;
  const auto found = group->second.members.find(port);
  if (found == group->second.members.end()) return refuse(Refusal::RequestInvalid);
  Member& member = found->second;
  const std::uint8_t asked = *request.join_state;
  if (asked == 0 || (asked & ~member.join_state) != 0 ||
      !may_modify(realm, group->second, member, port, requester))
    return refuse(Refusal::RequestInvalid);

  member.join_state = static_cast<std::uint8_t>(member.join_state & ~asked);
  const GroupMembership left = membership(group->second, port, member);
  if (member.join_state == 0) group->second.members.erase(found);
  touch(group->second.mlid);
  erase_if_unkept(group);
  return left;
}

tl::expected<GroupTable::Groups::iterator, Refusal> GroupTable::create(
    const Realm& realm, const GroupRequest& request, Guid port, const Realm::Ability& ability) {
  const auto traits = choose_traits(realm, request, port, ability);
  if (!traits) return refuse(traits.error());
  Group group{.mgid = request.mgid.value_or(Gid{}), .traits = *traits};
  if (group.mgid == Gid{}) {
    do {
      group.mgid = assigned_mgid(traits->scope, realm.subnet_prefix(), ++last_id_);
    } while (groups_.contains(group.mgid));
  }
  const Gid mgid = group.mgid;
  pool_.set_capacity(realm.mlids());
  if (!insert(std::move(group))) return refuse(Refusal::NoResources);
  return groups_.find(mgid);
}

bool GroupTable::insert(Group group) {
  group.mlid = pool_.add(group, groups_);
  if (group.mlid == kUnassignedLid) return false;
  touch(group.mlid);
  changes_.push_back({group.mgid, group.traits.p_key, true});
  groups_.emplace(group.mgid, std::move(group));
  return true;
}

std::vector<GroupWish> GroupTable::keep(const Realm& realm, const std::vector<GroupWish>& wishes) {
  pool_.set_capacity(realm.mlids());
  std::set<Gid> wanted;
  for (const GroupWish& wish : wishes) wanted.insert(wish.mgid);
  for (auto group = groups_.begin(); group != groups_.end();) {
    if (!wanted.contains(group->first)) group->second.permanent = false;
    group = erase_if_unkept(group);
  }
  std::vector<GroupWish> homeless;
  for (const GroupWish& wish : wishes) {
    const GroupTraits traits = traits_of(realm, wish);
    if (const auto found = groups_.find(wish.mgid); found == groups_.end()) {
      if (!insert({.mgid = wish.mgid, .traits = traits, .permanent = true}))
        homeless.push_back(wish);
    } else {
      found->second.permanent = true;
      if (found->second.traits != traits) {
        found->second.traits = traits;
        touch(found->second.mlid);
      }
    }
  }
  return homeless;
}

void GroupTable::drop(const std::function<bool(Guid)>& gone) {
  for (auto group = groups_.begin(); group != groups_.end();) {
    const std::size_t left =
        std::erase_if(group->second.members, [&](const auto& each) { return gone(each.first); });
    if (left > 0) touch(group->second.mlid);
    group = erase_if_unkept(group);
  }
}

const Group* GroupTable::find(const Gid& mgid) const {
  const auto found = groups_.find(mgid);
  return found == groups_.end() ? nullptr : &found->second;
}

std::vector<MlidMember> GroupTable::members_of(Lid mlid) const {
  std::map<Guid, bool> receives;
  for (const Gid& mgid : pool_.groups_of(mlid)) {
    for (const auto& [port, member] : groups_.at(mgid).members)
      receives[port] |= join_state::receives(member.join_state);
  }
  std::vector<MlidMember> out;
  out.reserve(receives.size());
  for (const auto& [port, copies] : receives) out.push_back({port, copies});
  return out;
}

std::vector<Lid> GroupTable::take_touched() {
  const std::set<Lid> touched = std::exchange(touched_, {});
  return {touched.begin(), touched.end()};
}

std::vector<GroupChange> GroupTable::take_changes() { return std::exchange(changes_, {}); }

std::vector<Group> GroupTable::snapshot() const {
  std::vector<Group> out;
  out.reserve(groups_.size());
  for (const auto& [mgid, group] : groups_) out.push_back(group);
  return out;
}

void GroupTable::restore(const Realm& realm, const std::vector<Group>& groups) {
  for (const Lid mlid : pool_.mlids()) touch(mlid);
  groups_.clear();
  pool_ = {};
  pool_.set_capacity(realm.mlids());
  std::vector<Group> homeless;
  for (Group group : groups) {
    std::erase_if(group.members, [](const auto& each) { return each.second.join_state == 0; });
    if (!is_multicast(group.mgid) || groups_.contains(group.mgid) || !is_kept(group)) continue;
    if (group.mlid < kFirstMlid || group.mlid == kPermissiveLid) {
      homeless.push_back(std::move(group));
      continue;
    }
    pool_.add(group.mgid, group.mlid);
    touch(group.mlid);
    groups_.emplace(group.mgid, std::move(group));
  }
  for (Group& group : homeless) {
    if (!groups_.contains(group.mgid)) insert(std::move(group));
  }
  changes_.clear();
}

void GroupTable::touch(Lid mlid) {
  touched_.insert(mlid);
  ++version_;
}

GroupTable::Groups::iterator GroupTable::erase(Groups::iterator group) {
  touch(group->second.mlid);
  pool_.remove(group->first, group->second.mlid);
  changes_.push_back({group->first, group->second.traits.p_key, false});
  return groups_.erase(group);
}

GroupTable::Groups::iterator GroupTable::erase_if_unkept(Groups::iterator group) {
  return is_kept(group->second) ? std::next(group) : erase(group);
}

}  // namespace smd
