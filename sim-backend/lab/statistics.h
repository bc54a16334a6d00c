// Mean and deviation of a sample.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
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

template <class Sum, class Run>
  requires requires(Sum& sum, const Run& run) { sum.add(run); }
void add_up(Sum& sum, const Run& run) {
  sum.add(run);
}

/// Place by place.
template <class Sum, class Run, std::size_t kCount>
void add_up(std::array<Sum, kCount>& sum, const std::array<Run, kCount>& run) {
  for (std::size_t i = 0; i < kCount; ++i) add_up(sum[i], run[i]);
}

/// The ends of some values.
class Range {
 public:
  Range() = default;

  Range(double value) { add(value); }

  /// What is no number (nothing of nothing) is none of them: has_other().
  void add(double value) {
    if (std::isnan(value)) {
      has_other_ = true;
      return;
    }
    least_ = empty_ ? value : std::min(least_, value);
    most_ = empty_ ? value : std::max(most_, value);
    empty_ = false;
  }

  /// Where nobody claims anything of what is no number.
  void add_known(double value) {
    if (!std::isnan(value)) add(value);
  }

  [[nodiscard]] bool empty() const { return empty_; }

  /// Something was added that is no number.
  [[nodiscard]] bool has_other() const { return has_other_; }

  /// 0 for no values.
  [[nodiscard]] double least() const { return least_; }

  [[nodiscard]] double most() const { return most_; }

  /// Of ratios, the one that is farthest from 1.
  [[nodiscard]] double farthest() const {
    return std::abs(most_ - 1) > std::abs(least_ - 1) ? most_ : least_;
  }

 private:
  double least_ = 0, most_ = 0;
  bool empty_ = true;
  bool has_other_ = false;
};

/// Of ratios of measured to published: the claim's format.
inline constexpr std::string_view kFitsWorst =
    "{farthest:.3f} times the published where it fits worst";

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
