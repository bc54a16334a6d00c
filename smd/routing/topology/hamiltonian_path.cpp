#include "smd/routing/topology/neighbour_graph.h"

#include <fmt/core.h>
#include <algorithm>
#include <numeric>
#include <optional>

#include "smd/base/rng.h"
#include "smd/routing/topology/grid.h"

namespace smd {
namespace {

constexpr std::size_t kSnakes = 400;  // orders and directions of a grid's dimensions tried
// Switches moved by rotations: a fraction of a second, less for small graphs.
constexpr std::uint64_t kMoves = 100000000;
constexpr std::uint64_t kMovesPerPair = 2000;

// Row by row: a coordinate runs backwards whenever the number made of those before it is odd.
std::optional<std::vector<SwitchIdx>> walk_snake(const NeighbourGraph& graph,
                                                 const Lattice& lattice,
                                                 const std::vector<std::size_t>& order,
                                                 std::size_t flips) {
  std::vector<SwitchIdx> path;
  for (std::uint32_t label = 0; label < lattice.cells(); ++label) {
    std::uint32_t cell = 0, rest = static_cast<std::uint32_t>(lattice.cells()), before = 0;
    for (const std::size_t d : order) {
      const std::uint32_t side = lattice.sides[d];
      rest /= side;
      const std::uint32_t digit = label / rest % side;
      const bool back = (before % 2 == 1) != ((flips >> d & 1) == 1);
      cell += (back ? side - 1 - digit : digit) * lattice.stride(d);
      before = before * side + digit;
    }
    const SwitchIdx sw = lattice.at[cell];
    if (sw == kNone<SwitchIdx> || (!path.empty() && !graph.find(path.back(), sw)))
      return std::nullopt;
    path.push_back(sw);
  }
  return path;
}

std::optional<std::vector<SwitchIdx>> find_snake(const NeighbourGraph& graph,
                                                 const Lattice& lattice) {
  if (!lattice.full()) return std::nullopt;
  std::vector<std::size_t> order(lattice.dimensions());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::size_t tries = 0;
  do {
    for (std::size_t flips = 0; flips < std::size_t{1} << order.size(); ++flips) {
      if (auto path = walk_snake(graph, lattice, order, flips)) return path;
      if (++tries == kSnakes) return std::nullopt;
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return std::nullopt;
}

// What rules a path out at once.
std::optional<std::string> find_obstacle(const Fabric& fabric, const NeighbourGraph& graph) {
  if (graph.switches() == 0) return "there is no switch";
  if (const SwitchIdx apart = graph.find_island(); apart != kNone<SwitchIdx>)
    return fmt::format("{} is not connected with the rest", print_switch(fabric, apart));
  unsigned ends = 0;
  IndexVector<SwitchIdx, char> colour(graph.switches(), 0);
  std::vector<SwitchIdx> queue{graph.by_guid().front()};
  colour[queue.front()] = 1;
  bool two_colours = true;
  std::size_t ones = 0;
  for (std::size_t at = 0; at < queue.size(); ++at) {
    const SwitchIdx sw = queue[at];
    ones += colour[sw] == 1 ? 1 : 0;
    if (graph.around(sw).size() == 1 && ++ends > 2)
      return fmt::format("{} is the third switch with one neighbour", print_switch(fabric, sw));
    for (const Neighbour& n : graph.around(sw)) {
      two_colours = two_colours && colour[n.to] != colour[sw];
      if (colour[n.to] != 0) continue;
      colour[n.to] = static_cast<char>(3 - colour[sw]);
      queue.push_back(n.to);
    }
  }
  const std::size_t twos = graph.switches() - ones;
  if (two_colours && (ones > twos + 1 || twos > ones + 1)) {
    return fmt::format(
        "cables join {} switches only with the other {}, which are too few to "
        "alternate with them",
        std::max(ones, twos),
        std::min(ones, twos));
  }
  return std::nullopt;
}

/// Extends a path at its end; where that ends among switches already met, turns the part behind
/// one of them round, which gives another end (Pósa, 1976).
class Rotations {
 public:
  Rotations(const NeighbourGraph& graph, std::uint64_t seed)
      : graph_(graph), rng_(seed), place_(graph.switches(), kUnmet) {}

  std::optional<std::vector<SwitchIdx>> run() {
    append(graph_.by_guid().front());
    const std::uint64_t most =
        std::min(kMoves, kMovesPerPair * graph_.switches() * graph_.switches());
    std::uint64_t moves = 0;
    unsigned stuck = 0;
    while (path_.size() < graph_.switches()) {
      if (const SwitchIdx to = find_onward(); to != kNone<SwitchIdx>) {
        append(to);
        stuck = 0;
        continue;
      }
      // Now and then from the other end.
      const auto around = graph_.around(path_.back());
      const SwitchIdx pivot = around[rng_.below(around.size())].to;
      const std::size_t from = ++stuck % 16 == 0 ? 0 : place_[pivot] + std::size_t{1};
      turn_round(from);
      moves += path_.size() - from + 1;
      if (moves > most) return std::nullopt;
    }
    return path_;
  }

 private:
  static constexpr std::uint32_t kUnmet = 0xffffffff;

  void append(SwitchIdx sw) {
    place_[sw] = static_cast<std::uint32_t>(path_.size());
    path_.push_back(sw);
  }

  // Whoever has the fewest neighbours left, before those are used up.
  SwitchIdx find_onward() const {
    SwitchIdx best = kNone<SwitchIdx>;
    std::size_t fewest = ~std::size_t{0};
    for (const Neighbour& n : graph_.around(path_.back())) {
      if (place_[n.to] != kUnmet) continue;
      std::size_t free = 0;
      for (const Neighbour& onward : graph_.around(n.to))
        free += place_[onward.to] == kUnmet ? 1 : 0;
      if (free >= fewest) continue;
      best = n.to;
      fewest = free;
    }
    return best;
  }

  void turn_round(std::size_t from) {
    std::reverse(path_.begin() + static_cast<std::ptrdiff_t>(from), path_.end());
    for (std::size_t i = from; i < path_.size(); ++i)
      place_[path_[i]] = static_cast<std::uint32_t>(i);
  }

  const NeighbourGraph& graph_;
  Rng rng_;
  IndexVector<SwitchIdx, std::uint32_t> place_;
  std::vector<SwitchIdx> path_;
};

}  // namespace

Result<std::vector<SwitchIdx>> find_hamiltonian_path(const Fabric& fabric,
                                                     const NeighbourGraph& graph,
                                                     std::uint64_t seed) {
  if (const auto obstacle = find_obstacle(fabric, graph))
    return fail(Errc::Unsupported, "no path meets every switch once: " + *obstacle);
  if (const Result<GridShape> grid = recognise_grid(fabric, graph)) {
    if (auto path = find_snake(graph, grid->lattice)) return std::move(*path);
  }
  if (auto path = Rotations{graph, seed}.run()) return std::move(*path);
  return fail(Errc::Unsupported,
              fmt::format("found no path that meets each of {} switches once", graph.switches()));
}

}  // namespace smd
