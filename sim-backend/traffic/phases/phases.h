// Phases of a parallel program as a person writes them: `NAME:key=value,…`, or the name of a
// program that stands for several.
#pragma once

#include <string>
#include <vector>

#include "sim-backend/traffic/phases/pattern.h"
#include "smd/base/result.h"

namespace smd::sim {

struct Phase {
  const PhasePattern* pattern = nullptr;
  std::uint32_t bytes = 4096;
  HostNum root = 0;
  std::uint32_t times = 1;     // one after the other
  std::uint64_t pause_ns = 0;  // after each of them: ranks compute

  friend bool operator==(const Phase&, const Phase&) = default;
};

inline constexpr std::uint32_t kMostPhaseBytes = 1u << 30;
inline constexpr std::uint32_t kMostPhaseTimes = 1'000'000'000;
inline constexpr std::uint64_t kMostPauseNs = 1'000'000'000'000;

/// Every fault of every call. Requires: ranks >= 2.
[[nodiscard]] Parsed<std::vector<Phase>> parse_phases(const std::vector<std::string>& calls,
                                                      HostNum ranks);

/// All patterns, keys and programs, for people.
[[nodiscard]] std::string list_phases();

}  // namespace smd::sim
