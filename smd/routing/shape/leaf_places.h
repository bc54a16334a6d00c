// Numbers leaves in the order of the subtrees they are in, so that a lost leaf moves no other.
#pragma once

#include "smd/routing/switch_graph.h"

namespace smd {

/// By switch; kNoPlace for those that are no leaves with hosts. Subtrees within a subtree, and
/// leaves within the lowest one, take the places that the ports say by which they hang: places of
/// missing ones stay empty. Where two claim the same port, all within that subtree are numbered by
/// port and GUID without gaps.
/// Requires: `level` as find_tree_levels() has it.
[[nodiscard]] IndexVector<SwitchIdx, std::uint64_t> number_leaves(
    const SwitchGraph& graph,
    const IndexVector<SwitchIdx, Guid>& guids,
    const IndexVector<SwitchIdx, std::uint32_t>& hosts,
    const IndexVector<SwitchIdx, std::uint32_t>& level);

inline constexpr std::uint64_t kNoPlace = ~std::uint64_t{0};

}  // namespace smd
