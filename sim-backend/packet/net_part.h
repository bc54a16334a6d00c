// One partition of a net, or all of it: the kernel that moves packets. Shared by the source files
// of the net alone.
//
// A packet moves from event to event. On a switch with output buffers:
//   Arrive (routed, in an input buffer) → the crossbar takes it → CrossDone (out of the input
//   buffer) → the link takes it → LinkDone (out of the output buffer) and Arrive at the next node.
// Without them the link takes it from the input buffer. Its parts are `sources.h`, `output_link.h`,
// `input_buffers.h`, `crossbar.h`, `flow_control.h`, `congestion_point.h` and `vl15.h`. Each says
// which events it handles, which it raises, to happen later, and what it calls at once.
#pragma once

#include <span>

#include "sim-backend/packet/part_state.h"

namespace smd::sim {

class NetPart {
 public:
  NetPart(PacketNet& self,
          NetState& state,
          const Wiring& wiring,
          const PacketOptions& options,
          const std::vector<std::uint32_t>& part_of_node,
          unsigned number);

  /// Runs what is due before `horizon`.
  void run_before(Picos horizon);

  /// Runs one event; false when there is none.
  bool run_one();

  /// When its next event is due, or one that it has posted since it closed its links.
  [[nodiscard]] Picos next_due();

  /// As those of PacketNet. Of a node of another process what is seen here: whose LIDs, and links
  /// that begin anew.
  void load(std::uint32_t node, const NodeState& registers);
  void open(std::uint32_t node, unsigned mtu);
  void switch_off(std::uint32_t node);

  PartState state;

 private:
  void run(const Event& event);
  void load_port(PortAt port, const NodeState& registers, unsigned number);
  void own_lids(HostNum host, HostLid lids);
  void set_state(PortAt port, PortState port_state);
  void cut(PortAt port);
  void reset_link(PortAt port);

  bool looks_ahead_ = false;
};

/// For the processor's caches alone: asks for what these events will touch (net_ahead.cpp).
void look_ahead(const PartState& net, std::span<const Event> soon);

}  // namespace smd::sim
