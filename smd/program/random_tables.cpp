#include "smd/program/random_tables.h"

namespace smd {

bool has_random_table(const SwitchInfo& info) {
  return info.linear_fdb_cap == 0 && info.random_fdb_cap > 0;
}

void RandomTables::confirm(Guid node, std::uint32_t number, const RftBlock& block) {
  tables_[node].insert_or_assign(number, block);
}

void RandomTables::forget_block(Guid node, std::uint32_t number) {
  const auto table = tables_.find(node);
  if (table != tables_.end()) table->second.erase(number);
}

const RftBlock* RandomTables::find_block(Guid node, std::uint32_t number) const {
  const auto table = tables_.find(node);
  if (table == tables_.end()) return nullptr;
  const auto block = table->second.find(number);
  return block == table->second.end() ? nullptr : &block->second;
}

RandomTables::Entries RandomTables::entries(Guid node) const {
  Entries out;
  const auto table = tables_.find(node);
  if (table == tables_.end()) return out;
  for (const auto& [number, block] : table->second) {
    for (const RftEntry& entry : block) {
      if (entry.valid) out.emplace(entry.lid, entry.port);  // the first one is what routes
    }
  }
  return out;
}

std::vector<RandomTables::Block> RandomTables::layout(Guid node,
                                                      const Entries& wanted,
                                                      std::uint16_t capacity,
                                                      bool all) const {
  const std::uint32_t blocks = capacity / static_cast<std::uint32_t>(kRftBlockSize);
  std::vector<RftBlock> table(blocks);
  Entries missing = wanted;
  for (std::uint32_t number = 0; number < blocks; ++number) {
    const RftBlock* held = find_block(node, number);
    if (held == nullptr) continue;
    for (std::size_t i = 0; i < kRftBlockSize; ++i) {
      const RftEntry& entry = (*held)[i];
      const auto stays = missing.find(entry.lid);
      if (!entry.valid || entry.lmc != 0 || stays == missing.end()) continue;
      table[number][i] = {.lid = entry.lid, .valid = true, .port = stays->second};
      missing.erase(stays);
    }
  }
  std::size_t slot = 0;
  for (const auto& [lid, port] : missing) {
    while (slot < blocks * kRftBlockSize && table[slot / kRftBlockSize][slot % kRftBlockSize].valid)
      ++slot;
    if (slot == blocks * kRftBlockSize) break;
    table[slot / kRftBlockSize][slot % kRftBlockSize] = {.lid = lid, .valid = true, .port = port};
  }
  std::vector<Block> out;
  for (std::uint32_t number = 0; number < blocks; ++number) {
    const RftBlock* held = find_block(node, number);
    if (all || held == nullptr || *held != table[number]) out.emplace_back(number, table[number]);
  }
  return out;
}

}  // namespace smd
