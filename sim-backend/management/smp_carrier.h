// Who carries SMPs over cables in the place of the fabric's own wires: a net on which they meet
// data packets.
#pragma once

#include <cstdint>

#include "smd/ib/types.h"
#include "smd/runtime/runtime.h"

namespace smd::sim {

class SmpCarrier {
 public:
  virtual ~SmpCarrier() = default;

  /// Of one SMP on one link.
  using Ticket = std::uint64_t;

  /// Takes a SMP to the far end of a link that is up. It may leave `port` at `ready`, and its last
  /// byte is there at `whole`. False when there is no room: it is lost. Else either
  /// SimFabric::take_carried or lose_carried is called once, later.
  virtual bool carry(
      std::uint32_t node, PortNum port, TimePoint ready, TimePoint whole, Ticket ticket) = 0;
};

}  // namespace smd::sim
