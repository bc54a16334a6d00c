#include "smd/sa/group_manager.h"

#include <utility>

#include "smd/multicast/group.h"
#include "smd/sa/path_finder.h"
#include "smd/sa/query.h"
#include "smd/sa/sa_mad.h"

namespace smd::sa {
namespace {

constexpr Component kMemberComponents[] = {
    {0, 0, 128},    // MGID
    {1, 128, 128},  // PortGID
    {2, 256, 32},   // Q_Key
    {3, 288, 16},   // MLID
    {4, 304, 2},    // MTUSelector
    {5, 306, 6},    // MTU
    {6, 312, 8},    // TClass
    {7, 320, 16},   // P_Key
    {8, 336, 2},    // RateSelector
    {9, 338, 6},    // Rate
    {10, 344, 2},   // PacketLifeTimeSelector
    {11, 346, 6},   // PacketLifeTime
    {12, 352, 4},   // SL
    {13, 356, 20},  // FlowLabel
    {14, 376, 8},   // HopLimit
    {15, 384, 4},   // Scope
    {16, 388, 4},   // JoinState
    {17, 392, 1},   // ProxyJoin
};

constexpr Component kMftComponents[] = {
    {0, 0, 16},    // LID
    {1, 16, 4},    // Position
    {3, 23, 9},    // BlockNum
    {5, 64, 512},  // MulticastForwardingTable
};

/// Looked at apart from the other components: bounds, and the P_Key, of which a limited member
/// knows another one than the group has.
constexpr std::uint64_t kBounds = member_component::kMtuSelector | member_component::kMtu |
                                  member_component::kRateSelector | member_component::kRate |
                                  member_component::kLifeTimeSelector |
                                  member_component::kLifeTime | member_component::kPKey;

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

/// Of the port that a GID names, which may be a further one of it; as it is where none does.
Guid own_guid(const SubnetView& view, const Gid& gid) {
  const PortIdx port = find_gid(view, gid);
  return port == kNone<PortIdx> ? gid.guid : view.fabric().port_guid[port];
}

/// Packets need not have the SL that was asked for.
McMemberRecord say(const SubnetLimits& subnet, const GroupMembership& membership) {
  McMemberRecord record = record_of(membership, subnet.subnet_prefix());
  record.sl = subnet.packet_sl(record.sl);
  return record;
}

}  // namespace

const RecordShape kMcMemberRecord{RecordId::McMemberRecord, 56, kMemberComponents};
const RecordShape kMftRecord{RecordId::MftRecord, 72, kMftComponents};

Result<McMemberRecord> decode_mc_member_record(std::span<const std::byte> data) {
  ByteReader in(data);
  McMemberRecord record{.mgid = read_gid(in)};
  record.port_gid = read_gid(in);
  record.q_key = in.u32();
  record.mlid = Lid{in.u16()};
  record.mtu = read_bound(in.u8());
  record.tclass = in.u8();
  record.p_key = PKey{in.u16()};
  record.rate = read_bound(in.u8());
  record.life_time = read_bound(in.u8());
  const std::uint32_t flow = in.u32();
  record.sl = static_cast<std::uint8_t>(flow >> 28);
  record.flow_label = flow >> 8 & kFlowLabelMask;
  record.hop_limit = static_cast<std::uint8_t>(flow & 0xff);
  const std::uint8_t states = in.u8();
  record.scope = codec::bits(states, 4, 4);
  record.join_state = codec::bits(states, 0, 4);
  record.proxy_join = codec::bit(in.u8(), 7);
  if (!in.ok()) return codec::too_short("MCMemberRecord", data.size());
  return record;
}

void encode_record(const McMemberRecord& record, std::span<std::byte> data) {
  ByteWriter out(data);
  write_gid(out, record.mgid);
  write_gid(out, record.port_gid);
  out.u32(record.q_key);
  out.u16(record.mlid.value());
  out.u8(write_bound(record.mtu));
  out.u8(record.tclass);
  out.u16(record.p_key.value());
  out.u8(write_bound(record.rate));
  out.u8(write_bound(record.life_time));
  out.u32((record.sl & 15u) << 28 | (record.flow_label & kFlowLabelMask) << 8 | record.hop_limit);
  out.u8(codec::join(codec::place(record.scope, 4, 4), codec::place(record.join_state, 0, 4)));
  out.u8(codec::place(record.proxy_join ? 1 : 0, 7, 1));
  codec::pad(out, data.size());
}

Result<MftRecord> decode_mft_record(std::span<const std::byte> data) {
  if (data.size() < kMftRecord.size) return codec::too_short("MFTRecord", data.size());
  ByteReader in(data);
  const Lid lid{in.u16()};
  const std::uint16_t place = in.u16();
  return MftRecord{.lid = lid,
                   .position = static_cast<std::uint8_t>(place >> 12),
                   .block = static_cast<std::uint16_t>(place & 0x1ff),
                   .masks = *decode_mft_block(data.subspan(8, kSmpDataSize))};
}

void encode_record(const MftRecord& record, std::span<std::byte> data) {
  ByteWriter out(data);
  out.u16(record.lid.value());
  out.u16(static_cast<std::uint16_t>((record.position & 15u) << 12 | (record.block & 0x1ffu)));
  out.zeros(4);
  encode_mft_block(record.masks, data.subspan<8, kSmpDataSize>());
}

GroupRequest request_of(const McMemberRecord& record, std::uint64_t mask) {
  GroupRequest request;
  const auto take = [mask](auto& into, std::uint64_t components, const auto& value) {
    if ((mask & components) == components) into = value;
  };
  take(request.mgid, member_component::kMgid, record.mgid);
  take(request.port_gid, member_component::kPortGid, record.port_gid);
  take(request.q_key, member_component::kQKey, record.q_key);
  take(request.mlid, member_component::kMlid, record.mlid);
  take(request.mtu, member_component::kMtuSelector | member_component::kMtu, record.mtu);
  take(request.tclass, member_component::kTclass, record.tclass);
  take(request.p_key, member_component::kPKey, record.p_key);
  take(request.rate, member_component::kRateSelector | member_component::kRate, record.rate);
  take(request.life_time,
       member_component::kLifeTimeSelector | member_component::kLifeTime,
       record.life_time);
  take(request.sl, member_component::kSl, record.sl);
  take(request.flow_label, member_component::kFlowLabel, record.flow_label);
  take(request.hop_limit, member_component::kHopLimit, record.hop_limit);
  take(request.scope, member_component::kScope, record.scope);
  take(request.join_state, member_component::kJoinState, record.join_state);
  return request;
}

McMemberRecord record_of(const GroupMembership& membership, std::uint64_t subnet_prefix) {
  const GroupTraits& traits = membership.traits;
  return {.mgid = membership.mgid,
          .port_gid = {subnet_prefix, membership.port},
          .q_key = traits.q_key,
          .mlid = membership.mlid,
          .mtu = {Selector::Exactly, traits.mtu},
          .tclass = traits.tclass,
          .p_key = traits.p_key,
          .rate = {Selector::Exactly, traits.rate},
          .life_time = {Selector::Exactly, traits.life_time},
          .sl = traits.sl,
          .flow_label = traits.flow_label,
          .hop_limit = traits.hop_limit,
          .scope = traits.scope,
          .join_state = membership.member.join_state,
          .proxy_join = membership.member.proxy_join};
}

std::optional<Answer> GroupManager::answer(const SubnetView& view, const Query& query) {
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

Answer GroupManager::change(const SubnetView& view, const Query& query, bool joins) {
  const SubnetLimits* subnet = parts_.subnet();
  if (subnet == nullptr) return {.status = Status::Busy};
  const PortIdx sender = sender_of(view, query);
  if (sender == kNone<PortIdx>) return {.status = Status::RequestInvalid};
  const auto record = decode_mc_member_record(query.data);
  GroupRequest request = request_of(*record, query.header.component_mask);
  const std::optional<Gid> asked = request.port_gid;
  if (asked) request.port_gid->guid = own_guid(view, *asked);
  if (request.port_gid != asked) request.further_guid = asked->guid;
  const Guid requester = view.fabric().port_guid[sender];
  const std::uint64_t before = parts_.groups.version();
  const GroupTable::Answer result = joins ? parts_.groups.join(*subnet, request, requester)
                                          : parts_.groups.leave(*subnet, request, requester);
  if (parts_.groups.version() != before) parts_.on_changed();
  if (!result) return {.status = status_of(result.error())};
  Answer answer{.offset = kMcMemberRecord.offset(),
                .records = std::vector<std::byte>(kMcMemberRecord.size)};
  encode_record(say(*subnet, *result), answer.records);
  return answer;
}

/// The trusted see every member of every group; others one record of each group of their
/// partitions, with nothing in it of who is in it. They may ask whether they are in it themselves.
Answer GroupManager::find_members(const SubnetView& view, const Query& query) const {
  const SubnetLimits* subnet = parts_.subnet();
  if (subnet == nullptr) return {.status = Status::Busy};
  const std::uint64_t mask = query.header.component_mask;
  const auto wanted = decode_mc_member_record(query.data);
  const GroupRequest bounds = request_of(*wanted, mask & kBounds);
  const PortIdx sender = sender_of(view, query);
  const Guid own = sender == kNone<PortIdx> ? Guid{} : view.fabric().port_guid[sender];
  const bool names_port = (mask & member_component::kPortGid) != 0;
  const bool asks_for_itself = names_port && own_guid(view, wanted->port_gid) == own;
  std::uint64_t settled = kBounds;
  if (names_port) settled |= member_component::kPortGid;
  if (asks_for_itself && !query.trusted)
    settled |= member_component::kJoinState | member_component::kProxyJoin;
  RecordSink sink(kMcMemberRecord, query, parts_.limits.bytes, settled);
  const auto offer = [&](const Group& group, Guid guid, const Member& member) {
    sink.offer(say(*subnet,
                   {.mgid = group.mgid,
                    .mlid = group.mlid,
                    .traits = group.traits,
                    .port = guid,
                    .member = member}));
  };
  const auto look = [&](const Group& group) {
    sink.pass();
    if (!meets_bounds(group.traits, bounds)) return;
    if (bounds.p_key && !same_partition(group.traits.p_key, *bounds.p_key)) return;
    if (!query.trusted && !subnet->in_partition(own, group.traits.p_key)) return;
    if (names_port) {
      const auto member = group.members.find(wanted->port_gid.guid);
      if (member == group.members.end()) return;
      if (!query.trusted && (!asks_for_itself || port_of(*member) != own)) return;
      if (query.trusted) return offer(group, member->first, member->second);
    } else if (query.trusted) {
      for (const auto& [guid, member] : group.members) offer(group, guid, member);
      return;
    }
    McMemberRecord record = say(
        *subnet,
        {.mgid = group.mgid, .mlid = group.mlid, .traits = group.traits, .port = {}, .member = {}});
    record.port_gid = {};
    sink.offer(record);
  };
  if ((mask & member_component::kMgid) != 0) {
    if (const Group* group = parts_.groups.find(wanted->mgid); group != nullptr) look(*group);
  } else {
    for (const auto& [mgid, group] : parts_.groups.groups()) look(group);
  }
  return std::move(sink).finish();
}

Answer GroupManager::find_tables(const SubnetView& view, const Query& query) const {
  const Fabric& fabric = view.fabric();
  RecordSink sink(kMftRecord, query, parts_.limits.bytes, kLid);
  for (const PortIdx port : find_candidates(view, query, sink)) {
    const NodeIdx node = fabric.node_of[port];
    sink.pass();
    if (!fabric.is_switch(node)) continue;
    const Lid lid = view.lids().base[port];
    parts_.tables.each_held(fabric.node_guid[node], [&](MftModifier at, const MftBlock& block) {
      sink.offer(MftRecord{.lid = lid, .position = at.position, .block = at.block, .masks = block});
    });
  }
  return std::move(sink).finish();
}

}  // namespace smd::sa
