// What the registers of the simulated switches mean for data packets at this moment: which hosts
// reach each other, which channels can wait for each other in a circle, which entries send packets
// round for ever. Shares no code with the manager or its checks.
//
// A packet leaves a switch by its table's port when that port is Active and the other end at least
// Armed, never by the port it came in by, and never where SL2VL maps it to a VL that is not in use.
// Kept up to date change by change: a table write costs what it changes. While no channels wait for
// each other in a circle they have an order, and a change is judged by the dependencies that it may
// have added: those that respect the order close no circle.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim-backend/management/sim_fabric.h"

namespace smd::sim {

/// Ordered pairs of ports of different adapters.
struct Connectivity {
  std::uint64_t connected = 0;  // by SL 0, to the base LID, tables and ports as they are
  std::uint64_t possible = 0;   // some path of cables is up
  std::uint64_t total = 0;      // as drawn

  friend bool operator==(const Connectivity&, const Connectivity&) = default;

  /// Share of the possible pairs; 1 when there are none.
  [[nodiscard]] double level() const {
    return possible == 0 ? 1.0 : static_cast<double>(connected) / static_cast<double>(possible);
  }
};

/// Channels between switches that carry data.
struct DeadlockLevel {
  std::uint64_t channels = 0;
  std::uint64_t on_cycle = 0;  // of them, those on a cycle of the channel dependency graph

  friend bool operator==(const DeadlockLevel&, const DeadlockLevel&) = default;

  [[nodiscard]] double level() const {
    return channels == 0 ? 0.0 : static_cast<double>(on_cycle) / static_cast<double>(channels);
  }
};

class FabricOracle {
 public:
  /// Reads everything. The fabric outlives the oracle.
  explicit FabricOracle(const SimFabric& fabric);

  /// What SimFabric::on_change tells.
  void update(std::uint32_t node, FabricChange what);

  [[nodiscard]] const Connectivity& connectivity();
  [[nodiscard]] const DeadlockLevel& deadlock();

  /// One credit loop, "sw-0:5(VL0) -> sw-1:7(VL0) -> sw-0:5(VL0)"; empty when there is none.
  [[nodiscard]] std::string find_cycle();

  /// One forwarding loop, "lid 7: sw-0:5 -> sw-1:7 -> sw-0:5"; empty when there is none.
  [[nodiscard]] std::string find_loop();

 private:
  static constexpr unsigned kVls = 15;  // for data

  enum class Kind : std::uint8_t { Nothing, Switch, Host };

  /// What is at the other end of a port's cable.
  struct Peer {
    Kind kind = Kind::Nothing;
    std::uint32_t index = 0;  // the switch, or the host port
    std::uint8_t port = 0;

    friend bool operator==(const Peer&, const Peer&) = default;
  };

  struct Port {
    Peer peer;
    bool up = false;
    bool carries = false;  // data may leave here
  };

  struct Switch {
    std::uint32_t node = 0;
    std::uint32_t first = 0;  // place of its port 0 in ports_
    unsigned ports = 0;
    std::vector<std::uint8_t> table;  // by LID
    std::vector<std::uint64_t>
        sl_to_vl;                      // by in and out: SL to VL in nibbles; 15 where it is dropped
    std::vector<std::uint32_t> turns;  // by in and out: LIDs that come in here and leave there
  };

  struct Host {
    std::uint32_t node = 0;
    std::uint8_t port = 0;
    std::uint16_t lid = 0;
    std::uint8_t lmc = 0;
    Port link;
  };

  /// Where a packet is: inside a switch, by the port that it came in.
  struct Place {
    std::uint32_t sw = 0;
    std::uint8_t in = 0;
  };

  /// A data VL of a channel, which is named by the port that it leaves from.
  struct VirtualChannel {
    std::uint32_t port = 0;
    std::uint8_t vl = 0;
  };

  // fabric_oracle.cpp: reading the registers
  void rebuild();
  void read_switch(std::uint32_t node);
  void read_ports(std::uint32_t node);
  void read_port(std::uint32_t node, std::uint8_t port);
  void read_table(std::uint32_t sw);
  void read_sl_to_vl(std::uint32_t sw);
  void grow(std::size_t lids);
  void set_lid(Host& host, std::uint16_t lid, std::uint8_t lmc);
  void change_entry(std::uint32_t sw, std::uint16_t lid, std::uint8_t egress);
  void mark(std::uint16_t lid);
  void mark_through(std::uint32_t sw, std::uint8_t out);
  void mark_channel(std::uint32_t port);
  void mark_arriving(const Switch& at, std::uint8_t in);
  void count_row(std::uint64_t row, int by);
  [[nodiscard]] bool wired_as_known(std::uint32_t node) const;
  [[nodiscard]] Peer peer_of(std::uint32_t node, std::uint8_t port) const;
  [[nodiscard]] Port& port_at(std::uint32_t node, std::uint8_t port);

  [[nodiscard]] std::uint8_t entry(const Switch& sw, std::size_t lid) const {
    return lid < sw.table.size() ? sw.table[lid] : 0xff;
  }

  [[nodiscard]] static std::size_t turn(const Switch& sw, std::uint8_t in, std::uint8_t out) {
    return std::size_t{in} * (sw.ports + 1) + out;
  }

  [[nodiscard]] std::string name(std::uint32_t sw, std::uint8_t port) const;

  // oracle_connectivity.cpp
  enum class Outcome : std::uint8_t { Unknown, Walking, Arrives, Lost, Loops };

  void refresh_routes();
  void refresh_lid(std::uint16_t lid);
  void count_possible();
  void on_source(const Host& host, bool live);
  [[nodiscard]] Outcome follow(Place at, std::uint16_t lid);
  [[nodiscard]] std::uint32_t owner(std::uint16_t lid) const;
  [[nodiscard]] std::uint8_t leave(Place at, std::uint16_t lid) const;

  // oracle_cycle.cpp
  struct Graph {
    std::vector<VirtualChannel> virtual_channels;
    std::vector<std::uint32_t> first;  // into `next`, one more than there are virtual channels
    std::vector<std::uint32_t> next;
  };

  void refresh_graph();

  /// Every turn that is taken maps all SLs alike or drops them all: then the virtual channels are
  /// copies of one graph.
  [[nodiscard]] bool same_on_every_vl() const { return taken_rows_.size() <= 1; }

  [[nodiscard]] bool respects_order(std::uint32_t port) const;
  [[nodiscard]] Graph channels() const;
  [[nodiscard]] Graph virtual_channels_of_each() const;
  void find_components(const Graph& graph);
  void trace_cycle(const Graph& graph, const std::vector<std::uint32_t>& component);
  [[nodiscard]] std::vector<std::uint16_t> arriving_vls(std::uint32_t sw, std::uint8_t out) const;

  const SimFabric& fabric_;
  std::vector<Switch> switches_;
  std::vector<Host> hosts_;
  std::vector<Port> ports_;              // of the switches
  std::vector<std::uint32_t> place_;     // node: its switch, or its first host port
  std::vector<std::uint32_t> owner_;     // LID: host port
  std::vector<std::uint32_t> arrivals_;  // LID: sources that reach its owner
  std::vector<bool> dirty_;              // LID
  std::vector<std::uint16_t> dirty_lids_;
  std::map<std::uint16_t, Place> loops_;  // LID: a place on its loop
  std::vector<Outcome> outcomes_;         // by port: scratch of one LID
  std::vector<std::uint32_t> touched_;    // likewise
  Connectivity connectivity_;
  bool links_changed_ = true;
  std::map<std::uint64_t, std::uint64_t> taken_rows_;  // that drop not all: turns that are taken
  std::uint64_t channels_ = 0;                         // between switches, that carry data
  bool graph_changed_ = true;
  bool ordered_ = false;              // no circle, and `order_` falls along every dependency
  bool copies_ = false;               // the order is that of one graph for all VLs
  std::vector<std::uint32_t> order_;  // by port and VL; of VL 0 where the graphs are copies
  std::vector<std::uint32_t> changed_channels_;  // ports: from here dependencies may have come
  std::vector<bool> is_changed_;                 // port
  DeadlockLevel deadlock_;
  std::string cycle_;
};

// Each reads the whole fabric.
[[nodiscard]] double connectivity_level(const SimFabric& fabric);
[[nodiscard]] double deadlock_level(const SimFabric& fabric);
[[nodiscard]] std::string find_cycle(const SimFabric& fabric);
[[nodiscard]] std::string find_loop(const SimFabric& fabric);

/// Two linked end ports with one LID, "lid 7: host-1 and host-3"; empty when there are none.
[[nodiscard]] std::string find_shared_lid(const SimFabric& fabric);

}  // namespace smd::sim
