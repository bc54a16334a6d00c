#include "sim-backend/lab/findings_text.h"

#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace smd::sim {
namespace {

using Json = nlohmann::ordered_json;

std::string quote(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

std::string print_cell(const TableCell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return quote(*text);
  const double value = std::get<double>(cell);
  return std::isfinite(value) ? fmt::format("{}", value) : "";
}

Json cell_json(const TableCell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  const double value = std::get<double>(cell);
  if (!std::isfinite(value)) return nullptr;
  const bool whole = std::floor(value) == value && std::abs(value) < 1e15;
  return whole ? Json(static_cast<std::int64_t>(value)) : Json(value);
}

}  // namespace

std::string print_csv(const Findings& findings) {
  std::string out;
  for (std::size_t c = 0; c < findings.columns.size(); ++c) {
    out += (c == 0 ? "" : ",") + quote(findings.columns[c]);
  }
  out += "\n";
  for (const auto& row : findings.rows) {
    for (std::size_t c = 0; c < row.size(); ++c) out += (c == 0 ? "" : ",") + print_cell(row[c]);
    out += "\n";
  }
  return out;
}

std::string print_json(const Experiment& experiment,
                       const ExperimentOptions& options,
                       const Findings& findings) {
  Json rows = Json::array();
  for (const auto& row : findings.rows) {
    Json out = Json::object();
    for (std::size_t c = 0; c < row.size(); ++c) out[findings.columns[c]] = cell_json(row[c]);
    rows.push_back(std::move(out));
  }
  Json claims = Json::array();
  for (std::size_t i = 0; i < experiment.claims.size(); ++i) {
    const ClaimSpec& claim = experiment.claims[i];
    const Verdict& verdict = findings.verdicts[i];
    claims.push_back({{"claim", claim.id},
                      {"text", claim.text},
                      {"source", claim.source},
                      {"measured", verdict.measured},
                      {"expected", verdict.expected},
                      {"holds", verdict.holds},
                      {"must_hold", claim.must_hold}});
  }
  const Json out = {{"experiment", experiment.name},
                    {"source", experiment.source},
                    {"about", experiment.about},
                    {"quick", options.quick},
                    {"rows", std::move(rows)},
                    {"claims", std::move(claims)}};
  return out.dump(2) + "\n";
}

std::string print_claim(const Experiment& experiment,
                        const ClaimSpec& claim,
                        const Verdict& verdict) {
  return fmt::format("{} {}: {}; {}; measured {}; expected {}; {}\n",
                     experiment.name,
                     claim.id,
                     claim.text,
                     claim.source,
                     verdict.measured,
                     verdict.expected,
                     verdict.holds ? "holds" : "does not hold");
}

}  // namespace smd::sim
