// In-trees and SLs that together need no more lanes than there are: what itb-vl tries, in order.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "smd/base/result.h"
#include "smd/routing/balance/tree_balance.h"
#include "smd/routing/engine.h"
#include "smd/routing/itb/sl_tables.h"
#include "smd/routing/itb/tree_ways.h"

namespace smd {

/// Trees and SLs that were in force, as far as they still mean something here.
struct KeptLanes {
  std::vector<SwitchTrees> trees;  // by LID offset
  std::vector<PairSls> sls;
  std::vector<std::uint8_t> lanes;  // see SlTables; empty where lanes do not change
  Evenness evenness;                // of the tables in force
};

struct LaneTask {
  const SwitchGraph& graph;  // without parallel edges
  const UpDownGraph& oriented;
  const Demand& demand;
  const std::vector<std::uint32_t>& costs;
  LaneCut cut = LaneCut::UpDown;
  unsigned max_vls = 1;
  bool lane_changes = true;  // else one lane from end to end
  unsigned offsets = 1;      // LIDs per port
  const KeptLanes* kept = nullptr;
};

struct LanePlan {
  std::vector<SwitchTrees> trees;  // by LID offset
  std::vector<PairSls> sls;
  std::unique_ptr<SlPlacer> placer;  // the lane after every turn
  unsigned vls = 1;                  // lanes used
  unsigned sl_count = 1;
  std::vector<std::string> notes;
  Evenness evenness;  // of offset 0, to hand on
};

/// Balanced shortest paths with a lane change at every cut; else with one lane from end to end;
/// else those shortest paths with fewest cuts; else up*/down* to some of the destinations, no more
/// than half. Offsets after the first take other trees where there are any that fit as well.
[[nodiscard]] Result<LanePlan> plan_lanes(const LaneTask& task);

}  // namespace smd
