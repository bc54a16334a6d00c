// The options of [congestion]. Internal to config; include config.h.
#pragma once

#include <vector>

#include "smd/app/config_options.h"

namespace smd {

/// All of the section, in the order of the file.
[[nodiscard]] std::vector<ConfigOption> congestion_options();

/// Those among them that OpenSM has under the same names.
[[nodiscard]] std::vector<ConfigOption> congestion_options_of_opensm();

[[nodiscard]] std::vector<ConfigRule> congestion_rules();

}  // namespace smd
