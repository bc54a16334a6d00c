#include "smd/routing/topology/lattice_record.h"

#include <algorithm>

#include "smd/routing/topology/dimensions.h"
#include "smd/routing/topology/neighbour_graph.h"

namespace smd {
namespace {

// A dimension as it is, one of the record, and how the coordinates of the first are called so that
// as many switches as can be have those of the second.
struct DimensionMatch {
  std::size_t now, then;
  std::uint32_t kept = 0;
  std::vector<std::uint32_t> coordinate;
};

class NamesBefore {
 public:
  NamesBefore(const Fabric& fabric,
              const NeighbourGraph& graph,
              const Lattice& lattice,
              const std::vector<char>& wraps,
              const LatticeRecord& record)
      : graph_(graph), now_(lattice), wraps_(wraps), record_(record) {
    then_.sides = record.sides;
    then_.cell.assign(graph.switches(), kNowhere);
    auto known = record.cells.begin();
    for (const SwitchIdx sw : graph.by_guid()) {
      const Guid guid = fabric.node_guid[fabric.switch_node[sw]];
      while (known != record.cells.end() && known->first < guid) ++known;
      if (known != record.cells.end() && known->first == guid) then_.cell[sw] = known->second;
    }
  }

  [[nodiscard]] std::optional<PlaceNames> find() const {
    const std::size_t dims = now_.dimensions();
    if (then_.dimensions() != dims || wraps_.size() != record_.wraps.size()) return std::nullopt;
    PlaceNames names{.order = std::vector<std::size_t>(dims, dims),
                     .coordinate = std::vector<std::vector<std::uint32_t>>(dims)};
    std::size_t matched = 0;
    for (DimensionMatch& match : list_matches()) {
      if (names.order[match.then] != dims || !names.coordinate[match.now].empty()) continue;
      names.order[match.then] = match.now;
      names.coordinate[match.now] = std::move(match.coordinate);
      ++matched;
    }
    if (matched != dims || !keeps_most(names)) return std::nullopt;
    return names;
  }

 private:
  // The best ones first.
  [[nodiscard]] std::vector<DimensionMatch> list_matches() const {
    std::vector<DimensionMatch> matches;
    for (std::size_t now = 0; now < now_.dimensions(); ++now) {
      for (std::size_t then = 0; then < then_.dimensions(); ++then) {
        if (now_.sides[now] != then_.sides[then]) continue;
        if (wraps_.empty()) {
          matches.push_back(match_any(now, then));
        } else if (wraps_[now] == record_.wraps[then]) {
          matches.push_back(match_turned(now, then));
        }
      }
    }
    std::ranges::stable_sort(matches, std::greater{}, &DimensionMatch::kept);
    return matches;
  }

  template <class Visit>
  void each_known(std::size_t now, std::size_t then, Visit&& visit) const {
    for (const SwitchIdx sw : graph_.by_guid()) {
      if (then_.cell[sw] != kNowhere) visit(now_.coordinate(sw, now), then_.coordinate(sw, then));
    }
  }

  // Where everybody of a line is joined to everybody, coordinates may be called anything.
  [[nodiscard]] DimensionMatch match_any(std::size_t now, std::size_t then) const {
    const std::uint32_t side = now_.sides[now];
    std::vector<std::uint32_t> switches(std::size_t{side} * side, 0);
    each_known(now, then, [&](std::uint32_t x, std::uint32_t y) { ++switches[x * side + y]; });
    std::vector<std::uint32_t> pairs(switches.size());
    for (std::uint32_t pair = 0; pair < pairs.size(); ++pair) pairs[pair] = pair;
    std::ranges::stable_sort(
        pairs, std::greater{}, [&](std::uint32_t pair) { return switches[pair]; });
    DimensionMatch match{.now = now, .then = then, .coordinate = {}};
    match.coordinate.assign(side, kNowhere);
    std::vector<char> taken(side, 0);
    for (const std::uint32_t pair : pairs) {
      const std::uint32_t x = pair / side, y = pair % side;
      if (match.coordinate[x] != kNowhere || taken[y]) continue;
      match.coordinate[x] = y;
      taken[y] = 1;
      match.kept += switches[pair];
    }
    return match;
  }

  // A ring may be turned and mirrored, a line mirrored.
  [[nodiscard]] DimensionMatch match_turned(std::size_t now, std::size_t then) const {
    const std::uint32_t side = now_.sides[now];
    std::vector<std::uint32_t> rises(side, 0), falls(side, 0);  // by what 0 is called
    each_known(now, then, [&](std::uint32_t x, std::uint32_t y) {
      ++rises[(y + side - x) % side];
      ++falls[(y + x) % side];
    });
    std::uint32_t up = 0, down = side - 1;
    if (wraps_[now]) {
      up = static_cast<std::uint32_t>(std::ranges::max_element(rises) - rises.begin());
      down = static_cast<std::uint32_t>(std::ranges::max_element(falls) - falls.begin());
    }
    const bool rising = rises[up] >= falls[down];
    DimensionMatch match{.now = now,
                         .then = then,
                         .kept = rising ? rises[up] : falls[down],
                         .coordinate = std::vector<std::uint32_t>(side)};
    for (std::uint32_t x = 0; x < side; ++x)
      match.coordinate[x] = (rising ? up + x : down + side - x) % side;
    return match;
  }

  [[nodiscard]] bool keeps_most(const PlaceNames& names) const {
    const Lattice renamed = rename_places(graph_, now_, names);
    const auto kept = std::ranges::count_if(
        graph_.by_guid(), [&](SwitchIdx sw) { return renamed.cell[sw] == then_.cell[sw]; });
    return 2 * static_cast<std::size_t>(kept) > graph_.switches();
  }

  const NeighbourGraph& graph_;
  const Lattice& now_;
  const std::vector<char>& wraps_;
  const LatticeRecord& record_;
  Lattice then_;  // cells of the switches of now; kNowhere for those that are new
};

}  // namespace

LatticeRecord record_lattice(std::string_view engine,
                             const Fabric& fabric,
                             const NeighbourGraph& graph,
                             const Lattice& lattice,
                             std::vector<char> wraps) {
  LatticeRecord record{.engine = std::string(engine),
                       .sides = lattice.sides,
                       .wraps = std::move(wraps),
                       .cells = {}};
  for (const SwitchIdx sw : graph.by_guid())
    record.cells.emplace_back(fabric.node_guid[fabric.switch_node[sw]], lattice.cell[sw]);
  return record;
}

Lattice rename_places(const NeighbourGraph& graph,
                      const Lattice& lattice,
                      const PlaceNames& names) {
  Lattice renamed;
  for (const std::size_t d : names.order) renamed.sides.push_back(lattice.sides[d]);
  renamed.at.assign(lattice.cells(), kNone<SwitchIdx>);
  renamed.cell.assign(graph.switches(), kNowhere);
  for (const SwitchIdx sw : graph.by_guid()) {
    std::uint32_t cell = 0;
    for (const std::size_t d : names.order)
      cell = cell * lattice.sides[d] + names.coordinate[d][lattice.coordinate(sw, d)];
    renamed.cell[sw] = cell;
    renamed.at[cell] = sw;
  }
  return renamed;
}

std::optional<PlaceNames> find_names_before(const Fabric& fabric,
                                            const NeighbourGraph& graph,
                                            const Lattice& lattice,
                                            const std::vector<char>& wraps,
                                            const LatticeRecord& before) {
  return NamesBefore{fabric, graph, lattice, wraps, before}.find();
}

}  // namespace smd
