// The ways to distribute tables that 003-technique-losses compares, what is claimed of them, and
// whether sums of runs bear it out.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "sim-backend/lab/experiment.h"
#include "sim-backend/lab/statistics.h"
#include "sim-backend/packet/discard.h"

namespace smd::sim {

struct TechniqueMode {
  std::string_view name;
  std::string_view words;
};

enum Technique : std::size_t {
  kFullMode,
  kPortsMode,
  kDependenciesMode,
  kNoneMode,
  kProvisionalMode,
  kCertifiedMode,
  kTechniques
};

inline constexpr std::array<TechniqueMode, kTechniques> kTechniqueModes{{
    {"full", "partial+fera+deactivate-all+whole+literal"},
    {"cut-ports", "partial+fera+cut-ports+whole+literal"},
    {"cut-dependencies", "partial+fera+cut-dependencies+whole+literal"},
    {"none", "partial+fera+none+whole+literal"},
    {"full, provisional", "partial+pira-fera+deactivate-all+whole+literal"},
    {"certified", "certified"},
}};

struct TechniqueSums {
  Sample discarded, unexplained, time;
  std::array<double, kDiscards> causes{};

  [[nodiscard]] double of(Discard cause) const {
    return causes[static_cast<std::size_t>(cause)] / double(discarded.size());
  }
};

/// Of one size and kind of change, by mode.
using TechniqueGroup = std::array<TechniqueSums, kTechniques>;

[[nodiscard]] std::span<const ClaimSpec> technique_claims();

/// Groups in the order of the published sizes, activation before deactivation.
[[nodiscard]] std::vector<Judgement> judge_techniques(std::span<const TechniqueGroup> groups);

}  // namespace smd::sim
