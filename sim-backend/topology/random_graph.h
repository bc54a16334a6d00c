// Random simple graphs as edge lists, from the seeded generator.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "smd/base/rng.h"

namespace smd::sim {

using Edges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// A connected graph on n vertices, each with `degree` edges and at most one edge per pair; when
/// n · degree is odd the last vertex has one edge less.
/// Requires: degree < n, and degree >= 2 or n == 2.
[[nodiscard]] Edges build_regular_graph(std::uint32_t n, std::uint32_t degree, Rng& rng);

/// A connected graph: a random spanning tree and `extra` further edges, at most one per pair and at
/// most `degree` at a vertex; fewer when no pair is left.
/// Requires: n >= 1, degree >= 2.
[[nodiscard]] Edges build_sparse_graph(std::uint32_t n,
                                       std::uint32_t degree,
                                       std::uint32_t extra,
                                       Rng& rng);

}  // namespace smd::sim
