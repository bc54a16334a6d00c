// From a VL plan to what switches hold, and back: entries, SL-to-VL tables, SLs of paths.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "smd/routing/itb_vl/vl_plan.h"
#include "smd/routing/tables.h"

namespace smd {

// From a VL plan to what switches hold: entries, SL-to-VL maps, SLs of paths.

/// The cables of every edge of a graph without parallel edges.
class ParallelLinks {
 public:
  struct Link {
    PortNum port;  // at the switch that the edge leaves
    std::uint32_t cost;
  };

  /// `costs` by edge of `all`, see find_link_costs().
  ParallelLinks(const SwitchGraph& all,
                const SwitchGraph& simple,
                const std::vector<std::uint32_t>& costs);

  [[nodiscard]] std::span<const Link> of(std::uint32_t edge) const {
    return {links_.data() + first_[edge], links_.data() + first_[edge + 1]};
  }

  /// The same edge from the other end.
  [[nodiscard]] std::uint32_t reverse(std::uint32_t edge) const { return reverse_[edge]; }

  /// What a path costs an edge whose cables share the load: 1 everywhere where all edges are alike,
  /// else 64 on the fastest.
  [[nodiscard]] std::vector<std::uint32_t> sum_costs() const;

 private:
  std::vector<std::uint32_t> first_;
  std::vector<Link> links_;
  std::vector<std::uint32_t> reverse_;
};

struct ItbVlWriting {
  const Fabric& fabric;
  const SwitchGraph& graph;  // of the plan
  const ParallelLinks& links;
  const Targets& targets;
  const Demand& demand;
};

/// LIDs of one switch and offset share a tree; where an edge has several cables each takes the one
/// that carries least, or the one in force if that carries no more than one LID's paths above it.
/// `in_force`: null for tables from scratch.
void write_routes(const ItbVlWriting& what,
                  const ItbVlPlan& plan,
                  const PreviousRoutes* in_force,
                  ForwardingTables& lft);

/// SLs of paths, and maps that discard whatever no path needs: a packet that strays could go down a
/// VL. Nothing where one VL does.
void write_vls(const ItbVlWriting& what, const ItbVlPlan& plan, RoutingTables& tables);

// What of the trees and SLs in force still means something on another fabric.

/// Edges that lead, by a shortest path of now, where the entries in force lead; SLs of pairs that
/// were there before. Nullopt when nothing could be kept: other VLs, or nothing in common.
[[nodiscard]] std::optional<PreviousVls> find_previous_vls(const ItbVlWriting& now,
                                                           const PreviousRoutes& in_force,
                                                           unsigned offsets);

/// LIDs that nobody has keep a tree to the switch that served them, with its SLs: of the trees to
/// that switch the one that most of their entries follow. Who comes back finds them so. The tables
/// never get shorter.
void keep_unowned_lids(const ItbVlWriting& what,
                       const ItbVlPlan& plan,
                       const LidMap& lids,
                       const PreviousRoutes& in_force,
                       RoutingTables& tables);

/// LIDs with entries other than those in force, ascending.
[[nodiscard]] std::vector<Lid> list_changed(const Fabric& fabric,
                                            const ForwardingTables& lft,
                                            const PreviousRoutes& in_force);

}  // namespace smd
