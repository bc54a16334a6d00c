#include "sim-backend/measure/batch_means.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace smd::sim {
namespace {

/// Two-sided 95 % quantiles of Student's t, by degrees of freedom from 1; beyond them a series in
/// the reciprocal of these (Cornish and Fisher), exact to four decimals there.
constexpr std::array kStudent{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                              2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                              2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                              2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
constexpr double kNormal = 1.959964;

double student_quantile(std::size_t freedom) {
  if (freedom <= kStudent.size()) return kStudent[freedom - 1];
  constexpr double z = kNormal, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
  const auto nu = static_cast<double>(freedom);
  return z + (z3 + z) / (4 * nu) + (5 * z5 + 16 * z3 + 3 * z) / (96 * nu * nu) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * nu * nu * nu);
}

double mean_of(const double* begin, const double* end) {
  return begin == end ? 0 : std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin);
}

}  // namespace

Confidence estimate_mean(const std::vector<double>& batches) {
  const std::size_t n = batches.size();
  Confidence out{.mean = mean_of(batches.data(), batches.data() + n), .batches = n};
  if (n < 2) return out;
  double squares = 0, neighbours = 0;
  for (std::size_t i = 0; i < n; ++i) {
    squares += (batches[i] - out.mean) * (batches[i] - out.mean);
    if (i > 0) neighbours += (batches[i] - out.mean) * (batches[i - 1] - out.mean);
  }
  const auto count = static_cast<double>(n);
  out.half_width = student_quantile(n - 1) * std::sqrt(squares / (count - 1) / count);
  out.lag1 = squares > 0 ? neighbours / squares : 0;
  return out;
}

std::size_t find_transient(const std::vector<double>& batches) {
  std::size_t best = 0;
  double least = -1;
  for (std::size_t cut = 0; cut <= batches.size() / 2; ++cut) {
    const double* begin = batches.data() + cut;
    const double* end = batches.data() + batches.size();
    const double mean = mean_of(begin, end);
    const auto left = static_cast<double>(end - begin);
    double squares = 0;
    for (const double* at = begin; at != end; ++at) squares += (*at - mean) * (*at - mean);
    const double error = left > 0 ? squares / (left * left) : 0;
    if (least < 0 || error < least) {
      least = error;
      best = cut;
    }
  }
  return best;
}

double fairness(const std::vector<double>& shares) {
  double sum = 0, squares = 0;
  for (const double share : shares) {
    sum += share;
    squares += share * share;
  }
  return squares == 0 ? 1 : sum * sum / (static_cast<double>(shares.size()) * squares);
}

}  // namespace smd::sim
