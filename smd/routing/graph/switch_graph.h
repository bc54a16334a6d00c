// The switches and the links between them as one compact array, the end ports that they serve, and
// what traffic and links count: what every engine searches.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "smd/fabric/fabric.h"

namespace smd {

/// A usable direction of a switch-to-switch link. Loopback links make no edge.
struct SwitchEdge {
  SwitchIdx to;
  PortNum port;       // of the switch it leaves
  PortNum peer_port;  // of the switch it comes to
};

/// In place of a position in a graph: no edge.
inline constexpr std::uint32_t kNoEdge = 0xffffffff;

/// In place of a position among the edges of one switch, which has at most 254 ports: no edge.
inline constexpr std::uint8_t kNoSlot = 255;

class SwitchGraph {
 public:
  explicit SwitchGraph(const Fabric& fabric);

  /// One edge from each switch to each neighbour, the one of the lowest port.
  [[nodiscard]] SwitchGraph without_parallels() const;

  [[nodiscard]] std::size_t switches() const { return first_edge_.size() - 1; }

  [[nodiscard]] std::size_t edge_count() const { return edges_.size(); }

  /// In port order.
  [[nodiscard]] std::span<const SwitchEdge> edges(SwitchIdx sw) const {
    return {edges_.data() + first_edge_[sw.value()], edges_.data() + first_edge_[sw.value() + 1]};
  }

  [[nodiscard]] const SwitchEdge& edge(std::uint32_t position) const { return edges_[position]; }

  /// Position of edges(sw).front() among all edges.
  [[nodiscard]] std::uint32_t first_edge(SwitchIdx sw) const { return first_edge_[sw.value()]; }

 private:
  SwitchGraph() = default;

  std::vector<std::uint32_t> first_edge_;  // switches + 1 entries
  std::vector<SwitchEdge> edges_;
};

/// A LID as an engine sees it: where it is, and by which port its last switch hands it over.
struct Target {
  Lid base;
  std::uint8_t lmc = 0;
  PortNum egress;            // of the last switch; 0 for the switch itself
  bool host = false;         // not a switch's port 0
  std::uint32_t demand = 1;  // Fabric::demand_of()

  /// An adapter that sends data.
  [[nodiscard]] bool is_traffic() const { return host && demand != 0; }
};

/// Every end port with a LID, by the switch that serves it. Ports whose link leads to no switch
/// are served by none.
struct Targets {
  IndexVector<SwitchIdx, std::vector<Target>> of;  // ascending by egress port
  IndexVector<SwitchIdx, std::uint32_t> hosts;  // end ports linked to the switch, Fabric::is_host()
};

[[nodiscard]] Targets find_targets(const Fabric& fabric, const LidMap& lids);

[[nodiscard]] IndexVector<SwitchIdx, Guid> list_switch_guids(const Fabric& fabric);

inline constexpr std::uint32_t kUnreached = 0xffffffff;

/// Links from any of `from`; kUnreached on other islands.
[[nodiscard]] IndexVector<SwitchIdx, std::uint32_t> compute_distances(
    const SwitchGraph& graph, std::span<const SwitchIdx> from);

/// By edge, how much of a link's time a path takes: 1 everywhere where all links are equally fast,
/// else 16 on the fastest. Links of unknown speed count as fast.
[[nodiscard]] std::vector<std::uint32_t> find_link_costs(const Fabric& fabric,
                                                         const SwitchGraph& graph);

// Next hops of all shortest paths to one destination switch.

/// All equally good next hops to one destination switch.
struct NextHops {
  /// Every switch that reaches the destination, except itself; a switch stands before all of its
  /// next hops.
  std::vector<SwitchIdx> order;

  /// Edges (positions in the graph) that order[i] may take: edges[first[i]] … edges[first[i+1]-1],
  /// ascending. At least one each.
  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t> edges;

  void clear() {
    order.clear();
    first.assign(1, 0);
    edges.clear();
  }

  /// Ends the list of the switch pushed last.
  void close() { first.push_back(static_cast<std::uint32_t>(edges.size())); }
};

class ShortestSearch {
 public:
  explicit ShortestSearch(const SwitchGraph& graph) : graph_(graph) {}

  void find(SwitchIdx destination, NextHops& hops);

  /// Links from `sw` to the destination of the last find(); kUnreached on other islands.
  [[nodiscard]] std::uint32_t distance(SwitchIdx sw) const { return distance_[sw]; }

 private:
  const SwitchGraph& graph_;
  std::vector<SwitchIdx> near_to_far_;
  IndexVector<SwitchIdx, std::uint32_t> distance_;
};

}  // namespace smd
