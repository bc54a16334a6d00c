// The daemon's numbers as Prometheus reads them. Pure: what is read is what smctl shows.
//
// How many samples there are depends on what kinds of things there are, never on how many nodes;
// hot ports alone are named, and so many of them that a page stays small.
#pragma once

#include <string>

#include "smd/admin/exposition.h"
#include "smd/app/replica_desk.h"
#include "smd/app/session.h"

namespace smd::app {

struct MetricsInput {
  const Session* session = nullptr;      // null while no device is open
  ReceiveStats received;                 // of its transport
  const ReplicaDesk* replica = nullptr;  // null where no copy is kept
  std::uint64_t replica_refused = 0;     // who showed no good certificate
  Duration uptime{0};
};

[[nodiscard]] std::string print_metrics(const MetricsInput& input);

/// Parts of it.
void add_subnet_metrics(Exposition& out, const SubnetManager& manager, const Tally& tally);
void add_administration_metrics(Exposition& out, const Administration& administration);
/// `now`: null where nothing is in force.
void add_congestion_metrics(Exposition& out, const CongestionDesk& desk, const ActiveSubnet* now);

}  // namespace smd::app
