// Trees to switches without hosts that cost no lane of their own.
//
// Between two switches of the middle of a fat tree the shortest path goes down and up again, and
// together such paths close cycles with everybody else's. Nobody sends there but management: along
// up*/down* ways these few paths are longer, and all fit one lane.
#pragma once

#include <string_view>

#include "smd/routing/layers/tree_grower.h"
#include "smd/routing/oriented_fabric.h"
#include "smd/routing/up_down.h"

namespace smd {

inline constexpr std::string_view kDetoursNote =
    "paths between switches without hosts may take detours, so that one lane is enough";

class DetourSearch {
 public:
  /// `oriented` outlives it.
  explicit DetourSearch(const OrientedFabric& oriented) : search_(oriented.up_down) {}

  /// Aims at an idle family's root along up*/down* ways.
  void aim(TreeGrower& grower, SwitchIdx root) {
    search_.find(root, hops_);
    grower.aim_along(root, hops_);
  }

 private:
  UpDownSearch search_;
  NextHops hops_;
};

}  // namespace smd
