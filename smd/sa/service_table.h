// The services that ports offer (IBA 15.2.5.15): one record for each ServiceID, GID and P_Key. A
// record whose lease is over is gone. Pure state, told the time.
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "smd/base/changed_keys.h"
#include "smd/runtime/runtime.h"
#include "smd/sa/service_record.h"

namespace smd::sa {

/// RID of the record.
struct ServiceId {
  std::uint64_t id = 0;
  Gid gid;
  PKey p_key;

  friend auto operator<=>(const ServiceId&, const ServiceId&) = default;
};

[[nodiscard]] ServiceId id_of(const ServiceRecord& record);

struct Service {
  ServiceRecord record;              // its lease as it was given
  Guid owner;                        // port that registered it
  std::optional<TimePoint> expires;  // never, where there is none

  friend bool operator==(const Service&, const Service&) = default;
};

/// The record with what is left of its lease; at least a second.
[[nodiscard]] ServiceRecord record_at(const Service& service, TimePoint now);

struct ServiceLimits {
  std::size_t all = std::size_t{1} << 16;
  std::size_t of_one_port = 256;  // that it registered, for whomever
};

class ServiceTable {
 public:
  explicit ServiceTable(ServiceLimits limits = {}) : limits_(limits) {}

  /// From now on; what is beyond stays.
  void set_limits(const ServiceLimits& limits) { limits_ = limits; }

  /// In place of the one with its id. False when there is no room.
  [[nodiscard]] bool put(const ServiceRecord& record, Guid owner, TimePoint now);

  /// As it was in a former life. Likewise.
  [[nodiscard]] bool put(Service service);

  /// Null when there is none.
  [[nodiscard]] const Service* find(const ServiceId& id) const;

  bool erase(const ServiceId& id);

  /// Services that are not what they were; see ChangedKeys.
  [[nodiscard]] std::optional<std::set<ServiceId>> take_changed() { return changed_.take(); }

  /// True when something was.
  bool expire(TimePoint now);

  /// Of the lease that ends first.
  [[nodiscard]] std::optional<TimePoint> next_expiry() const;

  [[nodiscard]] const std::map<ServiceId, Service>& all() const { return services_; }

 private:
  ServiceLimits limits_;
  std::map<ServiceId, Service> services_;
  std::set<std::pair<TimePoint, ServiceId>> leases_;
  std::map<Guid, std::size_t> of_port_;
  ChangedKeys<ServiceId> changed_;
};

}  // namespace smd::sa
