// What the registers of a simulated fabric say of a subnet: oracles that ask no manager.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "sim-backend/subnet/simulated_subnet.h"

namespace smd::test {

using sim::default_settings;
using sim::is_about;
using sim::SimulatedManager;
using sim::SimulatedSubnet;
using sim::SimulatedSubnetOptions;
using sim::SmpTap;
using sim::spec_of;
using sim::TimedFabric;

/// The manager looks at the fabric when it is told to, and only then.
[[nodiscard]] inline Settings quiet_settings() {
  Settings out = default_settings();
  out.sweep_interval = Duration{0};
  return out;
}

/// Every cabled port between living nodes is Active; the message names the first that is not. Empty
/// when all are.
[[nodiscard]] std::string find_inactive_port(const TimedFabric& on);

/// By node: living cables join it with `node`, which is of its own part as well.
[[nodiscard]] std::vector<bool> part_of(const TimedFabric& on, std::uint32_t node);

/// Living nodes that the manager's node has a path to, itself included.
[[nodiscard]] inline std::size_t count_reachable(const TimedFabric& on) {
  return static_cast<std::size_t>(std::ranges::count(part_of(on, on.fabric.spec().sm_node), true));
}

/// Walks the registers of the simulated switches from every living host to every LID that a living
/// end port has. The message names the first pair that does not arrive; also LIDs that two ports
/// share, and a living end port without a LID. Empty when all is well. Nodes of `without` are
/// neither sources nor destinations, and may lack LIDs.
[[nodiscard]] std::string find_broken_route(const TimedFabric& on,
                                            const std::set<std::uint32_t>& without = {});

/// The same among the nodes of `part`, as part_of() returns it.
[[nodiscard]] std::string find_broken_route_within(const TimedFabric& on,
                                                   const std::vector<bool>& part,
                                                   const std::set<std::uint32_t>& without = {});

/// Where a directed SMP of the manager is going, along the cables as they are; kNoNode for others,
/// and where the path ends nowhere.
[[nodiscard]] std::uint32_t find_destination(const TimedFabric& on, const Smp& smp);

}  // namespace smd::test
