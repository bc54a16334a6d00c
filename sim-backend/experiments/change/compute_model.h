// What computing routes cost the published manager, as a charge on virtual time. The points are
// differences of published times, fitted with a power of the node count (thesis, Tables 16, 21 and
// 23; a 1.06 GHz processor of 2004).
#pragma once

#include <chrono>
#include <cmath>

#include "smd/runtime/runtime.h"

namespace smd::sim {

/// seconds = coefficient * nodes^exponent; nodes are switches and adapters.
struct ComputeModel {
  double coefficient = 0;
  double exponent = 0;

  /// `share`: of the entries. Time goes as the entries do that are computed: from 16 switches on
  /// PIRa takes 0.21 to 0.23 of FERa's time for 0.25 to 0.19 of its entries.
  [[nodiscard]] Duration time(std::size_t nodes, double share = 1) const {
    const double seconds = share * coefficient * std::pow(static_cast<double>(nodes), exponent);
    return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
  }
};

inline constexpr ComputeModel kThesisFera{1.90e-5, 2.73};
inline constexpr ComputeModel kThesisPira{2.81e-6, 2.83};

}  // namespace smd::sim
