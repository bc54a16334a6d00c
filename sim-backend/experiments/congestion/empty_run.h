// The round trip of an empty path, which windows come from: one packet at a time in a network of
// the preset "multistage".
#pragma once

#include "sim-backend/experiments/congestion/uniform_run.h"

namespace smd::sim {

/// Of the longest routes of the first host; cycles, from a packet's injection to its
/// acknowledgement.
struct EmptyResult {
  unsigned switches = 0;
  double least_round_trip = 0;
  double most_round_trip = 0;
};

[[nodiscard]] Result<EmptyResult> run_empty(const UniformNetwork& network);

}  // namespace smd::sim
