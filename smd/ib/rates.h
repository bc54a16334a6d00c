// Rates as records code them, and what a request asks of them.
#pragma once

#include <cstdint>

#include "smd/ib/types.h"

namespace smd {

// What a request asks of an MTU, a rate or a lifetime (IBA 15.2.5.16, .17).

/// For MTU and rate "best" is the largest, for the lifetime the smallest.
enum class Selector : std::uint8_t { GreaterThan = 0, LessThan = 1, Exactly = 2, Best = 3 };

struct Bound {
  Selector selector = Selector::GreaterThan;
  std::uint8_t value = 0;  // 6 bits

  friend bool operator==(const Bound&, const Bound&) = default;
};

// Rates as PathRecord and MCMemberRecord code them (IBA 15.2.5.16): the codes are not in order of
// speed.

/// The code of a link of so many lanes at that speed: the largest rate that the link carries; 0
/// where width or speed says nothing.
[[nodiscard]] std::uint8_t rate_code(LinkWidth width, LinkSpeed speed);

/// Place in the order of speed, from 1; 0 for codes that mean nothing.
[[nodiscard]] unsigned rate_order(std::uint8_t code);

/// rate_order(rate_code(width, speed)), from a table.
[[nodiscard]] unsigned link_rate_order(LinkWidth width, LinkSpeed speed);

/// The code at a place in the order of speed; 0 at place 0. Requires: a place that rate_order()
/// gave.
[[nodiscard]] std::uint8_t rate_at(unsigned order);

/// Of the signal, in Mb/s, as the code's name says it; 0 for codes that mean nothing.
[[nodiscard]] unsigned rate_mbps(std::uint8_t code);

/// The code of exactly so many Mb/s; 0 where there is none.
[[nodiscard]] std::uint8_t rate_of_mbps(unsigned mbps);

/// The code next below `code` in the order of speed; 0 when there is none.
[[nodiscard]] std::uint8_t rate_below(std::uint8_t code);

}  // namespace smd
