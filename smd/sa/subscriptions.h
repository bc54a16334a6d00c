// Subscriptions to notices: what is asked for, what happens, and who is to be told of it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <variant>
#include <vector>

#include "smd/base/publisher.h"
#include "smd/ib/types.h"
#include "smd/mad/notice.h"
#include "smd/sa/sa_mad.h"
#include "smd/sa/subnet_view.h"

namespace smd::sa {

// InformInfo (IBA 13.4.8.3): which notices a client wants to be told; InformInfoRecord (IBA
// 15.2.5.12): the same as the administration keeps it.

/// "Any", in the fields that have it.
inline constexpr std::uint16_t kAnyType = 0xffff;
inline constexpr std::uint16_t kAnyTrap = 0xffff;
inline constexpr std::uint32_t kAnyProducer = 0xffffff;
inline constexpr Lid kAnyLid{0xffff};

struct InformInfo {
  Gid gid;                        // of the source of the notice; zero: by LID
  Lid lid_first = kAnyLid;        // 0xffff: from anybody
  Lid lid_last = kUnassignedLid;  // 0: lid_first alone
  std::uint8_t is_generic = 1;    // raw; 0 or 1 mean something
  std::uint8_t subscribe = 1;     // likewise
  std::uint16_t type = kAnyType;
  std::uint16_t trap_or_device = kAnyTrap;
  std::uint32_t qpn = 0;       // 24 bits: whose subscription ends
  std::uint8_t resp_time = 0;  // 5 bits: 4.096 us * 2^n, how long the subscriber takes to answer
  std::uint32_t producer_or_vendor = kAnyProducer;  // 24 bits

  friend bool operator==(const InformInfo&, const InformInfo&) = default;
};

struct InformInfoRecord {
  Gid subscriber;
  std::uint16_t number = 0;  // of the subscription, among its subscriber's
  InformInfo info;

  friend bool operator==(const InformInfoRecord&, const InformInfoRecord&) = default;
};

inline constexpr std::size_t kInformInfoSize = 36;

extern const RecordShape kInformInfoRecord;

Result<InformInfo> decode_inform_info(std::span<const std::byte> data);
Result<InformInfoRecord> decode_inform_info_record(std::span<const std::byte> data);

/// Requires: data.size() >= 36.
void encode_record(const InformInfo& info, std::span<std::byte> data);

/// Fills `data`, which has the size of the record's shape.
void encode_record(const InformInfoRecord& record, std::span<std::byte> data);

// What subscribers may want to hear of: traps that the manager received, GIDs that came and went,
// multicast groups that were created and deleted (IBA 14.2.5.1, 14.4.9 to 14.4.11).

/// A trap of somebody's agent, as it came.
struct TrapEvent {
  Notice notice;
};

/// Trap 64, or 65 where the port is gone.
struct GidEvent {
  Gid gid;
  bool in_service = true;
};

/// Trap 66, or 67 where the group is deleted.
struct GroupEvent {
  Gid mgid;
  PKey p_key;
  bool created = true;
};

using SaEvent = std::variant<TrapEvent, GidEvent, GroupEvent>;

/// Runs on the loop; may be called at any time, also from inside an answer.
using SaEventSink = std::function<void(const SaEvent&)>;

// Which GIDs came and went between two views of the subnet (traps 64 and 65).

class GidWatch {
 public:
  /// What was in service in a former life; without it the first view tells of nobody.
  void restore(std::vector<Guid> known);

  /// Gone first, then new, each in ascending order.
  [[nodiscard]] std::vector<GidEvent> look(const SubnetView& view);

  /// Ascending.
  [[nodiscard]] const std::vector<Guid>& in_service() const { return known_; }

 private:
  bool knows_ = false;
  std::vector<Guid> known_;
};

// An event as subscribers are told of it: the notice with the GID of its issuer (IBA 13.4.8.2), and
// what decides whom it is for.

namespace trap {
inline constexpr std::uint16_t kGidInService = 64;
inline constexpr std::uint16_t kGidOutOfService = 65;
inline constexpr std::uint16_t kGroupCreated = 66;
inline constexpr std::uint16_t kGroupDeleted = 67;
}  // namespace trap

/// ProducerType of what the manager itself reports (IBA 13.4.8.2, table 121).
inline constexpr std::uint32_t kClassManager = 4;

/// NoticeDataDetails ends here; IssuerGID follows.
inline constexpr std::size_t kIssuerGidAt = 64;
inline constexpr std::size_t kReportSize = 80;

struct ReportEvent {
  Notice notice;
  Gid issuer;
  Gid subject;  // traps 64 to 67: of whom they tell; else the issuer

  /// Of the subject when it happened: who shares none is not told. Nothing where they are not
  /// known; then it is for the trusted.
  std::optional<std::vector<PKey>> keys = std::vector<PKey>{};

  bool for_trusted = false;  // keys, and who tried which (traps 256 to 259), for one
};

/// What `event` is in `view`. A GID that is out of service is looked up in `before`, the view in
/// which it was last seen; may be null.
[[nodiscard]] ReportEvent make_report_event(const SubnetView& view,
                                            const SubnetView* before,
                                            const SaEvent& event);

void encode_report(const ReportEvent& event, std::span<std::byte> data);

/// The notice is one that `info` asks for; who may know of it aside.
[[nodiscard]] bool asks_for(const SubnetView& view,
                            const InformInfo& info,
                            const ReportEvent& event);

// Who asked to be told of what. A subscriber is a queue pair of a port, known by the port's GUID:
// a LID may move. Pure state; limits are per port, so that one host cannot crowd out the others.

struct Subscriber {
  Guid port;
  std::uint32_t qp = 1;

  friend auto operator<=>(const Subscriber&, const Subscriber&) = default;
};

struct Subscription {
  std::uint16_t number = 0;      // unique among the subscriber's
  InformInfo info;               // a LID range has both ends; qpn is the subscriber's
  bool trusted = false;          // asked for with the SM_Key
  std::uint8_t sl = 0;           // of the reports, as the next
  std::uint16_t pkey_index = 0;  // where no P_Key is known: in the table of the port that heard it
  PKey p_key;                    // whose index is what the table of our port says; 0: not known

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
