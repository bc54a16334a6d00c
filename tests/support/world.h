// A whole daemon core on a simulated fabric in virtual time, and oracles that read the simulated
// registers.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "sim-backend/kernel/sim_runtime.h"
#include "sim-backend/management/sim_fabric.h"
#include "sim-backend/management/sim_transport.h"
#include "smd/manager/subnet_manager.h"
#include "tests/support/smp_tap.h"

namespace smd::test {

/// Requires: `fabric` is a valid FABRIC argument.
[[nodiscard]] sim::FabricSpec spec_of(const std::string& fabric);

struct WorldOptions {
  sim::Timing timing = sim::Timing::modern();
  sim::WireFaults faults;
  Settings settings = default_settings();
  std::uint64_t seed = 1;
  PersistentState kept;  // from a former life

  static Settings default_settings();
};

class World {
 public:
  explicit World(sim::FabricSpec spec, WorldOptions options = {});

  /// Runs until the manager rests and `cycles` more cycles than now have ended; false when `limit`
  /// passed first.
  bool settle(std::uint64_t cycles = 1, Duration limit = std::chrono::minutes(10));

  /// Runs until the last cycle is up and the manager rests.
  bool settle_up(Duration limit = std::chrono::minutes(10));

  void run_for(Duration time) { runtime.run_until(runtime.now() + time); }

  [[nodiscard]] std::uint32_t node(const std::string& name) const;

  sim::SimRuntime runtime;
  sim::SimFabric fabric;
  sim::SimTransport transport;
  SmpTap tap{transport};                    // between the manager and its port
  std::vector<CycleReport> reports;         // of every cycle, in order
  LidBook book;                             // as last announced
  std::vector<std::vector<TurnRef>> turns;  // each list of blocked turns, in order
  SubnetManager manager;

 private:
  SubnetManager::Observer observer();
};

/// Every cabled port between living nodes is Active; the message names the first that is not. Empty
/// when all are.
[[nodiscard]] std::string find_inactive_port(const World& world);

/// Living nodes that the manager's node has a path to, itself included.
[[nodiscard]] std::size_t count_reachable(const World& world);

/// Walks the registers of the simulated switches from every living host to every LID that a living
/// end port has. The message names the first pair that does not arrive; also LIDs that two ports
/// share. Empty when all is well. Nodes of `without` are neither sources nor destinations.
[[nodiscard]] std::string find_broken_route(const World& world,
                                            const std::set<std::uint32_t>& without = {});

/// Where a directed SMP of the manager is going, along the cables as they are; kNoNode for others,
/// and where the path ends nowhere.
[[nodiscard]] std::uint32_t find_destination(const World& world, const Smp& smp);

}  // namespace smd::test
