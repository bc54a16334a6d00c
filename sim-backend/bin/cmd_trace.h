// `smsim trace`: what ranks of a parallel program send each other, as a trace that `smsim run`
// replays.
#pragma once

#include "smd/base/command_line.h"

namespace smd::sim {

/// Adds the subcommand; its exit code is written to `exit_code` when it has run.
void add_trace_command(Command& program, int& exit_code);

}  // namespace smd::sim
