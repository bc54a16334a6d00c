// What a stretch of work cost: SMPs injected, time on the runtime's clock, and time on the wall
// where somebody outside the core lends a clock (a dry run does; simulations do not, so that they
// repeat to the byte).
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

#include "smd/smp/smp_client.h"

namespace smd {

struct PhaseCost {
  std::uint64_t smps = 0;  // injections, retries included
  Duration time{0};
  Duration wall{0};

  PhaseCost& operator+=(const PhaseCost& other) {
    smps += other.smps;
    time += other.time;
    wall += other.wall;
    return *this;
  }
};

using WallClock = std::function<Duration()>;

class CostMeter {
 public:
  CostMeter(const Runtime& runtime, const SmpClient& client, WallClock wall)
      : runtime_(runtime), client_(client), wall_(std::move(wall)) {
    lap();
  }

  /// The cost since construction or the last lap.
  PhaseCost lap() {
    const PhaseCost now{
        client_.stats().sent, runtime_.now().since_epoch, wall_ ? wall_() : Duration{0}};
    const std::uint64_t foreign = std::min(foreign_, now.smps - last_.smps);
    foreign_ -= foreign;
    const PhaseCost cost{
        now.smps - last_.smps - foreign, now.time - last_.time, now.wall - last_.wall};
    last_ = now;
    return cost;
  }

  /// So many SMPs belong to nobody who is measured.
  void leave_out(std::uint64_t smps) { foreign_ += smps; }

 private:
  const Runtime& runtime_;
  const SmpClient& client_;
  WallClock wall_;
  PhaseCost last_;
  std::uint64_t foreign_ = 0;  // sent, and not yet left out
};

}  // namespace smd
