#include "sim-backend/topology/random_graph.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace smd::sim {
namespace {

using Edge = std::pair<std::uint32_t, std::uint32_t>;

Edge ordered(std::uint32_t a, std::uint32_t b) { return {std::min(a, b), std::max(a, b)}; }

template <class T>
void shuffle(std::vector<T>& values, Rng& rng) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[rng.below(i)]);
}

bool is_connected(std::uint32_t n, const Edges& edges) {
  std::vector<std::uint32_t> root(n);
  std::iota(root.begin(), root.end(), 0u);
  const auto find = [&root](std::uint32_t v) {
    while (root[v] != v) v = root[v] = root[root[v]];
    return v;
  };
  std::uint32_t islands = n;
  for (const auto& [a, b] : edges) {
    const std::uint32_t x = find(a);
    const std::uint32_t y = find(b);
    if (x != y) {
      root[x] = y;
      --islands;
    }
  }
  return islands == 1;
}

/// Pairs the stubs at random and repairs loops and double edges by exchanging ends with edges drawn
/// at random. False when it ran out of tries.
bool pair_stubs(std::vector<std::uint32_t> stubs, Rng& rng, Edges& good) {
  shuffle(stubs, rng);
  std::set<Edge> seen;
  Edges bad;
  good.clear();
  for (std::size_t i = 0; i + 1 < stubs.size(); i += 2) {
    const Edge e = ordered(stubs[i], stubs[i + 1]);
    const bool fits = e.first != e.second && seen.insert(e).second;
    (fits ? good : bad).push_back(e);
  }
  std::size_t tries = 1000 + 100 * stubs.size();
  while (!bad.empty() && !good.empty() && tries-- > 0) {
    const Edge e = bad.back();
    const std::size_t j = rng.below(good.size());
    const Edge f = good[j];
    const bool crossed = rng.below(2) != 0;
    const Edge x = ordered(e.first, crossed ? f.second : f.first);
    const Edge y = ordered(e.second, crossed ? f.first : f.second);
    if (x.first == x.second || y.first == y.second || x == y || seen.contains(x) ||
        seen.contains(y)) {
      continue;
    }
    seen.erase(f);
    seen.insert(x);
    seen.insert(y);
    good[j] = x;
    good.push_back(y);
    bad.pop_back();
  }
  return bad.empty();
}

/// The graph that always exists: every vertex to the next ones around a circle, and across it when
/// the degree is odd.
Edges circulant(std::uint32_t n, std::uint32_t degree) {
  std::set<Edge> edges;
  for (std::uint32_t i = 0; i < n; ++i) {
    for (std::uint32_t step = 1; step <= degree / 2; ++step)
      edges.insert(ordered(i, (i + step) % n));
  }
  if (degree % 2 == 1) {
    for (std::uint32_t i = 0; i < n / 2; ++i) edges.insert(ordered(i, i + n / 2));
  }
  return {edges.begin(), edges.end()};
}

}  // namespace

Edges build_regular_graph(std::uint32_t n, std::uint32_t degree, Rng& rng) {
  if (degree == 2) {  // the connected graph of degree 2 is a ring
    std::vector<std::uint32_t> order(n);
    std::iota(order.begin(), order.end(), 0u);
    shuffle(order, rng);
    Edges ring;
    for (std::uint32_t i = 0; i < n; ++i) ring.push_back(ordered(order[i], order[(i + 1) % n]));
    std::ranges::sort(ring);
    return ring;
  }
  std::vector<std::uint32_t> stubs;
  for (std::uint32_t v = 0; v < n; ++v) stubs.insert(stubs.end(), degree, v);
  if (stubs.size() % 2 != 0) stubs.pop_back();
  Edges edges;
  for (int attempt = 0; attempt < 100; ++attempt) {
    if (pair_stubs(stubs, rng, edges) && is_connected(n, edges)) {
      std::ranges::sort(edges);
      return edges;
    }
  }
  return circulant(n, degree);
}

Edges build_sparse_graph(std::uint32_t n, std::uint32_t degree, std::uint32_t extra, Rng& rng) {
  std::vector<std::uint32_t> room(n, degree);
  std::set<Edge> edges;
  const auto join = [&](std::uint32_t a, std::uint32_t b) {
    edges.insert(ordered(a, b));
    --room[a];
    --room[b];
  };
  for (std::uint32_t v = 1; v < n; ++v) {
    std::vector<std::uint32_t>
        open;  // never empty: a tree on v vertices leaves room while degree >= 2
    for (std::uint32_t u = 0; u < v; ++u) {
      if (room[u] > 0) open.push_back(u);
    }
    join(open[rng.below(open.size())], v);
  }
  Edges candidates;
  for (std::uint32_t a = 0; a < n && extra > 0; ++a) {
    for (std::uint32_t b = a + 1; b < n; ++b) {
      if (!edges.contains({a, b})) candidates.emplace_back(a, b);
    }
  }
  shuffle(candidates, rng);
  for (const auto& [a, b] : candidates) {
    if (extra == 0) break;
    if (room[a] == 0 || room[b] == 0) continue;
    join(a, b);
    --extra;
  }
  return {edges.begin(), edges.end()};
}

}  // namespace smd::sim
