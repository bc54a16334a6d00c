// Every experiment in full: each claim holds, or stands in docs/claims.md with what was measured
// and why. What stands there and holds, or was measured otherwise, is wrong there.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <thread>

#include "sim-backend/experiments/registry.h"
#include "sim-backend/lab/findings_text.h"
#include "tests/support/claims_page.h"

namespace smd::sim {
namespace {

class FullExperiments : public testing::TestWithParam<std::string> {};

TEST_P(FullExperiments, WhatDoesNotHoldStandsInTheDocument) {
  const Experiment* experiment = find_experiment(GetParam());
  ASSERT_NE(experiment, nullptr);
  const auto found =
      experiment->run({.quick = false, .jobs = std::max(1u, std::thread::hardware_concurrency())});
  ASSERT_TRUE(found) << found.error().context;
  ASSERT_EQ(check_findings(*experiment, *found), "");
  std::map<std::string, std::string> failed;
  for (std::size_t i = 0; i < experiment->claims.size(); ++i) {
    const Verdict& verdict = found->verdicts[i];
    fmt::print("{}", print_claim(*experiment, experiment->claims[i], verdict));
    if (!verdict.holds) failed.emplace(verdict.id, verdict.measured);
  }
  std::map<std::string, std::string> documented;
  for (const test::DocumentedClaim& row : test::read_claims_page()) {
    if (row.experiment == experiment->name) documented.emplace(row.claim, row.measured);
  }
  EXPECT_EQ(failed, documented);
}

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const Experiment& experiment : experiments()) out.emplace_back(experiment.name);
  return out;
}

INSTANTIATE_TEST_SUITE_P(All, FullExperiments, testing::ValuesIn(names()), [](const auto& name) {
  std::string text = name.param;
  for (char& c : text) {
    if (c == '-') c = '_';
  }
  return "n" + text;
});

}  // namespace
}  // namespace smd::sim
