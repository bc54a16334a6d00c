// What a network is made of: switches, ports, and cables by class and length, counted from the
// cables as they are drawn.
//
// Where everything stands is a plan of a floor: switches in the fabric's order fill racks, racks
// stand in rows, and the floor is as deep as it is wide. A host stands in the rack of its switch,
// one with several adapters in that of the first one. A cable is as long as the next length that is
// sold.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim-backend/adaptive/shape.h"
#include "sim-backend/topology/fabric_spec.h"
#include "smd/fabric/hosts.h"

namespace smd::sim {

struct Floor {
  std::uint32_t switches_per_rack = 16;
  double within_m = 2;    // of a cable within a rack
  double overhead_m = 2;  // from a port to the tray above its rack, at either end
  double rack_m = 0.6;    // from one rack to the next in its row
  double row_m = 1.8;     // from row to row
};

/// The shortest cable that is sold and at least so long, in metres: 1, 2, 3, 5, 7, 10, 15, 20, 30,
/// 50, 70, 100, 150, and so on. Requires: at most 1e18.
[[nodiscard]] std::uint64_t sold_length(double metres);

/// Cables that serve the same end: hosts', of a dimension, within groups, between levels.
struct LinkClass {
  std::string name;
  std::uint64_t count = 0;
  std::map<std::uint64_t, std::uint64_t> by_metres;  // as sold

  [[nodiscard]] std::uint64_t metres() const;
};

struct NetworkParts {
  std::string title;
  std::string shape;                           // in words
  std::optional<Shape> grid;                   // of a whole flattened butterfly or dragonfly
  HostCounts systems;                          // hosts, and adapters of one
  std::uint64_t hosts = 0;                     // systems.hosts
  std::uint64_t host_ports = 0;                // cabled ones
  std::map<unsigned, std::uint64_t> switches;  // by ports
  std::uint64_t switch_ports = 0, free_ports = 0;
  std::vector<LinkClass> classes;  // hosts' first, cables between switches after it

  [[nodiscard]] std::uint64_t switch_count() const;
  [[nodiscard]] std::uint64_t switch_cables() const;  // all but hosts'
};

/// Aggregation nodes (SHARP) are parts of switches, and routers are left out: neither are hosts.
/// `grid.group`: how many switches a group of a dragonfly has, where its cables could be taken for
/// those of a butterfly. Unsupported where the fabric is not what `keys` say.
[[nodiscard]] Result<NetworkParts> count_parts(const FabricSpec& spec,
                                               const Floor& floor,
                                               const ShapeKeys& keys = {});

}  // namespace smd::sim
