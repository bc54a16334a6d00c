// Values by size, in bounded memory: exact below 128, then 64 steps per power of two, so that a
// value is known to within 1.6 percent.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "sim-backend/measure/exact_sum.h"

namespace smd::sim {

class Histogram {
 public:
  void add(std::uint64_t value) {
    ++counts_[index_of(value)];
    ++count_;
    sum_.add(value);
    if (value > max_) max_ = value;
  }

  void add(const Histogram& other) {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
    count_ += other.count_;
    sum_.add(other.sum_);
    if (other.max_ > max_) max_ = other.max_;
  }

  void clear() { *this = {}; }

  [[nodiscard]] std::uint64_t count() const { return count_; }

  [[nodiscard]] std::uint64_t max() const { return max_; }

  /// Exact; 0 for no values.
  [[nodiscard]] double mean() const {
    return count_ == 0 ? 0 : sum_.value() / static_cast<double>(count_);
  }

  /// The value that so large a share (0 to 1) does not exceed, to within a step; 0 for no values.
  [[nodiscard]] std::uint64_t percentile(double share) const {
    if (count_ == 0) return 0;
    const double wanted = share * static_cast<double>(count_);
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      seen += counts_[i];
      if (seen > 0 && static_cast<double>(seen) >= wanted) return std::min(top_of(i), max_);
    }
    return max_;
  }

 private:
  static constexpr unsigned kStepBits = 6;

  static std::size_t index_of(std::uint64_t value) {
    const auto width = static_cast<unsigned>(std::bit_width(value));
    if (width <= kStepBits + 1) return static_cast<std::size_t>(value);
    const unsigned shift = width - kStepBits - 1;
    return (std::size_t{shift} << kStepBits) + static_cast<std::size_t>(value >> shift);
  }

  /// The largest value of a step.
  static std::uint64_t top_of(std::size_t index) {
    const auto shift = static_cast<unsigned>(index >> kStepBits);
    if (shift < 2) return index;
    const std::uint64_t step = (index & ((1u << kStepBits) - 1)) + (1u << kStepBits) + 1;
    return (step << (shift - 1)) - 1;
  }

  std::array<std::uint64_t, (64 - kStepBits + 1) << kStepBits> counts_{};
  std::uint64_t count_ = 0;
  std::uint64_t max_ = 0;
  ExactSum sum_;
};

}  // namespace smd::sim
