// `smsim run`: packets through a fabric, measured.
#pragma once

#include <CLI/CLI.hpp>

namespace smd::sim {

/// Adds the subcommand; its exit code is written to `exit_code` when it has run.
void add_run_command(CLI::App& app, int& exit_code);

}  // namespace smd::sim
