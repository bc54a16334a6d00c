// A partition's events, packets and counts, and what crosses to other partitions: packets and
// credits on links, news of losses.
#include "sim-backend/packet/part_state.h"

#include <algorithm>

#include "sim-backend/topology/network.h"
#include "smd/base/check.h"

namespace smd::sim {

static_assert(kMostNetworkPorts <= kPortMask, "every network that can be drawn can be run");
static_assert(kMostPackets < kPacketMask);
static_assert(kPacketMask == (std::uint64_t{1} << kSequenceShift) - 1 &&
              kSequenceMask == (std::uint64_t{1} << (kPortShift - kSequenceShift)) - 1 &&
              kPortMask == (std::uint64_t{1} << (kStepShift - kPortShift)) - 1 &&
              kIndexMask == (std::uint64_t{1} << (kStepShift - kIndexShift)) - 1);

PartState::PartState(PacketNet& net,
                     NetState& fabric,
                     const Wiring& fabric_wiring,
                     const PacketOptions& packet_options,
                     const std::vector<std::uint32_t>& partition_of_node,
                     unsigned part_number)
    : self(net),
      number(part_number),
      options(packet_options),
      wiring(fabric_wiring),
      wires(fabric_wiring.wires),
      vls(packet_options.vls),
      nodes(fabric.nodes.all()),
      ports(fabric.ports.all()),
      extras(fabric.extras.all()),
      outs(fabric.outs.all()),
      ins(fabric.ins.all()),
      host_lids(fabric.host_lids),
      lid_owner(fabric.lid_owner),
      part_of_node(partition_of_node),
      is_here(fabric.is_here),
      hosts(fabric.hosts.all()),
      source_queues(fabric.source_queues),
      queues_per_vl(fabric.queues_per_vl),
      allowed(fabric.allowed) {
  SMD_CHECK(ports.size() <= kPortMask && outs.size() <= kIndexMask,
            "a fabric of too many ports for one net");
  const SwitchModel& sw = options.switches;
  input_latency = sw.routing + sw.mapping + sw.crossbar_arbitration;
  for (const Wire& wire : wires) {
    longest_link = std::max<Picos>(longest_link, wire.propagation);
  }
}

void PartState::push(Picos at, NetStep step, std::uint32_t index, std::uint32_t argument) {
  queue.push({at, name_event(step, index, argument)});
}

void PartState::push_packet(
    Picos at, NetStep step, PortAt port, std::uint16_t sequence, PacketAt packet) {
  queue.push({at, name_packet_event(step, port, sequence, packet)});
}

void PartState::post(std::uint32_t node, const Crossing& crossing) {
  least_posted = std::min(least_posted, crossing.at);
  outgoing[part_of_node[node]]->post(crossing);
}

void PartState::post_packet(
    Picos at, NetStep step, PortAt port, std::uint16_t sequence, PacketAt packet) {
  post(wires[port].node,
       {.at = at,
        .step = step,
        .index = port,
        .argument = sequence,
        .packet = packets[packet],
        .origin = origins[packet]});
  free_packet(packet);
}

void PartState::close_links() {
  least_posted = kNever;
  for (PartitionLink* link : outgoing) {
    if (link != nullptr) link->close();
  }
}

void PartState::take_in() {
  for (PartitionLink* link : incoming) {
    if (link == nullptr) continue;
    for (const Crossing& crossing : link->take()) {
      if (full) break;
      if (crossing.step != NetStep::Arrive && crossing.step != NetStep::Deliver) {
        push(crossing.at, crossing.step, crossing.index, crossing.argument);
        continue;
      }
      const PacketAt at = take_packet();
      packets[at] = crossing.packet;
      origins[at] = crossing.origin;
      push_packet(crossing.at,
                  crossing.step,
                  crossing.index,
                  static_cast<std::uint16_t>(crossing.argument),
                  at);
    }
  }
}

PacketAt PartState::take_packet() {
  if (free_packets == kNowhere) {
    packets.emplace_back();
    origins.emplace_back();
    if (packets.size() > options.most_packets) {
      full = true;
      horizon = 0;
    }
    SMD_CHECK(packets.size() <= kPacketMask, "an event that makes a thousand packets");
    return static_cast<PacketAt>(packets.size() - 1);
  }
  const PacketAt at = free_packets;
  free_packets = packets[at].next;
  packets[at] = {};
  origins[at] = {};
  return at;
}

void PartState::free_packet(PacketAt at) {
  packets[at].place = Place::Free;
  packets[at].next = free_packets;
  free_packets = at;
}

/// After the longest cable's time: whoever simulates the source has to know of it in time.
void PartState::report_loss(const Flow& flow) {
  const std::uint32_t node = wires[wiring.host_port[flow.source]].node;
  const std::uint32_t argument = flow.destination << 4 | flow.sl;
  const Picos when = now + longest_link;
  if (part_of_node[node] == number) return push(when, NetStep::LossKnown, flow.source, argument);
  post(node,
       {.at = when,
        .step = NetStep::LossKnown,
        .index = flow.source,
        .argument = argument,
        .packet = {}});
}

void PartState::lose_feedback(const DataPacket& packet, std::uint32_t tag) {
  ++stats.feedback.lost;
  --stats.feedback.in_flight;
  digest(packet.source, packet.dlid);
  if (hooks.reaction == nullptr || packet.feedback != FeedbackKind::Ack) return;
  report_loss({feedback_for(tag), packet.source, feedback_sl(tag)});
}

void PartState::lose(PacketAt at, std::uint32_t node, Discard cause) {
  const DataPacket& packet = packets[at];
  if (is_counted_lost(packet)) return;
  const Origin& origin = origins[at];
  if (packet.feedback != FeedbackKind::None) return lose_feedback(packet, origin.tag);
  if (hooks.reaction != nullptr && packet.to != kNowhere && packet.place != Place::Source) {
    report_loss(flow_of(packet));
  }
  ++stats.discarded[static_cast<std::size_t>(cause)];
  --stats.in_flight;
  stats.last_out = now;
  digest(std::uint64_t{node} << 32 | packet.source,
         static_cast<std::uint64_t>(origin.generated) << 4 | static_cast<std::uint64_t>(cause));
  if (observer == nullptr) return;
  observer->on_discarded({.source = packet.source,
                          .node = node,
                          .cause = cause,
                          .at = now,
                          .generated = origin.generated,
                          .tag = origin.tag,
                          .partition = static_cast<std::uint8_t>(number)});
}

void PartState::digest(std::uint64_t place, std::uint64_t what) {
  std::uint64_t word = 0;
  for (const std::uint64_t part : {static_cast<std::uint64_t>(now), place, what}) {
    word = (word ^ part) * 0x9e3779b97f4a7c15u;
    word ^= word >> 29;
  }
  stats.digest += word;
}

}  // namespace smd::sim
