// Mixed-radix numbering of a grid: the first coordinate is the most significant.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace smd::sim {

class Coordinates {
 public:
  /// Requires: the product of the sides fits 32 bits.
  explicit Coordinates(std::vector<std::uint32_t> sides) : sides_(std::move(sides)) {}

  [[nodiscard]] const std::vector<std::uint32_t>& sides() const { return sides_; }

  [[nodiscard]] std::uint32_t count() const {
    std::uint32_t n = 1;
    for (const std::uint32_t side : sides_) n *= side;
    return n;
  }

  [[nodiscard]] std::vector<std::uint32_t> of(std::uint32_t index) const {
    std::vector<std::uint32_t> digits(sides_.size());
    for (std::size_t d = sides_.size(); d-- > 0;) {
      digits[d] = index % sides_[d];
      index /= sides_[d];
    }
    return digits;
  }

  [[nodiscard]] std::uint32_t index(const std::vector<std::uint32_t>& digits) const {
    std::uint32_t n = 0;
    for (std::size_t d = 0; d < sides_.size(); ++d) n = n * sides_[d] + digits[d];
    return n;
  }

 private:
  std::vector<std::uint32_t> sides_;
};

}  // namespace smd::sim
