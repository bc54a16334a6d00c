// What multicast forwarding tables are known to hold, and what they may hold where a Set is under
// way or went astray. Kept over snapshots, by GUID.
#pragma once

#include <map>
#include <set>

#include "smd/ib/types.h"
#include "smd/mad/modifiers.h"
#include "smd/mad/tables.h"

namespace smd {

class MftMemory {
 public:
  /// 32 MLIDs, 16 ports.
  struct Cell {
    MftBlock held{};    // as last confirmed; where nothing ever was: empty
    MftBlock may{};     // every bit that may be set, those of `held` included
    bool sure = false;  // `held` is what the switch has
  };

  /// Nothing known of the switch holds: it was switched off and on, or looks as if it had been.
  void forget(Guid node);

  /// The switch looks as after power-on: every entry is zero. Believed where nothing was ever known
  /// of it; else it is forgotten.
  void note_fresh(Guid node);

  /// The switch said so.
  void confirm(Guid node, MftModifier at, const MftBlock& block);

  /// A Set goes out: until it is confirmed the switch may hold either.
  void send(Guid node, MftModifier at, const MftBlock& block);

  /// Not sure, with nothing in it, where the switch was never read.
  [[nodiscard]] Cell find(Guid node, MftModifier at) const;

  /// Confirmed blocks of a switch, by position, then block; those that nobody wrote or read are
  /// left out.
  template <class Visit>
  void each_held(Guid node, Visit visit) const {
    const auto found = switches_.find(node);
    if (found == switches_.end()) return;
    for (const auto& [modifier, cell] : found->second.cells) {
      if (cell.sure) visit(decode_mft_modifier(modifier), cell.held);
    }
  }

 private:
  struct Switch {
    bool blank = false;                   // what is not in `cells` is zero
    std::map<std::uint32_t, Cell> cells;  // by modifier
  };

  std::map<Guid, Switch> switches_;
  std::set<Guid> forgotten_;  // once
};

}  // namespace smd
