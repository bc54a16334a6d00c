// Fabrics of generators, ready for engines.
#pragma once

#include <memory>
#include <string>

#include "sim-backend/topology/fabric_spec.h"
#include "sim-backend/topology/snapshot.h"
#include "tests/unit/routing/support/paths.h"

namespace smd::test {

struct Generated {
  std::shared_ptr<const Fabric> shared;
  const Fabric& fabric;
  LidMap lids;
};

inline Generated generated(const std::string& call, std::uint8_t lmc = 0) {
  std::shared_ptr<const Fabric> shared = sim::build_snapshot(sim::load_fabric(call).value());
  const Fabric& fabric = *shared;
  return {shared, fabric, lids_in_order(fabric, lmc)};
}

/// Connected, four links per switch, at most one between two.
inline Generated irregular(unsigned switches, unsigned seed, unsigned hosts = 0) {
  return generated("irregular:switches=" + std::to_string(switches) +
                   ",links=4,hosts=" + std::to_string(hosts) + ",seed=" + std::to_string(seed));
}

/// The switch called so is the root.
inline RoutingRequest rooted(const Fabric& fabric, const char* name) {
  return {.options = {.roots = {fabric.node_guid[node(fabric, name)]}}};
}

}  // namespace smd::test
