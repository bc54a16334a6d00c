// When messages are made: gaps between them, with a given mean.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim-backend/packet/picos.h"
#include "smd/base/rng.h"

namespace smd::sim {

enum class ArrivalKind : std::uint8_t {
  Poisson,     // exponential gaps
  Constant,    // equal gaps, from a random moment on
  Bernoulli,   // in each slot with the same probability, as cycle-based simulators do
  OnOff,       // bursts at full rate of geometric length, exponential pauses
  UniformGap,  // gaps uniform between nothing and twice the mean
  // Bursts of 1 + a Pareto law, pauses of a Pareto law: H = (3 - shape) / 2. Both are cut at 10,000
  // times their least length, and have the means that they are to have with that.
  SelfSimilar,
};

/// "poisson", "constant", "bernoulli", "on-off", "uniform-gap", "self-similar"; false for other
/// names.
[[nodiscard]] bool find_arrivals(std::string_view name, ArrivalKind& out);

struct ArrivalModel {
  ArrivalKind kind = ArrivalKind::Poisson;
  double mean_gap = 0;   // ps
  double least_gap = 0;  // ps: within a burst; at most mean_gap
  double burst = 16;     // messages, on average; at least 1
  double shape = 1.5;    // of the Pareto law, 1 to 2
  Picos slot = 1;        // Bernoulli
};

/// The arrivals of one source.
class Arrivals {
 public:
  /// The first one. `model` stays with the caller.
  [[nodiscard]] Picos begin(const ArrivalModel& model, Rng& rng);

  /// The one after `now`.
  [[nodiscard]] Picos next(const ArrivalModel& model, Picos now, Rng& rng);

 private:
  // Exact, so that the rounding of what next() returns does not add up. That of a net of cycles
  // does, which asks for the next one when the cycle of the last is over: half a cycle a gap, on
  // average.
  double at_ = 0;
  std::uint64_t left_ = 0;  // messages of the burst
};

}  // namespace smd::sim
