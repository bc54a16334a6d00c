// A scenario in action: the fabric is built once, then every load and seed is a run of its own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim-backend/packet/packet_net.h"
#include "sim-backend/scenario/change_result.h"
#include "sim-backend/scenario/run_control.h"
#include "sim-backend/scenario/scenario.h"
#include "sim-backend/traffic/in_network.h"

namespace smd::sim {

struct PointResult {
  double load = 0;
  std::uint64_t seed = 0;
  std::optional<WormRunFigures> worms;
  SteadyResult steady;
  LatencyFigures latency;          // from generation to the last byte
  LatencyFigures network_latency;  // from injection
  LatencyFigures head_latency;     // from generation to the first byte
  double mean_hops = 0;
  double fairness = 1;     // of what hosts that had something to send got through
  double least_share = 0;  // of the worst of them against their mean
  Picos blocked = 0;       // of the link that waited longest for credit
  std::string blocked_port;
  NetStats stats;
  NetMemory memory;       // at the end: as much as at once
  std::string audit;      // what did not add up; empty
  bool closed = false;    // it is a collective or a trace
  bool complete = false;  // which ended
  Picos completed_at = kNever;
  Picos simulated = 0;

  // Of a network that changes:
  bool managed = false;
  std::vector<ChangeResult> changes;
  std::vector<Period> periods;
  std::string failure;         // why nothing was run; empty
  std::size_t never_came = 0;  // faults of the plan, of worms too: the run ended before them

  /// Every fault came, and every change was taken in.
  [[nodiscard]] bool recovered() const;

  /// What was to be sent arrived, and nothing ended the run before it was to end.
  [[nodiscard]] bool is_sound() const;
};

/// Of each port, in the order of nodes: what it has been blocked for since the start.
[[nodiscard]] std::vector<Picos> blocked_times(const PacketNet& net);

/// What the net has to say at the end of a run; `bytes` delivered by source, `blocked_before` as
/// the measurement began; empty: with the run.
void sum_up(const PacketNet& net,
            const FabricSpec& spec,
            const std::vector<double>& bytes,
            const std::vector<Picos>& blocked_before,
            PointResult& out);

class PreparedScenario {
 public:
  /// The fabric drawn, the tables computed. A fault names the line of the scenario.
  static Parsed<PreparedScenario> prepare(Scenario scenario);

  /// Buffers are as the fabric needs them, where nothing says how large they are.
  [[nodiscard]] const Scenario& scenario() const { return scenario_; }

  /// What can be run and gives other figures than one may think, with its line.
  [[nodiscard]] const Faults& notes() const { return notes_; }

  [[nodiscard]] const FabricSpec& spec() const { return spec_; }

  [[nodiscard]] const ProgrammedFabric& fabric() const { return fabric_; }

  /// Null where packets move.
  [[nodiscard]] const WormScenario* worms() const { return worms_ ? &*worms_ : nullptr; }

  /// What leads packets in place of the tables; null: nothing does.
  [[nodiscard]] const AdaptiveRoutes* rule() const { return routes_.get(); }

  [[nodiscard]] const FaultPlan& faults() const { return faults_; }

  [[nodiscard]] const GroupTables& groups() const { return groups_of_hosts_; }

  [[nodiscard]] PatternInput pattern_input(std::uint64_t seed) const;

  /// May run on several threads at once.
  [[nodiscard]] PointResult run(double load,
                                std::uint64_t seed,
                                const RunControl& control = {}) const;

  /// SL of a path as the engine says; empty where SLs are chosen otherwise.
  [[nodiscard]] SyntheticTraffic::PathSl path_sl() const;

  /// As the scenario wants it, for each partition of the net. `reply_sl`: of answers.
  [[nodiscard]] std::vector<CongestionControl> control_congestion(const PacketNet& net,
                                                                  ReplySl reply_sl) const;

 private:
  void find_neighbours();
  [[nodiscard]] std::string find_rails();
  [[nodiscard]] std::string check_split() const;
  [[nodiscard]] std::string find_routes();
  [[nodiscard]] std::string find_worm_routes();
  [[nodiscard]] std::string find_adders();
  void fit_buffers();
  [[nodiscard]] Faults check_sources() const;
  [[nodiscard]] PointResult run_worms(double load,
                                      std::uint64_t seed,
                                      const RunControl& control) const;

  Scenario scenario_;
  Faults notes_;
  FabricSpec spec_;
  bool is_subnet_ = true;  // else nothing is programmed, and a rule chooses the ways
  ProgrammedFabric fabric_;
  std::shared_ptr<const AdaptiveRoutes> routes_;  // null: the tables
  std::optional<WormScenario> worms_;
  FaultPlan faults_;
  GroupTables groups_of_hosts_;
  InNetworkAllReduce::Tree adders_;
  std::vector<std::vector<HostNum>> groups_;
  std::vector<std::vector<HostNum>> near_;
  HostPorts ports_;  // empty where every host has one adapter and rails are not asked for
};

}  // namespace smd::sim
