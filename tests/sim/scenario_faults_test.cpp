// A scenario whose network changes: the manager takes the faults in, and what packets went through
// is counted period by period.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "sim-backend/scenario/result_text.h"
#include "sim-backend/scenario/run.h"

namespace smd::sim::test {
namespace {

constexpr const char* kNetwork = R"([fabric]
name = "irregular:switches=12,ports=8,links=4,hosts=2,seed=3"
[traffic]
load = 0.05
[manager]
debounce_us = 100
[measure]
warm_up_us = 50
interval_us = 100
least_intervals = 5
limit_us = 50000
)";

constexpr const char* kLinkGoesAndComes = R"([[fault]]
at_us = 300
what = "link-down"
where = "sw-4:4"
[[fault]]
at_us = 3000
what = "link-up"
where = "sw-4:4"
)";

constexpr const char* kSwitchComes = R"([[fault]]
at_us = 500
what = "switch-up"
where = "sw-7"
)";

PreparedScenario prepare(const std::string& text) {
  auto read = parse_scenario(text, "s.toml");
  if (!read) throw std::runtime_error(print_fault(read.error().at(0)));
  auto made = PreparedScenario::prepare(*read);
  if (!made) throw std::runtime_error(print_fault(made.error().at(0)));
  return std::move(*made);
}

std::uint64_t lost(const Period& period) {
  std::uint64_t sum = 0;
  for (const std::uint64_t count : period.discarded) sum += count;
  return sum;
}

TEST(ScenarioFaults, ALinkThatGoesCostsPacketsAndOneThatComesCostsNone) {
  const PreparedScenario scenario = prepare(std::string(kNetwork) + kLinkGoesAndComes);
  const PointResult point = scenario.run(0.05, 1);
  EXPECT_EQ(point.failure, "");
  EXPECT_EQ(point.audit, "");
  EXPECT_TRUE(point.recovered());
  ASSERT_EQ(point.changes.size(), 2u);
  for (const ChangeResult& change : point.changes) {
    EXPECT_GE(change.noticed, change.at + 100 * kMicro) << "not before the debounce time";
    EXPECT_GT(change.taken_in, change.noticed);
    EXPECT_GT(change.smps, 0u);
    EXPECT_TRUE(change.certified);
  }
  ASSERT_EQ(point.periods.size(), 5u);
  const PeriodKind kinds[] = {PeriodKind::Before,
                              PeriodKind::During,
                              PeriodKind::After,
                              PeriodKind::During,
                              PeriodKind::After};
  for (std::size_t i = 0; i < 5; ++i) {
    const Period& period = point.periods[i];
    EXPECT_EQ(period.kind, kinds[i]);
    EXPECT_NEAR(period.accepted_load, 0.05, 0.02);
    EXPECT_GT(period.latency.mean, 0);
    if (i > 0) {
      EXPECT_EQ(period.begin, point.periods[i - 1].end);
    }
    if (i != 1) {
      EXPECT_EQ(lost(period), 0u) << i;
    }
  }
  const Period& gone = point.periods[1];
  EXPECT_GT(gone.discarded[static_cast<std::size_t>(Discard::InactivePort)], 0u);
  EXPECT_EQ(gone.begin, 300 * kMicro);
  // The intervals of the series are the same packets, cut elsewhere.
  std::uint64_t by_period = 0, by_interval = 0;
  for (const Period& period : point.periods) by_period += period.delivered;
  for (const Interval& interval : point.steady.intervals) by_interval += interval.delivered;
  EXPECT_EQ(by_period, by_interval);
}

TEST(ScenarioFaults, RepeatThemselvesUnlessComputingIsMeasured) {
  const PreparedScenario scenario = prepare(std::string(kNetwork) + kLinkGoesAndComes);
  const PointResult first = scenario.run(0.05, 1), again = scenario.run(0.05, 1);
  EXPECT_EQ(first.stats.digest, again.stats.digest);
  EXPECT_NE(first.stats.digest, scenario.run(0.05, 2).stats.digest);
  Scenario slow = scenario.scenario();
  slow.manager.computing = {.fixed = std::chrono::microseconds(700)};
  const PointResult later = PreparedScenario::prepare(slow)->run(0.05, 1);
  ASSERT_TRUE(later.recovered());
  EXPECT_GE(later.changes[0].taken_in, first.changes[0].taken_in + 700 * kMicro);
  slow.manager.computing = {.measured = true};
  EXPECT_GT(PreparedScenario::prepare(slow)->run(0.05, 1).changes[0].taken_in,
            first.changes[0].taken_in);
}

TEST(ScenarioFaults, ASwitchThatComesBringsItsHosts) {
  const PreparedScenario scenario = prepare(std::string(kNetwork) + kSwitchComes);
  const PointResult point = scenario.run(0.05, 1);
  EXPECT_TRUE(point.recovered());
  EXPECT_EQ(point.audit, "");
  ASSERT_EQ(point.periods.size(), 3u);
  EXPECT_GT(lost(point.periods[0]), 0u) << "sent to hosts that are not there";
  EXPECT_EQ(lost(point.periods[2]), 0u);
  EXPECT_GT(point.periods[2].accepted_load, point.periods[0].accepted_load);
}

TEST(ScenarioFaults, WhatIsNotTakenInIsSaid) {
  // Traps and sweeps see nothing of a change that comes when the run is over.
  Scenario scenario = prepare(std::string(kNetwork) + kLinkGoesAndComes).scenario();
  scenario.measure.limit = 350 * kMicro;
  const PreparedScenario cut = std::move(*PreparedScenario::prepare(scenario));
  const PointResult point = cut.run(0.05, 1);
  EXPECT_FALSE(point.recovered());
  const std::string text = print_points(cut, {.points = {point}, .saturation = {}});
  EXPECT_THAT(text, testing::HasSubstr("not taken in"));
  const auto json =
      nlohmann::json::parse(print_scenario_json(cut, {.points = {point}, .saturation = {}}));
  EXPECT_FALSE(json["points"][0]["recovered"]);
  EXPECT_TRUE(json["points"][0]["changes"][0]["taken_in_us"].is_null());
  EXPECT_EQ(json["points"][0]["stretches"][1]["when"], "during");
}

}  // namespace
}  // namespace smd::sim::test
