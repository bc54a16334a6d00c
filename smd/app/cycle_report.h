// One cycle of the manager, from "something changed" to "the fabric is as wanted": what it cost and
// what came out.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "smd/discovery/sweep_report.h"
#include "smd/fabric/lid_map.h"
#include "smd/policy/lid_assignment.h"
#include "smd/program/program_report.h"
#include "smd/routing/check.h"

namespace smd::app {

enum class Phase { Idle, Discovering, Routing, Programming, Up };

[[nodiscard]] std::string_view print_phase(Phase phase);

struct FabricCounts {
  std::uint64_t switches = 0;
  std::uint64_t cas = 0;  // adapters and routers
  std::uint64_t links = 0;
  std::uint64_t lids = 0;

  friend bool operator==(const FabricCounts&, const FabricCounts&) = default;
};

/// What the manager holds to be true of the fabric: large, one copy.
struct InForce {
  SweepReport sweep;
  LidMap lids;
  RoutingTables routing;

  [[nodiscard]] const Fabric& fabric() const { return *sweep.fabric; }
};

/// Small enough to keep a hundred of them.
struct CycleReport {
  std::string reason;   // "start", "trap 128 from lid 5", "sweep", "command"
  bool shrank = false;  // fewer nodes or links than before
  PhaseCost detection;
  PhaseCost discovery;
  PhaseCost routing;  // LIDs, tables and their check: no SMPs
  PhaseCost configure;
  PhaseCost tables;
  PhaseCost activate;
  std::string engine;
  FabricCounts counts;
  RouteReport routes;
  std::string cycle_text;  // of a credit loop, when there is one
  LoadReport load;
  double lft_entries_changed_pct = 0;
  std::vector<SilentPort> silent;
  std::vector<DuplicateGuid> duplicates;
  std::vector<LidConflict> lid_conflicts;
  std::vector<ProgramFault> faults;
  std::uint64_t fault_count = 0;
  std::uint64_t blocks_written = 0;
  std::uint64_t ports_down_after = 0;  // managed ports that are not Active at the end
  bool cut_off = false;                // the manager's own port has no link: it manages itself only
  std::optional<Error> error;  // the cycle ended early: nothing after this point was written
  TimePoint began;
  TimePoint ended;

  [[nodiscard]] std::uint64_t smps() const {
    return detection.smps + discovery.smps + configure.smps + tables.smps + activate.smps;
  }

  /// Up and verified: every managed port Active, every route checked, every Set confirmed.
  [[nodiscard]] bool up() const {
    return !error && routes.ok() && fault_count == 0 && ports_down_after == 0;
  }
};

}  // namespace smd::app
