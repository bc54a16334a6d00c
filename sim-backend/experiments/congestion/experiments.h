// 004: mechanisms of congestion control. What each experiment is about stands at the head of its
// file.
#pragma once

#include "sim-backend/lab/experiment.h"

namespace smd::sim {

[[nodiscard]] Experiment ablations();
[[nodiscard]] Experiment hot_spot_pulse();
[[nodiscard]] Experiment modern();
[[nodiscard]] Experiment networks();
[[nodiscard]] Experiment open_parameters();
[[nodiscard]] Experiment phases();
[[nodiscard]] Experiment source_sizes();
[[nodiscard]] Experiment victim();
[[nodiscard]] Experiment windows();

}  // namespace smd::sim
