#include "smd/sa/service_table.h"

#include <algorithm>
#include <utility>

namespace smd::sa {

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

}  // namespace smd::sa
