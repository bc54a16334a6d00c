// Paths that share as little as they can (IBA 15.2.5.20, IndependenceSelector).
#pragma once

#include <span>
#include <vector>

#include "smd/sa/subnet_view.h"

namespace smd::sa {

/// At most `per_pair` of the records between any two GIDs. Pairs take turns, each the path that has
/// the fewest cables in common with all that were chosen before, then the fewest switches, then the
/// first. `records`: PathRecords of this view, those of a pair one after the other.
[[nodiscard]] std::vector<std::byte> choose_independent(const SubnetView& view,
                                                        std::span<const std::byte> records,
                                                        std::size_t per_pair);

}  // namespace smd::sa
