// What comes in: the relay of a switch and its input buffers, and the end of the way at an adapter.
//
// Handles Arrive, Enqueue, FreeInput, Deliver. Raises Enqueue where a packet has to wait before it
// is in its buffer, FreeInput where one that is thrown away is still coming in. Calls flow control
// with room that is free again, the crossbar or the output link when the first packet of a buffer
// asks for its way out, congestion control to mark and to answer.
#pragma once

#include "sim-backend/packet/part_state.h"

namespace smd::sim {

void on_arrive(PartState& net, PortAt port, PacketAt at);
void on_enqueue(PartState& net, PacketAt at);
void on_free_input(PartState& net, PacketAt at);
void on_deliver(PartState& net, PortAt port, PacketAt at);

/// The first packet of an input VL asks for its way out. Requires: the VL is not busy and does not
/// ask yet.
void serve_head(PartState& net, PortVl port_vl);

/// It keeps its place in the buffer until its last byte is in. Requires: it is in no queue.
void drop_input(PartState& net, PacketAt at, Discard cause);

/// Into its input buffer, behind what is there. Requires: it knows where it leaves.
void queue_input(PartState& net, PacketAt at);

/// Before this a link straight from the input buffer would run out of bytes that are still coming.
[[nodiscard]] Picos earliest_start(const PartState& net, const DataPacket& packet);

[[nodiscard]] unsigned map_vl(const PartState& net, PortAt in, PacketAt at, unsigned out);

[[nodiscard]] bool can_leave_by(
    const PartState& net, PortAt in, PacketAt at, unsigned out, unsigned vl);

/// Sets where it leaves; false when it cannot: then it is dropped.
bool leave_by(PartState& net, PortAt in, PacketAt at, unsigned out, unsigned vl);

/// What is said of a packet whose last byte came in now. Requires: it has its place still.
[[nodiscard]] Delivery describe_delivery(const PartState& net,
                                         const Wire& wire,
                                         PacketAt at,
                                         HostNum destination);

/// The node dies.
void clear_input(PartState& net, PortVl port_vl);

/// The first packet of an input or output buffer. Requires: there is one.
template <class Buffer>
PacketAt pop_buffer(const PartState& net, Buffer& buffer) {
  const PacketAt at = buffer.head;
  buffer.head = net.packets[at].next;
  if (buffer.head == kNowhere) buffer.tail = kNowhere;
  return at;
}

/// Takes an input VL out of the line for an output VL; `before` stands before it, or is kNowhere.
inline void remove_ask(PartState& net, OutputVl& out, PortVl before, PortVl at) {
  const PortVl after = net.ins[at].next_ask;
  if (before == kNowhere) {
    out.asks_head = after;
  } else {
    net.ins[before].next_ask = after;
  }
  if (out.asks_tail == at) out.asks_tail = before;
  net.ins[at].next_ask = kNowhere;
  net.ins[at].wants = kNowhere;
}

}  // namespace smd::sim
