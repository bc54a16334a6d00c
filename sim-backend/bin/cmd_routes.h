// `smsim routes`: source routes of a fabric, what they come to, and whether messages can wait in a
// circle.
#pragma once

#include "smd/base/command_line.h"

namespace smd::sim {

/// Adds the subcommand; its exit code is written to `exit_code` when it has run: 1 for routes that
/// can deadlock.
void add_routes_command(Command& program, int& exit_code);

}  // namespace smd::sim
