// The subnet management agent: answers Get and Set from the node's registers and tables.
//
// A Set that is wrong in any field changes nothing and is answered with BadField and the registers
// as they are.
#pragma once

#include "sim-backend/agents/node_state.h"
#include "smd/mad/smp.h"

namespace smd::sim {

/// What the agent can do to the wire of one port. Both take effect before they return.
class LinkControl {
 public:
  virtual ~LinkControl() = default;

  /// Drops the link and trains it again: both ends pass through Down to Initialize, or stay Down
  /// when the far end is not there.
  virtual void retrain(PortNum port) = 0;

  /// Drops the link; the port's physical state is already what keeps it down.
  virtual void take_down(PortNum port) = 0;
};

struct SmaRequest {
  NodeState& node;
  PortNum arrival;  // the port that the SMP came in by; 0 for what the switch sends to itself
  bool hide_m_key = false;
  LinkControl& link;
};

/// Turns the request into its answer: method, D bit, status and data. Requires: a Get or Set, or
/// a method that no agent knows.
void answer_smp(const SmaRequest& request, Smp& smp);

}  // namespace smd::sim
