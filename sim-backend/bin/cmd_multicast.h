// `smsim multicast`: how an algorithm visits destinations, and what that comes to. `smsim check`:
// whether its messages can wait for each other in a circle.
#pragma once

#include "smd/base/command_line.h"

namespace smd::sim {

/// Adds both subcommands; the exit code is written to `exit_code` when one has run: 1 for a circle.
void add_multicast_commands(Command& program, int& exit_code);

}  // namespace smd::sim
