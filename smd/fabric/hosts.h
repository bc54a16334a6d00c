// Which adapters are of one host: hosts of accelerators have four to eight of them.
//
// SystemImageGUID says which nodes are of one system (NodeInfo, IBA 14.2.5.3). 0 is none: such an
// adapter is a host by itself. A system that has a switch, as a chassis or a switch with its
// aggregation node, is no host: its adapters are hosts by themselves. Cards of which each has a
// SystemImageGUID of its own are as many hosts; nothing else that they say is believed.
//
// Hosts and adapters are numbered by the order of nodes and by what adapters are called, never by
// GUID.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "smd/fabric/fabric.h"

namespace smd {

inline constexpr std::uint32_t kNoHost = 0xffffffff;

/// What a node says of the system that it is part of.
struct SystemNode {
  NodeType type = NodeType::Ca;
  bool is_host = true;  // of an adapter: it sends data
  Guid system;
  std::string_view description;
};

/// Arrays by node, in the order of what was grouped.
struct HostAdapters {
  std::vector<std::uint32_t> host;    // 0 to hosts - 1, by their first adapters; kNoHost of others
  std::vector<std::uint32_t> device;  // 1 of "host-00003 mlx5_1"; where a host's adapters are not
                                      // all called so, each differently: their order
  std::vector<std::uint32_t> adapters;  // by host: how many it has
};

[[nodiscard]] HostAdapters group_adapters(std::span<const SystemNode> nodes);

/// Of adapters that send data.
[[nodiscard]] HostAdapters group_adapters(const Fabric& fabric);

struct HostCounts {
  std::uint64_t hosts = 0;
  std::uint64_t least = 0, most = 0;  // adapters of a host

  friend bool operator==(const HostCounts&, const HostCounts&) = default;
};

[[nodiscard]] HostCounts count_hosts(const HostAdapters& adapters);
[[nodiscard]] HostCounts count_hosts(const Fabric& fabric);

/// "16 hosts with 4 adapters each", "7 hosts with 1 to 6 adapters"; "16 hosts" where each has one.
[[nodiscard]] std::string print_hosts(const HostCounts& counts);

/// "64 adapters (16 hosts with 4 adapters each)"; as without `hosts` where each has one.
[[nodiscard]] std::string print_adapters(std::size_t adapters,
                                         const AdapterCounts& no_data,
                                         const HostCounts& hosts);

/// A port of an adapter, by its place among the nodes that were grouped.
struct AdapterPort {
  std::uint32_t node = 0;
  PortNum port;
};

/// Arrays by port, in the order that they were given in.
struct HostPorts {
  std::vector<std::uint32_t> host;  // equal: of one host with several adapters
  std::vector<std::uint32_t> rail;  // 0 to rails - 1: those of one device and port number
  std::uint32_t hosts = 0;
  std::uint32_t rails = 0;

  /// No host has several adapters.
  [[nodiscard]] bool are_apart() const { return hosts == host.size(); }
};

/// Ports of a host's only adapter count as hosts of their own; so do those of nodes without a host.
[[nodiscard]] HostPorts group_ports(const HostAdapters& adapters,
                                    std::span<const AdapterPort> ports);

/// Of ports of adapters, each at most once.
[[nodiscard]] HostPorts group_ports(const Fabric& fabric, std::span<const PortIdx> ports);

}  // namespace smd
