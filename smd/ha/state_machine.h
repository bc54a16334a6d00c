// The states of a subnet manager among others, and what moves it between them (IBA 14.4.1). Pure:
// a state and an event in, the next state and what is to be done out.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "smd/mad/sm_info.h"

namespace smd {

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
  // What a look at every manager of the subnet found:
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
  // Ours alone: the process stood still for so long that others may have taken over.
  Stalled,
};

enum class SmAction : std::uint8_t {
  None,
  Discover,            // look at everything, and write nothing until the look is judged
  TakeOver,            // look at everything, then make the subnet one's own
  AcknowledgeAndTake,  // the same, after an Acknowledge to who handed over
  Poll,                // watch the manager that was found
  StopPolling,
  SendHandover,   // and write nothing until it is answered
  AwaitHandover,  // and write nothing until it comes
  Resume,         // go on as master, with a look at everything
};

struct SmStep {
  SmState next = SmState::NotActive;
  SmAction action = SmAction::None;

  friend bool operator==(const SmStep&, const SmStep&) = default;
};

struct SmRow {
  SmState state;
  SmEvent event;
  SmStep step;
};

/// Every transition there is.
[[nodiscard]] std::span<const SmRow> sm_rows();

/// Nothing when the event means nothing in that state: a control packet is then refused.
[[nodiscard]] std::optional<SmStep> find_step(SmState state, SmEvent event);

/// The higher priority wins, then the lower port GUID.
[[nodiscard]] bool outranks(const SmInfo& a, const SmInfo& b);

struct SmJudgement {
  SmEvent event = SmEvent::NobodyAbove;
  std::optional<std::size_t> about;  // into `others`

  friend bool operator==(const SmJudgement&, const SmJudgement&) = default;
};

/// What the other managers of the subnet mean for `own`, which is in Discovering or Master.
[[nodiscard]] SmJudgement judge_others(const SmInfo& own, const std::vector<SmInfo>& others);

/// Whether the manager that a standby polls still keeps it in Standby.
[[nodiscard]] bool keeps_in_standby(const SmInfo& own, const SmInfo& polled);

[[nodiscard]] std::string_view print_sm_event(SmEvent event);

}  // namespace smd
