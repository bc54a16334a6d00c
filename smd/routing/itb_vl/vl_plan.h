// In-trees and SLs that together need no more VLs than there are: what itb-vl tries, in order.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "smd/base/result.h"
#include "smd/routing/engine.h"
#include "smd/routing/itb_vl/sl_tables.h"
#include "smd/routing/itb_vl/trees.h"
#include "smd/routing/trees/tree_balance.h"

namespace smd {

/// Trees and SLs that were in force, as far as they still mean something here.
struct PreviousVls {
  std::vector<SwitchTrees> trees;  // by LID offset
  std::vector<PairSls> sls;
  std::vector<std::uint8_t> vls;  // see SlTables; empty where VLs do not change
  Imbalance imbalance;            // of the tables in force
};

struct ItbVlTask {
  const SwitchGraph& graph;  // without parallel edges
  const UpDownGraph& oriented;
  const Demand& demand;
  const std::vector<std::uint32_t>& costs;
  VlChangeRule cut = VlChangeRule::UpDown;
  unsigned max_vls = 1;
  unsigned max_sls = kSls;
  bool vl_changes = true;  // else one VL from end to end
  unsigned offsets = 1;    // LIDs per port
  const PreviousVls* previous = nullptr;
};

struct ItbVlPlan {
  std::vector<SwitchTrees> trees;  // by LID offset
  std::vector<PairSls> sls;
  std::unique_ptr<SlPlacer> placer;  // the VL after every turn
  unsigned vls = 1;                  // VLs used
  unsigned sl_count = 1;
  std::vector<std::string> notes;
  Imbalance imbalance;  // of offset 0, to hand on
};

/// Balanced shortest paths with a VL change at every cut; else with one VL from end to end;
/// else those shortest paths with fewest cuts; else up*/down* to some of the destinations, no more
/// than half. Offsets after the first take other trees where there are any that fit as well.
[[nodiscard]] Result<ItbVlPlan> plan_vls(const ItbVlTask& task);

}  // namespace smd
