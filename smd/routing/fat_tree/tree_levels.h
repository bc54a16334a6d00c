// Which switches of a tree are its leaves, and how far above them the others stand.
#pragma once

#include "smd/routing/graph/switch_graph.h"

namespace smd {

/// By switch, 0 for leaves. Leaves are where the hosts are; besides:
/// - A switch with few hosts for its kind, or none, is a leaf only if it hangs like one: under a
///   single subtree, or as deep as leaves are. So a head node on a spine makes no leaf, and a leaf
///   whose hosts are off remains one.
/// - What hangs from the cores alone stands as far below them as it seems to be above.
/// - A leaf cabled to leaves is none, if there is less of that without it.
/// Islands without hosts have their leaves where there are fewest cables.
[[nodiscard]] IndexVector<SwitchIdx, std::uint32_t> find_tree_levels(
    const SwitchGraph& graph,
    const IndexVector<SwitchIdx, Guid>& guids,
    const IndexVector<SwitchIdx, std::uint32_t>& hosts);

/// Links whose ends are on the same level, each counted once.
[[nodiscard]] std::size_t count_level_links(const SwitchGraph& graph,
                                            const IndexVector<SwitchIdx, std::uint32_t>& level);

}  // namespace smd
