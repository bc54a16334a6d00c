#include "smd/sa/query.h"

#include <utility>

#include "smd/sa/class_port_info.h"
#include "smd/sa/multi_path.h"
#include "smd/sa/path_query.h"
#include "smd/sa/record_queries.h"
#include "smd/sa/table_queries.h"
#include "smd/sa/trace.h"

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

Answer find_records(const SubnetView& view, const Query& query, const QueryLimits& limits) {
  switch (static_cast<RecordId>(query.header.mad.attribute_id)) {
    case RecordId::NodeRecord:
      return find_node_records(view, query, limits);
    case RecordId::PortInfoRecord:
      return find_port_info_records(view, query, limits);
    case RecordId::SwitchInfoRecord:
      return find_switch_info_records(view, query, limits);
    case RecordId::SmInfoRecord:
      return find_sm_info_records(view, query, limits);
    case RecordId::LinkRecord:
      return find_link_records(view, query, limits);
    case RecordId::LftRecord:
      return find_lft_records(view, query, limits);
    case RecordId::GuidInfoRecord:
      return find_guid_info_records(view, query, limits);
    case RecordId::PathRecord:
      return find_path_records(view, query, limits);
    case RecordId::PKeyTableRecord:
      return find_p_key_records(view, query, limits);
    case RecordId::SlToVlTableRecord:
      return find_sl_to_vl_records(view, query, limits);
    case RecordId::VlArbTableRecord:
      return find_vl_arb_records(view, query, limits);
    default:
      return {.status = Status::BadMethodAttribute};
  }
}

}  // namespace

Answer only_one(Answer answer) {
  if (answer.status != Status::Ok || answer.count() == 1) return answer;
  return {.status = answer.count() == 0 ? Status::NoRecords : Status::TooManyRecords,
          .cost = answer.cost};
}

bool is_visible(const SubnetView& view, const Query& query, PortIdx port) {
  if (query.trusted || view.partitions() == nullptr) return true;
  return query.requester != kNone<PortIdx> && view.share_partition(query.requester, port);
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
  Answer answer = find_records(view, query, limits);
  return method == Method::Get ? only_one(std::move(answer)) : answer;
}

}  // namespace smd::sa
