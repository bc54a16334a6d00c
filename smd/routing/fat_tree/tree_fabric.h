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

// Which way is up in a fat tree, so that switches reach each other too.
//
// Levels alone leave as many tops as there are cores, and no core could reach another: the path
// leads down and up again. So one leaf is lifted by its hair: it becomes the top, and the links on
// its path up to the cores are turned round.
//
//   C1 C2 over A1 over L1, L2     becomes     L1 over A1 over C1, C2, L2
//
// Up from L1 is down now. Every route between hosts that climbs and descends by levels still
// climbs, then descends: it meets the turned links first and as links down, or last and as links
// up.
//
// What the leaf cannot climb to, since links are missing, hangs below a switch that can get there,
// turned likewise.

/// A function of the graph alone: what is lost and comes back leaves no trace.
/// `hosts`: of leaves with hosts the one with the lowest GUID is the top.
/// Ensures: one top per island.
[[nodiscard]] Orientation orient_tree(const SwitchGraph& graph,
                                      const IndexVector<SwitchIdx, Guid>& guids,
                                      const IndexVector<SwitchIdx, std::uint32_t>& hosts,
                                      const IndexVector<SwitchIdx, std::uint32_t>& level);

// What the modulo rule starts from: the tree, its order, and a number for every LID.
//
// Hosts are numbered leaf by leaf in the order of the subtrees. At a switch of level l, number t
// climbs by slot t / d(l) mod s(l), where s(l) is how many slots there are and d(l) how many
// switches of level l a leaf can climb to: the product of the parents below. In a whole tree every
// channel that leads down then serves one host if there are as many cables up as down, and as few
// as can be else, so that no two flows of a shift permutation meet.

struct TreeFabric {
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

  /// Switches that serve somebody.
  std::vector<SwitchIdx> destinations;
};

/// Unsupported when the fabric is no tree.
[[nodiscard]] Result<std::unique_ptr<const TreeFabric>> build_tree_fabric(const Fabric& fabric,
                                                                          const LidMap& lids);

}  // namespace smd
