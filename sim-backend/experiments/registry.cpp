// A new experiment is a file of its own, a line in the experiments.h beside it and a line here.
#include "sim-backend/experiments/registry.h"

#include <algorithm>
#include <vector>

#include "sim-backend/experiments/change/experiments.h"
#include "sim-backend/experiments/congestion/experiments.h"

namespace smd::sim {

std::span<const Experiment> experiments() {
  static const std::vector<Experiment> all = [] {
    std::vector<Experiment> out = {ablations(),
                                   accelerations(),
                                   assimilation(),
                                   clos_change(),
                                   data_loss(),
                                   delta_gain(),
                                   detection(),
                                   distribution(),
                                   double_load(),
                                   fast_links(),
                                   flit_level_points(),
                                   full_discovery(),
                                   hot_spot_pulse(),
                                   loss_course(),
                                   modern(),
                                   multiple_changes(),
                                   networks(),
                                   open_parameters(),
                                   partial_discovery(),
                                   phases(),
                                   route_entries(),
                                   route_quality(),
                                   service_gap(),
                                   source_sizes(),
                                   sweep_time(),
                                   sweeping_load(),
                                   technique_losses(),
                                   trap_gain(),
                                   victim(),
                                   windows()};
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
