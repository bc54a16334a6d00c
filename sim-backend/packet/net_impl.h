// The inside of PacketNet, shared by its source files alone.
//
// A packet is a cell that moves from event to event. On a switch with output buffers:
//   Arrive (routed, in an input buffer) → the crossbar takes it → CrossDone (out of the input
//   buffer) → the link takes it → LinkDone (out of the output buffer) and Arrive at the next node.
// Without them the link takes it from the input buffer. Credits cost no event of their own: they
// lie in a ring at the sender until it looks, and wake it only when it starves. More than the ring
// holds, as on a cable that is long for its packets, come by events.
//
// A lane is one VL of one port: lane = port * vls + vl. All state belongs to one node, but for the
// ring of credits, which the far end of the link writes.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "sim-backend/packet/event_queue.h"
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

struct Cell {
  Picos generated = 0;
  Picos injected = 0;
  Picos ready = 0;    // for the link; of a waiting one also since when it is at the head
  Picos tail = 0;     // its last byte is in, at the node where it is
  Picos entered = 0;  // the switch where it is
  CellAt next = kNowhere;
  LaneAt in = kNowhere;   // the input lane that it is in, or on the way to
  LaneAt out = kNowhere;  // the output lane that it is to leave by
  HostNum source = 0;
  HostNum to = kNowhere;    // of a flow; nobody's where it is none
  std::uint32_t tag = 0;    // of a notice: its flow's SL
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

struct ManagementCell {
  std::uint64_t cookie = 0;
  Picos ready = 0;
  Picos tail = 0;
  CellAt next = kNowhere;
  std::uint32_t bytes = 0;
  std::uint16_t epoch = 0;
};

struct Credit {
  Picos at = 0;
  std::uint16_t fccl = 0;
};

inline constexpr unsigned kCreditRing = 6;

/// The side of a lane that sends.
struct OutLane {
  CellAt head = kNowhere;  // output buffer, or the packets of a source; with several queues per
  CellAt tail = kNowhere;  // source, a ring of those that hold something
  LaneAt asks_head = kNowhere;  // input lanes whose first packet wants to come out here
  LaneAt asks_tail = kNowhere;
  std::uint16_t fctbs = 0;
  std::uint16_t fccl = 0;
  std::uint16_t room = 0;  // blocks free in the output buffer
  std::uint8_t ring_at = 0;
  std::uint8_t ring_count = 0;
  std::array<Credit, kCreditRing> ring{};  // credits on their way here
};

/// The side of a lane that receives.
struct InLane {
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

struct NetPort {
  Picos busy_until = 0;  // the link that goes out
  Picos wake_at = kNever;
  Picos expire_at = kNever;
  Picos blocked_since = kNever;
  Picos blocked = 0;
  Picos head_life = kNever;  // HOQLife
  std::uint64_t sent_bytes = 0;
  LaneAt link_lane = kNowhere;   // that the packet on the link holds a buffer of
  LaneAt cross_lane = kNowhere;  // input lane that crosses to here
  CellAt management_head = kNowhere;
  CellAt management_tail = kNowhere;
  std::uint32_t management_bytes = 0;
  std::uint32_t arbitration = 0;  // tables
  std::uint16_t waiting = 0;      // VLs with something for the link, by bit
  std::uint16_t asking = 0;       // VLs with something for the crossbar
  std::uint16_t starved = 0;      // VLs that wait for a credit of which nothing is known yet
  std::uint16_t held = 0;         // VLs whose next packet had the link but no credit
  std::uint16_t link_blocks = 0;
  std::uint16_t epoch = 0;   // of the link: what was on it when it dropped is lost
  std::uint16_t serial = 0;  // of the port: what was in it when it was cleared is lost
  std::uint16_t mtu = 256;
  std::uint16_t lid = 0;
  std::uint16_t sequence = 0;  // of packets that it sends or puts off
  PortState state = PortState::Down;
  std::uint8_t lmc = 0;
  std::uint8_t vls = 1;
  std::uint8_t next_vl = 0;   // that the crossbar looks at first
  std::uint8_t last_vl = 0;   // that left the input port last
  bool link_running = false;  // a LinkDone is due
  bool cross_running = false;
  bool input_busy = false;  // its one way into the crossbar
  VlArbiter arbiter;

  [[nodiscard]] bool sends() const { return state == PortState::Active; }

  [[nodiscard]] bool takes() const {
    return state == PortState::Active || state == PortState::Armed;
  }
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

struct NetNode {
  NodeTables tables;
  Picos routing_free = 0;
  std::uint32_t crossbar_byte = 0;
  bool on = false;
};

/// Notices that wait for the link, by host and VL.
struct NoticeQueue {
  CellAt head = kNowhere;
  CellAt tail = kNowhere;
};

struct PacketNet::Impl final : SwitchQueues {
  Impl(PacketNet& self, const FabricSpec& spec, const PacketOptions& options);

  // net_impl.cpp: events, cells, counts
  void push(Picos at, NetStep step, std::uint32_t index, std::uint32_t argument);
  void push_cell(Picos at, NetStep step, PortAt port, std::uint16_t sequence, CellAt cell);
  void run(const Event& event);
  CellAt take_cell();
  void free_cell(CellAt at);
  void lose(CellAt at, std::uint32_t node, Discard cause);
  void digest(std::uint64_t place, std::uint64_t what);

  [[nodiscard]] PortAt port_of_lane(LaneAt lane) const { return lane / vls_; }

  [[nodiscard]] unsigned vl_of_lane(LaneAt lane) const { return lane % vls_; }

  [[nodiscard]] bool is_switch_port(PortAt port) const {
    return wiring_.is_switch[wiring_.wires[port].node] != 0;
  }

  // net_input.cpp: what arrives, and where it goes
  void on_arrive(PortAt port, CellAt at);
  void accept(PortAt port, CellAt at);
  void forward(PortAt port, CellAt at);
  void replicate(PortAt port, CellAt at);
  [[nodiscard]] bool choose_lane(PortAt in, CellAt at, unsigned out);
  void on_enqueue(CellAt at);
  void append_input(CellAt at);
  void serve_head(LaneAt lane);
  void drop_input(CellAt at, Discard cause);
  void on_free_input(CellAt at);
  void on_deliver(PortAt port, CellAt at);

  // net_credits.cpp
  void release(LaneAt lane, unsigned blocks);
  void send_credit(LaneAt lane);
  void pass_credit(LaneAt lane, Picos arrives);
  void on_credit_leaves(LaneAt lane, std::uint16_t epoch);
  void on_credit_arrives(LaneAt lane, std::uint32_t argument);

  /// Takes in the credits that have arrived.
  void take_credits(OutLane& lane) const {
    while (lane.ring_count > 0 && lane.ring[lane.ring_at].at <= now_) {
      lane.fccl = lane.ring[lane.ring_at].fccl;
      lane.ring_at = static_cast<std::uint8_t>((lane.ring_at + 1u) % kCreditRing);
      --lane.ring_count;
    }
  }

  void reset_credits(PortAt port);

  // net_crossbar.cpp
  void try_cross(PortAt port);
  [[nodiscard]] bool grant_cross(PortAt port, unsigned vl);
  void start_cross(LaneAt from, PortAt port, unsigned vl);
  void on_cross_done(PortAt port, std::uint16_t serial);
  void input_freed(LaneAt lane);
  CellAt pop_input(InLane& lane);
  void remove_ask(OutLane& out, LaneAt before, LaneAt lane);

  // net_link.cpp
  void try_link(PortAt port);
  [[nodiscard]] CellAt find_candidate(PortAt port, unsigned vl, Picos& wake);
  CellAt take_candidate(PortAt port, unsigned vl, CellAt at);
  void start_link(PortAt port, unsigned vl, CellAt at);
  void on_link_done(PortAt port, std::uint16_t serial);
  void wake_at(PortAt port, Picos when);
  void on_expire(PortAt port);
  void watch_age(PortAt port);
  void drain(PortAt port);

  // net_management.cpp
  [[nodiscard]] bool try_management(PortAt port);
  void on_management(PortAt port, CellAt at);
  void drop_management(PortAt port);

  // net_source.cpp
  void send(HostNum source, const Sending& sending);
  void on_emit(HostNum host, Picos at);
  void wake_host(HostNum host, Picos at);
  void push_source(PortAt port, LaneAt lane, CellAt at);
  [[nodiscard]] CellAt find_source(PortAt port, LaneAt lane, Picos& wake);
  CellAt pop_source(PortAt port, LaneAt lane, CellAt at);
  [[nodiscard]] Picos allowed_at(HostNum host, std::uint16_t dlid) const;

  // net_congestion.cpp: what happens where the hooks are
  [[nodiscard]] Flow flow_of(const Cell& cell) const {
    return {.source = cell.source, .destination = cell.to, .sl = cell.sl};
  }

  [[nodiscard]] MarkPoint mark_point(const Cell& cell, LaneAt buffer) const;
  void mark_input(CellAt at);
  void mark_output(CellAt at);
  void mark_departure(PortAt port, unsigned vl, CellAt at);
  void answer(HostNum host, const Cell& data);
  void push_notice(PortAt port, unsigned vl, CellAt at);
  [[nodiscard]] CellAt first_notice(PortAt port, unsigned vl) const;
  void pop_notice(PortAt port, unsigned vl);
  void drop_notices(PortAt port, unsigned vl, Discard cause);
  void on_notice(HostNum host, const Cell& notice);
  void lose_notice(const Cell& cell);
  void tell_loss(const Flow& flow);
  void on_told(HostNum source, std::uint32_t argument);
  void list_wanted(std::uint32_t input, std::vector<std::uint32_t>& out) const override;
  [[nodiscard]] unsigned count_bound(std::uint32_t output) const override;

  // net_change.cpp: registers and deaths
  void load(std::uint32_t node, const NodeState& registers);
  void load_port(PortAt port, const NodeState& registers, unsigned number);
  void set_state(PortAt port, PortState state);
  void cut(PortAt port);
  void clear_node(std::uint32_t node);
  void clear_lane(LaneAt lane);
  [[nodiscard]] std::uint32_t share_arbitration(ArbitrationTables tables);

  // net_audit.cpp, net_deadlock.cpp
  [[nodiscard]] std::string audit() const;
  [[nodiscard]] std::vector<WaitingHop> find_deadlock() const;
  [[nodiscard]] std::uint16_t known_limit(LaneAt out) const;

  PacketNet& self_;
  PacketOptions options_;
  Wiring wiring_;
  unsigned vls_;
  Picos longest_cable_ = 0;  // its propagation
  Picos input_latency_ = 0;  // from a head's arrival until it may ask for the crossbar
  Picos now_ = 0;
  EventWheel queue_;
  std::vector<NetNode> nodes_;
  std::vector<NetPort> ports_;
  std::vector<OutLane> outs_;
  std::vector<InLane> ins_;
  std::vector<NetHost> hosts_;
  std::vector<Cell> cells_;
  CellAt free_cells_ = kNowhere;
  std::vector<ManagementCell> management_;
  CellAt free_management_ = kNowhere;
  std::vector<SourceQueue> source_queues_;  // by out lane of an adapter's port, then queue
  std::uint32_t queues_per_lane_ = 1;
  std::vector<Picos> allowed_;      // by source, then destination; empty without static rates
  std::vector<HostNum> lid_owner_;  // by LID
  std::vector<ArbitrationTables> arbitration_;
  std::vector<LaneAt> expired_;       // scratch
  std::vector<NoticeQueue> notices_;  // empty without an echo
  CongestionHooks hooks_;
  NetStats stats_;
  Workload* workload_ = nullptr;
  PacketObserver* observer_ = nullptr;
  ManagementHandler* management_handler_ = nullptr;
};

}  // namespace smd::sim
