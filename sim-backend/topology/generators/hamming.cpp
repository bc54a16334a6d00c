// hamming: a switch is joined to every switch that differs in exactly one coordinate.
#include <fmt/core.h>

#include <array>

#include "sim-backend/topology/coordinates.h"
#include "sim-backend/topology/generators/generator_entries.h"
#include "sim-backend/topology/generators/hamming.h"

namespace smd::sim {
namespace {

struct Hamming {
  std::vector<std::uint32_t> sides;
  std::vector<std::uint32_t> trunk;
  std::uint32_t hosts;
  bool beyond;

  [[nodiscard]] Size size() const {
    Size size{.switches = 1, .radix = hosts, .beyond = beyond};
    for (std::size_t d = 0; d < sides.size(); ++d) {
      size.switches = product({size.switches, sides[d]});
      size.radix += product({trunk[d], sides[d] - 1});
    }
    size.host_ports = product({size.switches, hosts});
    return size;
  }
};

Result<FabricSpec> draw_hamming(const Arguments& arguments) {
  Hamming shape{.sides = arguments.list("dims"),
                .trunk = arguments.list("trunk"),
                .hosts = arguments.number("hosts"),
                .beyond = arguments.number("beyond") != 0};
  if (shape.trunk.size() == 1) shape.trunk.resize(shape.sides.size(), shape.trunk[0]);
  if (shape.trunk.size() != shape.sides.size()) {
    return fail(Errc::Invalid,
                fmt::format("trunk has {} numbers: one for all or one per dimension ({})",
                            shape.trunk.size(),
                            shape.sides.size()));
  }
  const Size size = shape.size();
  if (std::string why = check_size(size); !why.empty()) return fail(Errc::Invalid, std::move(why));
  const Coordinates grid(shape.sides);
  Drawing drawing(arguments);
  for (std::uint32_t i = 0; i < grid.count(); ++i) {
    drawing.add_switch(switch_name(grid.of(i)), static_cast<unsigned>(size.radix));
  }
  // Switches are the first nodes: index in the grid = node.
  cable_hamming(drawing, shape.sides, shape.trunk, 0, shape.hosts);
  for (std::uint32_t i = 0; i < grid.count(); ++i) {
    for (unsigned h = 0; h < shape.hosts; ++h) drawing.hang_host(i, h + 1);
  }
  return std::move(drawing).finish();
}

constexpr std::array kHammingKeys{
    list_key("dims", "4.4", 2, 255).means("switches in each dimension"),
    number_key("hosts", "4", 0, 253).means("hosts per switch, on its first ports"),
    kAdaptersKey,
    list_key("trunk", "1", 1, 253)
        .means("parallel links per pair, one number for all dimensions or one for each"),
    kBeyondKey,
};

}  // namespace

void cable_hamming(Drawing& drawing,
                   const std::vector<std::uint32_t>& sides,
                   const std::vector<std::uint32_t>& trunk,
                   std::uint32_t base,
                   unsigned used) {
  const Coordinates grid(sides);
  for (std::uint32_t i = 0; i < grid.count(); ++i) {
    const auto from = grid.of(i);
    unsigned first = used;
    for (std::size_t d = 0; d < sides.size(); ++d) {
      const std::uint32_t others = sides[d] - 1;
      for (std::uint32_t x = from[d] + 1; x < sides[d]; ++x) {
        auto to = from;
        to[d] = x;
        for (std::uint32_t t = 0; t < trunk[d]; ++t) {
          const unsigned round = first + t * others;
          drawing.cable(base + i, round + x, base + grid.index(to), round + from[d] + 1);
        }
      }
      first += others * trunk[d];
    }
  }
}

const Generator kHamming{
    .name = "hamming",
    .meaning = "Hamming graph: flattened butterfly, HyperX",
    .keys = kHammingKeys,
    .draw = draw_hamming,
    .hosts_key = "hosts",
};

}  // namespace smd::sim
