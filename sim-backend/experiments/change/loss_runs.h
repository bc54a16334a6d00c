// Changes of one switch under traffic, as a grid: places, what the runs differ by, kinds of
// manager, switches that come and go. What the experiments on lost packets share.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim-backend/experiments/change/managed_change.h"
#include "sim-backend/lab/experiment.h"
#include "sim-backend/lab/statistics.h"

namespace smd::sim {

/// A kind of manager, in the words of ReconfigurationMode.
struct ChangeMode {
  std::string_view name;
  std::string_view words;
  bool charge_all = false;  // for computing, as if it kept no entry
};

/// Requires: they are those of a mode.
[[nodiscard]] ReconfigurationMode mode_of(std::string_view words);

/// "activation" or "deactivation".
[[nodiscard]] std::string print_direction(bool comes);

struct LossSums {
  Sample discarded, packets, unexplained;
  Sample published;  // discarded for a reason that the thesis counts
  Sample detection, time, discovery, computing, distribution, until_final;
  Sample smps, discovery_smps, distribution_smps, all_smps;
  std::array<double, kDiscards> causes{};

  void add(const AssimilationCost& cost);

  /// Per run.
  [[nodiscard]] double mean_of(Discard cause) const;
};

struct LossPlace {
  double x = 0;  // in the plot
  ManagedChange change;
  std::vector<std::uint32_t> switches;  // that come and go, one in each run
};

/// One of the values of what the runs of a table differ by.
struct LossLevel {
  TableCell key;
  std::function<void(ManagedChange&)> set;
};

enum LossMode : std::size_t { kBasic, kImproved, kCertified, kAllCharged };

inline constexpr std::array<ChangeMode, 4> kLossModes{
    {{"basic", "basic"},
     {"improved", "improved"},
     {"certified", "certified"},
     {"certified-all-charged", "certified", true}}};

struct LossGrid {
  std::vector<LossPlace> places;  // `place` below: without what they differ by in seeds alone
  /// The first cells of a row.
  std::function<std::vector<NamedCell>(std::size_t place, bool comes)> keys;
  std::string_view factor;                     // a column; empty: none
  std::vector<LossLevel> levels = {{{}, {}}};  // of it
  std::span<const ChangeMode> modes = std::span(kLossModes).first(kAllCharged);
  bool at_phases = true;  // changes are spread over the time between two sweeps, by switch
  std::size_t seeds = 1;  // so many places in a row are one, on as many networks
};

/// Of a place, a direction and a level; by mode.
using LossGroup = std::span<const LossSums>;

struct LossResult {
  LossGrid grid;
  std::vector<LossSums> sums;

  [[nodiscard]] std::size_t index(std::size_t place, bool comes, std::size_t level) const {
    return ((2 * place + (comes ? 0 : 1)) * grid.levels.size() + level) * grid.modes.size();
  }

  [[nodiscard]] LossGroup at(std::size_t place, bool comes, std::size_t level = 0) const {
    return std::span(sums).subspan(index(place, comes, level), grid.modes.size());
  }

  /// For each place, a switch that comes and then one that goes.
  void each(const std::function<void(std::size_t place, bool comes)>& visit) const;
};

/// Fails with the first run that does.
[[nodiscard]] Result<LossResult> run_losses(unsigned jobs, LossGrid grid);

/// The switches of a fabric but the one that the manager sits on; `quick`: a few of them.
[[nodiscard]] std::vector<std::uint32_t> choose_switches(const std::string& fabric, bool quick);

/// Rows of all runs, and a plot of what the thesis counts as lost at the last level.
[[nodiscard]] Findings tell_losses(const LossResult& result, std::string title);

/// Cells of the mean of each cause.
void append_causes(std::vector<NamedCell>& row, const LossSums& sums);

inline constexpr ClaimSpec kCertifiedLoss{
    .id = "certified-loss",
    .text =
        "with certified transitions no packet is lost but those on the dead switch, on its "
        "links, or sent to it",
    .source = "proved transitions",
    .must_hold = true,
    .measured = "at most {most:.0f} other packets in a run",
    .expected = "none"};

/// What the certified manager lost besides, in any run.
[[nodiscard]] Measured certified_loss(const LossResult& result);

}  // namespace smd::sim
