// A scenario whose network changes: the real manager brings it up, takes every fault in, and data
// packets meet the tables as they are at that moment. Congestion control of annex A10 obeys
// the registers that the manager has set by then; other mechanisms need none.
#pragma once

#include "sim-backend/scenario/run.h"

namespace smd::sim {

/// One load and one seed. An error where the manager cannot bring the network up.
[[nodiscard]] Result<PointResult> run_managed(const PreparedScenario& scenario,
                                              double load,
                                              std::uint64_t seed,
                                              const RunControl& control);

}  // namespace smd::sim
