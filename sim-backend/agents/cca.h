// The congestion control agent: every attribute of class 0x21 (IBA annex A10).
//
// A Set that is wrong in any field changes nothing and is answered with BadField and the registers
// as they are.
#pragma once

#include "sim-backend/agents/node_state.h"

namespace smd::sim {

enum class CcaResult : std::uint8_t {
  Answered,
  Changed,  // answered, and what packets obey is another
  Refused   // wrong CC_Key: no answer, and the trap is due
};

struct CcaRequest {
  NodeState& node;
  PortNum arrival;  // the port that the MAD came in by; 0 on a switch
  TimePoint now;
};

/// Turns a Get or Set of the class into its answer.
[[nodiscard]] CcaResult answer_congestion(const CcaRequest& request, MadBytes& mad);

}  // namespace smd::sim
