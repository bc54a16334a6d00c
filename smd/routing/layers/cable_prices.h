// What a cable costs a path, the same in both directions: trees of least price lead back over the
// cables that they came by. A pair of switches then has its turns twice, not two sets of turns, and
// fits a lane more easily.
#pragma once

#include <cstdint>
#include <vector>

#include "smd/routing/switch_graph.h"

namespace smd {

/// How switches are numbered; a cable costs as much as the numbers of its ends differ. Where
/// numbers run along rows, equally long ways that close a ring cost more than those that do not.
enum class Numbering : std::uint8_t {
  Guids,  // ascending
  Walk    // as a depth-first walk from the smallest GUID meets them, always by the lowest port
};

/// By edge of the graph.
[[nodiscard]] std::vector<std::uint32_t> price_cables(const Fabric& fabric,
                                                      const SwitchGraph& graph,
                                                      Numbering numbering);

}  // namespace smd
