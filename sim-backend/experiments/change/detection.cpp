// How long a dead switch stays unnoticed: by sweeps at different intervals, and by traps while the
// same sweeps go on.
#include "sim-backend/experiments/change/experiments.h"

#include <fmt/core.h>

#include <cmath>

#include "sim-backend/experiments/change/presets.h"
#include "sim-backend/experiments/change/sweeping.h"
#include "sim-backend/lab/parallel.h"
#include "sim-backend/lab/statistics.h"

namespace smd::sim {
namespace {

constexpr ClaimSpec kClaims[] = {
    {.id = "H3-sweep",
     .text = "the detection time of sweeps grows with the sweep factor",
     .source = "thesis, Figure 65",
     .must_hold = true},
    {.id = "H3-flat",
     .text = "the detection time of traps does not depend on the sweep factor from 16 on",
     .source = "thesis, Figure 65"},
    {.id = "H3-order",
     .text = "traps detect sooner than sweeps at every factor",
     .source = "thesis, Figure 65",
     .must_hold = true},
};

Result<Findings> run(const ExperimentOptions& options) {
  const std::vector<unsigned> factors = options.quick
                                            ? std::vector<unsigned>{1, 16, 128}
                                            : std::vector<unsigned>{1, 4, 16, 64, 256, 1024};
  const std::vector<NetworkSize> sizes =
      options.quick ? std::vector<NetworkSize>{{8, 15}}
                    : std::vector<NetworkSize>{{8, 15}, {16, 30}, {32, 53}};
  const std::size_t repeats = options.quick ? 20 : 40;
  std::vector<DetectionCase> cases;
  for (const Preset& preset : kPresets) {
    for (const NetworkSize& size : sizes) {
      for (const unsigned factor : factors) {
        for (std::size_t k = 1; k <= repeats; ++k) cases.push_back({preset, size, factor, k});
      }
    }
  }
  const auto times = collect<Detection>(
      options.jobs, cases.size(), [&](std::size_t i) { return measure_detection(cases[i]); });
  if (!times) return tl::unexpected<Error>(times.error());

  Findings out{.columns = {"preset",
                           "switches",
                           "factor",
                           "runs",
                           "sweep_mean_s",
                           "sweep_stddev_s",
                           "trap_mean_s",
                           "trap_stddev_s"},
               .plot = {.title = "Time until a dead switch is noticed",
                        .x_label = "sweep factor",
                        .y_label = "seconds",
                        .log_x = true,
                        .log_y = true}};
  bool grows = true;
  double least_growth = 1e9;   // from one factor to the next
  double most_difference = 0;  // of traps, in shares of the least mean
  double late_difference = 0;  // likewise, from factor 64 on
  double closest = 0;          // trap over sweep
  std::size_t at = 0;
  for (std::size_t p = 0; p < kPresets.size(); ++p) {
    for (const NetworkSize& size : sizes) {
      const std::string where = fmt::format("{}, {} switches", kPresets[p].name, size.switches);
      Series by_sweep{.name = where + ", sweep"};
      Series by_trap{.name = where + ", trap"};
      Sample flat, late;
      double before = 0;
      for (const unsigned factor : factors) {
        Sample sweep, trap;
        for (std::size_t k = 0; k < repeats; ++k, ++at) {
          sweep.add((*times)[at].by_sweep);
          trap.add((*times)[at].by_trap);
        }
        out.rows.push_back({std::string(kPresets[p].name),
                            double(size.switches),
                            double(factor),
                            double(repeats),
                            sweep.mean(),
                            sweep.deviation(),
                            trap.mean(),
                            trap.deviation()});
        by_sweep.points.emplace_back(factor, sweep.mean());
        by_trap.points.emplace_back(factor, trap.mean());
        if (p > 0) continue;
        if (before > 0) least_growth = std::min(least_growth, sweep.mean() / before);
        grows = grows && sweep.mean() > before;
        before = sweep.mean();
        if (factor >= 16) flat.add(trap.mean());
        if (factor >= 64) late.add(trap.mean());
        closest = std::max(closest, trap.mean() / sweep.mean());
      }
      if (p == 0) {
        most_difference = std::max(most_difference, flat.max() / flat.min() - 1);
        late_difference = std::max(late_difference, late.max() / late.min() - 1);
      }
      out.plot.series.push_back(std::move(by_sweep));
      out.plot.series.push_back(std::move(by_trap));
    }
  }
  out.judgements = {
      {.id = "H3-sweep",
       .measured = fmt::format("at least {:.2f} times as long at the next factor", least_growth),
       .expected = "longer at every next factor",
       .holds = grows},
      {.id = "H3-flat",
       .measured = fmt::format("means differ by {:.1f} %; from factor 64 on by {:.1f} %",
                               100 * most_difference,
                               100 * late_difference),
       .expected = "by at most 25 %",
       .holds = most_difference <= 0.25},
      {.id = "H3-order",
       .measured = fmt::format("at most {:.3f} of the time of sweeps", closest),
       .expected = "less than 1",
       .holds = closest < 1},
  };
  return out;
}

}  // namespace

Experiment detection() {
  return {
      .name = "003-detection",
      .source = "thesis, Figures 63 to 65",
      .about = "how long a dead switch stays unnoticed, by sweep factor, with and without traps",
      .claims = kClaims,
      .run = run};
}

}  // namespace smd::sim
