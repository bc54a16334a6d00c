// `smsim cost`: what networks are made of, whether they are in balance, and what they cost.
#pragma once

#include "smd/base/command_line.h"

namespace smd::sim {

/// Adds the subcommand; its exit code is written to `exit_code` when it has run.
void add_cost_command(Command& program, int& exit_code);

}  // namespace smd::sim
