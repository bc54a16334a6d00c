// Reports for people: one screen.
#pragma once

#include <string>

#include "smd/app/cycle_report.h"

namespace smd::app {

[[nodiscard]] std::string print_bring_up(const CycleReport& cycle);

/// One line: what happened, what it cost, what came out.
[[nodiscard]] std::string print_change(const CycleReport& cycle,
                                       const std::string& what,
                                       const std::string& kind);

}  // namespace smd::app
