// The order in which multicast tables go from what switches hold to what they shall hold, so that
// at no moment, whichever Sets have arrived, a packet goes round or comes twice.
//
// An MLID may be written at once when all that switches may hold and all that they shall hold,
// taken together, close no circle: every mixture is a part of that. Else what it shall not hold is
// taken away first; the rest is added when everything was confirmed. Sets are of 32 MLIDs and 16
// ports.
#pragma once

#include <map>
#include <vector>

#include "smd/multicast/mft_memory.h"
#include "smd/multicast/tree.h"

namespace smd {

/// By MLID: ascending by switch; no masks: nothing shall be held.
using MftGoals = std::map<Lid, std::vector<SwitchMask>>;

struct MftWrite {
  SwitchIdx sw;
  MftModifier at;
  MftBlock masks{};

  friend bool operator==(const MftWrite&, const MftWrite&) = default;
};

/// Blocks that must be read before anything is decided: of goals, and not known. Their masks mean
/// nothing.
[[nodiscard]] std::vector<MftWrite> find_unread(const Fabric& fabric,
                                                const MftMemory& memory,
                                                const MftGoals& goals);

struct MftStage {
  std::vector<MftWrite> writes;  // in any order
  std::vector<Lid> first_steps;  // MLIDs of which something is taken away, and more must follow
};

/// What can be written now. Nothing, where every goal is met.
[[nodiscard]] MftStage plan_stage(const Fabric& fabric,
                                  const MftMemory& memory,
                                  const MftGoals& goals);

/// Goals that are not confirmed as a whole.
[[nodiscard]] std::vector<Lid> find_unmet(const Fabric& fabric,
                                          const MftMemory& memory,
                                          const MftGoals& goals);

}  // namespace smd
