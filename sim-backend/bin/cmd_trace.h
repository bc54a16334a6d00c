// `smsim trace`: what ranks of a parallel program send each other, as a trace that `smsim run`
// replays.
#pragma once

#include <CLI/CLI.hpp>

namespace smd::sim {

/// Adds the subcommand; its exit code is written to `exit_code` when it has run.
void add_trace_command(CLI::App& app, int& exit_code);

}  // namespace smd::sim
