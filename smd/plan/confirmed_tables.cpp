#include "smd/plan/confirmed_tables.h"

namespace smd {

void ConfirmedTables::confirm(Guid node, std::size_t number, const LftBlock& block) {
  Table& table = tables_[node];
  if (table.blocks.size() <= number) {
    table.blocks.resize(number + 1);
    table.known.resize(number + 1, false);
  }
  table.blocks[number] = block;
  table.known[number] = true;
}

void ConfirmedTables::forget_block(Guid node, std::size_t number) {
  const auto table = tables_.find(node);
  if (table != tables_.end() && number < table->second.known.size())
    table->second.known[number] = false;
}

void ConfirmedTables::forget(Guid node) { tables_.erase(node); }

bool ConfirmedTables::knows(Guid node) const { return tables_.contains(node); }

const LftBlock* ConfirmedTables::find_block(Guid node, std::size_t number) const {
  const auto table = tables_.find(node);
  if (table == tables_.end() || number >= table->second.known.size() ||
      !table->second.known[number])
    return nullptr;
  return &table->second.blocks[number];
}

}  // namespace smd
