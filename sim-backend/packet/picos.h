// Time at packet level: whole picoseconds since the start of the run. A byte takes 20 ps on a
// 4x NDR link and 4,000 ps on 1x SDR; 2^63 ps are 106 days.
#pragma once

#include <cstdint>
#include <limits>

#include "smd/runtime/runtime.h"

namespace smd::sim {

using Picos = std::int64_t;

inline constexpr Picos kNever = std::numeric_limits<Picos>::max();
inline constexpr Picos kNano = 1'000;
inline constexpr Picos kMicro = 1'000'000;
inline constexpr Picos kMilli = 1'000'000'000;
inline constexpr Picos kSecond = 1'000'000'000'000;

[[nodiscard]] constexpr Picos to_picos(Duration time) { return time.count() * kNano; }

[[nodiscard]] constexpr double to_micros(Picos time) {
  return static_cast<double>(time) / double{kMicro};
}

}  // namespace smd::sim
