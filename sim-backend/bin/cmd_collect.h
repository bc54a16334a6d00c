// `smsim collect`: the runs of a campaign, joined.
#pragma once

#include "smd/base/command_line.h"

namespace smd::sim {

void add_collect_command(Command& program, int& exit_code);

}  // namespace smd::sim
