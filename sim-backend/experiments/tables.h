// The tables of experiments, one in each file: 000, source routes and worms; 001,
// worms to several hosts; 002, ways by what
// stands in buffers; 003, what a change of the subnet costs; 004, mechanisms of congestion control.
#pragma once

#include <vector>

#include "sim-backend/lab/experiment.h"

namespace smd::sim {

[[nodiscard]] std::vector<Experiment> ablation_tables();
[[nodiscard]] std::vector<Experiment> assimilation_tables();
[[nodiscard]] std::vector<Experiment> butterfly_tables();
[[nodiscard]] std::vector<Experiment> collective_tables();
[[nodiscard]] std::vector<Experiment> cost_tables();
[[nodiscard]] std::vector<Experiment> discovery_tables();
[[nodiscard]] std::vector<Experiment> distribution_tables();
[[nodiscard]] std::vector<Experiment> dragonfly_tables();
[[nodiscard]] std::vector<Experiment> engine_ratio_tables();
[[nodiscard]] std::vector<Experiment> flit_level_tables();
[[nodiscard]] std::vector<Experiment> hot_spot_tables();
[[nodiscard]] std::vector<Experiment> limit_tables();
[[nodiscard]] std::vector<Experiment> link_usage_tables();
[[nodiscard]] std::vector<Experiment> loss_tables();
[[nodiscard]] std::vector<Experiment> low_load_tables();
[[nodiscard]] std::vector<Experiment> modern_tables();
[[nodiscard]] std::vector<Experiment> multicast_algorithm_tables();
[[nodiscard]] std::vector<Experiment> multicast_load_tables();
[[nodiscard]] std::vector<Experiment> network_tables();
[[nodiscard]] std::vector<Experiment> open_parameter_tables();
[[nodiscard]] std::vector<Experiment> other_places_tables();
[[nodiscard]] std::vector<Experiment> pattern_ratio_tables();
[[nodiscard]] std::vector<Experiment> phases_tables();
[[nodiscard]] std::vector<Experiment> regular_network_tables();
[[nodiscard]] std::vector<Experiment> route_tables();
[[nodiscard]] std::vector<Experiment> scale_tables();
[[nodiscard]] std::vector<Experiment> source_memory_tables();
[[nodiscard]] std::vector<Experiment> static_route_tables();
[[nodiscard]] std::vector<Experiment> sweep_tables();
[[nodiscard]] std::vector<Experiment> system_ratio_tables();
[[nodiscard]] std::vector<Experiment> technique_tables();
[[nodiscard]] std::vector<Experiment> victim_tables();
[[nodiscard]] std::vector<Experiment> window_tables();

}  // namespace smd::sim
