// How snapshots are made: from parts, or from another one with something else in it.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "smd/fabric/fabric.h"

namespace smd {

// The only writer of Fabric. Add nodes, then links, then build; nodes are numbered in the order
// they were added. What is set to what it is already stays shared with the snapshot that the
// builder began with.

class FabricBuilder {
 public:
  FabricBuilder() = default;

  /// Begins with all of another snapshot.
  explicit FabricBuilder(const Fabric& like);

  /// Room for so many, to be added one by one.
  void reserve(std::size_t nodes, std::size_t ports);

  /// Requires: the GUID is new, and num_ports <= 254.
  NodeIdx add_node(const NodeInfo& info);

  /// A node as it is in another snapshot, but for its links. Requires: the GUID is new.
  NodeIdx add_node(const Fabric& from, NodeIdx node);

  /// Requires: the GUID, the type and the number of ports are as they were.
  void set_node_info(NodeIdx node, const NodeInfo& info);

  void set_switch_info(NodeIdx node, const SwitchInfo& info);

  void set_description(NodeIdx node, const std::string& text);

  /// Requires: number <= num_ports.
  void set_port_info(NodeIdx node, PortNum number, const PortInfo& info);

  void set_port_guid(NodeIdx node, PortNum number, Guid guid);

  /// Requires: both ports exist. A port linked twice keeps its newer link; the older peer becomes
  /// open.
  void add_link(NodeIdx a, PortNum port_a, NodeIdx b, PortNum port_b);

  void remove_link(NodeIdx node, PortNum port);

  void set_sm_port(NodeIdx node, PortNum port);

  /// Requires: ascending.
  void set_fdr10(std::vector<PortIdx> ports);

  /// Null: none.
  void set_site_nodes(std::shared_ptr<const SiteNodes> rules);

  /// Requires: the port exists.
  [[nodiscard]] PortIdx port_of(NodeIdx node, PortNum number) const;

  [[nodiscard]] std::shared_ptr<const Fabric> build(Epoch epoch) const;

 private:
  /// A node whose ports have neither GUIDs nor attributes yet.
  NodeIdx append(const NodeInfo& info,
                 const SwitchInfo& switch_info,
                 const std::string& description,
                 unsigned num_ports);

  Fabric like_;  // that it began with
  Fabric made_;
};

// What is learned after the snapshot was taken: node descriptions, and what ports answered when
// they were set.

/// The same snapshot with the descriptions that `known` has, under these rules of who sends data
/// (null: none); nodes it does not have keep theirs.
[[nodiscard]] std::shared_ptr<const Fabric> with_descriptions(
    const Fabric& fabric,
    const std::unordered_map<Guid, std::string>& known,
    std::shared_ptr<const SiteNodes> rules);

/// The same snapshot under these rules of who sends data; null: none.
[[nodiscard]] std::shared_ptr<const Fabric> with_traffic(const Fabric& fabric,
                                                         std::shared_ptr<const SiteNodes> rules);

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
