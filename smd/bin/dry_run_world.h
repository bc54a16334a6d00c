// One simulated world with the manager in it: what `smd dry-run` does to it, and what it saw.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim-backend/kernel/sim_runtime.h"
#include "sim-backend/management/fabric_timeline.h"
#include "sim-backend/management/sim_fabric.h"
#include "sim-backend/management/sim_transport.h"
#include "smd/bin/dry_run.h"
#include "smd/bin/dry_run_congestion.h"
#include "smd/cc/cc_manager.h"
#include "smd/manager/subnet_manager.h"
#include "smd/report/cycle_text.h"
#include "smd/transport/transport.h"

namespace smd::bin {

struct Failure {
  std::string text;
  std::uint32_t node = sim::kNoNode;
  std::optional<PortNum> port;  // none: the whole node
};

/// "sw-0-3:5" is a link when 5 is a port of a node called sw-0-3, otherwise the whole text names a
/// node.
[[nodiscard]] Parsed<Failure> parse_failure(const sim::FabricSpec& spec, const std::string& text);

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

  /// Of the latest failure; none when nobody watches.
  [[nodiscard]] std::optional<smd::ServiceReport> service() const;

  /// The samples of the latest failure as CSV; virtual time is 0 at the failure.
  [[nodiscard]] std::string print_timeline() const;

  /// Of the latest failure, or of the bring-up when there was none.
  [[nodiscard]] const std::string& plans() const { return plans_; }

  [[nodiscard]] const smd::ActiveSubnet* in_force() const { return manager_.in_force(); }

  [[nodiscard]] const smd::CcManager& congestion() const { return congestion_; }

  /// Of the latest failure, or of the bring-up when there was none.
  [[nodiscard]] CongestionCost congestion_cost() const;

  [[nodiscard]] const sim::SimFabric& fabric() const { return fabric_; }

 private:
  smd::SubnetManager::Observer observer();
  void settle(std::uint64_t cycles);

  sim::SimRuntime runtime_;
  sim::SimFabric fabric_;
  sim::SimTransport transport_;
  ClassSplit split_;
  smd::CcManager congestion_;
  smd::CcStats congestion_before_;
  std::vector<smd::CycleReport> cycles_;  // of the change under way
  std::string plans_;                     // likewise
  std::uint64_t mads_before_step_ = 0;
  std::optional<sim::FabricTimeline> timeline_;
  TimePoint failed_at_;
  smd::SubnetManager manager_;
};

}  // namespace smd::bin
