// A new table of experiments is a file of its own, a line in tables.h and a line here.
#include "sim-backend/experiments/registry.h"

#include <algorithm>
#include <vector>

#include "sim-backend/experiments/tables.h"

namespace smd::sim {

std::span<const Experiment> experiments() {
  static const std::vector<Experiment> all = [] {
    std::vector<Experiment> out;
    for (const auto& tables : {ablation_tables(),
                               assimilation_tables(),
                               butterfly_tables(),
                               collective_tables(),
                               cost_tables(),
                               discovery_tables(),
                               distribution_tables(),
                               dragonfly_tables(),
                               engine_ratio_tables(),
                               flit_level_tables(),
                               hot_spot_tables(),
                               limit_tables(),
                               link_usage_tables(),
                               loss_tables(),
                               low_load_tables(),
                               modern_tables(),
                               multicast_algorithm_tables(),
                               multicast_load_tables(),
                               network_tables(),
                               open_parameter_tables(),
                               other_places_tables(),
                               pattern_ratio_tables(),
                               phases_tables(),
                               regular_network_tables(),
                               route_tables(),
                               scale_tables(),
                               source_memory_tables(),
                               static_route_tables(),
                               sweep_tables(),
                               system_ratio_tables(),
                               technique_tables(),
                               victim_tables(),
                               window_tables()}) {
      out.insert(out.end(), tables.begin(), tables.end());
    }
    std::ranges::sort(out, {}, &Experiment::name);
    return out;
  }();
  return all;
}

const Experiment* find_experiment(std::string_view name) {
  const std::span<const Experiment> all = experiments();
  const auto found = std::ranges::find(all, name, &Experiment::name);
  return found == all.end() ? nullptr : &*found;
}

}  // namespace smd::sim
