// The runs of 004-ablations, by name, and what was published of them.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim-backend/experiments/congestion/pulse_set.h"

namespace smd::sim {

inline constexpr std::array kAblatedMarkings{"ipm", "rpm", "opm", "iopm", "mvpm"};
inline constexpr std::array kStaticWindows{1u, 2u, 4u, 8u, 16u};
inline constexpr std::array kDynamicWindows{2u, 4u};

/// "ipm both, high": a marking with windows and slots. `level`: of kHotSpotLevels.
[[nodiscard]] std::string marked_case(std::string_view marking, std::size_t level);

/// "SW=2, high", "DW=4, low": a window without slots.
[[nodiscard]] std::string window_case(char kind, unsigned packets, std::size_t level);

/// Those, and "ipm marks" that nobody acts on, at medium load.
[[nodiscard]] std::vector<PulseCase> ablation_cases(bool quick);

[[nodiscard]] std::span<const ClaimSpec> ablation_claims();

/// One for each claim. Requires: every case was run.
[[nodiscard]] std::vector<Judgement> judge_ablations(const PulseResults& results);

}  // namespace smd::sim
