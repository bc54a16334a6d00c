// A sweep's request to every switch, again and again; and how long a dead switch stays unnoticed by
// it, and by traps while the same sweeps go on, with data on the network or without.
#pragma once

#include <optional>

#include "sim-backend/experiments/change/subnet.h"

namespace smd::sim {

class Sweeping {
 public:
  /// Requires: `subnet` is up and outlives this.
  explicit Sweeping(Subnet& subnet) : subnet_(subnet), scope_(subnet.client) {}

  /// One sweep; its duration.
  Result<Duration> measure();

  /// Sweeps begin every `interval`, from now on.
  void start(Duration interval);

  /// When the first answer told of a change.
  [[nodiscard]] const std::optional<TimePoint>& noticed() const { return noticed_; }

 private:
  void sweep();

  Subnet& subnet_;
  SmpScope scope_;
  Timer timer_;
  std::optional<TimePoint> noticed_;
};

struct DetectionCase {
  Preset preset;
  NetworkSize size;
  unsigned factor = 1;  // between beginnings of sweeps, in durations of one
  std::uint64_t seed = 1;
  double load = 0;  // of data, of the hosts' links
};

struct Detection {
  double by_sweep = 0;  // seconds
  double by_trap = 0;
};

/// The same switch dies at the same moment of a sweep's interval whatever the factor and the load.
[[nodiscard]] Result<Detection> measure_detection(const DetectionCase& which);

}  // namespace smd::sim
