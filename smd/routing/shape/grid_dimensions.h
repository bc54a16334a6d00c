// Which classes of links lie in one dimension of a grid, one after the other.
#pragma once

#include "smd/routing/shape/link_classes.h"

namespace smd {

/// Joins classes that meet at switches and never span a 4-cycle there. Where damage leaves several
/// to choose from, the one met clearly more often wins, or none.
[[nodiscard]] LinkClasses join_in_line(const NeighbourGraph& graph, const LinkClasses& classes);

}  // namespace smd
