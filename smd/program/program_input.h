// What a run of the programmer is given, and what it keeps from one run to the next.
#pragma once

#include "smd/discovery/sweep_report.h"
#include "smd/multicast/mft_plan.h"
#include "smd/plan/confirmed_tables.h"
#include "smd/plan/transition.h"
#include "smd/policy/p_key_tables.h"
#include "smd/policy/partition_map.h"
#include "smd/policy/port_policy.h"
#include "smd/policy/qos.h"
#include "smd/program/agent_memory.h"
#include "smd/program/writing_options.h"
#include "smd/routing/tables.h"

namespace smd {

/// What the daemon knows to be in the fabric; survives from one cycle to the next.
/// A table block of a port that its agent would not show or take.
struct RefusedTable {
  Guid node;
  PortNum port;
  AttributeId attribute;
  std::uint32_t modifier = 0;

  friend auto operator<=>(const RefusedTable&, const RefusedTable&) = default;
};

struct ProgramState {
  ConfirmedTables tables;
  RandomTables random;
  PortMemory ports;
  SwitchMemory switches;
  TurnMemory turns;
  ConfirmedSlToVl sl_to_vl;
  KeyMemory keys;
  MftMemory multicast;
  std::optional<QosPolicy> audited;       // what QosAudit looked for the latest time
  std::vector<PortRef> audited_ports;     // that obey it, those that are away too; ascending
  std::set<RefusedTable> refused_tables;  // of these, those that do not

  /// When the last list of a plan that changed entries, turns or rows while data flowed was done,
  /// or trees were taken away before a plan: packets that were sent by what they were before may be
  /// on their way.
  std::optional<TimePoint> changed_at;

  /// Ports whose tables somebody else may have written, or that may have been started anew, though
  /// they are Active: they are read again by the next run.
  std::set<PortRef> doubtful;

  /// A switch that is fresh from power-on: nothing known of it holds. `multicast` aside, which has
  /// words of its own for that.
  void forget(Guid node);

  /// Somebody else may have written to it; it was not reset.
  void doubt(Guid node);
};

struct ProgramInput {
  const SweepReport* report = nullptr;  // all outlive the run
  const LidMap* lids = nullptr;
  const ForwardingTables* lft = nullptr;
  PortPolicy policy;
  QosPolicy qos;

  /// Null: P_Key tables are not touched, and no switch port enforces any.
  const PartitionPlan* partitions = nullptr;

  /// How to get to `lft`. Null: all blocks at once, in any order. With a plan, whoever made it has
  /// read back what was unknown.
  const TransitionPlan* plan = nullptr;

  /// Where the plan ends early no other one follows: adapters come up all the same, and reach what
  /// can be reached.
  bool is_last_attempt = false;

  /// Ends of links between switches that need not become Active for the plan to go on: nobody can
  /// do without them. Ascending; null: none.
  const std::vector<PortRef>* needed_links = nullptr;

  /// Where switches with random tables send LIDs that `lft` has no entry for. May be null or empty.
  const IndexVector<SwitchIdx, PortNum>* default_port = nullptr;

  /// SL-to-VL entries that switches shall hold, where routes need certain ones. Null or empty: they
  /// are those of `qos`, if any.
  const SlToVlMaps* sl_to_vl = nullptr;

  /// Of the wanted routes: ports send to the manager (MasterSMSL) as on any path. Null or empty: SL
  /// 0.
  const PathSls* path_sls = nullptr;

  /// Ports may learn them also where the plan ends early.
  bool tells_sls_early = false;

  [[nodiscard]] bool writes_sl_to_vl() const { return sl_to_vl != nullptr && !sl_to_vl->empty(); }

  BlockChoice blocks = BlockChoice::Changed;  // a plan of whole tables writes more all the same
  WritingOptions writing;
};

}  // namespace smd
