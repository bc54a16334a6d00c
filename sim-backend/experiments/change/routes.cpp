// Routes of the thesis's algorithms: how many table entries each computes, and how PIRa's carry
// uniform traffic against FERa's, packet by packet: where they saturate, and latencies at a
// quarter, a half and three quarters of where FERa's do.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "sim-backend/experiments/change/published.h"
#include "sim-backend/experiments/change/subnet.h"
#include "sim-backend/experiments/tables.h"
#include "sim-backend/lab/parallel.h"
#include "sim-backend/scenario/run.h"

namespace smd::sim::routes {
namespace {

// Entries.

constexpr ClaimSpec kRouteEntries[] = {
    {.id = "T19",
     .text = "explicit entries of the example, both algorithms",
     .source = "thesis, Tables 18 and 19",
     .must_hold = true,
     .expected = "120 and 50"},
    {.id = "T20-fera",
     .text = "fully explicit routing computes the published number of entries",
     .source = "thesis, Table 20",
     .measured = kFitsWorst,
     .expected = "0.97 to 1.03 times"},
    {.id = "T20-pira",
     .text = "partially implicit routing computes the published number of entries",
     .source = "thesis, Table 20",
     .measured = kFitsWorst,
     .expected = "0.80 to 1.20 times"},
    {.id = "H10",
     .text = "the ratio between the two grows with the network",
     .source = "thesis, Table 20",
     .must_hold = true},
};

constexpr Preset kInstant{"none", &Timing::none, &unlimited_window};

/// Of FERa and PIRa.
using Entries = std::array<double, 2>;

Result<Entries> count_entries(const std::string& fabric) {
  Entries entries{};
  for (const std::size_t implicit : {0, 1}) {
    Subnet subnet(fabric, {.preset = kInstant, .engine = implicit ? "pira" : "fera-flood"});
    if (auto routed = subnet.plan_routes(); !routed) return tl::unexpected<Error>(routed.error());
    entries[implicit] = static_cast<double>(subnet.routing.sequence.size());
  }
  return entries;
}

Result<Findings> route_entries(const ExperimentOptions& options) {
  const std::size_t sizes = options.quick ? 7 : kTable20.size();
  const auto example = count_entries("example:name=fig76");
  if (!example) return tl::unexpected<Error>(example.error());
  const auto groups = collect_groups<std::array<Sample, 2>>(
      options.jobs, sizes, options.quick ? 2u : 10u, [&](std::size_t size, std::size_t seed) {
        return count_entries(irregular4(kTable20[size].size, seed));
      });
  if (!groups) return tl::unexpected<Error>(groups.error());

  Findings out{.plot = {.title = "Entries computed",
                        .x_label = "switches",
                        .y_label = "entries",
                        .log_x = true,
                        .log_y = true}};
  Range fera, pira;
  std::vector<std::pair<double, double>> ratios;
  for (std::size_t s = 0; s < sizes; ++s) {
    const auto& [of_fera, of_pira] = (*groups)[s];
    const auto& [size, published_fera, published_pira] = kTable20[s];
    const double ratio = of_fera.mean() / of_pira.mean();
    out.add_row({{"switches", size.switches},
                 {"nodes", size.nodes},
                 {"runs", of_fera.size()},
                 {"fera_mean", of_fera.mean()},
                 {"fera_stddev", of_fera.deviation()},
                 {"pira_mean", of_pira.mean()},
                 {"pira_stddev", of_pira.deviation()},
                 {"ratio", ratio},
                 {"published_fera", published_fera},
                 {"published_pira", published_pira}});
    fera.add(of_fera.mean() / published_fera);
    pira.add(of_pira.mean() / published_pira);
    ratios.emplace_back(size.nodes, ratio);
    out.plot.add_point("fera", size.switches, of_fera.mean());
    out.plot.add_point("pira", size.switches, of_pira.mean());
    out.plot.add_point("fera, published", size.switches, published_fera);
    out.plot.add_point("pira, published", size.switches, published_pira);
  }
  const auto published = [](std::size_t s) { return kTable20[s].fera / kTable20[s].pira; };
  out.verdicts =
      decide(kRouteEntries,
             {{"T19",
               fmt::format("{:.0f} and {:.0f}", (*example)[0], (*example)[1]),
               *example == Entries{120, 50}},
              {"T20-fera", fera},
              {"T20-pira", pira},
              {"H10",
               fmt::format("{:.2f} to {:.2f}", ratios.front().second, ratios.back().second),
               growth_exponent(ratios) > 0.2,
               fmt::format(
                   "{:.2f} to {:.2f} as published; growing", published(0), published(sizes - 1))}});
  return out;
}

// Quality.

constexpr ClaimSpec kRouteQuality[] = {
    {.id = "H12-saturation",
     .text = "PIRa's routes saturate only slightly before FERa's",
     .source = "thesis, Figure 82",
     .expected = "on average at least 0.85 times"},
    {.id = "H12-latency",
     .text = "up to half of FERa's saturation latencies on PIRa's routes are only slightly higher",
     .source = "thesis, Figure 82",
     .expected = "on average at most 1.15 times"},
    {.id = "H12-order",
     .text = "PIRa's routes are not better: neither sooner there nor later saturated, on average",
     .source = "thesis, Figure 82",
     .expected = "at most 1.02 times the load, at least 0.98 times the latency"},
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

Result<Quality> measure_quality(const Network& network, bool quick) {
  Quality out;
  std::vector<PreparedScenario> prepared;
  for (std::size_t e = 0; e < kEngines.size(); ++e) {
    auto one = prepare(network, kEngines[e], quick);
    if (!one) return tl::unexpected<Error>(one.error());
    prepared.push_back(std::move(*one));
    std::string wrong;
    const auto run = [&](double load) {
      PointResult point = prepared[e].run(load, 1);
      if (wrong.empty()) wrong = point.audit;
      return std::move(point.steady);
    };
    out.saturation[e] = find_saturation(run, quick ? 0.04 : 0.01).load;
    if (!wrong.empty()) return fail(Errc::Invalid, std::move(wrong));
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

Result<Findings> route_quality(const ExperimentOptions& options) {
  std::vector<Network> networks;
  const std::size_t sizes = options.quick ? 1 : kTable29.size();
  for (std::size_t size = 0; size < sizes; ++size) {
    for (std::uint64_t seed = 1; seed <= (options.quick ? 1u : 5u); ++seed) {
      networks.push_back({kTable29[size].size, seed});
    }
  }
  const auto all = collect<Quality>(options.jobs, networks.size(), [&](std::size_t i) {
    return measure_quality(networks[i], options.quick);
  });
  if (!all) return tl::unexpected<Error>(all.error());

  Findings out{.plot = {.title = "Load at which routes saturate, uniform traffic",
                        .x_label = "switches",
                        .y_label = "share of the hosts' links"}};
  Sample saturation;
  std::array<Sample, kParts.size()> latency;
  for (std::size_t n = 0; n < networks.size(); ++n) {
    const Quality& quality = (*all)[n];
    saturation.add(quality.saturation[1] / quality.saturation[0]);
    for (std::size_t part = 0; part < kParts.size(); ++part) {
      latency[part].add(quality.latency[part][1] / quality.latency[part][0]);
    }
    for (std::size_t e = 0; e < kEngines.size(); ++e) {
      out.add_row({{"switches", networks[n].size.switches},
                   {"seed", networks[n].seed},
                   {"engine", kEngines[e]},
                   {"saturation", quality.saturation[e]},
                   {"hops", quality.hops[e]},
                   {"latency_25_ns", quality.latency[0][e]},
                   {"latency_50_ns", quality.latency[1][e]},
                   {"latency_75_ns", quality.latency[2][e]}});
      out.plot.add_point(kEngines[e], networks[n].size.switches, quality.saturation[e]);
    }
  }
  out.verdicts =
      decide(kRouteQuality,
             {{"H12-saturation",
               fmt::format("at {:.3f} times FERa's load on average, {:.3f} to {:.3f}",
                           saturation.mean(),
                           saturation.min(),
                           saturation.max()),
               saturation.mean()},
              {"H12-latency",
               fmt::format("{:.3f} times FERa's at a quarter, {:.3f} at a half ({:.3f} at three "
                           "quarters)",
                           latency[0].mean(),
                           latency[1].mean(),
                           latency[2].mean()),
               std::max(latency[0].mean(), latency[1].mean())},
              {"H12-order",
               fmt::format("{:.3f} times the load, {:.3f} times the latency at a half of FERa's",
                           saturation.mean(),
                           latency[1].mean()),
               saturation.mean() <= 1.02 && latency[1].mean() >= 0.98}});
  return out;
}

}  // namespace
}  // namespace smd::sim::routes

namespace smd::sim {

std::vector<Experiment> route_tables() {
  return {{.name = "003-entries",
           .source = "thesis, Tables 18 to 20",
           .about = "table entries computed by fully explicit and by partially implicit routing",
           .claims = routes::kRouteEntries,
           .run = routes::route_entries},
          {.name = "003-route-quality",
           .source = "thesis, Figure 82",
           .about = "saturation and latency of PIRa's routes against FERa's, uniform traffic",
           .claims = routes::kRouteQuality,
           .run = routes::route_quality}};
}

}  // namespace smd::sim
