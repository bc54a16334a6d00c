// `smsim gen`: a fabric as text on stdout or in a file, and the list of generators.
#pragma once

#include "smd/base/command_line.h"

namespace smd::sim {

/// Adds the subcommand; its exit code is written to `exit_code` when it has run.
void add_gen_command(Command& program, int& exit_code);

}  // namespace smd::sim
