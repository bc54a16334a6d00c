// `smsim run`: packets through a fabric, measured.
#pragma once

#include "smd/base/command_line.h"

namespace smd::sim {

/// Adds the subcommand; its exit code is written to `exit_code` when it has run.
void add_run_command(Command& program, int& exit_code);

}  // namespace smd::sim
