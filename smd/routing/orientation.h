// Which end of every switch-to-switch link is up, for up*/down* routing.
//
// Switches are ordered by (rank, GUID); up leads towards the front of that order. Every switch
// reaches every other one legally (up, then down) exactly when an island has one *top*: a switch
// without an up link. From several tops none could reach another.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "smd/routing/engine.h"
#include "smd/routing/switch_graph.h"
#include "smd/routing/tables.h"

namespace smd {

struct OrientationRequest {
  std::span<const Guid> roots;            // empty: chosen by trial
  const Orientation* previous = nullptr;  // comes before roots where it knows a switch
  OrientationSearch search = OrientationSearch::BreadthFirst;
  RootChoice root_choice = RootChoice::Trial;
};

struct OrientationResult {
  Orientation orientation;
  std::vector<Guid> altered;  // known switches that could not keep their rank
  std::vector<std::string> notes;
};

/// Ensures: one top per island. Known switches keep their rank except where links that are gone
/// left several tops; new ones come one below their highest neighbour.
///
/// Without roots or with roots that leave several tops, the root is chosen by trial: for each
/// distance from the hosts the most central switch routes a sample of the traffic, and the one
/// with the shortest and most even load wins. In fat trees that is a leaf: from a core, up*/down*
/// would lead all traffic between pods through that one core, from a leaf it allows every shortest
/// path. Depth-first chooses its root by the turns that it forbids.
[[nodiscard]] OrientationResult orient(const SwitchGraph& graph,
                                       const IndexVector<SwitchIdx, Guid>& guids,
                                       const Targets& targets,
                                       const OrientationRequest& request);

/// Links split into up and down ones, ready for searching.
class UpDownGraph {
 public:
  struct Way {
    SwitchIdx to;
    std::uint32_t edge;  // position in the switch graph
  };

  UpDownGraph(const SwitchGraph& graph,
              const IndexVector<SwitchIdx, std::uint32_t>& rank,
              const IndexVector<SwitchIdx, Guid>& guids);

  /// Links of `sw` that lead up, in port order.
  [[nodiscard]] std::span<const Way> up(SwitchIdx sw) const {
    return {ways_.data() + first_[sw.value()], ways_.data() + middle_[sw.value()]};
  }

  [[nodiscard]] std::span<const Way> down(SwitchIdx sw) const {
    return {ways_.data() + middle_[sw.value()], ways_.data() + first_[sw.value() + 1]};
  }

  /// Links, each from both its ends.
  [[nodiscard]] std::size_t size() const { return ways_.size(); }

  /// All switches, upmost first.
  [[nodiscard]] const std::vector<SwitchIdx>& order() const { return order_; }

 private:
  std::vector<SwitchIdx> order_;
  std::vector<std::uint32_t> first_, middle_;
  std::vector<Way> ways_;
};

}  // namespace smd
