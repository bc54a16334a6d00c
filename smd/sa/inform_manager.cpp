#include "smd/sa/inform_manager.h"

#include <algorithm>
#include <utility>

#include "smd/base/log.h"
#include "smd/sa/path_finder.h"
#include "smd/sa/query.h"
#include "smd/sa/sa_mad.h"
#include "smd/sa/subnet_view.h"

namespace smd::sa {
namespace {

/// The kernel keeps the upper half of a transaction id for itself.
constexpr std::uint64_t kOurHalf = 0xffffffff;

Duration time_of(std::uint8_t exponent) {
  return std::chrono::nanoseconds(4096) * (1ll << exponent);
}

bool is_confidential(const InformInfo& info) {
  return info.is_generic != 0 && info.trap_or_device >= smd::trap::kMKey &&
         info.trap_or_device <= smd::trap::kSwitchPKey;
}

/// That a request came with; 0 where the table is not known so far.
PKey key_at(const SubnetView& view, std::size_t index) {
  const KeyTable* table = view.own_keys();
  return table != nullptr && index < table->size() ? (*table)[index] : PKey{};
}

/// Where the subscription's P_Key stands now: an index is one port's, and a table changes. Index 0,
/// of the partition that all are in, where it is gone.
std::uint16_t index_for(const SubnetView& view, const Subscription& taker) {
  if (taker.p_key == PKey{}) return taker.pkey_index;
  const KeyTable* table = view.own_keys();
  if (table == nullptr) return 0;
  auto found = std::ranges::find(*table, taker.p_key);
  if (found == table->end()) {
    found = std::ranges::find_if(
        *table, [&](PKey key) { return key != PKey{} && same_partition(key, taker.p_key); });
  }
  return found == table->end() ? 0 : static_cast<std::uint16_t>(found - table->begin());
}

/// Both must share a partition (IBA o13-14.1.1), as far as the request names a source. `cost` grows
/// by one for every LID that is looked at.
Status check_source(const SubnetView& view,
                    PortIdx subscriber,
                    InformInfo& info,
                    std::size_t& cost) {
  if (info.gid != Gid{}) {
    const PortIdx source = find_gid(view, info.gid);
    if (source == kNone<PortIdx>) return Status::InvalidGid;
    return shares_partition(view, subscriber, keys_of(view, source)) ? Status::Ok : Status::Denied;
  }
  if (info.lid_first == kAnyLid) return Status::Ok;
  if (info.lid_last == kUnassignedLid) info.lid_last = info.lid_first;
  if (!is_unicast(info.lid_first) || !is_unicast(info.lid_last) || info.lid_last < info.lid_first)
    return Status::RequestInvalid;
  for (unsigned lid = info.lid_first.value(); lid <= info.lid_last.value(); ++lid, ++cost) {
    const PortIdx source = view.lids().owner_of(Lid{static_cast<std::uint16_t>(lid)});
    if (source != kNone<PortIdx> && !shares_partition(view, subscriber, keys_of(view, source)))
      return Status::Denied;
  }
  return Status::Ok;
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
  if (!view_) return end_term();
  forget_absent();
  arm();
}

/// What happened while we were master, another one has told since, or tells. Who was not heard yet
/// is not silent.
void Reporter::end_term() {
  turn_.reset();
  armed_ = false;
  under_way_.clear();
  by_transaction_.clear();
  ports_.clear();
  ready_.clear();
  first_ = end();
  log_.clear();
  for (auto& [subscriber, place] : places_) {
    place.next = first_;
    idle_.insert(subscriber);
  }
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
      .taker = taker,
      .packet = {.local_qp = 1, .remote_qp = subscriber.qp, .sl = taker.sl},
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
    report.packet.sl = view_->sl_to(report.lid, report.packet.sl);
    report.packet.pkey_index = index_for(*view_, report.taker);
    // What does not go out is like what gets lost.
    static_cast<void>(send_(report.packet));
  }
  report.timer =
      Timer(runtime_, runtime_.now() + report.wait, [this, to = report.to] { on_silence(to); });
}

/// Its place goes to one that its port's limit held back. That one may have nothing to be told:
/// with the last place all get their turn, since nothing under way will call them any more.
void Reporter::end(Reports::iterator report) {
  for (const std::uint32_t id : report->second.transactions) by_transaction_.erase(id);
  const auto port = ports_.find(report->first.port);
  PortQueue& queue = port->second;
  --queue.under_way;
  while (!queue.held.empty()) {
    ready_.push_back(queue.held.front());
    queue.held.pop_front();
    if (queue.under_way > 0) break;
  }
  if (queue.under_way == 0) ports_.erase(port);
  under_way_.erase(report);
}

void Reporter::on_silence(const Subscriber& subscriber) {
  const auto found = under_way_.find(subscriber);
  if (found->second.attempts < limits_.attempts) return attempt(found->second);
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

InformManager::InformManager(Runtime& runtime,
                             Reporter::Send send,
                             std::function<void()> on_change,
                             InformLimits limits)
    : on_change_(std::move(on_change)),
      limits_(limits),
      table_(limits.table),
      reporter_(
          runtime, table_, std::move(send), [this] { on_change_(); }, limits.reports),
      traps_(runtime, limits.trap_sources, [this](const TrapSource&, const Notice& notice) {
        report(TrapEvent{notice});
      }) {}

void InformManager::set_limits(const InformLimits& limits) {
  limits_ = limits;
  table_.set_limits(limits.table);
  reporter_.set_limits(limits.reports);
}

void InformManager::restore(const SubscriptionTable::Map& subscriptions,
                            std::vector<Guid> in_service) {
  table_.restore(subscriptions);
  for (const auto& [subscriber, list] : table_.all()) reporter_.note_subscriber(subscriber);
  if (in_service.empty()) return;
  watch_.restore(std::move(in_service));
  watches_ = false;
}

void InformManager::adopt(std::shared_ptr<const SubnetView> view) {
  const std::shared_ptr<const SubnetView> before = std::exchange(view_, std::move(view));
  if (!view_) return reporter_.adopt(nullptr);
  const bool dropped = table_.drop_absent(*view_) > 0;
  reporter_.adopt(view_);
  // Nobody comes or goes where the ports are the same; how many aliases one may have is not shared.
  const bool same = std::exchange(watches_, true) && before != nullptr &&
                    view_->parts().aliases == nullptr && view_->shares_ports(*before);
  const std::vector<GidEvent> events = same ? std::vector<GidEvent>{} : watch_.look(*view_);
  for (const GidEvent& event : events)
    reporter_.tell(make_report_event(*view_, before.get(), event));
  if (dropped || !events.empty() || !before) on_change_();
}

void InformManager::tell(const SaEvent& event) {
  if (const auto* trapped = std::get_if<TrapEvent>(&event)) return report_trap(trapped->notice);
  report(event);
}

void InformManager::report_trap(const Notice& notice) {
  if (!view_) return;
  if (view_->lids().owner_of(notice.issuer_lid) == kNone<PortIdx>) {
    ++stats_.unknown_issuer;
    return;
  }
  // Numbers that no specification gives share one rate: an issuer cannot fill the table with them.
  const std::uint16_t number =
      notice.is_generic && smd::is_known_trap(notice.trap_or_device) ? notice.trap_or_device : 0;
  const auto verdict = traps_.offer({notice.issuer_lid, number}, limits_.traps, notice);
  if (verdict != decltype(traps_)::Verdict::Passed) ++stats_.held_back;
}

void InformManager::report(const SaEvent& event) {
  if (view_) reporter_.tell(make_report_event(*view_, nullptr, event));
}

std::optional<Answer> InformManager::answer(const SubnetView& view, const Query& query) {
  const auto method = static_cast<Method>(query.header.mad.method);
  const auto id = static_cast<RecordId>(query.header.mad.attribute_id);
  if (id == RecordId::InformInfo && method == Method::Set) return set(view, query);
  if (id != RecordId::InformInfoRecord) return std::nullopt;
  if (method == Method::GetTable) return find_records(view, query);
  if (method == Method::Get) return only_one(find_records(view, query));
  return std::nullopt;
}

Answer InformManager::set(const SubnetView& view, const Query& query) {
  const PortIdx port = view.lids().owner_of(query.client.lid);
  InformInfo info = *decode_inform_info(query.data);
  // The confirmation is a copy of the request (o13-12.1.1).
  Answer confirmed{.records = {query.data.begin(), query.data.begin() + kInformInfoSize}};
  if (port == kNone<PortIdx> || info.subscribe > 1 || info.is_generic > 1)
    return {.status = Status::RequestInvalid};
  Subscriber subscriber{view.fabric().port_guid[port], query.client.qp};
  if (info.subscribe == 0) {
    if (info.gid == Gid{} && info.lid_first != kAnyLid && info.lid_last == kUnassignedLid)
      info.lid_last = info.lid_first;
    if (info.qpn != 0) subscriber.qp = info.qpn;
    if (!table_.remove(subscriber, info)) return {.status = Status::RequestInvalid};
    on_change_();
    return confirmed;
  }
  if (is_confidential(info) && !query.trusted) return {.status = Status::Denied};
  if (const Status status = check_source(view, port, info, confirmed.cost); status != Status::Ok)
    return {.status = status, .cost = confirmed.cost};
  info.qpn = query.client.qp;
  if (!table_.add(subscriber,
                  {.info = info,
                   .trusted = query.trusted,
                   .sl = query.client.sl,
                   .pkey_index = query.client.pkey_index,
                   .p_key = key_at(view, query.client.pkey_index)}))
    return {.status = Status::NoResources, .cost = confirmed.cost};
  reporter_.note_subscriber(subscriber);
  on_change_();
  return confirmed;
}

Answer InformManager::find_records(const SubnetView& view, const Query& query) const {
  RecordSink sink(kInformInfoRecord, query, limits_.query.bytes);
  const PortIdx client = view.lids().owner_of(query.client.lid);
  for (const auto& [subscriber, list] : table_.all()) {
    const PortIdx port = view.find_port(subscriber.port);
    sink.pass();
    if (!query.trusted && !shares_partition(view, client, keys_of(view, port))) continue;
    for (const Subscription& each : list) {
      sink.offer(InformInfoRecord{.subscriber = {view.parts().subnet_prefix, subscriber.port},
                                  .number = each.number,
                                  .info = each.info});
    }
  }
  return std::move(sink).finish();
}

}  // namespace smd::sa
