// Plans, off the loop: how tables go from what switches hold to what they shall hold, and the check
// that did not make the plan. What a plan reckons with: SLs that hosts may use meanwhile, SL-to-VL
// tables, and switches that answer nothing but forward as they did.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "smd/plan/confirmed_tables.h"
#include "smd/plan/make/planner.h"
#include "smd/plan/transition.h"
#include "smd/policy/qos.h"
#include "smd/runtime/runtime.h"
#include "smd/subnet/active_subnet.h"

namespace smd {

/// `now` itself when no switch of `before` is unresponsive. Else `now` on the fabric of
/// with_unresponsive(): every index as it was; an unresponsive switch is wanted to do what it was
/// wanted to do.
[[nodiscard]] std::shared_ptr<const ActiveSubnet> add_unresponsive(
    std::shared_ptr<const ActiveSubnet> now, const ActiveSubnet& before);

/// The same on the fabric of with_lost(): what later plans find unresponsive switches in.
[[nodiscard]] std::shared_ptr<const ActiveSubnet> add_lost(std::shared_ptr<const ActiveSubnet> now,
                                                           const ActiveSubnet& before);

/// `extended`, where unresponsive switches (from `first` on) are wanted to do what they do. Blocks
/// of theirs that are unknown stay so in `held`: a Set that nobody answered may have arrived.
[[nodiscard]] std::shared_ptr<const ActiveSubnet> freeze_unresponsive(SwitchIdx first,
                                                                      const ActiveSubnet& extended,
                                                                      const HeldTables& held);

/// Responsive ends of the links that `extended` has beyond `found`, ascending.
[[nodiscard]] std::vector<PortIdx> find_ports_to_unresponsive(const Fabric& found,
                                                              const Fabric& extended);

/// True when `plan` changes anything at switches that `fabric` does not have.
[[nodiscard]] bool reaches_beyond(const Fabric& fabric, const TransitionPlan& plan);

// Plans, off the loop: how tables go from what switches hold to what they shall hold, and the check
// that did not make the plan. What a plan knows of SLs and VLs: the SLs that hosts may use
// meanwhile, and the SL-to-VL tables of switches.

/// Routes whose SLs hosts may be using. Nothing: hosts may use any SL.
using AdvertisedRoutes = std::optional<std::vector<std::shared_ptr<const ActiveSubnet>>>;

/// Hosts keep the SL of a path until they ask anew. They are taken to have done so a while after
/// the plan that replaced the routes was completed, or at once when their links were down.
class AdvertisedSls {
 public:
  static constexpr Duration kHostsAskAgainWithin = std::chrono::seconds(60);

  /// What hosts may be using at `now`, besides what is advertised next.
  [[nodiscard]] AdvertisedRoutes at(TimePoint now) const;

  /// `routes` are wanted from now on. Complete: all of their plan was carried out. Silent: and no
  /// link carried data meanwhile.
  void advertise(std::shared_ptr<const ActiveSubnet> routes,
                 bool complete,
                 bool silent,
                 TimePoint now);

  /// `better`: the same routes on a snapshot that knows more.
  void refresh(const std::shared_ptr<const ActiveSubnet>& better);

 private:
  struct Entry {
    std::shared_ptr<const ActiveSubnet>
        routes;  // null: any SL, since nobody knows what was advertised
    std::optional<TimePoint> replaced;
  };

  std::vector<Entry> entries_{Entry{}};
};

/// The rows that switches shall hold for these routes; where one VL will do, those that the site
/// wants, or every SL on a VL of its own, of `most_vls` that links operate at most (1 to 15).
/// `apart` keeps its VL to itself.
[[nodiscard]] SlToVlMaps choose_rows(const Fabric& fabric,
                                     const RoutingTables& routing,
                                     const QosPolicy& qos,
                                     const std::optional<MulticastVl>& apart,
                                     unsigned most_vls);

/// Rows of the goal's fabric as confirmed; a switch beyond the first `found` ones is unresponsive,
/// and is wanted to hold what it holds. `blocked` are opened with their wanted row.
[[nodiscard]] SlToVlTask build_lane_task(const ActiveSubnet& goal,
                                         const AdvertisedRoutes& advertised,
                                         const ConfirmedSlToVl& known,
                                         std::size_t found,
                                         const std::vector<Turn>& blocked);

struct PlanJob {
  std::shared_ptr<const ActiveSubnet> goal;  // what the fabric shall become
  HeldTables held;
  std::vector<Turn> blocked;
  PlannerOptions options;
  bool next_hop_first = false;  // outwards from each destination, whatever `options` says

  // Where `goal` has rows:
  ConfirmedSlToVl rows;         // as confirmed
  AdvertisedRoutes advertised;  // whose SLs hosts may be using
  std::size_t found = 0;        // switches beyond so many are unresponsive
};

/// Planned and checked. A plan that its check refuses is replaced by what the options say of
/// changes that nothing proves; `why` says so.
[[nodiscard]] TransitionPlan compute_plan(const PlanJob& job);

/// The job of a plan that reckons with unresponsive switches beside the goal and changes nothing
/// there.
struct UnresponsiveJob {
  PlanJob job;  // its goal: on all that may carry data
  PlanJob without;
};

/// Where no such plan can be proved, or it is unknown what unresponsive switches hold, they are cut
/// off: a first phase deactivates the responsive ends of their links, and the rest is the plan
/// without it. Nothing that answers is routed there.
[[nodiscard]] TransitionPlan compute_plan(const UnresponsiveJob& job);

}  // namespace smd
