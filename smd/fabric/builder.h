// The only writer of Fabric. Add nodes, then links, then build; nodes are numbered in the order
// they were added.
#pragma once

#include <memory>

#include "smd/fabric/fabric.h"

namespace smd {

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

}  // namespace smd
