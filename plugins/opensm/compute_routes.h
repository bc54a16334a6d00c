// One sweep's routes: the engine's tables, and the check that did not make them.
#pragma once

#include <memory>

#include "plugins/opensm/options.h"
#include "plugins/opensm/routes.h"

namespace smd::opensm {

struct SweepRequest {
  std::shared_ptr<const Fabric> fabric;
  LidMap lids;
  Options options;

  /// Data VLs that OpenSM will let ports use.
  unsigned usable_vls = 15;

  /// Whether OpenSM will write SL-to-VL tables: its `qos`. Without them one VL is all there is.
  bool writes_sl_to_vl = true;

  std::shared_ptr<const Routes> in_force;  // null: none of ours are
};

/// Near the routes in force where they are the same engine's; from scratch where that is refused
/// or fails the check. Ensures: checked; no switch discards any SL.
[[nodiscard]] Result<std::shared_ptr<const Routes>> compute_routes(const Engine& engine,
                                                                   const SweepRequest& request);

}  // namespace smd::opensm
