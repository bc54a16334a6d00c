#include "sim-backend/sourceroute/path_balance.h"

#include <cstdint>

namespace smd::sim {

// With sums of the loads and of their squares a way is tried in as many steps as it has links; the
// comparison is in whole numbers: variance times the square of the channels.
std::vector<std::size_t> even_out(std::uint32_t channels, const std::vector<PairPaths>& pairs) {
  struct PairPath {
    std::size_t pair, number;
  };

  std::vector<std::int64_t> load(channels, 0);
  std::vector<std::size_t> left(pairs.size());
  std::vector<PairPath> alive;
  std::int64_t sum = 0, squares = 0;
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    left[p] = pairs[p].ways.size();
    for (std::size_t w = 0; w < pairs[p].ways.size(); ++w) {
      if (left[p] > 1) alive.push_back({p, w});
      for (const Channel c : pairs[p].ways[w]) load[c] += pairs[p].weight;
    }
  }
  for (const std::int64_t l : load) {
    sum += l;
    squares += l * l;
  }
  std::vector<std::vector<bool>> gone(pairs.size());
  for (std::size_t p = 0; p < pairs.size(); ++p) gone[p].resize(pairs[p].ways.size());
  while (true) {
    __int128 best = 0;
    std::size_t chosen = SIZE_MAX;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < alive.size(); ++i) {
      const PairPath way = alive[i];
      // Those of pairs that have one left stay: they are tried no more.
      if (left[way.pair] < 2) continue;
      alive[kept] = way;
      const PairPaths& pair = pairs[way.pair];
      const std::int64_t w = pair.weight;
      std::int64_t new_squares = squares;
      for (const Channel c : pair.ways[way.number]) new_squares += w * w - 2 * w * load[c];
      const std::int64_t new_sum =
          sum - w * static_cast<std::int64_t>(pair.ways[way.number].size());
      const __int128 variance =
          static_cast<__int128>(channels) * new_squares - static_cast<__int128>(new_sum) * new_sum;
      if (chosen == SIZE_MAX || variance < best) {
        best = variance;
        chosen = kept;
      }
      ++kept;
    }
    alive.resize(kept);
    if (chosen == SIZE_MAX) break;
    const PairPath way = alive[chosen];
    alive.erase(alive.begin() + static_cast<std::ptrdiff_t>(chosen));
    gone[way.pair][way.number] = true;
    --left[way.pair];
    const std::int64_t w = pairs[way.pair].weight;
    for (const Channel c : pairs[way.pair].ways[way.number]) {
      squares += w * w - 2 * w * load[c];
      load[c] -= w;
      sum -= w;
    }
  }
  std::vector<std::size_t> out;
  for (const auto& ways : gone) {
    std::size_t number = 0;
    while (number < ways.size() && ways[number]) ++number;
    out.push_back(number);
  }
  return out;
}

}  // namespace smd::sim
