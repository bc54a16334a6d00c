// A pulse of a fifth of the hosts to one of them in a bidirectional multistage network, under every
// mechanism. Chosen, where the source is silent: a batch of 14 packets per hot source, exponential
// gaps, a speed-up of 2, slots up to k^n, peaks as means of windows of 10,000 cycles.
#include "sim-backend/experiments/congestion/experiments.h"

#include <map>

#include "sim-backend/experiments/congestion/hot_spot_cases.h"
#include "sim-backend/experiments/congestion/hot_spot_claims.h"
#include "sim-backend/experiments/congestion/pulse_run.h"
#include "sim-backend/lab/parallel.h"

namespace smd::sim {
namespace {

constexpr std::string_view kSource = "Ferrer 2012, BMIN 4-ary 5-fly, 512 hosts, pattern I";

Result<Findings> run(const ExperimentOptions& options) {
  PulseNetwork network;
  if (options.quick) {
    network.fabric = "bmin:k=4,stages=3";
    network.traffic.warm_packets = 3000;
  }
  const std::vector<HotSpotCase> all = hot_spot_cases();
  auto measured = collect<PulseResult>(options.jobs, all.size(), [&](std::size_t i) {
    return run_pulse(network, all[i].spec, kHotSpotLevels[all[i].level].rate, 1);
  });
  if (!measured) return tl::unexpected<Error>(measured.error());

  Findings out{.columns = {"mechanism",
                           "load",
                           "cold_mean_cycles",
                           "cold_peak_cycles",
                           "hot_mean_cycles",
                           "hot_peak_cycles",
                           "drained_cycles",
                           "link_share",
                           "least_link_share",
                           "longest_gap_cycles",
                           "cold_rate_before",
                           "least_cold_rate",
                           "cold_marked",
                           "hot_marked",
                           "hot_fully_marked",
                           "notices"},
               .plot = {.title = "Peak latency of cold packets during the pulse",
                        .x_label = "bytes per cycle and host",
                        .y_label = "cycles",
                        .log_y = true}};
  HotSpotResults results;
  std::map<std::string, Series> lines;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const PulseResult& p = (*measured)[i];
    results[{all[i].name, all[i].level}] = p;
    const HotSpotLevel& level = kHotSpotLevels[all[i].level];
    out.rows.push_back({all[i].name,
                        std::string(level.name),
                        p.cold.mean_latency,
                        p.cold.peak_latency,
                        p.hot.mean_latency,
                        p.hot.peak_latency,
                        p.drained,
                        p.link_share,
                        p.least_link_share,
                        p.longest_gap,
                        p.cold_rate_before,
                        p.least_cold_rate,
                        p.cold.marked,
                        p.hot.marked,
                        p.hot.fully_marked,
                        double(p.notices)});
    Series& line = lines[all[i].name];
    line.name = all[i].name;
    line.points.emplace_back(level.rate, p.cold.peak_latency);
  }
  for (auto& [name, line] : lines) {
    if (line.points.size() == kHotSpotLevels.size()) out.plot.series.push_back(std::move(line));
  }
  out.judgements = judge_hot_spot(results);
  return out;
}

}  // namespace

Experiment hot_spot_pulse() {
  return {.name = "004-hot-spot-pulse",
          .source = kSource,
          .about = "what a pulse to one host does to everybody else, under every mechanism",
          .claims = hot_spot_claims(),
          .run = run};
}

}  // namespace smd::sim
