// Where congestion control acts: what the hooks are asked about marks in switches and answers of
// adapters, and the queues of what adapters answer.
//
// Handles LossKnown. Calls the output link when there is feedback to send, or a source may send.
#pragma once

#include "sim-backend/packet/part_state.h"

namespace smd::sim {

void on_loss_known(PartState& net, HostNum source, std::uint32_t argument);

// In switches. Requires: there are rules of marking.
void mark_input(PartState& net, PacketAt at);
void mark_output(PartState& net, PacketAt at);
/// Requires: the packet has been taken out of its queue and still holds its buffer.
void mark_departure(PartState& net, PortAt port, unsigned vl, PacketAt at);

/// At the adapter of `host`, where `data` has arrived. Requires: there is an echo.
void send_answer(PartState& net, HostNum host, const DataPacket& data);

/// It has come back to the flow's source.
void on_feedback(PartState& net, HostNum host, const DataPacket& feedback, std::uint32_t tag);

/// What an adapter's port sends before the data of the VL.
[[nodiscard]] inline PacketAt first_feedback(const PartState& net, PortAt port, unsigned vl) {
  if (net.feedback.empty() || net.wiring.host_of[port] == kNowhere) return kNowhere;
  return net.feedback[net.wiring.host_of[port] * net.vls + vl].head;
}

void pop_feedback(PartState& net, PortAt port, unsigned vl);
void drop_feedback(PartState& net, PortAt port, unsigned vl, Discard cause);

}  // namespace smd::sim
