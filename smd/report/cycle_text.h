// Reports of cycles: as the JSON that the command lines promise (docs/formats/json.md), as lines
// for people, and as tables for spreadsheets.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

#include "smd/runtime/runtime.h"
#include "smd/subnet/cycle_report.h"

namespace smd {

/// Connectivity counts where it lasted for some time; danger also where it passed at once.
struct ServiceReport {
  double lowest_connectivity = 1;  // share of the pairs of hosts that cables allow
  Duration below_possible{0};      // for so long fewer pairs were connected than cables allowed
  double highest_deadlock = 0;     // share of the channels that could wait for each other
  bool forwarding_loop = false;    // seen at least once
};

// Reports as the JSON that the command lines promise (docs/formats/json.md).

/// {"switches", "cas", "links", "lids"}
[[nodiscard]] nlohmann::ordered_json to_json(const FabricCounts& counts);

/// {"pairs", "unreachable", "loops", "minimal_pct", "mean_hops", "max_hops"}
[[nodiscard]] nlohmann::ordered_json routes_json(const RouteReport& routes);

/// {"max", "mean", "stddev", "max_per_gbps"}, and "bound" and "ratio" where a bound is known: not
/// 0.
[[nodiscard]] nlohmann::ordered_json load_json(const LoadReport& load, double bound);

/// One object for each engine that `auto` weighed or could not have.
[[nodiscard]] nlohmann::ordered_json candidates_json(const std::vector<EngineCandidate>& all);

/// Of multicast trees: {"cables", "depth", "mean_hops", "mean_channels", "shortest_depth",
/// "shortest_mean_hops", "shortest_mean_channels", "unicast_mean_channels", "sampled"}
[[nodiscard]] nlohmann::ordered_json tree_json(const TreeQuality& quality);

/// {"acyclic", "vls", "cycle"}
[[nodiscard]] nlohmann::ordered_json deadlock_json(const CycleReport& cycle);

/// {"smps", "virtual_ms", "wall_ms"} with the phases as keys.
[[nodiscard]] nlohmann::ordered_json bring_up_json(const CycleReport& cycle);

/// One element of "changes". `what` and `kind` ("down", "up") say what was done to the fabric.
[[nodiscard]] nlohmann::ordered_json change_json(const CycleReport& cycle,
                                                 const std::string& what,
                                                 const std::string& kind);

/// "service" of a change. Times in milliseconds.
[[nodiscard]] nlohmann::ordered_json service_json(const ServiceReport& service);

/// The object of `smd run --once --json`: everything but "changes".
[[nodiscard]] nlohmann::ordered_json run_json(const CycleReport& bring_up);

/// Peak resident memory of this process, MB.
[[nodiscard]] double peak_rss_mb();

// Reports for people: one screen.

/// ", 0.42 per Gb/s on the fullest for its speed" where links differ in speed, else nothing.
[[nodiscard]] std::string print_per_gbps(const LoadReport& load);

/// "15 paths must cross some channel whatever the routes; these have 1.40 times as many on their
/// fullest".
[[nodiscard]] std::string print_load_bound(const LoadReport& load, double bound);

/// "400 Gb/s, which most adapters have; 3 have another".
[[nodiscard]] std::string print_full_rate(const FullRate& rate);

/// "48.4 % of full rate, all shifts from switch to switch; 33.3 % in the worst".
[[nodiscard]] std::string print_shifts(const RouteMeasures& measures);

/// `shape`: of the fabric, in words; may be empty.
[[nodiscard]] std::string print_bring_up(const CycleReport& cycle, std::string_view shape = {});

/// One line: what happened, what it cost, what came out.
[[nodiscard]] std::string print_change(const CycleReport& cycle,
                                       const std::string& what,
                                       const std::string& kind);

// Reports as tables for spreadsheets and plots: RFC 4180, one header line.

/// One row per object and one column per scalar that any of them has, in the order of their first
/// appearance: {"a": {"b": 1}} gives column "a.b". Elements of arrays are joined by "; ".
[[nodiscard]] std::string print_csv(const std::vector<nlohmann::ordered_json>& objects);

}  // namespace smd
