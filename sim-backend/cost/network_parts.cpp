#include "sim-backend/cost/network_parts.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "sim-backend/cost/switch_groups.h"
#include "sim-backend/topology/snapshot.h"
#include "smd/routing/fat_tree/shape.h"

namespace smd::sim {
namespace {

/// Racks by the place of each node.
class RackPlan {
 public:
  RackPlan(const FabricSpec& spec, const HostAdapters& adapters, const Floor& floor)
      : floor_(floor) {
    rack_.assign(spec.nodes.size(), kNone);
    std::uint32_t switches = 0;
    for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
      if (spec.nodes[n].type == NodeType::Switch) rack_[n] = switches++ / floor.switches_per_rack;
    }
    const double racks = std::ceil(static_cast<double>(switches) / floor.switches_per_rack);
    columns_ = std::max(1u,
                        static_cast<std::uint32_t>(
                            std::ceil(std::sqrt(racks * floor.row_m / floor.rack_m) - 1e-9)));
    for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
      for (const PortSpec& port : spec.nodes[n].ports) {
        if (rack_[n] == kNone && port.peer_node != kNoNode) rack_[n] = rack_[port.peer_node];
      }
    }
    // A host stands in one rack, whatever switches its other adapters are cabled to.
    std::vector<std::uint32_t> rack_of(adapters.adapters.size(), kNone);
    for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
      const std::uint32_t host = adapters.host[n];
      if (host == kNoHost || rack_[n] == kNone) continue;
      if (rack_of[host] == kNone) rack_of[host] = rack_[n];
      rack_[n] = rack_of[host];
    }
  }

  [[nodiscard]] double metres(std::uint32_t a, std::uint32_t b) const {
    const std::uint32_t one = rack_[a], other = rack_[b];
    if (one == other) return floor_.within_m;
    const auto apart = [](std::uint32_t x, std::uint32_t y) { return x > y ? x - y : y - x; };
    return 2 * floor_.overhead_m + apart(one % columns_, other % columns_) * floor_.rack_m +
           apart(one / columns_, other / columns_) * floor_.row_m;
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  Floor floor_;
  std::uint32_t columns_ = 1;
  std::vector<std::uint32_t> rack_;
};

/// Which class a cable between two switches is of.
struct Classes {
  std::vector<std::string> names;
  std::function<std::size_t(std::uint32_t a, std::uint32_t b)> of;
};

std::string describe_grid(const Shape& grid) {
  if (grid.kind() == ShapeKind::Dragonfly) {
    return fmt::format("dragonfly of {} groups of {}, trunks of {} between groups and {} within",
                       grid.groups(),
                       grid.sides()[1],
                       grid.trunk(0),
                       grid.trunk(1));
  }
  std::string sides, trunks;
  for (std::size_t d = 0; d < grid.sides().size(); ++d) {
    sides += fmt::format("{}{}", d > 0 ? " x " : "", grid.sides()[d]);
    trunks += fmt::format("{}{}", d > 0 ? " x " : "", grid.trunk(d));
  }
  return fmt::format("flattened butterfly of {}, trunks of {}", sides, trunks);
}

Classes classes_of_grid(const Shape& grid) {
  Classes out;
  if (grid.kind() == ShapeKind::Dragonfly) {
    out.names = {"within groups", "between groups"};
    out.of = [&grid](std::uint32_t a, std::uint32_t b) -> std::size_t {
      return grid.group(grid.router_of(a)) != grid.group(grid.router_of(b));
    };
    return out;
  }
  for (std::size_t d = 0; d < grid.sides().size(); ++d) {
    out.names.push_back(fmt::format("dimension {}", d));
  }
  out.of = [&grid](std::uint32_t a, std::uint32_t b) {
    const Router one = grid.router_of(a), other = grid.router_of(b);
    std::size_t d = 0;
    while (grid.coordinate(one, d) == grid.coordinate(other, d)) ++d;
    return d;
  };
  return out;
}

/// A tree's by level, the lower one first; cables within a level last.
Classes classes_of_tree(const FatTreeShape& tree, const Fabric& fabric) {
  Classes out;
  const std::size_t steps = std::max<std::size_t>(tree.levels.size(), 1) - 1;
  for (std::size_t level = 0; level < steps; ++level) {
    out.names.push_back(fmt::format("level {} to {}", level, level + 1));
  }
  out.names.emplace_back("other");
  out.of = [&tree, &fabric, steps](std::uint32_t a, std::uint32_t b) -> std::size_t {
    const auto one = tree.level[fabric.switch_of[NodeIdx{a}]];
    const auto other = tree.level[fabric.switch_of[NodeIdx{b}]];
    const auto low = std::min(one, other), high = std::max(one, other);
    return high == low + 1 ? low : steps;
  };
  return out;
}

bool has_hosts_everywhere(const FabricSpec& spec) {
  return std::ranges::all_of(spec.nodes, [&](const NodeSpec& node) {
    if (node.type != NodeType::Switch) return true;
    return std::ranges::any_of(node.ports, [&](const PortSpec& port) {
      return port.peer_node != kNoNode && spec.nodes[port.peer_node].type != NodeType::Switch;
    });
  });
}

}  // namespace

std::uint64_t sold_length(double metres) {
  constexpr std::array kSteps{1.0, 2.0, 3.0, 5.0, 7.0};
  if (metres <= 10) {
    const auto* step = std::ranges::find_if(kSteps, [&](double s) { return metres <= s; });
    return step != kSteps.end() ? static_cast<std::uint64_t>(*step) : 10;
  }
  for (std::uint64_t ten = 10;; ten *= 10) {
    for (const double step : {1.0, 1.5, 2.0, 3.0, 5.0, 7.0}) {
      const double length = step * static_cast<double>(ten);
      if (metres <= length) return static_cast<std::uint64_t>(length);
    }
  }
}

std::uint64_t LinkClass::metres() const {
  std::uint64_t sum = 0;
  for (const auto& [length, cables] : by_metres) sum += length * cables;
  return sum;
}

std::uint64_t NetworkParts::switch_count() const {
  std::uint64_t sum = 0;
  for (const auto& [ports, many] : switches) sum += many;
  return sum;
}

std::uint64_t NetworkParts::switch_cables() const {
  std::uint64_t sum = 0;
  for (std::size_t c = 1; c < classes.size(); ++c) sum += classes[c].count;
  return sum;
}

Result<NetworkParts> count_parts(const FabricSpec& drawn,
                                 const Floor& floor,
                                 const ShapeKeys& keys) {
  // Aggregation nodes come with their switch, cable and all; routers are none of the network's.
  const FabricSpec spec = hosts_and_switches(drawn);
  NetworkParts out{.title = spec.title};
  const bool asked = !keys.dims.empty() || keys.group > 0;
  std::optional<SwitchGroups> groups;
  std::optional<FatTreeShape> tree;
  std::shared_ptr<const Fabric> fabric;
  Classes classes{.names = {"between switches"}, .of = [](auto, auto) { return std::size_t{0}; }};
  // Where switches have no hosts of their own it is no direct network.
  if (asked || has_hosts_everywhere(spec)) {
    auto grid = Shape::find(spec, keys);
    if (!grid && asked) return tl::unexpected<Error>(grid.error());
    if (grid) out.grid = std::move(*grid);
  }
  if (out.grid) {
    out.shape = describe_grid(*out.grid);
    classes = classes_of_grid(*out.grid);
  } else if ((groups = find_switch_groups(spec))) {
    out.shape = groups->shape;
    classes.names = {"within groups", "between groups"};
    classes.of = [&groups](std::uint32_t a, std::uint32_t b) -> std::size_t {
      return groups->group_of[a] != groups->group_of[b];
    };
  } else {
    fabric = build_snapshot(spec);
    out.shape = describe_shape(*fabric);
    if (auto found = recognise_fat_tree(*fabric)) {
      tree = std::move(*found);
      classes = classes_of_tree(*tree, *fabric);
    }
  }
  out.classes.push_back({.name = "hosts"});
  for (std::string& name : classes.names) out.classes.push_back({.name = std::move(name)});
  const HostAdapters adapters = group_adapters(spec);
  out.systems = count_hosts(adapters);
  out.hosts = out.systems.hosts;
  const RackPlan racks(spec, adapters, floor);
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    const NodeSpec& node = spec.nodes[n];
    const bool is_switch = node.type == NodeType::Switch;
    if (is_switch) {
      ++out.switches[node.num_ports()];
      out.switch_ports += node.num_ports();
    }
    for (std::size_t p = 1; p < node.ports.size(); ++p) {
      const std::uint32_t peer = node.ports[p].peer_node;
      if (peer == kNoNode) {
        out.free_ports += is_switch;
        continue;
      }
      out.host_ports += !is_switch;
      const bool to_switch = spec.nodes[peer].type == NodeType::Switch;
      const bool of_host = !is_switch || !to_switch;
      // Each cable once: a host's at the host, others at their first end.
      const bool seen = peer < n || (peer == n && node.ports[p].peer_port.value() < p);
      if (is_switch == to_switch ? seen : is_switch) continue;
      LinkClass& cable = out.classes[of_host ? 0 : 1 + classes.of(n, peer)];
      ++cable.count;
      ++cable.by_metres[sold_length(racks.metres(n, peer))];
    }
  }
  const auto empty = std::remove_if(out.classes.begin() + 1,
                                    out.classes.end(),
                                    [](const LinkClass& each) { return each.count == 0; });
  out.classes.erase(empty, out.classes.end());
  return out;
}

}  // namespace smd::sim
