// One change of one switch and the distribution of what follows, by one mechanism.
#pragma once

#include <array>
#include <string_view>

#include "sim-backend/experiments/change/subnet.h"

namespace smd::sim {

/// In the order of the published columns.
enum class Mechanism : std::uint8_t { Full, Ports, Dependencies, None };

inline constexpr std::array<std::string_view, 4> kMechanismNames = {
    "full", "cut-ports", "cut-dependencies", "none"};

struct DistributionOptions {
  Mechanism mechanism = Mechanism::None;
  BlockChoice blocks = BlockChoice::Whole;
  bool lid_routed_activation = false;
  bool renumber = false;  // LIDs are given anew, in the order of discovery
};

struct DistributionCost {
  double smps = 0;
  double time = 0;             // seconds, from the first SMP of the plan to the last answer
  double activation_time = 0;  // of it, that of the last phase
  double changed_entries = 0;  // share of all entries of the tables that differ from before, 0 … 1
};

/// The published switches: one Set per port, 1024 entries, everything in one burst. Today's: 1024
/// entries too, so that shares compare.
[[nodiscard]] SubnetOptions distribution_subnet(const Preset& preset);

/// Brings the network up, changes the switch `node`, and distributes.
[[nodiscard]] Result<DistributionCost> measure_distribution(const std::string& fabric,
                                                            const Preset& preset,
                                                            std::uint32_t node,
                                                            bool comes,
                                                            const DistributionOptions& options);

}  // namespace smd::sim
