// Every experiment, quickly: it delivers what it promises, what must hold holds, and threads change
// nothing.
#include <gtest/gtest.h>

#include "sim-backend/experiments/registry.h"
#include "sim-backend/lab/findings_text.h"
#include "sim-backend/lab/svg_plot.h"
#include "smd/base/log.h"

namespace smd::sim {
namespace {

class Experiments : public testing::TestWithParam<std::string> {};

TEST_P(Experiments, QuickRun) {
  const Experiment* experiment = find_experiment(GetParam());
  ASSERT_NE(experiment, nullptr);
  const unsigned long errors = log::count(log::Level::Error);
  const auto alone = experiment->run({.quick = true, .jobs = 1});
  ASSERT_TRUE(alone) << alone.error().context;
  EXPECT_EQ(check_findings(*experiment, *alone), "");
  EXPECT_FALSE(alone->rows.empty());
  EXPECT_FALSE(alone->plot.series.empty());
  for (std::size_t i = 0; i < experiment->claims.size(); ++i) {
    const ClaimSpec& claim = experiment->claims[i];
    const std::string line = print_claim(*experiment, claim, alone->verdicts[i]);
    EXPECT_TRUE(!claim.must_hold || alone->verdicts[i].holds) << line;
    EXPECT_EQ(line.find('\n'), line.size() - 1) << line;
  }
  const auto together = experiment->run({.quick = true, .jobs = 2});
  ASSERT_TRUE(together) << together.error().context;
  EXPECT_EQ(print_json(*experiment, {}, *alone), print_json(*experiment, {}, *together));
  EXPECT_EQ(print_svg(alone->plot), print_svg(together->plot));
  EXPECT_EQ(log::count(log::Level::Error), errors);
}

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const Experiment& experiment : experiments()) out.emplace_back(experiment.name);
  return out;
}

INSTANTIATE_TEST_SUITE_P(All, Experiments, testing::ValuesIn(names()), [](const auto& name) {
  std::string text = name.param;
  for (char& c : text) {
    if (c == '-') c = '_';
  }
  return "n" + text;
});

}  // namespace
}  // namespace smd::sim
