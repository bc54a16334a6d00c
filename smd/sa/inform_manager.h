// InformInfo: subscribing and unsubscribing, and Reports until they are answered.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "smd/runtime/rate_limiter.h"
#include "smd/runtime/runtime.h"
#include "smd/sa/query.h"
#include "smd/sa/subscriptions.h"
#include "smd/transport/transport.h"

namespace smd::sa {

// Tells subscribers of events: SubnAdmReport, again until it is answered (IBA 13.4.9, 13.4.10).
//
// Events stand in one log and every subscriber has a place in it, so that a crowd of subscribers
// costs a number each and not a queue. A subscriber is told of one event at a time, in order. One
// that stays silent costs `attempts` sends for each of `failures` events; then it is given up. One
// that is so slow that the log moved on misses what is gone from it.

struct ReporterLimits {
  std::size_t log = std::size_t{1} << 16;  // events that are kept
  std::size_t under_way = 64;              // reports
  std::size_t under_way_to_one_port = 4;   // likewise, to all its queue pairs
  std::size_t looked_at = 4096;            // events, of all subscribers, in one turn
  unsigned attempts = 4;                   // of one report
  unsigned failures = 3;                   // reports in a row, until a subscriber is given up
  Duration least_wait = std::chrono::milliseconds(500);  // for an answer
  Duration most_wait = std::chrono::seconds(4);          // likewise, whatever RespTimeValue says
};

struct ReporterStats {
  std::uint64_t events = 0;
  std::uint64_t reports = 0;  // begun
  std::uint64_t resent = 0;
  std::uint64_t answered = 0;
  std::uint64_t failed = 0;    // silence, or refused
  std::uint64_t missed = 0;    // events that slow subscribers were not told of
  std::uint64_t given_up = 0;  // subscribers
  std::uint64_t unasked = 0;   // answers to nothing
};

class Reporter {
 public:
  using Send = std::function<Result<void>(const MadPacket&)>;

  /// `on_dropped`: the table has lost a subscriber that did not answer. `table` outlives this.
  Reporter(Runtime& runtime,
           SubscriptionTable& table,
           Send send,
           std::function<void()> on_dropped,
           ReporterLimits limits = {});
  Reporter(const Reporter&) = delete;

  /// Where subscribers are from now on; null: nobody is told until there is another, and then of
  /// what happens from then on.
  void adopt(std::shared_ptr<const SubnetView> view);

  /// From now on; what is beyond goes on.
  void set_limits(const ReporterLimits& limits) { limits_ = limits; }

  void tell(ReportEvent event);

  /// A ReportResp.
  void on_answer(const MadPacket& packet);

  /// The table has a new subscriber: it is told of what comes from now on.
  void note_subscriber(const Subscriber& subscriber);

  [[nodiscard]] const ReporterStats& stats() const { return stats_; }

  /// Nothing is under way and nobody waits.
  [[nodiscard]] bool at_rest() const { return under_way_.empty() && ready_.empty(); }

 private:
  using Sequence = std::uint64_t;

  struct Place {
    Sequence next = 0;      // event to look at
    unsigned failures = 0;  // in a row
  };

  struct Report {
    Subscriber to;
    Subscription taker;
    Lid lid;
    MadPacket packet;
    unsigned attempts = 0;
    Duration wait{0};
    std::vector<std::uint32_t> transactions;  // of its attempts
    Timer timer;
  };

  using Reports = std::map<Subscriber, Report>;

  /// Silent queue pairs of one port hold up each other, and nobody else. Who is held waits for a
  /// report that is under way.
  struct PortQueue {
    std::size_t under_way = 0;
    std::deque<Subscriber> held;  // ready, but for the limit of their port
  };

  [[nodiscard]] Sequence end() const { return first_ + log_.size(); }

  void arm();
  void turn();
  void end_term();
  void look_ahead(const Subscriber& subscriber, std::size_t& looked_at);
  void begin(const Subscriber& subscriber, const Subscription& taker, const ReportEvent& event);
  void attempt(Report& report);
  void on_silence(const Subscriber& subscriber);
  void finish(Reports::iterator report, bool heard);
  void end(Reports::iterator report);
  void forget_absent();

  Runtime& runtime_;
  SubscriptionTable& table_;
  Send send_;
  std::function<void()> on_dropped_;
  ReporterLimits limits_;
  ReporterStats stats_;
  std::shared_ptr<const SubnetView> view_;
  std::deque<ReportEvent> log_;
  Sequence first_ = 0;  // of the log
  std::map<Subscriber, Place> places_;
  std::deque<Subscriber> ready_;  // in turn; not at the end of the log, nothing under way
  std::set<Subscriber> idle_;     // at the end of the log
  Reports under_way_;
  std::map<Guid, PortQueue> ports_;  // of those in under_way_
  std::map<std::uint32_t, Subscriber> by_transaction_;
  std::uint32_t transaction_ = 0;
  Timer turn_;
  bool armed_ = false;
};

// Subscriptions to events: Set(InformInfo), InformInfoRecord, and the Reports (IBA 13.4.8.3,
// 13.4.9 to 13.4.11).

struct InformLimits {
  /// Of traps that are forwarded, of one issuer and number: a link that flaps does not fill the
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

class InformManager final : public RecordManager {
 public:
  /// `on_change`: what is to be kept is not what it was. May come from inside any call.
  InformManager(Runtime& runtime,
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

  /// The last one; null: none.
  [[nodiscard]] const SubnetView* view() const { return view_.get(); }

 private:
  using TrapSource = std::pair<Lid, std::uint16_t>;  // issuer and number

  Answer set(const SubnetView& view, const Query& query);
  void report_trap(const Notice& notice);
  void report(const SaEvent& event);
  [[nodiscard]] Answer find_records(const SubnetView& view, const Query& query) const;

  std::function<void()> on_change_;
  InformLimits limits_;
  SubscriptionTable table_;
  Reporter reporter_;
  InformStats stats_;
  RateLimiter<TrapSource, Notice> traps_;
  GidWatch watch_;
  bool watches_ = false;  // it has looked at view_
  std::shared_ptr<const SubnetView> view_;
};

}  // namespace smd::sa
