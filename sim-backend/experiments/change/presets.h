// The two kinds of fabric that every experiment runs on, and what they have in common.
#pragma once

#include <array>
#include <string_view>

#include "sim-backend/management/sim_fabric.h"
#include "smd/smp/smp_client.h"

namespace smd::sim {

struct Preset {
  std::string_view name;
  Timing (*timing)();
  SmpClientConfig (*smp)();
};

/// All at once, as the thesis injects. A burst waits its turn at the manager's own node, so an
/// answer may take long without being late.
[[nodiscard]] inline SmpClientConfig unlimited_window() {
  return {.window_min = 4096,
          .window_start = 4096,
          .window_max = 4096,
          .timeout = std::chrono::seconds(5)};
}

/// As smd has it: today's VL15 buffers overflow otherwise.
[[nodiscard]] inline SmpClientConfig adaptive_window() { return {}; }

/// The thesis's first: claims are about it.
inline constexpr std::array<Preset, 2> kPresets{{{"thesis", &Timing::thesis, &unlimited_window},
                                                 {"modern", &Timing::modern, &adaptive_window}}};

}  // namespace smd::sim
