#include "smd/sa/query.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "smd/base/bytes.h"
#include "smd/sa/group_manager.h"
#include "smd/sa/multi_path.h"
#include "smd/sa/path_finder.h"
#include "smd/sa/port_tables.h"
#include "smd/sa/sa_mad.h"
#include "smd/sa/service_manager.h"

namespace smd::sa {
namespace {

/// QoS is offered where the site has rules for it.
std::uint32_t capabilities2(const SubnetView& view) {
  const std::uint32_t always =
      sa_cap2::kIsMulticastFdbTopSupported | sa_cap2::kIsAliasGuidsSupported |
      sa_cap2::kIsFullPortInfoRecordSupported | sa_cap2::kIsExtendedSpeedsSupported |
      sa_cap2::kIsPortInfoCapMask2MatchSupported | sa_cap2::kIsSendOnlyFullMemberSupported |
      sa_cap2::kIsLinkWidth2xSupported | sa_cap2::kIsLinkSpeedHdrSupported;
  return always | (view.parts().qos_rules ? sa_cap2::kIsQosSupported : 0);
}

Answer describe_service(const SubnetView& view) {
  Answer answer{.records = std::vector<std::byte>(kClassPortInfoSize)};
  encode_record(ClassPortInfo{.capability_mask = sa_cap::kIsUdMulticastSupported |
                                                 sa_cap::kIsMultiPathSupported |
                                                 sa_cap::kIsPortInfoCapMaskMatchSupported,
                              .capability_mask2 = capabilities2(view),
                              .resp_time_value = view.parts().resp_time_value},
                answer.records);
  return answer;
}

/// Who answers Get and GetTable of an attribute that stands in the snapshot.
struct RecordAnswer {
  RecordId id;
  Answer (*find)(const SubnetView& view, const Query& query, const QueryLimits& limits);
};

constexpr RecordAnswer kRecordAnswers[] = {
    {RecordId::NodeRecord, find_node_records},
    {RecordId::PortInfoRecord, find_port_info_records},
    {RecordId::SwitchInfoRecord, find_switch_info_records},
    {RecordId::SmInfoRecord, find_sm_info_records},
    {RecordId::LinkRecord, find_link_records},
    {RecordId::LftRecord, find_lft_records},
    {RecordId::GuidInfoRecord, find_guid_info_records},
    {RecordId::PathRecord, find_path_records},
    {RecordId::PKeyTableRecord, find_p_key_records},
    {RecordId::SlToVlTableRecord, find_sl_to_vl_records},
    {RecordId::VlArbTableRecord, find_vl_arb_records},
};

}  // namespace

bool speaks_for_another(const SubnetView& view, const Query& query) {
  const auto method = static_cast<Method>(query.header.mad.method);
  if (method != Method::Set && method != Method::Delete) return false;
  Gid named;
  bool may_be_away = false;  // what is kept for a port waits for it
  switch (static_cast<RecordId>(query.header.mad.attribute_id)) {
    case RecordId::McMemberRecord:
      if (!asks(query, member_component::kPortGid)) return false;
      named = decode_mc_member_record(query.data)->port_gid;
      break;
    case RecordId::ServiceRecord:
      if (!asks(query, service_component::kGid)) return false;
      named = decode_service_record(query.data)->gid;
      may_be_away = method == Method::Delete;
      break;
    default:
      return false;
  }
  const PortIdx port = find_gid(view, named);
  if (port == kNone<PortIdx>) return may_be_away;
  return port != query.requester;
}

bool is_stranger(const SubnetView& view, const Query& query) {
  if (query.requester == kNone<PortIdx>) return true;
  const auto method = static_cast<Method>(query.header.mad.method);
  const bool changes = method == Method::Set || method == Method::Delete;
  Gid named;
  switch (static_cast<RecordId>(query.header.mad.attribute_id)) {
    case RecordId::McMemberRecord:
      if (!changes || !asks(query, member_component::kPortGid)) return false;
      named = decode_mc_member_record(query.data)->port_gid;
      break;
    case RecordId::ServiceRecord:
      if (!changes || !asks(query, service_component::kGid)) return false;
      named = decode_service_record(query.data)->gid;
      break;
    case RecordId::PathRecord:
      if (!asks(query, path_component::kSgid)) return false;
      named = decode_path_record(query.data)->sgid;
      break;
    default:
      return false;
  }
  return !is_elsewhere(view, named) && find_gid(view, named) == kNone<PortIdx>;
}

Client client_of(const MadPacket& request) {
  return {request.remote_lid, request.remote_qp, request.sl, request.pkey_index};
}

SaHeader answer_header(const SaHeader& request, Status status, std::uint16_t offset) {
  SaHeader header = request;
  header.mad.method = answer_method(request.mad.method);
  header.mad.status = static_cast<std::uint16_t>(status);
  header.mad.class_version = kClassVersion;
  header.rmpp = {.response_time = 0};
  header.sm_key = SmKey{};
  header.attribute_offset = offset;
  return header;
}

MadPacket make_answer(const MadPacket& request, const SaHeader& header, const Answer& answer) {
  MadPacket packet = request;
  packet.local_qp = 1;
  packet.mad = {};
  encode_sa_header(answer_header(header, answer.status, answer.offset), packet.mad);
  std::ranges::copy(answer.records, packet.mad.begin() + kHeaderSize);
  return packet;
}

Lid wanted_lid(const Query& query) { return Lid{ByteReader(query.data).u16()}; }

std::size_t drop_invisible(const SubnetView& view,
                           const Query& query,
                           std::vector<PortIdx>& ports) {
  return std::erase_if(ports, [&](PortIdx port) { return !is_visible(view, query, port); });
}

std::vector<PortIdx> find_candidates(const SubnetView& view, const Query& query, RecordSink& sink) {
  std::vector<PortIdx> ports;
  if (!asks(query, kLid)) {
    ports = view.end_ports();
  } else if (const PortIdx port = view.lids().owner_of(wanted_lid(query)); port != kNone<PortIdx>) {
    ports.push_back(port);
  }
  sink.pass(drop_invisible(view, query, ports));
  return ports;
}

Answer only_one(Answer answer) {
  if (answer.status != Status::Ok || answer.count() == 1) return answer;
  return {.status = answer.count() == 0 ? Status::NoRecords : Status::TooManyRecords,
          .cost = answer.cost};
}

bool is_visible(const SubnetView& view, const Query& query, PortIdx port) {
  if (query.trusted || view.partitions() == nullptr) return true;
  if (query.requester == kNone<PortIdx> || !view.share_partition(query.requester, port))
    return false;
  const Fabric& fabric = view.fabric();
  const PortIdx peer = fabric.peer[port];
  if (peer == kNone<PortIdx> || !fabric.is_switch(fabric.node_of[port])) return true;
  return fabric.is_switch(fabric.node_of[peer]) || view.share_partition(query.requester, peer);
}

Answer answer_multi(const SubnetView& view,
                    const Query& query,
                    std::span<const std::byte> data,
                    const QueryLimits& limits) {
  if (static_cast<RecordId>(query.header.mad.attribute_id) != RecordId::MultiPathRecord)
    return {.status = Status::BadMethodAttribute};
  return find_multi_paths(view, query, data, limits);
}

Answer answer_query(const SubnetView& view, const Query& query, const QueryLimits& limits) {
  const auto method = static_cast<Method>(query.header.mad.method);
  const auto id = static_cast<RecordId>(query.header.mad.attribute_id);
  if (method == Method::GetTraceTable && id == RecordId::TraceRecord)
    return find_trace(view, query, limits);
  if (method != Method::Get && method != Method::GetTable) return {.status = Status::BadMethod};
  if (id == RecordId::ClassPortInfo) {
    if (method != Method::Get) return {.status = Status::BadMethodAttribute};
    return describe_service(view);
  }
  const auto row = std::ranges::find(kRecordAnswers, id, &RecordAnswer::id);
  if (row == std::end(kRecordAnswers)) return {.status = Status::BadMethodAttribute};
  Answer answer = row->find(view, query, limits);
  return method == Method::Get ? only_one(std::move(answer)) : answer;
}

}  // namespace smd::sa
