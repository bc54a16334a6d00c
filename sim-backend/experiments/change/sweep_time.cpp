// One sweep: every switch is asked for its SwitchInfo by LID, all at once.
#include "sim-backend/experiments/change/experiments.h"

#include <fmt/core.h>

#include <cmath>

#include "sim-backend/experiments/change/presets.h"
#include "sim-backend/experiments/change/published.h"
#include "sim-backend/lab/parallel.h"
#include "sim-backend/lab/statistics.h"
#include "smd/discovery/light_sweep.h"

namespace smd::sim {
namespace {

constexpr ClaimSpec kClaims[] = {
    {.id = "T11", .text = "a sweep takes the published time", .source = "thesis, Table 11"},
    {.id = "T11-growth",
     .text = "the time of a sweep is proportional to the number of switches",
     .source = "thesis, Table 11",
     .must_hold = true},
};

Result<double> measure(const std::string& fabric, const Preset& preset) {
  Subnet subnet(fabric, {.preset = preset});
  if (auto up = subnet.bring_up(); !up) return tl::unexpected<Error>(up.error());
  // A switch that still reports a change of the bring-up would end the sweep early.
  if (auto calm = subnet.calm_down(); !calm) return tl::unexpected<Error>(calm.error());
  LightSweep poll(subnet.runtime, subnet.client, {});
  std::optional<LightSweepReport> report;
  const TimePoint began = subnet.runtime.now();
  poll.start(
      subnet.snapshot(), subnet.lids, [&](LightSweepReport done) { report = std::move(done); });
  if (auto ended = subnet.run_until([&] { return report.has_value(); }, "a sweep"); !ended) {
    return tl::unexpected<Error>(ended.error());
  }
  if (!report->silent.empty()) return fail(Errc::Timeout, "a switch did not answer the sweep");
  return seconds(subnet.runtime.now() - began);
}

Result<Findings> run(const ExperimentOptions& options) {
  const unsigned seeds = options.quick ? 2 : 10;
  const std::size_t sizes = options.quick ? 4 : kTable11.size();
  const std::size_t runs = kPresets.size() * sizes * seeds;
  const auto times = collect<double>(options.jobs, runs, [&](std::size_t i) {
    const Preset& preset = kPresets[i / (sizes * seeds)];
    return measure(irregular4(kTable11[i / seeds % sizes].size, 1 + i % seeds), preset);
  });
  if (!times) return tl::unexpected<Error>(times.error());

  Findings out{.columns = {"preset",
                           "switches",
                           "nodes",
                           "runs",
                           "mean_s",
                           "stddev_s",
                           "per_switch_us",
                           "published_s"},
               .plot = {.title = "Time of one sweep",
                        .x_label = "switches",
                        .y_label = "seconds",
                        .log_x = true,
                        .log_y = true}};
  Farthest worst;
  std::vector<std::pair<double, double>> growth;
  for (std::size_t p = 0; p < kPresets.size(); ++p) {
    Series series{.name = std::string(kPresets[p].name)};
    for (std::size_t s = 0; s < sizes; ++s) {
      Sample sample;
      for (std::size_t k = 0; k < seeds; ++k) sample.add((*times)[(p * sizes + s) * seeds + k]);
      const auto& [size, published] = kTable11[s];
      const double switches = size.switches;
      out.rows.push_back({std::string(kPresets[p].name),
                          switches,
                          double(size.nodes),
                          double(sample.size()),
                          sample.mean(),
                          sample.deviation(),
                          1e6 * sample.mean() / switches,
                          published});
      series.points.emplace_back(switches, sample.mean());
      if (p > 0) continue;
      growth.emplace_back(switches, sample.mean());
      worst.add(sample.mean() / published);
    }
    out.plot.series.push_back(std::move(series));
  }
  Series printed{.name = "published"};
  for (std::size_t s = 0; s < sizes; ++s) {
    printed.points.emplace_back(kTable11[s].size.switches, kTable11[s].time);
  }
  out.plot.series.push_back(std::move(printed));

  const double exponent = growth_exponent(growth);
  out.judgements = {
      {.id = "T11",
       .measured = worst.print(),
       .expected = "0.85 to 1.15 times",
       .holds = worst.within(0.15)},
      {.id = "T11-growth",
       .measured = fmt::format("switches^{:.3f}", exponent),
       .expected = "switches^0.95 to switches^1.05",
       .holds = std::abs(exponent - 1) <= 0.05},
  };
  return out;
}

}  // namespace

Experiment sweep_time() {
  return {.name = "003-sweep-time",
          .source = "thesis, Table 11",
          .about = "the time that one sweep over all switches takes, by LID",
          .claims = kClaims,
          .run = run};
}

}  // namespace smd::sim
