// A fabric that carries data packets: adapters that send, links with credits per VL, switches with
// buffers, crossbar and arbiters, tables copied from the registers of simulated nodes.
//
// Two to four events per packet and hop; no memory is taken once the busiest moment has passed. The
// same spec, options, registers and workload give the same run, event by event.
//
// What holds at every moment: generated + replicated = delivered + discarded + in flight; credits
// and buffers never below zero nor above what there is.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim-backend/packet/congestion_hooks.h"
#include "sim-backend/packet/discard.h"
#include "sim-backend/packet/packet_options.h"
#include "sim-backend/packet/wiring.h"

namespace smd::sim {

struct NodeState;
class RouteChoice;
class Team;

/// One packet to make.
struct PacketRequest {
  Lid dlid;
  std::uint8_t sl = 0;
  std::uint16_t payload = 0;  // bytes, at most 4,096
  std::uint32_t tag = 0;      // the workload's own
};

/// A packet that has arrived whole.
struct Delivery {
  HostNum source = 0;
  HostNum destination = 0;
  Picos generated = 0;
  Picos injected = 0;  // its first bit went onto the first link
  Picos head = 0;      // its first bit came in
  Picos tail = 0;      // its last bit: now
  std::uint32_t tag = 0;
  std::uint16_t payload = 0;
  std::uint8_t sl = 0;
  std::uint8_t hops = 0;  // switches passed
  Marks marks = 0;
  std::uint8_t partition = 0;  // that simulates the destination
};

struct Loss {
  HostNum source = 0;
  std::uint32_t node = 0;  // where it was thrown away
  Discard cause{};
  Picos at = 0;
  Picos generated = 0;
  std::uint32_t tag = 0;
  std::uint8_t partition = 0;  // that simulates `node`
};

class PacketNet;

/// Who makes packets. Called at exact times and in a fixed order; may call PacketNet::send and
/// wake.
class Workload {
 public:
  virtual ~Workload() = default;

  /// When the host is first asked; kNever for one that only answers what it gets.
  [[nodiscard]] virtual Picos first(HostNum host) = 0;

  /// Sends what is due; returns when to ask again (kNever: when woken).
  virtual Picos emit(PacketNet& net, HostNum host, Picos now) = 0;

  virtual void on_delivered(PacketNet&, const Delivery&) {}

  /// What it does for a host follows from that host's own calls and arrivals, by whose times it
  /// goes: several threads may ask about hosts of their own. Others need a net of one partition.
  [[nodiscard]] virtual bool splits() const { return false; }

  /// When it sends is given: AdapterModel::most_waiting holds nothing of it back.
  [[nodiscard]] virtual bool keeps_times() const { return false; }
};

/// Who looks on. Where there are several partitions on threads, each calls from its own: keep apart
/// what `partition` tells apart, and join it in that order.
class PacketObserver {
 public:
  virtual ~PacketObserver() = default;

  virtual void on_delivered(const Delivery&) {}

  virtual void on_discarded(const Loss&) {}
};

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

struct NetStats {
  std::uint64_t generated = 0;
  std::uint64_t replicated = 0;  // copies of multicast packets beyond the first
  std::uint64_t delivered = 0;
  std::uint64_t delivered_bytes = 0;  // payload
  DiscardCounts discarded{};
  std::uint64_t in_flight = 0;  // waiting at their source among them
  std::uint64_t waiting = 0;    // those
  std::uint64_t injected = 0;   // first bit on the first link
  std::uint64_t hops = 0;       // packets forwarded, by switch
  std::uint64_t events = 0;     // but those in which a port only looks again, or a trace is read
  std::uint64_t vl15_sent = 0;
  std::uint64_t vl15_dropped = 0;
  std::uint64_t marked = 0;  // of those delivered
  FeedbackStats feedback;
  std::uint64_t impossible_marks = 0;  // packets with marks that Marking::may_occur denies
  std::uint64_t digest = 0;            // of every delivery and discard, with its time and place

  [[nodiscard]] std::uint64_t discards() const;
  NetStats& operator+=(const NetStats& other);
};

/// One step of a circle of waiting: this buffer is full, and its first packet waits for the next.
struct WaitingHop {
  std::uint32_t node = 0;
  PortNum port;  // that the packet wants to leave by
  Vl vl;         // on which
};

/// What stands in the buffers of one port and VL, in blocks of 64 bytes.
struct VlOccupancy {
  unsigned input_used = 0;
  unsigned input_capacity = 0;
  unsigned output_used = 0;
  unsigned output_capacity = 0;
  unsigned credit = 0;  // what may be sent to the far end
};

class PacketNet {
 public:
  /// Requires: check_spec(spec), check_options(options) and check_partitions(spec, options) are
  /// empty. All ports are Down.
  PacketNet(const FabricSpec& spec, const PacketOptions& options);
  ~PacketNet();
  PacketNet(const PacketNet&) = delete;

  /// From now on the node works by these registers: tables, port states, VLs, MTUs. Packets on a
  /// link that goes down are lost.
  void load(std::uint32_t node, const NodeState& registers);

  /// The node is dead: what it holds is thrown away. load() revives it.
  void switch_off(std::uint32_t node);

  /// Requires: `workload` and `observer` outlive the net, or null.
  void set_workload(Workload* workload);
  void set_observer(PacketObserver* observer);
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

  /// Who runs the partitions side by side; null: they take turns. Outlives the net.
  void set_team(Team* team);

  /// Asks every host for its first packet.
  void start();

  /// Runs everything due up to `until`; the clock then shows `until`.
  void run_until(Picos until);

  /// Runs one event; false when there is none. Requires: one partition.
  bool run_one();

  /// When the next event is due; kNever when there is none.
  [[nodiscard]] Picos next_event() const;

  /// Not for those who are called while several partitions run.
  [[nodiscard]] Picos now() const;

  [[nodiscard]] unsigned partitions() const;
  [[nodiscard]] std::uint32_t partition_of(HostNum host) const;

  /// Makes a packet at `source`, now.
  void send(HostNum source, const PacketRequest& sending);

  /// Asks the workload about `host` at `at`.
  void wake(HostNum host, Picos at);

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

  [[nodiscard]] const NetStats& stats() const;
  [[nodiscard]] const Wiring& wiring() const;
  [[nodiscard]] const PacketOptions& options() const;
  [[nodiscard]] HostNum host_count() const;
  [[nodiscard]] Lid host_lid(HostNum host) const;

  [[nodiscard]] VlOccupancy read_vl_occupancy(std::uint32_t node, PortNum port, Vl vl) const;

  /// How long the port has had packets to send and no credit for any of them.
  [[nodiscard]] Picos blocked_time(std::uint32_t node, PortNum port) const;

  /// Bytes that the port has sent, headers included.
  [[nodiscard]] std::uint64_t sent_bytes(std::uint32_t node, PortNum port) const;

  /// A circle of full buffers that nothing can open any more; empty when there is none.
  [[nodiscard]] std::vector<WaitingHop> find_deadlock() const;

  /// Counts everything again, from the queues. The first thing that does not hold, or nothing.
  [[nodiscard]] std::string audit() const;

  /// Bytes that all state takes.
  [[nodiscard]] std::size_t memory() const;

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

/// "sw-0:3(VL0) -> sw-1:2(VL0) -> …".
[[nodiscard]] std::string print_deadlock(const FabricSpec& spec,
                                         const std::vector<WaitingHop>& circle);

}  // namespace smd::sim
