// The subnet management interface of a node: what becomes of a directed SMP (IBA 14.2.2). Works on
// the 256 bytes in place, since a directed SMP passes one at every hop.
#pragma once

#include "smd/ib/types.h"
#include "smd/mad/header.h"

namespace smd::sim {

/// Where a SMP comes from when it reaches the SMI.
enum class SmiSource : std::uint8_t {
  Local,     // the node's own agent or client
  Directed,  // a wire, addressed to the permissive LID
  LidRouted  // a wire, addressed to this node's LID
};

struct SmiNode {
  bool is_switch = false;
  std::uint8_t num_ports = 0;
};

struct SmiVerdict {
  enum class Kind : std::uint8_t {
    Exit,      // out of `port`, permissive LIDs
    Agent,     // this node's agent or client
    ByLid,     // LID-routed to `dlid`, sent by this node
    ToOrigin,  // LID-routed back to the node that sent the request's final LID segment
    Drop       // a hop pointer, count or port that cannot be
  };

  Kind kind = Kind::Drop;
  PortNum port;
  Lid dlid;
};

/// Requires: class 0x81. `port`: the port it came in by; of a local one on an adapter, the port
/// it is sent from; 0 on a switch. Moves the hop pointer and writes the return path.
[[nodiscard]] SmiVerdict pass_smi(SmiNode node, SmiSource source, PortNum port, MadBytes& mad);

}  // namespace smd::sim
