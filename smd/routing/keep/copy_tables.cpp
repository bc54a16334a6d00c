#include "smd/routing/keep/copy_tables.h"

#include <algorithm>

namespace smd {

ForwardingTables copy_tables(const ForwardingTables& before,
                             const IndexVector<SwitchIdx, SwitchIdx>& row_before,
                             Lid top) {
  const auto last = SwitchIdx{static_cast<std::uint32_t>(row_before.size())};
  bool same_rows = row_before.size() == before.switches() && top <= before.top();
  for (SwitchIdx sw{0}; same_rows && sw < last; sw = next(sw)) same_rows = row_before[sw] == sw;
  if (same_rows) return before;
  ForwardingTables tables{row_before.size(), std::max(top, before.top())};
  for (const SwitchIdx sw : row_before.indices()) {
    if (row_before[sw] == kNone<SwitchIdx>) continue;
    const std::span<const PortNum> row = before.row(row_before[sw]);
    std::copy(row.begin(), row.end(), tables.row(sw).begin());
  }
  return tables;
}

IndexVector<SwitchIdx, SwitchIdx> find_rows_before(const Fabric& before, const Fabric& now) {
  IndexVector<SwitchIdx, SwitchIdx> rows;
  rows.reserve(now.switch_count());
  for (const SwitchIdx sw : now.switch_node.indices()) {
    const Guid guid = now.node_guid[now.switch_node[sw]];
    // Mostly nothing has moved, and no look-up is needed.
    if (sw.value() < before.switch_count() && before.node_guid[before.switch_node[sw]] == guid) {
      rows.push_back(sw);
      continue;
    }
    const std::optional<NodeIdx> node = before.find_node(guid);
    rows.push_back(node ? before.switch_of[*node] : kNone<SwitchIdx>);
  }
  return rows;
}

}  // namespace smd
