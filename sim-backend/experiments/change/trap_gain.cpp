// One switch that comes or goes, with sweeps alone and with traps beside them.
#include "sim-backend/experiments/change/experiments.h"

#include <fmt/core.h>

#include <algorithm>

#include "sim-backend/experiments/change/loss_runs.h"
#include "sim-backend/experiments/change/published.h"

namespace smd::sim {
namespace {

constexpr ClaimSpec kClaims[] = {
    {.id = "H33-detection",
     .text = "with traps a change is detected long before the next sweep",
     .source = "thesis, Figures 127 and 128"},
    {.id = "H33-time",
     .text = "from there on everything takes as long as before",
     .source = "thesis, Figures 127 and 128"},
    {.id = "H33-inactive",
     .text = "fewer packets are lost at ports that are Down because of a dead switch",
     .source = "thesis, Figure 128"},
    {.id = "H33-others",
     .text = "what is lost for other reasons is as it was",
     .source = "thesis, Figure 128"},
    kCertifiedLoss,
};

/// Fewer say nothing about a ratio.
constexpr double kEnough = 100;

/// For reasons that the thesis counts.
double other_losses(const LossSums& sums) {
  return sums.published.mean() - sums.mean_of(Discard::InactivePort);
}

Result<Findings> run(const ExperimentOptions& options) {
  const std::size_t sizes = options.quick ? 1 : 2;
  std::vector<LossCase> cases;
  for (std::size_t size = 0; size < sizes; ++size) {
    const PublishedDiscards& row = kTable29[size];
    ManagedChange change{
        .fabric = irregular4(row.size, 1), .preset = kPresets[0], .load = row.load()};
    const std::vector<std::uint32_t> switches = choose_switches(change.fabric, options.quick);
    for (const std::size_t traps : {0, 1}) {
      change.traps = traps != 0;
      for (const bool comes : {true, false}) {
        change.comes = comes;
        add_cases(cases, 4 * size + 2 * (comes ? 0 : 1) + traps, change, switches);
      }
    }
  }
  const auto groups = run_losses(options.jobs, cases, 4 * sizes);
  if (!groups) return tl::unexpected<Error>(groups.error());

  Findings out = begin_losses({"switches", "nodes", "change", "detection"},
                              "Packets thrown away for one switch, with traps");
  double detection = 0, least_time = 1e9, most_time = 0, inactive = 0;
  double least_other = 1e9, most_other = 0;
  for (std::size_t g = 0; g < groups->size(); g += 2) {
    const NetworkSize size = kTable29[g / 4].size;
    const bool comes = g % 4 == 0;
    for (const std::size_t traps : {0, 1}) {
      append_rows(out,
                  {double(size.switches),
                   double(size.nodes),
                   print_direction(comes),
                   std::string(traps ? "sweeps and traps" : "sweeps")},
                  (*groups)[g + traps]);
    }
    for (std::size_t mode = 0; mode < kAllCharged; ++mode) {
      const LossSums& swept = (*groups)[g][mode];
      const LossSums& told = (*groups)[g + 1][mode];
      const std::string line = fmt::format("{}, {}", print_loss_mode(mode), print_direction(comes));
      add_point(out.plot, line, size.switches, told.published.mean());
      detection = std::max(detection, told.detection.mean() / swept.detection.mean());
      if (mode == kCertified) continue;  // the claims are about the published managers
      least_time = std::min(least_time, told.time.mean() / swept.time.mean());
      most_time = std::max(most_time, told.time.mean() / swept.time.mean());
      if (!comes)
        inactive = std::max(
            inactive, told.mean_of(Discard::InactivePort) / swept.mean_of(Discard::InactivePort));
      if (other_losses(swept) < kEnough) continue;
      least_other = std::min(least_other, other_losses(told) / other_losses(swept));
      most_other = std::max(most_other, other_losses(told) / other_losses(swept));
    }
  }
  out.judgements = {
      {.id = "H33-detection",
       .measured = fmt::format("at most {:.3f} of the time that sweeps take", detection),
       .expected = "at most 0.2",
       .holds = detection <= 0.2},
      {.id = "H33-time",
       .measured = fmt::format("{:.3f} to {:.3f} times the time", least_time, most_time),
       .expected = "0.9 to 1.1 times",
       .holds = least_time >= 0.9 && most_time <= 1.1},
      {.id = "H33-inactive",
       .measured = fmt::format("at most {:.3f} times the packets", inactive),
       .expected = "less than 0.9",
       .holds = inactive < 0.9},
      {.id = "H33-others",
       .measured = fmt::format("{:.3f} to {:.3f} times the packets", least_other, most_other),
       .expected = "0.9 to 1.1 times",
       .holds = least_other >= 0.9 && most_other <= 1.1},
      judge_certified_loss(*groups),
  };
  return out;
}

}  // namespace

Experiment trap_gain() {
  return {.name = "003-trap-gain",
          .source = "thesis, Figures 127 and 128",
          .about = "what one switch that comes or goes costs when it is reported by traps",
          .claims = kClaims,
          .run = run};
}

}  // namespace smd::sim
