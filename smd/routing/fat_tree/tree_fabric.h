// A fat tree made ready for the modulo rule: its orientation, and a number for every LID.
#pragma once

#include <memory>
#include <vector>

#include "smd/routing/fat_tree/shape.h"
#include "smd/routing/fat_tree/up_slots.h"
#include "smd/routing/graph/switch_graph.h"
#include "smd/routing/tables.h"
#include "smd/routing/updn/orientation.h"

namespace smd {

// What the modulo rule starts from: the tree, its order, and a number for every LID.
//
// Hosts are numbered leaf by leaf in the order of the subtrees. At a switch of level l, number t
// climbs by slot t / d(l) mod s(l), where s(l) is how many slots there are and d(l) how many
// switches of level l a leaf can climb to: the product of the parents below. In a whole tree every
// channel that leads down then serves one host if there are as many cables up as down, and as few
// as can be else, so that no two flows of a shift permutation meet.

struct TreeFabric {
  // What it was made of.
  Fabric fabric;
  LidMap lids;

  SwitchGraph graph;
  Targets targets;
  IndexVector<SwitchIdx, Guid> guids;
  FatTreeShape shape;
  Orientation orientation;
  UpDownGraph up_down;
  UpSlots slots;

  std::vector<std::uint64_t> divider;  // by level

  /// By LID. LIDs of one port follow each other, so that they climb by different slots. End ports
  /// that are at no leaf have their LID for a number.
  std::vector<std::uint64_t> number;

  /// By switch: the place of the first leaf below it, 0 for none.
  IndexVector<SwitchIdx, std::uint64_t> source;

  /// Switches that serve somebody.
  std::vector<SwitchIdx> destinations;

  /// Whether it is made of such a fabric and those LIDs.
  [[nodiscard]] bool is_of(const Fabric& other, const LidMap& with_lids) const;
};

/// Unsupported when the fabric is no tree.
[[nodiscard]] Result<std::shared_ptr<const TreeFabric>> build_tree_fabric(const Fabric& fabric,
                                                                          const LidMap& lids);

}  // namespace smd
