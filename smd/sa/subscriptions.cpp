#include "smd/sa/subscriptions.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "smd/base/bytes.h"
#include "smd/mad/codec.h"
#include "smd/sa/subnet_view.h"

namespace smd::sa {
namespace {

constexpr std::size_t kInfoAt = 24;

constexpr Component kInformComponents[] = {
    {0, 0, 128},    // SubscriberGID
    {1, 128, 16},   // SubscriberEnum
    {2, 144, 48},   // reserved
    {3, 192, 128},  // GID
    {4, 320, 16},   // LIDRangeBegin
    {5, 336, 16},   // LIDRangeEnd
    {6, 352, 16},   // reserved
    {7, 368, 8},    // IsGeneric
    {8, 376, 8},    // Subscribe
    {9, 384, 16},   // Type
    {10, 400, 16},  // TrapNumber or DeviceID
    {11, 416, 24},  // QPN
    {12, 440, 3},   // reserved
    {13, 443, 5},   // RespTimeValue
    {14, 448, 8},   // reserved
    {15, 456, 24},  // ProducerType or VendorID
};

InformInfo read(ByteReader& in) {
  InformInfo info;
  info.gid = {.prefix = in.u64(), .guid = Guid{in.u64()}};
  info.lid_first = Lid{in.u16()};
  info.lid_last = Lid{in.u16()};
  in.skip(2);
  info.is_generic = in.u8();
  info.subscribe = in.u8();
  info.type = in.u16();
  info.trap_or_device = in.u16();
  info.qpn = in.u24();
  info.resp_time = codec::bits(in.u8(), 0, 5);
  in.skip(1);
  info.producer_or_vendor = in.u24();
  return info;
}

void write(const InformInfo& info, ByteWriter& out) {
  out.u64(info.gid.prefix);
  out.u64(info.gid.guid.value());
  out.u16(info.lid_first.value());
  out.u16(info.lid_last.value());
  out.zeros(2);
  out.u8(info.is_generic);
  out.u8(info.subscribe);
  out.u16(info.type);
  out.u16(info.trap_or_device);
  out.u24(info.qpn);
  out.u8(codec::place(info.resp_time, 0, 5));
  out.zeros(1);
  out.u24(info.producer_or_vendor);
}

constexpr std::uint16_t kFirstOfKeys = smd::trap::kMKey;
constexpr std::uint16_t kLastOfKeys = smd::trap::kSwitchPKey;

Gid gid_of(const SubnetView& view, PortIdx port) {
  if (port == kNone<PortIdx>) return {};
  return {view.parts().subnet_prefix, view.fabric().port_guid[port]};
}

/// Traps 64 to 67: six bytes of nothing, then the GID.
ReportEvent of_manager(const SubnetView& view, std::uint16_t number, const Gid& subject) {
  const PortIdx own = view.fabric().sm_port;
  ReportEvent out{.issuer = gid_of(view, own), .subject = subject};
  out.notice.type = static_cast<std::uint8_t>(NoticeType::SubnetManagement);
  out.notice.producer_or_vendor = kClassManager;
  out.notice.trap_or_device = number;
  out.notice.issuer_lid = view.lid_of(own);
  ByteWriter details(std::as_writable_bytes(std::span(out.notice.details)));
  details.zeros(6);
  details.u64(subject.prefix);
  details.u64(subject.guid.value());
  return out;
}

struct Maker {
  const SubnetView& view;
  const SubnetView* before;

  ReportEvent operator()(const TrapEvent& event) const {
    const PortIdx issuer = view.lids().owner_of(event.notice.issuer_lid);
    const std::uint16_t number = event.notice.trap_or_device;
    return {
        .notice = event.notice,
        .issuer = gid_of(view, issuer),
        .subject = gid_of(view, issuer),
        .keys = keys_of(view, issuer),
        .for_trusted = event.notice.is_generic && number >= kFirstOfKeys && number <= kLastOfKeys};
  }

  ReportEvent operator()(const GidEvent& event) const {
    ReportEvent out = of_manager(
        view, event.in_service ? trap::kGidInService : trap::kGidOutOfService, event.gid);
    const SubnetView* known = event.in_service ? &view : before;
    const PortIdx port = known != nullptr ? known->find_port(event.gid.guid) : kNone<PortIdx>;
    if (port != kNone<PortIdx>) {
      out.keys = keys_of(*known, port);
    } else if (view.partitions() == nullptr) {
      out.keys = std::vector{kDefaultPKey};
    } else {
      // Nobody knows which partitions a port was in that was last seen in another life.
      out.keys = std::nullopt;
      out.for_trusted = true;
    }
    return out;
  }

  ReportEvent operator()(const GroupEvent& event) const {
    ReportEvent out =
        of_manager(view, event.created ? trap::kGroupCreated : trap::kGroupDeleted, event.mgid);
    out.keys = std::vector{event.p_key};
    return out;
  }
};

/// As requests may name ports: with either prefix of the subnet, and by a further GUID. One that is
/// gone has no port any more.
bool names(const SubnetView& view, const Gid& gid, const ReportEvent& event) {
  const std::uint64_t own = view.parts().subnet_prefix;
  const auto here = [own](std::uint64_t prefix) {
    return prefix == own || prefix == kDefaultSubnetPrefix;
  };
  if (gid == event.subject) return true;
  if (!here(gid.prefix)) return false;
  if (here(event.subject.prefix) && gid.guid == event.subject.guid) return true;
  const PortIdx port = view.find_port(gid.guid);
  return port != kNone<PortIdx> && view.fabric().port_guid[port] == event.issuer.guid;
}

/// How soon the subscriber answers is no part of what it asks for.
bool asks_the_same(const InformInfo& a, const InformInfo& b) {
  InformInfo other = b;
  other.subscribe = a.subscribe;
  other.resp_time = a.resp_time;
  other.qpn = a.qpn;
  return a == other;
}

}  // namespace

const RecordShape kInformInfoRecord{RecordId::InformInfoRecord, 64, kInformComponents};

Result<InformInfo> decode_inform_info(std::span<const std::byte> data) {
  ByteReader in(data);
  const InformInfo info = read(in);
  if (!in.ok()) return codec::too_short("InformInfo", data.size());
  return info;
}

void encode_record(const InformInfo& info, std::span<std::byte> data) {
  ByteWriter out(data.first(kInformInfoSize));
  write(info, out);
}

Result<InformInfoRecord> decode_inform_info_record(std::span<const std::byte> data) {
  ByteReader in(data);
  InformInfoRecord record;
  record.subscriber = {.prefix = in.u64(), .guid = Guid{in.u64()}};
  record.number = in.u16();
  in.skip(kInfoAt - 18);
  record.info = read(in);
  if (!in.ok()) return codec::too_short("InformInfoRecord", data.size());
  return record;
}

void encode_record(const InformInfoRecord& record, std::span<std::byte> data) {
  ByteWriter out(data);
  out.u64(record.subscriber.prefix);
  out.u64(record.subscriber.guid.value());
  out.u16(record.number);
  out.zeros(kInfoAt - 18);
  write(record.info, out);
  codec::pad(out, data.size());
}

void GidWatch::restore(std::vector<Guid> known) {
  known_ = std::move(known);
  std::ranges::sort(known_);
  knows_ = true;
}

std::vector<GidEvent> GidWatch::look(const SubnetView& view) {
  std::vector<Guid> now;
  for (const PortIdx port : view.end_ports()) {
    const std::size_t guids = view.parts().aliases ? view.fabric().port_info[port].guid_cap : 1;
    now.push_back(view.fabric().port_guid[port]);
    for (std::size_t i = 1; i < guids; ++i) {
      if (const Guid alias = view.guid_of(port, i); alias != Guid{}) now.push_back(alias);
    }
  }
  std::ranges::sort(now);
  std::vector<GidEvent> events;
  const auto compare = [&](const std::vector<Guid>& from, const std::vector<Guid>& to, bool came) {
    std::vector<Guid> changed;
    std::ranges::set_difference(to, from, std::back_inserter(changed));
    for (const Guid guid : changed)
      events.push_back({.gid = {view.parts().subnet_prefix, guid}, .in_service = came});
  };
  if (std::exchange(knows_, true)) {
    compare(now, known_, false);
    compare(known_, now, true);
  }
  known_ = std::move(now);
  return events;
}

ReportEvent make_report_event(const SubnetView& view,
                              const SubnetView* before,
                              const SaEvent& event) {
  return std::visit(Maker{view, before}, event);
}

void encode_report(const ReportEvent& event, std::span<std::byte> data) {
  encode_notice(event.notice, data.first<kSmpDataSize>());
  ByteWriter issuer(data.subspan(kIssuerGidAt, sizeof(std::uint64_t) * 2));
  issuer.u64(event.issuer.prefix);
  issuer.u64(event.issuer.guid.value());
}

bool asks_for(const SubnetView& view, const InformInfo& info, const ReportEvent& event) {
  const Notice& notice = event.notice;
  if ((info.is_generic != 0) != notice.is_generic) return false;
  if (info.gid != Gid{}) {
    if (!names(view, info.gid, event)) return false;
  } else if (info.lid_first != kAnyLid) {
    if (notice.issuer_lid < info.lid_first || notice.issuer_lid > info.lid_last) return false;
  }
  if (info.type != kAnyType && info.type != notice.type) return false;
  if (info.trap_or_device != kAnyTrap && info.trap_or_device != notice.trap_or_device) return false;
  return info.producer_or_vendor == kAnyProducer ||
         info.producer_or_vendor == notice.producer_or_vendor;
}

std::size_t SubscriptionTable::count_of_port(Guid port) const {
  std::size_t count = 0;
  for (auto each = map_.lower_bound({port, 0}); each != map_.end() && each->first.port == port;
       ++each)
    count += each->second.size();
  return count;
}

bool SubscriptionTable::add(const Subscriber& subscriber, Subscription subscription) {
  const auto found = map_.find(subscriber);
  if (found != map_.end()) {
    for (Subscription& each : found->second) {
      if (!asks_the_same(each.info, subscription.info)) continue;
      subscription.number = each.number;
      if (each != subscription) changed_.note(subscriber);
      each = subscription;
      return true;
    }
  }
  if (count_ >= limits_.all || count_of_port(subscriber.port) >= limits_.of_one_port) return false;
  std::vector<Subscription>& own = map_[subscriber];
  subscription.number = 0;
  for (const Subscription& each : own) {
    if (each.number >= subscription.number)
      subscription.number = static_cast<std::uint16_t>(each.number + 1);
  }
  own.push_back(subscription);
  ++count_;
  changed_.note(subscriber);
  return true;
}

bool SubscriptionTable::remove(const Subscriber& subscriber, const InformInfo& info) {
  const auto found = map_.find(subscriber);
  if (found == map_.end()) return false;
  const std::size_t ended = std::erase_if(
      found->second, [&](const Subscription& each) { return asks_the_same(each.info, info); });
  count_ -= ended;
  if (ended > 0) changed_.note(subscriber);
  if (found->second.empty()) map_.erase(found);
  return ended > 0;
}

SubscriptionTable::Map::iterator SubscriptionTable::erase(Map::iterator subscriber) {
  if (subscriber == map_.end()) return subscriber;
  count_ -= subscriber->second.size();
  changed_.note(subscriber->first);
  return map_.erase(subscriber);
}

std::size_t SubscriptionTable::drop_absent(const SubnetView& view) {
  std::size_t dropped = 0;
  for (auto each = map_.begin(); each != map_.end();) {
    if (view.find_port(each->first.port) != kNone<PortIdx>) {
      ++each;
    } else {
      each = erase(each);
      ++dropped;
    }
  }
  return dropped;
}

const Subscription* SubscriptionTable::find_taker(const SubnetView& view,
                                                  Map::const_iterator subscriber,
                                                  const ReportEvent& event) const {
  const auto asks = [&](const Subscription& each) {
    return asks_for(view, each.info, event) && (each.trusted || !event.for_trusted);
  };
  const auto found = std::ranges::find_if(subscriber->second, asks);
  if (found == subscriber->second.end()) return nullptr;
  const PortIdx port = view.find_port(subscriber->first.port);
  return !event.keys || shares_partition(view, port, *event.keys) ? &*found : nullptr;
}

void SubscriptionTable::restore(const Map& map) {
  map_.clear();
  count_ = 0;
  changed_.note_everything();
  for (const auto& [subscriber, list] : map) {
    for (const Subscription& each : list) static_cast<void>(add(subscriber, each));
  }
}

}  // namespace smd::sa
