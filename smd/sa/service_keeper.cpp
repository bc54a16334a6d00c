#include "smd/sa/service_keeper.h"

#include <utility>

#include "smd/sa/access.h"
#include "smd/sa/path_finder.h"
#include "smd/sa/record_sink.h"

namespace smd::sa {
namespace {

namespace part = service_component;

bool asks(const Query& query, std::uint64_t components) {
  return (query.header.component_mask & components) == components;
}

/// The record as clients may see it.
ServiceRecord visible(ServiceRecord record, bool trusted) {
  if (!trusted) record.key = {};
  return record;
}

/// The record that the request names; what it leaves out has a default.
ServiceRecord requested(const Query& query) {
  ServiceRecord record = *decode_service_record(query.data);
  if (!asks(query, part::kPKey)) record.p_key = kDefaultPKey;
  if (!asks(query, part::kLease)) record.lease_s = kForever;
  if (!asks(query, part::kKey)) record.key = {};
  return record;
}

}  // namespace

ServiceKeeper::ServiceKeeper(Runtime& runtime,
                             std::function<void()> on_change,
                             ServiceLimits limits,
                             QueryLimits query)
    : runtime_(runtime),
      on_change_(std::move(on_change)),
      query_limits_(query),
      limits_(limits),
      table_(limits) {}

void ServiceKeeper::restore(std::vector<Service> services) {
  table_ = ServiceTable(limits_);
  for (Service& each : services) static_cast<void>(table_.put(std::move(each)));
  table_.expire(runtime_.now());
  arm();
}

std::optional<Answer> ServiceKeeper::answer(const SubnetView& view, const Query& query) {
  if (static_cast<RecordId>(query.header.mad.attribute_id) != RecordId::ServiceRecord)
    return std::nullopt;
  switch (static_cast<Method>(query.header.mad.method)) {
    case Method::Set:
      return set(view, query);
    case Method::Delete:
      return erase(view, query);
    case Method::GetTable:
      return find_records(view, query);
    case Method::Get:
      return only_one(find_records(view, query));
    default:
      return std::nullopt;
  }
}

Answer ServiceKeeper::one(const ServiceRecord& record, bool trusted) const {
  Answer answer{.offset = kServiceRecord.offset(),
                .records = std::vector<std::byte>(kServiceRecord.size)};
  encode_record(visible(record, trusted), answer.records);
  return answer;
}

Answer ServiceKeeper::set(const SubnetView& view, const Query& query) {
  if (!asks(query, part::kId | part::kGid)) return {.status = Status::InsufficientComponents};
  const ServiceRecord record = requested(query);
  if (record.lease_s == 0) return {.status = Status::RequestInvalid};
  const PortIdx client = view.lids().owner_of(query.client.lid);
  if (client == kNone<PortIdx>) return {.status = Status::RequestInvalid};
  const PortIdx port = find_gid(view, record.gid);
  if (port == kNone<PortIdx>) return {.status = Status::InvalidGid};
  if (!is_member(view, client, record.p_key) || !is_member(view, port, record.p_key))
    return {.status = Status::Denied};
  table_.expire(runtime_.now());
  const Service* old = table_.find(id_of(record));
  if (old != nullptr && old->record.key != record.key && !query.trusted)
    return {.status = Status::Denied};
  if (!table_.put(record, view.fabric().port_guid[client], runtime_.now()))
    return {.status = Status::NoResources};
  arm();
  on_change_();
  return one(record, query.trusted);
}

Answer ServiceKeeper::erase(const SubnetView& view, const Query& query) {
  if (!asks(query, part::kId | part::kGid)) return {.status = Status::InsufficientComponents};
  const ServiceRecord wanted = requested(query);
  const PortIdx client = view.lids().owner_of(query.client.lid);
  if (client == kNone<PortIdx>) return {.status = Status::RequestInvalid};
  table_.expire(runtime_.now());
  const Service* found = table_.find(id_of(wanted));
  // Who is not in the partition does not learn that there is one.
  if (found == nullptr || (!query.trusted && !is_member(view, client, wanted.p_key)))
    return {.status = Status::NoRecords};
  if (found->record.key != wanted.key && !query.trusted) return {.status = Status::Denied};
  Answer answer = one(record_at(*found, runtime_.now()), query.trusted);
  table_.erase(id_of(wanted));
  arm();
  on_change_();
  return answer;
}

/// Services of ports that are gone are kept, but not shown: nobody could reach them.
Answer ServiceKeeper::find_records(const SubnetView& view, const Query& query) const {
  RecordSink sink(kServiceRecord, query, query_limits_.bytes);
  const PortIdx client = view.lids().owner_of(query.client.lid);
  const TimePoint now = runtime_.now();
  for (const auto& [id, service] : table_.all()) {
    if (service.expires && *service.expires <= now) continue;
    if (find_gid(view, id.gid) == kNone<PortIdx>) continue;
    if (!query.trusted && !is_member(view, client, id.p_key)) continue;
    sink.offer(visible(record_at(service, now), query.trusted));
  }
  return std::move(sink).finish();
}

void ServiceKeeper::arm() {
  const auto next = table_.next_expiry();
  if (!next) return lease_.reset();
  lease_ = Timer(runtime_, *next, [this] {
    if (table_.expire(runtime_.now())) on_change_();
    arm();
  });
}

}  // namespace smd::sa
