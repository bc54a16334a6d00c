#include "sim-backend/topology/generators/pgft.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "sim-backend/topology/generators/generator_entries.h"
#include "sim-backend/topology/generators/imperfect.h"

namespace smd::sim {
namespace {

/// Product of values[from, to).
std::uint64_t span_product(const std::vector<std::uint32_t>& values,
                           std::size_t from,
                           std::size_t to) {
  std::uint64_t result = 1;
  for (std::size_t i = from; i < to; ++i) result = product({result, values[i]});
  return result;
}

/// Switches of one level, subtree-major: index = subtree · twins + twin, where the twins of a
/// subtree have the same hosts below them.
struct Level {
  std::vector<std::uint32_t> nodes;
  std::uint64_t twins = 1;
};

/// Subtrees of that level which hold at least one of the first `hosts` hosts.
std::uint64_t subtrees_in_use(const TreeShape& shape, std::size_t level, std::uint64_t hosts) {
  const std::uint64_t each = span_product(shape.down, 0, level);
  return (hosts + each - 1) / each;
}

Level add_level(Drawing& drawing,
                const TreeShape& shape,
                std::size_t level,
                std::uint64_t hosts,
                unsigned radix) {
  const std::uint64_t used = shape.down_ports(level) + shape.up_ports(level);
  const unsigned ports = radix != 0 ? radix : static_cast<unsigned>(used);
  Level result{.twins = span_product(shape.up, 0, level)};
  const std::uint64_t count = subtrees_in_use(shape, level, hosts) * result.twins;
  for (std::uint64_t i = 0; i < count; ++i) {
    result.nodes.push_back(drawing.add_switch(
        switch_name({static_cast<std::uint32_t>(level - 1), static_cast<std::uint32_t>(i)}),
        ports));
  }
  return result;
}

/// Twin t of a subtree is joined to those parents whose number within their own twins is
/// t + twins · b, b counting the parents.
void join_levels(Drawing& drawing,
                 const TreeShape& shape,
                 std::size_t level,
                 const Level& lower,
                 const Level& upper) {
  const std::uint32_t children = shape.down[level];
  const std::uint32_t parents = shape.up[level];
  for (std::size_t i = 0; i < lower.nodes.size(); ++i) {
    const std::uint64_t subtree = i / lower.twins;
    const std::uint64_t twin = i % lower.twins;
    const auto child = static_cast<unsigned>(subtree % children);
    for (unsigned q = 0; q < parents * shape.parallel[level]; ++q) {
      const unsigned b = q % parents;
      const unsigned round = q / parents;
      const std::uint64_t parent = subtree / children * upper.twins + twin + lower.twins * b;
      drawing.cable(lower.nodes[i],
                    static_cast<unsigned>(shape.down_ports(level)) + q + 1,
                    upper.nodes[parent],
                    round * children + child + 1);
    }
  }
}

std::string check_shape(const TreeShape& shape, std::uint32_t levels) {
  if (shape.down.size() != levels || shape.up.size() != levels || shape.parallel.size() != levels) {
    return fmt::format("down, up and parallel need {} numbers each, as many as levels", levels);
  }
  if (shape.up[0] != 1 || shape.parallel[0] != 1) {
    return "up and parallel begin with 1: a host has one port";
  }
  return check_size(shape.size());
}

Result<FabricSpec> draw_pgft(const Arguments& arguments) {
  const TreeShape shape{.down = arguments.list("down"),
                        .up = arguments.list("up"),
                        .parallel = arguments.list("parallel")};
  if (std::string why = check_shape(shape, arguments.number("levels")); !why.empty()) {
    return fail(Errc::Invalid, std::move(why));
  }
  Drawing drawing(arguments);
  draw_tree(drawing, shape, shape.hosts(), 0);
  return make_imperfect(std::move(drawing).finish(), arguments);
}

constexpr std::array kOwnPgftKeys{
    number_key("levels", "2", 1, 8).means("levels of switches"),
    list_key("down", "4.8", 1, 65535).means("children of a node, hosts per leaf first"),
    list_key("up", "1.4", 1, 254).means("parents of a node, of hosts first"),
    list_key("parallel", "1.1", 1, 254)
        .means("cables between a node and each parent, of hosts first"),
    kAdaptersKey,
};

constexpr auto kPgftKeys = with_imperfect_keys(kOwnPgftKeys);

}  // namespace

std::uint64_t TreeShape::hosts() const { return span_product(down, 0, levels()); }

std::uint64_t TreeShape::switches_on(std::size_t level) const {
  return product({span_product(down, level, levels()), span_product(up, 0, level)});
}

std::uint64_t TreeShape::down_ports(std::size_t level) const {
  return product({down[level - 1], parallel[level - 1]});
}

std::uint64_t TreeShape::up_ports(std::size_t level) const {
  return level == levels() ? 0 : product({up[level], parallel[level]});
}

Size TreeShape::size() const {
  Size size{.host_ports = hosts()};
  for (std::size_t level = 1; level <= levels(); ++level) {
    if (__builtin_add_overflow(size.switches, switches_on(level), &size.switches)) {
      size.switches = UINT64_MAX;
    }
    size.radix = std::max(size.radix,
                          std::min<std::uint64_t>(down_ports(level), UINT32_MAX) +
                              std::min<std::uint64_t>(up_ports(level), UINT32_MAX));
  }
  return size;
}

void draw_tree(Drawing& drawing, const TreeShape& shape, std::uint64_t hosts, unsigned radix) {
  Level lower = add_level(drawing, shape, 1, hosts, radix);
  for (std::uint64_t h = 0; h < hosts; ++h) {
    drawing.hang_host(lower.nodes[h / shape.down[0]], static_cast<unsigned>(h % shape.down[0]) + 1);
  }
  for (std::size_t level = 1; level < shape.levels(); ++level) {
    Level upper = add_level(drawing, shape, level + 1, hosts, radix);
    join_levels(drawing, shape, level, lower, upper);
    lower = std::move(upper);
  }
}

const Generator kPgft{
    .name = "pgft",
    .meaning = "parallel ports generalised fat tree, switches as large as their cables",
    .keys = kPgftKeys,
    .draw = draw_pgft,
    .hosts_key = "down",
};

}  // namespace smd::sim
