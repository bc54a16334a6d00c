#include "smd/routing/topology/grid.h"

#include <fmt/core.h>
#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "smd/routing/topology/dimensions.h"
#include "smd/routing/topology/lattice_record.h"

namespace smd {
namespace {

constexpr std::size_t kMostDimensions = 16;

bool differ_once(const Lattice& lattice, std::uint32_t a, std::uint32_t b) {
  unsigned differ = 0;
  for (std::size_t d = lattice.dimensions(); d-- > 0;) {
    differ += a % lattice.sides[d] != b % lattice.sides[d] ? 1 : 0;
    a /= lattice.sides[d];
    b /= lattice.sides[d];
  }
  return differ == 1;
}

std::uint64_t count_links(const Lattice& lattice) {
  std::uint64_t ends = 0;
  for (const std::uint32_t side : lattice.sides)
    ends += (side - 1) * std::uint64_t{lattice.cells()};
  return ends / 2;
}

// Half of the links may be gone; a torus of two dimensions has fewer in a large box.
bool is_dense(const Lattice& lattice, const NeighbourGraph& graph) {
  return graph.links() * 2 > count_links(lattice);
}

// Coordinates of the hyperplanes across dimension d, rising with the GUIDs of most switches, line
// by line whatever cables are missing, so that the loss of one moves nobody.
std::vector<std::uint32_t> order_hyperplanes(const NeighbourGraph& graph,
                                             const Hyperplanes& hyperplanes,
                                             std::size_t dimensions,
                                             std::size_t d) {
  const std::uint32_t count = hyperplanes.count[d];
  std::map<std::vector<std::uint32_t>, std::vector<std::uint32_t>> lines;  // numbers, by GUID
  for (const SwitchIdx sw : graph.by_guid()) {
    const std::uint32_t own = hyperplanes.number(sw, d);
    if (own == kNowhere) continue;
    std::vector<std::uint32_t> line;
    for (std::size_t other = 0; other < dimensions; ++other) {
      if (other != d) line.push_back(hyperplanes.number(sw, other));
    }
    lines[line].push_back(own);
  }
  std::vector<std::uint64_t> others(count, 0), lower(count, 0);
  for (const auto& [line, numbers] : lines) {
    for (std::size_t at = 0; at < numbers.size(); ++at) {
      others[numbers[at]] += numbers.size() - 1;
      lower[numbers[at]] += at;
    }
  }
  for (std::uint64_t& sum : others) sum = std::max<std::uint64_t>(sum, 1);
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) {
    return lower[a] * others[b] < lower[b] * others[a];
  });
  std::vector<std::uint32_t> position(count);
  for (std::uint32_t at = 0; at < count; ++at) position[order[at]] = at;
  return position;
}

// By dimension, the rank of the lowest GUID in line with the lowest of all that has a place, cabled
// to it or not: the loss of a cable changes no order that goes by it.
std::vector<std::uint32_t> find_nearest(const NeighbourGraph& graph,
                                        const Hyperplanes& hyperplanes,
                                        std::size_t dimensions) {
  std::vector<std::uint32_t> nearest(dimensions, kNowhere);
  SwitchIdx first = kNone<SwitchIdx>;
  for (const SwitchIdx sw : graph.by_guid()) {
    if (hyperplanes.number(sw, 0) == kNowhere) continue;
    if (first == kNone<SwitchIdx>) {
      first = sw;
      continue;
    }
    std::size_t differ = 0, last = 0;
    for (std::size_t d = 0; d < dimensions; ++d) {
      if (hyperplanes.number(sw, d) == hyperplanes.number(first, d)) continue;
      ++differ;
      last = d;
    }
    if (differ == 1) nearest[last] = std::min(nearest[last], graph.rank(sw));
  }
  return nearest;
}

}  // namespace

Result<HammingShape> recognise_hamming(const Fabric& fabric,
                                       const NeighbourGraph& graph,
                                       const LatticeRecord* before) {
  if (graph.switches() < 2)
    return fail(Errc::Unsupported, "a Hamming graph has two switches at least");
  if (const SwitchIdx apart = graph.find_island(); apart != kNone<SwitchIdx>) {
    return fail(Errc::Unsupported,
                fmt::format("{} is not connected with the rest", print_switch(fabric, apart)));
  }
  const Result<LinkClasses> classes = classify_links(fabric, graph);
  if (!classes) return tl::unexpected<Error>(classes.error());
  const Dimensions found = keep_large(*classes, graph);
  if (found.count == 0 || found.count > kMostDimensions)
    return fail(Errc::Unsupported, fmt::format("links lie in {} dimensions", found.count));
  const Hyperplanes hyperplanes = find_hyperplanes(graph, found, LineKind::Complete);

  const std::vector<std::uint32_t> nearest = find_nearest(graph, hyperplanes, found.count);
  std::vector<std::uint32_t> order(found.count);
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t d) {
    return std::pair{~hyperplanes.count[d], nearest[d]};  // longest side first
  });
  Hyperplanes sorted{.count = {}, .of = hyperplanes.of};
  std::vector<std::vector<std::uint32_t>> position;
  for (const std::uint32_t d : order) {
    sorted.count.push_back(hyperplanes.count[d]);
    position.push_back(order_hyperplanes(graph, hyperplanes, found.count, d));
  }
  for (const SwitchIdx sw : graph.by_guid()) {
    for (std::size_t i = 0; i < order.size(); ++i)
      sorted.of[sw.value() * order.size() + i] = hyperplanes.number(sw, order[i]);
  }
  Result<Lattice> lattice =
      place_switches(fabric, graph, sorted, position, [](const Lattice& placed) {
        return [&placed](std::uint32_t a, std::uint32_t b) { return differ_once(placed, a, b); };
      });
  if (!lattice) return tl::unexpected<Error>(lattice.error());
  if (!is_dense(*lattice, graph)) {
    return fail(Errc::Unsupported,
                fmt::format("{} links are less than half of the {} of its Hamming graph",
                            graph.links(),
                            count_links(*lattice)));
  }

  HammingShape hamming{.lattice = std::move(*lattice), .trunk = {}};
  if (before != nullptr) {
    if (const auto names = find_names_before(fabric, graph, hamming.lattice, {}, *before))
      hamming.lattice = rename_places(graph, hamming.lattice, *names);
  }
  hamming.trunk.assign(hamming.lattice.dimensions(), 0);
  for (const SwitchIdx sw : graph.by_guid()) {
    std::uint32_t side = graph.first(sw);
    for (const Neighbour& n : graph.around(sw)) {
      std::size_t d = 0;
      while (hamming.lattice.coordinate(sw, d) == hamming.lattice.coordinate(n.to, d)) ++d;
      hamming.trunk[d] =
          std::max(hamming.trunk[d], static_cast<std::uint32_t>(graph.ports(side++).size()));
    }
  }
  return hamming;
}

Result<HammingShape> recognise_hamming(const Fabric& fabric) {
  return recognise_hamming(fabric, NeighbourGraph{fabric});
}

std::string print_hamming(const HammingShape& hamming) {
  std::string sides, trunks;
  for (std::size_t d = 0; d < hamming.trunk.size(); ++d) {
    const char* const between = d == 0 ? "" : " x ";
    sides += fmt::format("{}{}", between, hamming.lattice.sides[d]);
    trunks += fmt::format("{}{}", between, hamming.trunk[d]);
  }
  std::string text = fmt::format("Hamming graph {}, trunks {}", sides, trunks);
  const std::size_t missing = hamming.lattice.cells() - hamming.lattice.cell.size();
  if (missing != 0) text += fmt::format(", {} switch{} missing", missing, missing == 1 ? "" : "es");
  return text;
}

}  // namespace smd
