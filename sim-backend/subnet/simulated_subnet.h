// A subnet in virtual time: a simulated fabric and the manager on one of its ports, wired as the
// daemon wires them.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "sim-backend/management/sim_transport.h"
#include "sim-backend/management/smp_tap.h"
#include "sim-backend/management/timed_fabric.h"
#include "smd/cc/cc_manager.h"
#include "smd/ha/write_gate.h"
#include "smd/manager/subnet_manager.h"
#include "smd/transport/transport.h"

namespace smd::sim {

/// What a configuration file says in which nothing stands, with updn as the engine; an engine that
/// the fabric does not suit is an error.
[[nodiscard]] Settings default_settings();

struct SimulatedSubnetOptions {
  Timing timing = Timing::modern();
  WireFaults faults;
  std::uint64_t seed = 1;
  AgentOptions agents;

  Settings settings = default_settings();
  PersistentState kept;               // from a former life
  std::optional<std::uint32_t> node;  // whose port 1 it sits on; none: where the fabric has it
  Runtime* runtime = nullptr;         // of the subnet manager; none: the fabric's

  std::function<void(Phase)> on_phase;
  std::function<void(const CycleReport&)> on_cycle;  // that ended, after what is noted of it here
  PlanWatcher on_plan;
  WallClock wall;
};

/// A manager, from its start to its death.
class SimulatedManager {
 public:
  /// Of `options` all but what makes a fabric. Requires: `on` outlives this.
  SimulatedManager(TimedFabric& on, const SimulatedSubnetOptions& options);
  SimulatedManager(const SimulatedManager&) = delete;

  /// Nothing runs and nothing is asked for, of its congestion control neither.
  [[nodiscard]] bool at_rest() const { return manager.at_rest() && cc_manager.at_rest(); }

  /// It rests, and its last cycle left everything up.
  [[nodiscard]] bool is_up() const {
    return manager.last_cycle() != nullptr && manager.last_cycle()->up() && at_rest();
  }

  /// Begins, and settles.
  bool start() {
    manager.start();
    return settle();
  }

  /// Begins, and runs until is_up().
  bool bring_up(Duration limit = std::chrono::minutes(10)) {
    manager.start();
    return settle_up(limit);
  }

  /// Runs until it rests and `cycles` more cycles than now have ended; false when `limit` passed
  /// first.
  bool settle(std::uint64_t cycles = 1, Duration limit = std::chrono::minutes(10));

  /// Runs until is_up().
  bool settle_up(Duration limit = std::chrono::minutes(10));

  /// For the next life.
  [[nodiscard]] const PersistentState& kept() const { return store.get(); }

  SimTransport transport;
  SmpTap tap;
  ClassSplit split;
  StateStore store;
  WriteGate cc_gate;
  CcManager cc_manager;
  std::vector<CycleReport> reports;  // of every cycle, in order
  SubnetManager manager;

 private:
  [[nodiscard]] SubnetManager::Observer observer(const SimulatedSubnetOptions& options);

  TimedFabric& on_;
};

/// Both. The manager is not started yet.
class SimulatedSubnet : public TimedFabric, public SimulatedManager {
 public:
  explicit SimulatedSubnet(FabricSpec spec, const SimulatedSubnetOptions& options = {});
};

}  // namespace smd::sim
