// What a plan is told of lanes: the SLs that hosts may use meanwhile, and the rows of switches.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "smd/app/active_subnet.h"
#include "smd/plan/row_memory.h"
#include "smd/plan/transition.h"
#include "smd/policy/qos.h"
#include "smd/runtime/runtime.h"

namespace smd::app {

/// Routes whose SLs hosts may be using. Nothing: hosts may use any SL.
using Told = std::optional<std::vector<std::shared_ptr<const ActiveSubnet>>>;

/// Hosts keep the SL of a path until they ask anew. They are taken to have done so a while after
/// the plan that replaced the routes was completed, or at once when their links were down.
class ToldSls {
 public:
  /// What hosts may be using at `now`, besides what they are told next.
  [[nodiscard]] Told at(TimePoint now) const;

  /// `routes` are wanted from now on. Complete: all of their plan was carried out. Silent: and no
  /// link carried data meanwhile.
  void tell(std::shared_ptr<const ActiveSubnet> routes, bool complete, bool silent, TimePoint now);

  /// `better`: the same routes on a snapshot that knows more.
  void refresh(const std::shared_ptr<const ActiveSubnet>& better);

 private:
  struct Entry {
    std::shared_ptr<const ActiveSubnet>
        routes;  // null: any SL, since nobody knows who told them what
    std::optional<TimePoint> replaced;
  };

  std::vector<Entry> entries_{Entry{}};
};

/// The rows that switches shall hold for these routes; where one lane will do, those that the site
/// wants, or every SL on a lane of its own. `apart` keeps its lane to itself.
[[nodiscard]] LaneMaps choose_rows(const Fabric& fabric,
                                   const RoutingTables& routing,
                                   const QosPolicy& qos,
                                   const std::optional<MulticastLane>& apart);

/// Rows of the goal's fabric as confirmed; a switch beyond the first `found` ones lingers, and
/// holds what it was given. `blocked` are opened with their wanted row.
[[nodiscard]] LaneTask build_lane_task(const ActiveSubnet& goal,
                                       const Told& told,
                                       const RowMemory& known,
                                       std::size_t found,
                                       const std::vector<Turn>& blocked);

}  // namespace smd::app
