// What is to be shown, and whether it was. A claim with a bound is printed and judged by its own
// texts from the same values, so that what was measured, what was expected and the verdict agree.
#pragma once

#include <concepts>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim-backend/lab/statistics.h"

namespace smd::sim {

/// Known before anything is measured.
struct ClaimSpec {
  std::string_view id;        // "H3"
  std::string_view text;      // one sentence
  std::string_view source;    // "thesis, Table 11"
  bool must_hold = false;     // the program fails when it does not
  std::string_view measured;  // a format of {least}, {most} and {farthest} (from 1) with its unit
  std::string_view expected;  // with its unit; as parse_bound() reads it where values are judged
};

/// What came out. Both texts have their units.
struct Verdict {
  std::string_view id;
  std::string measured;
  std::string expected;
  bool holds = false;
};

struct Bound {
  double least, most;
  bool above_least = false;  // the least itself is not within
  bool below_most = false;

  [[nodiscard]] bool holds(double value) const;
};

/// "0.7 to 1.3 times", "at most 0.2", "at least 95 %", "less than 1", "below nodes^0.8", "more than
/// 0, at most 15 %", "within 15 % of the published" (of 1), "none": values are in the unit of the
/// text. What follows is for the reader. Nothing where no bound is read.
[[nodiscard]] std::optional<Bound> parse_bound(std::string_view text);

/// What was measured for a claim.
struct Measured {
  /// All of them are judged by the claim's bound and printed by its format. What is no number is
  /// within no bound.
  Measured(std::string_view claim, const Range& all) : id(claim), values(all) {}

  /// Printed otherwise.
  Measured(std::string_view claim, std::string in_words, const Range& all)
      : id(claim), text(std::move(in_words)), values(all) {}

  /// What is claimed is no bound. `instead`: of the claim's expectation, where that depends on the
  /// sizes that were run.
  template <std::same_as<bool> Holds>
  Measured(std::string_view claim, std::string in_words, Holds is_so, std::string instead = {})
      : id(claim), text(std::move(in_words)), holds(is_so), expected(std::move(instead)) {}

  std::string_view id;
  std::string text;
  Range values;
  std::optional<bool> holds;
  std::string expected;
};

/// One for each that was measured. Nothing measured is nothing shown.
[[nodiscard]] std::vector<Verdict> decide(std::span<const ClaimSpec> claims,
                                          std::span<const Measured> measured);

[[nodiscard]] inline std::vector<Verdict> decide(std::span<const ClaimSpec> claims,
                                                 std::initializer_list<Measured> measured) {
  return decide(claims, std::span(measured.begin(), measured.size()));
}

}  // namespace smd::sim
