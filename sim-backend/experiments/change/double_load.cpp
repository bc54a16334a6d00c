// One switch that comes or goes while hosts send a quarter of what their links carry, as far as
// such a network takes it, and twice as much.
#include "sim-backend/experiments/change/experiments.h"

#include <fmt/core.h>

#include <algorithm>

#include "sim-backend/experiments/change/loss_runs.h"
#include "sim-backend/experiments/change/published.h"

namespace smd::sim {
namespace {

constexpr ClaimSpec kClaims[] = {
    {.id = "H31-time",
     .text = "twice the load leaves the time until routes are in as it is",
     .source = "thesis, Table 30"},
    {.id = "H31-losses",
     .text = "twice the load loses twice the packets",
     .source = "thesis, Table 31"},
    {.id = "T31-basic",
     .text = "the basic manager throws away as many packets as published for a new switch",
     .source = "thesis, Table 31"},
    kCertifiedLoss,
};

constexpr double kLoads[] = {0.25, 0.5};  // as the thesis calls them

/// Fewer say nothing about a ratio.
constexpr double kEnough = 100;

Result<Findings> run(const ExperimentOptions& options) {
  const std::size_t sizes = options.quick ? 1 : 2;
  std::vector<LossCase> cases;
  for (std::size_t size = 0; size < sizes; ++size) {
    const NetworkSize network = kTable31[size].size;
    ManagedChange change{.fabric = irregular4(network, 1), .preset = kPresets[0]};
    const std::vector<std::uint32_t> switches = choose_switches(change.fabric, options.quick);
    for (const std::size_t twice : {0, 1}) {
      change.load = (1.0 + double(twice)) * kTable29[size].load();
      for (const bool comes : {true, false}) {
        change.comes = comes;
        add_cases(cases, 4 * size + 2 * (comes ? 0 : 1) + twice, change, switches);
      }
    }
  }
  const auto groups = run_losses(options.jobs, cases, 4 * sizes);
  if (!groups) return tl::unexpected<Error>(groups.error());

  Findings out = begin_losses({"switches", "nodes", "change", "load"},
                              "Packets thrown away for one switch, by load");
  double least_time = 1e9, most_time = 0, least = 1e9, most = 0;
  Farthest basic;
  for (std::size_t g = 0; g < groups->size(); g += 2) {
    const PublishedDoubleLoad& row = kTable31[g / 4];
    const bool comes = g % 4 == 0;
    for (const std::size_t twice : {0, 1}) {
      append_rows(out,
                  {double(row.size.switches),
                   double(row.size.nodes),
                   print_direction(comes),
                   kLoads[twice]},
                  (*groups)[g + twice]);
    }
    for (std::size_t mode = 0; mode < kAllCharged; ++mode) {
      const LossSums& once = (*groups)[g][mode];
      const LossSums& twice = (*groups)[g + 1][mode];
      least_time = std::min(least_time, twice.time.mean() / once.time.mean());
      most_time = std::max(most_time, twice.time.mean() / once.time.mean());
      const std::string line = fmt::format("{}, {}", print_loss_mode(mode), print_direction(comes));
      add_point(out.plot, line, row.size.switches, twice.published.mean());
      if (once.discarded.mean() < kEnough) continue;
      least = std::min(least, twice.discarded.mean() / once.discarded.mean());
      most = std::max(most, twice.discarded.mean() / once.discarded.mean());
    }
    if (comes) basic.add((*groups)[g + 1][kBasic].published.mean() / row.basic.activation);
  }
  out.judgements = {
      {.id = "H31-time",
       .measured = fmt::format("{:.4f} to {:.4f} times the time", least_time, most_time),
       .expected = "0.98 to 1.02 times",
       .holds = least_time >= 0.98 && most_time <= 1.02},
      {.id = "H31-losses",
       .measured = fmt::format("{:.3f} to {:.3f} times the packets", least, most),
       .expected = "1.8 to 2.2 times",
       .holds = least >= 1.8 && most <= 2.2},
      {.id = "T31-basic",
       .measured = basic.print(),
       .expected = "0.7 to 1.3 times",
       .holds = basic.within(0.3)},
      judge_certified_loss(*groups),
  };
  return out;
}

}  // namespace

Experiment double_load() {
  return {.name = "003-double-load",
          .source = "thesis, Tables 30 and 31",
          .about = "what one switch that comes or goes costs at half load, beside a quarter",
          .claims = kClaims,
          .run = run};
}

}  // namespace smd::sim
