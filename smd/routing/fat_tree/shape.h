// Recognises fat trees, whole or damaged, and numbers their leaves.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "smd/base/result.h"
#include "smd/fabric/hosts.h"
#include "smd/routing/graph/switch_graph.h"

namespace smd {

// Which switches of a tree are its leaves, and how far above them the others stand.

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

// Numbers leaves in the order of the subtrees they are in, so that a lost leaf moves no other.

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

// Fat trees, whole or damaged, recognised from the bare fabric: parallel ports generalised fat
// trees (PGFT) and whatever is left of one. Only cables that join switches of one level speak
// against a tree; what is missing is counted.

struct FatTreeShape {
  struct Level {
    std::size_t switches = 0;
    std::uint32_t parents = 0;  // neighbours on the level above, the most that a switch has
    std::uint32_t links = 0;    // up, likewise
    std::size_t missing = 0;    // cables up that others have and a switch has not
    std::uint32_t narrowest = 0, widest = 0;  // cables between a switch and one above it
  };

  std::vector<Level> levels;                    // leaves first
  IndexVector<SwitchIdx, std::uint32_t> level;  // 0: leaf

  /// Of leaves with hosts, in the order of the subtrees; kNoPlace for other switches.
  IndexVector<SwitchIdx, std::uint64_t> leaf_place;

  /// Place of a host among those of its leaf, by port number of the leaf.
  std::array<std::uint8_t, 256> host_place{};
  std::uint32_t host_places = 0;

  std::uint64_t hosts = 0;        // ports of adapters
  std::uint64_t hosts_above = 0;  // cabled to switches that are no leaves
  HostCounts systems;             // hosts, where some have several adapters
  std::size_t level_links = 0;    // between switches of one level

  [[nodiscard]] std::size_t missing() const {
    std::size_t all = 0;
    for (const Level& each : levels) all += each.missing;
    return all;
  }
};

/// Unsupported, naming two switches, when more than a tenth of all links join switches of one
/// level.
[[nodiscard]] Result<FatTreeShape> recognise_fat_tree(
    const Fabric& fabric,
    const SwitchGraph& graph,
    const IndexVector<SwitchIdx, Guid>& guids,
    const IndexVector<SwitchIdx, std::uint32_t>& hosts);
[[nodiscard]] Result<FatTreeShape> recognise_fat_tree(const Fabric& fabric);

/// "two-level tree, 32 leaves, 8 spines, trunks of 2 to 4, 3 cables missing".
[[nodiscard]] std::string describe_tree(const FatTreeShape& tree);

/// The same of a fabric; of what is no tree, why not.
[[nodiscard]] std::string describe_shape(const Fabric& fabric);

/// "fat tree of 648 + 648 + 324 switches, 11664 hosts, 2 cables missing".
[[nodiscard]] std::string print_fat_tree(const FatTreeShape& tree);

}  // namespace smd
