#include "smd/routing/oriented_fabric.h"

#include <utility>

#include "smd/routing/traffic.h"

namespace smd {

OrientedFabric::OrientedFabric(const Fabric& fabric,
                               const LidMap& lids,
                               std::span<const Guid> roots,
                               const Orientation* previous)
    : OrientedFabric(fabric, lids, {.roots = roots, .previous = previous}) {}

OrientedFabric::OrientedFabric(const Fabric& fabric,
                               const LidMap& lids,
                               const OrientationRequest& request)
    : graph(fabric),
      costs(find_link_costs(fabric, graph)),
      targets(find_targets(fabric, lids)),
      guids(list_switch_guids(fabric)),
      oriented(orient(graph, guids, targets, request)),
      up_down(graph, oriented.orientation.rank, guids) {}

std::vector<Guid> roots_or_manager(const Fabric& fabric, const RoutingRequest& request) {
  if (!request.roots.empty() || fabric.sm_port == kNone<PortIdx>) return request.roots;
  NodeIdx node = fabric.node_of[fabric.sm_port];
  if (!fabric.is_switch(node)) {
    if (fabric.peer[fabric.sm_port] == kNone<PortIdx>) return {};
    node = fabric.node_of[fabric.peer[fabric.sm_port]];
  }
  if (!fabric.is_switch(node)) return {};
  return {fabric.node_guid[node]};
}

RoutingTables begin_tables(std::string_view engine,
                           ForwardingTables lft,
                           OrientedFabric& oriented) {
  return {.engine = std::string{engine},
          .lft = std::move(lft),
          .orientation = std::move(oriented.oriented.orientation),
          .altered = std::move(oriented.oriented.altered),
          .notes = std::move(oriented.oriented.notes)};
}

}  // namespace smd
