#include "smd/program/turn_memory.h"

#include <algorithm>

namespace smd {

const TurnMemory::Row* TurnMemory::find(Guid node, PortNum in, PortNum out) const {
  const auto at_node = rows_.find(node);
  if (at_node == rows_.end()) return nullptr;
  const auto row = at_node->second.find({in, out});
  return row == at_node->second.end() ? nullptr : &row->second;
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

}  // namespace smd
