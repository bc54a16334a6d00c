// Tells subscribers of events: SubnAdmReport, again until it is answered (IBA 13.4.9, 13.4.10).
//
// Events stand in one log and every subscriber has a place in it, so that a crowd of subscribers
// costs a number each and not a queue. A subscriber is told of one event at a time, in order. One
// that stays silent costs `attempts` sends for each of `failures` events; then it is given up. One
// that is so slow that the log moved on misses what is gone from it.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "smd/runtime/runtime.h"
#include "smd/sa/subscriptions.h"
#include "smd/transport/transport.h"

namespace smd::sa {

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

  /// Where subscribers are from now on; null: nobody is told until there is another.
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
    Lid lid;
    MadPacket packet;
    unsigned attempts = 0;
    Duration wait{0};
    std::vector<std::uint32_t> transactions;  // of its attempts
    Timer timer;
  };

  using Reports = std::map<Subscriber, Report>;

  /// Silent queue pairs of one port hold up each other, and nobody else.
  struct PortQueue {
    std::size_t under_way = 0;
    std::deque<Subscriber> held;  // ready, but for the limit of their port
  };

  [[nodiscard]] Sequence end() const { return first_ + log_.size(); }

  void arm();
  void turn();
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

}  // namespace smd::sa
