// What a pattern asks for that cannot be had: targets without senders, loads beyond the slots.
#pragma once

#include <cstdint>
#include <vector>

#include "sim-backend/scenario/offered_traffic.h"
#include "sim-backend/scenario/scenario.h"

namespace smd::sim {

/// With the lines of the keys. `input`: of the highest load that is asked for. `byte_times`: of the
/// hosts' links, as Wire has it.
[[nodiscard]] Faults check_pattern(const Scenario& scenario,
                                   const TrafficInput& input,
                                   std::vector<std::uint32_t> byte_times,
                                   unsigned header_bytes);

}  // namespace smd::sim
