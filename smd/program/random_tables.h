// Random forwarding tables: what switches with RandomFDBCap are known to hold, and which blocks
// have to be written so that they hold certain entries. An entry keeps its place as long as it is
// there; the places of others are reused, lowest first.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "smd/fabric/fabric.h"
#include "smd/mad/tables.h"

namespace smd {

/// Routes by a random table alone.
[[nodiscard]] bool has_random_table(const SwitchInfo& info);

class RandomTables {
 public:
  using Entries = std::map<Lid, PortNum>;
  using Block = std::pair<std::uint32_t, RftBlock>;

  void confirm(Guid node, std::uint32_t number, const RftBlock& block);
  void forget_block(Guid node, std::uint32_t number);

  void forget(Guid node) { tables_.erase(node); }

  [[nodiscard]] bool knows(Guid node) const { return tables_.contains(node); }

  [[nodiscard]] const RftBlock* find_block(Guid node, std::uint32_t number) const;

  /// The valid entries of known blocks.
  [[nodiscard]] Entries entries(Guid node) const;

  /// Blocks that make the switch hold exactly `wanted`, ascending; `all`: also those that need no
  /// change. Fewer entries than wanted where the table is too small.
  [[nodiscard]] std::vector<Block> layout(Guid node,
                                          const Entries& wanted,
                                          std::uint16_t capacity,
                                          bool all) const;

 private:
  std::map<Guid, std::map<std::uint32_t, RftBlock>> tables_;
};

}  // namespace smd
