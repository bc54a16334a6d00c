// Multicast forwarding tables: what switches hold, and what may be written now.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "smd/ib/types.h"
#include "smd/mad/tables.h"
#include "smd/multicast/tree.h"

namespace smd {

// What multicast forwarding tables are known to hold, and what they may hold where a Set is under
// way or went astray. Kept over snapshots, by GUID.

class MftMemory {
 public:
  /// 32 MLIDs, 16 ports.
  struct Cell {
    MftBlock held{};      // as last confirmed; where nothing ever was: empty
    MftBlock may{};       // every bit that may be set, those of `held` included
    bool sure = false;    // `held` is what the switch has
    bool unread = false;  // nobody ever saw it: what is in it is not known at all
  };

  /// Nothing known of the switch holds: it was switched off and on, or looks as if it had been.
  void forget(Guid node);

  /// The switch looks as after power-on: every entry is zero. Believed where nothing was ever known
  /// of it; else it is forgotten.
  void note_restarted(Guid node);

  /// The switch said so.
  void confirm(Guid node, MftModifier at, const MftBlock& block);

  /// A Set goes out: until it is confirmed the switch may hold either.
  void send(Guid node, MftModifier at, const MftBlock& block);

  /// The switch did not take a Get or a Set: it is not asked again before ask_again().
  void note_refused(Guid node) { refusing_.insert(node); }

  void ask_again() { refusing_.clear(); }

  [[nodiscard]] bool is_refusing(Guid node) const { return refusing_.contains(node); }

  /// Not sure, with nothing in it, where the switch was never read.
  [[nodiscard]] Cell find(Guid node, MftModifier at) const;

  /// What a switch may hold, block by block, as far as anything was ever written or read.
  template <class Visit>
  void each_possible(Guid node, Visit visit) const {
    const auto found = switches_.find(node);
    if (found == switches_.end()) return;
    for (const auto& [modifier, cell] : found->second.cells)
      visit(decode_mft_modifier(modifier), cell.may);
  }

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
  std::set<Guid> refusing_;
};

// The order in which multicast tables go from what switches hold to what they shall hold, so that
// at no moment, whichever Sets have arrived, a packet goes round or comes twice.
//
// An MLID may be written at once when all that switches may hold and all that they shall hold,
// taken together, close no circle and turn no packet up again: every mixture is a part of that.
// Else what it shall not hold is taken away first; the rest is added when everything was confirmed.
// Sets are of 32 MLIDs and 16 ports.
//
// A switch whose block nobody could read may copy what comes to it to every other one. Where that
// could close a circle with what is wanted the MLID stays as it is, so that whatever served its
// members before goes on serving them.

/// By MLID: ascending by switch; no masks: nothing shall be held.
using MftGoals = std::map<Lid, std::vector<SwitchMask>>;

/// What either has. Requires: both ascending by switch. Ensures: so is the union.
[[nodiscard]] std::vector<SwitchMask> unite_masks(const std::vector<SwitchMask>& a,
                                                  const std::vector<SwitchMask>& b);

struct MftWrite {
  SwitchIdx sw;
  MftModifier at;
  MftBlock masks{};

  friend bool operator==(const MftWrite&, const MftWrite&) = default;
};

/// Blocks that must be read before anything is decided: of goals, and not known, but those of
/// switches that refuse. Their masks mean nothing.
[[nodiscard]] std::vector<MftWrite> find_unread(const Fabric& fabric,
                                                const MftMemory& memory,
                                                const MftGoals& goals);

struct MftStage {
  std::vector<MftWrite> writes;  // in any order
  std::vector<Lid> first_steps;  // MLIDs of which something is taken away, and more must follow
  std::vector<Lid> held_up;      // MLIDs that stay as they are until what is unread was read
};

/// What else mixtures must keep.
struct MftRules {
  /// By switch, as TreeRanks: nothing is copied up after it came down. Empty: nobody asks for it.
  IndexVector<SwitchIdx, std::uint32_t> rank;
  bool in_two_steps = false;  // where anything is taken away, it goes first
};

/// What can be written now. Nothing, where every goal is met. What was never read is not written,
/// since its other MLIDs would go, nor are switches that refuse.
[[nodiscard]] MftStage plan_stage(const Fabric& fabric,
                                  const MftMemory& memory,
                                  const MftGoals& goals,
                                  const MftRules& rules = {});

/// Goals that are not confirmed as a whole.
[[nodiscard]] std::vector<Lid> find_unmet(const Fabric& fabric,
                                          const MftMemory& memory,
                                          const MftGoals& goals);

}  // namespace smd
