// The forwarding blocks that switches are known to hold, by GUID: what the next diff starts from.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "smd/ib/types.h"
#include "smd/mad/tables.h"

namespace smd {

class ConfirmedTables {
 public:
  /// The switch holds exactly `block` at `number`: it answered so.
  void confirm(Guid node, std::size_t number, const LftBlock& block);

  /// What the switch holds at `number` is unknown from now on.
  void forget_block(Guid node, std::size_t number);

  /// Nothing is known of the switch: it is new, or it was reset.
  void forget(Guid node);

  /// True when anything was ever confirmed of the switch since it was last forgotten.
  [[nodiscard]] bool knows(Guid node) const;

  /// Null when the block is unknown.
  [[nodiscard]] const LftBlock* find_block(Guid node, std::size_t number) const;

 private:
  struct Table {
    std::vector<LftBlock> blocks;
    std::vector<bool> known;
  };

  std::unordered_map<Guid, Table> tables_;  // look-ups only
};

}  // namespace smd
