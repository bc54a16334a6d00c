// Where routes that no table can hold act on a net: which way a packet leaves a switch, chosen from
// what stands in buffers. The net calls, once for each switch, when a packet arrives; the rules are
// in sim-backend/adaptive.
//
// Without a hook packets go by the tables of the switches. Multicast packets always do.
#pragma once

#include <cstdint>
#include <optional>

#include "sim-backend/packet/wiring.h"

namespace smd::sim {

/// A packet that has arrived at a switch.
struct RouteView {
  std::uint32_t node = 0;
  std::uint8_t in = 0;     // port
  std::uint8_t in_vl = 0;  // of it
  HostNum source = 0;
  HostNum to = 0;
  std::uint16_t dlid = 0;
  std::uint8_t sl = 0;
  std::uint8_t hops = 0;  // switches passed; 0: this one is its source's
  // What the rule said of it at the switch before; 0 at the first one.
  std::uint32_t via = 0;
  std::uint8_t phase = 0;
  /// A hash of (seed, source, number of the packet at its source, hops): the same in any partition.
  std::uint64_t draw = 0;
};

struct RouteAnswer {
  std::uint8_t out = 0;
  std::uint8_t vl = 0;  // on the link that leaves
  std::uint32_t via = 0;
  std::uint8_t phase = 0;
};

/// How much stands before a link.
class PortFill {
 public:
  virtual ~PortFill() = default;

  /// Blocks of 64 bytes: the port's own output buffer, and what was sent and has not come back as
  /// credit; at most what the far end's buffer takes. Of other nodes than the packet's for those
  /// alone who look far.
  [[nodiscard]] virtual unsigned used(std::uint32_t node, std::uint8_t port, unsigned vl) const = 0;
};

/// Requires: what it says follows from its arguments: partitions ask side by side.
class RouteChoice {
 public:
  virtual ~RouteChoice() = default;

  /// Nothing where there is no way: the packet is dropped as unroutable. A port back to where it
  /// came from, VLs that the port does not have and packets above the MTU are dropped as ever.
  [[nodiscard]] virtual std::optional<RouteAnswer> choose(const RouteView&,
                                                          const PortFill&) const = 0;

  /// It asks for the fill of other nodes' ports: the net has one partition.
  [[nodiscard]] virtual bool looks_far() const { return false; }
};

}  // namespace smd::sim
