#include "sim-backend/topology/nearest.h"

#include <algorithm>
#include <numeric>

namespace smd::sim {
namespace {

/// Levenshtein distance, one row at a time.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string_view find_nearest(std::string_view word, std::span<const std::string_view> candidates) {
  constexpr std::size_t kLongest = 80;  // bounds the work on hostile input
  word = word.substr(0, kLongest);
  std::string_view best;
  std::size_t best_distance = SIZE_MAX;
  for (const std::string_view candidate : candidates) {
    const std::size_t d = distance(word, candidate.substr(0, kLongest));
    if (d < best_distance) {
      best = candidate;
      best_distance = d;
    }
  }
  return best;
}

}  // namespace smd::sim
