// The SL of every path where a destination LID has its lane whoever sends.
#pragma once

#include <cstdint>
#include <vector>

#include "smd/routing/tables.h"

namespace smd {

/// `lane_of` by LID, up to the highest. Says nothing where there is one lane.
void set_lane_sls(std::size_t switches,
                  Lid top,
                  unsigned lanes,
                  const std::vector<std::uint8_t>& lane_of,
                  RoutingTables& tables);

}  // namespace smd
