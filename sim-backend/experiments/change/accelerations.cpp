// Two ways to write less or faster, with full deactivation around them: only the blocks that
// differ, and activation by LID over the new tables.
#include "sim-backend/experiments/change/experiments.h"

#include <fmt/core.h>

#include <cmath>

#include "sim-backend/experiments/change/published.h"
#include "sim-backend/experiments/change/reconfiguration.h"
#include "sim-backend/lab/parallel.h"
#include "sim-backend/lab/statistics.h"

namespace smd::sim {
namespace {

constexpr ClaimSpec kClaims[] = {
    {.id = "H21", .text = "activation by LID is a small gain", .source = "thesis, Figure 102"},
    {.id = "H22",
     .text = "few entries change, and fewer when LIDs stay",
     .source = "thesis, Figure 103",
     .must_hold = true},
    {.id = "H23-smps",
     .text = "writing differences saves half of the SMPs under full deactivation",
     .source = "thesis, Figures 104 to 106"},
    {.id = "H23-time",
     .text = "writing differences saves half of the time under full deactivation",
     .source = "thesis, Figures 104 to 106"},
};

struct Costs {
  Sample plain_smps, plain_time, delta_smps, delta_time, by_lid_time;
  Sample changed, changed_renumbered;  // shares

  void add(const Costs& other) {
    plain_smps.add(other.plain_smps);
    plain_time.add(other.plain_time);
    delta_smps.add(other.delta_smps);
    delta_time.add(other.delta_time);
    by_lid_time.add(other.by_lid_time);
    changed.add(other.changed);
    changed_renumbered.add(other.changed_renumbered);
  }
};

using BothChanges = std::array<Costs, 2>;  // activation, deactivation

Result<BothChanges> measure(const std::string& fabric, const Preset& preset) {
  BothChanges costs;
  const Subnet subnet(fabric, {.preset = preset});
  for (const std::uint32_t node : subnet.other_switches()) {
    for (const bool comes : {true, false}) {
      Costs& sum = costs[comes ? 0 : 1];
      const auto cost_of = [&](const DistributionOptions& options) {
        return measure_distribution(fabric, preset, node, comes, options);
      };
      const auto plain = cost_of({.mechanism = Mechanism::Full});
      if (!plain) return tl::unexpected<Error>(plain.error());
      const auto delta = cost_of({.mechanism = Mechanism::Full, .blocks = BlockChoice::Changed});
      if (!delta) return tl::unexpected<Error>(delta.error());
      const auto by_lid = cost_of({.mechanism = Mechanism::Full, .lid_routed_activation = true});
      if (!by_lid) return tl::unexpected<Error>(by_lid.error());
      const auto renumbered = cost_of({.mechanism = Mechanism::Full, .renumber = true});
      if (!renumbered) return tl::unexpected<Error>(renumbered.error());
      sum.plain_smps.add(plain->smps);
      sum.plain_time.add(plain->time);
      sum.delta_smps.add(delta->smps);
      sum.delta_time.add(delta->time);
      sum.by_lid_time.add(by_lid->time);
      sum.changed.add(plain->changed_entries);
      sum.changed_renumbered.add(renumbered->changed_entries);
    }
  }
  return costs;
}

/// "1.2 to 3.4 %".
std::string print_range(const Sample& shares) {
  return fmt::format("{:.2f} to {:.2f} %", 100 * shares.min(), 100 * shares.max());
}

Result<Findings> run(const ExperimentOptions& options) {
  const std::size_t seeds = options.quick ? 1 : 2;
  const std::size_t sizes = options.quick ? 2 : kTables23And24.size();
  const auto costs =
      collect<BothChanges>(options.jobs, kPresets.size() * sizes * seeds, [&](std::size_t i) {
        return measure(irregular4(kTables23And24[i / seeds % sizes].size, 1 + i % seeds),
                       kPresets[i / (sizes * seeds)]);
      });
  if (!costs) return tl::unexpected<Error>(costs.error());

  Findings out{.columns = {"preset",
                           "switches",
                           "change",
                           "runs",
                           "whole_smps",
                           "delta_smps",
                           "whole_s",
                           "delta_s",
                           "lid_routed_s",
                           "changed_share",
                           "changed_share_renumbered"},
               .plot = {.title = "Distribution time after one activation, thesis preset",
                        .x_label = "switches",
                        .y_label = "seconds",
                        .series = {{.name = "whole tables"},
                                   {.name = "differences"},
                                   {.name = "activation by LID"}}}};
  Sample saved_smps, saved_time, saved_by_lid, changed, renumbered;
  bool fewer = true;
  for (std::size_t p = 0; p < kPresets.size(); ++p) {
    for (std::size_t s = 0; s < sizes; ++s) {
      for (std::size_t change = 0; change < 2; ++change) {
        Costs sum;
        for (std::size_t k = 0; k < seeds; ++k) {
          sum.add((*costs)[(p * sizes + s) * seeds + k][change]);
        }
        const double switches = kTables23And24[s].size.switches;
        out.rows.push_back({std::string(kPresets[p].name),
                            switches,
                            change == 0 ? "activation" : "deactivation",
                            double(sum.plain_smps.size()),
                            sum.plain_smps.mean(),
                            sum.delta_smps.mean(),
                            sum.plain_time.mean(),
                            sum.delta_time.mean(),
                            sum.by_lid_time.mean(),
                            sum.changed.mean(),
                            sum.changed_renumbered.mean()});
        if (p > 0) continue;
        saved_smps.add(1 - sum.delta_smps.mean() / sum.plain_smps.mean());
        saved_time.add(1 - sum.delta_time.mean() / sum.plain_time.mean());
        saved_by_lid.add(1 - sum.by_lid_time.mean() / sum.plain_time.mean());
        changed.add(sum.changed.mean());
        renumbered.add(sum.changed_renumbered.mean());
        fewer = fewer && sum.changed.mean() < sum.changed_renumbered.mean();
        if (change > 0) continue;
        out.plot.series[0].points.emplace_back(switches, sum.plain_time.mean());
        out.plot.series[1].points.emplace_back(switches, sum.delta_time.mean());
        out.plot.series[2].points.emplace_back(switches, sum.by_lid_time.mean());
      }
    }
  }
  const auto about_half = [](const Sample& shares) {
    return shares.min() >= 0.40 && shares.max() <= 0.65;
  };
  out.judgements = {
      {.id = "H21",
       .measured = print_range(saved_by_lid) + " of the time saved",
       .expected = "more than 0, at most 15 %",
       .holds = saved_by_lid.min() > 0 && saved_by_lid.max() <= 0.15},
      {.id = "H22",
       .measured = print_range(changed) + " of 1024 entries change, " + print_range(renumbered) +
                   " when LIDs are given anew",
       .expected = "at most 10 %, and fewer at every size when LIDs stay",
       .holds = fewer && changed.max() <= 0.10},
      {.id = "H23-smps",
       .measured = print_range(saved_smps) + " saved",
       .expected = "40 to 65 %",
       .holds = about_half(saved_smps)},
      {.id = "H23-time",
       .measured = print_range(saved_time) + " saved",
       .expected = "40 to 65 %",
       .holds = about_half(saved_time)},
  };
  return out;
}

}  // namespace

Experiment accelerations() {
  return {.name = "003-accelerations",
          .source = "thesis, Figures 102 to 106",
          .about = "writing only what differs, and activating ports by LID",
          .claims = kClaims,
          .run = run};
}

}  // namespace smd::sim
