// Managed changes under traffic in the hands of the basic, the improved and the certified manager,
// summed up: what the experiments on lost packets share.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim-backend/experiments/change/managed_change.h"
#include "sim-backend/lab/experiment.h"
#include "sim-backend/lab/statistics.h"

namespace smd::sim {

/// All charged: the certified manager, charged for computing as if it kept no entry.
enum LossMode : std::size_t { kBasic, kImproved, kCertified, kAllCharged, kLossModes };

struct LossCase {
  std::size_t group = 0;
  std::size_t mode = 0;
  ManagedChange change;
};

struct LossSums {
  Sample discarded, packets, unexplained;
  Sample published;  // discarded for a reason that the thesis counts
  Sample detection, time, discovery, computing, distribution;
  std::array<double, kDiscards> causes{};

  void add(const AssimilationCost& cost);

  /// Per run.
  [[nodiscard]] double mean_of(Discard cause) const;
};

/// By mode; empty sums where a mode was not run.
using LossGroup = std::array<LossSums, kLossModes>;

/// The switches of a fabric but the one that the manager sits on; `quick`: a few of them.
[[nodiscard]] std::vector<std::uint32_t> choose_switches(const std::string& fabric, bool quick);

/// `change` for one switch after the other. When between two sweeps is spread evenly over the
/// switches: what a death costs depends on it.
void add_cases_of(std::vector<LossCase>& cases,
                  std::size_t group,
                  std::size_t mode,
                  ManagedChange change,
                  std::span<const std::uint32_t> switches);

/// The same in each of the first `modes`, which say how.
void add_cases(std::vector<LossCase>& cases,
               std::size_t group,
               ManagedChange change,
               std::span<const std::uint32_t> switches,
               std::size_t modes = kAllCharged);

/// Fails with the first run that does.
[[nodiscard]] Result<std::vector<LossGroup>> run_losses(unsigned jobs,
                                                        std::span<const LossCase> cases,
                                                        std::size_t groups);

/// Columns: `keys`, the mode, and what every group has.
[[nodiscard]] Findings begin_losses(std::vector<std::string> keys, std::string title);

/// A row for each mode that was run.
void append_rows(Findings& out, const std::vector<TableCell>& keys, const LossGroup& group);

/// A point of the line of that name.
void add_point(Plot& plot, const std::string& line, double x, double y);

[[nodiscard]] std::string_view print_loss_mode(std::size_t mode);

/// "activation" or "deactivation".
[[nodiscard]] std::string print_direction(bool comes);

inline constexpr ClaimSpec kCertifiedLoss{
    .id = "certified-loss",
    .text =
        "with certified transitions no packet is lost but those on the dead switch, on its "
        "links, or sent to it",
    .source = "proved transitions",
    .must_hold = true};

[[nodiscard]] Judgement judge_certified_loss(std::span<const LossGroup> groups);

}  // namespace smd::sim
