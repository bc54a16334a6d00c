// What the parts of one partition share: its clock and events, its packets, its view of the
// fabric's arrays, what it counts, and the links to other partitions. The parts are functions over
// it, not objects that refer to it: one more load for each access costs 2 % of the time.
#pragma once

#include <span>
#include <vector>

#include "sim-backend/packet/event_queue.h"
#include "sim-backend/packet/net_state.h"
#include "sim-backend/packet/partition_link.h"
#include "sim-backend/packet/route_hook.h"

namespace smd::sim {

// What an event is: its step, what it is of, an argument. Where that is a packet's place in the
// pool, a number comes before it that the packet has from its port: places are given out in an
// order that must not show.
inline constexpr unsigned kStepShift = 60;
inline constexpr unsigned kIndexShift = 32;
inline constexpr std::uint32_t kIndexMask = (1u << 28) - 1;
inline constexpr unsigned kPortShift = 37;
inline constexpr std::uint32_t kPortMask = (1u << 23) - 1;  // 10^6 hosts have 5 million
inline constexpr unsigned kSequenceShift = 25;
inline constexpr std::uint64_t kSequenceMask = (1u << 12) - 1;
inline constexpr std::uint32_t kPacketMask = (1u << 25) - 1;  // and 30 million when all is full

[[nodiscard]] constexpr std::uint64_t name_event(NetStep step,
                                                 std::uint32_t index,
                                                 std::uint32_t argument) {
  return std::uint64_t{static_cast<std::uint8_t>(step)} << kStepShift |
         std::uint64_t{index} << kIndexShift | argument;
}

[[nodiscard]] constexpr std::uint64_t name_packet_event(NetStep step,
                                                        PortAt port,
                                                        std::uint16_t sequence,
                                                        PacketAt packet) {
  return std::uint64_t{static_cast<std::uint8_t>(step)} << kStepShift |
         std::uint64_t{port} << kPortShift | (sequence & kSequenceMask) << kSequenceShift | packet;
}

[[nodiscard]] constexpr NetStep step_of(const Event& event) {
  return static_cast<NetStep>(event.what >> kStepShift);
}

/// Of an event that is no packet's.
[[nodiscard]] constexpr std::uint32_t index_of(const Event& event) {
  return static_cast<std::uint32_t>(event.what >> kIndexShift) & kIndexMask;
}

/// Of a packet's event.
[[nodiscard]] constexpr PortAt port_of(const Event& event) {
  return static_cast<PortAt>(event.what >> kPortShift) & kPortMask;
}

[[nodiscard]] constexpr PacketAt packet_of(const Event& event) {
  return static_cast<PacketAt>(event.what) & kPacketMask;
}

struct PartState {
  /// Of partition `part_number`, which works on its own nodes.
  PartState(PacketNet& net,
            NetState& fabric,
            const Wiring& fabric_wiring,
            const PacketOptions& packet_options,
            const std::vector<std::uint32_t>& partition_of_node,
            unsigned part_number);
  PartState(const PartState&) = delete;

  [[nodiscard]] PortAt port_of_vl(PortVl port_vl) const { return port_vl / vls; }

  [[nodiscard]] unsigned vl_of(PortVl port_vl) const { return port_vl % vls; }

  [[nodiscard]] bool is_switch_port(PortAt port) const { return wires[port].on_switch; }

  /// Whether this process has the state of the port.
  [[nodiscard]] bool has(PortAt port) const { return is_here[wires[port].node]; }

  // Events. Requires: `at` is not before `now`.
  void push(Picos at, NetStep step, std::uint32_t index, std::uint32_t argument);
  void push_packet(Picos at, NetStep step, PortAt port, std::uint16_t sequence, PacketAt packet);

  /// The port's link looks then for something to send, unless it does so before.
  void wake_at(PortAt port, Picos when) {
    if (when >= ports[port].wake_at) return;
    ports[port].wake_at = when;
    push(when, NetStep::Wake, port, 0);
  }

  /// The port has something to send and no credit for any of it; it has again, or nothing to send.
  void begin_blocking(PortAt port) {
    if (ports[port].blocked) return;
    ports[port].blocked = true;
    extras[port].blocked -= now;
  }

  void end_blocking(PortAt port) {
    if (!ports[port].blocked) return;
    ports[port].blocked = false;
    extras[port].blocked += now;
  }

  /// A packet begins to leave an input VL before its tail is in.
  void note_passing(PortVl from, Picos tail) {
    PortExtra& extra = extras[port_of_vl(from)];
    extra.passing_until = tail;
    extra.passing_vl = vl_of(from) & 15;
  }

  /// A packet in the output buffer of `port` is given up; its tail may still be to come.
  void forget_passing(PortAt port, const DataPacket& packet) {
    const bool crosses = ports[port].cross_running && ports[port].cross_vl == packet.in;
    if (crosses && packet.tail > now) extras[port_of_vl(packet.in)].passing_until = 0;
  }

  // Other partitions: what goes to them when they close a window of time, and comes from them. A
  // packet that is posted is theirs from then on.
  void post(std::uint32_t node, const Crossing& crossing);
  void post_packet(Picos at, NetStep step, PortAt port, std::uint16_t sequence, PacketAt packet);
  void close_links();
  void take_in();

  /// kNowhere: nobody.
  [[nodiscard]] HostNum destination_of(const DataPacket& packet) const {
    return packet.dlid == kByHostNumber ? packet.to : lid_owner[packet.dlid];
  }

  // Packets. When there are options.most_packets of them nothing moves any more.
  PacketAt take_packet();
  void free_packet(PacketAt at);

  /// Counts the loss and raises LossKnown at the source of a flow; the packet stays with the
  /// caller.
  void lose(PacketAt at, std::uint32_t node, Discard cause);

  /// The same of an answer, of which `tag` is.
  void lose_feedback(const DataPacket& packet, std::uint32_t tag);

  /// The source of the flow hears that one of its packets, or the answer, will not come.
  void report_loss(const Flow& flow);

  /// A sum: what happens at one instant in two places has no order.
  void digest(std::uint64_t place, std::uint64_t what);

  PacketNet& self;
  unsigned number;
  PacketOptions options;
  const Wiring& wiring;
  std::span<const Wire> wires;  // of it
  unsigned vls;
  Picos longest_link = 0;   // its propagation
  Picos input_latency = 0;  // from a head's arrival until it may ask for the crossbar
  Picos now = 0;
  Picos horizon = 0;  // what is due from here on is not run now
  bool full = false;  // more packets than it can have: then it stands still
  EventWheel queue;
  std::span<NetNode> nodes;
  std::span<NetPort> ports;
  std::span<PortExtra> extras;
  std::span<OutputVl> outs;
  std::span<InputVl> ins;
  std::span<HostLid> host_lids;
  std::span<HostNum> lid_owner;
  PagedVector<DataPacket> packets;
  PagedVector<Origin> origins;  // of the same packets
  PacketAt free_packets = kNowhere;
  CongestionHooks hooks;
  const RouteChoice* route_choice = nullptr;
  NetStats stats;
  Workload* workload = nullptr;
  PacketObserver* observer = nullptr;
  const std::vector<std::uint32_t>& part_of_node;
  const std::vector<bool>& is_here;      // by node, as in NetState
  std::span<PartState* const> parts;     // all of them, this one too
  std::vector<PartitionLink*> outgoing;  // by partition; null to itself
  std::vector<PartitionLink*> incoming;
  Picos least_posted = kNever;

  // Of the sources alone, but for what the link tells a host that waits for it.
  std::span<NetHost> hosts;
  std::span<QueueSet> source_queues;
  std::uint32_t queues_per_vl;
  std::span<DestinationMap<Picos>> allowed;

  // Of the congestion point alone.
  std::span<FeedbackQueue> feedback;  // empty without an echo

  // Of VL15 alone.
  std::vector<ManagementPacket> management;
  PacketAt free_management = kNowhere;
  ManagementHandler* management_handler = nullptr;

  // Of port 0 of switches alone.
  SwitchPortHandler* switch_port_handler = nullptr;

  // Of copies alone, scratch.
  struct CopyOutput {
    unsigned out = 0;
    unsigned vl = 0;
    bool fits = false;
  };

  std::vector<CopyOutput> copy_outputs;

  // Of the output link alone.
  std::vector<ArbitrationTables> arbitration{{}};  // that ports share; the first is empty
  std::vector<PortVl> expired;                     // scratch
};

}  // namespace smd::sim
