// What clients left with the administration, as text in the state directory
// (docs/formats/state.md): subscriptions, services, further GUIDs, and the ports that were in
// service. One record per line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "smd/base/result.h"
#include "smd/multicast/group.h"
#include "smd/runtime/runtime.h"
#include "smd/sa/alias_table.h"
#include "smd/sa/service_table.h"
#include "smd/sa/subscriptions.h"

namespace smd::app {

struct KeptRecords {
  sa::SubscriptionTable::Map subscriptions;
  std::vector<sa::Service> services;
  sa::AliasTable::Map aliases;
  std::vector<Group> groups;     // multicast
  std::vector<Guid> in_service;  // ports whose clients know that they may rely on us

  friend bool operator==(const KeptRecords&, const KeptRecords&) = default;
};

/// One moment by two clocks: the runtime's, which starts anew with each daemon, and the world's.
struct Moment {
  TimePoint runtime;
  std::int64_t wall_ms = 0;  // since 1970
};

[[nodiscard]] std::string print_records(const KeptRecords& records, const Moment& now);

/// Every line that is no record is a fault. Leases that ran out meanwhile are left out. `file` is
/// for the messages.
[[nodiscard]] Parsed<KeptRecords> parse_records(std::string_view text,
                                                const std::string& file,
                                                const Moment& now);

}  // namespace smd::app
