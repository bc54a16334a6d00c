#include "sim-backend/experiments/change/loss_runs.h"

#include <fmt/core.h>

#include "sim-backend/experiments/change/subnet.h"
#include "sim-backend/lab/parallel.h"
#include "smd/base/check.h"

namespace smd::sim {
namespace {

/// The thesis has seven causes. A packet to a LID that another adapter was given, since a full
/// discovery numbers anew, counts as delivered there.
double published_losses(const AssimilationCost& cost) {
  return cost.discarded -
         static_cast<double>(cost.causes[static_cast<std::size_t>(Discard::WrongNode)]);
}

}  // namespace

ReconfigurationMode mode_of(std::string_view words) {
  const auto how = parse_reconfiguration_mode(words);
  SMD_CHECK(how.has_value(), "a mode that is no mode");
  return *how;
}

std::string print_direction(bool comes) { return comes ? "activation" : "deactivation"; }

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
  until_final.add(cost.until_final);
  smps.add(cost.smps());
  discovery_smps.add(cost.discovery_smps);
  distribution_smps.add(cost.distribution_smps);
  all_smps.add(cost.all_smps);
  for (std::size_t c = 0; c < kDiscards; ++c) causes[c] += static_cast<double>(cost.causes[c]);
}

double LossSums::mean_of(Discard cause) const {
  return causes[static_cast<std::size_t>(cause)] / static_cast<double>(discarded.size());
}

void LossResult::each(const std::function<void(std::size_t place, bool comes)>& visit) const {
  for (std::size_t place = 0; place < grid.places.size() / grid.seeds; ++place) {
    for (const bool comes : {true, false}) visit(place, comes);
  }
}

std::vector<std::uint32_t> choose_switches(const std::string& fabric, bool quick) {
  const std::vector<std::uint32_t> all = Subnet(fabric, {}).other_switches();
  const std::size_t step = quick ? (all.size() + 1) / 2 : 1;
  std::vector<std::uint32_t> out;
  for (std::size_t i = 0; i < all.size(); i += step) out.push_back(all[i]);
  return out;
}

Result<LossResult> run_losses(unsigned jobs, LossGrid grid) {
  std::vector<ManagedChange> changes;
  std::vector<std::size_t> sums;  // where each goes
  LossResult out{.grid = std::move(grid), .sums = {}};
  const auto add_changes = [&](std::size_t at, bool comes, std::size_t level, std::size_t mode) {
    const LossPlace& place = out.grid.places[at];
    ManagedChange change = place.change;
    change.comes = comes;
    change.how = mode_of(out.grid.modes[mode].words);
    change.charge_all = out.grid.modes[mode].charge_all;
    if (out.grid.levels[level].set) out.grid.levels[level].set(change);
    for (std::size_t i = 0; i < place.switches.size(); ++i) {
      change.node = place.switches[i];
      // What a death costs depends on when between two sweeps it is.
      if (out.grid.at_phases) {
        change.phase = 0.05 + 0.85 * (double(i) + 0.5) / double(place.switches.size());
      }
      changes.push_back(change);
      sums.push_back(out.index(at / out.grid.seeds, comes, level) + mode);
    }
  };
  for (std::size_t at = 0; at < out.grid.places.size(); ++at) {
    for (const bool comes : {true, false}) {
      for (std::size_t level = 0; level < out.grid.levels.size(); ++level) {
        for (std::size_t mode = 0; mode < out.grid.modes.size(); ++mode) {
          add_changes(at, comes, level, mode);
        }
      }
    }
  }
  const auto costs = collect<AssimilationCost>(
      jobs, changes.size(), [&](std::size_t i) { return measure_change(changes[i]); });
  if (!costs) return tl::unexpected<Error>(costs.error());
  out.sums.resize(out.index(out.grid.places.size() / out.grid.seeds, true, 0));
  for (std::size_t i = 0; i < changes.size(); ++i) out.sums[sums[i]].add((*costs)[i]);
  return out;
}

void append_causes(std::vector<NamedCell>& row, const LossSums& sums) {
  for (std::size_t c = 0; c < kDiscards; ++c) {
    const auto cause = static_cast<Discard>(c);
    row.emplace_back(print_discard(cause), sums.mean_of(cause));
  }
}

Findings tell_losses(const LossResult& result, std::string title) {
  const LossGrid& grid = result.grid;
  Findings out{
      .plot = {.title = std::move(title), .x_label = "switches", .y_label = "packets lost"}};
  result.each([&](std::size_t at, bool comes) {
    for (std::size_t level = 0; level < grid.levels.size(); ++level) {
      for (std::size_t mode = 0; mode < grid.modes.size(); ++mode) {
        const LossSums& sums = result.at(at, comes, level)[mode];
        const std::string_view name = grid.modes[mode].name;
        std::vector<NamedCell> row = grid.keys(at, comes);
        if (!grid.factor.empty()) row.emplace_back(grid.factor, grid.levels[level].key);
        row.insert(row.end(),
                   {{"mode", name},
                    {"runs", sums.discarded.size()},
                    {"packets_mean", sums.packets.mean()},
                    {"discarded_mean", sums.discarded.mean()},
                    {"discarded_stddev", sums.discarded.deviation()},
                    {"published_causes_mean", sums.published.mean()},
                    {"unexplained_mean", sums.unexplained.mean()},
                    {"detection_s", sums.detection.mean()},
                    {"time_mean_s", sums.time.mean()},
                    {"discovery_s", sums.discovery.mean()},
                    {"computing_s", sums.computing.mean()},
                    {"distribution_s", sums.distribution.mean()}});
        append_causes(row, sums);
        out.add_row(row);
        if (level + 1 < grid.levels.size()) continue;
        out.plot.add_point(fmt::format("{}, {}", name, print_direction(comes)),
                           grid.places[at * grid.seeds].x,
                           sums.published.mean());
      }
    }
  });
  return out;
}

Measured certified_loss(const LossResult& result) {
  Range most;
  for (std::size_t i = kCertified; i < result.sums.size(); i += result.grid.modes.size()) {
    most.add(result.sums[i].unexplained.max());
  }
  return {kCertifiedLoss.id, most};
}

}  // namespace smd::sim
