// 003: what a change of the subnet costs. What each experiment is about stands at the head of its
// file.
#pragma once

#include "sim-backend/lab/experiment.h"

namespace smd::sim {

[[nodiscard]] Experiment accelerations();
[[nodiscard]] Experiment assimilation();
[[nodiscard]] Experiment clos_change();
[[nodiscard]] Experiment data_loss();
[[nodiscard]] Experiment delta_gain();
[[nodiscard]] Experiment detection();
[[nodiscard]] Experiment distribution();
[[nodiscard]] Experiment double_load();
[[nodiscard]] Experiment fast_links();
[[nodiscard]] Experiment flit_level_points();
[[nodiscard]] Experiment full_discovery();
[[nodiscard]] Experiment loss_course();
[[nodiscard]] Experiment multiple_changes();
[[nodiscard]] Experiment partial_discovery();
[[nodiscard]] Experiment route_entries();
[[nodiscard]] Experiment route_quality();
[[nodiscard]] Experiment service_gap();
[[nodiscard]] Experiment sweep_time();
[[nodiscard]] Experiment sweeping_load();
[[nodiscard]] Experiment technique_losses();
[[nodiscard]] Experiment trap_gain();

}  // namespace smd::sim
