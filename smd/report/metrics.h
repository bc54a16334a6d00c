// The daemon's numbers as Prometheus reads them. Pure: what is read is what smctl shows.
//
// How many samples there are depends on what kinds of things there are, never on how many nodes;
// hot ports alone are named, and so many of them that a page stays small.
#pragma once

#include <optional>
#include <string>

#include "smd/admin/exposition.h"
#include "smd/report/admin_commands.h"
#include "smd/report/session_view.h"

namespace smd {

struct MetricsInput {
  std::optional<SessionView> session{};  // nothing while no device is open
  ReceiveStats received{};               // of its transport
  std::optional<ReplicaView> replica{};  // nothing where no copy is kept
  std::optional<RestStats> rest{};       // nothing where nobody can call
  std::size_t alarms = 0;                // of the daemon itself
  Duration uptime{0};
};

[[nodiscard]] std::string print_metrics(const MetricsInput& input);

/// Parts of it.
void add_subnet_metrics(Exposition& out,
                        const SubnetManager& manager,
                        const SessionCounters& counters);
void add_administration_metrics(Exposition& out, const SaView& sa);
/// `now`: null where nothing is in force.
void add_congestion_metrics(Exposition& out, const CcManager& cc_manager, const ActiveSubnet* now);

}  // namespace smd
