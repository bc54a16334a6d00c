// Tables in force as a start for new ones.
#pragma once

#include "smd/routing/tables.h"

namespace smd {

/// A row per switch as it is now, each copied from what it had before; `row_before` is kNone for
/// switches that were not there. Never shorter than before.
[[nodiscard]] ForwardingTables copy_tables(const ForwardingTables& before,
                                           const IndexVector<SwitchIdx, SwitchIdx>& row_before,
                                           Lid top);

/// Where each switch of `now` stood in the other snapshot; kNone: it was not there.
[[nodiscard]] IndexVector<SwitchIdx, SwitchIdx> find_rows_before(const Fabric& before,
                                                                 const Fabric& now);

}  // namespace smd
