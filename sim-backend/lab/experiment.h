// One experiment: a published result, measured again on the simulated fabric. One file each,
// listed in experiments/registry.cpp.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "sim-backend/lab/claim.h"
#include "smd/base/result.h"

namespace smd::sim {

struct ExperimentOptions {
  bool quick = false;  // fewer sizes and seeds: the same claims on less ground
  unsigned jobs = 1;   // threads; results do not depend on it
};

using TableCell = std::variant<std::string, double>;

/// A cell and the name of its column.
struct NamedCell {
  template <class Value>
  NamedCell(std::string_view column, const Value& value) : name(column) {
    if constexpr (std::is_arithmetic_v<Value>) {
      cell = static_cast<double>(value);
    } else if constexpr (std::is_same_v<Value, TableCell>) {
      cell = value;
    } else {
      cell = std::string(value);
    }
  }

  std::string name;
  TableCell cell;
};

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

  /// To the line of that name, which the first point begins.
  void add_point(std::string_view line, double x, double y);
};

struct Findings {
  std::vector<std::string> columns;
  std::vector<std::vector<TableCell>> rows;
  std::vector<Verdict> verdicts;  // one for each claim, in the order of the claims
  Plot plot;

  /// The first row names the columns of all.
  void add_row(std::span<const NamedCell> row);

  void add_row(std::initializer_list<NamedCell> row) {
    add_row(std::span(row.begin(), row.size()));
  }
};

struct Experiment {
  std::string_view name;    // "003-sweep-time"
  std::string_view source;  // the tables and figures
  std::string_view about;   // one sentence: what is measured
  std::span<const ClaimSpec> claims;
  std::function<Result<Findings>(const ExperimentOptions&)> run;
};

/// What a run must deliver: as many cells as columns in each row, a verdict for each claim.
/// Empty when all is well.
[[nodiscard]] std::string check_findings(const Experiment& experiment, const Findings& findings);

/// No claim failed that must hold.
[[nodiscard]] bool required_hold(const Experiment& experiment, const Findings& findings);

}  // namespace smd::sim
