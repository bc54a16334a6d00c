#include "sim-backend/experiments/change/loss_runs.h"

#include <fmt/core.h>

#include <algorithm>

#include "sim-backend/experiments/change/subnet.h"
#include "sim-backend/lab/parallel.h"
#include "smd/base/check.h"

namespace smd::sim {
namespace {

struct Mode {
  std::string_view name;
  std::string_view words;
};

constexpr std::array<Mode, kLossModes> kModes{{{"basic", "basic"},
                                               {"improved", "improved"},
                                               {"certified", "certified"},
                                               {"certified-all-charged", "certified"}}};

/// The thesis has seven causes. A packet to a LID that another adapter was given, since a full
/// discovery numbers anew, counts as delivered there.
double published_losses(const AssimilationCost& cost) {
  return cost.discarded -
         static_cast<double>(cost.causes[static_cast<std::size_t>(Discard::WrongNode)]);
}

}  // namespace

void LossSums::add(const AssimilationCost& cost) {
  discarded.add(cost.discarded);
  packets.add(cost.packets);
  unexplained.add(cost.unexplained);
  published.add(published_losses(cost));
  detection.add(cost.detected);
  time.add(cost.time());
  discovery.add(cost.discovery);
  computing.add(cost.computing);
  distribution.add(cost.distribution);
  for (std::size_t c = 0; c < kDiscards; ++c) causes[c] += static_cast<double>(cost.causes[c]);
}

double LossSums::mean_of(Discard cause) const {
  return causes[static_cast<std::size_t>(cause)] / static_cast<double>(discarded.size());
}

std::string_view print_loss_mode(std::size_t mode) { return kModes[mode].name; }

std::string print_direction(bool comes) { return comes ? "activation" : "deactivation"; }

std::vector<std::uint32_t> choose_switches(const std::string& fabric, bool quick) {
  const std::vector<std::uint32_t> all = Subnet(fabric, {}).other_switches();
  const std::size_t step = quick ? (all.size() + 1) / 2 : 1;
  std::vector<std::uint32_t> out;
  for (std::size_t i = 0; i < all.size(); i += step) out.push_back(all[i]);
  return out;
}

void add_cases_of(std::vector<LossCase>& cases,
                  std::size_t group,
                  std::size_t mode,
                  ManagedChange change,
                  std::span<const std::uint32_t> switches) {
  for (std::size_t i = 0; i < switches.size(); ++i) {
    change.node = switches[i];
    change.phase = 0.05 + 0.85 * (double(i) + 0.5) / double(switches.size());
    cases.push_back({group, mode, change});
  }
}

void add_cases(std::vector<LossCase>& cases,
               std::size_t group,
               ManagedChange change,
               std::span<const std::uint32_t> switches,
               std::size_t modes) {
  for (std::size_t mode = 0; mode < modes; ++mode) {
    const auto how = parse_reconfiguration_mode(kModes[mode].words);
    SMD_CHECK(how.has_value(), "a mode that is no mode");
    change.how = *how;
    change.charge_all = mode == kAllCharged;
    add_cases_of(cases, group, mode, change, switches);
  }
}

Result<std::vector<LossGroup>> run_losses(unsigned jobs,
                                          std::span<const LossCase> cases,
                                          std::size_t groups) {
  const auto costs = collect<AssimilationCost>(
      jobs, cases.size(), [&](std::size_t i) { return measure_change(cases[i].change); });
  if (!costs) return tl::unexpected<Error>(costs.error());
  std::vector<LossGroup> out(groups);
  for (std::size_t i = 0; i < cases.size(); ++i)
    out[cases[i].group][cases[i].mode].add((*costs)[i]);
  return out;
}

Findings begin_losses(std::vector<std::string> keys, std::string title) {
  Findings out{
      .columns = std::move(keys),
      .plot = {.title = std::move(title), .x_label = "switches", .y_label = "packets lost"}};
  out.columns.insert(out.columns.end(),
                     {"mode",
                      "runs",
                      "packets_mean",
                      "discarded_mean",
                      "discarded_stddev",
                      "published_causes_mean",
                      "unexplained_mean",
                      "detection_s",
                      "time_mean_s",
                      "discovery_s",
                      "computing_s",
                      "distribution_s"});
  for (std::size_t c = 0; c < kDiscards; ++c)
    out.columns.emplace_back(print_discard(static_cast<Discard>(c)));
  return out;
}

void append_rows(Findings& out, const std::vector<TableCell>& keys, const LossGroup& group) {
  for (std::size_t mode = 0; mode < kLossModes; ++mode) {
    const LossSums& sums = group[mode];
    if (sums.discarded.size() == 0) continue;
    std::vector<TableCell> row = keys;
    row.insert(row.end(),
               {std::string(print_loss_mode(mode)),
                double(sums.discarded.size()),
                sums.packets.mean(),
                sums.discarded.mean(),
                sums.discarded.deviation(),
                sums.published.mean(),
                sums.unexplained.mean(),
                sums.detection.mean(),
                sums.time.mean(),
                sums.discovery.mean(),
                sums.computing.mean(),
                sums.distribution.mean()});
    for (std::size_t c = 0; c < kDiscards; ++c)
      row.emplace_back(sums.mean_of(static_cast<Discard>(c)));
    out.rows.push_back(std::move(row));
  }
}

void add_point(Plot& plot, const std::string& line, double x, double y) {
  auto at = std::ranges::find(plot.series, line, &Series::name);
  if (at == plot.series.end()) at = plot.series.insert(at, Series{.name = line, .points = {}});
  at->points.emplace_back(x, y);
}

Judgement judge_certified_loss(std::span<const LossGroup> groups) {
  double most = 0;
  for (const LossGroup& group : groups) most = std::max(most, group[kCertified].unexplained.max());
  return {.id = kCertifiedLoss.id,
          .measured = fmt::format("at most {:.0f} other packets in a run", most),
          .expected = "none",
          .holds = most == 0};
}

}  // namespace smd::sim
