// A programmer on a simulated fabric: discovery, LIDs and routes as a manager would have them, a
// wire that a test can tamper with, and oracles that read the simulated registers.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim-backend/agents/node_state.h"
#include "sim-backend/management/sim_transport.h"
#include "sim-backend/management/smp_tap.h"
#include "sim-backend/management/timed_fabric.h"
#include "smd/policy/lid_assignment.h"
#include "smd/program/programmer.h"
#include "smd/routing/engine.h"
#include "smd/smp/smp_client.h"

namespace smd::test {

struct LabOptions {
  sim::Timing timing = sim::Timing::modern();
  sim::AgentOptions agents;
  SmpClientConfig smp;
  std::uint64_t seed = 1;
};

class ProgramLab : public sim::TimedFabric {
 public:
  explicit ProgramLab(sim::FabricSpec spec, LabOptions options = {});

  explicit ProgramLab(const std::string& fabric_text, LabOptions options = {})
      : ProgramLab(sim::spec_of(fabric_text), options) {}

  /// Full discovery, sticky LIDs, and routes of the engine.
  void discover(const std::string& engine = "updn");

  /// LIDs 1, 1 + step, … so that a small fabric has tables of many blocks. Before discover().
  void spread_lids(unsigned step);

  [[nodiscard]] ProgramInput input() const;

  ProgramReport program(const ProgramInput& input);

  /// discover() and a run without a plan.
  ProgramReport bring_up();

  void take_port_info(const ProgramReport& report);

  [[nodiscard]] const Fabric& snapshot() const { return *sweep.fabric; }

  [[nodiscard]] std::uint32_t sim_node(Guid guid) const;
  [[nodiscard]] std::uint32_t sim_switch(SwitchIdx sw) const;
  [[nodiscard]] SwitchIdx switch_named(const std::string& description) const;

  /// Confirmed blocks, random blocks and turns against the registers of living switches; the
  /// message names the first that is not so.
  [[nodiscard]] std::string find_false_claim() const;

  /// The first managed port that is not Active. Empty: none.
  [[nodiscard]] std::string find_inactive_port() const;

  /// The first entry of the switches that is not as in `lft`.
  [[nodiscard]] std::string find_wrong_entry(const ForwardingTables& lft) const;

  sim::SimTransport port;
  sim::SmpTap tap;
  SmpClient client;
  CostMeter meter;
  ProgramState state;
  PortPolicy policy;
  LidBook book;
  SweepReport sweep;
  LidMap lids;
  RoutingTables routing;
  std::vector<bool> dead;  // by simulated node: not looked at by the oracles
};

/// Tables that differ from `lft` in every routed entry of a switch that has two cabled ports.
[[nodiscard]] ForwardingTables turned_tables(const Fabric& fabric, const ForwardingTables& lft);

/// What leads from one to the other, entry by entry, in `phases` phases by LID.
[[nodiscard]] TransitionPlan split_by_lid(const ForwardingTables& from,
                                          const ForwardingTables& to,
                                          std::size_t phases);

/// "" or what stands in the switches of a later phase while an earlier one is not complete. Every
/// entry is changed by one phase alone.
[[nodiscard]] std::string find_mixed_phases(const ProgramLab& lab, const TransitionPlan& plan);

}  // namespace smd::test
