// What other managers ask of this one: Get(SMInfo), and Set(SMInfo) whose modifier is a control
// packet (IBA 14.2.5.13, 14.4.1). Pure.
//
// Our SM_Key is shown to a master alone that shows the same. Who has none shows kCommonSmKey. A
// control packet is obeyed when the key fits ours (0 asks for none), when its sender is in a state
// that may send it, and when it means something in ours.
#pragma once

#include <optional>
#include <string>

#include "smd/ha/state_machine.h"
#include "smd/mad/smp.h"

namespace smd {

/// The key of every OpenSM whose owner chose none; it looks away from managers that show another.
inline constexpr SmKey kCommonSmKey{1};

struct SmAnswer {
  MadStatus status = MadStatus::Ok;
  SmInfo info;                   // goes back
  SmInfo from;                   // as the asker describes itself; all zero when it does not
  std::optional<SmEvent> event;  // that was ordered, and is legal
  std::string refused;           // why; empty when it was not
};

/// `own` carries the real key. `request`: a Get or Set of SMInfo.
[[nodiscard]] SmAnswer answer_sm_request(const SmInfo& own, const Smp& request);

}  // namespace smd
