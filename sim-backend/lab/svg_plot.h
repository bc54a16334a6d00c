// Lines in a frame, as SVG that any browser shows. Pure: the same plot gives the same bytes.
#pragma once

#include <string>

#include "sim-backend/lab/experiment.h"

namespace smd::sim {

/// Points that are not finite, or not positive on a logarithmic axis, are left out.
[[nodiscard]] std::string print_svg(const Plot& plot);

}  // namespace smd::sim
