// The ports by which a switch of a tree climbs, as the modulo rule counts them: parent by parent,
// then the second cable to each parent, and so on. Cables that are missing keep their slot, so that
// a lost cable moves only what it carried.
#pragma once

#include <span>
#include <vector>

#include "smd/routing/fat_tree/shape.h"

namespace smd {

class UpSlots {
 public:
  struct Slot {
    std::uint32_t edge = kUnreached;  // position in the graph; kUnreached: no cable
    std::uint16_t parent = 0;         // slots with the same number lead to the same switch
    PortNum port = kNoRoute;

    friend bool operator==(const Slot&, const Slot&) = default;
  };

  /// Slots are laid out as on the switch of the level that has most cables up. A parent is the one
  /// that most cables to it say by their ports; where two parents of one subtree would be the same,
  /// they count in the order of their GUIDs.
  UpSlots(const SwitchGraph& graph,
          const IndexVector<SwitchIdx, Guid>& guids,
          const FatTreeShape& tree);

  [[nodiscard]] std::span<const Slot> of(SwitchIdx sw) const {
    return {slots_.data() + first_[sw.value()], slots_.data() + first_[sw.value() + 1]};
  }

  /// As cabled most completely on that level; 0 at the top.
  [[nodiscard]] std::uint32_t count(std::uint32_t level) const { return kinds_[level].count; }

  [[nodiscard]] std::uint32_t parents(std::uint32_t level) const { return kinds_[level].parents; }

 private:
  struct Kind {
    std::uint32_t count = 0;
    std::uint32_t parents = 0;
  };

  friend class UpSlotsBuilder;

  std::vector<Kind> kinds_;           // by level
  std::vector<std::uint32_t> first_;  // switches + 1 entries
  std::vector<Slot> slots_;
};

}  // namespace smd
