// Everything is asked again, by directed routes, after one switch came or went.
#include "sim-backend/experiments/change/experiments.h"

#include <fmt/core.h>

#include <cmath>

#include "sim-backend/experiments/change/discovery_cost.h"
#include "sim-backend/experiments/change/presets.h"
#include "sim-backend/experiments/change/published.h"
#include "sim-backend/lab/parallel.h"

namespace smd::sim {
namespace {

constexpr ClaimSpec kClaims[] = {
    {.id = "T17-full",
     .text = "full discovery takes the published number of SMPs",
     .source = "thesis, Table 17"},
    {.id = "T16-full",
     .text = "full discovery takes the published time",
     .source = "thesis, Table 16"},
    {.id = "H6-full",
     .text = "the cost of full discovery grows in proportion to the network",
     .source = "thesis, Table 17",
     .must_hold = true},
};

struct Costs {
  ChangeCosts activation;
  ChangeCosts deactivation;
};

/// The sweep that notices is counted: one request for each switch known before.
Result<Costs> measure(const NetworkSize& size, std::uint64_t seed, const Preset& preset) {
  const std::string fabric = irregular4(size, seed);
  Costs costs;
  Subnet whole(fabric, {.preset = preset});
  const auto all = whole.discover_fully();
  if (!all) return tl::unexpected<Error>(all.error());
  for (const std::uint32_t node : whole.other_switches()) {
    // Whichever switch comes, afterwards the network is the same.
    costs.activation.add({all->smps + size.switches - 1, all->time});
    Subnet without(fabric, {.preset = preset});
    without.fabric.set_node(node, false);
    const auto rest = without.discover_fully();
    if (!rest) return tl::unexpected<Error>(rest.error());
    costs.deactivation.add({rest->smps + size.switches, rest->time});
  }
  return costs;
}

Result<Findings> run(const ExperimentOptions& options) {
  const unsigned seeds = options.quick ? 1 : 5;
  const std::size_t sizes = options.quick ? 3 : kTables16And17.size();
  const auto costs =
      collect<Costs>(options.jobs, kPresets.size() * sizes * seeds, [&](std::size_t i) {
        return measure(
            kTables16And17[i / seeds % sizes].size, 1 + i % seeds, kPresets[i / (sizes * seeds)]);
      });
  if (!costs) return tl::unexpected<Error>(costs.error());

  Findings out{.columns = kDiscoveryColumns,
               .plot = {.title = "SMPs of full discovery after one change",
                        .x_label = "switches",
                        .y_label = "SMPs",
                        .log_x = true,
                        .log_y = true}};
  Farthest smps, time;
  std::vector<std::pair<double, double>> growth;
  for (std::size_t p = 0; p < kPresets.size(); ++p) {
    Series up{.name = fmt::format("{}, activation", kPresets[p].name)};
    Series down{.name = fmt::format("{}, deactivation", kPresets[p].name)};
    for (std::size_t s = 0; s < sizes; ++s) {
      Costs sum;
      for (std::size_t k = 0; k < seeds; ++k) {
        const Costs& one = (*costs)[(p * sizes + s) * seeds + k];
        sum.activation.add(one.activation);
        sum.deactivation.add(one.deactivation);
      }
      const PublishedDiscovery& published = kTables16And17[s];
      out.rows.push_back(discovery_row(kPresets[p],
                                       published.size,
                                       "full",
                                       "activation",
                                       sum.activation,
                                       published.full_smps.activation,
                                       published.full_time.activation));
      out.rows.push_back(discovery_row(kPresets[p],
                                       published.size,
                                       "full",
                                       "deactivation",
                                       sum.deactivation,
                                       published.full_smps.deactivation,
                                       published.full_time.deactivation));
      up.points.emplace_back(published.size.switches, sum.activation.smps.mean());
      down.points.emplace_back(published.size.switches, sum.deactivation.smps.mean());
      if (p > 0) continue;
      growth.emplace_back(published.size.nodes, sum.activation.smps.mean());
      smps.add(sum.activation.smps.mean() / published.full_smps.activation);
      smps.add(sum.deactivation.smps.mean() / published.full_smps.deactivation);
      time.add(sum.activation.time.mean() / published.full_time.activation);
      time.add(sum.deactivation.time.mean() / published.full_time.deactivation);
    }
    out.plot.series.push_back(std::move(up));
    if (p == 0) out.plot.series.push_back(std::move(down));
  }
  const double exponent = growth_exponent(growth);
  out.judgements = {
      {.id = "T17-full",
       .measured = smps.print(),
       .expected = "0.85 to 1.15 times",
       .holds = smps.within(0.15)},
      {.id = "T16-full",
       .measured = time.print(),
       .expected = "0.75 to 1.25 times",
       .holds = time.within(0.25)},
      {.id = "H6-full",
       .measured = fmt::format("nodes^{:.3f}", exponent),
       .expected = "nodes^0.85 to nodes^1.15",
       .holds = std::abs(exponent - 1) <= 0.15},
  };
  return out;
}

}  // namespace

Experiment full_discovery() {
  return {.name = "003-full-discovery",
          .source = "thesis, Tables 16 and 17, full discovery",
          .about = "SMPs and time of full discovery after one switch came or went",
          .claims = kClaims,
          .run = run};
}

}  // namespace smd::sim
