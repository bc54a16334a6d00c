#include "smd/sa/subscriptions.h"

#include <algorithm>

#include "smd/sa/access.h"

namespace smd::sa {
namespace {

/// How soon the subscriber answers is no part of what it asks for.
bool asks_the_same(const InformInfo& a, const InformInfo& b) {
  InformInfo other = b;
  other.subscribe = a.subscribe;
  other.resp_time = a.resp_time;
  other.qpn = a.qpn;
  return a == other;
}

}  // namespace

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
  const std::size_t gone = std::erase_if(
      found->second, [&](const Subscription& each) { return asks_the_same(each.info, info); });
  count_ -= gone;
  if (gone > 0) changed_.note(subscriber);
  if (found->second.empty()) map_.erase(found);
  return gone > 0;
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
  const auto asks = [&event](const Subscription& each) {
    return asks_for(each.info, event) && (each.trusted || !event.for_trusted);
  };
  const auto found = std::ranges::find_if(subscriber->second, asks);
  if (found == subscriber->second.end()) return nullptr;
  const PortIdx port = view.find_port(subscriber->first.port);
  return shares_partition(view, port, event.keys) ? &*found : nullptr;
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
