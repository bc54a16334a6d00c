// An immutable snapshot of the subnet as discovered: struct of arrays, dense handles, identity by
// GUID.
//
// Every node, switch or not, has ports 0 … num_ports in one contiguous range, so port_of(node, p)
// is an addition. Port 0 of a channel adapter exists and is never connected. Parallel links,
// loopback links and islands are normal.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "smd/base/index_vector.h"
#include "smd/base/shared.h"
#include "smd/ib/types.h"
#include "smd/mad/node_info.h"
#include "smd/mad/port_info.h"

namespace smd {

using NodeIdx = StrongId<struct NodeIdxTag, std::uint32_t>;
using SwitchIdx = StrongId<struct SwitchIdxTag, std::uint32_t>;
using PortIdx = StrongId<struct PortIdxTag, std::uint32_t>;
using Epoch = StrongId<struct EpochTag, std::uint64_t>;

using NodeByGuid = std::unordered_map<Guid, NodeIdx>;  // look-ups only; never iterated

/// What the operator says of nodes and their ports; what is not named is as it says itself.
struct SiteNodes {
  std::vector<std::pair<Guid, std::uint32_t>> weights;  // against the 1 of others; sorted by GUID

  /// Adapters that send no data: GUIDs of nodes or ports ("0x0002c90300000001"), or descriptions,
  /// where * stands for any text and ? for one character.
  std::vector<std::string> no_data;

  /// How people call nodes, whatever their descriptions say; sorted by GUID.
  std::vector<std::pair<Guid, std::string>> names;

  friend bool operator==(const SiteNodes&, const SiteNodes&) = default;
};

/// Copies share every array until one of them writes to it: a change makes a snapshot that costs
/// what it changes.
struct Fabric {
  Epoch epoch;

  // Per node.
  SharedIndexVector<NodeIdx, Guid> node_guid;
  SharedIndexVector<NodeIdx, std::uint32_t> first_port;  // node_count + 1 entries
  SharedIndexVector<NodeIdx, SwitchIdx> switch_of;       // kNone for adapters and routers
  SharedIndexVector<NodeIdx, NodeInfo> node_info;
  SharedIndexVector<NodeIdx, std::string> description;  // may be empty until fetched

  // Per switch, in node order.
  SharedIndexVector<SwitchIdx, NodeIdx> switch_node;
  SharedIndexVector<SwitchIdx, SwitchInfo> switch_info;

  // Per port.
  SharedIndexVector<PortIdx, PortIdx>
      peer;  // kNone when down or open; peer[peer[p]] == p; may be p itself
  SharedIndexVector<PortIdx, NodeIdx> node_of;
  SharedIndexVector<PortIdx, Guid> port_guid;  // switch: the node's port GUID on every port
  SharedIndexVector<PortIdx, PortInfo> port_info;
  std::vector<PortIdx> fdr10;  // ascending: QDR by PortInfo, FDR10 by the vendor's ExtendedPortInfo

  /// Traffic of end ports that do not count 1, ascending by port. 0: sends and draws no data.
  std::vector<std::pair<PortIdx, std::uint32_t>> demand;
  std::shared_ptr<const SiteNodes> site_nodes;  // `demand` follows from; null: none are given

  NodeIdx sm_node = kNone<NodeIdx>;  // where the manager sits
  PortIdx sm_port = kNone<PortIdx>;  // its own port (port 0 on a switch)

  [[nodiscard]] std::size_t node_count() const { return node_guid.size(); }

  [[nodiscard]] std::size_t switch_count() const { return switch_node.size(); }

  [[nodiscard]] std::size_t port_count() const { return peer.size(); }

  [[nodiscard]] bool is_switch(NodeIdx node) const { return switch_of[node] != kNone<SwitchIdx>; }

  /// kNone for a port of an adapter or router.
  [[nodiscard]] SwitchIdx switch_at(PortIdx port) const { return switch_of[node_of[port]]; }

  /// External ports: 1 … num_ports.
  [[nodiscard]] unsigned num_ports(NodeIdx node) const {
    return first_port[next(node)] - first_port[node] - 1;
  }

  /// Requires: number <= num_ports(node).
  [[nodiscard]] PortIdx port_of(NodeIdx node, PortNum number) const {
    return PortIdx{first_port[node] + number.value()};
  }

  [[nodiscard]] PortNum number_of(PortIdx port) const {
    return PortNum{static_cast<std::uint8_t>(port.value() - first_port[node_of[port]])};
  }

  /// Ports 0 … num_ports of a node.
  [[nodiscard]] IndexRange<PortIdx> ports_of(NodeIdx node) const {
    return {PortIdx{first_port[node]}, PortIdx{first_port[next(node)]}};
  }

  /// Ports 1 … num_ports of a node.
  [[nodiscard]] IndexRange<PortIdx> external_ports(NodeIdx node) const {
    return {PortIdx{first_port[node] + 1}, PortIdx{first_port[next(node)]}};
  }

  [[nodiscard]] std::optional<NodeIdx> find_node(Guid guid) const;

  /// A port that takes a LID: port 0 of a switch, a connected port of an adapter or router.
  [[nodiscard]] bool is_end_port(PortIdx port) const;

  /// Traffic of an end port, against the 1 of others.
  [[nodiscard]] std::uint32_t demand_of(PortIdx port) const;

  /// An end port of an adapter that sends data. Aggregation nodes, routers and what the operator
  /// excepts have LIDs and routes as others, but are no traffic that anything is balanced for.
  [[nodiscard]] bool is_host(PortIdx port) const;

  /// Links between two different ports, each counted once.
  [[nodiscard]] std::size_t link_count() const;

  Shared<NodeByGuid> node_by_guid;
};

/// An aggregation node (SHARP), which a switch shows as an adapter on its last port: known by its
/// device, or by its description once that was read.
[[nodiscard]] bool is_aggregation_node(const Fabric& fabric, NodeIdx node);

/// What `demand` is by the fabric's rules, and by what its nodes are.
[[nodiscard]] std::vector<std::pair<PortIdx, std::uint32_t>> list_demand(const Fabric& fabric);

/// Adapters that send no data, each counted as one thing.
struct AdapterCounts {
  std::size_t aggregation_nodes = 0;
  std::size_t routers = 0;
  std::size_t excepted = 0;  // by the operator

  friend bool operator==(const AdapterCounts&, const AdapterCounts&) = default;
};

[[nodiscard]] AdapterCounts count_no_data(const Fabric& fabric);

/// "582 adapters, 40 of them aggregation nodes".
[[nodiscard]] std::string print_adapters(std::size_t adapters, const AdapterCounts& no_data);

/// What the operator calls the node, or its description, which may be empty.
[[nodiscard]] const std::string& label_of(const Fabric& fabric, NodeIdx node);

/// The same, or the GUID where both are empty: what messages and answers call a node.
[[nodiscard]] std::string name_of(const Fabric& fabric, NodeIdx node);

/// "sw-0-3:5", with the node's name.
[[nodiscard]] std::string print_port(const Fabric& fabric, PortIdx port);

/// The attribute modifier of PortInfo, as the port's device wants it.
[[nodiscard]] std::uint32_t port_info_modifier(const Fabric& fabric, PortIdx port);

/// What the port's link runs at.
[[nodiscard]] LinkSpeed link_speed(const Fabric& fabric, PortIdx port);

/// What must hold of every snapshot; the message names the first thing that does not. Empty when
/// all is well.
[[nodiscard]] std::string check_invariants(const Fabric& fabric);

/// Which LIDs belong to which end port: the wanted addressing of a snapshot.
struct LidMap {
  IndexVector<PortIdx, Lid> base;          // kUnassignedLid for ports that take none
  IndexVector<PortIdx, std::uint8_t> lmc;  // 2^lmc LIDs from base
  std::vector<PortIdx> owner;              // by LID value, 0 … top; kNone for LIDs nobody has
  Lid top = kUnassignedLid;                // highest LID in use

  [[nodiscard]] PortIdx owner_of(Lid lid) const {
    return lid.value() < owner.size() ? owner[lid.value()] : kNone<PortIdx>;
  }

  friend bool operator==(const LidMap&, const LidMap&) = default;
};

/// An empty map for `fabric`, to be filled with set_lid().
[[nodiscard]] LidMap make_lid_map(const Fabric& fabric);

/// Gives port the LIDs base … base + 2^lmc - 1. Requires: they are free, and unicast.
void set_lid(LidMap& map, PortIdx port, Lid base, std::uint8_t lmc);

}  // namespace smd
