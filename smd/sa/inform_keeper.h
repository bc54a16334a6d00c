// Subscriptions to events: Set(InformInfo), InformInfoRecord, and the Reports (IBA 13.4.8.3,
// 13.4.9 to 13.4.11).
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "smd/runtime/rate_limiter.h"
#include "smd/sa/gid_watch.h"
#include "smd/sa/record_keeper.h"
#include "smd/sa/reporter.h"

namespace smd::sa {

struct InformLimits {
  /// Of traps that are forwarded, of one issuer and number: a cable that flaps does not fill the
  /// log of events. The last that was held back is told when its time has come.
  Rate traps{.burst = 20, .refill = std::chrono::milliseconds(200)};

  std::size_t trap_sources = std::size_t{1} << 15;  // issuers times numbers
  SubscriptionLimits table;
  ReporterLimits reports;
  QueryLimits query;
};

struct InformStats {
  std::uint64_t unknown_issuer = 0;  // traps: dropped
  std::uint64_t held_back = 0;       // traps: a later one stands for them
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

  /// Nobody is told before there is a view. A trap whose issuer has no LID of it is dropped.
  void tell(const SaEvent& event);

  /// A ReportResp.
  void on_answer(const MadPacket& packet) { reporter_.on_answer(packet); }

  /// Of a former life; before the first view. `in_service`: GUIDs of ports that were; empty: nobody
  /// knows.
  void restore(const SubscriptionTable::Map& subscriptions, std::vector<Guid> in_service);

  [[nodiscard]] SubscriptionTable& table() { return table_; }

  [[nodiscard]] const SubscriptionTable& table() const { return table_; }

  [[nodiscard]] const Reporter& reporter() const { return reporter_; }

  [[nodiscard]] const InformStats& stats() const { return stats_; }

  /// Issuers times numbers whose rate is kept.
  [[nodiscard]] std::size_t trap_sources() const { return traps_.sources(); }

  [[nodiscard]] const std::vector<Guid>& in_service() const { return watch_.in_service(); }

 private:
  using TrapSource = std::pair<Lid, std::uint16_t>;  // issuer and number

  Answer set(const SubnetView& view, const Query& query);
  void tell_trap(const Notice& notice);
  void report(const SaEvent& event);
  [[nodiscard]] Answer find_records(const SubnetView& view, const Query& query) const;

  std::function<void()> on_change_;
  InformLimits limits_;
  SubscriptionTable table_;
  Reporter reporter_;
  InformStats stats_;
  RateLimiter<TrapSource, Notice> traps_;
  GidWatch watch_;
  std::shared_ptr<const SubnetView> view_;
};

}  // namespace smd::sa
