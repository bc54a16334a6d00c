#include "smd/routing/topology/grid.h"

#include <fmt/core.h>
#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>

#include "smd/routing/topology/dimensions.h"
#include "smd/routing/topology/lattice_record.h"

namespace smd {
namespace {

struct Meeting {
  std::uint32_t a, b;  // classes, a < b
  bool square;

  friend auto operator<=>(const Meeting&, const Meeting&) = default;
};

/// Two classes that meet at so many switches, and nowhere span a 4-cycle.
struct Candidate {
  std::uint32_t a, b;
  std::uint32_t times;
};

std::vector<Meeting> find_meetings(const NeighbourGraph& graph, const LinkClasses& classes) {
  std::vector<Meeting> meetings;
  CornerSearch search{graph};
  std::vector<char> square;
  for (const SwitchIdx sw : graph.by_guid()) {
    const auto around = graph.around(sw);
    square.assign(around.size() * around.size(), 0);
    for (const Corner& corner : search.find(sw)) {
      if (corner.kind == Corner::Kind::Square)
        square[std::min(corner.a, corner.b) * around.size() + std::max(corner.a, corner.b)] = 1;
    }
    for (std::size_t i = 0; i < around.size(); ++i) {
      for (std::size_t j = i + 1; j < around.size(); ++j) {
        const std::uint32_t a = classes.of[around[i].link], b = classes.of[around[j].link];
        if (a != b)
          meetings.push_back({std::min(a, b), std::max(a, b), square[i * around.size() + j] != 0});
      }
    }
  }
  std::sort(meetings.begin(), meetings.end());
  return meetings;
}

class Joining {
 public:
  Joining(const NeighbourGraph& graph, const LinkClasses& classes)
      : classes_(classes),
        sets_(classes.count),
        across_(classes.count),
        offers_(classes.count),
        ends_(classes.count) {
    for (std::uint32_t r = 0; r < graph.switches(); ++r) {
      for (const Neighbour& n : graph.around(graph.by_guid()[r]))
        ends_[classes.of[n.link]].push_back(r);
    }
  }

  void read(const std::vector<Meeting>& meetings) {
    for (std::size_t i = 0; i < meetings.size();) {
      const auto [a, b, _] = meetings[i];
      std::uint32_t times = 0;
      bool square = false;
      for (; i < meetings.size() && meetings[i].a == a && meetings[i].b == b; ++i) {
        ++times;
        square = square || meetings[i].square;
      }
      if (square) {
        across_[a].push_back(b);
        across_[b].push_back(a);
      } else {
        candidates_.push_back({a, b, times});
        offers_[a].push_back({a, b, times});
        offers_[b].push_back({b, a, times});
      }
    }
    std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& x, const Candidate& y) {
      return std::tie(y.times, x.a, x.b) < std::tie(x.times, y.a, y.b);
    });
  }

  LinkClasses run() {
    for (const Candidate& c : candidates_) {
      if (!may_join(c.a, c.b) || is_doubtful(c.a, c.b, c.times) || is_doubtful(c.b, c.a, c.times))
        continue;
      const std::uint32_t a = sets_.find(c.a), b = sets_.find(c.b);
      const std::uint32_t first = std::min(a, b), second = std::max(a, b);
      sets_.join(first, second);
      across_[first].insert(across_[first].end(), across_[second].begin(), across_[second].end());
      std::vector<std::uint32_t>& ends = ends_[first];
      const auto middle = static_cast<std::ptrdiff_t>(ends.size());
      ends.insert(ends.end(), ends_[second].begin(), ends_[second].end());
      std::inplace_merge(ends.begin(), ends.begin() + middle, ends.end());
    }
    LinkClasses joined{.of = std::vector<std::uint32_t>(classes_.of.size())};
    std::vector<std::uint32_t> number(classes_.count, 0);
    for (std::uint32_t c = 0; c < classes_.count; ++c) {
      const std::uint32_t first = sets_.find(c);
      number[c] = first == c ? joined.count++ : number[first];
    }
    for (std::size_t link = 0; link < joined.of.size(); ++link)
      joined.of[link] = number[classes_.of[link]];
    return joined;
  }

 private:
  // Requires: both stand for their sets.
  bool are_across(std::uint32_t a, std::uint32_t b) {
    if (across_[a].size() > across_[b].size()) std::swap(a, b);
    return std::any_of(
        across_[a].begin(), across_[a].end(), [&](std::uint32_t c) { return sets_.find(c) == b; });
  }

  // A switch has two neighbours in a dimension at most. Requires: both stand for their sets.
  bool are_too_many(std::uint32_t a, std::uint32_t b) const {
    if (ends_[a].size() > ends_[b].size()) std::swap(a, b);
    for (auto at = ends_[a].begin(); at != ends_[a].end();) {
      const auto after = std::upper_bound(at, ends_[a].end(), *at);
      const auto [first, last] = std::equal_range(ends_[b].begin(), ends_[b].end(), *at);
      if (first != last && (after - at) + (last - first) > 2) return true;
      at = after;
    }
    return false;
  }

  bool may_join(std::uint32_t a, std::uint32_t b) {
    a = sets_.find(a);
    b = sets_.find(b);
    return a != b && !are_across(a, b) && !are_too_many(a, b);
  }

  // One class cannot lie in line with two that are across each other.
  bool is_doubtful(std::uint32_t a, std::uint32_t b, std::uint32_t times) {
    return std::any_of(offers_[a].begin(), offers_[a].end(), [&](const Candidate& other) {
      return other.b != b && other.times * 2 > times &&
             are_across(sets_.find(other.b), sets_.find(b)) && may_join(a, other.b);
    });
  }

  const LinkClasses& classes_;
  DisjointSets sets_;
  std::vector<std::vector<std::uint32_t>> across_;  // by set: classes of other dimensions
  std::vector<std::vector<Candidate>> offers_;      // by class
  std::vector<std::vector<std::uint32_t>> ends_;    // by set: switches at its links, ascending
  std::vector<Candidate> candidates_;
};

constexpr std::size_t kMostNeighbours = 16;  // a hypercube of 65,536 switches has no more

struct Line {
  std::vector<std::uint32_t> position;  // by hyperplane
  bool wraps = false;
};

// Hyperplanes of one dimension in the order in which links lead from one to the next.
Result<Line> arrange(const Fabric& fabric,
                     const NeighbourGraph& graph,
                     const Dimensions& dimensions,
                     const Hyperplanes& hyperplanes,
                     std::uint32_t d) {
  const std::uint32_t count = hyperplanes.count[d];
  if (count == 0)
    return fail(Errc::Unsupported, "no switch has a place by its cables in every dimension");
  std::vector<std::vector<std::uint32_t>> next(count);
  for (const SwitchIdx sw : graph.by_guid()) {
    const std::uint32_t own = hyperplanes.number(sw, d);
    if (own == kNowhere) continue;
    for (const Neighbour& n : graph.around(sw)) {
      const std::uint32_t other = hyperplanes.number(n.to, d);
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

PlaceNames choose_names(const NeighbourGraph& graph, const GridShape& grid) {
  const std::size_t dims = grid.lattice.dimensions();
  PlaceNames names{.order = std::vector<std::size_t>(dims),
                   .coordinate = std::vector<std::vector<std::uint32_t>>(dims)};
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
    const std::uint32_t side = grid.lattice.sides[d];
    const std::uint32_t start = grid.wraps[d] ? choose_start(graph, grid, d) : 0;
    for (std::uint32_t at = 0; at < side; ++at) {
      const std::uint32_t x = (at + side - start) % side;
      const std::uint32_t mirrored = grid.wraps[d] ? (side - x) % side : side - 1 - x;
      names.coordinate[d].push_back(rise < 0 ? mirrored : x);
    }
  }
  std::iota(names.order.begin(), names.order.end(), std::size_t{0});
  std::stable_sort(names.order.begin(), names.order.end(), [&](std::size_t a, std::size_t b) {
    if (grid.lattice.sides[a] != grid.lattice.sides[b])
      return grid.lattice.sides[a] > grid.lattice.sides[b];
    return jump[a] * pairs[b] < jump[b] * pairs[a];
  });
  return names;
}

GridShape rename(const Fabric& fabric,
                 const NeighbourGraph& graph,
                 const GridShape& grid,
                 const LatticeRecord* before) {
  std::optional<PlaceNames> names;
  if (before != nullptr)
    names = find_names_before(fabric, graph, grid.lattice, grid.wraps, *before);
  if (!names) names = choose_names(graph, grid);
  GridShape renamed{.lattice = rename_places(graph, grid.lattice, *names), .wraps = {}};
  for (const std::size_t d : names->order) renamed.wraps.push_back(grid.wraps[d]);
  return renamed;
}

// Joins classes that meet at switches and never span a 4-cycle there. Where damage leaves several
// to choose from, the one met clearly more often wins, or none.
LinkClasses join_in_line(const NeighbourGraph& graph, const LinkClasses& classes) {
  Joining joining{graph, classes};
  joining.read(find_meetings(graph, classes));
  return joining.run();
}

}  // namespace

Result<GridShape> recognise_grid(const Fabric& fabric,
                                 const NeighbourGraph& graph,
                                 const LatticeRecord* before) {
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
  const Hyperplanes hyperplanes = find_hyperplanes(graph, dimensions, LineKind::Row);
  GridShape grid;
  std::vector<std::vector<std::uint32_t>> position;
  for (std::uint32_t d = 0; d < dimensions.count; ++d) {
    Result<Line> line = arrange(fabric, graph, dimensions, hyperplanes, d);
    if (!line) return tl::unexpected<Error>(line.error());
    position.push_back(std::move(line->position));
    grid.wraps.push_back(line->wraps ? 1 : 0);
  }
  Result<Lattice> lattice =
      place_switches(fabric, graph, hyperplanes, position, [&grid](const Lattice& placed) {
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
  return rename(fabric, graph, grid, before);
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
