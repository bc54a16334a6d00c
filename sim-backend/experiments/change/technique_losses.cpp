// Packets thrown away for one switch that comes or goes, by how deadlocks are kept out while tables
// are distributed, and with provisional routes before the final ones. Partial discovery throughout.
#include "sim-backend/experiments/change/experiments.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>

#include "sim-backend/experiments/change/managed_change.h"
#include "sim-backend/experiments/change/published.h"
#include "sim-backend/experiments/change/technique_claims.h"
#include "sim-backend/lab/parallel.h"
#include "smd/base/check.h"

namespace smd::sim {
namespace {

struct Case {
  std::size_t group = 0;  // size and kind of change
  std::size_t mode = 0;
  ManagedChange change;
};

/// Of larger networks as many switches as make a run of minutes, spread over all.
std::vector<std::uint32_t> choose(const std::vector<std::uint32_t>& all, std::size_t most) {
  std::vector<std::uint32_t> out;
  const std::size_t count = std::min(all.size(), most);
  for (std::size_t i = 0; i < count; ++i) out.push_back(all[i * all.size() / count]);
  return out;
}

std::vector<Case> cases_of(bool quick, std::size_t sizes) {
  std::vector<Case> out;
  for (std::size_t size = 0; size < sizes; ++size) {
    const std::string fabric = irregular4(kTable25[size].size, 1);
    const std::size_t most = quick ? 2 : std::array<std::size_t, 4>{7, 8, 4, 2}[size];
    for (const std::uint32_t node : choose(Subnet(fabric, {}).other_switches(), most)) {
      for (const bool comes : {true, false}) {
        for (std::size_t mode = 0; mode < kTechniques; ++mode) {
          const auto how = parse_reconfiguration_mode(kTechniqueModes[mode].words);
          SMD_CHECK(how.has_value(), "a mode that is no mode");
          out.push_back({2 * size + (comes ? 0 : 1),
                         mode,
                         {.fabric = fabric,
                          .preset = kPresets[0],
                          .how = *how,
                          .node = node,
                          .comes = comes,
                          .load = kTable29[size].load()}});
        }
      }
    }
  }
  return out;
}

std::optional<Published> printed(std::size_t size, std::size_t mode) {
  if (mode < kTable25[size].discarded.size()) return kTable25[size].discarded[mode];
  if (mode == kProvisionalMode) return kTable22[size].provisional;
  return std::nullopt;
}

Result<Findings> run(const ExperimentOptions& options) {
  const std::size_t sizes = options.quick ? 1 : kTable25.size();
  const std::vector<Case> cases = cases_of(options.quick, sizes);
  const auto costs = collect<AssimilationCost>(
      options.jobs, cases.size(), [&](std::size_t i) { return measure_change(cases[i].change); });
  if (!costs) return tl::unexpected<Error>(costs.error());
  std::vector<TechniqueGroup> groups(2 * sizes);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    TechniqueSums& sums = groups[cases[i].group][cases[i].mode];
    const AssimilationCost& cost = (*costs)[i];
    sums.discarded.add(cost.discarded);
    sums.unexplained.add(cost.unexplained);
    sums.time.add(cost.time());
    for (std::size_t c = 0; c < kDiscards; ++c) sums.causes[c] += double(cost.causes[c]);
  }

  Findings out{.columns = {"switches",
                           "change",
                           "mode",
                           "runs",
                           "discarded_mean",
                           "discarded_stddev",
                           "published_discarded",
                           "unexplained_mean",
                           "time_mean_s"},
               .plot = {.title = "Packets thrown away for one new switch, 25 % load",
                        .x_label = "switches",
                        .y_label = "packets"}};
  for (std::size_t c = 0; c < kDiscards; ++c) {
    out.columns.emplace_back(print_discard(static_cast<Discard>(c)));
  }
  for (const TechniqueMode& mode : kTechniqueModes)
    out.plot.series.push_back({.name = std::string(mode.name)});
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const bool comes = g % 2 == 0;
    const double switches = kTable25[g / 2].size.switches;
    for (std::size_t mode = 0; mode < kTechniques; ++mode) {
      const TechniqueSums& sums = groups[g][mode];
      const auto published = printed(g / 2, mode);
      std::vector<TableCell> row{
          switches,
          std::string(comes ? "activation" : "deactivation"),
          std::string(kTechniqueModes[mode].name),
          double(sums.discarded.size()),
          sums.discarded.mean(),
          sums.discarded.deviation(),
          published ? TableCell(comes ? published->activation : published->deactivation)
                    : TableCell(std::string()),
          sums.unexplained.mean(),
          sums.time.mean()};
      for (std::size_t c = 0; c < kDiscards; ++c) {
        row.emplace_back(sums.of(static_cast<Discard>(c)));
      }
      out.rows.push_back(std::move(row));
      if (comes) out.plot.series[mode].points.emplace_back(switches, sums.discarded.mean());
    }
  }
  out.judgements = judge_techniques(groups);
  return out;
}

}  // namespace

Experiment technique_losses() {
  return {.name = "003-technique-losses",
          .source = "thesis, Tables 22 and 25, Figures 95 to 98",
          .about = "packets thrown away by each way to distribute tables, and provisional routes",
          .claims = technique_claims(),
          .run = run};
}

}  // namespace smd::sim
