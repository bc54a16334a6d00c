// What every up*/down* engine starts from: the graph, who sits where, and which way is up.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "smd/routing/engine.h"
#include "smd/routing/orientation.h"

namespace smd {

struct OrientedFabric {
  OrientedFabric(const Fabric& fabric,
                 const LidMap& lids,
                 std::span<const Guid> roots,
                 const Orientation* previous);

  OrientedFabric(const Fabric& fabric, const LidMap& lids, const OrientationRequest& request);

  SwitchGraph graph;
  std::vector<std::uint32_t> costs;  // by edge, see find_link_costs()
  Targets targets;
  IndexVector<SwitchIdx, Guid> guids;
  OrientationResult oriented;
  UpDownGraph up_down;
};

/// The roots of the request; without any the switch that the manager sits on or is cabled to, if
/// there is one.
[[nodiscard]] std::vector<Guid> roots_or_manager(const Fabric& fabric,
                                                 const RoutingRequest& request);

/// Takes the orientation and what is to be said of it.
[[nodiscard]] RoutingTables begin_tables(std::string_view engine,
                                         ForwardingTables lft,
                                         OrientedFabric& oriented);

}  // namespace smd
