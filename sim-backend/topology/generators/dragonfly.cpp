// dragonfly: groups joined completely, placed by the extended circulant arrangement. Within a group
// routers are all joined to each other, or stand in a flattened butterfly (Cray XC).
// dragonfly-plus: groups of leaves below spines, global links at the spines alone (Shpiner and
// others, 2017; megafly, Flajslik and others, 2018).
//
// The t(b-1) global ports of a group are numbered v. Ports 2i and 2i+1 form a pair that serves the
// groups i+1 further on and i+1 back (modulo the number of such distances), so the port at the
// other end is v xor 1. With an even number of groups the distance b/2 is its own opposite: the
// last t ports serve it and lead to the port of the same number.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "sim-backend/topology/coordinates.h"
#include "sim-backend/topology/generators/generator_entries.h"
#include "sim-backend/topology/generators/hamming.h"

namespace smd::sim {
namespace {

/// Which of a group's routers with global links is joined to which of another group.
struct Circulant {
  std::uint32_t routers;  // of a group that have global links
  std::uint32_t groups, trunk;
  unsigned first_port;  // of them, before the first global one

  [[nodiscard]] std::uint32_t global_ports() const { return trunk * (groups - 1); }

  struct GlobalPlace {
    std::uint32_t group;
    std::uint32_t v;
  };

  [[nodiscard]] GlobalPlace peer_of(std::uint32_t group, std::uint32_t v) const {
    const std::uint32_t distances = (groups - 1) / 2;
    if (v >= 2 * distances * trunk) return {(group + groups / 2) % groups, v};
    const std::uint32_t distance = v / 2 % distances + 1;
    return {v % 2 == 0 ? (group + distance) % groups : (group + groups - distance) % groups,
            v ^ 1u};
  }

  /// Global ports go to the routers in order, so that no router has two more than another.
  [[nodiscard]] std::uint32_t router_of(std::uint32_t v) const {
    return static_cast<std::uint32_t>(std::uint64_t{v} * routers / global_ports());
  }

  /// The first v of router r is the smallest with v·routers >= r·ports.
  [[nodiscard]] unsigned global_port(std::uint32_t v) const {
    const std::uint64_t first =
        (std::uint64_t{router_of(v)} * global_ports() + routers - 1) / routers;
    return first_port + static_cast<unsigned>(v - first) + 1;
  }

  /// `node` says which node of the drawing a router of a group is.
  template <class Node>
  void cable(Drawing& drawing, Node node) const {
    for (std::uint32_t g = 0; g < groups; ++g) {
      for (std::uint32_t v = 0; v < global_ports(); ++v) {
        const GlobalPlace peer = peer_of(g, v);
        if (peer.group < g) continue;
        drawing.cable(node(g, router_of(v)),
                      global_port(v),
                      node(peer.group, router_of(peer.v)),
                      global_port(peer.v));
      }
    }
  }
};

/// 0 takes as many groups as a group's global links reach.
Result<std::uint32_t> count_groups(std::uint32_t asked,
                                   std::uint32_t routers,
                                   std::uint32_t links,
                                   std::uint32_t trunk,
                                   const char* product_name) {
  const std::uint64_t available = product({routers, links});
  if (asked == 0) {
    // As wide as what is counted: sizes are checked once there are groups.
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(available / trunk + 1, 1u << 30));
  }
  const std::uint64_t needed = product({trunk, asked - 1});
  if (needed <= available) return asked;
  return fail(Errc::Invalid,
              fmt::format("groups={} with global-trunk={} needs {} global ports per group: "
                          "{} gives {}",
                          asked,
                          trunk,
                          needed,
                          product_name,
                          available));
}

constexpr std::uint64_t kMaxRoutersOfGroup = 49151;

struct Dragonfly {
  std::uint32_t a, c, h, b, global_trunk;
  std::vector<std::uint32_t> sides, local_trunk;  // of a group

  [[nodiscard]] std::uint64_t local_ports() const {
    std::uint64_t ports = 0;
    for (std::size_t d = 0; d < sides.size(); ++d) ports += product({sides[d] - 1, local_trunk[d]});
    return ports;
  }
};

Result<Dragonfly> read_shape(const Arguments& arguments) {
  Dragonfly d{.a = arguments.number("a"),
              .c = arguments.number("c"),
              .h = arguments.number("h"),
              .b = 0,
              .global_trunk = arguments.number("global-trunk"),
              .sides = arguments.list("local"),
              .local_trunk = arguments.list("local-trunk")};
  if (d.sides == std::vector<std::uint32_t>{0}) d.sides = {d.a};
  std::uint64_t routers_of_group = 1;
  for (const std::uint32_t side : d.sides) {
    if (side == 0) return fail(Errc::Invalid, "local has a side of 0: 1 or more");
    routers_of_group = product({routers_of_group, side});
  }
  if (routers_of_group > kMaxRoutersOfGroup) {
    return fail(
        Errc::Invalid,
        fmt::format("groups of {} routers: at most {}", routers_of_group, kMaxRoutersOfGroup));
  }
  d.a = static_cast<std::uint32_t>(routers_of_group);
  if (d.local_trunk.size() == 1) d.local_trunk.resize(d.sides.size(), d.local_trunk[0]);
  if (d.local_trunk.size() != d.sides.size()) {
    return fail(Errc::Invalid,
                fmt::format("local-trunk has {} numbers: one for all or one per dimension of a "
                            "group ({})",
                            d.local_trunk.size(),
                            d.sides.size()));
  }
  const auto groups = count_groups(arguments.number("groups"), d.a, d.h, d.global_trunk, "a·h");
  if (!groups) return tl::unexpected<Error>(groups.error());
  d.b = *groups;
  const std::uint64_t routers = product({d.a, d.b});
  const Size size{.switches = routers,
                  .host_ports = product({routers, d.c}),
                  .radix = d.c + d.local_ports() + d.h,
                  .beyond = arguments.number("beyond") != 0};
  if (std::string why = check_size(size); !why.empty()) return fail(Errc::Invalid, std::move(why));
  return d;
}

Result<FabricSpec> draw_dragonfly(const Arguments& arguments) {
  const Result<Dragonfly> read = read_shape(arguments);
  if (!read) return tl::unexpected<Error>(read.error());
  const Dragonfly& d = *read;
  const auto local_ports = static_cast<unsigned>(d.local_ports());
  const Coordinates grid(d.sides);
  Drawing drawing(arguments);
  for (std::uint32_t g = 0; g < d.b; ++g) {
    for (std::uint32_t r = 0; r < d.a; ++r) {
      std::vector<std::uint32_t> place{g};
      for (const std::uint32_t x : grid.of(r)) place.push_back(x);
      drawing.add_switch(switch_name(place), d.c + local_ports + d.h);
    }
  }
  // Routers were the first nodes of the drawing: router r of group g is node g·a + r.
  for (std::uint32_t g = 0; g < d.b; ++g) {
    cable_hamming(drawing, d.sides, d.local_trunk, g * d.a, d.c);
  }
  const Circulant global{
      .routers = d.a, .groups = d.b, .trunk = d.global_trunk, .first_port = d.c + local_ports};
  global.cable(drawing, [&](std::uint32_t group, std::uint32_t r) { return group * d.a + r; });
  for (std::uint32_t node = 0; node < d.a * d.b; ++node) {
    for (unsigned h = 0; h < d.c; ++h) drawing.hang_host(node, h + 1);
  }
  return std::move(drawing).finish();
}

Result<FabricSpec> draw_plus(const Arguments& arguments) {
  const std::uint32_t leaves = arguments.number("leaves"), spines = arguments.number("spines");
  const std::uint32_t hosts = arguments.number("hosts"), links = arguments.number("global");
  const std::uint32_t trunk = arguments.number("global-trunk");
  const auto groups =
      count_groups(arguments.number("groups"), spines, links, trunk, "spines·global");
  if (!groups) return tl::unexpected<Error>(groups.error());
  const std::uint32_t each = leaves + spines;
  const Size size{.switches = product({*groups, each}),
                  .host_ports = product({*groups, leaves, hosts}),
                  .radix = std::max<std::uint64_t>(hosts + spines, leaves + links)};
  if (std::string why = check_size(size); !why.empty()) return fail(Errc::Invalid, std::move(why));
  Drawing drawing(arguments);
  for (std::uint32_t g = 0; g < *groups; ++g) {
    for (std::uint32_t l = 0; l < leaves; ++l) {
      drawing.add_switch(switch_name({g, 0, l}), hosts + spines);
    }
    for (std::uint32_t s = 0; s < spines; ++s) {
      drawing.add_switch(switch_name({g, 1, s}), leaves + links);
    }
  }
  for (std::uint32_t g = 0; g < *groups; ++g) {
    for (std::uint32_t l = 0; l < leaves; ++l) {
      for (std::uint32_t s = 0; s < spines; ++s) {
        drawing.cable(g * each + l, hosts + s + 1, g * each + leaves + s, l + 1);
      }
    }
  }
  const Circulant global{
      .routers = spines, .groups = *groups, .trunk = trunk, .first_port = leaves};
  global.cable(drawing,
               [&](std::uint32_t group, std::uint32_t s) { return group * each + leaves + s; });
  for (std::uint32_t g = 0; g < *groups; ++g) {
    for (std::uint32_t l = 0; l < leaves; ++l) {
      for (unsigned h = 0; h < hosts; ++h) drawing.hang_host(g * each + l, h + 1);
    }
  }
  return std::move(drawing).finish();
}

constexpr Key kGlobalTrunk =
    number_key("global-trunk", "1", 1, 254).means("links between each pair of groups");

constexpr std::array kDragonflyKeys{
    number_key("a", "4", 1, 254).means("routers per group, all joined to each other"),
    number_key("c", "2", 0, 254).means("hosts per router"),
    kAdaptersKey,
    number_key("h", "2", 1, 254).means("global links per router"),
    number_key("groups", "0", 0, 49151)
        .means("groups, all joined to each other; 0 takes a·h/global-trunk + 1"),
    kGlobalTrunk,
    list_key("local", "0", 0, 254)
        .means("sides of a group that is a flattened butterfly, in place of a; 0: a router joined "
               "to all"),
    list_key("local-trunk", "1", 1, 254)
        .means("links between neighbours in a group, one number or one for each side"),
    kBeyondKey,
};

constexpr std::array kPlusKeys{
    number_key("leaves", "4", 1, 253).means("leaves per group, each joined to all its spines"),
    number_key("spines", "4", 1, 253).means("spines per group"),
    number_key("hosts", "4", 0, 253).means("hosts per leaf"),
    kAdaptersKey,
    number_key("global", "2", 1, 253).means("global links per spine"),
    number_key("groups", "0", 0, 49151)
        .means("groups, all joined to each other; 0 takes spines·global/global-trunk + 1"),
    kGlobalTrunk,
};

}  // namespace

const Generator kDragonfly{
    .name = "dragonfly",
    .meaning =
        "dragonfly with complete groups, or groups of flattened butterflies; hosts, local "
        "and global links in that port order",
    .keys = kDragonflyKeys,
    .draw = draw_dragonfly,
    .hosts_key = "c",
};

const Generator kDragonflyPlus{
    .name = "dragonfly-plus",
    .meaning = "dragonfly+ (megafly): groups of leaves and spines, global links at spines",
    .keys = kPlusKeys,
    .draw = draw_plus,
    .hosts_key = "hosts",
};

}  // namespace smd::sim
