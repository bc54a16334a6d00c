// How connectivity and danger went over time: one sample per change of a register, taken inside the
// event that changed it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim-backend/management/fabric_oracle.h"
#include "sim-backend/management/sim_fabric.h"
#include "smd/runtime/runtime.h"

namespace smd::sim {

struct TimelineSample {
  TimePoint at;
  Connectivity connectivity;
  DeadlockLevel deadlock;
};

/// Something that must not be, and when it was there first.
struct Sighting {
  std::string text;
  TimePoint at;
};

class FabricTimeline {
 public:
  /// Begins now. Both outlive the timeline.
  FabricTimeline(const Runtime& runtime, SimFabric& fabric);
  ~FabricTimeline();
  FabricTimeline(const FabricTimeline&) = delete;

  /// Forgets what was; the present state is the first sample.
  void restart();

  /// The first, then one whenever a number changed; the last of each instant.
  [[nodiscard]] const std::vector<TimelineSample>& samples() const { return samples_; }

  [[nodiscard]] const std::optional<Sighting>& first_cycle() const { return cycle_; }

  /// A loop may pass while tables change; one that find_loop still shows at rest stays.
  [[nodiscard]] const std::optional<Sighting>& first_loop() const { return loop_; }

  [[nodiscard]] const std::optional<Sighting>& first_shared_lid() const { return shared_lid_; }

  [[nodiscard]] double lowest_connectivity() const { return lowest_connectivity_; }

  [[nodiscard]] double highest_deadlock() const { return highest_deadlock_; }

  /// Changes seen since the start.
  [[nodiscard]] std::uint64_t changes() const { return changes_; }

  [[nodiscard]] FabricOracle& now() { return oracle_; }

 private:
  void on_change(std::uint32_t node, FabricChange what);
  void take_sample();

  const Runtime& runtime_;
  SimFabric& fabric_;
  FabricOracle oracle_;
  ObserverId observer_;
  std::vector<TimelineSample> samples_;
  std::optional<Sighting> cycle_;
  std::optional<Sighting> loop_;
  std::optional<Sighting> shared_lid_;
  double lowest_connectivity_ = 1;
  double highest_deadlock_ = 0;
  std::uint64_t changes_ = 0;
};

}  // namespace smd::sim
