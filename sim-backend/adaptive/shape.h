// A flattened butterfly or a dragonfly as rules see it: routers by number, where each stands, and
// by which ports it comes to another. The whole shape: every cable that it has must be there.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim-backend/packet/wiring.h"
#include "sim-backend/topology/fabric_spec.h"

namespace smd::sim {

using Router = std::uint32_t;  // the switches in the fabric's order

enum class ShapeKind : std::uint8_t { Butterfly, Dragonfly };

/// How the fabric's switches are numbered; nothing: it is recognised from the cables.
struct ShapeKeys {
  std::vector<std::uint32_t> dims;  // a butterfly's sides, the last coordinate running fastest
  std::uint32_t group = 0;          // switches of a dragonfly's group
};

/// A global cable.
struct Gateway {
  Router router = 0;
  std::uint8_t port = 0;
  Router far = 0;
};

class Shape {
 public:
  /// Unsupported where it is neither, or a cable of the shape is missing: says which.
  [[nodiscard]] static Result<Shape> find(const FabricSpec& spec, const ShapeKeys& keys);

  [[nodiscard]] ShapeKind kind() const { return kind_; }

  [[nodiscard]] std::uint32_t routers() const {
    return static_cast<std::uint32_t>(node_of_.size());
  }

  [[nodiscard]] std::uint32_t node_of(Router router) const { return node_of_[router]; }

  [[nodiscard]] Router router_of(std::uint32_t node) const { return router_of_[node]; }

  [[nodiscard]] HostNum hosts() const { return static_cast<HostNum>(host_router_.size()); }

  [[nodiscard]] Router router_of_host(HostNum host) const { return host_router_[host]; }

  [[nodiscard]] std::uint8_t port_of_host(HostNum host) const { return host_port_[host]; }

  /// The router at the other end of a cable; kNowhere for a host.
  [[nodiscard]] Router peer(Router router, std::uint8_t port) const {
    return peers_[first_port_[router] + port];
  }

  /// Sides of a butterfly; groups of a dragonfly, and the routers of each.
  [[nodiscard]] const std::vector<std::uint32_t>& sides() const { return sides_; }

  [[nodiscard]] std::uint32_t groups() const { return sides_[0]; }

  /// Coordinate in a dimension; of a dragonfly 0 is the group, 1 the place in it.
  [[nodiscard]] std::uint32_t coordinate(Router router, std::size_t dimension) const {
    return place_[router * sides_.size() + dimension];
  }

  [[nodiscard]] std::uint32_t group(Router router) const { return coordinate(router, 0); }

  /// Parallel cables to the router with another coordinate in one dimension; of a dragonfly in
  /// dimension 1, within the group. In port order.
  [[nodiscard]] std::span<const std::uint8_t> cables(Router router,
                                                     std::size_t dimension,
                                                     std::uint32_t coordinate) const {
    const std::size_t slot = router * slots_ + first_slot_[dimension] + coordinate;
    return {ports_.data() + first_cable_[slot], ports_.data() + first_cable_[slot + 1]};
  }

  /// Of a dragonfly: from one group to another, by router, then by port.
  [[nodiscard]] std::span<const Gateway> gateways(std::uint32_t from, std::uint32_t to) const {
    const std::size_t pair = std::size_t{from} * groups() + to;
    return {gateways_.data() + first_gateway_[pair], gateways_.data() + first_gateway_[pair + 1]};
  }

  /// The router at a place; of a butterfly and of a dragonfly.
  [[nodiscard]] Router at(const std::vector<std::uint32_t>& coordinates) const;

  /// The least cables between neighbours in a dimension; of a dragonfly 0: between two groups.
  [[nodiscard]] std::uint32_t trunk(std::size_t dimension) const;

 private:
  [[nodiscard]] std::string place_routers(const FabricSpec& spec, const ShapeKeys& keys);
  void list_cables();
  [[nodiscard]] std::string check(const FabricSpec& spec) const;

  ShapeKind kind_{};
  std::vector<std::uint32_t> node_of_, router_of_;
  std::vector<Router> host_router_;
  std::vector<std::uint8_t> host_port_;
  std::vector<std::uint32_t> first_port_;  // by router, into peers_
  PagedVector<Router> peers_;
  std::vector<std::uint32_t> sides_, place_;
  std::vector<Router> router_at_;  // by place, the last coordinate running fastest
  std::size_t slots_ = 0;          // per router: one for each coordinate of each dimension
  std::vector<std::size_t> first_slot_;
  std::vector<std::uint32_t> first_cable_;
  std::vector<std::uint8_t> ports_;
  std::vector<std::uint32_t> first_gateway_;
  std::vector<Gateway> gateways_;
};

}  // namespace smd::sim
