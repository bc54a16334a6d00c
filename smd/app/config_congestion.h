// The options of [congestion]. Internal to config; include config.h.
#pragma once

#include <vector>

#include "smd/app/config_options.h"

namespace smd {

[[nodiscard]] std::vector<ConfigOption> congestion_options();
[[nodiscard]] std::vector<ConfigRule> congestion_rules();

}  // namespace smd
