// What the settings of the site mean on the fabric that was found: engine, roots, LIDs and VLs of
// a cycle, the partitions that are in force, and what of the QoS rules can be kept.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "smd/config/settings.h"
#include "smd/discovery/sweep_report.h"
#include "smd/fabric/fabric.h"
#include "smd/policy/partition_map.h"
#include "smd/policy/qos_rules.h"
#include "smd/subnet/active_subnet.h"

namespace smd {

/// Rounds of routes: provisional ones may come before the final ones.
[[nodiscard]] unsigned count_rounds(const Settings& settings);

/// The engine of a round, from 0.
[[nodiscard]] const std::string& engine_of_round(const Settings& settings, unsigned round);

/// As configured, or the switch that the manager sits on.
[[nodiscard]] std::vector<Guid> choose_roots(const Settings& settings, const Fabric& fabric);

/// "; 2 hosts are out with it: h1, h2": who has no service where the switch is left out.
[[nodiscard]] std::string print_hosts_at(const Fabric& fabric, NodeIdx node);

/// The manager's own node, or a switch that others are reached through alone: leaving it out would
/// cost more than itself and its adapters.
[[nodiscard]] bool is_indispensable(const SweepReport& found, NodeIdx node);

/// Those of `links`, ends of links between switches with a reason each, without which every switch
/// is still reached, left out together. Of links that are the last ones to somebody together, the
/// later ones stay.
[[nodiscard]] std::map<PortRef, std::string> find_dispensable(
    const SweepReport& found, const std::map<PortRef, std::string>& links);

/// The highest LID that may be given out: that of `lids`, unless `top`, the highest that is given
/// out by them, is beyond the forwarding table of an indispensable switch.
[[nodiscard]] Lid find_highest_lid(const SweepReport& found, const LidPolicy& lids, Lid top);

/// A switch that others can do without and whose linear forwarding table has no room for the LIDs
/// up to `top`, and a line that says so.
[[nodiscard]] std::optional<std::pair<Guid, std::string>> find_small_table(const SweepReport& found,
                                                                           Lid top);

/// As configured; where routes need several VLs, SL s goes to VL s modulo their number instead.
/// `apart` keeps its VL to itself.
[[nodiscard]] QosPolicy choose_qos(const Settings& settings,
                                   unsigned route_vls,
                                   const std::optional<MulticastVl>& apart);

/// A bit for each VL that SLs of before may be led over for a while: not the one of multicast
/// groups, and none that the site's arbitration might never serve.
[[nodiscard]] std::uint16_t choose_other_vls(const Settings& settings, const ActiveSubnet& goal);

// Which rules of partitions are in force. New rules that do not fit the fabric are not taken: the
// old ones stay. Ports that are too small for the rules in force get the keys that they have room
// for.
//
// A snapshot without the ports that had no room says nothing: they come back. Where an operator
// knows that they do not, a reload tries the rules without them.

struct PartitionState {
  struct Misfit {
    PortRef port;
    bool refuses = false;  // the rules in force do fit it
    std::string fault;
  };

  /// Tried again when every port that refuses is there.
  struct Refused {
    PartitionPolicy policy;
    std::vector<Misfit> misfits;
  };

  std::optional<PartitionPolicy> in_force;
  std::optional<Refused> refused;
  std::vector<std::string> faults;  // of the latest snapshot: what does not fit, one line each

  /// Why the rules that are asked for are not those in force; empty: they are.
  std::string not_taken;

  /// What kept a port from its P_Keys.
  struct Unconfirmed {
    std::uint64_t rules = 0;  // their number; see Settings
    std::string why;
  };

  /// By port GUID: until the tables are confirmed.
  std::map<Guid, Unconfirmed> unconfirmed;

  /// An operator asks: what was refused is tried on whoever is there. Of the next snapshot that
  /// shows anybody.
  bool tries_anew = false;
};

/// The plan for this snapshot; null while nobody has configured partitions. Who takes the file away
/// from a running manager gets everybody back into the default partition.
[[nodiscard]] std::shared_ptr<const PartitionPlan> choose_partitions(const Settings& settings,
                                                                     const Fabric& fabric,
                                                                     PartitionState& state);

/// Data VLs that the site lets routes use, at least 1: of those that ports shall have, as many as
/// its arbitration tables let send.
[[nodiscard]] unsigned count_route_vls(const Settings& settings);

// The site's QoS rules on what is in force, and what of them cannot be kept.

/// Null where the site has none.
[[nodiscard]] std::shared_ptr<const QosRules> make_qos_rules(const Settings& settings,
                                                             const ActiveSubnet& now);

/// Nobody asks for certain directions of up*/down* routes: only those are kept for the next life,
/// whose site may ask for others.
[[nodiscard]] bool are_directions_free(const EngineOptions& options);

/// Levels and tables that routes on several VLs overrule, SLs that are given out and discarded,
/// names of partitions that are not there: one line each in the log, when it is news. `partitions`:
/// in force; null: the default one.
void report_qos_conflicts(const Settings& settings,
                          const RoutingTables& routing,
                          const PartitionPlan* partitions,
                          std::vector<std::string>& said);

}  // namespace smd
