// The inside of PacketNet: its state, the partitions that work on it, and their windows of time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim-backend/packet/net_part.h"

namespace smd::sim {

struct PacketNet::Impl {
  Impl(PacketNet& self, const FabricSpec& spec, const PacketOptions& options);

  [[nodiscard]] NetPart& part_of(std::uint32_t node) const { return *parts_[part_of_node_[node]]; }

  [[nodiscard]] NetPart& part_of_host(HostNum host) const {
    return part_of(wiring_.wires[wiring_.host_port[host]].node);
  }

  [[nodiscard]] bool is_split() const { return parts_.size() > 1; }

  // net_windows.cpp
  void link_partitions();
  void run_windows(Picos until);
  void run_team(Picos until);

  // net_share.cpp: where several processes simulate the net.
  void join_processes(ProcessTeam& team);
  void share_parts();
  [[nodiscard]] bool is_here(unsigned part) const;
  [[nodiscard]] Picos next_due() const;

  /// Whether what is told to a node from outside reaches every process.
  [[nodiscard]] bool takes_changes() const { return processes_ == nullptr || !started_; }

  // net_audit.cpp, net_deadlock.cpp
  [[nodiscard]] std::string audit() const;
  [[nodiscard]] std::vector<WaitingHop> find_deadlock() const;
  [[nodiscard]] std::uint16_t known_limit(PortVl out) const;
  [[nodiscard]] const NetStats& stats() const;

  [[nodiscard]] PortAt port_of_vl(PortVl port_vl) const { return port_vl / vls_; }

  [[nodiscard]] unsigned vl_of(PortVl port_vl) const { return port_vl % vls_; }

  [[nodiscard]] bool is_switch_port(PortAt port) const { return wiring_.wires[port].on_switch; }

  /// A packet that stands in a queue of this VL's node.
  [[nodiscard]] const DataPacket& packet(PortVl port_vl, PacketAt at) const {
    return part_of(wiring_.wires[port_of_vl(port_vl)].node).state.packets[at];
  }

  PacketOptions options_;
  std::vector<std::uint32_t> part_of_node_;
  Wiring wiring_;
  unsigned vls_;
  NetState state_;
  std::vector<std::unique_ptr<NetPart>> parts_;
  std::vector<PartState*> part_states_;  // of the same
  std::vector<std::unique_ptr<PartitionLink>> links_;
  Picos lookahead_ = kNever;  // the least time between partitions
  Team* team_ = nullptr;
  ProcessTeam* processes_ = nullptr;  // the same, where they are several processes'
  std::vector<Picos> due_elsewhere_;  // then: when the next event of a partition is due
  bool started_ = false;
  bool runs_ = false;     // inside run_until()
  mutable NetStats sum_;  // of all partitions
};

}  // namespace smd::sim
