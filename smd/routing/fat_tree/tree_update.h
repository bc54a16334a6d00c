// Tables of a tree after a change: of those in force only what the change can touch is computed
// anew, to the same entries as from scratch.
#pragma once

#include <optional>
#include <vector>

#include "smd/routing/engine.h"
#include "smd/routing/fat_tree/tree_fabric.h"

namespace smd {

struct TreeChange {
  ForwardingTables lft;
  std::vector<Lid> recomputed;  // LIDs with entries that changed, ascending
};

/// LIDs that nobody has any more keep their entries as long as those lead where they did.
/// Requires: the tables in force are those of this rule for `before`.
/// Nullopt: so much is different that nothing is gained.
[[nodiscard]] std::optional<TreeChange> change_tree(const Fabric& fabric,
                                                    const LidMap& lids,
                                                    const TreeFabric& tree,
                                                    const PreviousRoutes& in_force,
                                                    const TreeFabric& before);

}  // namespace smd
