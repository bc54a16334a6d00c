// The work that runs off the loop: tables, then the check that did not make them.
#pragma once

#include <optional>
#include <string>

#include "smd/routing/check.h"
#include "smd/routing/engine.h"

namespace smd::app {

struct Routed {
  RoutingTables tables;
  RouteReport routes;
  LoadReport load;
  std::string
      fallback_reason;  // why another engine than the asked one was used; empty when it was not
  std::optional<Error> error;  // refused, or not verified: `tables` must not be written
};

/// With `fallback`, updn takes the place of an engine that refuses the fabric or fails the check.
[[nodiscard]] Routed compute_routed(const Fabric& fabric,
                                    const LidMap& lids,
                                    const RoutingRequest& request,
                                    const std::string& engine,
                                    bool fallback);

}  // namespace smd::app
