// One switch that comes or goes on links four times as wide, with as many packets a second as on
// narrow ones.
#include "sim-backend/experiments/change/experiments.h"

#include <fmt/core.h>

#include <algorithm>

#include "sim-backend/experiments/change/loss_runs.h"
#include "sim-backend/experiments/change/published.h"

namespace smd::sim {
namespace {

constexpr ClaimSpec kClaims[] = {
    {.id = "H32-time",
     .text = "4x links leave the time until routes are in as it is",
     .source = "thesis, Figure 125"},
    {.id = "H32-losses",
     .text = "4x links leave the packets that are lost as they are",
     .source = "thesis, Figure 126"},
    kCertifiedLoss,
};

/// Fewer say nothing about a ratio.
constexpr double kEnough = 100;

Result<Findings> run(const ExperimentOptions& options) {
  const std::size_t sizes = options.quick ? 1 : 2;
  std::vector<LossCase> cases;
  for (std::size_t size = 0; size < sizes; ++size) {
    const PublishedDiscards& row = kTable29[size];
    const std::string fabric = irregular4(row.size, 1);
    const std::vector<std::uint32_t> switches = choose_switches(fabric, options.quick);
    for (const std::size_t wide : {0, 1}) {
      ManagedChange change{.fabric = fabric + (wide ? ",width=4x" : ""),
                           .preset = kPresets[0],
                           .load = row.load() / (wide ? 4 : 1)};
      for (const bool comes : {true, false}) {
        change.comes = comes;
        add_cases(cases, 4 * size + 2 * (comes ? 0 : 1) + wide, change, switches);
      }
    }
  }
  const auto groups = run_losses(options.jobs, cases, 4 * sizes);
  if (!groups) return tl::unexpected<Error>(groups.error());

  Findings out = begin_losses({"switches", "nodes", "change", "width"},
                              "Packets thrown away for one switch, over 4x links");
  double least_time = 1e9, most_time = 0, least = 1e9, most = 0;
  for (std::size_t g = 0; g < groups->size(); g += 2) {
    const NetworkSize size = kTable29[g / 4].size;
    const bool comes = g % 4 == 0;
    for (const std::size_t wide : {0, 1}) {
      append_rows(out,
                  {double(size.switches),
                   double(size.nodes),
                   print_direction(comes),
                   std::string(wide ? "4x" : "1x")},
                  (*groups)[g + wide]);
    }
    for (std::size_t mode = 0; mode < kAllCharged; ++mode) {
      const LossSums& narrow = (*groups)[g][mode];
      const LossSums& wide = (*groups)[g + 1][mode];
      least_time = std::min(least_time, wide.time.mean() / narrow.time.mean());
      most_time = std::max(most_time, wide.time.mean() / narrow.time.mean());
      const std::string line = fmt::format("{}, {}", print_loss_mode(mode), print_direction(comes));
      add_point(out.plot, line, size.switches, wide.published.mean());
      if (narrow.published.mean() < kEnough) continue;
      least = std::min(least, wide.published.mean() / narrow.published.mean());
      most = std::max(most, wide.published.mean() / narrow.published.mean());
    }
  }
  out.judgements = {
      {.id = "H32-time",
       .measured = fmt::format("{:.4f} to {:.4f} times the time", least_time, most_time),
       .expected = "0.95 to 1.05 times",
       .holds = least_time >= 0.95 && most_time <= 1.05},
      {.id = "H32-losses",
       .measured = fmt::format("{:.3f} to {:.3f} times the packets", least, most),
       .expected = "0.9 to 1.1 times",
       .holds = least >= 0.9 && most <= 1.1},
      judge_certified_loss(*groups),
  };
  return out;
}

}  // namespace

Experiment fast_links() {
  return {.name = "003-fast-links",
          .source = "thesis, Figures 124 to 126",
          .about = "what one switch that comes or goes costs over 4x links, beside 1x",
          .claims = kClaims,
          .run = run};
}

}  // namespace smd::sim
