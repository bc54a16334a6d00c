#include "sim-backend/lab/experiment.h"

#include <fmt/core.h>

#include <algorithm>

namespace smd::sim {

void Plot::add_point(std::string_view line, double x, double y) {
  auto at = std::ranges::find(series, line, &Series::name);
  if (at == series.end()) at = series.insert(at, Series{.name = std::string(line), .points = {}});
  at->points.emplace_back(x, y);
}

void Findings::add_row(std::span<const NamedCell> row) {
  std::vector<TableCell> cells;
  for (const NamedCell& each : row) {
    if (rows.empty()) columns.push_back(each.name);
    cells.push_back(each.cell);
  }
  rows.push_back(std::move(cells));
}

std::string check_findings(const Experiment& experiment, const Findings& findings) {
  for (const auto& row : findings.rows) {
    if (row.size() != findings.columns.size()) {
      return fmt::format("{}: a row of {} cells under {} columns",
                         experiment.name,
                         row.size(),
                         findings.columns.size());
    }
  }
  const bool all_decided =
      std::ranges::equal(experiment.claims, findings.verdicts, {}, &ClaimSpec::id, &Verdict::id);
  return all_decided ? "" : fmt::format("{}: not every claim has its judgement", experiment.name);
}

bool required_hold(const Experiment& experiment, const Findings& findings) {
  for (std::size_t i = 0; i < experiment.claims.size(); ++i) {
    if (experiment.claims[i].must_hold && !findings.verdicts[i].holds) return false;
  }
  return true;
}

}  // namespace smd::sim
