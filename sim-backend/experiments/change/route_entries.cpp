// How many table entries each algorithm computes.
#include "sim-backend/experiments/change/experiments.h"

#include <fmt/core.h>

#include "sim-backend/experiments/change/published.h"
#include "sim-backend/lab/parallel.h"
#include "sim-backend/lab/statistics.h"

namespace smd::sim {
namespace {

constexpr ClaimSpec kClaims[] = {
    {.id = "T19",
     .text = "explicit entries of the example, both algorithms",
     .source = "thesis, Tables 18 and 19",
     .must_hold = true},
    {.id = "T20-fera",
     .text = "fully explicit routing computes the published number of entries",
     .source = "thesis, Table 20"},
    {.id = "T20-pira",
     .text = "partially implicit routing computes the published number of entries",
     .source = "thesis, Table 20"},
    {.id = "H10",
     .text = "the ratio between the two grows with the network",
     .source = "thesis, Table 20",
     .must_hold = true},
};

constexpr Preset kInstant{"none", &Timing::none, &unlimited_window};

struct Entries {
  double fera = 0;
  double pira = 0;
};

Result<Entries> measure(const std::string& fabric) {
  Entries entries;
  for (const bool implicit : {false, true}) {
    Subnet subnet(fabric, {.preset = kInstant, .engine = implicit ? "pira" : "fera-flood"});
    if (auto routed = subnet.plan_routes(); !routed) return tl::unexpected<Error>(routed.error());
    (implicit ? entries.pira : entries.fera) = static_cast<double>(subnet.routing.sequence.size());
  }
  return entries;
}

Result<Findings> run(const ExperimentOptions& options) {
  const unsigned seeds = options.quick ? 2 : 10;
  const std::size_t sizes = options.quick ? 7 : kTable20.size();
  const auto example = measure("example:name=fig76");
  if (!example) return tl::unexpected<Error>(example.error());
  const auto counts = collect<Entries>(options.jobs, sizes * seeds, [&](std::size_t i) {
    return measure(irregular4(kTable20[i / seeds].size, 1 + i % seeds));
  });
  if (!counts) return tl::unexpected<Error>(counts.error());

  Findings out{.columns = {"switches",
                           "nodes",
                           "runs",
                           "fera_mean",
                           "fera_stddev",
                           "pira_mean",
                           "pira_stddev",
                           "ratio",
                           "published_fera",
                           "published_pira"},
               .plot = {.title = "Entries computed",
                        .x_label = "switches",
                        .y_label = "entries",
                        .log_x = true,
                        .log_y = true,
                        .series = {{.name = "fera"},
                                   {.name = "pira"},
                                   {.name = "fera, published"},
                                   {.name = "pira, published"}}}};
  Farthest fera, pira;
  std::vector<std::pair<double, double>> ratios;
  for (std::size_t s = 0; s < sizes; ++s) {
    Sample explicit_entries, implicit_entries;
    for (std::size_t k = 0; k < seeds; ++k) {
      explicit_entries.add((*counts)[s * seeds + k].fera);
      implicit_entries.add((*counts)[s * seeds + k].pira);
    }
    const auto& [size, published_fera, published_pira] = kTable20[s];
    const double x = size.switches;
    const double ratio = explicit_entries.mean() / implicit_entries.mean();
    out.rows.push_back({x,
                        double(size.nodes),
                        double(seeds),
                        explicit_entries.mean(),
                        explicit_entries.deviation(),
                        implicit_entries.mean(),
                        implicit_entries.deviation(),
                        ratio,
                        published_fera,
                        published_pira});
    fera.add(explicit_entries.mean() / published_fera);
    pira.add(implicit_entries.mean() / published_pira);
    ratios.emplace_back(size.nodes, ratio);
    out.plot.series[0].points.emplace_back(x, explicit_entries.mean());
    out.plot.series[1].points.emplace_back(x, implicit_entries.mean());
    out.plot.series[2].points.emplace_back(x, published_fera);
    out.plot.series[3].points.emplace_back(x, published_pira);
  }
  out.judgements = {
      {.id = "T19",
       .measured = fmt::format("{:.0f} and {:.0f}", example->fera, example->pira),
       .expected = "120 and 50",
       .holds = example->fera == 120 && example->pira == 50},
      {.id = "T20-fera",
       .measured = fera.print(),
       .expected = "0.97 to 1.03 times",
       .holds = fera.within(0.03)},
      {.id = "T20-pira",
       .measured = pira.print(),
       .expected = "0.80 to 1.20 times",
       .holds = pira.within(0.20)},
      {.id = "H10",
       .measured = fmt::format("{:.2f} to {:.2f}", ratios.front().second, ratios.back().second),
       .expected = fmt::format("{:.2f} to {:.2f} as published; growing",
                               kTable20.front().fera / kTable20.front().pira,
                               kTable20[sizes - 1].fera / kTable20[sizes - 1].pira),
       .holds = growth_exponent(ratios) > 0.2},
  };
  return out;
}

}  // namespace

Experiment route_entries() {
  return {.name = "003-entries",
          .source = "thesis, Tables 18 to 20",
          .about = "table entries computed by fully explicit and by partially implicit routing",
          .claims = kClaims,
          .run = run};
}

}  // namespace smd::sim
