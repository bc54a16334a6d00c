#include "smd/program/agent_memory.h"

#include <algorithm>

#include "smd/policy/port_policy.h"
#include "smd/program/port_setter.h"

namespace smd {
namespace {

bool same(SwitchInfo a, SwitchInfo b) {
  a.port_state_change = b.port_state_change = false;
  return a == b;
}

}  // namespace

std::string PortMemory::remember(Guid node,
                                 PortNum port,
                                 const PortInfo& wanted,
                                 const PortInfo& answered) {
  std::string lost = find_not_kept(wanted, answered);
  auto& ports = ports_[node];
  const auto before = ports.find(port);
  if (before != ports.end() &&
      lost == find_not_kept(before->second.wanted, before->second.answered)) {
    lost.clear();
  }
  ports.insert_or_assign(port, Entry{wanted, answered});
  return lost;
}

bool PortMemory::settled(Guid node,
                         PortNum port,
                         const PortInfo& wanted,
                         const PortInfo& now) const {
  const auto at_node = ports_.find(node);
  if (at_node == ports_.end()) return false;
  const auto entry = at_node->second.find(port);
  if (entry == at_node->second.end()) return false;
  return !differs(entry->second.wanted, wanted) && !differs(entry->second.answered, now);
}

bool PortMemory::keeps_fewer_vls(Guid node,
                                 PortNum port,
                                 std::uint8_t operational_vls,
                                 const PortInfo& now) const {
  const auto at_node = ports_.find(node);
  if (at_node == ports_.end()) return false;
  const auto entry = at_node->second.find(port);
  if (entry == at_node->second.end()) return false;
  return entry->second.wanted.operational_vls >= operational_vls &&
         entry->second.answered.operational_vls < operational_vls &&
         entry->second.answered.operational_vls == now.operational_vls;
}

void PortMemory::forget(Guid node) { ports_.erase(node); }

bool SwitchMemory::remember(Guid node, const SwitchInfo& wanted, const SwitchInfo& answered) {
  const bool keeps = wanted.life_time_value == answered.life_time_value;
  const auto before = switches_.find(node);
  const bool known = before != switches_.end() &&
                     before->second.wanted.life_time_value == wanted.life_time_value &&
                     before->second.answered.life_time_value == answered.life_time_value;
  switches_.insert_or_assign(node, Entry{wanted, answered});
  return !keeps && !known;
}

bool SwitchMemory::settled(Guid node, const SwitchInfo& wanted, const SwitchInfo& now) const {
  const auto entry = switches_.find(node);
  return entry != switches_.end() && same(entry->second.wanted, wanted) &&
         same(entry->second.answered, now) && routes_alike(wanted, now);
}

bool SwitchMemory::was_reset(Guid node, const SwitchInfo& now) const {
  const auto entry = switches_.find(node);
  return entry != switches_.end() && !same(entry->second.answered, now);
}

void SwitchMemory::forget(Guid node) { switches_.erase(node); }

bool routes_alike(const SwitchInfo& a, const SwitchInfo& b) {
  return a.linear_fdb_top == b.linear_fdb_top && a.default_port == b.default_port;
}

const TurnMemory::Entry* TurnMemory::find(Guid node, PortNum in, PortNum out) const {
  const auto at_node = rows_.find(node);
  if (at_node == rows_.end()) return nullptr;
  const auto row = at_node->second.find({in, out});
  return row == at_node->second.end() ? nullptr : &row->second;
}

void TurnMemory::doubt(Guid node) {
  const auto rows = rows_.find(node);
  if (rows == rows_.end()) return;
  for (auto& [turn, entry] : rows->second) entry.held = Held::Unknown;
}

std::vector<Turn> TurnMemory::collect(const Fabric& fabric, Held held) const {
  std::vector<Turn> turns;
  for (const auto& [guid, rows] : rows_) {
    const auto node = fabric.find_node(guid);
    if (!node || !fabric.is_switch(*node)) continue;
    for (const auto& [ports, row] : rows) {
      const auto& [in, out] = ports;
      const unsigned last = fabric.num_ports(*node);
      if (row.held != held || in.value() > last || out.value() > last) continue;
      turns.push_back({fabric.switch_of[*node], in, out});
    }
  }
  std::ranges::sort(turns);
  return turns;
}

std::vector<TurnRef> TurnMemory::maybe_blocked() const {
  std::vector<TurnRef> turns;
  for (const auto& [guid, rows] : rows_) {
    for (const auto& [ports, row] : rows) {
      if (row.held != Held::Open) turns.push_back({guid, ports.first, ports.second});
    }
  }
  return turns;
}

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
