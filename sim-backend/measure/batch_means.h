// The mean of a correlated series and how well it is known: the series is cut into batches, whose
// means are taken as independent (batch means; Student's t).
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

namespace smd::sim {

struct Confidence {
  double mean = 0;
  double half_width = 0;  // of the 95 % interval; 0 for fewer than two batches
  double lag1 = 0;        // correlation of neighbouring batches: near 0 when they are long enough
  std::size_t batches = 0;

  /// Relative to the mean; 0 when that is 0. Nothing is known of fewer than two batches: infinite.
  [[nodiscard]] double relative() const {
    if (batches < 2) return std::numeric_limits<double>::infinity();
    return mean == 0 ? 0 : half_width / mean;
  }
};

[[nodiscard]] Confidence estimate_mean(const std::vector<double>& batches);

/// How many batches at the beginning are better left out, at most half of them: what then remains
/// has the smallest standard error (MSER).
[[nodiscard]] std::size_t find_transient(const std::vector<double>& batches);

/// Jain's index: 1 when all have the same, 1/n when one has everything; 1 for nothing at all.
[[nodiscard]] double fairness(const std::vector<double>& shares);

}  // namespace smd::sim
