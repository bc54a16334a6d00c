// Markings with one reaction, windows without slots, and both over time, against a pulse to one
// host. Chosen, where the source is silent: as in 004-hot-spot-pulse. A scheme "starts" in the bin
// of 1,000 cycles by which ten marked packets have arrived; marks of IOPM are those of either bit,
// marks of MVPM those that are validated.
#include "sim-backend/experiments/congestion/experiments.h"

#include <fmt/core.h>

#include "sim-backend/experiments/congestion/ablation_cases.h"
#include "sim-backend/experiments/congestion/hot_spot_cases.h"

namespace smd::sim {
namespace {

Result<Findings> run(const ExperimentOptions& options) {
  const std::vector<PulseCase> cases = ablation_cases(options.quick);
  const auto results = run_pulses(options.jobs, cases);
  if (!results) return tl::unexpected<Error>(results.error());
  Findings out = tell_pulses(cases, *results);
  out.plot = {.title = "Mean latency of cold packets during the pulse, windows alone",
              .x_label = "bytes per cycle and host",
              .y_label = "cycles",
              .log_y = true};
  const auto line = [&](char kind, unsigned packets) {
    Series series{.name = fmt::format("{}W={}", kind, packets)};
    for (std::size_t level = 0; level < kHotSpotLevels.size(); ++level) {
      series.points.emplace_back(kHotSpotLevels[level].rate,
                                 results->at(window_case(kind, packets, level)).cold.mean_latency);
    }
    out.plot.series.push_back(std::move(series));
  };
  for (const unsigned packets : kStaticWindows) line('S', packets);
  for (const unsigned packets : kDynamicWindows) line('D', packets);
  out.judgements = judge_ablations(*results);
  return out;
}

}  // namespace

Experiment ablations() {
  return {.name = "004-ablations",
          .source = "Ferrer 2012, chapters 4 and 8.4, BMIN 4-ary 5-fly, pattern I",
          .about = "what markings and windows are worth by themselves, and when marks are set",
          .claims = ablation_claims(),
          .run = run};
}

}  // namespace smd::sim
