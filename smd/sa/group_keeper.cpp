#include "smd/sa/group_keeper.h"

#include <utility>

#include "smd/multicast/group_rules.h"
#include "smd/sa/multicast_records.h"
#include "smd/sa/record_sink.h"

namespace smd::sa {
namespace {

namespace part = member_component;

/// Looked at apart from the other components: bounds, and what the untrusted may not see.
constexpr std::uint64_t kBounds = part::kMtuSelector | part::kMtu | part::kRateSelector |
                                  part::kRate | part::kLifeTimeSelector | part::kLifeTime;

Status status_of(Refusal refusal) {
  switch (refusal) {
    case Refusal::InsufficientComponents:
      return Status::InsufficientComponents;
    case Refusal::RequestInvalid:
      return Status::RequestInvalid;
    case Refusal::InvalidGid:
      return Status::InvalidGid;
    case Refusal::NoResources:
      break;
  }
  return Status::NoResources;
}

/// The port that sent the request; kNone when its LID is nobody's.
PortIdx sender_of(const SubnetView& view, const Query& query) {
  return view.lids().owner_of(query.client.lid);
}

/// Packets need not have the SL that was asked for.
McMemberRecord say(const Realm& realm, const GroupMembership& membership) {
  McMemberRecord record = record_of(membership, realm.subnet_prefix());
  record.sl = realm.packet_sl(record.sl);
  return record;
}

}  // namespace

std::optional<Answer> GroupKeeper::answer(const SubnetView& view, const Query& query) {
  const auto id = static_cast<RecordId>(query.header.mad.attribute_id);
  const auto method = static_cast<Method>(query.header.mad.method);
  const bool reads = method == Method::Get || method == Method::GetTable;
  if (id == RecordId::MftRecord && reads) {
    Answer found = find_tables(view, query);
    return method == Method::Get ? only_one(std::move(found)) : std::move(found);
  }
  if (id != RecordId::McMemberRecord) return std::nullopt;
  if (reads) {
    Answer found = find_members(view, query);
    return method == Method::Get ? only_one(std::move(found)) : std::move(found);
  }
  if (method == Method::Set) return change(view, query, true);
  if (method == Method::Delete) return change(view, query, false);
  return std::nullopt;
}

Answer GroupKeeper::change(const SubnetView& view, const Query& query, bool joins) {
  const Realm* realm = parts_.realm();
  if (realm == nullptr) return {.status = Status::Busy};
  const PortIdx sender = sender_of(view, query);
  if (sender == kNone<PortIdx>) return {.status = Status::RequestInvalid};
  const auto record = decode_mc_member_record(query.data);
  const GroupRequest request = request_of(*record, query.header.component_mask);
  const Guid requester = view.fabric().port_guid[sender];
  const std::uint64_t before = parts_.groups.version();
  const GroupTable::Answer result = joins ? parts_.groups.join(*realm, request, requester)
                                          : parts_.groups.leave(*realm, request, requester);
  if (parts_.groups.version() != before) parts_.on_changed();
  if (!result) return {.status = status_of(result.error())};
  Answer answer{.offset = kMcMemberRecord.offset(),
                .records = std::vector<std::byte>(kMcMemberRecord.size)};
  encode_record(say(*realm, *result), answer.records);
  return answer;
}

/// The trusted see every member of every group; others one record of each group of their
/// partitions, with nothing in it of who is in it. They may ask whether they are in it themselves.
Answer GroupKeeper::find_members(const SubnetView& view, const Query& query) const {
  const Realm* realm = parts_.realm();
  if (realm == nullptr) return {.status = Status::Busy};
  const std::uint64_t mask = query.header.component_mask;
  const auto wanted = decode_mc_member_record(query.data);
  const GroupRequest bounds = request_of(*wanted, mask & kBounds);
  const PortIdx sender = sender_of(view, query);
  const Guid own = sender == kNone<PortIdx> ? Guid{} : view.fabric().port_guid[sender];
  const bool names_port = (mask & part::kPortGid) != 0;
  const bool asks_for_itself = names_port && wanted->port_gid.guid == own;
  std::uint64_t settled = kBounds;
  if (names_port) settled |= part::kPortGid;
  if (asks_for_itself && !query.trusted) settled |= part::kJoinState | part::kProxyJoin;
  RecordSink sink(kMcMemberRecord, query, parts_.limits.bytes, settled);
  const auto offer = [&](const Group& group, Guid port, const Member& member) {
    sink.offer(say(*realm,
                   {.mgid = group.mgid,
                    .mlid = group.mlid,
                    .traits = group.traits,
                    .port = port,
                    .member = member}));
  };
  const auto look = [&](const Group& group) {
    if (!meets_bounds(group.traits, bounds)) return;
    if (!query.trusted && !realm->in_partition(own, group.traits.p_key)) return;
    if (names_port) {
      const auto member = group.members.find(wanted->port_gid.guid);
      if (member == group.members.end() || (!query.trusted && !asks_for_itself)) return;
      if (query.trusted) return offer(group, member->first, member->second);
    } else if (query.trusted) {
      for (const auto& [port, member] : group.members) offer(group, port, member);
      return;
    }
    McMemberRecord record = say(
        *realm,
        {.mgid = group.mgid, .mlid = group.mlid, .traits = group.traits, .port = {}, .member = {}});
    record.port_gid = {};
    sink.offer(record);
  };
  if ((mask & part::kMgid) != 0) {
    if (const Group* group = parts_.groups.find(wanted->mgid); group != nullptr) look(*group);
  } else {
    for (const auto& [mgid, group] : parts_.groups.groups()) look(group);
  }
  return std::move(sink).finish();
}

Answer GroupKeeper::find_tables(const SubnetView& view, const Query& query) const {
  const Fabric& fabric = view.fabric();
  const auto wanted = decode_mft_record(query.data);
  const bool names_lid = (query.header.component_mask & component_bit(0)) != 0;
  RecordSink sink(kMftRecord, query, parts_.limits.bytes, component_bit(0));
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    const NodeIdx node = fabric.switch_node[sw];
    const Lid lid = view.lids().base[fabric.port_of(node, PortNum{0})];
    if (names_lid && wanted->lid != lid) continue;
    parts_.tables.each_held(fabric.node_guid[node], [&](MftModifier at, const MftBlock& block) {
      sink.offer(MftRecord{.lid = lid, .position = at.position, .block = at.block, .masks = block});
    });
  }
  return std::move(sink).finish();
}

}  // namespace smd::sa
