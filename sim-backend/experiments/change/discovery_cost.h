// What the two experiments on discovery have in common.
#pragma once

#include <string>
#include <vector>

#include "sim-backend/experiments/change/presets.h"
#include "sim-backend/experiments/change/subnet.h"
#include "sim-backend/lab/experiment.h"
#include "sim-backend/lab/statistics.h"

namespace smd::sim {

/// Of many single changes.
struct ChangeCosts {
  Sample smps;
  Sample time;  // seconds

  void add(const DiscoveryCost& cost) {
    smps.add(static_cast<double>(cost.smps));
    time.add(seconds(cost.time));
  }

  void add(const ChangeCosts& other) {
    smps.add(other.smps);
    time.add(other.time);
  }
};

inline const std::vector<std::string> kDiscoveryColumns = {"preset",
                                                           "switches",
                                                           "nodes",
                                                           "mechanism",
                                                           "change",
                                                           "runs",
                                                           "smps_mean",
                                                           "smps_stddev",
                                                           "time_mean_s",
                                                           "time_stddev_s",
                                                           "published_smps",
                                                           "published_time_s"};

[[nodiscard]] inline std::vector<TableCell> discovery_row(const Preset& preset,
                                                          const NetworkSize& size,
                                                          const std::string& mechanism,
                                                          const std::string& change,
                                                          const ChangeCosts& costs,
                                                          double published_smps,
                                                          double published_time) {
  return {std::string(preset.name),
          double(size.switches),
          double(size.nodes),
          mechanism,
          change,
          double(costs.smps.size()),
          costs.smps.mean(),
          costs.smps.deviation(),
          costs.time.mean(),
          costs.time.deviation(),
          published_smps,
          published_time};
}

}  // namespace smd::sim
