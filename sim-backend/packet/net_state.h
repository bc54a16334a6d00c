// What a net is made of: packets, VLs, ports, nodes. Partitions share the arrays; each reads and
// writes what belongs to its own nodes. A process makes what belongs to its own partitions.
//
// A PortVl numbers one VL of one port: port * vls + vl. All state belongs to one node, but for the
// ring of credits, which the far end of the link writes where it is of the same partition.
#pragma once

#include <array>
#include <vector>

#include "sim-backend/kernel/sparse_array.h"
#include "sim-backend/packet/credits.h"
#include "sim-backend/packet/destination_map.h"
#include "sim-backend/packet/packet_net.h"
#include "sim-backend/packet/switch_tables.h"
#include "sim-backend/packet/vl_arbiter.h"

namespace smd::sim {

using PacketAt = std::uint32_t;
using PortVl = std::uint32_t;

/// In this order at one instant: what gives way comes before what needs it.
enum class NetStep : std::uint8_t {
  CreditLeaves,
  CreditArrives,
  LinkDone,
  CrossDone,
  FreeInput,
  Management,
  Enqueue,
  Arrive,
  Deliver,
  LossKnown,
  Emit,
  Expire,
  Wake
};

/// Where a packet is: what holds it, for the audit. What is Dead or Cut is counted as lost: it has
/// its place in an input buffer still, or is on a link, and its head goes on to the next node.
enum class Place : std::uint8_t { Free, Source, Wire, Pending, Input, Output, Dead, Cut };

/// Data, or a packet that answers it.
enum class FeedbackKind : std::uint8_t { None, Cnp, Ack };

/// What moving a packet reads and writes: one cache line.
struct alignas(64) DataPacket {
  Picos ready = 0;    // for the link; of a waiting one also since when it is at the head
  Picos tail = 0;     // its last byte is in, at the node where it is
  Picos entered = 0;  // the switch where it is
  PacketAt next = kNowhere;
  PortVl in = kNowhere;   // the input VL that it is in, or on the way to
  PortVl out = kNowhere;  // the output VL that it is to leave by
  HostNum source = 0;
  HostNum to = kNowhere;  // of a flow, or by host number; nobody's where it is neither
  std::uint32_t via = 0;  // a route hook's own, as is `phase`; of a multicast packet see next_copy
  std::uint16_t bytes = 0;  // on the wire
  std::uint16_t payload = 0;
  std::uint16_t dlid = 0;
  std::uint16_t epoch = 0;  // of the link while on it; of the port once in
  std::uint8_t sl = 0;
  std::uint8_t hops = 0;
  std::uint8_t blocks = 0;       // that it holds of a buffer
  std::uint8_t copy_blocks = 0;  // of a multicast packet whose earlier copies hold none
  Place place = Place::Free;
  Marks marks = 0;
  FeedbackKind feedback = FeedbackKind::None;
  std::uint8_t phase = 0;
};

[[nodiscard]] inline bool is_counted_lost(const DataPacket& packet) {
  return packet.place == Place::Dead || packet.place == Place::Cut;
}

[[nodiscard]] constexpr bool is_multicast(std::uint16_t dlid) {
  return dlid >= kFirstMulticast && dlid != 0xFFFF;
}

/// The DLID of packets that go to a host by its number, without a LID: the permissive LID, which
/// no data packet has.
inline constexpr std::uint16_t kByHostNumber = 0xFFFF;

/// Of copies that wait in a switch as one the next; kNowhere behind the last. The first stands in
/// the input buffer for all of them. Multicast packets have no use for a route hook's fields.
[[nodiscard]] inline PacketAt next_copy(const DataPacket& packet) {
  return is_multicast(packet.dlid) && packet.phase != 0 ? packet.via : kNowhere;
}

inline void set_next_copy(DataPacket& packet, PacketAt next) {
  packet.via = next;
  packet.phase = next == kNowhere ? 0 : 1;
}

[[nodiscard]] inline Flow flow_of(const DataPacket& packet) {
  return {.source = packet.source, .destination = packet.to, .sl = packet.sl};
}

/// The rest of it: where it comes from.
struct Origin {
  Picos generated = 0;
  Picos injected = 0;
  std::uint32_t tag = 0;     // of feedback: see feedback_tag()
  std::uint32_t number = 0;  // of those that its source has made
};

/// Whom feedback is for, and the SL of its flow. Its LID may have another owner when it arrives.
[[nodiscard]] constexpr std::uint32_t feedback_tag(HostNum to, std::uint8_t sl) {
  return to << 4 | sl;
}

[[nodiscard]] constexpr HostNum feedback_for(std::uint32_t tag) { return tag >> 4; }

[[nodiscard]] constexpr std::uint8_t feedback_sl(std::uint32_t tag) {
  return static_cast<std::uint8_t>(tag & 15);
}

struct ManagementPacket {
  std::uint64_t cookie = 0;
  Picos ready = 0;
  Picos tail = 0;
  PacketAt next = kNowhere;
  std::uint32_t bytes = 0;
  std::uint16_t epoch = 0;
};

inline constexpr unsigned kCreditRing = 4;
inline constexpr std::uint32_t kManagementMask = (1u << 28) - 1;  // bytes that wait on VL15

/// The side of a VL that sends: one cache line.
struct alignas(64) OutputVl {
  PacketAt head = kNowhere;  // output buffer, or the packets of a source; with several queues per
  PacketAt tail = kNowhere;  // source, a ring of those that hold something
  PortVl asks_head = kNowhere;  // input VLs whose first packet wants to come out here
  PortVl asks_tail = kNowhere;
  std::uint16_t fctbs = 0;
  std::uint16_t fccl = 0;
  std::uint16_t room = 0;       // blocks free in the output buffer
  std::uint8_t ring_count = 0;  // credits on their way here, the next one first
  bool starved = false;         // waits for a credit of which nothing is known yet
  std::array<Picos, kCreditRing> ring_at{};
  std::array<std::uint16_t, kCreditRing> ring_fccl{};
};

/// The side of a VL that receives.
struct alignas(32) InputVl {
  PacketAt head = kNowhere;
  PacketAt tail = kNowhere;
  PortVl next_ask = kNowhere;
  PortVl wants = kNowhere;  // the output VL that it stands in line for
  std::uint16_t abr = 0;
  std::uint16_t free = 0;  // blocks
  std::uint16_t capacity = 0;
  std::uint16_t moving = 0;      // blocks of the packet that is leaving
  std::uint16_t advertised = 0;  // the newest FCCL for the far end
  bool busy = false;             // one is leaving
  std::uint8_t crossing = 0;     // by so many ports
  bool unsent = false;           // `advertised` waits for the link, in an event
};

/// What moving a packet reads and writes of a port: one cache line.
struct alignas(64) NetPort {
  Picos busy_until = 0;  // the link that goes out
  Picos wake_at = kNever;
  std::uint64_t sent_bytes = 0;
  PortVl link_vl = kNowhere;   // that the packet on the link holds a buffer of
  PortVl cross_vl = kNowhere;  // input VL that crosses to here
  PacketAt management_head = kNowhere;
  std::uint16_t waiting = 0;  // VLs with something for the link, by bit
  std::uint16_t asking = 0;   // VLs with something for the crossbar
  std::uint16_t held = 0;     // VLs whose next packet had the link but no credit
  std::uint16_t link_blocks = 0;
  std::uint16_t epoch = 0;   // of the link: what was on it when it dropped is lost
  std::uint16_t serial = 0;  // of the port: what was in it when it was cleared is lost
  std::uint16_t mtu = 256;
  std::uint16_t sequence = 0;     // of packets that it sends or puts off
  std::uint16_t arbitration = 0;  // tables
  PortState state = PortState::Down;
  std::uint8_t vls = 1;
  std::uint8_t next_vl = 0;   // that the crossbar looks at first
  std::uint8_t last_vl = 0;   // that left the input port last
  bool link_running = false;  // a LinkDone is due
  bool cross_running = false;
  bool input_busy = false;        // its one way into the crossbar
  bool blocked = false;           // it has something for the link, and no credit
  std::uint16_t copies_wait = 0;  // input VLs whose packet leaves by here and others together

  [[nodiscard]] bool sends() const { return state == PortState::Active; }

  [[nodiscard]] bool takes() const {
    return state == PortState::Active || state == PortState::Armed;
  }
};

/// The rest of it.
struct PortExtra {
  Picos expire_at = kNever;
  Picos blocked = 0;         // while it is: less the moment since when
  Picos head_life = kNever;  // HOQLife
  PacketAt management_tail = kNowhere;
  std::uint32_t management_bytes : 28 = 0;
  std::uint32_t passing_vl : 4 = 0;  // of a packet that comes in and has begun to leave already
  Picos passing_until = 0;           // its tail
  VlArbiter arbiter;
};

/// One of several queues of a source, where it has several per VL.
struct SourceQueue {
  PacketAt head = kNowhere;
  PacketAt tail = kNowhere;
  std::uint32_t next = kNowhere;  // in the ring of its VL
};

/// Those of one VL that have ever held something, in the order in which they first did.
struct QueueSet {
  std::vector<SourceQueue> queues;
  DestinationMap<std::uint32_t> place;  // of a queue, by its number
};

struct NetHost {
  Picos emit_at = kNever;
  std::uint32_t waiting = 0;  // packets
  std::uint32_t made = 0;     // with feedback
  bool stalled = false;
  bool asked = false;  // it has had something to send
};

/// Apart from what moves: hosts of all partitions are asked.
struct HostLid {
  std::uint16_t lid = 0;
  std::uint8_t lmc = 0;
};

struct NetNode {
  NodeTables tables;
  Picos routing_free = 0;
  std::vector<PortVl> copying;  // input VLs whose first packet waits for several ports, in turn
  bool on = false;
};

/// Acknowledgements and CNPs that wait for the link, by host and VL.
struct FeedbackQueue {
  PacketAt head = kNowhere;
  PacketAt tail = kNowhere;
};

static_assert(sizeof(DataPacket) == 64 && sizeof(OutputVl) == 64 && sizeof(NetPort) == 64 &&
              sizeof(PortExtra) == 64);
static_assert(sizeof(InputVl) == 32 && sizeof(Wire) == 32 && sizeof(Origin) == 24);

/// Blocks of each VL's input buffer.
[[nodiscard]] inline std::uint16_t input_capacity(const PacketOptions& options, bool on_switch) {
  const unsigned bytes =
      on_switch ? options.switches.input_buffer_bytes : options.adapters.buffer_bytes;
  return static_cast<std::uint16_t>(bytes / kBlockBytes);
}

/// A place for each node, port and VL of the fabric; those of this process's nodes are made. Sizes
/// stay.
struct NetState {
  /// `here`: by node, whether this process simulates it.
  NetState(const Wiring& wiring, const PacketOptions& options, std::vector<bool> here);

  std::vector<bool> is_here;  // by node
  SparseArray<NetNode> nodes;
  SparseArray<NetPort> ports;
  SparseArray<PortExtra> extras;  // by port
  SparseArray<OutputVl> outs;
  SparseArray<InputVl> ins;
  SparseArray<NetHost> hosts;
  std::vector<HostLid> host_lids;
  std::vector<QueueSet> source_queues;  // by host, then VL; empty with one queue per VL
  std::uint32_t queues_per_vl = 1;
  std::vector<DestinationMap<Picos>> allowed;  // by source, of those slower; empty: no static rates
  std::vector<HostNum> lid_owner;              // by LID
  std::vector<FeedbackQueue> feedback;

 private:
  void make_nodes(const Wiring& wiring,
                  const PacketOptions& options,
                  std::size_t first,
                  std::size_t end);
};

}  // namespace smd::sim
