#include "smd/routing/topology/dimensions.h"

#include <fmt/core.h>
#include <algorithm>

namespace smd {
namespace {

// A hyperplane this many times smaller than the largest of its dimension is a torn-off piece.
constexpr std::uint32_t kTornOff = 4;

// More switches out of place than this are no damage, but another fabric.
constexpr std::size_t kMostOutOfPlace = 64;

class Placement {
 public:
  Placement(const Fabric& fabric, const NeighbourGraph& graph, Lattice& lattice)
      : fabric_(fabric), graph_(graph), lattice_(lattice) {}

  std::optional<Error> put(SwitchIdx sw, std::uint32_t cell) {
    if (lattice_.at[cell] != kNone<SwitchIdx>) {
      return Error{Errc::Unsupported,
                   fmt::format("{} and {} would be at the same place",
                               print_switch(fabric_, lattice_.at[cell]),
                               print_switch(fabric_, sw))};
    }
    lattice_.at[cell] = sw;
    lattice_.cell[sw] = cell;
    return std::nullopt;
  }

  // Whoever has the least choice comes first.
  std::optional<Error> put_rest(std::vector<SwitchIdx> rest, const AreNeighbours& neighbours) {
    while (!rest.empty()) {
      std::size_t best = rest.size(), fewest = lattice_.cells() + 1;
      std::uint32_t where = 0;
      for (std::size_t i = 0; i < rest.size(); ++i) {
        const std::vector<std::uint32_t> cells = find_free(rest[i], neighbours);
        if (cells.size() >= fewest) continue;
        if (cells.empty()) {
          return Error{
              Errc::Unsupported,
              fmt::format("no place fits the cables of {}", print_switch(fabric_, rest[i]))};
        }
        best = i;
        fewest = cells.size();
        where = cells.front();
      }
      (void)put(rest[best], where);
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(best));
    }
    return std::nullopt;
  }

 private:
  std::vector<std::uint32_t> find_free(SwitchIdx sw, const AreNeighbours& neighbours) const {
    std::vector<std::uint32_t> cells;
    for (std::uint32_t cell = 0; cell < lattice_.cells(); ++cell) {
      if (lattice_.at[cell] != kNone<SwitchIdx>) continue;
      const auto around = graph_.around(sw);
      const bool fits = std::all_of(around.begin(), around.end(), [&](const Neighbour& n) {
        return lattice_.cell[n.to] == kNowhere || neighbours(cell, lattice_.cell[n.to]);
      });
      if (fits) cells.push_back(cell);
    }
    return cells;
  }

  const Fabric& fabric_;
  const NeighbourGraph& graph_;
  Lattice& lattice_;
};

// The hyperplanes of one dimension: first pieces, then those that belong together.
class HyperplaneSearch {
 public:
  HyperplaneSearch(const NeighbourGraph& graph, const Dimensions& dimensions, std::uint32_t d)
      : graph_(graph),
        dimensions_(dimensions),
        d_(d),
        sets_(graph.switches()),
        piece_(graph.switches(), kNowhere) {}

  // What hangs together by links of other dimensions. `torn`: by rank, set for very small pieces.
  void find_pieces(std::vector<char>& torn) {
    const auto switches = static_cast<std::uint32_t>(graph_.switches());
    for (std::uint32_t r = 0; r < switches; ++r) {
      for (const Neighbour& n : graph_.around(graph_.by_guid()[r])) {
        const std::uint32_t of = dimensions_.of[n.link];
        if (of != d_ && of != kNowhere && graph_.rank(n.to) > r) sets_.join(r, graph_.rank(n.to));
      }
    }
    std::vector<std::uint32_t> members(switches, 0);
    for (std::uint32_t r = 0; r < switches; ++r) ++members[sets_.find(r)];
    const std::uint32_t largest = *std::max_element(members.begin(), members.end());
    std::vector<std::uint32_t> number(switches, kNowhere);
    for (std::uint32_t r = 0; r < switches; ++r) {
      const std::uint32_t first = sets_.find(r);
      torn[r] = torn[r] || members[first] * kTornOff < largest;
      if (torn[r]) continue;
      if (number[first] == kNowhere) {
        number[first] = pieces_++;
        size_.push_back(members[first]);
      }
      piece_[graph_.by_guid()[r]] = number[first];
    }
  }

  void join_pieces(LineKind kind) {
    joined_ = DisjointSets{pieces_};
    largest_ = size_.empty() ? 0 : *std::max_element(size_.begin(), size_.end());
    if (kind == LineKind::Complete) {
      join_strangers();
    } else {
      while (join_same_side()) {
      }
    }
  }

  // Hyperplanes by the lowest GUIDs in them.
  template <class NumberOf>
  std::uint32_t number(NumberOf&& number_of) {
    std::uint32_t count = 0;
    std::vector<std::uint32_t> number(pieces_, kNowhere);
    for (const SwitchIdx sw : graph_.by_guid()) {
      if (piece_[sw] == kNowhere) continue;
      std::uint32_t& own = number[joined_.find(piece_[sw])];
      if (own == kNowhere) own = count++;
      number_of(sw) = own;
    }
    return count;
  }

 private:
  // No hyperplane is made that is larger than the largest piece.
  bool join(std::uint32_t a, std::uint32_t b) {
    a = joined_.find(a);
    b = joined_.find(b);
    if (a == b || size_[a] + size_[b] > largest_) return false;
    size_[a] = size_[b] = size_[a] + size_[b];
    return joined_.join(a, b);
  }

  // Pieces that the links of the dimension lead to from a switch, each once.
  void list_adjacent(SwitchIdx sw, std::vector<std::uint32_t>& adjacent) {
    adjacent.clear();
    for (const Neighbour& n : graph_.around(sw)) {
      if (dimensions_.of[n.link] == d_ && piece_[n.to] != kNowhere)
        adjacent.push_back(joined_.find(piece_[n.to]));
    }
    std::sort(adjacent.begin(), adjacent.end());
    adjacent.erase(std::unique(adjacent.begin(), adjacent.end()), adjacent.end());
  }

  // Two hyperplanes of complete lines have links between them.
  void join_strangers() {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> links;
    std::vector<std::uint32_t> adjacent;
    for (const SwitchIdx sw : graph_.by_guid()) {
      if (piece_[sw] == kNowhere) continue;
      list_adjacent(sw, adjacent);
      for (const std::uint32_t b : adjacent) links.emplace_back(piece_[sw], b);
    }
    std::sort(links.begin(), links.end());
    links.erase(std::unique(links.begin(), links.end()), links.end());
    if (links.size() == std::size_t{pieces_} * (pieces_ - 1)) return;
    for (std::uint32_t a = 0; a < pieces_; ++a) {
      for (std::uint32_t b = a + 1; b < pieces_; ++b) {
        if (size_[joined_.find(a)] + size_[joined_.find(b)] > largest_) continue;  // as join() says
        const bool strangers = std::none_of(links.begin(), links.end(), [&](const auto& link) {
          return joined_.find(link.first) == joined_.find(a) &&
                 joined_.find(link.second) == joined_.find(b);
        });
        if (strangers) join(a, b);
      }
    }
  }

  // Next to a hyperplane there is one on either side. A switch with links to two of its neighbours
  // shows that they are on different sides; both of them may be pieces.
  bool join_same_side() {
    std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> across(pieces_);
    std::vector<std::vector<std::uint32_t>> next(pieces_);
    std::vector<std::uint32_t> adjacent;
    for (const SwitchIdx sw : graph_.by_guid()) {
      if (piece_[sw] == kNowhere) continue;
      const std::uint32_t own = joined_.find(piece_[sw]);
      list_adjacent(sw, adjacent);
      next[own].insert(next[own].end(), adjacent.begin(), adjacent.end());
      if (adjacent.size() > 2) return false;  // no line
      if (adjacent.size() == 2) across[own].emplace_back(adjacent[0], adjacent[1]);
    }
    bool joined = false;
    for (std::uint32_t p = 0; p < pieces_; ++p) {
      std::sort(next[p].begin(), next[p].end());
      next[p].erase(std::unique(next[p].begin(), next[p].end()), next[p].end());
      if (next[p].size() < (across[p].empty() ? 2u : 3u)) continue;
      if (across[p].empty()) {
        for (const std::uint32_t other : next[p]) joined = join(next[p][0], other) || joined;
        continue;
      }
      // Whoever is across the same piece is on the same side.
      for (const auto& [a, b] : across[p]) {
        for (const auto& [c, d] : across[p]) {
          if (a == c) joined = join(b, d) || joined;
          if (b == d) joined = join(a, c) || joined;
          if (a == d) joined = join(b, c) || joined;
        }
      }
    }
    return joined;
  }

  const NeighbourGraph& graph_;
  const Dimensions& dimensions_;
  std::uint32_t d_;
  DisjointSets sets_;                            // of ranks
  IndexVector<SwitchIdx, std::uint32_t> piece_;  // kNowhere: torn off
  std::uint32_t pieces_ = 0;
  DisjointSets joined_{0};           // of pieces
  std::vector<std::uint32_t> size_;  // by piece that stands for its set
  std::uint32_t largest_ = 0;
};

}  // namespace

Dimensions keep_large(const LinkClasses& classes, const NeighbourGraph& graph) {
  std::vector<std::uint32_t> links(classes.count, 0);
  for (const std::uint32_t c : classes.of) ++links[c];
  Dimensions dimensions{.of = std::vector<std::uint32_t>(classes.of.size(), kNowhere)};
  std::vector<std::uint32_t> number(classes.count, kNowhere);
  for (std::uint32_t c = 0; c < classes.count; ++c) {
    if (std::size_t{links[c]} * 4 >= graph.switches()) number[c] = dimensions.count++;
  }
  for (std::size_t link = 0; link < classes.of.size(); ++link)
    dimensions.of[link] = number[classes.of[link]];
  return dimensions;
}

Hyperplanes find_hyperplanes(const NeighbourGraph& graph,
                             const Dimensions& dimensions,
                             LineKind kind) {
  Hyperplanes hyperplanes{
      .count = {}, .of = std::vector<std::uint32_t>(graph.switches() * dimensions.count, kNowhere)};
  // By rank. Links that nothing is known of hold nobody in place.
  std::vector<char> torn(graph.switches(), 0);
  for (std::uint32_t r = 0; r < graph.switches(); ++r) {
    const auto around = graph.around(graph.by_guid()[r]);
    torn[r] = std::all_of(around.begin(), around.end(), [&](const Neighbour& n) {
      return dimensions.of[n.link] == kNowhere;
    });
  }
  for (std::uint32_t d = 0; d < dimensions.count; ++d) {
    HyperplaneSearch search{graph, dimensions, d};
    search.find_pieces(torn);
    search.join_pieces(kind);
    hyperplanes.count.push_back(search.number([&](SwitchIdx sw) -> std::uint32_t& {
      return hyperplanes.of[std::size_t{sw.value()} * dimensions.count + d];
    }));
  }
  for (std::uint32_t r = 0; r < graph.switches(); ++r) {
    const auto at =
        hyperplanes.of.begin() +
        static_cast<std::ptrdiff_t>(std::size_t{graph.by_guid()[r].value()} * dimensions.count);
    if (torn[r]) std::fill(at, at + dimensions.count, kNowhere);
  }
  return hyperplanes;
}

Result<Lattice> place_switches(const Fabric& fabric,
                               const NeighbourGraph& graph,
                               const Hyperplanes& hyperplanes,
                               const std::vector<std::vector<std::uint32_t>>& position,
                               const std::function<AreNeighbours(const Lattice&)>& neighbours) {
  Lattice lattice;
  std::uint64_t cells = 1;
  for (const std::vector<std::uint32_t>& side : position) {
    lattice.sides.push_back(static_cast<std::uint32_t>(side.size()));
    cells *= side.size();
    if (cells > 2 * graph.switches()) {
      return fail(Errc::Unsupported,
                  fmt::format("{} switches are less than half of what its {} dimensions have "
                              "places for",
                              graph.switches(),
                              position.size()));
    }
  }
  lattice.at.assign(cells, kNone<SwitchIdx>);
  lattice.cell.assign(graph.switches(), kNowhere);
  if (cells < graph.switches()) {
    return fail(Errc::Unsupported,
                fmt::format("{} switches do not fit its {} places", graph.switches(), cells));
  }

  Placement placement{fabric, graph, lattice};
  std::vector<SwitchIdx> rest;
  for (const SwitchIdx sw : graph.by_guid()) {
    if (hyperplanes.number(sw, 0) == kNowhere) {
      rest.push_back(sw);
      continue;
    }
    std::uint32_t cell = 0;
    for (std::size_t d = 0; d < position.size(); ++d)
      cell = cell * lattice.sides[d] + position[d][hyperplanes.number(sw, d)];
    if (auto why = placement.put(sw, cell)) return tl::unexpected<Error>(*why);
  }
  const AreNeighbours fits = neighbours(lattice);
  if (rest.size() > kMostOutOfPlace) {
    return fail(
        Errc::Unsupported,
        fmt::format(
            "{} of {} switches have no place by their cables", rest.size(), graph.switches()));
  }
  if (auto why = placement.put_rest(std::move(rest), fits)) return tl::unexpected<Error>(*why);

  for (const SwitchIdx sw : graph.by_guid()) {
    for (const Neighbour& n : graph.around(sw)) {
      if (fits(lattice.cell[sw], lattice.cell[n.to])) continue;
      return fail(Errc::Unsupported,
                  fmt::format("{} and {} are cabled, but not neighbours",
                              print_switch(fabric, sw),
                              print_switch(fabric, n.to)));
    }
  }
  return lattice;
}

}  // namespace smd
