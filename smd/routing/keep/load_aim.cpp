#include "smd/routing/keep/load_aim.h"

#include <algorithm>
#include <cmath>

namespace smd {

std::uint64_t find_least_peak(const SwitchGraph& graph,
                              const Traffic& traffic,
                              const std::vector<std::uint32_t>& costs,
                              std::span<const std::uint64_t> load) {
  const auto& [sources, draws] = traffic;
  std::uint64_t all_sources = 0, all_draws = 0;
  for (const SwitchIdx sw : sources.indices()) {
    all_sources += sources[sw];
    all_draws += draws[sw];
  }
  double least = 0, all_width = 0, all_paths = 0;  // widths in links that cost 1
  for (const SwitchIdx sw : sources.indices()) {
    const auto in = static_cast<double>(draws[sw] * (all_sources - sources[sw]));
    const auto out = static_cast<double>(sources[sw] * (all_draws - draws[sw]));
    double width = 0;
    for (std::size_t at = 0; at < graph.edges(sw).size(); ++at) {
      const std::size_t edge = graph.first_edge(sw) + at;
      width += 1.0 / costs[edge];
      all_paths += static_cast<double>(load[edge]) / costs[edge];
    }
    if (width > 0) least = std::max(least, std::max(in, out) / width);
    all_width += width;
  }
  if (all_width > 0) least = std::max(least, all_paths / all_width);
  return static_cast<std::uint64_t>(least);
}

Evenness measure_evenness(std::span<const std::uint64_t> load) {
  std::uint64_t highest = 0, sum = 0;
  for (const std::uint64_t paths : load) {
    highest = std::max(highest, paths);
    sum += paths;
  }
  if (sum == 0) return {};
  return {.peak = static_cast<double>(highest) * static_cast<double>(load.size()) /
                  static_cast<double>(sum),
          .channels = static_cast<std::uint32_t>(load.size())};
}

namespace {

bool says_something(const Evenness& before, std::span<const std::uint64_t> load) {
  return before.peak > 0 && load.size() <= before.channels;
}

}  // namespace

LoadAim find_load_aim(std::uint64_t least_peak,
                      const Evenness& before,
                      std::span<const std::uint64_t> load) {
  const std::uint64_t best = least_peak + least_peak / 32;
  if (!says_something(before, load)) return {best, best};
  double sum = 0;
  for (const std::uint64_t paths : load) sum += static_cast<double>(paths);
  const double as_before = before.peak * sum / static_cast<double>(load.size());
  return {best, std::max(best, static_cast<std::uint64_t>(std::llround(as_before)))};
}

Evenness carry_evenness(const Evenness& before, std::span<const std::uint64_t> load) {
  return says_something(before, load) ? before : measure_evenness(load);
}

}  // namespace smd
