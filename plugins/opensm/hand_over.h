// Tables of ours put where OpenSM sends them from.
#pragma once

#include "plugins/opensm/hop_matrix.h"
#include "plugins/opensm/routes.h"
#include "plugins/opensm/snapshot.h"
#include "smd/routing/tables.h"

namespace smd::opensm {

/// Unsupported when a switch has no room for the tables. Nothing is written.
[[nodiscard]] Result<void> check_room(const Snapshot& snapshot);

/// OpenSM's LID matrices: links to every switch's LID, by every port. What OpenSM's own minhop
/// would put there. False when memory is out.
[[nodiscard]] bool write_hops(const Snapshot& snapshot,
                              const SwitchGraph& graph,
                              const HopMatrix& matrix);

/// Every entry of every switch. Requires: check_room() found it.
void write_tables(const Snapshot& snapshot, const ForwardingTables& tables);

/// Whether every switch that `routes` were made for, as far as it is there, holds what
/// write_tables() made of them.
[[nodiscard]] bool hold_tables(const Snapshot& snapshot, const Routes& routes);

/// Has OpenSM set what the switches hold. Requires: check_room() found it.
void keep_tables(const Snapshot& snapshot);

/// The same SL-to-VL table in OpenSM's form.
[[nodiscard]] ib_slvl_table_t to_opensm(const SlToVl& row);

}  // namespace smd::opensm
