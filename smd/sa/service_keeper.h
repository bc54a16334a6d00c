// Set, Get, GetTable and Delete of ServiceRecord (IBA 15.2.5.15, 15.4.1.2). Whoever changes a
// record knows its ServiceKey; who asks is a member of its partition.
#pragma once

#include <functional>

#include "smd/sa/record_keeper.h"
#include "smd/sa/service_table.h"

namespace smd::sa {

class ServiceKeeper final : public RecordKeeper {
 public:
  /// `on_change`: what is to be kept is not what it was.
  ServiceKeeper(Runtime& runtime,
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
