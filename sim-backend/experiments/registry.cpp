// All experiments there are. A new one is a file of its own and a line here.
#include <algorithm>
#include <vector>

#include "sim-backend/experiments/ablations.h"
#include "sim-backend/experiments/accelerations.h"
#include "sim-backend/experiments/assimilation.h"
#include "sim-backend/experiments/clos_change.h"
#include "sim-backend/experiments/data_loss.h"
#include "sim-backend/experiments/delta_gain.h"
#include "sim-backend/experiments/detection.h"
#include "sim-backend/experiments/distribution.h"
#include "sim-backend/experiments/double_load.h"
#include "sim-backend/experiments/experiment.h"
#include "sim-backend/experiments/fast_links.h"
#include "sim-backend/experiments/flit_level_points.h"
#include "sim-backend/experiments/full_discovery.h"
#include "sim-backend/experiments/hot_spot_pulse.h"
#include "sim-backend/experiments/loss_course.h"
#include "sim-backend/experiments/modern.h"
#include "sim-backend/experiments/multiple_changes.h"
#include "sim-backend/experiments/networks.h"
#include "sim-backend/experiments/open_parameters.h"
#include "sim-backend/experiments/partial_discovery.h"
#include "sim-backend/experiments/phases.h"
#include "sim-backend/experiments/route_entries.h"
#include "sim-backend/experiments/route_quality.h"
#include "sim-backend/experiments/service_gap.h"
#include "sim-backend/experiments/source_sizes.h"
#include "sim-backend/experiments/sweep_time.h"
#include "sim-backend/experiments/sweeping_load.h"
#include "sim-backend/experiments/technique_losses.h"
#include "sim-backend/experiments/trap_gain.h"
#include "sim-backend/experiments/victim.h"
#include "sim-backend/experiments/windows.h"

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

}  // namespace smd::sim
