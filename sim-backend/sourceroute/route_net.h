// What source routes are found on: the switches of a drawing, the channels between them, their
// hosts.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim-backend/topology/fabric_spec.h"
#include "smd/base/result.h"
#include "smd/routing/graph/channels.h"
#include "smd/routing/graph/switch_graph.h"

namespace smd::sim {

/// Switches in the order of the drawing; a channel is an edge of the graph, by its position.
class RouteNet {
 public:
  /// A fault names what has no routes: no or one switch with hosts, switches that are not joined.
  static Result<RouteNet> build(const FabricSpec& spec);

  [[nodiscard]] std::uint32_t switches() const { return static_cast<std::uint32_t>(nodes_.size()); }

  [[nodiscard]] std::uint32_t channels() const { return static_cast<std::uint32_t>(from_.size()); }

  [[nodiscard]] std::uint32_t from(Channel c) const { return from_[c]; }

  [[nodiscard]] std::uint32_t to(Channel c) const { return to_[c]; }

  /// The port of from(c) that it leaves by.
  [[nodiscard]] PortNum port(Channel c) const { return graph_->edge(c).port; }

  [[nodiscard]] Channel first(std::uint32_t sw) const { return graph_->first_edge(SwitchIdx{sw}); }

  [[nodiscard]] Channel end(std::uint32_t sw) const {
    return first(sw) + static_cast<Channel>(graph_->edges(SwitchIdx{sw}).size());
  }

  /// Nodes of the drawing: of a switch, and of the hosts on it.
  [[nodiscard]] std::uint32_t node(std::uint32_t sw) const { return nodes_[sw]; }

  [[nodiscard]] const std::vector<std::uint32_t>& hosts(std::uint32_t sw) const {
    return hosts_[sw];
  }

  [[nodiscard]] const std::string& name(std::uint32_t sw) const { return names_[sw]; }

  [[nodiscard]] std::uint32_t distance(std::uint32_t a, std::uint32_t b) const {
    return distance_[a * switches() + b];
  }

  [[nodiscard]] const Fabric& fabric() const { return *fabric_; }

  [[nodiscard]] const SwitchGraph& graph() const { return *graph_; }

  [[nodiscard]] const Dependencies& dependencies() const { return *dependencies_; }

 private:
  std::shared_ptr<const Fabric> fabric_;
  std::shared_ptr<const SwitchGraph> graph_;
  std::shared_ptr<const Dependencies> dependencies_;
  std::vector<std::uint32_t> nodes_, from_, to_, distance_;
  std::vector<std::vector<std::uint32_t>> hosts_;
  std::vector<std::string> names_;
};

/// An order of the switches. Up leads to the smaller key; keys differ.
using SwitchKeys = std::vector<std::uint32_t>;

/// Breadth-first from a root: by level, then by number.
[[nodiscard]] SwitchKeys breadth_first_keys(const RouteNet& net, std::uint32_t root);

/// Depth-first, from the root that forbids fewest turns (smd/routing/updn/root_choice.h).
[[nodiscard]] SwitchKeys depth_first_keys(const RouteNet& net);

/// A random permutation.
[[nodiscard]] SwitchKeys random_keys(const RouteNet& net, std::uint64_t seed);

}  // namespace smd::sim
