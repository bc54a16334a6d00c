// The routes of PIRa under uniform traffic against those of FERa, packet by packet: where they
// saturate, and latencies at a quarter, a half and three quarters of where FERa's do.
#include "sim-backend/experiments/change/experiments.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "sim-backend/experiments/change/published.h"
#include "sim-backend/lab/parallel.h"
#include "sim-backend/lab/statistics.h"
#include "sim-backend/scenario/run.h"

namespace smd::sim {
namespace {

constexpr ClaimSpec kClaims[] = {
    {.id = "H12-saturation",
     .text = "PIRa's routes saturate only slightly before FERa's",
     .source = "thesis, Figure 82"},
    {.id = "H12-latency",
     .text = "up to half of FERa's saturation latencies on PIRa's routes are only slightly higher",
     .source = "thesis, Figure 82"},
    {.id = "H12-order",
     .text = "PIRa's routes are not better: neither sooner there nor later saturated, on average",
     .source = "thesis, Figure 82"},
};

/// The third is ours, for comparison.
constexpr std::array<std::string_view, 3> kEngines{"fera", "pira", "updn"};
constexpr std::array<double, 3> kParts{0.25, 0.50, 0.75};  // of FERa's saturation

using ByEngine = std::array<double, kEngines.size()>;

struct Network {
  NetworkSize size;
  std::uint64_t seed = 1;
};

struct Quality {
  ByEngine saturation{};
  ByEngine hops{};
  std::array<ByEngine, kParts.size()> latency{};  // ns
};

Result<PreparedScenario> prepare(const Network& network, std::string_view engine, bool quick) {
  Scenario s;
  s.file = engine;
  s.fabric = irregular4(network.size, network.seed);
  s.packet = PacketOptions::thesis();
  s.program.engine = engine;
  s.program.vls = s.packet.vls;
  s.traffic.sizes = {{256, 1}};
  s.traffic.sl_choice = SlChoice::Random;
  s.traffic.sl = 15;
  s.measure.plan = {.warm_up = kMilli,
                    .interval = kMilli,
                    .least_intervals = quick ? 5u : 20u,
                    .most_intervals = quick ? 5u : 20u};
  auto prepared = PreparedScenario::prepare(std::move(s));
  if (!prepared) return fail(Errc::Invalid, print_fault(prepared.error().at(0)));
  return std::move(*prepared);
}

Result<Quality> measure(const Network& network, bool quick) {
  Quality out;
  std::vector<PreparedScenario> prepared;
  for (std::size_t e = 0; e < kEngines.size(); ++e) {
    auto one = prepare(network, kEngines[e], quick);
    if (!one) return tl::unexpected<Error>(one.error());
    prepared.push_back(std::move(*one));
    const auto run = [&](double load) { return prepared[e].run(load, 1).steady; };
    out.saturation[e] = find_saturation(run, quick ? 0.04 : 0.01).load;
  }
  for (std::size_t e = 0; e < kEngines.size(); ++e) {
    for (std::size_t part = 0; part < kParts.size(); ++part) {
      const PointResult point = prepared[e].run(kParts[part] * out.saturation[0], 1);
      if (!point.audit.empty()) return fail(Errc::Invalid, point.audit);
      out.latency[part][e] = point.latency.mean / double(kNano);
      out.hops[e] = point.mean_hops;
    }
  }
  return out;
}

Result<Findings> run(const ExperimentOptions& options) {
  std::vector<Network> networks;
  const std::size_t sizes = options.quick ? 1 : kTable29.size();
  for (std::size_t size = 0; size < sizes; ++size) {
    for (std::uint64_t seed = 1; seed <= (options.quick ? 1u : 5u); ++seed) {
      networks.push_back({kTable29[size].size, seed});
    }
  }
  const auto all = collect<Quality>(options.jobs, networks.size(), [&](std::size_t i) {
    return measure(networks[i], options.quick);
  });
  if (!all) return tl::unexpected<Error>(all.error());

  Findings out{.columns = {"switches",
                           "seed",
                           "engine",
                           "saturation",
                           "hops",
                           "latency_25_ns",
                           "latency_50_ns",
                           "latency_75_ns"},
               .plot = {.title = "Load at which routes saturate, uniform traffic",
                        .x_label = "switches",
                        .y_label = "share of the hosts' links"}};
  for (const std::string_view engine : kEngines) {
    out.plot.series.push_back({.name = std::string(engine)});
  }
  Sample saturation;
  std::array<Sample, kParts.size()> latency;
  for (std::size_t n = 0; n < networks.size(); ++n) {
    const Quality& quality = (*all)[n];
    saturation.add(quality.saturation[1] / quality.saturation[0]);
    for (std::size_t part = 0; part < kParts.size(); ++part) {
      latency[part].add(quality.latency[part][1] / quality.latency[part][0]);
    }
    for (std::size_t e = 0; e < kEngines.size(); ++e) {
      out.rows.push_back({double(networks[n].size.switches),
                          double(networks[n].seed),
                          std::string(kEngines[e]),
                          quality.saturation[e],
                          quality.hops[e],
                          quality.latency[0][e],
                          quality.latency[1][e],
                          quality.latency[2][e]});
      out.plot.series[e].points.emplace_back(networks[n].size.switches, quality.saturation[e]);
    }
  }
  const double worst = std::max(latency[0].mean(), latency[1].mean());
  out.judgements = {
      {.id = "H12-saturation",
       .measured = fmt::format("at {:.3f} times FERa's load on average, {:.3f} to {:.3f}",
                               saturation.mean(),
                               saturation.min(),
                               saturation.max()),
       .expected = "on average at least 0.85 times",
       .holds = saturation.mean() >= 0.85},
      {.id = "H12-latency",
       .measured = fmt::format("{:.3f} times FERa's at a quarter, {:.3f} at a half ({:.3f} at "
                               "three quarters)",
                               latency[0].mean(),
                               latency[1].mean(),
                               latency[2].mean()),
       .expected = "on average at most 1.15 times",
       .holds = worst <= 1.15},
      {.id = "H12-order",
       .measured =
           fmt::format("{:.3f} times the load, {:.3f} times the latency at a half of FERa's",
                       saturation.mean(),
                       latency[1].mean()),
       .expected = "at most 1.02 times the load, at least 0.98 times the latency",
       .holds = saturation.mean() <= 1.02 && latency[1].mean() >= 0.98},
  };
  return out;
}

}  // namespace

Experiment route_quality() {
  return {.name = "003-route-quality",
          .source = "thesis, Figure 82",
          .about = "saturation and latency of PIRa's routes against FERa's, uniform traffic",
          .claims = kClaims,
          .run = run};
}

}  // namespace smd::sim
