#include "smd/sa/inform_keeper.h"

#include <utility>

#include "smd/sa/access.h"
#include "smd/sa/path_finder.h"
#include "smd/sa/record_sink.h"

namespace smd::sa {
namespace {

bool is_confidential(const InformInfo& info) {
  return info.is_generic != 0 && info.trap_or_device >= smd::trap::kMKey &&
         info.trap_or_device <= smd::trap::kSwitchPKey;
}

/// Both must share a partition (IBA o13-14.1.1), as far as the request names a source.
Status check_source(const SubnetView& view, PortIdx subscriber, InformInfo& info) {
  if (info.gid != Gid{}) {
    const PortIdx source = find_gid(view, info.gid);
    if (source == kNone<PortIdx>) return Status::InvalidGid;
    return shares_partition(view, subscriber, keys_of(view, source)) ? Status::Ok : Status::Denied;
  }
  if (info.lid_first == kAnyLid) return Status::Ok;
  if (info.lid_last == kUnassignedLid) info.lid_last = info.lid_first;
  if (!is_unicast(info.lid_first) || !is_unicast(info.lid_last) || info.lid_last < info.lid_first)
    return Status::RequestInvalid;
  for (unsigned lid = info.lid_first.value(); lid <= info.lid_last.value(); ++lid) {
    const PortIdx source = view.lids().owner_of(Lid{static_cast<std::uint16_t>(lid)});
    if (source != kNone<PortIdx> && !shares_partition(view, subscriber, keys_of(view, source)))
      return Status::Denied;
  }
  return Status::Ok;
}

}  // namespace

InformKeeper::InformKeeper(Runtime& runtime,
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

void InformKeeper::set_limits(const InformLimits& limits) {
  limits_ = limits;
  table_.set_limits(limits.table);
  reporter_.set_limits(limits.reports);
}

void InformKeeper::restore(const SubscriptionTable::Map& subscriptions,
                           std::vector<Guid> in_service) {
  table_.restore(subscriptions);
  for (const auto& [subscriber, list] : table_.all()) reporter_.note_subscriber(subscriber);
  if (!in_service.empty()) watch_.restore(std::move(in_service));
}

void InformKeeper::adopt(std::shared_ptr<const SubnetView> view) {
  const std::shared_ptr<const SubnetView> before = std::exchange(view_, std::move(view));
  if (!view_) return reporter_.adopt(nullptr);
  const bool dropped = table_.drop_absent(*view_) > 0;
  reporter_.adopt(view_);
  const std::vector<GidEvent> events = watch_.look(*view_);
  for (const GidEvent& event : events)
    reporter_.tell(make_report_event(*view_, before.get(), event));
  if (dropped || !events.empty() || !before) on_change_();
}

void InformKeeper::tell(const SaEvent& event) {
  if (const auto* trapped = std::get_if<TrapEvent>(&event)) return tell_trap(trapped->notice);
  report(event);
}

void InformKeeper::tell_trap(const Notice& notice) {
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

void InformKeeper::report(const SaEvent& event) {
  if (view_) reporter_.tell(make_report_event(*view_, nullptr, event));
}

std::optional<Answer> InformKeeper::answer(const SubnetView& view, const Query& query) {
  const auto method = static_cast<Method>(query.header.mad.method);
  const auto id = static_cast<RecordId>(query.header.mad.attribute_id);
  if (id == RecordId::InformInfo && method == Method::Set) return set(view, query);
  if (id != RecordId::InformInfoRecord) return std::nullopt;
  if (method == Method::GetTable) return find_records(view, query);
  if (method == Method::Get) return only_one(find_records(view, query));
  return std::nullopt;
}

Answer InformKeeper::set(const SubnetView& view, const Query& query) {
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
  if (const Status status = check_source(view, port, info); status != Status::Ok)
    return {.status = status};
  if (info.gid == Gid{} && info.lid_first != kAnyLid)
    confirmed.cost = 1u + info.lid_last.value() - info.lid_first.value();
  info.qpn = query.client.qp;
  if (!table_.add(subscriber,
                  {.info = info,
                   .trusted = query.trusted,
                   .sl = query.client.sl,
                   .pkey_index = query.client.pkey_index}))
    return {.status = Status::NoResources};
  reporter_.note_subscriber(subscriber);
  on_change_();
  return confirmed;
}

Answer InformKeeper::find_records(const SubnetView& view, const Query& query) const {
  RecordSink sink(kInformInfoRecord, query, limits_.query.bytes);
  const PortIdx client = view.lids().owner_of(query.client.lid);
  for (const auto& [subscriber, list] : table_.all()) {
    const PortIdx port = view.find_port(subscriber.port);
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
