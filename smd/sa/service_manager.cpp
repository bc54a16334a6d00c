#include "smd/sa/service_manager.h"

#include <algorithm>
#include <utility>

#include "smd/mad/codec.h"
#include "smd/sa/path_finder.h"
#include "smd/sa/query.h"
#include "smd/sa/subnet_view.h"

namespace smd::sa {
namespace {

constexpr std::size_t kHead = 7;

/// The fields before ServiceData, then 16 of 8 bits, 8 of 16, 4 of 32 and 2 of 64.
constexpr std::array<Component, kHead + 30> make_components() {
  std::array<Component, kHead + 30> out{{{0, 0, 64},       // ServiceID
                                         {1, 64, 128},     // ServiceGID
                                         {2, 192, 16},     // ServiceP_Key
                                         {3, 208, 16},     // reserved
                                         {4, 224, 32},     // ServiceLease
                                         {5, 256, 128},    // ServiceKey
                                         {6, 384, 512}}};  // ServiceName
  std::uint8_t bit = kHead;
  std::uint16_t first = 896;
  for (std::uint16_t width = 8; width <= 64; width = static_cast<std::uint16_t>(2 * width)) {
    for (int i = 0; i < 128 / width; ++i, ++bit) {
      out[bit] = {bit, first, width};
      first = static_cast<std::uint16_t>(first + width);
    }
  }
  return out;
}

constexpr std::array kServiceComponents = make_components();

/// The record as clients may see it.
ServiceRecord visible(ServiceRecord record, bool trusted) {
  if (!trusted) record.key = {};
  return record;
}

/// The record that the request names; what it leaves out has a default.
ServiceRecord requested(const Query& query) {
  ServiceRecord record = *decode_service_record(query.data);
  if (!asks(query, service_component::kPKey)) record.p_key = kDefaultPKey;
  if (!asks(query, service_component::kLease)) record.lease_s = kForever;
  if (!asks(query, service_component::kKey)) record.key = {};
  return record;
}

}  // namespace

const RecordShape kServiceRecord{RecordId::ServiceRecord, 176, kServiceComponents};

Result<ServiceRecord> decode_service_record(std::span<const std::byte> data) {
  ByteReader in(data);
  ServiceRecord record;
  record.id = in.u64();
  record.gid = {.prefix = in.u64(), .guid = Guid{in.u64()}};
  record.p_key = PKey{in.u16()};
  in.skip(2);
  record.lease_s = in.u32();
  record.key = in.bytes<16>();
  record.name = in.bytes<64>();
  record.data = in.bytes<64>();
  if (!in.ok()) return codec::too_short("ServiceRecord", data.size());
  return record;
}

void encode_record(const ServiceRecord& record, std::span<std::byte> data) {
  ByteWriter out(data);
  out.u64(record.id);
  out.u64(record.gid.prefix);
  out.u64(record.gid.guid.value());
  out.u16(record.p_key.value());
  out.zeros(2);
  out.u32(record.lease_s);
  out.bytes(record.key);
  out.bytes(record.name);
  out.bytes(record.data);
}

ServiceId id_of(const ServiceRecord& record) { return {record.id, record.gid, record.p_key}; }

ServiceRecord record_at(const Service& service, TimePoint now) {
  ServiceRecord record = service.record;
  if (!service.expires) return record;
  const auto left = std::chrono::ceil<std::chrono::seconds>(*service.expires - now).count();
  record.lease_s = static_cast<std::uint32_t>(std::max<std::int64_t>(left, 1));
  return record;
}

bool ServiceTable::put(const ServiceRecord& record, Guid owner, TimePoint now) {
  Service service{.record = record, .owner = owner, .expires = {}};
  if (record.lease_s != kForever) service.expires = now + std::chrono::seconds(record.lease_s);
  return put(std::move(service));
}

bool ServiceTable::put(Service service) {
  const ServiceId id = id_of(service.record);
  const Service* old = find(id);
  const bool moves = old == nullptr || old->owner != service.owner;
  const auto count = of_port_.find(service.owner);
  if (moves && count != of_port_.end() && count->second >= limits_.of_one_port) return false;
  if (old == nullptr && services_.size() >= limits_.all) return false;
  erase(id);
  if (service.expires) leases_.emplace(*service.expires, id);
  ++of_port_[service.owner];
  changed_.note(id);
  services_.emplace(id, std::move(service));
  return true;
}

const Service* ServiceTable::find(const ServiceId& id) const {
  const auto found = services_.find(id);
  return found == services_.end() ? nullptr : &found->second;
}

bool ServiceTable::erase(const ServiceId& id) {
  const auto found = services_.find(id);
  if (found == services_.end()) return false;
  const Service& service = found->second;
  if (service.expires) leases_.erase({*service.expires, id});
  const auto count = of_port_.find(service.owner);
  if (--count->second == 0) of_port_.erase(count);
  changed_.note(id);
  services_.erase(found);
  return true;
}

bool ServiceTable::expire(TimePoint now) {
  bool any = false;
  while (!leases_.empty() && leases_.begin()->first <= now) {
    const ServiceId id = leases_.begin()->second;
    any = erase(id) || any;
  }
  return any;
}

std::optional<TimePoint> ServiceTable::next_expiry() const {
  if (leases_.empty()) return std::nullopt;
  return leases_.begin()->first;
}

ServiceManager::ServiceManager(Runtime& runtime,
                               std::function<void()> on_change,
                               ServiceLimits limits,
                               QueryLimits query)
    : runtime_(runtime),
      on_change_(std::move(on_change)),
      query_limits_(query),
      limits_(limits),
      table_(limits) {}

void ServiceManager::restore(std::vector<Service> services) {
  table_ = ServiceTable(limits_);
  for (Service& each : services) static_cast<void>(table_.put(std::move(each)));
  table_.expire(runtime_.now());
  arm();
}

std::optional<Answer> ServiceManager::answer(const SubnetView& view, const Query& query) {
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

Answer ServiceManager::one(const ServiceRecord& record, bool trusted) const {
  Answer answer{.offset = kServiceRecord.offset(),
                .records = std::vector<std::byte>(kServiceRecord.size)};
  encode_record(visible(record, trusted), answer.records);
  return answer;
}

Answer ServiceManager::set(const SubnetView& view, const Query& query) {
  if (!asks(query, service_component::kId | service_component::kGid))
    return {.status = Status::InsufficientComponents};
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

Answer ServiceManager::erase(const SubnetView& view, const Query& query) {
  if (!asks(query, service_component::kId | service_component::kGid))
    return {.status = Status::InsufficientComponents};
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
Answer ServiceManager::find_records(const SubnetView& view, const Query& query) const {
  RecordSink sink(kServiceRecord, query, query_limits_.bytes);
  const PortIdx client = view.lids().owner_of(query.client.lid);
  const TimePoint now = runtime_.now();
  const auto& all = table_.all();
  const std::uint64_t named = decode_service_record(query.data)->id;
  const bool by_id = asks(query, service_component::kId);
  for (auto each = by_id ? all.lower_bound({.id = named}) : all.begin(); each != all.end();
       ++each) {
    const auto& [id, service] = *each;
    if (by_id && id.id != named) break;
    sink.pass();
    if (service.expires && *service.expires <= now) continue;
    if (find_gid(view, id.gid) == kNone<PortIdx>) continue;
    if (!query.trusted && !is_member(view, client, id.p_key)) continue;
    sink.offer(visible(record_at(service, now), query.trusted));
  }
  return std::move(sink).finish();
}

void ServiceManager::arm() {
  const auto next = table_.next_expiry();
  if (!next) return lease_.reset();
  lease_ = Timer(runtime_, *next, [this] {
    if (table_.expire(runtime_.now())) on_change_();
    arm();
  });
}

}  // namespace smd::sa
