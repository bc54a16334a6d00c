// `smsim run`: packets through a fabric, measured.
#pragma once

#include "smd/base/command_line.h"

namespace smd::sim {

class Processes;

/// Adds the subcommand; its exit code is written to `exit_code` when it has run. `processes`: that
/// run it together; null: this one alone.
void add_run_command(Command& program, int& exit_code, Processes* processes = nullptr);

}  // namespace smd::sim
