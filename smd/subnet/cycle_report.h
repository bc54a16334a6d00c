// One cycle of the manager, from "something changed" to "the fabric is as wanted": what it cost and
// what came out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "smd/discovery/sweep_report.h"
#include "smd/fabric/fabric.h"
#include "smd/fabric/hosts.h"
#include "smd/multicast/tree_quality.h"
#include "smd/plan/transition.h"
#include "smd/policy/lid_assignment.h"
#include "smd/policy/port_policy.h"
#include "smd/program/program_report.h"
#include "smd/routing/verify/channel_load.h"
#include "smd/routing/verify/check_routes.h"
#include "smd/routing/verify/route_measures.h"

namespace smd {

enum class Phase { Idle, Discovering, Routing, Programming, Up, HandingOver, Standby, NotActive };

[[nodiscard]] std::string_view print_phase(Phase phase);

struct FabricCounts {
  std::uint64_t switches = 0;
  std::uint64_t cas = 0;  // adapters and routers
  std::uint64_t links = 0;
  std::uint64_t lids = 0;
  AdapterCounts no_data = {};  // of `cas`
  HostCounts hosts = {};       // that the others of them are of

  friend bool operator==(const FabricCounts&, const FabricCounts&) = default;
};

/// What became of an engine that was asked for by command.
struct EngineTrial {
  std::string engine;
  bool taken = false;
  bool needs_force = false;  // the fabric suits it
  std::string why;           // not taken: the engine's reason, or what the change would have cost
};

/// How the tables went from what the switches held to what they hold now.
struct TransitionReport {
  TransitionKind kind = TransitionKind::Nothing;
  std::uint64_t phases = 0;
  bool certified = false;     // every phase was proved
  std::uint64_t blocked = 0;  // turns that stay blocked
  std::uint64_t replans = 0;  // made anew around what was confirmed
  std::string why;            // of a fallback
  std::string interrupted;    // why the last plan ended early; empty: all of it is written
};

/// What is gone and what is new, for people.
struct FoundChanges {
  static constexpr std::size_t kMost = 10;

  std::vector<std::string> first;  // of them, kMost at most: "link down: leaf-3 port 5, …"
  std::size_t count = 0;
};

/// Small enough to keep a hundred of them.
struct CycleReport {
  std::string reason;    // "start", "trap 128 from lid 5", "sweep", "command"
  FoundChanges changes;  // none at the first look
  bool shrank = false;   // fewer nodes or links than before
  bool quiet = false;    // a sweep that found everything as it was: nothing else here is set
  bool partial = false;  // only switches that a trigger named were asked
  std::string full_why;  // of a full discovery where partial ones are wanted
  PhaseCost detection;
  PhaseCost discovery;
  PhaseCost routing;  // LIDs, tables and their check: no SMPs
  PhaseCost configure;
  PhaseCost turns;       // SL-to-VL rows of turns that were blocked and restored
  PhaseCost deactivate;  // ports that were taken down while tables changed
  PhaseCost tables;
  PhaseCost activate;
  std::string engine;        // whose routes are in force
  std::string engine_asked;  // empty before routes are computed
  std::string
      engine_refused;  // why `engine` took the place of `engine_asked`; empty when it did not
  std::vector<std::string> notes;           // of the routes, for people
  std::vector<EngineCandidate> candidates;  // that `auto` chose from
  std::optional<EngineTrial> trial;
  FabricCounts counts;
  bool routed = false;  // an engine made tables: `routes`, `load` and what follows speak of them
  RouteReport routes;
  bool check_differs = false;  // what was kept of the check is not what the full one found
  std::string cycle_text;      // of a credit loop, when there is one
  LoadReport load;
  double load_bound = 0;  // as LoadBound::fullest; with `measures`, 0 otherwise
  std::optional<TreeQuality>
      group_of_all;                       // the tree of a group that every adapter is in; likewise
  std::optional<RouteMeasures> measures;  // where somebody asked what the routes are worth
  double lft_entries_changed_pct = 0;
  TransitionReport transition;
  std::optional<Duration> provisional;  // from detection until provisional routes were in
  std::vector<SilentPort> silent;
  std::vector<DuplicateGuid> duplicates;
  std::vector<LidConflict> lid_conflicts;
  std::uint64_t ports_without_lid = 0;  // none were left: these are not configured, not routed to
  std::string lid_shortage;             // names them
  std::string qos_fault;                // SLs that are lost to everybody; empty: none
  std::vector<std::string> partition_faults;  // P_Key tables that are left alone, and why
  ForeignKeys foreign_keys;                   // ports that another manager protects
  std::vector<ProgramFault> faults;
  std::uint64_t fault_count = 0;
  std::uint64_t blocks_written = 0;
  std::vector<Guid> resweep;           // switches that changed while they were being read
  std::vector<PortIdx> came_up;        // in the snapshot in force: ports that were in Initialize
  std::uint64_t ports_down_after = 0;  // managed ports that are not Active at the end
  bool cut_off = false;        // nobody was seen but the manager: it ended there, without error
  bool has_no_link = false;    // likewise, and its own port has none
  std::optional<Error> error;  // the cycle ended early: nothing after this point was written
  TimePoint began;
  TimePoint ended;

  [[nodiscard]] std::uint64_t smps() const { return detection.smps + discovery.smps + sets(); }

  /// SMPs of everything after discovery.
  [[nodiscard]] std::uint64_t sets() const {
    return configure.smps + turns.smps + deactivate.smps + tables.smps + activate.smps;
  }

  /// Ports behind which nobody could be asked: further than directed routes lead.
  [[nodiscard]] std::uint64_t out_of_reach() const {
    return static_cast<std::uint64_t>(std::ranges::count(silent, true, &SilentPort::out_of_reach));
  }

  /// Up and verified: the subnet was seen, every port in it could be asked, every managed one is
  /// Active, every route checked, every plan written to its end, every Set confirmed.
  [[nodiscard]] bool up() const;
};

/// The first of them, and at the end how many more there are.
[[nodiscard]] std::vector<std::string> print_changes(const FoundChanges& changes);

/// "2 ports lead further than …"; empty when none does.
[[nodiscard]] std::string print_out_of_reach(const CycleReport& cycle);

/// Of one that is cut off.
[[nodiscard]] std::string print_cut_off(const CycleReport& cycle);

/// Why the fabric may be other than the manager believes without anybody telling it.
struct Trouble {
  enum class Kind : std::uint8_t {
    None,  // it is well watched
    CycleFailed,
    ChecksDiffer,
    SettingsFailed,
    PlanInterrupted,
    PortsNotActive,
    OutOfReach,
    Silence,
    DuplicateGuids,
    CutOff,
  };

  Kind kind = Kind::None;
  std::string what;  // for people, with how much there is of it
};

[[nodiscard]] Trouble trouble_of(const CycleReport& cycle);

/// One change may take several cycles: what it cost in all, and what came out in the end. Costs are
/// added; reason and beginning are the first cycle's, the outcome is the last one's, and the
/// transition is the one that touched tables most cautiously: certified only when all were.
/// Requires: at least one.
[[nodiscard]] CycleReport sum_cycles(const std::vector<CycleReport>& cycles);

}  // namespace smd
