#include "smd/sa/multicast_records.h"

#include "smd/sa/record_words.h"

namespace smd::sa {
namespace {

namespace part = member_component;

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
  take(request.mgid, part::kMgid, record.mgid);
  take(request.port_gid, part::kPortGid, record.port_gid);
  take(request.q_key, part::kQKey, record.q_key);
  take(request.mlid, part::kMlid, record.mlid);
  take(request.mtu, part::kMtuSelector | part::kMtu, record.mtu);
  take(request.tclass, part::kTclass, record.tclass);
  take(request.p_key, part::kPKey, record.p_key);
  take(request.rate, part::kRateSelector | part::kRate, record.rate);
  take(request.life_time, part::kLifeTimeSelector | part::kLifeTime, record.life_time);
  take(request.sl, part::kSl, record.sl);
  take(request.flow_label, part::kFlowLabel, record.flow_label);
  take(request.hop_limit, part::kHopLimit, record.hop_limit);
  take(request.scope, part::kScope, record.scope);
  take(request.join_state, part::kJoinState, record.join_state);
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

}  // namespace smd::sa
