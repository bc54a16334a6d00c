// What a net is made of: packets, lanes, ports, nodes. Partitions share the arrays; each reads and
// writes what belongs to its own nodes.
//
// A lane is one VL of one port: lane = port * vls + vl. All state belongs to one node, but for the
// ring of credits, which the far end of the link writes where it is of the same partition.
#pragma once

#include <array>
#include <vector>

#include "sim-backend/kernel/huge_pages.h"
#include "sim-backend/packet/packet_net.h"
#include "sim-backend/packet/switch_tables.h"
#include "sim-backend/packet/vl_arbiter.h"

namespace smd::sim {

using CellAt = std::uint32_t;
using LaneAt = std::uint32_t;

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
  Told,
  Emit,
  Expire,
  Wake
};

/// Where a packet is: what holds it, for the audit.
enum class Place : std::uint8_t { Free, Source, Wire, Pending, Input, Output, Dead };

/// Data, or a packet that answers it.
enum class NoticeKind : std::uint8_t { None, Plain, Acknowledges };

/// What moving a packet reads and writes: one cache line.
struct alignas(64) Cell {
  Picos ready = 0;    // for the link; of a waiting one also since when it is at the head
  Picos tail = 0;     // its last byte is in, at the node where it is
  Picos entered = 0;  // the switch where it is
  CellAt next = kNowhere;
  LaneAt in = kNowhere;   // the input lane that it is in, or on the way to
  LaneAt out = kNowhere;  // the output lane that it is to leave by
  HostNum source = 0;
  HostNum to = kNowhere;    // of a flow; nobody's where it is none
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
  NoticeKind notice = NoticeKind::None;
};

/// The rest of it: where it comes from.
struct Origin {
  Picos generated = 0;
  Picos injected = 0;
  std::uint32_t tag = 0;  // of a notice: its flow's SL
};

struct ManagementCell {
  std::uint64_t cookie = 0;
  Picos ready = 0;
  Picos tail = 0;
  CellAt next = kNowhere;
  std::uint32_t bytes = 0;
  std::uint16_t epoch = 0;
};

inline constexpr unsigned kCreditRing = 4;

/// The side of a lane that sends: one cache line.
struct alignas(64) OutLane {
  CellAt head = kNowhere;  // output buffer, or the packets of a source; with several queues per
  CellAt tail = kNowhere;  // source, a ring of those that hold something
  LaneAt asks_head = kNowhere;  // input lanes whose first packet wants to come out here
  LaneAt asks_tail = kNowhere;
  std::uint16_t fctbs = 0;
  std::uint16_t fccl = 0;
  std::uint16_t room = 0;       // blocks free in the output buffer
  std::uint8_t ring_count = 0;  // credits on their way here, the next one first
  bool starved = false;         // waits for a credit of which nothing is known yet
  std::array<Picos, kCreditRing> ring_at{};
  std::array<std::uint16_t, kCreditRing> ring_fccl{};
};

/// The side of a lane that receives.
struct alignas(32) InLane {
  CellAt head = kNowhere;
  CellAt tail = kNowhere;
  LaneAt next_ask = kNowhere;
  LaneAt wants = kNowhere;  // the output lane that it stands in line for
  std::uint16_t abr = 0;
  std::uint16_t free = 0;  // blocks
  std::uint16_t capacity = 0;
  std::uint16_t moving = 0;  // blocks of the packet that is leaving
  std::uint16_t told = 0;    // the newest FCCL for the far end
  bool busy = false;         // one is leaving
  bool unsent = false;       // `told` waits for the link, in an event
};

/// What moving a packet reads and writes of a port: one cache line.
struct alignas(64) NetPort {
  Picos busy_until = 0;  // the link that goes out
  Picos wake_at = kNever;
  std::uint64_t sent_bytes = 0;
  LaneAt link_lane = kNowhere;   // that the packet on the link holds a buffer of
  LaneAt cross_lane = kNowhere;  // input lane that crosses to here
  CellAt management_head = kNowhere;
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
  bool input_busy = false;  // its one way into the crossbar
  bool blocked = false;     // it has something for the link, and no credit

  [[nodiscard]] bool sends() const { return state == PortState::Active; }

  [[nodiscard]] bool takes() const {
    return state == PortState::Active || state == PortState::Armed;
  }
};

/// The rest of it.
struct PortExtra {
  Picos expire_at = kNever;
  Picos blocked_since = 0;  // where it is
  Picos blocked = 0;
  Picos head_life = kNever;  // HOQLife
  CellAt management_tail = kNowhere;
  std::uint32_t management_bytes = 0;
  VlArbiter arbiter;
};

/// One of several queues of a source, where it has several per VL.
struct SourceQueue {
  CellAt head = kNowhere;
  CellAt tail = kNowhere;
  std::uint32_t next = kNowhere;  // in the ring of its lane
};

struct NetHost {
  Picos emit_at = kNever;
  std::uint32_t waiting = 0;  // packets
  bool stalled = false;
};

/// Apart from what moves: hosts of all partitions are asked.
struct HostLid {
  std::uint16_t lid = 0;
  std::uint8_t lmc = 0;
};

struct NetNode {
  NodeTables tables;
  Picos routing_free = 0;
  bool on = false;
};

/// Notices that wait for the link, by host and VL.
struct NoticeQueue {
  CellAt head = kNowhere;
  CellAt tail = kNowhere;
};

static_assert(sizeof(Cell) == 64 && sizeof(OutLane) == 64 && sizeof(NetPort) == 64);
static_assert(sizeof(InLane) == 32 && sizeof(Wire) == 32);

/// Those of the whole fabric. Sizes stay.
struct NetState {
  NetState(const Wiring& wiring, const PacketOptions& options);

  std::vector<NetNode> nodes;
  PagedVector<NetPort> ports;
  PagedVector<PortExtra> extras;  // by port
  PagedVector<OutLane> outs;
  PagedVector<InLane> ins;
  std::vector<NetHost> hosts;
  std::vector<HostLid> host_lids;
  std::vector<SourceQueue> source_queues;  // by out lane of an adapter's port, then queue
  std::uint32_t queues_per_lane = 1;
  std::vector<Picos> allowed;      // by source, then destination; empty without static rates
  std::vector<HostNum> lid_owner;  // by LID
  std::vector<NoticeQueue> notices;
};

}  // namespace smd::sim
