// One experiment: a published result, measured again on the simulated fabric. One file each,
// listed in experiments/registry.cpp.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "smd/base/result.h"

namespace smd::sim {

struct ExperimentOptions {
  bool quick = false;  // fewer sizes and seeds: the same claims on less ground
  unsigned jobs = 1;   // threads; results do not depend on it
};

/// What is to be shown. Known before anything is measured.
struct ClaimSpec {
  std::string_view id;      // "H3"
  std::string_view text;    // one sentence
  std::string_view source;  // "thesis, Table 11"
  bool must_hold = false;   // the program fails when it does not
};

/// What came out. Both texts have their units.
struct Judgement {
  std::string_view id;
  std::string measured;
  std::string expected;
  bool holds = false;
};

using TableCell = std::variant<std::string, double>;

struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

struct Plot {
  std::string title;
  std::string x_label;
  std::string y_label;
  bool log_x = false;
  bool log_y = false;
  std::vector<Series> series;
};

struct Findings {
  std::vector<std::string> columns;
  std::vector<std::vector<TableCell>> rows;
  std::vector<Judgement> judgements;  // one for each claim, in the order of the claims
  Plot plot;
};

struct Experiment {
  std::string_view name;    // "003-sweep-time"
  std::string_view source;  // the tables and figures
  std::string_view about;   // one sentence: what is measured
  std::span<const ClaimSpec> claims;
  std::function<Result<Findings>(const ExperimentOptions&)> run;
};

/// What a run must deliver: as many cells as columns in each row, a judgement for each claim.
/// Empty when all is well.
[[nodiscard]] std::string check_findings(const Experiment& experiment, const Findings& findings);

/// No claim failed that must hold.
[[nodiscard]] bool required_hold(const Experiment& experiment, const Findings& findings);

}  // namespace smd::sim
