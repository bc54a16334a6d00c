// A simulated subnet in the hands of an experiment: the parts of the manager one by one, each run
// to its end in virtual time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim-backend/experiments/change/presets.h"
#include "sim-backend/management/sim_transport.h"
#include "sim-backend/management/smp_tap.h"
#include "sim-backend/management/timed_fabric.h"
#include "smd/discovery/discovery.h"
#include "smd/policy/lid_assignment.h"
#include "smd/program/programmer.h"
#include "smd/routing/engine.h"
#include "smd/smp/smp_client.h"

namespace smd::sim {

/// It is a switch's answer with PortStateChange set.
[[nodiscard]] bool tells_of_change(const MadPacket& packet);

struct SubnetOptions {
  Preset preset = kPresets[0];
  std::string engine = "fera-flood";  // the one whose routes are printed
  std::uint64_t seed = 1;
  /// Of an age in which there were none of these.
  AgentOptions agents{.extended_speeds = ExtendedSpeeds::Unannounced, .port_state_table = false};
};

struct DiscoveryCost {
  std::uint64_t smps = 0;
  Duration time{0};  // partial: from the first answer that tells of a change
};

class Subnet : public TimedFabric {
 public:
  /// Requires: `fabric` is a valid FABRIC argument. Nothing is known yet.
  Subnet(const std::string& fabric, const SubnetOptions& options);
  Subnet(const Subnet&) = delete;

  /// Full discovery with the request set of the thesis; LIDs are given from 1 again.
  Result<DiscoveryCost> discover_fully();

  /// Partial discovery with the request set of the thesis. Requires: bring_up().
  Result<DiscoveryCost> discover_partially();

  /// Full discovery that keeps LIDs, and routes that keep directions; nothing is written. Requires:
  /// bring_up().
  Result<void> look_again();

  /// Everything that a manager writes, along the plan when there is one.
  Result<ProgramReport> program(ProgramInput input);

  /// Discovery, LIDs and tables, of which nothing is written.
  Result<void> plan_routes();

  /// Discovery, LIDs, tables, everything Active.
  Result<void> bring_up();

  /// Lets old traps run out and clears PortStateChange everywhere, so that the next change is the
  /// only one. Requires: bring_up().
  Result<void> calm_down();

  /// The nodes of switches but the one that the manager sits on, ascending.
  [[nodiscard]] std::vector<std::uint32_t> other_switches() const;

  /// Runs until `done`, at most ten minutes.
  Result<void> run_until(const std::function<bool()>& done, const std::string& what);

  [[nodiscard]] const Fabric& snapshot() const { return *sweep.fabric; }

  SimTransport port;
  SmpTap tap;
  SmpClient client;
  CostMeter meter;
  ProgramState state;
  SweepReport sweep;
  LidBook book;
  LidMap lids;
  RoutingTables routing;

 private:
  [[nodiscard]] DiscoveryOptions thesis_requests();
  Result<void> compute_routes(const Orientation* previous);

  SubnetOptions options_;
  std::uint16_t next_lid_ = 1;
};

/// Sizes of the published networks: switches, and nodes with their adapters.
struct NetworkSize {
  unsigned switches = 0;
  unsigned nodes = 0;
};

/// "irregular4:switches=8,nodes=15,seed=1".
[[nodiscard]] std::string irregular4(const NetworkSize& size, std::uint64_t seed);

[[nodiscard]] double seconds(Duration time);

}  // namespace smd::sim
