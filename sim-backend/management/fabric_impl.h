// The inside of SimFabric, shared by its source files alone.
//
// A MAD is one pooled Packet that moves from event to event: Arrive (its head reaches a node) →
// SmiDone (the node's one SMI has served it) → SmaDone or Deliver, or out of a port and Arrive
// again. LID-routed transit of a switch costs no event of its own.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "sim-backend/agents/forwarding.h"
#include "sim-backend/agents/node_state.h"
#include "sim-backend/agents/sma.h"
#include "sim-backend/agents/traps.h"
#include "sim-backend/management/packet.h"
#include "sim-backend/management/sim_fabric.h"
#include "smd/base/rng.h"

namespace smd::sim {

/// One end of a cable.
struct LinkEnd {
  std::uint32_t peer_node = kNoNode;
  PortNum peer_port;
  bool pulled = false;  // the cable is there but carries nothing
  bool up = false;
  std::uint32_t epoch = 0;         // of both ends; new with every up and down: what was on the
                                   // wire is lost
  std::uint32_t vl15_waiting = 0;  // packets that came in here and wait for the SMI
  Duration serialisation{0};       // of one MAD
  TimePoint busy_until;
};

/// A client of QP0 and QP1 of one port.
struct FabricClient {
  std::uint32_t node = 0;
  PortNum port;
  bool is_sm = false;
  std::shared_ptr<const SimFabric::Receive> receive;
  std::vector<std::uint64_t> asked;  // ring of transaction ids, kept while several share the port
  std::size_t asked_at = 0;
};

struct SimNode {
  NodeState state;
  bool on = true;
  bool silent = false;
  std::uint32_t epoch = 0;     // changes when the node goes off
  Packet* smi_head = nullptr;  // served one at a time, in order of arrival
  Packet* smi_tail = nullptr;
  TimePoint sma_free;            // the agent too is one at a time
  std::uint32_t first_link = 0;  // index of port 0 in Impl::links_
  std::unique_ptr<TrapSender> traps;
  Timer reboot;
};

struct SimFabric::Impl {
  Impl(Runtime& runtime,
       FabricSpec spec,
       Timing timing,
       std::uint64_t seed,
       const AgentOptions& options);
  ~Impl();

  // fabric_impl.cpp: events and the ends of packets
  void schedule(TimePoint when, Packet* packet, Step step);
  void run_later(TimePoint when, Packet* packet, Step step);
  void run(Packet* packet);
  void drop(Packet* packet, std::uint64_t& counter);
  void trace(const Packet& packet);
  [[nodiscard]] LinkEnd& link(std::uint32_t node, PortNum port);
  [[nodiscard]] PortCounterRegs& counters(std::uint32_t node, PortNum port);

  // wire.cpp: ports and cables
  void send(Packet* packet, PortNum out, TimePoint earliest);
  void launch(Packet* packet, const LinkEnd& from, TimePoint head_arrives);
  static void head_to(Packet* packet, const LinkEnd& from);
  void on_arrive(Packet* packet);
  void arrive_smp(Packet* packet);
  void arrive_gmp(Packet* packet);
  void transit(Packet* packet, PortNum out);
  void drop_unroutable(Packet* packet);

  // smp_carrier.cpp: SMPs over a carrier's links
  void hand_over(Packet* packet, PortNum out, TimePoint earliest);
  Packet* find_carried(SmpCarrier::Ticket ticket);  // who carries it no more

  // service.cpp: what the nodes' own software does
  void enqueue_smi(Packet* packet);
  void serve_next(SimNode& node);
  void on_smi_done(Packet* packet);
  void pass_directed(Packet* packet);
  void route_local(Packet* packet);
  void reach_agent(Packet* packet);
  void on_sma_done(Packet* packet);
  void reply(Packet* packet);
  static void refuse(Packet& packet);  // makes it an answer: nobody here knows this attribute
  void reach_gsi(Packet* packet);
  void on_gsi_done(Packet* packet);
  void send_trap(std::uint32_t node, const TrapLetter& letter);
  void serve_congestion(Packet* packet);
  void report_m_key(SimNode& node, const Packet& packet, const Smp& smp);

  // clients.cpp
  void inject(ClientId id, const MadPacket& from);
  void reach_client(Packet* packet);
  void on_deliver(Packet* packet);
  [[nodiscard]] bool has_client(const Packet& packet) const;
  void refresh_is_sm(std::uint32_t node, PortNum port);
  void remember_request(FabricClient& client, std::uint64_t transaction_id);

  // links.cpp: link and node faults
  enum class Cause : std::uint8_t { Fault, Manager };

  void refresh_link(std::uint32_t node, PortNum port, Cause cause = Cause::Fault);
  void bring_up(std::uint32_t node, PortNum port, Cause cause);
  void bring_down(std::uint32_t node, PortNum port, Cause cause);
  void retrain(std::uint32_t node, PortNum port);
  void announce(std::uint32_t node, const LinkEnd& near, PortNum port, Cause cause);
  void note_change(std::uint32_t node);
  void plug(std::uint32_t node, PortNum port, std::uint32_t peer_node, PortNum peer_port);
  void unplug(std::uint32_t node, PortNum port);
  void switch_off(std::uint32_t node);
  void switch_on(std::uint32_t node);
  [[nodiscard]] bool can_be_up(std::uint32_t node, PortNum port);
  void tell(std::uint32_t node, FabricChange what) const;

  Runtime& runtime_;
  FabricSpec spec_;
  Timing timing_;
  AgentOptions options_;
  Rng rng_;
  WireFaults faults_;
  bool faulty_wires_ = false;
  bool instant_ = false;  // every time is zero: steps run in place instead of through the runtime
  std::vector<SimNode> nodes_;
  std::vector<LinkEnd> links_;
  PacketPool pool_;
  std::deque<Packet*> instant_queue_;
  bool draining_ = false;
  std::map<std::uint32_t, FabricClient> clients_;
  std::map<std::pair<std::uint32_t, std::uint8_t>, std::vector<std::uint32_t>> clients_at_;
  std::uint32_t next_client_ = 1;
  std::map<std::uint32_t, ChangeObserver> observers_;
  std::uint32_t next_observer_ = 1;
  std::uint32_t link_epoch_ = 0;
  SmpCarrier* carrier_ = nullptr;
  SmpCarrier::Ticket next_ticket_ = 1;
  std::map<SmpCarrier::Ticket, Packet*> carried_;
  std::function<void()> before_congestion_;
  std::function<void(std::uint32_t node)> before_performance_;
  SimFabricStats stats_;
  std::uint64_t trace_hash_ = 0xcbf29ce484222325u;
};

}  // namespace smd::sim
