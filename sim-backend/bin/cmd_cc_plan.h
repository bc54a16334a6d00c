// `smsim cc-plan`: what congestion control would be set to in a fabric, and the figures behind it.
#pragma once

#include "smd/base/command_line.h"

namespace smd::sim {

/// Adds the subcommand; its exit code is written to `exit_code` when it has run.
void add_cc_plan_command(Command& program, int& exit_code);

}  // namespace smd::sim
