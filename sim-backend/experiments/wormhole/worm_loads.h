// Worm networks at many loads: the most that they accept, and what messages take at low load.
#pragma once

#include <cmath>
#include <functional>
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
  double share = 0.05;  // of messages to a hot spot
  unsigned radius = 3;  // of local traffic
  std::vector<SizeShare> sizes{{512, 1}};
  std::uint64_t seed = 1;  // of routes
  std::uint64_t traffic_seed = 1;
  WormOptions options = WormOptions::myrinet();
};

struct MessageCount {
  std::uint64_t warm_up = 10'000, measured = 40'000;
  // Where sources remember what their routes suffered, the warm-up has so many for each pair of
  // hosts at least: as many as a pair has routes at most, so that each is known. Turns need none,
  // since where they begin is drawn.
  std::uint64_t of_pair = 10;
};

/// The warm-up of a run: so many messages.
[[nodiscard]] std::uint64_t count_warm_up(const WormSpec& worm,
                                          const FabricSpec& fabric,
                                          const MessageCount& length);

/// A system of routes, or a way to choose among several: RSUD, RRSUD, DET among those of UD;
/// UD_ITB_ML, UD_ITB_50, UD_ITB_DET1 and UD_ITB_DET2 between two sets.
[[nodiscard]] WormSpec find_worm_system(std::string_view name);

/// Messages of 512 bytes, gaps uniform, loads in flits per nanosecond and switch.
[[nodiscard]] Result<PreparedScenario> prepare_worms(const WormRun& run,
                                                     const MessageCount& length);

struct LoadPoint {
  double accepted = 0;
  double share = 1;  // of what was offered: under some patterns not every host sends
};

/// Of what `whole` gains over 1, so much does `part`. Where that gains nothing there is nothing to
/// have a share of: no number.
[[nodiscard]] inline double share_of_gain(double part, double whole) {
  return whole > 1 ? (part - 1) / (whole - 1) : std::nan("");
}

/// The most that is accepted over loads of 1 to `most` steps, in the unit of a step: up to where it
/// falls behind what is offered, and two steps on. `at` tells what happens at so many steps.
[[nodiscard]] Result<double> find_peak(double step,
                                       unsigned most,
                                       const std::function<Result<LoadPoint>(unsigned)>& at);

inline constexpr double kLoadStep = 0.0024;  // as the published values are spaced

/// In flits per nanosecond and switch. A deadlock is an error.
[[nodiscard]] Result<double> find_most_accepted(const WormRun& run, const MessageCount& length);

/// Irregular networks of 8-port switches, 4 ports to switches and `hosts` to hosts.
[[nodiscard]] std::string irregular_fabric(unsigned switches,
                                           unsigned topology,
                                           unsigned hosts = 4);

/// A ratio that was published for a size: its mean over ten topologies, and their range.
struct PublishedRatio {
  unsigned switches;
  double mean, least, most;
};

/// Rows of one claim stand together.
struct RatioRow {
  std::string_view claim;
  std::string_view above, below;  // systems
  std::vector<PublishedRatio> published;
  std::string_view pattern = "uniform";
  std::vector<SizeShare> sizes{{512, 1}};
};

/// A claim on the mean ratios of several rows, by their claims.
struct RatioShape {
  std::string_view claim;
  std::vector<std::string_view> rows;
  bool falls = false;  // each row's at the largest network over that at the smallest; else all
};

struct RatioRuns {
  std::vector<RatioRow> rows;
  std::vector<RatioShape> shapes = {};
  MessageCount length;
  unsigned topologies = 10;
  std::vector<unsigned> sizes{8, 16, 32, 64};
  unsigned jobs = 1;
  /// What a run comes to: throughput, or latency.
  std::function<Result<double>(const WormRun&, const MessageCount&)> measure = find_most_accepted;
};

/// A row of the table for each size, and what was measured for each claim: how far the mean of ours
/// lies outside the published range, where it is farthest. Then that of each shape.
[[nodiscard]] Result<std::vector<Measured>> measure_ratios(const RatioRuns& runs, Findings& out);

/// Ratios as an experiment; it outlives the experiments made of it.
struct RatioTable {
  std::string_view name, source, about;
  std::span<const ClaimSpec> claims;
  std::vector<RatioRow> rows;
  std::vector<RatioShape> shapes = {};
  unsigned topologies = 10;  // of a full run
  std::vector<unsigned> quick_sizes{16, 32};
};

[[nodiscard]] Result<Findings> run_ratios(const RatioTable& table,
                                          const ExperimentOptions& options);

[[nodiscard]] std::vector<Experiment> list_experiments(std::span<const RatioTable> tables);

inline constexpr std::string_view kWithinRange = "at most 0.05";  // beyond the published range

constexpr ClaimSpec ratio_claim(std::string_view id,
                                std::string_view text,
                                std::string_view source) {
  return {
      .id = id, .text = text, .source = source, .measured = "{most:.2f}", .expected = kWithinRange};
}

}  // namespace smd::sim
