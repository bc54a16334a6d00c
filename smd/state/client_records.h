// What clients left with the administration, as text in the state directory
// (docs/formats/state.md): subscriptions, services, further GUIDs, and the ports that were in
// service. One record per line.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "smd/base/result.h"
#include "smd/multicast/group.h"
#include "smd/runtime/runtime.h"
#include "smd/sa/alias_manager.h"
#include "smd/sa/service_manager.h"
#include "smd/sa/subscriptions.h"

namespace smd {

struct ClientRecords {
  sa::SubscriptionTable::Map subscriptions;
  std::vector<sa::Service> services;
  sa::AliasTable::Map aliases;
  std::vector<Group> groups;     // multicast
  std::vector<Guid> in_service;  // ports whose clients know that they may rely on us

  /// Owners of services whose leases ran out while nobody kept them: by a clock that was set since,
  /// perhaps.
  std::set<Guid> lapsed;

  /// Nothing came after it that is not here.
  bool complete = true;

  friend bool operator==(const ClientRecords&, const ClientRecords&) = default;
};

/// One moment by two clocks: the runtime's, which starts anew with each daemon, and the world's.
struct Moment {
  TimePoint runtime;
  std::int64_t wall_ms = 0;  // since 1970
};

[[nodiscard]] std::string print_records(const ClientRecords& records, const Moment& now);

/// Every line that is no record is a fault. Leases that ran out meanwhile are left out. `file` is
/// for the messages.
[[nodiscard]] Parsed<ClientRecords> parse_records(std::string_view text,
                                                  const std::string& file,
                                                  const Moment& now);

// Changes are lines, too (docs/formats/state.md): `- KEY` for what is gone, `+ RECORD` for what is
// there now. They say what is, not what is to be done: taken twice they change nothing more.

void print_changes(const sa::SubscriptionTable::Map& all,
                   const std::set<sa::Subscriber>& changed,
                   std::string& out);
void print_changes(const std::map<sa::ServiceId, sa::Service>& all,
                   const std::set<sa::ServiceId>& changed,
                   const Moment& now,
                   std::string& out);
void print_changes(const sa::AliasTable::Map& all, const std::set<Guid>& changed, std::string& out);
void print_changes(const std::map<Gid, Group>& all,
                   const std::set<Gid>& changed,
                   const std::set<std::pair<Gid, Guid>>& changed_members,
                   std::string& out);

/// Ports in service; both ascending.
void print_changes(const std::vector<Guid>& before, const std::vector<Guid>& now, std::string& out);

/// Changes as a manager prints them whose clock is `ahead_ms` before the one that wrote them.
[[nodiscard]] std::string shift_leases(std::string_view changes, std::int64_t ahead_ms);

/// The file as lines that changes can be applied to, at a cost that does not grow with the file.
class RecordLines {
 public:
  /// Nothing when a line is no record.
  [[nodiscard]] static std::optional<RecordLines> read(std::string_view text);

  /// How many of the lines, which are changes, were applied: up to the first that is none.
  std::size_t apply(std::string_view changes);

  /// As print_records() has it.
  [[nodiscard]] std::string print() const;

 private:
  /// Kind of record, then what tells it from others of that kind; in the order of the file.
  using Key = std::array<std::uint64_t, 6>;

  bool add(std::string_view record, const Gid& group);
  bool remove(std::string_view key);

  std::map<Key, std::string> lines_;
};

}  // namespace smd
