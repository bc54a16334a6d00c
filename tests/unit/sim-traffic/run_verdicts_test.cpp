// What a run says of itself: nothing delivered, pairs without a route, traffic that cannot be
// meant.
#include <fmt/core.h>
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "sim-backend/scenario/result_text.h"
#include "tests/support/files.h"
#include "tests/support/scenario_text.h"
#include "tests/unit/sim-traffic/locking_ring.h"

namespace smd::sim::test {
namespace run_verdicts_test {

using testing::HasSubstr;

constexpr const char* kTree = "[fabric]\nname = \"fat-tree:k=4,levels=2\"\n[traffic]\n";

std::string fault_of_traffic(const std::string& keys) { return fault_of_text(kTree + keys); }

// Eight hosts.
TEST(PatternChecks, TargetsLeaveSomebodyWhoSends) {
  EXPECT_EQ(fault_of_traffic("pattern = \"incast\"\ntargets = 7\n"), "");
  EXPECT_THAT(fault_of_traffic("pattern = \"incast\"\ntargets = 8\n"),
              HasSubstr("s.toml:5: traffic.pattern incast has 8 targets, which are silent, among 8 "
                        "hosts: nobody sends"));
  for (const char* pattern : {"incast", "hot-spot", "combined"}) {
    EXPECT_THAT(
        fault_of_traffic(fmt::format("targets = 9\npattern = \"{}\"\n", pattern)),
        HasSubstr(fmt::format("traffic.pattern {} has 9 targets among 8 hosts: fewer", pattern)));
  }
  EXPECT_EQ(fault_of_traffic("pattern = \"hot-spot\"\ntargets = 8\n"), "");
}

TEST(PatternChecks, SomebodyIsNear) {
  EXPECT_EQ(fault_of_traffic("pattern = \"local\"\nradius = 0\n"), "") << "two hosts a switch";
  const std::string torus = "[fabric]\nname = \"torus:dims=3.3\"\n[traffic]\npattern = \"local\"\n";
  EXPECT_EQ(fault_of_text(torus + "radius = 1\n"), "");
  EXPECT_THAT(fault_of_text(torus + "radius = 0\n"),
              HasSubstr("s.toml:5: traffic.pattern local: no host has another one at most 0"));
}

TEST(PatternChecks, WhoSendsToItselfAloneSendsNothing) {
  const std::string three =
      "[fabric]\nname = \"fat-tree:k=4,levels=2\"\n[traffic]\npattern = \"tornado\"\ndims = [";
  EXPECT_THAT(fault_of_text(three + "2, 2]\n"),
              HasSubstr("s.toml:5: traffic.pattern tornado: each of the 8 hosts is its own"));
}

// 2,074 bytes take 165.92 ns on 4x EDR.
TEST(PatternChecks, SlotsHoldTheLoad) {
  const std::string slots = "arrivals = \"bernoulli\"\nslot_ns = 500\n";
  EXPECT_EQ(fault_of_traffic(slots + "load = [0.1, 0.33]\n"), "");
  EXPECT_THAT(fault_of_traffic(slots + "load = [0.1, 0.5]\n"),
              HasSubstr("s.toml:5: a message in every slot of 500 ns is a load of 0.3318"));
  EXPECT_THAT(fault_of_traffic(slots + "load = 0.1\n[measure]\nsaturation = true\n"),
              HasSubstr("s.toml:5: a message in every slot of 500 ns is a load of 0.3318"));
  EXPECT_EQ(fault_of_text("[fabric]\nmodel = \"worms\"\nname = \"torus:dims=3.3\"\n[traffic]\n"
                          "arrivals = \"bernoulli\"\nsize = 100\nslot_ns = 625\nload = 1\n"),
            "");
  EXPECT_THAT(
      fault_of_text("[fabric]\nmodel = \"worms\"\nname = \"torus:dims=3.3\"\n[traffic]\n"
                    "arrivals = \"bernoulli\"\nsize = 100\nslot_ns = 1250\nload = 0.75\n"),
      HasSubstr(
          "s.toml:7: a message in every slot of 1250 ns is a load of 0.5000 at most, and 0.75"));
}

constexpr const char* kBlink = R"([fabric]
name = "fat-tree:k=4,levels=2"
[measure]
warm_up_us = 0
interval_us = 0.001
)";

TEST(RunVerdicts, NothingDeliveredIsAStateOfItsOwn) {
  const auto prepared = prepare_text(kBlink);
  ASSERT_TRUE(prepared);
  const PointResult point = prepared->run(0.5, 1);
  EXPECT_EQ(point.steady.state, RunState::Undelivered);
  const ScenarioResult all{.points = {point}, .saturation = {}};
  EXPECT_THAT(
      print_points(*prepared, all),
      testing::AllOf(HasSubstr("load 0.500 seed 1: undelivered,"),
                     HasSubstr("\n  nothing arrived in the 0.100 us that were measured: ")));
  EXPECT_THAT(print_points_csv(all), HasSubstr("\n0.5,1,undelivered,"));
  const auto json = nlohmann::json::parse(print_scenario_json(*prepared, all));
  EXPECT_EQ(json["points"][0]["state"], "undelivered");
}

// Two planes that nothing joins: half of the pairs and more have no route.
TEST(RunVerdicts, PairsWithoutARouteAreTold) {
  const auto islands = prepare_text(R"([fabric]
name = "multi-plane:cores=0"
[measure]
warm_up_us = 5
interval_us = 5
)");
  ASSERT_TRUE(islands) << print_fault(islands.error().at(0));
  const PointResult point = islands->run(0.2, 1);
  ASSERT_GT(point.stats.discards(), 0u);
  EXPECT_EQ(count_unreachable(point.stats.discarded), point.stats.discards());
  EXPECT_THAT(print_points(*islands, {.points = {point}, .saturation = {}}),
              HasSubstr(fmt::format("\n  {} of {} packets had no route: not every pair",
                                    point.stats.discards(),
                                    point.stats.generated)));
}

/// A trace in a file of its own, as traffic of a small tree.
class TracedRun : public testing::Test {
 protected:
  [[nodiscard]] std::string with(const char* messages, const std::string& measure) const {
    std::ofstream(scratch_.path() / "t.trace") << messages;
    return fmt::format(
        "{}trace = \"{}\"\n[measure]\n{}", kTree, (scratch_.path() / "t.trace").string(), measure);
  }

  smd::test::Scratch scratch_;
};

// The interval's end was told: 1,000 us of a message that takes one.
TEST_F(TracedRun, EndsWithItsLastPacketWhateverTheIntervals) {
  const std::string long_one = with("2000 0 7 64\n2500 1 6 4096\n", "interval_us = 1000\n");
  const auto prepared = prepare_text(long_one);
  ASSERT_TRUE(prepared) << print_fault(prepared.error().at(0));
  const PointResult point = prepared->run(0.5, 1);
  ASSERT_TRUE(point.complete);
  EXPECT_EQ(point.simulated, 1000 * kMicro);
  EXPECT_EQ(point.completed_at, 2500 * kNano + static_cast<Picos>(point.latency.max))
      << "the second has a switch more and the most bytes to go";
  EXPECT_EQ(point.stats.last_out, point.completed_at);
  const ScenarioResult all{.points = {point}, .saturation = {}};
  EXPECT_THAT(print_points(*prepared, all),
              HasSubstr(fmt::format("all done after {:.3f} us", to_micros(point.completed_at))));
  const auto json = nlohmann::json::parse(print_scenario_json(*prepared, all));
  EXPECT_EQ(json["points"][0]["completed_us"], to_micros(point.completed_at));
  const auto finely = prepare_text(with("2000 0 7 64\n2500 1 6 4096\n", "interval_us = 0.5\n"));
  EXPECT_EQ(finely->run(0.5, 1).completed_at, point.completed_at);
}

TEST_F(TracedRun, EndsWithAPacketThatIsThrownAwayAndAtOnceWithoutAny) {
  const auto none = prepare_text(with("# nothing\n", ""));
  ASSERT_TRUE(none);
  EXPECT_EQ(none->run(0.5, 1).completed_at, 0);
  const std::string islands = with("1000 0 1 64\n5000 0 15 64\n", "interval_us = 100\n");
  const auto lost = prepare_text("[fabric]\nname = \"multi-plane:cores=0\"\n" +
                                 islands.substr(islands.find("[traffic]")));
  ASSERT_TRUE(lost) << print_fault(lost.error().at(0));
  const PointResult point = lost->run(0.5, 1);
  EXPECT_TRUE(point.complete);
  ASSERT_EQ(point.stats.discards(), 2u);
  EXPECT_GT(point.completed_at, 5000 * kNano);
  EXPECT_LT(point.completed_at, 6000 * kNano);
}

TEST_F(TracedRun, OnWormsEndsWithItsLastMessage) {
  const std::string text = with("2000 0 7 64\n9000 1 6 512\n", "interval_us = 1000\n");
  const auto prepared = prepare_text("[fabric]\nmodel = \"worms\"\nname = \"torus:dims=3.3\"\n" +
                                     text.substr(text.find("[traffic]")));
  ASSERT_TRUE(prepared) << print_fault(prepared.error().at(0));
  const PointResult point = prepared->run(0.5, 1);
  ASSERT_TRUE(point.complete);
  EXPECT_EQ(point.completed_at, 9000 * kNano + static_cast<Picos>(point.latency.max));
}

/// A locking ring whose packets grow old after 1.07 s; measured as nothing is said of it.
std::string aging_ring(const std::string& measure = "", const std::string& traffic = "") {
  std::string out = kLockingRing;
  out.replace(out.find("preset"), 0, "lifetimes = true\nmtu = 256\n");
  out.erase(out.find("[measure]"));
  if (!traffic.empty()) out.replace(out.find("[traffic]"), std::string::npos, traffic);
  return out + "[measure]\n" + measure;
}

PointResult run_aging_ring(const std::string& measure, const std::string& traffic = "") {
  const auto prepared = prepare_text(aging_ring(measure, traffic));
  EXPECT_TRUE(prepared) << print_fault(prepared.error().at(0));
  return prepared ? prepared->run(1, 1) : PointResult();
}

constexpr const char* kExchange = R"([traffic]
collective = "all-to-all-exchange"
bytes = 16384
)";

void expect_deadlocked(const PointResult& point) {
  EXPECT_EQ(point.steady.state, RunState::Deadlocked);
  EXPECT_FALSE(point.is_sound());
  EXPECT_GE(point.steady.deadlock.size(), 3u);
  EXPECT_LT(point.steady.deadlock_at, 2 * kMilli);
  EXPECT_EQ(point.stats.discards(), 0u);
  EXPECT_EQ(point.audit, "");
}

// They were saturated, though nothing moved any more before they ended.
TEST(AgingRings, AreDeadlockedWhereTheRunEndsBeforeAPacketIsOld) {
  expect_deadlocked(run_aging_ring(""));
  expect_deadlocked(run_aging_ring("", kExchange));
}

// They went on standing still until a packet was old, while sources made more and more.
TEST(AgingRings, AreDeadlockedWhereMessagesEndTheRun) {
  expect_deadlocked(run_aging_ring("messages = 100000\n"));
  expect_deadlocked(run_aging_ring("warm_up_messages = 100000\n"));
}

TEST(AgingRings, AreFoundInASearchForTheSaturationLoad) {
  const auto prepared = prepare_text(aging_ring("saturation = true\n"));
  ASSERT_TRUE(prepared) << print_fault(prepared.error().at(0));
  const SaturationPoint found =
      find_saturation([&](double load) { return prepared->run(load, 1).steady; }, 0.5);
  ASSERT_TRUE(found.deadlocked_at);
  EXPECT_GE(found.deadlock.size(), 3u);
}

// A life is 1.074 s.
TEST(AgingRings, GoOnForAsLongAsALifeFitsIn) {
  const PointResult point = run_aging_ring("limit_us = 5e6\ninterval_us = 1000\n", kExchange);
  EXPECT_GT(point.steady.deadlock_at, 5 * kSecond - 1074 * kMilli);
  EXPECT_GT(point.stats.discarded[static_cast<std::size_t>(Discard::SwitchLife)], 0u);
  EXPECT_EQ(point.stats.discards(),
            point.stats.discarded[static_cast<std::size_t>(Discard::SwitchLife)]);
}

// They were 0, as if nothing had been offered or had come in.
TEST(RunVerdicts, LoadsThatNobodyMeasuredAreEmptyFields) {
  PointResult point{.load = 0.5, .seed = 1};
  const auto row = [&point] {
    const std::string all = print_points_csv({.points = {point}, .saturation = {}});
    return all.substr(all.find('\n') + 1);
  };
  EXPECT_THAT(row(), testing::StartsWith("0.5,1,stable,0.000000,0.000000,0.000,0.000,0.000,"));
  point.closed = point.complete = true;
  EXPECT_THAT(row(), testing::StartsWith("0.5,1,complete,,,0.000,,0.000,"));
  point.closed = point.complete = false;
  point.managed = true;
  EXPECT_THAT(row(), testing::StartsWith("0.5,1,recovered,,,0.000,,0.000,"));
}

// They sent, and were sent to.
TEST(RunVerdicts, AggregationNodesAreNoHosts) {
  const std::string rest = "[measure]\nwarm_up_us = 2\ninterval_us = 2\n";
  const auto with = prepare_text("[fabric]\nname = \"fat-tree:k=4,aggregation=1\"\n" + rest);
  const auto without = prepare_text("[fabric]\nname = \"fat-tree:k=4\"\n" + rest);
  ASSERT_TRUE(with && without);
  EXPECT_EQ(with->fabric().host_lids.size(), 8u);
  EXPECT_EQ(with->run(0.4, 1).stats.digest, without->run(0.4, 1).stats.digest);
  const auto cluster = prepare_text("[fabric]\nname = \"ndr-582\"\n");
  ASSERT_TRUE(cluster);
  EXPECT_EQ(cluster->fabric().host_lids.size(), 542u);
}

}  // namespace run_verdicts_test
}  // namespace smd::sim::test
