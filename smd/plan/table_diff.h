// Which blocks have to be written: desired tables against confirmed ones.
#pragma once

#include <vector>

#include "smd/plan/confirmed_tables.h"
#include "smd/routing/tables.h"

namespace smd {

struct TableBlock {
  SwitchIdx sw;
  std::uint32_t block = 0;

  friend bool operator==(const TableBlock&, const TableBlock&) = default;
};

/// Blocks that differ or are unknown. Block by block over all switches, so that consecutive SMPs go
/// to different agents.
[[nodiscard]] std::vector<TableBlock> diff_tables(const Fabric& fabric,
                                                  const ForwardingTables& wanted,
                                                  const ConfirmedTables& confirmed);

/// Share of the entries 1 … top that differ from what is confirmed; unknown blocks count as all
/// different. 0 … 100.
[[nodiscard]] double changed_entries_pct(const Fabric& fabric,
                                         const ForwardingTables& wanted,
                                         const ConfirmedTables& confirmed);

}  // namespace smd
