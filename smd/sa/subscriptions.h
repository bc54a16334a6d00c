// Who asked to be told of what. A subscriber is a queue pair of a port, known by the port's GUID:
// a LID may move. Pure state; limits are per port, so that one host cannot crowd out the others.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "smd/base/changed_keys.h"
#include "smd/sa/inform_info.h"
#include "smd/sa/report_event.h"

namespace smd::sa {

struct Subscriber {
  Guid port;
  std::uint32_t qp = 1;

  friend auto operator<=>(const Subscriber&, const Subscriber&) = default;
};

struct Subscription {
  std::uint16_t number = 0;  // unique among the subscriber's
  InformInfo info;           // a LID range has both ends; qpn is the subscriber's
  bool trusted = false;      // asked for with the SM_Key
  std::uint8_t sl = 0;       // of the reports, as the next
  std::uint16_t pkey_index = 0;

  friend bool operator==(const Subscription&, const Subscription&) = default;
};

struct SubscriptionLimits {
  std::size_t all = std::size_t{1} << 16;
  std::size_t of_one_port = 64;
};

class SubscriptionTable {
 public:
  using Map = std::map<Subscriber, std::vector<Subscription>>;

  explicit SubscriptionTable(SubscriptionLimits limits = {}) : limits_(limits) {}

  /// From now on; what is beyond stays.
  void set_limits(const SubscriptionLimits& limits) { limits_ = limits; }

  /// One that is there already stays, with its number, and takes the new one's way of delivery.
  /// False when there is no room.
  [[nodiscard]] bool add(const Subscriber& subscriber, Subscription subscription);

  /// False when the subscriber has none that asks for just this.
  [[nodiscard]] bool remove(const Subscriber& subscriber, const InformInfo& info);

  void drop(const Subscriber& subscriber) { erase(map_.find(subscriber)); }

  /// Subscribers whose subscriptions are not what they were; see ChangedKeys.
  [[nodiscard]] std::optional<std::set<Subscriber>> take_changed() { return changed_.take(); }

  /// All whose port the view does not know; how many subscribers that were.
  std::size_t drop_absent(const SubnetView& view);

  [[nodiscard]] const Map& all() const { return map_; }

  [[nodiscard]] std::size_t count() const { return count_; }

  /// The first that asks for the event and may know of it; null when none does.
  [[nodiscard]] const Subscription* find_taker(const SubnetView& view,
                                               Map::const_iterator subscriber,
                                               const ReportEvent& event) const;

  /// In place of what is there, as far as limits allow.
  void restore(const Map& map);

 private:
  Map::iterator erase(Map::iterator subscriber);
  [[nodiscard]] std::size_t count_of_port(Guid port) const;

  SubscriptionLimits limits_;
  Map map_;
  std::size_t count_ = 0;
  ChangedKeys<Subscriber> changed_;
};

}  // namespace smd::sa
