// All experiments there are.
#pragma once

#include <span>
#include <string_view>

#include "sim-backend/lab/experiment.h"

namespace smd::sim {

/// In the order of their names.
[[nodiscard]] std::span<const Experiment> experiments();

/// Null when there is none of that name.
[[nodiscard]] const Experiment* find_experiment(std::string_view name);

}  // namespace smd::sim
