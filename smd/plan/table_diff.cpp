#include "smd/plan/table_diff.h"

#include <algorithm>

namespace smd {

std::vector<TableBlock> diff_tables(const Fabric& fabric,
                                    const ForwardingTables& wanted,
                                    const ConfirmedTables& confirmed) {
  std::vector<TableBlock> dirty;
  for (std::uint32_t block = 0; block < wanted.blocks(); ++block) {
    for (SwitchIdx sw : fabric.switch_node.indices()) {
      const LftBlock* held = confirmed.find_block(fabric.node_guid[fabric.switch_node[sw]], block);
      if (held == nullptr || !std::ranges::equal(*held, wanted.block(sw, block)))
        dirty.push_back({sw, block});
    }
  }
  return dirty;
}

double changed_entries_pct(const Fabric& fabric,
                           const ForwardingTables& wanted,
                           const ConfirmedTables& confirmed) {
  std::uint64_t changed = 0;
  for (SwitchIdx sw : fabric.switch_node.indices()) {
    const Guid guid = fabric.node_guid[fabric.switch_node[sw]];
    for (std::size_t block = 0; block < wanted.blocks(); ++block) {
      const LftBlock* held = confirmed.find_block(guid, block);
      const auto row = wanted.block(sw, block);
      for (std::size_t i = block == 0 ? 1 : 0; i < kLftBlockSize; ++i) {
        if (block * kLftBlockSize + i > wanted.top().value()) break;
        if (held == nullptr || (*held)[i] != row[i]) ++changed;
      }
    }
  }
  const double entries = static_cast<double>(fabric.switch_count()) * wanted.top().value();
  return entries == 0 ? 0.0 : 100.0 * static_cast<double>(changed) / entries;
}

}  // namespace smd
