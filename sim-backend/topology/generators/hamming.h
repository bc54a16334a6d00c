// Hamming graphs within a drawing: a network of its own, or the groups of a dragonfly.
#pragma once

#include <cstdint>
#include <vector>

#include "sim-backend/topology/drawing.h"

namespace smd::sim {

/// Joins the switches from node `base` on, which stand in a grid of these sides, to all that differ
/// in one coordinate. Ports after `used` ones: dimension by dimension, within one trunk round by
/// round, and in a round the other coordinates in order.
void cable_hamming(Drawing& drawing,
                   const std::vector<std::uint32_t>& sides,
                   const std::vector<std::uint32_t>& trunk,
                   std::uint32_t base,
                   unsigned used);

}  // namespace smd::sim
