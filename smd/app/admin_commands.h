// The daemon's side of smctl: each command reads what is in force, or asks the manager for
// something.
#pragma once

#include <functional>

#include "smd/admin/commands.h"
#include "smd/app/administration.h"
#include "smd/app/congestion_desk.h"
#include "smd/app/replica_desk.h"
#include "smd/app/subnet_manager.h"

namespace smd::app {

struct AdminContext {
  std::function<SubnetManager*()> manager;  // null while no device is open
  std::function<Transport*()> transport;
  std::function<void()> shutdown;
  std::function<Duration()> uptime;

  /// May be empty, and may give null: then nothing is said of it.
  std::function<Administration*()> administration;

  /// Likewise.
  std::function<CongestionDesk*()> congestion;
  std::function<ReplicaDesk*()> replica;

  /// Who wanted to read from us and showed no good certificate.
  std::function<std::uint64_t()> replica_refused;
};

/// status, fabric, nodes, links, port, route, sweep, engine, changes, congestion, log, sa,
/// shutdown.
void register_commands(CommandTable& table, AdminContext context);

}  // namespace smd::app
