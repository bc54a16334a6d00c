#include "sim-backend/adaptive/shape.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "sim-backend/topology/snapshot.h"
#include "smd/routing/topology/dragonfly.h"
#include "smd/routing/topology/grid.h"

namespace smd::sim {
namespace {

std::string name_of(const FabricSpec& spec, std::uint32_t node) {
  return spec.nodes[node].description;
}

}  // namespace

Result<Shape> Shape::find(const FabricSpec& spec, const ShapeKeys& keys) {
  Shape out;
  out.router_of_.assign(spec.nodes.size(), kNowhere);
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    if (spec.nodes[n].type != NodeType::Switch) continue;
    out.router_of_[n] = out.routers();
    out.node_of_.push_back(n);
  }
  for (const std::uint32_t node : out.node_of_) {
    out.first_port_.push_back(static_cast<std::uint32_t>(out.peers_.size()));
    for (const PortSpec& port : spec.nodes[node].ports) {
      out.peers_.push_back(port.peer_node == kNoNode ? kNowhere : out.router_of_[port.peer_node]);
    }
  }
  for (const NodeSpec& node : spec.nodes) {
    if (node.type == NodeType::Switch) continue;
    for (std::size_t p = 1; p < node.ports.size(); ++p) {
      if (node.ports[p].peer_node == kNoNode) continue;
      const Router router = out.router_of_[node.ports[p].peer_node];
      if (router == kNowhere) {
        return fail(Errc::Unsupported, node.description + " is not on a switch");
      }
      out.host_router_.push_back(router);
      out.host_port_.push_back(node.ports[p].peer_port.value());
    }
  }
  if (std::string why = out.place_routers(spec, keys); !why.empty()) {
    return fail(Errc::Unsupported, std::move(why));
  }
  out.list_cables();
  if (std::string why = out.check(spec); !why.empty()) {
    return fail(Errc::Unsupported, std::move(why));
  }
  return out;
}

/// Sets kind, sides, places; what is wrong, or nothing.
std::string Shape::place_routers(const FabricSpec& spec, const ShapeKeys& keys) {
  const auto count = routers();
  if (!keys.dims.empty()) {
    kind_ = ShapeKind::Butterfly;
    sides_ = keys.dims;
  } else if (keys.group > 0) {
    kind_ = ShapeKind::Dragonfly;
    if (count % keys.group != 0 || count == keys.group) {
      return fmt::format("groups of {} switches each: the fabric has {}", keys.group, count);
    }
    sides_ = {count / keys.group, keys.group};
    // Before room is made for every pair: with more pairs than cables there are some without.
    const std::uint64_t pairs = std::uint64_t{sides_[0]} * (sides_[0] - 1);
    const auto ends = static_cast<std::uint64_t>(
        std::ranges::count_if(peers_, [](Router far) { return far != kNowhere; }));
    if (pairs > ends) {
      return fmt::format("groups of {} switches each: {} groups need {} cables, the fabric has {}",
                         keys.group,
                         sides_[0],
                         pairs / 2,
                         ends / 2);
    }
  }
  if (!sides_.empty()) {
    const auto product =
        std::accumulate(sides_.begin(), sides_.end(), std::uint64_t{1}, std::multiplies<>());
    if (product != count) {
      return fmt::format("dims of {} switches: the fabric has {}", product, count);
    }
    for (Router router = 0; router < count; ++router) {
      std::uint32_t rest = router, below = count;
      for (const std::uint32_t side : sides_) {
        below /= side;
        place_.push_back(rest / below);
        rest %= below;
      }
    }
  } else {
    const auto fabric = build_snapshot(spec);
    const auto switch_of = [&](Router router) {
      return fabric->switch_of[NodeIdx{node_of_[router]}];
    };
    if (const auto hamming = recognise_hamming(*fabric)) {
      kind_ = ShapeKind::Butterfly;
      if (!hamming->lattice.full()) return "a flattened butterfly without all of its switches";
      sides_ = hamming->lattice.sides;
      for (Router router = 0; router < count; ++router) {
        for (std::size_t d = 0; d < sides_.size(); ++d) {
          place_.push_back(hamming->lattice.coordinate(switch_of(router), d));
        }
      }
    } else if (const auto dragonfly = recognise_dragonfly(*fabric)) {
      kind_ = ShapeKind::Dragonfly;
      const auto& members = dragonfly->members;
      sides_ = {static_cast<std::uint32_t>(members.size()),
                static_cast<std::uint32_t>(members[0].size())};
      for (Router router = 0; router < count; ++router) {
        const SwitchIdx sw = switch_of(router);
        const auto& group = members[dragonfly->group[sw]];
        if (group.size() != sides_[1]) return "a dragonfly without all of its switches";
        place_.push_back(dragonfly->group[sw]);
        place_.push_back(static_cast<std::uint32_t>(std::ranges::find(group, sw) - group.begin()));
      }
    } else {
      return "neither a flattened butterfly nor a dragonfly with complete groups";
    }
  }
  router_at_.assign(count, kNowhere);
  for (Router router = 0; router < count; ++router) {
    std::uint32_t index = 0;
    for (std::size_t d = 0; d < sides_.size(); ++d)
      index = index * sides_[d] + coordinate(router, d);
    router_at_[index] = router;
  }
  return {};
}

Router Shape::at(const std::vector<std::uint32_t>& coordinates) const {
  std::uint32_t index = 0;
  for (std::size_t d = 0; d < sides_.size(); ++d) index = index * sides_[d] + coordinates[d];
  return router_at_[index];
}

void Shape::list_cables() {
  const std::size_t dimensions = sides_.size();
  for (std::size_t d = 0; d < dimensions; ++d) {
    first_slot_.push_back(slots_);
    // Cables between a dragonfly's groups are listed by groups.
    if (kind_ == ShapeKind::Butterfly || d > 0) slots_ += sides_[d];
  }
  std::vector<std::vector<Gateway>> global(
      kind_ == ShapeKind::Dragonfly ? std::size_t{groups()} * groups() : 0);
  std::vector<std::vector<std::uint8_t>> by_slot(slots_);
  for (Router router = 0; router < routers(); ++router) {
    for (auto& slot : by_slot) slot.clear();
    const std::uint32_t ports =
        (router + 1 < routers() ? first_port_[router + 1]
                                : static_cast<std::uint32_t>(peers_.size())) -
        first_port_[router];
    for (std::uint32_t p = 1; p < ports; ++p) {
      const auto port = static_cast<std::uint8_t>(p);
      const Router far = peer(router, port);
      if (far == kNowhere) continue;
      if (kind_ == ShapeKind::Dragonfly && group(far) != group(router)) {
        global[std::size_t{group(router)} * groups() + group(far)].push_back({router, port, far});
        continue;
      }
      for (std::size_t d = 0; d < dimensions; ++d) {
        if (coordinate(far, d) == coordinate(router, d)) continue;
        by_slot[first_slot_[d] + coordinate(far, d)].push_back(port);
        break;
      }
    }
    for (const auto& slot : by_slot) {
      first_cable_.push_back(static_cast<std::uint32_t>(ports_.size()));
      ports_.insert(ports_.end(), slot.begin(), slot.end());
    }
  }
  first_cable_.push_back(static_cast<std::uint32_t>(ports_.size()));
  for (auto& pair : global) {
    std::ranges::sort(pair, {}, [](const Gateway& g) { return std::pair(g.router, g.port); });
    first_gateway_.push_back(static_cast<std::uint32_t>(gateways_.size()));
    gateways_.insert(gateways_.end(), pair.begin(), pair.end());
  }
  first_gateway_.push_back(static_cast<std::uint32_t>(gateways_.size()));
}

/// Cables of a butterfly differ in one coordinate; everybody who should be a neighbour is one.
std::string Shape::check(const FabricSpec& spec) const {
  for (Router router = 0; router < routers(); ++router) {
    const std::string name = name_of(spec, node_of(router));
    for (std::size_t p = 1; p < spec.nodes[node_of(router)].ports.size(); ++p) {
      const Router far = peer(router, static_cast<std::uint8_t>(p));
      if (far == kNowhere || kind_ == ShapeKind::Dragonfly) continue;
      std::size_t differing = 0;
      for (std::size_t d = 0; d < sides_.size(); ++d) {
        differing += coordinate(far, d) != coordinate(router, d);
      }
      if (differing == 1) continue;
      return fmt::format("{}:{} leads to {}, which is {} in these dims",
                         name,
                         p,
                         name_of(spec, node_of(far)),
                         differing == 0 ? "the same place" : "no neighbour");
    }
    for (std::size_t d = kind_ == ShapeKind::Dragonfly ? 1 : 0; d < sides_.size(); ++d) {
      for (std::uint32_t x = 0; x < sides_[d]; ++x) {
        if (x == coordinate(router, d) || !cables(router, d, x).empty()) continue;
        std::vector<std::uint32_t> place;
        for (std::size_t e = 0; e < sides_.size(); ++e) place.push_back(coordinate(router, e));
        place[d] = x;
        return fmt::format(
            "{} has no cable to {}, its neighbour", name, name_of(spec, node_of(at(place))));
      }
    }
  }
  if (kind_ == ShapeKind::Butterfly) return {};
  for (std::uint32_t g = 0; g < groups(); ++g) {
    for (std::uint32_t h = 0; h < groups(); ++h) {
      if (g == h || !gateways(g, h).empty()) continue;
      return fmt::format("no cable from the group of {} to that of {}",
                         name_of(spec, node_of(at({g, 0}))),
                         name_of(spec, node_of(at({h, 0}))));
    }
  }
  return {};
}

std::uint32_t Shape::trunk(std::size_t dimension) const {
  std::size_t least = SIZE_MAX;
  if (kind_ == ShapeKind::Dragonfly && dimension == 0) {
    for (std::uint32_t g = 0; g < groups(); ++g) {
      for (std::uint32_t h = 0; h < groups(); ++h) {
        if (g != h) least = std::min(least, gateways(g, h).size());
      }
    }
    return static_cast<std::uint32_t>(least);
  }
  for (Router router = 0; router < routers(); ++router) {
    for (std::uint32_t x = 0; x < sides_[dimension]; ++x) {
      if (x != coordinate(router, dimension)) {
        least = std::min(least, cables(router, dimension, x).size());
      }
    }
  }
  return static_cast<std::uint32_t>(least);
}

}  // namespace smd::sim
