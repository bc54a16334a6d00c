// Pure: the states of a manager among others, and what SMInfo is answered.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "smd/mad/node_info.h"
#include "smd/mad/smp.h"

namespace smd {

// The states of a subnet manager among others, and what moves it between them (IBA 14.4.1). Pure:
// a state and an event in, the next state and what is to be done out.

/// What a Set(SMInfo) orders: its attribute modifier (IBA 14.2.5.13).
enum class SmControl : std::uint32_t {
  Handover = 1,
  Acknowledge = 2,
  Disable = 3,
  Standby = 4,
  Discover = 5,
};

[[nodiscard]] inline SmState state_of(const SmInfo& info) {
  return static_cast<SmState>(info.sm_state);
}

enum class SmEvent : std::uint8_t {
  // What a survey of every manager of the subnet found:
  NobodyAbove,
  HigherFound,        // active, but not master; who is master hands over to one in Standby only
  HigherMasterFound,  // and nobody that outranks it
  LowerMasterFound,
  // Of the manager that is polled:
  MasterLost,
  // Control packets that came in:
  Handover,
  Acknowledge,
  Disable,
  Standby,
  Discover,
  // Of a handover under way:
  Unanswered,  // nobody acknowledged ours
  Overdue,     // the lower master did not begin its own
  // Ours alone: the process stood still for so long that others may have taken over; or nobody is
  // seen but ourselves.
  Stalled,
  CutOff,
};

enum class SmAction : std::uint8_t {
  None,
  Discover,            // sweep everything, and write nothing until the sweep is judged
  LookOn,              // the owner sweeps again of its own accord
  TakeOver,            // sweep everything, then make the subnet one's own
  AcknowledgeAndTake,  // the same, after an Acknowledge to who handed over
  Poll,                // watch the manager that was found
  StopPolling,
  SendHandover,   // and write nothing until it is answered
  AwaitHandover,  // and write nothing until it comes
  Resume,         // go on as master, with a heavy sweep
};

struct SmStep {
  SmState next = SmState::NotActive;
  SmAction action = SmAction::None;

  friend bool operator==(const SmStep&, const SmStep&) = default;
};

struct SmTransition {
  SmState state;
  SmEvent event;
  SmStep step;
};

/// Every transition there is.
[[nodiscard]] std::span<const SmTransition> sm_transitions();

/// Nothing when the event means nothing in that state: a control packet is then refused.
[[nodiscard]] std::optional<SmStep> find_step(SmState state, SmEvent event);

/// The higher priority wins, then the lower port GUID.
[[nodiscard]] bool outranks(const SmInfo& a, const SmInfo& b);

struct SmAssessment {
  SmEvent event = SmEvent::NobodyAbove;
  std::optional<std::size_t> about;  // into `others`

  friend bool operator==(const SmAssessment&, const SmAssessment&) = default;
};

/// What the other managers of the subnet mean for `own`, which is in Discovering or Master.
[[nodiscard]] SmAssessment assess_others(const SmInfo& own, const std::vector<SmInfo>& others);

/// Whether the manager that a standby polls still keeps it in Standby.
[[nodiscard]] bool keeps_in_standby(const SmInfo& own, const SmInfo& polled);

[[nodiscard]] std::string_view print_sm_event(SmEvent event);

// What other managers ask of this one: Get(SMInfo), and Set(SMInfo) whose modifier is a control
// packet (IBA 14.2.5.13, 14.4.1). Pure.
//
// Our SM_Key is shown to a master alone that shows the same. Who has none shows kCommonSmKey. A
// control packet is obeyed when the key fits ours (0 asks for none), when its sender is in a state
// that may send it, and when it means something in ours.

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
