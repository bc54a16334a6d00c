// The improved manager with provisional tables sent whole, and with only the blocks that differ.
#include "sim-backend/experiments/change/experiments.h"

#include <fmt/core.h>

#include <algorithm>

#include "sim-backend/experiments/change/loss_runs.h"
#include "sim-backend/experiments/change/published.h"
#include "smd/base/check.h"

namespace smd::sim {
namespace {

constexpr ClaimSpec kClaims[] = {
    {.id = "H30-time",
     .text = "sending only blocks that differ makes the improved manager slightly faster",
     .source = "thesis, Figures 119 to 121"},
    {.id = "H30-losses",
     .text = "and it throws away slightly fewer packets for a dead switch",
     .source = "thesis, Figure 122"},
};

constexpr const char* kWords[] = {"improved", "improved+delta"};

Result<Findings> run(const ExperimentOptions& options) {
  const std::size_t sizes = options.quick ? 1 : 2;
  std::vector<LossCase> cases;
  for (std::size_t size = 0; size < sizes; ++size) {
    const PublishedDiscards& row = kTable29[size];
    ManagedChange change{
        .fabric = irregular4(row.size, 1), .preset = kPresets[0], .load = row.load()};
    const std::vector<std::uint32_t> switches = choose_switches(change.fabric, options.quick);
    for (const bool comes : {true, false}) {
      change.comes = comes;
      for (const std::size_t delta : {0, 1}) {
        const auto how = parse_reconfiguration_mode(kWords[delta]);
        SMD_CHECK(how.has_value(), "a mode that is no mode");
        change.how = *how;
        add_cases_of(cases, 4 * size + 2 * (comes ? 0 : 1) + delta, kImproved, change, switches);
      }
    }
  }
  const auto groups = run_losses(options.jobs, cases, 4 * sizes);
  if (!groups) return tl::unexpected<Error>(groups.error());

  Findings out = begin_losses({"switches", "nodes", "change", "tables"},
                              "Seconds until routes are in, whole tables and differences");
  out.plot.y_label = "seconds";
  double least = 1e9, most = 0, losses = 0;
  for (std::size_t g = 0; g < groups->size(); g += 2) {
    const NetworkSize size = kTable29[g / 4].size;
    const bool comes = g % 4 == 0;
    for (const std::size_t delta : {0, 1}) {
      const LossGroup& group = (*groups)[g + delta];
      const std::string tables = delta ? "differences" : "whole";
      append_rows(
          out, {double(size.switches), double(size.nodes), print_direction(comes), tables}, group);
      add_point(out.plot,
                fmt::format("{}, {}", tables, print_direction(comes)),
                size.switches,
                group[kImproved].time.mean());
    }
    const LossSums& whole = (*groups)[g][kImproved];
    const LossSums& delta = (*groups)[g + 1][kImproved];
    least = std::min(least, delta.time.mean() / whole.time.mean());
    most = std::max(most, delta.time.mean() / whole.time.mean());
    if (!comes) losses = std::max(losses, delta.published.mean() / whole.published.mean());
  }
  out.judgements = {
      {.id = "H30-time",
       .measured = fmt::format("{:.3f} to {:.3f} times the time", least, most),
       .expected = "0.7 to 1 times",
       .holds = least >= 0.7 && most <= 1},
      {.id = "H30-losses",
       .measured = fmt::format("at most {:.3f} times the packets", losses),
       .expected = "at most 1",
       .holds = losses <= 1},
  };
  return out;
}

}  // namespace

Experiment delta_gain() {
  return {.name = "003-delta-gain",
          .source = "thesis, Figures 119 to 122",
          .about = "what the improved manager gains by sending only blocks that differ",
          .claims = kClaims,
          .run = run};
}

}  // namespace smd::sim
