// dragonfly: complete groups joined completely, placed by the extended circulant arrangement.
//
// The t(b-1) global ports of a group are numbered v. Ports 2i and 2i+1 form a pair that serves the
// groups i+1 further on and i+1 back (modulo the number of such distances), so the port at the
// other end is v xor 1. With an even number of groups the distance b/2 is its own opposite: the
// last t ports serve it and lead to the port of the same number.
#include <fmt/core.h>

#include <array>

#include "sim-backend/topology/drawing.h"
#include "sim-backend/topology/generators/generator_entries.h"

namespace smd::sim {
namespace {

struct Dragonfly {
  std::uint32_t a, c, h, b, global_trunk, local_trunk;

  [[nodiscard]] std::uint32_t global_ports() const { return global_trunk * (b - 1); }

  [[nodiscard]] unsigned local_ports() const { return (a - 1) * local_trunk; }

  struct FilePlace {
    std::uint32_t group;
    std::uint32_t v;
  };

  [[nodiscard]] FilePlace peer_of(std::uint32_t group, std::uint32_t v) const {
    const std::uint32_t distances = (b - 1) / 2;
    if (v >= 2 * distances * global_trunk) return {(group + b / 2) % b, v};
    const std::uint32_t distance = v / 2 % distances + 1;
    return {v % 2 == 0 ? (group + distance) % b : (group + b - distance) % b, v ^ 1u};
  }

  /// Global ports go to the routers in order, so that no router has two more than another.
  [[nodiscard]] std::uint32_t router_of(std::uint32_t v) const {
    return static_cast<std::uint32_t>(std::uint64_t{v} * a / global_ports());
  }

  /// The first v of router r is the smallest with v·a >= r·ports.
  [[nodiscard]] unsigned global_port(std::uint32_t v) const {
    const std::uint64_t first = (std::uint64_t{router_of(v)} * global_ports() + a - 1) / a;
    return c + local_ports() + static_cast<unsigned>(v - first) + 1;
  }
};

void add_local_links(Drawing& drawing, const Dragonfly& shape, std::uint32_t first) {
  for (std::uint32_t r = 0; r < shape.a; ++r) {
    for (std::uint32_t s = r + 1; s < shape.a; ++s) {
      for (std::uint32_t t = 0; t < shape.local_trunk; ++t) {
        const unsigned base = shape.c + t * (shape.a - 1);
        drawing.cable(first + r, base + s, first + s, base + r + 1);
      }
    }
  }
}

Result<Dragonfly> read_shape(const Arguments& arguments) {
  Dragonfly d{.a = arguments.number("a"),
              .c = arguments.number("c"),
              .h = arguments.number("h"),
              .b = arguments.number("groups"),
              .global_trunk = arguments.number("global-trunk"),
              .local_trunk = arguments.number("local-trunk")};
  if (d.b == 0) d.b = d.a * d.h / d.global_trunk + 1;
  const std::uint64_t needed = product({d.global_trunk, d.b - 1});
  if (needed > product({d.a, d.h})) {
    return fail(Errc::Invalid,
                fmt::format("groups={} with global-trunk={} needs {} global ports per group: "
                            "a·h gives {}",
                            d.b,
                            d.global_trunk,
                            needed,
                            d.a * d.h));
  }
  const std::uint64_t routers = product({d.a, d.b});
  const Size size{.switches = routers,
                  .host_ports = product({routers, d.c}),
                  .radix = d.c + product({d.a - 1, d.local_trunk}) + d.h};
  if (std::string why = check_size(size); !why.empty()) return fail(Errc::Invalid, std::move(why));
  return d;
}

Result<FabricSpec> draw(const Arguments& arguments) {
  const Result<Dragonfly> read = read_shape(arguments);
  if (!read) return tl::unexpected<Error>(read.error());
  const Dragonfly& d = *read;
  Drawing drawing(arguments);
  for (std::uint32_t g = 0; g < d.b; ++g) {
    for (std::uint32_t r = 0; r < d.a; ++r) {
      drawing.add_switch(switch_name({g, r}), d.c + d.local_ports() + d.h);
    }
  }
  // Routers were the first nodes of the drawing: router r of group g is node g·a + r.
  for (std::uint32_t g = 0; g < d.b; ++g) {
    add_local_links(drawing, d, g * d.a);
    for (std::uint32_t v = 0; v < d.global_ports(); ++v) {
      const auto peer = d.peer_of(g, v);
      if (peer.group < g) continue;
      drawing.cable(g * d.a + d.router_of(v),
                    d.global_port(v),
                    peer.group * d.a + d.router_of(peer.v),
                    d.global_port(peer.v));
    }
  }
  for (std::uint32_t node = 0; node < d.a * d.b; ++node) {
    for (unsigned h = 0; h < d.c; ++h) drawing.hang_host(node, h + 1);
  }
  return std::move(drawing).finish();
}

constexpr std::array kKeys{
    number_key("a", "4", 1, 254).means("routers per group, all joined to each other"),
    number_key("c", "2", 0, 254).means("hosts per router"),
    number_key("h", "2", 1, 254).means("global links per router"),
    number_key("groups", "0", 0, 49151)
        .means("groups, all joined to each other; 0 takes a·h/global-trunk + 1"),
    number_key("global-trunk", "1", 1, 254).means("links between each pair of groups"),
    number_key("local-trunk", "1", 1, 254).means("links between each pair of routers of a group"),
};

}  // namespace

const Generator kDragonfly{
    .name = "dragonfly",
    .meaning = "dragonfly with complete groups; hosts, local and global links in that port order",
    .keys = kKeys,
    .draw = draw,
};

}  // namespace smd::sim
