#include "sim-backend/packet/congestion_point.h"

#include "sim-backend/packet/credits.h"
#include "sim-backend/packet/output_link.h"

namespace smd::sim {
namespace {

/// What stands in the switches of the partition.
class PartQueues final : public SwitchQueues {
 public:
  explicit PartQueues(const PartState& net) : net_(net) {}

  void list_wanted(std::uint32_t input, std::vector<std::uint32_t>& out) const override {
    for (PacketAt at = net_.ins[input].head; at != kNowhere; at = net_.packets[at].next) {
      for (PacketAt copy = at; copy != kNowhere; copy = next_copy(net_.packets[copy])) {
        out.push_back(net_.packets[copy].out);
      }
    }
  }

  [[nodiscard]] unsigned count_bound(std::uint32_t output) const override {
    unsigned count = 0;
    if (net_.options.switches.output_buffers) {
      for (PacketAt at = net_.outs[output].head; at != kNowhere; at = net_.packets[at].next)
        ++count;
    }
    const std::uint32_t node = net_.wires[net_.port_of_vl(output)].node;
    for (unsigned number = 1; number <= net_.wiring.num_ports[node]; ++number) {
      for (unsigned vl = 0; vl < net_.vls; ++vl) {
        const InputVl& in = net_.ins[net_.wiring.port_of(node, number) * net_.vls + vl];
        for (PacketAt at = in.head; at != kNowhere; at = net_.packets[at].next) {
          for (PacketAt copy = at; copy != kNowhere; copy = next_copy(net_.packets[copy])) {
            count += net_.packets[copy].out == output;
          }
        }
      }
    }
    return count;
  }

 private:
  const PartState& net_;
};

MarkPoint mark_point(const PartState& net, const DataPacket& packet, PortVl buffer) {
  const PortAt egress = net.port_of_vl(packet.out);
  return {.node = net.wires[egress].node,
          .port_vl = buffer,
          .out = packet.out,
          .out_port = net.wires[egress].number,
          .blocks = packet.blocks};
}

void push_feedback(PartState& net, PortAt port, unsigned vl, PacketAt at) {
  FeedbackQueue& queue = net.feedback[net.wiring.host_of[port] * net.vls + vl];
  net.packets[at].next = kNowhere;
  (queue.head == kNowhere ? queue.head : net.packets[queue.tail].next) = at;
  queue.tail = at;
  NetPort& here = net.ports[port];
  here.waiting = static_cast<std::uint16_t>(here.waiting | 1u << vl);
  if (!here.link_running) try_link(net, port);
}

}  // namespace

void mark_input(PartState& net, PacketAt at) {
  DataPacket& packet = net.packets[at];
  if (packet.feedback != FeedbackKind::None) return;
  MarkPoint point = mark_point(net, packet, packet.in);
  point.capacity = net.ins[packet.in].capacity;
  point.used = point.capacity - net.ins[packet.in].free;
  net.hooks.marking->on_input(point, PartQueues(net), packet.marks);
}

void mark_output(PartState& net, PacketAt at) {
  DataPacket& packet = net.packets[at];
  if (packet.feedback != FeedbackKind::None) return;
  MarkPoint point = mark_point(net, packet, packet.out);
  point.capacity = net.options.switches.output_buffer_bytes / kBlockBytes;
  point.used = point.capacity - net.outs[packet.out].room;
  net.hooks.marking->on_output(point, packet.marks);
}

void mark_departure(PartState& net, PortAt port, unsigned vl, PacketAt at) {
  DataPacket& packet = net.packets[at];
  if (packet.feedback != FeedbackKind::None) return;
  const bool buffered = net.options.switches.output_buffers;
  MarkPoint point = mark_point(net, packet, buffered ? packet.out : packet.in);
  point.capacity = buffered ? net.options.switches.output_buffer_bytes / kBlockBytes
                            : unsigned{net.ins[packet.in].capacity};
  point.used = point.capacity - (buffered ? net.outs[packet.out].room : net.ins[packet.in].free);
  for (PortVl ask = net.outs[packet.out].asks_head; ask != kNowhere; ask = net.ins[ask].next_ask) {
    point.used += unsigned{net.ins[ask].capacity} - net.ins[ask].free;
  }
  point.held = (net.ports[port].held >> vl & 1) != 0;
  point.source = packet.source;
  point.destination = Lid{packet.dlid};
  point.sl = packet.sl;
  point.at = net.now;
  net.hooks.marking->on_departure(point, packet.marks);
}

void send_answer(PartState& net, HostNum host, const DataPacket& data) {
  if (data.to != host) {
    // Multicast; or the LID has moved, and the flow's own destination will never answer.
    if (net.hooks.reaction != nullptr && data.to != kNowhere) net.report_loss(flow_of(data));
    return;
  }
  const std::optional<Feedback> feedback = net.hooks.echo->on_data(flow_of(data), data.marks);
  if (!feedback) return;
  const PortAt port = net.wiring.host_port[host];
  const Wire& wire = net.wires[port];
  const PacketAt at = net.take_packet();
  DataPacket& packet = net.packets[at];
  net.origins[at] = {.generated = net.now,
                     .tag = feedback_tag(data.source, data.sl),
                     .number = net.hosts[host].made++};
  packet.ready = net.now + net.options.adapters.latency;
  packet.source = host;
  packet.bytes = static_cast<std::uint16_t>(feedback->payload + net.options.links.header_bytes);
  packet.payload = feedback->payload;
  packet.dlid = net.host_lids[data.source].lid;
  packet.sl = feedback->sl;
  packet.blocks = static_cast<std::uint8_t>(blocks_of(feedback->payload));
  packet.place = Place::Source;
  packet.marks = feedback->marks;
  packet.feedback = feedback->acknowledges ? FeedbackKind::Ack : FeedbackKind::Cnp;
  ++net.stats.feedback.made;
  ++net.stats.feedback.in_flight;
  net.stats.feedback.bytes += packet.bytes;
  const unsigned vl = net.nodes[wire.node].tables.map_sl(wire.number, 0, packet.sl);
  if (vl == kDiscardVl || vl >= net.ports[port].vls) {
    net.lose(at, wire.node, Discard::Unmappable);
    return net.free_packet(at);
  }
  push_feedback(net, port, vl, at);
}

void pop_feedback(PartState& net, PortAt port, unsigned vl) {
  FeedbackQueue& queue = net.feedback[net.wiring.host_of[port] * net.vls + vl];
  queue.head = net.packets[queue.head].next;
  if (queue.head != kNowhere) return;
  queue.tail = kNowhere;
  NetPort& here = net.ports[port];
  if (net.outs[port * net.vls + vl].head == kNowhere) {
    here.waiting = static_cast<std::uint16_t>(here.waiting & ~(1u << vl));
  }
}

void drop_feedback(PartState& net, PortAt port, unsigned vl, Discard cause) {
  for (PacketAt at = first_feedback(net, port, vl); at != kNowhere;
       at = first_feedback(net, port, vl)) {
    pop_feedback(net, port, vl);
    net.lose(at, net.wires[port].node, cause);
    net.free_packet(at);
  }
}

void on_feedback(PartState& net, HostNum host, const DataPacket& feedback, std::uint32_t tag) {
  if (feedback_for(tag) != host) return net.lose_feedback(feedback, tag);
  ++net.stats.feedback.delivered;
  --net.stats.feedback.in_flight;
  net.digest(std::uint64_t{host} << 32 | feedback.source, feedback.marks);
  if (net.hooks.reaction == nullptr) return;
  net.hooks.reaction->on_feedback({host, feedback.source, feedback_sl(tag)},
                                  {.marks = feedback.marks,
                                   .acknowledges = feedback.feedback == FeedbackKind::Ack,
                                   .payload = feedback.payload,
                                   .sl = feedback.sl},
                                  net.now);
  try_link(net, net.wiring.host_port[host]);
}

void on_loss_known(PartState& net, HostNum source, std::uint32_t argument) {
  net.hooks.reaction->on_lost({source, argument >> 4, static_cast<std::uint8_t>(argument & 15)});
  try_link(net, net.wiring.host_port[source]);
}

}  // namespace smd::sim
