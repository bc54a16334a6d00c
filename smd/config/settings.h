// What the manager needs to know of the configuration, in the types of the layers it wires; and
// what the mode in it makes the manager do.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "smd/config/config.h"
#include "smd/config/reconfiguration_mode.h"
#include "smd/congestion/options.h"
#include "smd/discovery/sweep_report.h"
#include "smd/ha/election.h"
#include "smd/plan/make/planner.h"
#include "smd/policy/lid_assignment.h"
#include "smd/policy/partition_file.h"
#include "smd/policy/partition_map.h"
#include "smd/policy/port_policy.h"
#include "smd/policy/qos.h"
#include "smd/policy/qos_file.h"
#include "smd/program/writing_options.h"
#include "smd/smp/smp_client.h"

namespace smd {

/// Routes of a cycle, as far as their making costs time.
struct ComputedRoutes {
  std::string engine;
  std::size_t nodes = 0;
  double share = 1;  // of all entries, made anew; the rest was kept
};

/// A mode as what is done. Nobody but who makes one asks for the mode.
struct Strategy {
  // Sweeps.
  bool full_sweeps = false;  // ask everybody; else where something changed
  RequestSet requests = RequestSet::Fewest;
  bool light_sweeps = true;  // at intervals; else partial sweeps, which ask every switch themselves

  /// Ports get their LIDs while they are found, before it is known who else manages here; full
  /// sweeps number anew.
  bool lids_while_sweeping = false;

  /// A switch whose ports were read again is programmed, though it is as it was.
  bool reread_is_change = false;

  // Routes.
  std::vector<std::string> engines;  // of each round, provisional ones first; none: as configured
  bool roots_at_manager = false;     // directions begin at its switch, unless roots are configured
  bool rebalances = true;  // when all is at rest: loads that a change left unbalanced, and
                           // what it left blocked

  // Transitions.
  PlannerOptions planner;
  WritingOptions writing{.drain_time = std::chrono::milliseconds(1)};
  bool leaves_out_refusing = true;  // a switch that takes no settings is as if it were silent
};

/// `drain_time`: see WritingOptions; the thesis knows of none.
[[nodiscard]] Strategy make_strategy(const ReconfigurationMode& mode,
                                     Duration drain_time = Strategy{}.writing.drain_time);

struct Settings {
  SmpClientConfig smp;
  MKeySources m_keys;  // where the keys of ports come from; ports.m_key is the name of the first
  PortPolicy ports;
  QosPolicy qos;
  std::optional<PartitionPolicy> partitions;
  std::uint64_t partition_rules = 0;  // number of what was ordered last and is in them
  std::optional<QosFile> qos_rules;
  LidPolicy lids;
  std::string engine = "updn";
  std::vector<std::string> next_engines;  // in this order, where those before refuse or are unsafe
  bool engine_fallback = true;            // updn behind the last of them; else the cycle fails
  EngineOptions engine_options;
  std::shared_ptr<const SiteNodes> site_nodes = nullptr;  // null: none are given
  Strategy strategy;
  bool statistics = true;  // measure lengths and loads of the routes of every cycle

  /// Simulations that charge for computing: the time that it takes.
  std::function<Duration(const ComputedRoutes&)> computing_time;
  Leftovers leftovers = Leftovers::Ignore;
  std::optional<bool> directed_only;  // no SMP goes by LID; nothing: as the transport says
  bool port_state_tables = true;      // see DiscoveryOptions
  Duration sweep_interval{0};         // 0: only traps and commands
  unsigned sweep_factor = 0;  // not 0: a sweep begins so many times its own length after the last
  Duration debounce = std::chrono::milliseconds(3);
  Duration debounce_max = std::chrono::milliseconds(200);
  Duration rebalance_delay{
      0};  // at rest after a change, before loads that it left unbalanced are rebalanced; 0: never
  TreeShape multicast_trees = TreeShape::UpDown;
  CopyModel multicast_proof = CopyModel::Asynchronous;
  std::vector<PreconfiguredGroup> groups;  // multicast, that exist before anybody joins
  ElectionConfig election;
  std::vector<std::pair<std::uint64_t, Guid>>
      prefix_routes;           // ports of routers by the prefixes that they lead to; 0: any
  std::uint8_t max_rate = 63;  // the highest code of a rate in path records
  PathChoice path_choice = PathChoice::Offset;
  unsigned path_margin = 50;  // hundredths, see PathOrder
  unsigned path_watch_mads_per_s = 100;
  SmKey sa_key;  // of trusted requests; 0: the SM_Key of `election`
  cc::Options congestion;
};

[[nodiscard]] Settings make_settings(const Config& config);

}  // namespace smd
