// The inside of PacketNet: its state, the partitions that work on it, and their windows of time.
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "sim-backend/kernel/process_team.h"
#include "sim-backend/packet/net_part.h"

namespace smd::sim {

/// An input VL at the end of a cable between two processes.
struct RemoteBuffer {
  PortVl at = 0;
  std::uint16_t advertised = 0;  // the newest FCCL
  std::uint16_t free = 0;        // blocks
  std::uint32_t on_link = 0;     // blocks of packets on their way to it
  std::uint32_t is_up = 0;       // its port is not Down; a word, so that nothing lies between
};

/// Requires: it is there.
[[nodiscard]] RemoteBuffer find_remote_buffer(std::span<const RemoteBuffer> sorted, PortVl at);

/// What a port has done so far.
struct PortTotal {
  std::uint64_t sent_bytes = 0;
  Picos blocked = 0;
};

struct PacketNet::Impl {
  Impl(PacketNet& self,
       const FabricSpec& spec,
       const PacketOptions& options,
       ProcessTeam* processes);

  [[nodiscard]] NetPart& part_of(std::uint32_t node) const { return *parts_[part_of_node_[node]]; }

  [[nodiscard]] NetPart& part_of_host(HostNum host) const {
    return part_of(wiring_.wires[wiring_.host_port[host]].node);
  }

  [[nodiscard]] bool is_split() const { return parts_.size() > 1; }

  // net_windows.cpp
  void link_partitions();
  void run_windows(Picos until);
  void run_team(Picos until);

  // net_share.cpp: where several processes simulate the net. All of them make the same calls.
  void join_processes();
  void share_parts();
  [[nodiscard]] bool is_here(unsigned part) const;
  [[nodiscard]] bool has_same_home(unsigned one, unsigned other) const;
  [[nodiscard]] std::vector<bool> nodes_here() const;
  [[nodiscard]] Picos next_due() const;

  /// What `list(number)` has of each partition, asked in the partition's process: of one after the
  /// other, the same in all processes.
  template <class T, class List>
  [[nodiscard]] std::vector<T> gather(List list) const;

  /// In the order of `at`. `on_link`: blocks on their way, by input VL; empty: not asked for.
  [[nodiscard]] std::vector<RemoteBuffer> gather_remote_buffers(
      std::span<const std::uint32_t> on_link) const;

  [[nodiscard]] PortTotal own_total(PortAt port) const;
  [[nodiscard]] PortTotal port_total(PortAt port) const;
  [[nodiscard]] bool has_sent(HostNum host) const;
  void gather_totals() const;

  /// Calls `visit` with each port of the partition's nodes.
  template <class Visit>
  void visit_ports(unsigned part, Visit visit) const {
    for (std::uint32_t node = 0; node < part_of_node_.size(); ++node) {
      if (part_of_node_[node] != part) continue;
      const PortAt end = wiring_.begin_of(node + 1);
      for (PortAt port = wiring_.begin_of(node); port < end; ++port) visit(port);
    }
  }

  /// Of several processes: the first load() of a node, which tells the others that its links come
  /// up, is the only one.
  void note_loaded(std::uint32_t node);

  /// Whether what is told to a node from outside reaches every process.
  [[nodiscard]] bool takes_changes() const { return processes_ == nullptr || !started_; }

  // net_audit.cpp, net_deadlock.cpp
  [[nodiscard]] std::string audit() const;
  [[nodiscard]] Occupancy occupancy() const;
  [[nodiscard]] std::vector<WaitingHop> find_deadlock(Picos end) const;
  [[nodiscard]] const NetStats& stats() const;

  /// The newest FCCL, on its way or here. `far`: of those that other processes have.
  [[nodiscard]] std::uint16_t known_limit(PortVl out, std::span<const RemoteBuffer> far) const;

  [[nodiscard]] PortAt port_of_vl(PortVl port_vl) const { return port_vl / vls_; }

  [[nodiscard]] unsigned vl_of(PortVl port_vl) const { return port_vl % vls_; }

  [[nodiscard]] bool is_switch_port(PortAt port) const { return wiring_.wires[port].on_switch; }

  /// A packet that stands in a queue of this VL's node.
  [[nodiscard]] const DataPacket& packet(PortVl port_vl, PacketAt at) const {
    return part_of(wiring_.wires[port_of_vl(port_vl)].node).state.packets[at];
  }

  PacketOptions options_;
  ProcessTeam* processes_ = nullptr;  // null: this one alone
  std::vector<std::uint32_t> part_of_node_;
  Wiring wiring_;
  unsigned vls_;
  NetState state_;
  std::vector<std::unique_ptr<NetPart>> parts_;
  std::vector<PartState*> part_states_;  // of the same
  std::vector<std::unique_ptr<PartitionLink>> links_;
  Picos lookahead_ = kNever;          // the least time between partitions
  Team* team_ = nullptr;              // of several processes `processes_`
  std::vector<Picos> due_elsewhere_;  // of several: when the next event of a partition is due
  std::vector<bool> loaded_;          // of several: by node
  bool started_ = false;
  bool runs_ = false;     // inside run_until()
  mutable NetStats sum_;  // of all partitions

  // Of several processes: what the ports and hosts of all have done, as of the last run_until().
  mutable bool has_totals_ = false;
  mutable std::vector<PortTotal> totals_;  // by port
  mutable std::vector<bool> sent_;         // by host
};

template <class T, class List>
std::vector<T> PacketNet::Impl::gather(List list) const {
  static_assert(std::is_trivially_copyable_v<T>);
  const auto count = static_cast<unsigned>(parts_.size());
  std::vector<T> all;
  Processes::Bytes bytes;
  // A process has neighbours: one message from each.
  for (unsigned first = 0, end = 0; first < count; first = end) {
    std::vector<T> own;
    for (end = first; end < count && has_same_home(first, end); ++end) {
      if (!is_here(end)) continue;
      std::vector<T> of_part = list(end);
      if (own.empty()) {
        own = std::move(of_part);
      } else {
        own.insert(own.end(), of_part.begin(), of_part.end());
      }
    }
    if (processes_ == nullptr) return own;
    bytes.resize(own.size() * sizeof(T));
    if (!own.empty()) std::memcpy(bytes.data(), own.data(), bytes.size());
    processes_->share_all(first, bytes);
    const std::size_t before = all.size();
    all.resize(before + bytes.size() / sizeof(T));
    if (!bytes.empty()) std::memcpy(all.data() + before, bytes.data(), bytes.size());
  }
  return all;
}

}  // namespace smd::sim
