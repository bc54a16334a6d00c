// The routes in force on everything that may carry data: a plan must reckon with switches that
// answer nothing but forward as they did.
#pragma once

#include <memory>

#include "smd/app/active_subnet.h"
#include "smd/plan/held_tables.h"
#include "smd/plan/transition.h"

namespace smd::app {

/// `now` itself when nothing lingers of `before`. Else `now` on the fabric of with_lingering():
/// every index as it was; a switch that lingers is wanted to do what it was wanted to do.
[[nodiscard]] std::shared_ptr<const ActiveSubnet> with_lingering(
    std::shared_ptr<const ActiveSubnet> now, const ActiveSubnet& before);

/// `carrying`, where what lingers (from `first` on) is wanted to do what it does; where that is
/// unknown it is taken, in `held`, to do what it was wanted to do. Nobody could tell it otherwise.
[[nodiscard]] std::shared_ptr<const ActiveSubnet> leave_alone(SwitchIdx first,
                                                              const ActiveSubnet& carrying,
                                                              HeldTables& held);

/// Living ends of the cables that `carrying` has beyond `found`, ascending.
[[nodiscard]] std::vector<PortIdx> find_ends_of_lingering(const Fabric& found,
                                                          const Fabric& carrying);

/// True when `plan` changes anything at switches that `fabric` does not have.
[[nodiscard]] bool reaches_beyond(const Fabric& fabric, const TransitionPlan& plan);

}  // namespace smd::app
