// One partition of a net, or all of it: the kernel that moves packets. Shared by its source files
// alone.
//
// A packet is a cell that moves from event to event. On a switch with output buffers:
//   Arrive (routed, in an input buffer) → the crossbar takes it → CrossDone (out of the input
//   buffer) → the link takes it → LinkDone (out of the output buffer) and Arrive at the next node.
// Without them the link takes it from the input buffer. Credits cost no event of their own: they
// lie in a ring at the sender until it looks, and wake it only when it starves. More than the ring
// holds, as on a cable that is long for its packets, come by events, and so do those that come from
// another partition.
#pragma once

#include <span>
#include <vector>

#include "sim-backend/packet/net_event.h"
#include "sim-backend/packet/partition_link.h"

namespace smd::sim {

struct NetPart final : SwitchQueues {
  /// Works on the nodes of partition `number`; the others' arrays it only reads, if at all.
  NetPart(PacketNet& self,
          NetState& state,
          const Wiring& wiring,
          const PacketOptions& options,
          const std::vector<std::uint32_t>& part_of_node,
          unsigned number);

  /// Runs what is due before `horizon`.
  void run_before(Picos horizon);

  /// When its next event is due, or one that it has posted since it closed its links.
  [[nodiscard]] Picos next_due();

  // net_crossing.cpp: what goes to other partitions, and comes from them
  void post(std::uint32_t node, const Crossing& crossing);
  void post_cell(Picos at, NetStep step, PortAt port, std::uint16_t sequence, CellAt cell);
  void close_links();
  void take_in();

  // net_part.cpp: events, cells, counts
  void push(Picos at, NetStep step, std::uint32_t index, std::uint32_t argument);
  void push_cell(Picos at, NetStep step, PortAt port, std::uint16_t sequence, CellAt cell);
  void run(const Event& event);
  CellAt take_cell();
  void free_cell(CellAt at);
  void lose(CellAt at, std::uint32_t node, Discard cause);
  void digest(std::uint64_t place, std::uint64_t what);

  // net_ahead.cpp: for the processor's caches alone
  void look_ahead(std::span<const Event> soon) const;
  void ask_for_route(const Cell& cell, PortAt port) const;

  [[nodiscard]] PortAt port_of_lane(LaneAt lane) const { return lane / vls_; }

  [[nodiscard]] unsigned vl_of_lane(LaneAt lane) const { return lane % vls_; }

  [[nodiscard]] bool is_switch_port(PortAt port) const { return wiring_.wires[port].on_switch; }

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
    while (lane.ring_count > 0 && lane.ring_at[0] <= now_) {
      lane.fccl = lane.ring_fccl[0];
      --lane.ring_count;
      for (std::size_t i = 0; i < lane.ring_count; ++i) {
        lane.ring_at[i] = lane.ring_at[i + 1];
        lane.ring_fccl[i] = lane.ring_fccl[i + 1];
      }
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
  [[nodiscard]] unsigned choose_vl(PortAt port, std::uint16_t available);
  [[nodiscard]] CellAt find_candidate(PortAt port, unsigned vl, Picos& wake);
  CellAt take_candidate(PortAt port, unsigned vl, CellAt at);
  void start_link(PortAt port, unsigned vl, CellAt at);
  void on_link_done(PortAt port, std::uint16_t serial);
  void wake_at(PortAt port, Picos when);
  void on_expire(PortAt port);
  void watch_age(PortAt port);
  void drain(PortAt port);

  // net_management.cpp
  bool send_management(
      PortAt port, unsigned bytes, Picos ready, Picos tail_in, std::uint64_t cookie);
  [[nodiscard]] Picos management_due(PortAt port) const;
  [[nodiscard]] bool try_management(PortAt port);
  void on_management(PortAt port, CellAt at);
  void drop_management(PortAt port);

  // net_source.cpp
  void send(HostNum source, const PacketRequest& sending);
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
  void on_notice(HostNum host, const Cell& notice, std::uint32_t sl);
  void lose_notice(const Cell& cell, std::uint32_t sl);
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
  [[nodiscard]] std::uint16_t share_arbitration(ArbitrationTables tables);

  PacketNet& self_;
  unsigned number_;
  PacketOptions options_;
  const Wiring& wiring_;
  unsigned vls_;
  Picos longest_cable_ = 0;  // its propagation
  Picos input_latency_ = 0;  // from a head's arrival until it may ask for the crossbar
  Picos now_ = 0;
  EventWheel queue_;
  bool looks_ahead_ = false;
  std::span<NetNode> nodes_;
  std::span<NetPort> ports_;
  std::span<PortExtra> extras_;
  std::span<OutLane> outs_;
  std::span<InLane> ins_;
  std::span<NetHost> hosts_;
  std::span<HostLid> host_lids_;
  PagedVector<Cell> cells_;
  PagedVector<Origin> origins_;  // of the same packets
  CellAt free_cells_ = kNowhere;
  std::vector<ManagementCell> management_;
  CellAt free_management_ = kNowhere;
  std::span<SourceQueue> source_queues_;
  std::uint32_t queues_per_lane_ = 1;
  std::span<Picos> allowed_;
  std::span<HostNum> lid_owner_;
  std::vector<ArbitrationTables> arbitration_;
  std::vector<LaneAt> expired_;     // scratch
  std::span<NoticeQueue> notices_;  // empty without an echo
  CongestionHooks hooks_;
  NetStats stats_;
  Workload* workload_ = nullptr;
  bool times_given_ = false;  // Workload::keeps_times
  PacketObserver* observer_ = nullptr;
  ManagementHandler* management_handler_ = nullptr;
  const std::vector<std::uint32_t>& part_of_node_;
  std::vector<PartitionLink*> outgoing_;  // by partition; null to itself
  std::vector<PartitionLink*> incoming_;
  Picos least_posted_ = kNever;
};

}  // namespace smd::sim
