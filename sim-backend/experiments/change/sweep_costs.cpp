// Sweeps: how long one takes, how long a dead switch stays unnoticed by them and by traps, and what
// they cost data.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "sim-backend/experiments/change/change_traffic.h"
#include "sim-backend/experiments/change/presets.h"
#include "sim-backend/experiments/change/published.h"
#include "sim-backend/experiments/change/sweeping.h"
#include "sim-backend/experiments/tables.h"
#include "sim-backend/lab/parallel.h"
#include "smd/discovery/light_sweep.h"

namespace smd::sim::sweep_costs {
namespace {

// One sweep: every switch is asked for its SwitchInfo by LID, all at once.

constexpr ClaimSpec kSweepTime[] = {
    {.id = "T11",
     .text = "a sweep takes the published time",
     .source = "thesis, Table 11",
     .measured = kFitsWorst,
     .expected = "0.85 to 1.15 times"},
    {.id = "T11-growth",
     .text = "the time of a sweep is proportional to the number of switches",
     .source = "thesis, Table 11",
     .must_hold = true,
     .measured = "switches^{most:.3f}",
     .expected = "switches^0.95 to switches^1.05"},
};

Result<double> measure_sweep(const std::string& fabric, const Preset& preset) {
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

Result<Findings> sweep_time(const ExperimentOptions& options) {
  const std::size_t sizes = options.quick ? 4 : kTable11.size();
  const auto groups =
      collect_sizes<Sample>(options.jobs, kTable11, sizes, options.quick ? 2u : 10u, measure_sweep);
  if (!groups) return tl::unexpected<Error>(groups.error());

  Findings out{.plot = {.title = "Time of one sweep",
                        .x_label = "switches",
                        .y_label = "seconds",
                        .log_x = true,
                        .log_y = true}};
  Range worst;
  std::vector<std::pair<double, double>> growth;
  for (std::size_t g = 0; g < groups->size(); ++g) {
    const Sample& time = (*groups)[g];
    const auto& [size, published] = kTable11[g % sizes];
    out.add_row({{"preset", kPresets[g / sizes].name},
                 {"switches", size.switches},
                 {"nodes", size.nodes},
                 {"runs", time.size()},
                 {"mean_s", time.mean()},
                 {"stddev_s", time.deviation()},
                 {"per_switch_us", 1e6 * time.mean() / size.switches},
                 {"published_s", published}});
    out.plot.add_point(kPresets[g / sizes].name, size.switches, time.mean());
    if (g >= sizes) continue;
    growth.emplace_back(size.switches, time.mean());
    worst.add(time.mean() / published);
  }
  for (std::size_t s = 0; s < sizes; ++s) {
    out.plot.add_point("published", kTable11[s].size.switches, kTable11[s].time);
  }
  out.verdicts = decide(kSweepTime, {{"T11", worst}, {"T11-growth", growth_exponent(growth)}});
  return out;
}

// A dead switch: by sweeps at different intervals, and by traps while the same sweeps go on.

constexpr ClaimSpec kDetection[] = {
    {.id = "H3-sweep",
     .text = "the detection time of sweeps grows with the sweep factor",
     .source = "thesis, Figure 65",
     .must_hold = true,
     .expected = "longer at every next factor"},
    {.id = "H3-flat",
     .text = "the detection time of traps does not depend on the sweep factor from 16 on",
     .source = "thesis, Figure 65",
     .expected = "by at most 25 %"},
    {.id = "H3-order",
     .text = "traps detect sooner than sweeps at every factor",
     .source = "thesis, Figure 65",
     .must_hold = true,
     .measured = "at most {most:.3f} of the time of sweeps",
     .expected = "less than 1"},
};

struct DetectionSums {
  Sample sweep, trap;  // seconds

  void add(const Detection& one) {
    sweep.add(one.by_sweep);
    trap.add(one.by_trap);
  }
};

Result<Findings> detection(const ExperimentOptions& options) {
  const std::vector<unsigned> factors = options.quick
                                            ? std::vector<unsigned>{1, 16, 128}
                                            : std::vector<unsigned>{1, 4, 16, 64, 256, 1024};
  const std::vector<NetworkSize> sizes =
      options.quick ? std::vector<NetworkSize>{{8, 15}}
                    : std::vector<NetworkSize>{{8, 15}, {16, 30}, {32, 53}};
  // Groups: presets, sizes, factors.
  const auto preset = [&](std::size_t group) { return group / factors.size() / sizes.size(); };
  const auto size = [&](std::size_t group) { return sizes[group / factors.size() % sizes.size()]; };
  const auto groups = collect_groups<DetectionSums>(
      options.jobs,
      kPresets.size() * sizes.size() * factors.size(),
      options.quick ? 20u : 40u,
      [&](std::size_t group, std::size_t seed) {
        return measure_detection(
            {kPresets[preset(group)], size(group), factors[group % factors.size()], seed});
      });
  if (!groups) return tl::unexpected<Error>(groups.error());

  Findings out{.plot = {.title = "Time until a dead switch is noticed",
                        .x_label = "sweep factor",
                        .y_label = "seconds",
                        .log_x = true,
                        .log_y = true}};
  bool grows = true;
  Range growth;                       // from one factor to the next
  Range difference, late_difference;  // of traps, in percent of the least mean; from 64 on
  Range closest;                      // trap over sweep
  Range flat, late;                   // means of one size
  for (std::size_t g = 0; g < groups->size(); ++g) {
    const auto& [sweep, trap] = (*groups)[g];
    const std::size_t f = g % factors.size();
    out.add_row({{"preset", kPresets[preset(g)].name},
                 {"switches", size(g).switches},
                 {"factor", factors[f]},
                 {"runs", sweep.size()},
                 {"sweep_mean_s", sweep.mean()},
                 {"sweep_stddev_s", sweep.deviation()},
                 {"trap_mean_s", trap.mean()},
                 {"trap_stddev_s", trap.deviation()}});
    const std::string where =
        fmt::format("{}, {} switches", kPresets[preset(g)].name, size(g).switches);
    out.plot.add_point(where + ", sweep", factors[f], sweep.mean());
    out.plot.add_point(where + ", trap", factors[f], trap.mean());
    if (preset(g) > 0) continue;
    const double before = f == 0 ? 0 : (*groups)[g - 1].sweep.mean();
    if (before > 0) growth.add(sweep.mean() / before);
    grows = grows && sweep.mean() > before;
    if (f == 0) flat = late = {};
    if (factors[f] >= 16) flat.add(trap.mean());
    if (factors[f] >= 64) late.add(trap.mean());
    closest.add(trap.mean() / sweep.mean());
    if (f + 1 < factors.size()) continue;
    difference.add(100 * (flat.most() / flat.least() - 1));
    late_difference.add(100 * (late.most() / late.least() - 1));
  }
  out.verdicts =
      decide(kDetection,
             {{"H3-sweep",
               fmt::format("at least {:.2f} times as long at the next factor", growth.least()),
               grows},
              {"H3-flat",
               fmt::format("means differ by {:.1f} %; from factor 64 on by {:.1f} %",
                           difference.most(),
                           late_difference.most()),
               difference},
              {"H3-order", closest}});
  return out;
}

// Sweeps beside data: header latencies with and without them, the share of the manager's links that
// they take, and how soon a dead switch is noticed on a loaded network.

constexpr ClaimSpec kSweepingLoad[] = {
    {.id = "H1",
     .text = "sweeps, even one after the other, hardly raise header latency at any load",
     .source = "thesis, Figure 63",
     .measured = "at most {most:.4f} times that without sweeps",
     .expected = "at most 1.02 times"},
    {.id = "H2",
     .text = "the links of the manager's node are almost idle under sweeps one after the other",
     .source = "thesis, Figure 64",
     .must_hold = true,
     .measured = "the busiest is in use for {most:.2f} %",
     .expected = "at most 2 %"},
    {.id = "H3-sweep",
     .text = "under load the detection time of sweeps grows with the sweep factor",
     .source = "thesis, Figure 65",
     .expected = "longer at every next factor"},
    {.id = "H3-order",
     .text = "under load traps detect sooner than sweeps at every factor",
     .source = "thesis, Figure 65",
     .measured = "at most {most:.3f} of the time of sweeps",
     .expected = "less than 1"},
    {.id = "H34",
     .text = "data does not delay the detection of a change: management goes before it",
     .source = "thesis, chapter 5",
     .measured = "at most {most:.2f} % later on average",
     .expected = "at most 5 %"},
};

constexpr std::array<double, 3> kLoads{0.25, 0.50, 0.75};  // of saturation

struct Beside {
  double latency = 0;     // ns, from generation to the first byte
  double link_share = 0;  // of the busiest link of the manager's node, data included
};

/// `factor`: 0 for no sweeps.
Result<Beside> measure_beside(const NetworkSize& size,
                              unsigned factor,
                              double load,
                              Duration time) {
  SubnetOptions options;
  options.agents.vl_cap = 2;  // two data VLs
  Subnet subnet(irregular4(size, 1), options);
  if (auto up = subnet.bring_up(); !up) return tl::unexpected<Error>(up.error());
  if (auto calm = subnet.calm_down(); !calm) return tl::unexpected<Error>(calm.error());
  Sweeping sweeping(subnet);
  const auto duration = sweeping.measure();
  if (!duration) return tl::unexpected<Error>(duration.error());
  ChangeTraffic data(subnet.runtime, subnet.fabric, load);
  if (factor > 0) sweeping.start(*duration * factor);
  subnet.runtime.run_until(subnet.runtime.now() + time / 4);
  data.restart();
  const std::uint32_t node = subnet.fabric.spec().sm_node;
  const unsigned ports = subnet.fabric.spec().nodes[node].num_ports();
  const auto sent = [&](unsigned port) {
    return double(data.net().sent_bytes(node, PortNum{static_cast<std::uint8_t>(port)}));
  };
  std::vector<double> before{0};
  for (unsigned p = 1; p <= ports; ++p) before.push_back(sent(p));
  subnet.runtime.run_until(subnet.runtime.now() + time);
  if (const auto books = data.finish(); !books) return tl::unexpected<Error>(books.error());
  Beside out{.latency = data.meter().head_latency().mean() / double(kNano)};
  const double whole = seconds(time) * 2.5e8;  // bytes of a 1x SDR link
  for (unsigned p = 1; p <= ports; ++p) {
    out.link_share = std::max(out.link_share, (sent(p) - before[p]) / whole);
  }
  return out;
}

Result<Findings> sweeping_load(const ExperimentOptions& options) {
  const bool quick = options.quick;
  const std::size_t sizes = quick ? 1 : 3;
  const std::vector<unsigned> factors =
      quick ? std::vector<unsigned>{0, 1} : std::vector<unsigned>{0, 1, 4, 16, 64, 256};
  const Duration time = std::chrono::milliseconds(quick ? 20 : 100);
  // Runs: sizes, no load and then each of those, factors.
  const std::size_t loads = 1 + kLoads.size();
  const auto size = [&](std::size_t run) { return run / factors.size() / loads; };
  const auto share = [&](std::size_t run) {
    const std::size_t load = run / factors.size() % loads;
    return load == 0 ? 0 : kLoads[load - 1];
  };
  // The published quarter of saturation, times four, is all of it.
  const auto load = [&](std::size_t at, double of_all) { return of_all * 4 * kTable29[at].load(); };
  const auto all =
      collect<Beside>(options.jobs, sizes * loads * factors.size(), [&](std::size_t i) {
        return measure_beside(
            kTable29[size(i)].size, factors[i % factors.size()], load(size(i), share(i)), time);
      });
  if (!all) return tl::unexpected<Error>(all.error());
  // The smallest network, without data and at half of saturation.
  const double half = load(0, 0.5);
  const std::vector<unsigned> detection_factors =
      quick ? std::vector<unsigned>{1, 8} : std::vector<unsigned>{1, 4, 16, 64};
  const auto detections =
      collect_groups<DetectionSums>(options.jobs,
                                    2 * detection_factors.size(),
                                    quick ? 4u : 20u,
                                    [&](std::size_t group, std::size_t seed) {
                                      return measure_detection({kPresets[0],
                                                                kTable29[0].size,
                                                                detection_factors[group / 2],
                                                                seed,
                                                                group % 2 == 0 ? 0 : half});
                                    });
  if (!detections) return tl::unexpected<Error>(detections.error());

  Findings out{.plot = {.title = "Header latency beside sweeps",
                        .x_label = "sweep factor",
                        .y_label = "nanoseconds",
                        .log_x = true}};
  const auto row = [&](const char* what,
                       const NetworkSize& network,
                       unsigned factor,
                       double of_links,
                       const Beside& beside,
                       double by_sweep,
                       double by_trap) {
    out.add_row({{"what", what},
                 {"switches", network.switches},
                 {"factor", factor},
                 {"load", of_links},
                 {"head_latency_ns", beside.latency},
                 {"busiest_link_share", beside.link_share},
                 {"by_sweep_s", by_sweep},
                 {"by_trap_s", by_trap}});
  };
  Range latency, busiest;
  for (std::size_t i = 0; i < all->size(); ++i) {
    const Beside& one = (*all)[i];
    const NetworkSize& network = kTable29[size(i)].size;
    const unsigned factor = factors[i % factors.size()];
    const bool loaded = share(i) > 0;
    row(loaded ? "latency" : "links", network, factor, load(size(i), share(i)), one, 0, 0);
    if (!loaded) busiest.add(100 * one.link_share);
    if (!loaded || factor == 0) continue;
    latency.add(one.latency / (*all)[i - i % factors.size()].latency);
    out.plot.add_point(fmt::format("{} switches, {:.0f} %", network.switches, 100 * share(i)),
                       factor,
                       one.latency);
  }
  Range growth, closest, delay(0);
  for (std::size_t f = 0; f < detection_factors.size(); ++f) {
    const DetectionSums& without = (*detections)[2 * f];
    const DetectionSums& with = (*detections)[2 * f + 1];
    for (const DetectionSums* one : {&without, &with}) {
      row("detection",
          kTable29[0].size,
          detection_factors[f],
          one == &with ? half : 0,
          {},
          one->sweep.mean(),
          one->trap.mean());
    }
    if (f > 0) growth.add(with.sweep.mean() / (*detections)[2 * f - 1].sweep.mean());
    closest.add(with.trap.mean() / with.sweep.mean());
    delay.add(100 * (with.sweep.mean() / without.sweep.mean() - 1));
    delay.add(100 * (with.trap.mean() / without.trap.mean() - 1));
  }
  out.verdicts =
      decide(kSweepingLoad,
             {{"H1", latency},
              {"H2", busiest},
              {"H3-sweep",
               fmt::format("at least {:.2f} times as long at the next factor", growth.least()),
               growth.least() > 1},
              {"H3-order", closest},
              {"H34", delay}});
  return out;
}

}  // namespace
}  // namespace smd::sim::sweep_costs

namespace smd::sim {

std::vector<Experiment> sweep_tables() {
  return {
      {.name = "003-detection",
       .source = "thesis, Figures 63 to 65",
       .about = "how long a dead switch stays unnoticed, by sweep factor, with and without traps",
       .claims = sweep_costs::kDetection,
       .run = sweep_costs::detection},
      {.name = "003-sweep-time",
       .source = "thesis, Table 11",
       .about = "the time that one sweep over all switches takes, by LID",
       .claims = sweep_costs::kSweepTime,
       .run = sweep_costs::sweep_time},
      {.name = "003-sweeping-load",
       .source = "thesis, Figures 63 to 65",
       .about =
           "sweeps beside data: latencies, the manager's links, sweep_costs::detection under load",
       .claims = sweep_costs::kSweepingLoad,
       .run = sweep_costs::sweeping_load}};
}

}  // namespace smd::sim
