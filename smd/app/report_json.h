// Reports as the JSON that the command lines promise (docs/formats/json.md).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "smd/app/cycle_report.h"
#include "smd/app/service_report.h"

namespace smd::app {

/// {"switches", "cas", "links", "lids"}
[[nodiscard]] nlohmann::ordered_json to_json(const FabricCounts& counts);

/// {"pairs", "unreachable", "loops", "minimal_pct", "mean_hops", "max_hops"}
[[nodiscard]] nlohmann::ordered_json routes_json(const RouteReport& routes);

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

}  // namespace smd::app
