// What is in force, as text files that other tools know.
#pragma once

#include <string>

#include "smd/app/cycle_report.h"

namespace smd::app {

/// Unicast tables in the format of dump_fts.
[[nodiscard]] std::string print_lft_dump(const InForce& in_force);

/// Multicast tables in the format of dump_fts -M. No groups: headers only.
[[nodiscard]] std::string print_mft_dump(const InForce& in_force);

/// One line per switch and pair of ports whose SL-to-VL row the manager sets; none are set unless
/// configured.
[[nodiscard]] std::string print_sl2vl_dump(const InForce& in_force);

/// What the last cycle wrote, in order.
[[nodiscard]] std::string print_plan(const CycleReport& cycle);

/// All of the above and fabric.net into `directory`, which is created.
Result<void> write_dumps(const std::string& directory,
                         const InForce& in_force,
                         const CycleReport& cycle);

}  // namespace smd::app
