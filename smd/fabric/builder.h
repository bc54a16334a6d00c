// How snapshots are made: from parts, or from another one with something else in it.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "smd/fabric/fabric.h"

namespace smd {

// The only writer of Fabric. Add nodes, then links, then build; nodes are numbered in the order
// they were added.

class FabricBuilder {
 public:
  /// Requires: the GUID is new, and num_ports <= 254.
  NodeIdx add_node(const NodeInfo& info);

  void set_switch_info(NodeIdx node, const SwitchInfo& info);

  void set_description(NodeIdx node, std::string text);

  /// Requires: number <= num_ports.
  void set_port_info(NodeIdx node, PortNum number, const PortInfo& info);

  void set_port_guid(NodeIdx node, PortNum number, Guid guid);

  /// Requires: both ports exist. A port linked twice keeps its newer link; the older peer becomes
  /// open.
  void add_link(NodeIdx a, PortNum port_a, NodeIdx b, PortNum port_b);

  void remove_link(NodeIdx node, PortNum port);

  void set_sm_port(NodeIdx node, PortNum port);

  [[nodiscard]] std::shared_ptr<const Fabric> build(Epoch epoch) const;

 private:
  struct Port {
    PortInfo info;
    Guid guid;
    NodeIdx peer_node = kNone<NodeIdx>;
    PortNum peer_port;
  };

  struct Node {
    NodeInfo info;
    SwitchInfo switch_info;
    std::string description;
    std::vector<Port> ports;  // 0 … num_ports
  };

  IndexVector<NodeIdx, Node> nodes_;
  NodeIdx sm_node_ = kNone<NodeIdx>;
  PortNum sm_port_;
};

// What is learned after the snapshot was taken: node descriptions, and what ports answered when
// they were set.

/// The same snapshot with the descriptions that `known` has; nodes it does not have keep theirs.
[[nodiscard]] std::shared_ptr<const Fabric> with_descriptions(
    const Fabric& fabric, const std::map<Guid, std::string>& known);

/// The same snapshot with what the ports say now. Requires: one entry per port.
[[nodiscard]] std::shared_ptr<const Fabric> with_port_info(
    const Fabric& fabric, IndexVector<PortIdx, PortInfo> port_info);

/// The same snapshot with what ports and switches say now. Requires: one entry per port and switch.
[[nodiscard]] std::shared_ptr<const Fabric> with_registers(
    const Fabric& fabric,
    IndexVector<PortIdx, PortInfo> port_info,
    IndexVector<SwitchIdx, SwitchInfo> switch_info);

/// The same snapshot with these ports at FDR10. Requires: ascending.
[[nodiscard]] std::shared_ptr<const Fabric> with_fdr10(const Fabric& fabric,
                                                       std::vector<PortIdx> ports);

}  // namespace smd
