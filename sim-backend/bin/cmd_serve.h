// `smsim serve`: a simulated fabric behind ibsim's socket, for unmodified OpenSM and
// infiniband-diags.
#pragma once

#include "smd/base/command_line.h"

namespace smd::sim {

/// Adds the subcommand; its exit code is written to `exit_code` when it has run.
void add_serve_command(Command& program, int& exit_code);

}  // namespace smd::sim
