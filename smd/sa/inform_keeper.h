// Subscriptions to events: Set(InformInfo), InformInfoRecord, and the Reports (IBA 13.4.8.3,
// 13.4.9 to 13.4.11).
#pragma once

#include <functional>
#include <memory>

#include "smd/sa/gid_watch.h"
#include "smd/sa/record_keeper.h"
#include "smd/sa/reporter.h"
#include "smd/sa/trap_gate.h"

namespace smd::sa {

struct InformLimits {
  SubscriptionLimits table;
  ReporterLimits reports;
  QueryLimits query;
};

class InformKeeper final : public RecordKeeper {
 public:
  /// `on_change`: what is to be kept is not what it was. May come from inside any call.
  InformKeeper(Runtime& runtime,
               Reporter::Send send,
               std::function<void()> on_change,
               InformLimits limits = {});

  /// From now on; what is beyond stays.
  void set_limits(const InformLimits& limits);

  [[nodiscard]] std::optional<Answer> answer(const SubnetView& view, const Query& query) override;

  /// Tells who is new and who is gone; subscriptions of the latter end.
  void adopt(std::shared_ptr<const SubnetView> view);

  /// Nobody is told before there is a view; of traps of one port, so many a second.
  void tell(const SaEvent& event);

  /// A ReportResp.
  void on_answer(const MadPacket& packet) { reporter_.on_answer(packet); }

  /// Of a former life; before the first view. `in_service`: GUIDs of ports that were; empty: nobody
  /// knows.
  void restore(const SubscriptionTable::Map& subscriptions, std::vector<Guid> in_service);

  [[nodiscard]] SubscriptionTable& table() { return table_; }

  [[nodiscard]] const SubscriptionTable& table() const { return table_; }

  [[nodiscard]] const Reporter& reporter() const { return reporter_; }

  [[nodiscard]] const std::vector<Guid>& in_service() const { return watch_.in_service(); }

 private:
  Answer set(const SubnetView& view, const Query& query);
  void report(const SaEvent& event);
  [[nodiscard]] Answer find_records(const SubnetView& view, const Query& query) const;

  std::function<void()> on_change_;
  InformLimits limits_;
  SubscriptionTable table_;
  Reporter reporter_;
  TrapGate gate_;
  GidWatch watch_;
  std::shared_ptr<const SubnetView> view_;
};

}  // namespace smd::sa
