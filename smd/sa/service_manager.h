// Services: their records, their leases, and answers about them.
#pragma once

#include <array>
#include <compare>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "smd/base/publisher.h"
#include "smd/ib/types.h"
#include "smd/runtime/runtime.h"
#include "smd/sa/query.h"
#include "smd/sa/sa_mad.h"

namespace smd::sa {

// ServiceRecord (IBA 15.2.5.15): a service and the port that offers it.

/// ServiceLease of a record that stays until it is deleted; any other is seconds.
inline constexpr std::uint32_t kForever = 0xffffffff;

struct ServiceRecord {
  std::uint64_t id = 0;
  Gid gid;
  PKey p_key;
  std::uint32_t lease_s = kForever;
  std::array<std::uint8_t, 16> key{};
  std::array<std::uint8_t, 64> name{};  // UTF-8, as it came
  std::array<std::uint8_t, 64> data{};  // ServiceData8, 16, 32 and 64

  friend bool operator==(const ServiceRecord&, const ServiceRecord&) = default;
};

/// Bits of its ComponentMask.
namespace service_component {
inline constexpr std::uint64_t kId = component_bit(0);
inline constexpr std::uint64_t kGid = component_bit(1);
inline constexpr std::uint64_t kPKey = component_bit(2);
inline constexpr std::uint64_t kLease = component_bit(4);
inline constexpr std::uint64_t kKey = component_bit(5);
}  // namespace service_component

extern const RecordShape kServiceRecord;

Result<ServiceRecord> decode_service_record(std::span<const std::byte> data);

/// Fills `data`, which has the size of the record's shape.
void encode_record(const ServiceRecord& record, std::span<std::byte> data);

// The services that ports offer (IBA 15.2.5.15): one record for each ServiceID, GID and P_Key. A
// record whose lease is over is gone. Pure state, told the time.

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

// Set, Get, GetTable and Delete of ServiceRecord (IBA 15.2.5.15, 15.4.1.2). Whoever changes a
// record knows its ServiceKey; who asks is a member of its partition.

class ServiceManager final : public RecordManager {
 public:
  /// `on_change`: what is to be kept is not what it was.
  ServiceManager(Runtime& runtime,
                 std::function<void()> on_change,
                 ServiceLimits limits = {},
                 QueryLimits query = {});

  /// From now on; what is beyond stays.
  void set_limits(const ServiceLimits& limits) { table_.set_limits(limits_ = limits); }

  [[nodiscard]] std::optional<Answer> answer(const SubnetView& view, const Query& query) override;

  /// Of a former life: in place of what is there, as far as limits allow.
  void restore(std::vector<Service> services);

  [[nodiscard]] ServiceTable& table() { return table_; }

  [[nodiscard]] const ServiceTable& table() const { return table_; }

 private:
  Answer set(const SubnetView& view, const Query& query);
  Answer erase(const SubnetView& view, const Query& query);
  [[nodiscard]] Answer find_records(const SubnetView& view, const Query& query) const;
  [[nodiscard]] Answer one(const ServiceRecord& record, bool trusted) const;
  void arm();

  Runtime& runtime_;
  std::function<void()> on_change_;
  QueryLimits query_limits_;
  ServiceLimits limits_;
  ServiceTable table_;
  Timer lease_;
};

}  // namespace smd::sa
