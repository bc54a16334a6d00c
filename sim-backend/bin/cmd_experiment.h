// `smsim experiment`: published results measured again, with files and a line per claim.
#pragma once

#include "smd/base/command_line.h"

namespace smd::sim {

/// Adds the subcommand; its exit code is written to `exit_code` when it has run.
void add_experiment_command(Command& program, int& exit_code);

}  // namespace smd::sim
