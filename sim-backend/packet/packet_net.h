// A fabric that carries data packets: adapters that send, links with credits per VL, switches with
// buffers, crossbar and arbiters, tables copied from the registers of simulated nodes.
//
// Two to four events per packet and hop; no memory is taken once the busiest moment has passed. The
// same spec, options, registers and workload give the same run, event by event.
//
// What holds at every moment: generated + replicated = delivered + taken in + discarded + in
// flight; credits and buffers never below zero nor above what there is.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim-backend/packet/congestion_hooks.h"
#include "sim-backend/packet/data_net.h"
#include "sim-backend/packet/discard.h"
#include "sim-backend/packet/packet_options.h"
#include "sim-backend/packet/wiring.h"

namespace smd::sim {

struct NodeState;
class PacketNet;
class ProcessTeam;
class RouteChoice;
class Team;

/// A management packet on VL15: carried over one link, for somebody who knows where it goes next.
class ManagementHandler {
 public:
  virtual ~ManagementHandler() = default;

  /// Its first bit goes onto the link; its head is in at the far end at `head`.
  virtual void on_sent(std::uint64_t, Picos) {}

  /// Its head is in at `port` of `node`; the tail follows.
  virtual void on_head(
      std::uint64_t cookie, std::uint32_t node, PortNum port, Picos head, Picos tail) = 0;
  /// It was on a link that dropped.
  virtual void on_lost(std::uint64_t cookie) = 0;
};

/// Who takes in the data that is for port 0 of switches. Called by the partition of the switch.
class SwitchPortHandler {
 public:
  virtual ~SwitchPortHandler() = default;

  /// It is in whole, and its place in the buffer is free again. May call
  /// PacketNet::send_from_switch at the same switch.
  virtual void on_taken_in(PacketNet& net, std::uint32_t node, const Delivery& arrival) = 0;
};

/// A packet that a switch makes itself, at its port 0.
struct SwitchSending {
  std::uint32_t node = 0;
  PortNum out;         // 0: by the switch's tables
  HostNum source = 0;  // in whose name
  Picos ready = 0;     // when it enters the switch, as if its head came in then; not before now
  PacketRequest packet;
};

/// What stands in the buffers of one port and VL, in blocks of 64 bytes.
struct VlOccupancy {
  unsigned input_used = 0;
  unsigned input_capacity = 0;
  unsigned output_used = 0;
  unsigned output_capacity = 0;
  unsigned credit = 0;  // what may be sent to the far end
};

/// Bytes of a net's state, by what they are for: what is in use, in this process.
struct NetMemory {
  std::size_t nodes = 0;    // tables
  std::size_t ports = 0;    // and their cables
  std::size_t lanes = 0;    // of each port and VL, both sides
  std::size_t hosts = 0;    // and their queues
  std::size_t packets = 0;  // as many as there were at once
  std::size_t events = 0;   // likewise
  std::size_t fixed = 0;    // in a net of any size: who has which LID, buckets of the wheels
  std::size_t spare = 0;    // in use for nothing: arrays double when they are full

  /// What grows with the net.
  [[nodiscard]] std::size_t grown() const {
    return nodes + ports + lanes + hosts + packets + events;
  }

  [[nodiscard]] std::size_t total() const { return grown() + fixed + spare; }
};

class PacketNet final : public DataNet {
 public:
  /// Requires: check_spec(spec), check_options(options), check_queues(options, hosts) and
  /// check_partitions(spec, options) are empty. All ports are Down.
  ///
  /// `processes` simulate the net together, each some partitions, of which alone it has the state;
  /// null: this one does. They make the same calls in the same order. What is asked for then may
  /// need word from the others: audit(), find_deadlock(), occupancy(), port_use(), blocked_time(),
  /// sent_bytes(), has_sent(). Requires: a team for as many partitions, which outlives the net.
  PacketNet(const FabricSpec& spec, const PacketOptions& options, ProcessTeam* processes = nullptr);
  ~PacketNet() override;
  PacketNet(const PacketNet&) = delete;

  /// Null: data for port 0 of a switch is discarded. Outlives the net.
  void set_switch_port_handler(SwitchPortHandler* handler);

  /// What waits at port 0 takes no room of any buffer. Requires: of several processes, after
  /// start(), by the one whose partition has the switch, while it runs.
  void send_from_switch(const SwitchSending& sending);

  /// From now on the node works by these registers: tables, port states, VLs, MTUs. Packets on a
  /// link that goes down are lost. Requires: of several processes, before start() and once.
  void load(std::uint32_t node, const NodeState& registers);

  /// In place of load() for each node: no LIDs and no tables, every cabled port Active with this
  /// MTU, all VLs and power-on arbitration; SLs all go to VL 0. For packets that go by host number
  /// and a route choice. Requires: nothing was loaded; no congestion control that answers.
  void open_all(unsigned mtu);

  /// The node is dead: what it holds is thrown away. load() revives it. Requires: as load().
  void switch_off(std::uint32_t node);

  /// Requires: `workload` and `observer` outlive the net, or null.
  void set_workload(Workload* workload) override;
  void set_observer(PacketObserver* observer) override;
  /// Management packets need a net of one partition.
  void set_management_handler(ManagementHandler* handler);

  /// Requires: before the first packet; what they point to outlives the net.
  void set_congestion_control(const CongestionHooks& hooks);

  /// The same for each partition, which has hooks of its own: each is asked about flows and nodes
  /// of its partition alone. Requires: all of the same mechanism.
  void set_congestion_control(std::span<const CongestionHooks> hooks);

  /// Null: packets go by the tables. Requires: before the first packet; outlives the net; one
  /// partition where it looks far.
  void set_route_choice(const RouteChoice* choice);

  /// Who runs the partitions side by side; null: they take turns. Outlives the net. Requires: one
  /// process.
  void set_team(Team* team);

  /// Asks every host for its first packet.
  void start() override;

  /// Runs everything due up to `until`; the clock then shows `until`.
  void run_until(Picos until) override;

  /// A partition had more than options().most_packets: it has stood still since, and nothing that
  /// this net tells is right any more.
  [[nodiscard]] bool is_full() const;

  /// Runs one event; false when there is none. Requires: one partition.
  bool run_one();

  /// When the next event is due; kNever when there is none.
  [[nodiscard]] Picos next_event() const override;

  /// Not for those who are called while several partitions run.
  [[nodiscard]] Picos now() const override;

  [[nodiscard]] unsigned partitions() const override;
  [[nodiscard]] std::uint32_t partition_of(HostNum host) const override;

  /// Makes a packet at `source`, now.
  void send(HostNum source, const PacketRequest& sending) override;

  /// Asks the workload about `host` at `at`.
  void wake(HostNum host, Picos at) override;

  /// Puts a management packet of so many bytes into VL15 of a port, where it is ready at `ready`
  /// and whole at `tail_in`. False when there is no room for it, or the port is Down. Requires: the
  /// node is on, ready >= now.
  bool send_management(std::uint32_t node,
                       PortNum port,
                       unsigned bytes,
                       Picos ready,
                       Picos tail_in,
                       std::uint64_t cookie);

  /// Before this no management packet that waits at the port now has its head in at the far end.
  [[nodiscard]] Picos management_due(std::uint32_t node, PortNum port) const;

  [[nodiscard]] const NetStats& stats() const override;
  [[nodiscard]] const Wiring& wiring() const;
  [[nodiscard]] const PacketOptions& options() const;
  [[nodiscard]] HostNum host_count() const override;
  [[nodiscard]] Lid host_lid(HostNum host) const override;
  [[nodiscard]] std::uint32_t host_byte_time(HostNum host) const override;
  [[nodiscard]] bool has_sent(HostNum host) const override;
  [[nodiscard]] unsigned header_bytes() const override;
  [[nodiscard]] Occupancy occupancy() const override;
  [[nodiscard]] std::vector<PortUse> port_use() const override;

  /// Requires: one process.
  [[nodiscard]] VlOccupancy read_vl_occupancy(std::uint32_t node, PortNum port, Vl vl) const;

  /// How long the port has had packets to send and no credit for any of them.
  [[nodiscard]] Picos blocked_time(std::uint32_t node, PortNum port) const;

  /// Bytes that the port has sent, headers included.
  [[nodiscard]] std::uint64_t sent_bytes(std::uint32_t node, PortNum port) const;

  /// A circle of full buffers that nothing can open any more; empty when there is none.
  [[nodiscard]] std::vector<WaitingHop> find_deadlock(Picos end) const override;

  /// Counts everything again, from the queues. The first thing that does not hold, or nothing.
  [[nodiscard]] std::string audit() const override;

  /// Bytes that the state takes in this process.
  [[nodiscard]] std::size_t memory() const { return memory_use().total(); }

  [[nodiscard]] NetMemory memory_use() const;

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace smd::sim
