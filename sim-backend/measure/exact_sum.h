// A sum of whole numbers that does not depend on their order, however large it grows.
#pragma once

#include <cstdint>

namespace smd::sim {

class ExactSum {
 public:
  void add(std::uint64_t value) {
    low_ += value;
    high_ += low_ < value ? 1 : 0;
  }

  void add(const ExactSum& other) {
    add(other.low_);
    high_ += other.high_;
  }

  [[nodiscard]] double value() const {
    return static_cast<double>(high_) * 0x1p64 + static_cast<double>(low_);
  }

 private:
  std::uint64_t low_ = 0;
  std::uint64_t high_ = 0;
};

}  // namespace smd::sim
