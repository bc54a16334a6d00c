#include "sim-backend/lab/claim.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <limits>

namespace smd::sim {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool skip(std::string_view& text, std::string_view words) {
  if (!text.starts_with(words)) return false;
  text.remove_prefix(words.size());
  return true;
}

/// The number that the first word ends with: "0.85", "nodes^0.85".
std::optional<double> take_number(std::string_view& text) {
  std::string_view rest = text;
  while (!rest.empty() && rest.front() != ' ' && !is_digit(rest.front())) rest.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (error != std::errc{}) return std::nullopt;
  text = rest.substr(static_cast<std::size_t>(end - rest.data()));
  return value;
}

/// Narrows `bound` by what the text begins with.
bool take_bound(std::string_view& text, Bound& bound) {
  const auto take = [&](double& limit) {
    const auto value = take_number(text);
    if (value) limit = *value;
    return value.has_value();
  };
  if (skip(text, "at most ")) return take(bound.most);
  if (skip(text, "at least ")) return take(bound.least);
  if (skip(text, "more than ")) {
    bound.above_least = true;
    return take(bound.least);
  }
  if (skip(text, "less than ") || skip(text, "below ")) {
    bound.below_most = true;
    return take(bound.most);
  }
  if (skip(text, "within ")) {
    const auto percent = take_number(text);
    if (!percent) return false;
    bound = {.least = 1 - *percent / 100, .most = 1 + *percent / 100};
    return true;
  }
  std::string_view rest = text;
  const auto least = take_number(rest);
  if (!least || !skip(rest, " to ")) return false;
  bound.least = *least;
  text = rest;
  return take(bound.most);
}

Verdict decide_one(const ClaimSpec& claim, const Measured& measured) {
  const Range& values = measured.values;
  Verdict out{.id = measured.id,
              .measured = measured.text,
              .expected = std::string(claim.expected),
              .holds = measured.holds.value_or(false)};
  if (!measured.expected.empty()) out.expected = measured.expected;
  if (measured.holds) return out;
  if (out.measured.empty()) {
    out.measured = fmt::format(fmt::runtime(claim.measured),
                               fmt::arg("least", values.least()),
                               fmt::arg("most", values.most()),
                               fmt::arg("farthest", values.farthest()));
  }
  if (values.has_other()) out.measured += "; not all are numbers";
  const auto bound = parse_bound(claim.expected);
  out.holds = bound && !values.empty() && !values.has_other() && bound->holds(values.least()) &&
              bound->holds(values.most());
  return out;
}

}  // namespace

bool Bound::holds(double value) const {
  return (above_least ? value > least : value >= least) &&
         (below_most ? value < most : value <= most);
}

std::optional<Bound> parse_bound(std::string_view text) {
  if (text == "none") return Bound{.least = 0, .most = 0};
  Bound out{.least = -kInfinite, .most = kInfinite};
  while (!take_bound(text, out)) {
    const std::size_t space = text.find(' ');
    if (space == std::string_view::npos) return std::nullopt;
    text.remove_prefix(space + 1);
  }
  if (skip(text, ", ")) (void)take_bound(text, out);
  return out;
}

std::vector<Verdict> decide(std::span<const ClaimSpec> claims, std::span<const Measured> measured) {
  std::vector<Verdict> out;
  for (const Measured& each : measured) {
    const auto claim = std::ranges::find(claims, each.id, &ClaimSpec::id);
    if (claim != claims.end()) out.push_back(decide_one(*claim, each));
  }
  return out;
}

}  // namespace smd::sim
