// Worm networks at many loads: the most that they accept, and what messages take at low load.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim-backend/lab/experiment.h"
#include "sim-backend/scenario/run.h"

namespace smd::sim {

struct WormRun {
  std::string fabric;
  std::string system;  // as find_worm_system() knows it
  std::string pattern = "uniform";
  std::vector<SizeShare> sizes{{512, 1}};
  std::uint64_t seed = 1;  // of routes
  WormOptions options = WormOptions::myrinet();
};

struct MessageCount {
  std::uint64_t warm_up = 10'000, measured = 40'000;
};

/// A system of routes, or a way to choose among several: RSUD, RRSUD, DET among those of UD;
/// UD_ITB_ML, UD_ITB_50, UD_ITB_DET1 and UD_ITB_DET2 between two sets.
[[nodiscard]] WormSpec find_worm_system(std::string_view name);

/// Messages of 512 bytes, gaps uniform, loads in flits per nanosecond and switch.
[[nodiscard]] Result<PreparedScenario> prepare_worms(const WormRun& run,
                                                     const MessageCount& length);

/// The most that is accepted, in flits per nanosecond and switch, over loads of so many steps: up
/// to where it falls behind what is offered, and two steps on. A deadlock is an error.
[[nodiscard]] Result<double> find_most_accepted(const WormRun& run, const MessageCount& length);

inline constexpr double kLoadStep = 0.0024;  // as the published values are spaced

/// Irregular networks of 8-port switches, 4 ports to switches and `hosts` to hosts.
[[nodiscard]] std::string irregular_fabric(unsigned switches,
                                           unsigned topology,
                                           unsigned hosts = 4);

/// A ratio that was published for a size: its mean over ten topologies, and their range.
struct PublishedRatio {
  unsigned switches;
  double mean, least, most;
};

struct RatioRow {
  std::string_view claim;
  std::string_view above, below;  // systems
  std::vector<PublishedRatio> published;
};

struct RatioRuns {
  std::vector<RatioRow> rows;
  MessageCount length;
  unsigned topologies = 10;
  std::vector<unsigned> sizes{8, 16, 32, 64};
  unsigned jobs = 1;
  std::string pattern = "uniform";
  /// What a run comes to: throughput, or latency.
  std::function<Result<double>(const WormRun&, const MessageCount&)> measure = find_most_accepted;
};

/// A row of the table for each size, and what was measured for each claim: how far the mean of ours
/// lies outside the published range, where it is farthest.
[[nodiscard]] Result<std::vector<Measured>> measure_ratios(const RatioRuns& runs, Findings& out);

}  // namespace smd::sim
