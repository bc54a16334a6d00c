// `smsim collect`: the runs of a campaign, joined.
#pragma once

#include <CLI/CLI.hpp>

namespace smd::sim {

void add_collect_command(CLI::App& app, int& exit_code);

}  // namespace smd::sim
