#include "sim-backend/lab/experiment.h"

#include <fmt/core.h>

#include <algorithm>

namespace smd::sim {

std::string check_findings(const Experiment& experiment, const Findings& findings) {
  for (const auto& row : findings.rows) {
    if (row.size() != findings.columns.size()) {
      return fmt::format("{}: a row of {} cells under {} columns",
                         experiment.name,
                         row.size(),
                         findings.columns.size());
    }
  }
  const bool all_judged = std::ranges::equal(
      experiment.claims, findings.judgements, {}, &ClaimSpec::id, &Judgement::id);
  return all_judged ? "" : fmt::format("{}: not every claim has its judgement", experiment.name);
}

bool required_hold(const Experiment& experiment, const Findings& findings) {
  for (std::size_t i = 0; i < experiment.claims.size(); ++i) {
    if (experiment.claims[i].must_hold && !findings.judgements[i].holds) return false;
  }
  return true;
}

}  // namespace smd::sim
