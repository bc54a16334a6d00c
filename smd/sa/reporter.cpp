#include "smd/sa/reporter.h"

#include <algorithm>
#include <utility>

#include "smd/base/log.h"
#include "smd/sa/sa_mad.h"

namespace smd::sa {
namespace {

/// The kernel keeps the upper half of a transaction id for itself.
constexpr std::uint64_t kOurHalf = 0xffffffff;

Duration time_of(std::uint8_t exponent) {
  return std::chrono::nanoseconds(4096) * (1ll << exponent);
}

}  // namespace

Reporter::Reporter(Runtime& runtime,
                   SubscriptionTable& table,
                   Send send,
                   std::function<void()> on_dropped,
                   ReporterLimits limits)
    : runtime_(runtime),
      table_(table),
      send_(std::move(send)),
      on_dropped_(std::move(on_dropped)),
      limits_(limits) {}

void Reporter::adopt(std::shared_ptr<const SubnetView> view) {
  view_ = std::move(view);
  forget_absent();
  arm();
}

void Reporter::note_subscriber(const Subscriber& subscriber) {
  if (places_.try_emplace(subscriber, Place{.next = end()}).second) idle_.insert(subscriber);
}

/// Places of subscribers that the table has no more.
void Reporter::forget_absent() {
  for (auto each = places_.begin(); each != places_.end();) {
    if (table_.all().contains(each->first)) {
      ++each;
      continue;
    }
    if (const auto report = under_way_.find(each->first); report != under_way_.end()) end(report);
    idle_.erase(each->first);
    std::erase(ready_, each->first);
    if (const auto port = ports_.find(each->first.port); port != ports_.end())
      std::erase(port->second.held, each->first);
    each = places_.erase(each);
  }
}

void Reporter::tell(ReportEvent event) {
  ++stats_.events;
  if (table_.all().empty()) return;
  if (log_.size() == limits_.log) {
    log_.pop_front();
    ++first_;
  }
  log_.push_back(std::move(event));
  for (const Subscriber& each : std::exchange(idle_, {})) ready_.push_back(each);
  arm();
}

void Reporter::arm() {
  if (!view_ || ready_.empty() || under_way_.size() >= limits_.under_way) return;
  if (!std::exchange(armed_, true)) turn_ = Timer(runtime_, runtime_.now(), [this] { turn(); });
}

void Reporter::turn() {
  armed_ = false;
  std::size_t looked_at = 0;
  while (!ready_.empty() && under_way_.size() < limits_.under_way &&
         looked_at < limits_.looked_at) {
    const Subscriber subscriber = ready_.front();
    ready_.pop_front();
    const auto port = ports_.find(subscriber.port);
    if (port != ports_.end() && port->second.under_way >= limits_.under_way_to_one_port) {
      ++looked_at;
      port->second.held.push_back(subscriber);
    } else {
      look_ahead(subscriber, looked_at);
    }
  }
  if (ready_.empty() && under_way_.empty()) {
    first_ = end();
    log_.clear();
  }
  arm();
}

/// To the next event that the subscriber is told of, or to the end of the log.
void Reporter::look_ahead(const Subscriber& subscriber, std::size_t& looked_at) {
  ++looked_at;
  const auto entry = table_.all().find(subscriber);
  if (entry == table_.all().end()) {
    places_.erase(subscriber);
    return;
  }
  Place& place = places_.at(subscriber);
  if (place.next < first_) {
    stats_.missed += first_ - place.next;
    place.next = first_;
  }
  while (place.next < end()) {
    if (looked_at >= limits_.looked_at) return ready_.push_front(subscriber);
    ++looked_at;
    const ReportEvent& event = log_[place.next++ - first_];
    if (const Subscription* taker = table_.find_taker(*view_, entry, event))
      return begin(subscriber, *taker, event);
  }
  idle_.insert(subscriber);
}

void Reporter::begin(const Subscriber& subscriber,
                     const Subscription& taker,
                     const ReportEvent& event) {
  ++stats_.reports;
  ++ports_[subscriber.port].under_way;
  Report& report = under_way_[subscriber];
  report = {
      .to = subscriber,
      .packet = {.local_qp = 1,
                 .remote_qp = subscriber.qp,
                 .sl = taker.sl,
                 .pkey_index = taker.pkey_index},
      .wait = std::clamp(time_of(taker.info.resp_time), limits_.least_wait, limits_.most_wait)};
  encode_report(event, std::span(report.packet.mad).subspan<kHeaderSize>());
  attempt(report);
}

void Reporter::attempt(Report& report) {
  ++report.attempts;
  if (report.attempts > 1) ++stats_.resent;
  if (++transaction_ == 0) ++transaction_;
  report.transactions.push_back(transaction_);
  by_transaction_[transaction_] = report.to;
  encode_sa_header({.mad = {.mgmt_class = static_cast<std::uint8_t>(MgmtClass::SubnAdm),
                            .class_version = kClassVersion,
                            .method = static_cast<std::uint8_t>(Method::Report),
                            .transaction_id = transaction_,
                            .attribute_id = static_cast<std::uint16_t>(RecordId::Notice)}},
                   report.packet.mad);
  // Where the port is now: its LID may have moved since it subscribed.
  const PortIdx port = view_->find_port(report.to.port);
  if (port != kNone<PortIdx>) {
    report.lid = report.packet.remote_lid = view_->lids().base[port];
    // What does not go out is like what gets lost.
    static_cast<void>(send_(report.packet));
  }
  report.timer =
      Timer(runtime_, runtime_.now() + report.wait, [this, to = report.to] { on_silence(to); });
}

/// Its place goes to one that its port's limit held back.
void Reporter::end(Reports::iterator report) {
  for (const std::uint32_t id : report->second.transactions) by_transaction_.erase(id);
  const auto port = ports_.find(report->first.port);
  if (!port->second.held.empty()) {
    ready_.push_back(port->second.held.front());
    port->second.held.pop_front();
  }
  if (--port->second.under_way == 0) ports_.erase(port);
  under_way_.erase(report);
}

void Reporter::on_silence(const Subscriber& subscriber) {
  const auto found = under_way_.find(subscriber);
  if (found->second.attempts < limits_.attempts && view_) return attempt(found->second);
  finish(found, false);
}

void Reporter::on_answer(const MadPacket& packet) {
  const SaHeader header = *decode_sa_header(packet.mad);
  const auto known =
      by_transaction_.find(static_cast<std::uint32_t>(header.mad.transaction_id & kOurHalf));
  const auto found =
      known == by_transaction_.end() ? under_way_.end() : under_way_.find(known->second);
  if (found == under_way_.end() || found->second.lid != packet.remote_lid ||
      found->second.to.qp != packet.remote_qp) {
    ++stats_.unasked;
    return;
  }
  finish(found, header.mad.status == 0);
}

void Reporter::finish(Reports::iterator report, bool heard) {
  const Subscriber subscriber = report->first;
  // The timer may be what called us: it goes when its task has been left.
  const Timer done = std::move(report->second.timer);
  end(report);
  Place& place = places_.at(subscriber);
  ++(heard ? stats_.answered : stats_.failed);
  place.failures = heard ? 0 : place.failures + 1;
  if (place.failures < limits_.failures) {
    ready_.push_back(subscriber);
    return arm();
  }
  ++stats_.given_up;
  log::info("sa.subscriber_gone",
            "port={} qp={} silent_reports={}; its subscriptions end",
            subscriber.port,
            subscriber.qp,
            place.failures);
  places_.erase(subscriber);
  table_.drop(subscriber);
  on_dropped_();
  arm();
}

}  // namespace smd::sa
