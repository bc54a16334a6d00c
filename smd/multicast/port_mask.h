// A set of ports of one switch, as a multicast forwarding table holds it: 16 positions of 16 ports.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "smd/ib/types.h"

namespace smd {

inline constexpr unsigned kPortsPerPosition = 16;

class PortMask {
 public:
  void set(PortNum port) { word(port) |= bit(port); }

  void clear(PortNum port) { word(port) &= ~bit(port); }

  [[nodiscard]] bool test(PortNum port) const {
    return (words_[port.value() / 64] & bit(port)) != 0;
  }

  [[nodiscard]] bool any() const { return (words_[0] | words_[1] | words_[2] | words_[3]) != 0; }

  /// Ports 16 * position … 16 * position + 15; bit 0 is the first.
  [[nodiscard]] std::uint16_t position(unsigned number) const {
    return static_cast<std::uint16_t>(words_[number / 4] >> number % 4 * kPortsPerPosition);
  }

  void add(unsigned position, std::uint16_t ports) {
    words_[position / 4] |= std::uint64_t{ports} << position % 4 * kPortsPerPosition;
  }

  /// Every port of the set, ascending.
  template <class Visit>
  void each(Visit visit) const {
    for (unsigned w = 0; w < words_.size(); ++w) {
      for (std::uint64_t rest = words_[w]; rest != 0; rest &= rest - 1)
        visit(PortNum{static_cast<std::uint8_t>(w * 64 + unsigned(std::countr_zero(rest)))});
    }
  }

  PortMask& operator|=(const PortMask& other) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] |= other.words_[w];
    return *this;
  }

  /// Whether every port of this is in `other`.
  [[nodiscard]] bool within(const PortMask& other) const {
    for (std::size_t w = 0; w < words_.size(); ++w) {
      if ((words_[w] & ~other.words_[w]) != 0) return false;
    }
    return true;
  }

  friend bool operator==(const PortMask&, const PortMask&) = default;

 private:
  [[nodiscard]] std::uint64_t& word(PortNum port) { return words_[port.value() / 64]; }

  [[nodiscard]] static std::uint64_t bit(PortNum port) {
    return std::uint64_t{1} << port.value() % 64;
  }

  std::array<std::uint64_t, 4> words_{};
};

}  // namespace smd
