// Where data flows when a plan begins, and what is there to be done.
#pragma once

#include <vector>

#include "smd/plan/transition.h"

namespace smd {

enum class Flow : std::uint8_t {
  Never,  // no link between switches, or one that stays down
  Later,  // once activated
  Now,
};

struct InitialState {
  explicit InitialState(const TransitionTask& task);

  IndexVector<PortIdx, Flow> flow;              // of links between switches
  IndexVector<PortIdx, SwitchIdx> peer_switch;  // the switch at the other end, or kNone
  IndexVector<SwitchIdx, char> idle;            // no link of the switch carries data
  std::vector<PortIdx> activate_inner;          // to be activated: ends of links between switches
  std::vector<PortIdx> activate_outer;          // … of all other links
  bool silent = true;                           // nothing carries data
  std::vector<Turn> kept;                       // blocked turns that nobody will need
  std::vector<Turn> restored;                   // … that the wanted routes may need
};

/// Every entry that differs or is unknown, sorted by (switch, LID). A table that ends early has no
/// routes beyond its end.
[[nodiscard]] std::vector<EntryChange> find_changes(const TransitionTask& task);

[[nodiscard]] bool differ(const TransitionTask& task);

[[nodiscard]] inline PortNum entry_of(const ForwardingTables& tables, SwitchIdx sw, Lid lid) {
  return sw.value() < tables.switches() && lid.value() < tables.blocks() * kLftBlockSize
             ? tables.route(sw, lid)
             : kNoRoute;
}

}  // namespace smd
