// What a fabric looks like from outside, computed without the code under test.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim-backend/topology/fabric_spec.h"

namespace smd::sim::testing {

/// The fabric of a call that must succeed; its faults fail the test.
[[nodiscard]] FabricSpec draw(const std::string& call);

[[nodiscard]] bool is_switch(const FabricSpec& spec, std::uint32_t node);
[[nodiscard]] std::uint32_t node_named(const FabricSpec& spec, const std::string& description);
[[nodiscard]] std::size_t count_switches(const FabricSpec& spec);
[[nodiscard]] std::size_t count_hosts(const FabricSpec& spec);

/// Cables between switches, and all cables.
[[nodiscard]] std::size_t count_switch_links(const FabricSpec& spec);
[[nodiscard]] std::size_t count_links(const FabricSpec& spec);

/// Neighbour switches with the number of cables to each.
[[nodiscard]] std::map<std::uint32_t, unsigned> switch_neighbours(const FabricSpec& spec,
                                                                  std::uint32_t node);
[[nodiscard]] unsigned hosts_on(const FabricSpec& spec, std::uint32_t node);

/// How many switches have how many cables to other switches.
[[nodiscard]] std::map<unsigned, unsigned> switch_degrees(const FabricSpec& spec);

/// Hops between switches; -1 where there is no way.
[[nodiscard]] std::vector<int> distances(const FabricSpec& spec, std::uint32_t from);

/// The longest shortest way between switches; -1 when they are not all connected.
[[nodiscard]] int diameter(const FabricSpec& spec);

/// Numbers in a name: "sw-3-0-5" gives 3, 0, 5.
[[nodiscard]] std::vector<unsigned> coordinates(const FabricSpec& spec, std::uint32_t node);

}  // namespace smd::sim::testing
