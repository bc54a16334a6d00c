// One simulated world with the manager in it: what `smd dry-run` does to it, and what it saw.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim-backend/management/fabric_timeline.h"
#include "sim-backend/management/sim_fabric.h"
#include "sim-backend/subnet/simulated_subnet.h"
#include "smd/bin/commands.h"
#include "smd/cc/cc_manager.h"
#include "smd/report/cycle_text.h"
#include "smd/report/dump.h"

namespace smd::bin {

// What congestion control came to in a dry run: for people, as JSON, and the registers themselves.

/// Requests that a stretch of time has cost.
struct CongestionCost {
  std::uint64_t gets = 0;
  std::uint64_t sets = 0;
};

/// {"agents", "confirmed", "gets", "sets", "plan", "refusal", "alarms"}
[[nodiscard]] nlohmann::ordered_json congestion_report(const CcManager& cc_manager,
                                                       const CongestionCost& cost);

/// Of the bring-up: the plan and what it cost.
[[nodiscard]] std::string print_congestion(const CcManager& cc_manager, const CongestionCost& cost);

/// Of a change: one line.
[[nodiscard]] std::string print_congestion_cost(const CongestionCost& cost);

/// Every register that an agent holds, as simulated.
[[nodiscard]] std::string print_congestion_registers(const sim::SimFabric& fabric);

// The simulated world, and failures in it.

struct Failure {
  std::string text;
  std::uint32_t node = sim::kNoNode;
  std::optional<PortNum> port;  // none: the whole node
};

/// "sw-0-3:5" is a link when 5 is a port of a node called sw-0-3, otherwise the whole text names a
/// node. Refuses one that an earlier one has taken down, by whichever end or node it was named.
[[nodiscard]] Parsed<std::vector<Failure>> parse_failures(const sim::FabricSpec& spec,
                                                          const std::vector<std::string>& texts);

class DryRunWorld {
 public:
  DryRunWorld(sim::FabricSpec spec,
              const sim::Timing& timing,
              const smd::Settings& settings,
              const DryRunOptions& options);
  DryRunWorld(const DryRunWorld&) = delete;

  [[nodiscard]] const smd::CycleReport& bring_up();

  /// From now on every change of a register is looked at. Requires: bring_up().
  void watch_service();

  [[nodiscard]] smd::CycleReport fail(const Failure& failure);

  /// No cable that is up leads there from the manager's port.
  [[nodiscard]] bool is_cut_off(const Failure& failure) const;

  /// Of something that is cut off.
  void fail_unnoticed(const Failure& failure);

  /// Of the latest failure; none when nobody watches.
  [[nodiscard]] std::optional<smd::ServiceReport> service() const;

  /// The samples of the latest failure as CSV; virtual time is 0 at the failure.
  [[nodiscard]] std::string print_timeline() const;

  /// Of the latest failure, or of the bring-up when there was none.
  [[nodiscard]] const std::string& plans() const { return plans_; }

  [[nodiscard]] const smd::ActiveSubnet* in_force() const { return subnet_.manager.in_force(); }

  /// Requires: something is in force.
  [[nodiscard]] smd::DumpInput dump_input() const { return smd::dump_input_of(subnet_.manager); }

  [[nodiscard]] const smd::CcManager& congestion() const { return subnet_.cc_manager; }

  /// Of the latest failure, or of the bring-up when there was none.
  [[nodiscard]] CongestionCost congestion_cost() const;

  [[nodiscard]] const sim::SimFabric& fabric() const { return subnet_.fabric; }

  /// Nodes that cables lead to from the manager's port, over links that are up, and that it does
  /// not have: descriptions, in the fabric's order.
  [[nodiscard]] std::vector<std::string> not_found() const;

  /// Adapters that the manager had before the latest failure and has no longer, but the one that
  /// failed and aggregation nodes: descriptions, in the fabric's order.
  [[nodiscard]] std::vector<std::string> cut_off() const;

 private:
  void settle(std::uint64_t cycles);
  [[nodiscard]] bool has(std::uint32_t node) const;

  smd::CcStats congestion_before_;
  std::string plans_;  // of the change under way, where they are dumped
  std::uint64_t mads_before_step_ = 0;
  TimePoint failed_at_;
  std::vector<std::uint32_t> adapters_before_;  // the latest failure, which the manager had
  std::uint32_t failed_node_ = sim::kNoNode;
  sim::SimulatedSubnet subnet_;
  std::optional<sim::FabricTimeline> timeline_;
};

}  // namespace smd::bin
