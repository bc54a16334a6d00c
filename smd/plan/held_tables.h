// What the switches of a snapshot hold now, as one matrix: where every transition starts.
#pragma once

#include <vector>

#include "smd/plan/confirmed_tables.h"
#include "smd/plan/table_diff.h"
#include "smd/routing/tables.h"

namespace smd {

struct HeldTables {
  ForwardingTables lft;             // "no route" where a block is unknown
  std::vector<TableBlock> unknown;  // may hold anything; ascending by switch, then block
};

/// Blocks for LIDs 0 … top. What lies above a switch's LinearFDBTop forwards nothing, whatever it
/// holds.
[[nodiscard]] HeldTables collect_held_tables(const Fabric& fabric,
                                             Lid top,
                                             const ConfirmedTables& confirmed);

}  // namespace smd
