// Mean and deviation of a sample.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace smd::sim {

class Sample {
 public:
  void add(double value) { values_.push_back(value); }

  void add(const Sample& other) {
    values_.insert(values_.end(), other.values_.begin(), other.values_.end());
  }

  [[nodiscard]] std::size_t size() const { return values_.size(); }

  /// 0 for no values.
  [[nodiscard]] double mean() const {
    double sum = 0;
    for (const double value : values_) sum += value;
    return values_.empty() ? 0 : sum / static_cast<double>(values_.size());
  }

  /// Of the population, as the published tables have it.
  [[nodiscard]] double deviation() const {
    const double m = mean();
    double sum = 0;
    for (const double value : values_) sum += (value - m) * (value - m);
    return values_.empty() ? 0 : std::sqrt(sum / static_cast<double>(values_.size()));
  }

  [[nodiscard]] double max() const {
    return values_.empty() ? 0 : *std::max_element(values_.begin(), values_.end());
  }

  [[nodiscard]] double min() const {
    return values_.empty() ? 0 : *std::min_element(values_.begin(), values_.end());
  }

 private:
  std::vector<double> values_;
};

/// Of several ratios of measured to published the one that is farthest from 1.
class Farthest {
 public:
  void add(double ratio) {
    if (ratio_ == 0 || distance(ratio) > distance(ratio_)) ratio_ = ratio;
  }

  [[nodiscard]] bool within(double share) const { return std::abs(ratio_ - 1) <= share; }

  [[nodiscard]] std::string value() const { return fmt::format("{:.3f}", ratio_); }

  [[nodiscard]] std::string print() const {
    return fmt::format("{:.3f} times the published where it fits worst", ratio_);
  }

 private:
  static double distance(double ratio) { return std::abs(ratio - 1); }

  double ratio_ = 0;
};

/// Exponent of the power law that fits the points best, by least squares of the logarithms.
/// Requires: positive values.
[[nodiscard]] inline double growth_exponent(const std::vector<std::pair<double, double>>& points) {
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  const auto n = static_cast<double>(points.size());
  for (const auto& [x, y] : points) {
    sx += std::log(x);
    sy += std::log(y);
    sxx += std::log(x) * std::log(x);
    sxy += std::log(x) * std::log(y);
  }
  const double spread = n * sxx - sx * sx;
  return spread == 0 ? 0 : (n * sxy - sx * sy) / spread;
}

}  // namespace smd::sim
