#include "smd/routing/shape/grid.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "smd/routing/shape/grid_dimensions.h"
#include "smd/routing/shape/planes.h"

namespace smd {
namespace {

constexpr std::size_t kMostNeighbours = 16;  // a hypercube of 65,536 switches has no more

struct Line {
  std::vector<std::uint32_t> position;  // by plane
  bool wraps = false;
};

// Planes of one dimension in the order in which links lead from one to the next.
Result<Line> arrange(const Fabric& fabric,
                     const NeighbourGraph& graph,
                     const Dimensions& dimensions,
                     const Planes& planes,
                     std::uint32_t d) {
  const std::uint32_t count = planes.count[d];
  if (count == 0)
    return fail(Errc::Unsupported, "no switch has a place by its cables in every dimension");
  std::vector<std::vector<std::uint32_t>> next(count);
  for (const SwitchIdx sw : graph.by_guid()) {
    const std::uint32_t own = planes.plane(sw, d);
    if (own == kNowhere) continue;
    for (const Neighbour& n : graph.around(sw)) {
      const std::uint32_t other = planes.plane(n.to, d);
      if (dimensions.of[n.link] != d || other == kNowhere || other == own) continue;
      if (std::find(next[own].begin(), next[own].end(), other) != next[own].end()) continue;
      next[own].push_back(other);
      if (next[own].size() > 2) {
        return fail(Errc::Unsupported,
                    fmt::format("{} has neighbours on more than two sides in one dimension",
                                print_switch(fabric, sw)));
      }
    }
  }
  std::uint32_t start = 0;
  for (std::uint32_t p = 0; p < count; ++p) {
    if (next[p].size() < 2) {
      start = p;
      break;
    }
  }
  Line line{.position = std::vector<std::uint32_t>(count, kNowhere)};
  line.wraps = count > 2 && next[start].size() == 2;
  std::uint32_t at = start, placed = 0;
  while (at != kNowhere) {
    line.position[at] = placed++;
    std::uint32_t onward = kNowhere;
    for (const std::uint32_t p : next[at]) {
      if (line.position[p] == kNowhere) onward = std::min(onward, p);
    }
    at = onward;
  }
  if (placed != count) {
    return fail(Errc::Unsupported,
                fmt::format("{} planes of one dimension do not form one line or ring", count));
  }
  return line;
}

bool are_in_line(const Lattice& lattice,
                 const std::vector<char>& wraps,
                 std::uint32_t a,
                 std::uint32_t b) {
  unsigned differ = 0;
  bool next = false;
  for (std::size_t d = lattice.dimensions(); d-- > 0;) {
    const std::uint32_t side = lattice.sides[d];
    const std::uint32_t x = a % side, y = b % side;
    a /= side;
    b /= side;
    if (x == y) continue;
    ++differ;
    const std::uint32_t apart = x < y ? y - x : x - y;
    next = apart == 1 || (wraps[d] != 0 && apart == side - 1);
  }
  return differ == 1 && next;
}

std::uint64_t count_links(const GridShape& grid) {
  std::uint64_t links = 0;
  for (std::size_t d = 0; d < grid.lattice.dimensions(); ++d) {
    const std::uint32_t side = grid.lattice.sides[d];
    links += grid.lattice.cells() / side * (grid.wraps[d] ? side : side - 1);
  }
  return links;
}

/// How to name places: new dimension i is old dimension order[i], and so on.
struct Renaming {
  std::vector<std::size_t> order;
  std::vector<char> flip;  // by old dimension
  std::vector<std::uint32_t>
      start;  // by old dimension: the coordinate that becomes 0, if unflipped
};

// The next switch upwards, if it is there: cabled or not, for a lost cable shall move nothing.
SwitchIdx next_up(const GridShape& grid, SwitchIdx sw, std::size_t d) {
  const std::uint32_t side = grid.lattice.sides[d], x = grid.lattice.coordinate(sw, d);
  if (x + 1 == side && !grid.wraps[d]) return kNone<SwitchIdx>;
  const std::uint32_t stride = grid.lattice.stride(d);
  return grid.lattice.at[grid.lattice.cell[sw] - x * stride + (x + 1) % side * stride];
}

// The coordinate at which most lines have their lowest GUID.
std::uint32_t choose_start(const NeighbourGraph& graph, const GridShape& grid, std::size_t d) {
  const std::uint32_t side = grid.lattice.sides[d], stride = grid.lattice.stride(d);
  std::vector<std::uint32_t> votes(side, 0);
  for (std::uint32_t first = 0; first < grid.lattice.cells(); ++first) {
    if (first / stride % side != 0) continue;
    std::uint32_t lowest = side;
    for (std::uint32_t x = 0; x < side; ++x) {
      const SwitchIdx sw = grid.lattice.at[first + x * stride];
      if (sw == kNone<SwitchIdx>) continue;
      if (lowest == side || graph.rank(sw) < graph.rank(grid.lattice.at[first + lowest * stride]))
        lowest = x;
    }
    if (lowest != side) ++votes[lowest];
  }
  return static_cast<std::uint32_t>(std::max_element(votes.begin(), votes.end()) - votes.begin());
}

Renaming choose_names(const NeighbourGraph& graph, const GridShape& grid) {
  const std::size_t dims = grid.lattice.dimensions();
  Renaming names{.order = std::vector<std::size_t>(dims),
                 .flip = std::vector<char>(dims, 0),
                 .start = std::vector<std::uint32_t>(dims, 0)};
  std::vector<std::uint64_t> jump(dims, 0), pairs(dims, 0);
  for (std::size_t d = 0; d < dims; ++d) {
    std::int64_t rise = 0;
    for (const SwitchIdx sw : graph.by_guid()) {
      const SwitchIdx up = next_up(grid, sw, d);
      if (up == kNone<SwitchIdx>) continue;
      const std::uint32_t from = graph.rank(sw), to = graph.rank(up);
      jump[d] += from < to ? to - from : from - to;
      rise += from < to ? 1 : -1;
      ++pairs[d];
    }
    names.flip[d] = rise < 0;
    if (grid.wraps[d]) names.start[d] = choose_start(graph, grid, d);
  }
  std::iota(names.order.begin(), names.order.end(), std::size_t{0});
  std::stable_sort(names.order.begin(), names.order.end(), [&](std::size_t a, std::size_t b) {
    if (grid.lattice.sides[a] != grid.lattice.sides[b])
      return grid.lattice.sides[a] > grid.lattice.sides[b];
    return jump[a] * pairs[b] < jump[b] * pairs[a];
  });
  return names;
}

GridShape rename(const NeighbourGraph& graph, const GridShape& grid) {
  const Renaming names = choose_names(graph, grid);
  GridShape renamed;
  for (const std::size_t d : names.order) {
    renamed.lattice.sides.push_back(grid.lattice.sides[d]);
    renamed.wraps.push_back(grid.wraps[d]);
  }
  renamed.lattice.at.assign(grid.lattice.cells(), kNone<SwitchIdx>);
  renamed.lattice.cell.assign(graph.switches(), kNowhere);
  for (const SwitchIdx sw : graph.by_guid()) {
    std::uint32_t cell = 0;
    for (const std::size_t d : names.order) {
      const std::uint32_t side = grid.lattice.sides[d];
      std::uint32_t x = (grid.lattice.coordinate(sw, d) + side - names.start[d]) % side;
      if (names.flip[d]) x = grid.wraps[d] ? (side - x) % side : side - 1 - x;
      cell = cell * side + x;
    }
    renamed.lattice.cell[sw] = cell;
    renamed.lattice.at[cell] = sw;
  }
  return renamed;
}

}  // namespace

Result<GridShape> recognise_grid(const Fabric& fabric, const NeighbourGraph& graph) {
  if (graph.switches() < 2) return fail(Errc::Unsupported, "a grid has two switches at least");
  for (const SwitchIdx sw : graph.by_guid()) {
    if (graph.around(sw).size() > kMostNeighbours) {
      return fail(Errc::Unsupported,
                  fmt::format("{} has {} neighbours, more than any grid",
                              print_switch(fabric, sw),
                              graph.around(sw).size()));
    }
  }
  if (const SwitchIdx apart = graph.find_island(); apart != kNone<SwitchIdx>) {
    return fail(Errc::Unsupported,
                fmt::format("{} is not connected with the rest", print_switch(fabric, apart)));
  }
  const Result<LinkClasses> classes = classify_links(fabric, graph);
  if (!classes) return tl::unexpected<Error>(classes.error());
  const Dimensions dimensions = keep_large(join_in_line(graph, *classes), graph);
  if (dimensions.count == 0 || dimensions.count > kMostNeighbours) {
    return fail(Errc::Unsupported, fmt::format("links lie in {} dimensions", dimensions.count));
  }
  const Planes planes = find_planes(graph, dimensions, LineKind::Row);
  GridShape grid;
  std::vector<std::vector<std::uint32_t>> position;
  for (std::uint32_t d = 0; d < dimensions.count; ++d) {
    Result<Line> line = arrange(fabric, graph, dimensions, planes, d);
    if (!line) return tl::unexpected<Error>(line.error());
    position.push_back(std::move(line->position));
    grid.wraps.push_back(line->wraps ? 1 : 0);
  }
  Result<Lattice> lattice =
      place_switches(fabric, graph, planes, position, [&grid](const Lattice& placed) {
        return [&grid, &placed](std::uint32_t a, std::uint32_t b) {
          return are_in_line(placed, grid.wraps, a, b);
        };
      });
  if (!lattice) return tl::unexpected<Error>(lattice.error());
  grid.lattice = std::move(*lattice);
  // A tree, or any sparse graph, is part of some grid; routes for grids would not suit it.
  if (const std::uint64_t full = count_links(grid); graph.links() * 3 <= full * 2) {
    return fail(
        Errc::Unsupported,
        fmt::format("{} links are few for the {} of a {}", graph.links(), full, print_grid(grid)));
  }
  return rename(graph, grid);
}

Result<GridShape> recognise_grid(const Fabric& fabric) {
  return recognise_grid(fabric, NeighbourGraph{fabric});
}

std::string print_grid(const GridShape& grid) {
  std::string text = grid.torus() ? "torus" : "mesh";
  for (std::size_t d = 0; d < grid.lattice.sides.size(); ++d)
    text += fmt::format("{}{}", d == 0 ? " " : " x ", grid.lattice.sides[d]);
  const std::size_t missing = grid.lattice.cells() - grid.lattice.cell.size();
  if (missing != 0) text += fmt::format(", {} switch{} missing", missing, missing == 1 ? "" : "es");
  return text;
}

}  // namespace smd
