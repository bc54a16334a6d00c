// What a request asks of an MTU, a rate or a lifetime (IBA 15.2.5.16, .17).
#pragma once

#include <cstdint>

namespace smd {

/// For MTU and rate "best" is the largest, for the lifetime the smallest.
enum class Selector : std::uint8_t { GreaterThan = 0, LessThan = 1, Exactly = 2, Best = 3 };

struct Bound {
  Selector selector = Selector::GreaterThan;
  std::uint8_t value = 0;  // 6 bits

  friend bool operator==(const Bound&, const Bound&) = default;
};

}  // namespace smd
