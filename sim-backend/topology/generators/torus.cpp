// torus, hypercube, express-torus: neighbours by coordinates.
#include <fmt/core.h>

#include <array>

#include "sim-backend/topology/coordinates.h"
#include "sim-backend/topology/drawing.h"
#include "sim-backend/topology/generators/generator_entries.h"

namespace smd::sim {
namespace {

constexpr std::uint32_t kMaxSide = 49151;

/// One family of links: in every dimension to the switch `reach` further on.
struct Stride {
  std::uint32_t reach;
  unsigned first_port;  // dimension d uses first_port + 2d forward and the next one backward
  bool wraps;
};

/// A ring of 2 · reach switches meets itself: the way forward and the way back are one cable.
void add_links(Drawing& drawing,
               const Coordinates& grid,
               const std::vector<std::uint32_t>& nodes,
               const Stride& stride) {
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    const auto from = grid.of(i);
    for (std::size_t d = 0; d < grid.sides().size(); ++d) {
      const std::uint32_t side = grid.sides()[d];
      if (side <= stride.reach) continue;
      const bool beyond = from[d] + stride.reach >= side;
      if (beyond && (!stride.wraps || side == 2 * stride.reach)) continue;
      auto to = from;
      to[d] = (from[d] + stride.reach) % side;
      const unsigned port = stride.first_port + 2 * static_cast<unsigned>(d);
      drawing.cable(nodes[i], port, nodes[grid.index(to)], port + 1);
    }
  }
}

std::vector<std::uint32_t> add_grid(Drawing& drawing, const Coordinates& grid, unsigned ports) {
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t i = 0; i < grid.count(); ++i) {
    nodes.push_back(drawing.add_switch(switch_name(grid.of(i)), ports));
  }
  return nodes;
}

void add_hosts(Drawing& drawing,
               const std::vector<std::uint32_t>& nodes,
               std::uint32_t hosts,
               unsigned first_port) {
  for (const std::uint32_t node : nodes) {
    for (unsigned h = 0; h < hosts; ++h) drawing.hang_host(node, first_port + h);
  }
}

Size grid_size(const std::vector<std::uint32_t>& dims, std::uint64_t links, std::uint64_t hosts) {
  std::uint64_t switches = 1;
  for (const std::uint32_t side : dims) switches = product({switches, side});
  return {.switches = switches, .host_ports = product({switches, hosts}), .radix = links + hosts};
}

Result<FabricSpec> draw_torus(const Arguments& arguments) {
  const auto& dims = arguments.list("dims");
  const std::uint32_t hosts = arguments.number("hosts");
  const auto links = static_cast<unsigned>(2 * dims.size());
  if (std::string why = check_size(grid_size(dims, links, hosts)); !why.empty()) {
    return fail(Errc::Invalid, std::move(why));
  }
  const Coordinates grid(dims);
  Drawing drawing(arguments);
  const auto nodes = add_grid(drawing, grid, links + hosts);
  add_links(
      drawing, grid, nodes, {.reach = 1, .first_port = 1, .wraps = arguments.number("mesh") == 0});
  add_hosts(drawing, nodes, hosts, links + 1);
  return std::move(drawing).finish();
}

Result<FabricSpec> draw_express(const Arguments& arguments) {
  const auto& dims = arguments.list("dims");
  const std::uint32_t hosts = arguments.number("hosts");
  const auto links = static_cast<unsigned>(2 * dims.size());
  if (std::string why = check_size(grid_size(dims, 2 * links, hosts)); !why.empty()) {
    return fail(Errc::Invalid, std::move(why));
  }
  const Coordinates grid(dims);
  Drawing drawing(arguments);
  const auto nodes = add_grid(drawing, grid, 2 * links + hosts);
  add_links(drawing, grid, nodes, {.reach = 1, .first_port = 1, .wraps = true});
  add_links(drawing, grid, nodes, {.reach = 2, .first_port = links + 1, .wraps = true});
  add_hosts(drawing, nodes, hosts, 2 * links + 1);
  return std::move(drawing).finish();
}

Result<FabricSpec> draw_hypercube(const Arguments& arguments) {
  const std::uint32_t dim = arguments.number("dim");
  const std::uint32_t hosts = arguments.number("hosts");
  const std::vector<std::uint32_t> dims(dim, 2);
  if (std::string why = check_size(grid_size(dims, dim, hosts)); !why.empty()) {
    return fail(Errc::Invalid, std::move(why));
  }
  Drawing drawing(arguments);
  const auto nodes = add_grid(drawing, Coordinates(dims), dim + hosts);
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    for (unsigned d = 0; d < dim; ++d) {
      // The first coordinate is the most significant, as in the switches' names.
      const std::uint32_t j = i ^ (1u << (dim - 1 - d));
      if (i < j) drawing.cable(nodes[i], d + 1, nodes[j], d + 1);
    }
  }
  add_hosts(drawing, nodes, hosts, dim + 1);
  return std::move(drawing).finish();
}

constexpr Key hosts_key(std::string_view fallback) {
  return number_key("hosts", fallback, 0, 253)
      .means("hosts per switch, on the ports after the links");
}

constexpr std::array kTorusKeys{
    list_key("dims", "8.8", 1, kMaxSide)
        .means("switches in each dimension; a side of 2 has one cable, not two"),
    hosts_key("1"),
    kAdaptersKey,
    number_key("mesh", "0", 0, 1).means("1 leaves out the cables that close the rings"),
};

constexpr std::array kExpressKeys{
    list_key("dims", "8.8", 4, kMaxSide)
        .means("switches in each dimension; a side of 4 has one express cable per pair"),
    hosts_key("8"),
    kAdaptersKey,
};

constexpr std::array kHypercubeKeys{
    number_key("dim", "4", 1, 15).means("dimensions: 2^dim switches"),
    hosts_key("1"),
    kAdaptersKey,
};

}  // namespace

const Generator kTorus{
    .name = "torus",
    .meaning = "torus or mesh; dimension d leaves by ports 2d+1 (up) and 2d+2 (down)",
    .keys = kTorusKeys,
    .draw = draw_torus,
    .hosts_key = "hosts",
};

const Generator kExpressTorus{
    .name = "express-torus",
    .meaning = "torus with further cables to the switches two away in each dimension",
    .keys = kExpressKeys,
    .draw = draw_express,
    .hosts_key = "hosts",
};

const Generator kHypercube{
    .name = "hypercube",
    .meaning = "binary hypercube; dimension d leaves by port d+1",
    .keys = kHypercubeKeys,
    .draw = draw_hypercube,
    .hosts_key = "hosts",
};

}  // namespace smd::sim
