#include "smd/multicast/group_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "smd/multicast/group.h"

namespace smd {
namespace {

tl::unexpected<Refusal> refuse(Refusal why) { return tl::unexpected(why); }

/// 0 where there is none.
Guid first_keeper(const Group& group) {
  const auto found = std::ranges::find_if(group.members, [](const auto& member) {
    return join_state::keeps_group(member.second.join_state);
  });
  return found == group.members.end() ? Guid{} : port_of(*found);
}

bool is_kept(const Group& group) { return group.permanent || first_keeper(group) != Guid{}; }

/// Who may change what is known of a member: itself; where somebody joined for it, everybody in the
/// group's partition (IBA o15-0.2.1).
bool may_modify(const SubnetLimits& subnet,
                const Group& group,
                const Member& member,
                Guid port,
                Guid requester) {
  if (!member.proxy_join) return requester == port;
  return subnet.in_partition(requester, group.traits.p_key);
}

GroupMembership membership(const Group& group, Guid guid, const Member& member) {
  return {.mgid = group.mgid,
          .mlid = group.mlid,
          .traits = group.traits,
          .port = guid,
          .member = member};
}

bool is_here(const SubnetLimits& subnet, const Gid& port) {
  return port.prefix == subnet.subnet_prefix() || port.prefix == kDefaultSubnetPrefix;
}

/// With a larger MTU than ports may use, nobody could join.
GroupTraits traits_of(const SubnetLimits& subnet, const PreconfiguredGroup& preconfigured) {
  return {.q_key = preconfigured.q_key,
          .p_key = preconfigured.p_key,
          .mtu = std::min(preconfigured.mtu, subnet.mtu_max()),
          .rate = preconfigured.rate,
          .life_time = subnet.life_time(),
          .sl = preconfigured.sl,
          .tclass = preconfigured.tclass,
          .hop_limit = preconfigured.scope == kLinkLocalScope ? std::uint8_t{0} : kRoutedHopLimit,
          .scope = preconfigured.scope,
          .flow_label = preconfigured.flow_label};
}

/// The administration alone looks at the lifetime, and a limited member says its own P_Key.
bool is_alike_to_members(GroupTraits a, const GroupTraits& b) {
  a.life_time = b.life_time;
  if (same_partition(a.p_key, b.p_key)) a.p_key = b.p_key;
  return a == b;
}

}  // namespace

MtuFindings find_mtu_conflicts(const std::vector<PreconfiguredGroup>& groups,
                               std::uint8_t mtu_max,
                               std::uint8_t mtu_of_switches) {
  const auto bytes = [](std::uint8_t code) { return mtu_bytes(static_cast<Mtu>(code)); };
  MtuFindings out;
  for (const PreconfiguredGroup& each : groups) {
    const std::string name = fmt::format("{} of '{}'", print_gid(each.mgid), each.partition);
    const std::uint8_t mtu = std::min(each.mtu, mtu_max);
    if (each.mtu > mtu_max && out.lessened.empty())
      out.lessened = fmt::format(
          "{} gets an MTU of {} (port.mtu_max) instead of {}", name, bytes(mtu), bytes(each.mtu));
    if (mtu > mtu_of_switches && out.too_large.empty())
      out.too_large = fmt::format("{} has an MTU of {}, and a link between switches {}",
                                  name,
                                  bytes(mtu),
                                  bytes(mtu_of_switches));
  }
  return out;
}

GroupTable::Answer GroupTable::join(const SubnetLimits& subnet,
                                    const GroupRequest& request,
                                    Guid requester) {
  if (!request.port_gid || !request.join_state) return refuse(Refusal::InsufficientComponents);
  const Guid port = request.port_gid->guid;
  const Guid guid = request.further_guid.value_or(port);
  const auto ability = subnet.find_port(port);
  if (!ability || !is_here(subnet, *request.port_gid)) return refuse(Refusal::InvalidGid);
  const bool proxy = requester != port;
  if (proxy && !subnet.share_partition(requester, port)) return refuse(Refusal::RequestInvalid);
  const auto asked = static_cast<std::uint8_t>(*request.join_state & join_state::kAll);
  if (asked == 0) return refuse(Refusal::RequestInvalid);

  drop_foreign(request.mgid.value_or(Gid{}), guid, port);
  auto group = groups_.find(request.mgid.value_or(Gid{}));
  if (group == groups_.end()) {
    const auto created = create(subnet, request, port, *ability, requester);
    if (!created) return refuse(created.error());
    group = *created;
  } else if (!fits(subnet, group->second, request, port, *ability) ||
             (proxy && !subnet.in_partition(requester, group->second.traits.p_key))) {
    return refuse(Refusal::RequestInvalid);
  }
  auto member = group->second.members.find(guid);
  if (member == group->second.members.end()) {
    if (!group->second.permanent && !has_room(requester, {.joins = 1}))
      return refuse(Refusal::NoResources);
    const Member unwritten{.proxy_join = proxy,
                           .joined_by = proxy ? requester : Guid{},
                           .port = guid == port ? Guid{} : port};
    member = group->second.members.emplace(guid, unwritten).first;
    count_member(group->second, *member, false);
  } else if (!may_modify(subnet, group->second, member->second, port, requester)) {
    return refuse(Refusal::RequestInvalid);
  } else if (!proxy && member->second.proxy_join && !take_over(group->second, member)) {
    return refuse(Refusal::NoResources);
  }
  const auto joined = static_cast<std::uint8_t>(member->second.join_state | asked);
  if (joined != std::exchange(member->second.join_state, joined)) {
    changed_members_.note({group->first, guid});
    touch(group->second.mlid);
  }
  return membership(group->second, guid, member->second);
}

/// The GUID was another port's, whose membership under it ends: `port` has it now.
void GroupTable::drop_foreign(const Gid& mgid, Guid guid, Guid port) {
  const auto group = groups_.find(mgid);
  if (group == groups_.end()) return;
  const auto member = group->second.members.find(guid);
  if (member == group->second.members.end() || port_of(*member) == port) return;
  end_member(group->second, member);
  erase_if_unkept(group);
}

void GroupTable::end_memberships(const std::map<Guid, Guid>& given_back) {
  for (auto group = groups_.begin(); group != groups_.end();) {
    for (const auto& [guid, port] : given_back) {
      const auto member = group->second.members.find(guid);
      if (member != group->second.members.end() && member->second.port == port)
        end_member(group->second, member);
    }
    group = erase_if_unkept(group);
  }
}

void GroupTable::end_member(Group& group, std::map<Guid, Member>::iterator member) {
  count_member(group, *member, true);
  changed_members_.note({group.mgid, member->first});
  group.members.erase(member);
  touch(group.mlid);
}

/// A port joins itself what somebody else joined for it: from now on that is its own affair, and
/// counts against its own limit. False where there is no room.
bool GroupTable::take_over(Group& group, std::map<Guid, Member>::iterator member) {
  Member& held = member->second;
  const Guid port = port_of(*member);
  count_member(group, *member, true);
  const bool room = group.permanent || has_room(port, {.joins = 1});
  if (room) {
    held.proxy_join = false;
    held.joined_by = Guid{};
    changed_members_.note({group.mgid, member->first});
    ++version_;
  }
  count_member(group, *member, false);
  return room;
}

GroupTable::Answer GroupTable::leave(const SubnetLimits& subnet,
                                     const GroupRequest& request,
                                     Guid requester) {
  if (!request.mgid || !request.port_gid || !request.join_state)
    return refuse(Refusal::InsufficientComponents);
  const auto group = groups_.find(*request.mgid);
  if (group == groups_.end()) return refuse(Refusal::RequestInvalid);
  const Guid guid = request.further_guid.value_or(request.port_gid->guid);
  const auto found = group->second.members.find(guid);
  if (found == group->second.members.end()) return refuse(Refusal::RequestInvalid);
  // A GUID that nobody has any more is left by the port that joined under it.
  const Guid port = port_of(*found);
  if (request.further_guid && port != request.port_gid->guid)
    return refuse(Refusal::RequestInvalid);
  Member& member = found->second;
  const std::uint8_t asked = *request.join_state;
  if (asked == 0 || (asked & ~member.join_state) != 0 ||
      !may_modify(subnet, group->second, member, port, requester))
    return refuse(Refusal::RequestInvalid);

  member.join_state = static_cast<std::uint8_t>(member.join_state & ~asked);
  changed_members_.note({group->first, guid});
  const GroupMembership left = membership(group->second, guid, member);
  if (member.join_state == 0) {
    count_member(group->second, *found, true);
    group->second.members.erase(found);
  }
  touch(group->second.mlid);
  erase_if_unkept(group);
  return left;
}

tl::expected<GroupTable::Groups::iterator, Refusal> GroupTable::create(
    const SubnetLimits& subnet,
    const GroupRequest& request,
    Guid port,
    const SubnetLimits::Ability& ability,
    Guid requester) {
  auto traits = choose_traits(subnet, request, port, ability_for(request, ability));
  if (!traits) return refuse(traits.error());
  traits->sl = own_sl(subnet, *traits);
  if (requester != port && !subnet.in_partition(requester, traits->p_key))
    return refuse(Refusal::RequestInvalid);
  // With room for its first member: no group is left without one.
  if (!has_room(requester, {.groups = 1, .joins = 1})) return refuse(Refusal::NoResources);
  Group group{.mgid = request.mgid.value_or(Gid{}), .traits = *traits, .creator = requester};
  if (group.mgid == Gid{}) {
    do {
      group.mgid = assigned_mgid(traits->scope, subnet.subnet_prefix(), ++last_id_);
    } while (groups_.contains(group.mgid));
  }
  const Gid mgid = group.mgid;
  pool_.set_capacity(subnet.mlids());
  if (!insert(std::move(group))) return refuse(Refusal::NoResources);
  return groups_.find(mgid);
}

/// IPoIB asks for the MTU of the broadcast group, whatever links between switches carry: where it
/// was let into that, it gets its other groups.
SubnetLimits::Ability GroupTable::ability_for(const GroupRequest& request,
                                              SubnetLimits::Ability ability) const {
  const Gid mgid = request.mgid.value_or(Gid{});
  if (!is_of_ipoib(mgid) || !request.p_key || !request.mtu) return ability;
  const Group* broadcast = find(ipoib_broadcast(*request.p_key, mgid_scope(mgid)));
  if (broadcast != nullptr && *request.mtu == Bound{Selector::Exactly, broadcast->traits.mtu})
    ability.mtu_all = ability.mtu;
  return ability;
}

/// The SL that all groups have for now is not this one's: hosts name it since the broadcast group
/// is said to have it, and will name that one's own when there is no lane any more.
std::uint8_t GroupTable::own_sl(const SubnetLimits& subnet, const GroupTraits& traits) const {
  if (traits.sl != subnet.multicast_sl()) return traits.sl;
  const Group* broadcast = find(ipoib_broadcast(traits.p_key, traits.scope));
  return broadcast != nullptr ? broadcast->traits.sl : std::uint8_t{0};
}

bool GroupTable::insert(Group group) {
  group.mlid = pool_.add(group, groups_);
  if (group.mlid == kUnassignedLid) return false;
  touch(group.mlid);
  changes_.push_back({group.mgid, group.traits.p_key, true});
  changed_groups_.note(group.mgid);
  count_group(group, false);
  groups_.emplace(group.mgid, std::move(group));
  return true;
}

bool GroupTable::has_room(Guid port, Count more) const {
  const auto found = by_port_.find(port);
  const Count own = found == by_port_.end() ? Count{} : found->second;
  return own.groups + more.groups <= limits_.groups_of_one_port &&
         own.joins + more.joins <= limits_.joins_of_one_port &&
         all_.groups + more.groups <= limits_.groups && all_.joins + more.joins <= limits_.joins;
}

void GroupTable::count(Guid port, Count more, bool gone) {
  const auto own = by_port_.try_emplace(port).first;
  for (Count* each : {&all_, &own->second}) {
    each->groups = gone ? each->groups - more.groups : each->groups + more.groups;
    each->joins = gone ? each->joins - more.joins : each->joins + more.joins;
  }
  if (own->second.groups == 0 && own->second.joins == 0) by_port_.erase(own);
}

void GroupTable::count_member(const Group& group,
                              const std::pair<const Guid, Member>& member,
                              bool gone) {
  if (group.permanent) return;
  const Guid joined_by = member.second.joined_by;
  count(joined_by != Guid{} ? joined_by : port_of(member), {.joins = 1}, gone);
}

/// With all its members.
void GroupTable::count_group(const Group& group, bool gone) {
  if (group.permanent) return;
  count(group.creator, {.groups = 1}, gone);
  for (const auto& member : group.members) count_member(group, member, gone);
}

void GroupTable::set_permanent(Group& group, bool permanent) {
  if (group.permanent == permanent) return;
  count_group(group, true);
  group.permanent = permanent;
  count_group(group, false);
}

std::vector<PreconfiguredGroup> GroupTable::keep(
    const SubnetLimits& subnet, const std::vector<PreconfiguredGroup>& preconfigured_groups) {
  pool_.set_capacity(subnet.mlids());
  std::set<Gid> wanted;
  for (const PreconfiguredGroup& preconfigured : preconfigured_groups)
    wanted.insert(preconfigured.mgid);
  for (auto group = groups_.begin(); group != groups_.end();) {
    if (!wanted.contains(group->first)) set_permanent(group->second, false);
    group = erase_if_unkept(group);
  }
  std::vector<PreconfiguredGroup> homeless;
  for (const PreconfiguredGroup& preconfigured : preconfigured_groups) {
    const GroupTraits traits = traits_of(subnet, preconfigured);
    if (const auto found = groups_.find(preconfigured.mgid); found == groups_.end()) {
      if (!insert({.mgid = preconfigured.mgid, .traits = traits, .permanent = true}))
        homeless.push_back(preconfigured);
    } else {
      set_permanent(found->second, true);
      change_traits(found->second, traits);
    }
  }
  return homeless;
}

/// Hosts give their groups of IPoIB what the broadcast group of the partition has (RFC 4391), so
/// groups that have it follow when it changes: else nobody could join them again.
void GroupTable::change_traits(Group& group, const GroupTraits& traits) {
  if (group.traits == traits) return;
  const GroupTraits before = std::exchange(group.traits, traits);
  changed_groups_.note(group.mgid);
  touch(group.mlid);
  if (is_alike_to_members(before, traits)) return;
  if (!group.members.empty()) changed_partitions_.insert(partition_of(traits.p_key));
  if (group.mgid != ipoib_broadcast(traits.p_key, traits.scope)) return;
  for (auto& [mgid, other] : groups_) {
    if (!other.permanent && is_of_ipoib(mgid) && is_alike_to_members(other.traits, before))
      change_traits(other, traits);
  }
}

void GroupTable::drop(const std::function<bool(Guid, const Group&)>& gone) {
  for (auto group = groups_.begin(); group != groups_.end();) {
    const std::size_t left = std::erase_if(group->second.members, [&](const auto& each) {
      if (!gone(port_of(each), group->second)) return false;
      count_member(group->second, each, true);
      changed_members_.note({group->first, each.first});
      return true;
    });
    if (left > 0) touch(group->second.mlid);
    group = erase_if_unkept(group);
  }
}

const Group* GroupTable::find(const Gid& mgid) const {
  const auto found = groups_.find(mgid);
  return found == groups_.end() ? nullptr : &found->second;
}

std::vector<MlidMember> GroupTable::members_of(Lid mlid) const {
  std::map<Guid, MlidMember> by_port;
  for (const Gid& mgid : pool_.groups_of(mlid)) {
    const Group& group = groups_.at(mgid);
    const Guid only = find_only_sender(group);
    for (const auto& member : group.members) {
      const Guid port = port_of(member);
      MlidMember& all = by_port.try_emplace(port, MlidMember{port, false, false}).first->second;
      all.receives |= join_state::receives(member.second.join_state);
      all.sends |= only == Guid{} || port == only;
    }
  }
  std::vector<MlidMember> out;
  out.reserve(by_port.size());
  for (const auto& [port, member] : by_port) out.push_back(member);
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

void GroupTable::restore(const SubnetLimits& subnet, const std::vector<Group>& groups) {
  for (const Lid mlid : pool_.mlids()) touch(mlid);
  groups_.clear();
  changed_groups_.note_everything();
  by_port_.clear();
  all_ = {};
  pool_ = {};
  pool_.set_capacity(subnet.mlids());
  std::vector<Group> homeless;
  for (Group group : groups) {
    std::erase_if(group.members, [](const auto& each) { return each.second.join_state == 0; });
    if (!is_multicast(group.mgid) || groups_.contains(group.mgid) || !is_kept(group)) continue;
    if (group.creator == Guid{}) group.creator = first_keeper(group);
    if (group.mlid < kFirstMlid || group.mlid == kPermissiveLid) {
      homeless.push_back(std::move(group));
      continue;
    }
    pool_.add(group.mgid, group.mlid);
    touch(group.mlid);
    count_group(group, false);
    groups_.emplace(group.mgid, std::move(group));
  }
  for (Group& group : homeless) {
    if (!groups_.contains(group.mgid)) insert(std::move(group));
  }
  changes_.clear();
  changed_partitions_.clear();
}

void GroupTable::touch(Lid mlid) {
  touched_.insert(mlid);
  ++version_;
}

GroupTable::Groups::iterator GroupTable::erase(Groups::iterator group) {
  touch(group->second.mlid);
  count_group(group->second, true);
  pool_.remove(group->first, group->second.mlid);
  changes_.push_back({group->first, group->second.traits.p_key, false});
  changed_groups_.note(group->first);
  return groups_.erase(group);
}

GroupTable::Groups::iterator GroupTable::erase_if_unkept(Groups::iterator group) {
  return is_kept(group->second) ? std::next(group) : erase(group);
}

}  // namespace smd
