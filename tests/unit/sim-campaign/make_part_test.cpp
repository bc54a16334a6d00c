// What a search for saturation leaves behind when its runs do not come to their end.
#include "sim-backend/campaign/make_part.h"

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/unit/sim-traffic/locking_ring.h"

namespace smd::sim {
namespace {

using testing::HasSubstr;

/// Seven hosts send to one: their sources fill up beyond a seventh of full rate, once buffers have.
constexpr const char* kText = R"([fabric]
name = "fat-tree:k=4,levels=2"
[traffic]
pattern = "incast"
[measure]
warm_up_us = 100
interval_us = 5
least_intervals = 5
most_intervals = 20
saturation = true
tolerance = 0.1
)";

Part find_load(std::uint32_t most_packets,
               const RunControl& control = {},
               const std::string& text = kText) {
  auto scenario = parse_scenario(text, "s.toml");
  EXPECT_TRUE(scenario.has_value()) << print_fault(scenario.error().at(0));
  scenario->packet.most_packets = most_packets;
  const auto prepared = PreparedScenario::prepare(std::move(*scenario));
  EXPECT_TRUE(prepared.has_value()) << print_fault(prepared.error().at(0));
  return make_part(*prepared,
                   "0123456789abcdef",
                   {.loads = {0.5}, .first_seed = 3, .seeds = 1, .saturation = true},
                   {.saturation = true, .seed = 3},
                   control);
}

TEST(SaturationPart, OfRunsThatEndIsSound) {
  const Part part = find_load(1'000'000);
  EXPECT_TRUE(part.sound);
  EXPECT_FALSE(part.interrupted);
  EXPECT_EQ(part.audit, "");
  const auto found = nlohmann::json::parse(part.result)["saturation"][0];
  EXPECT_TRUE(found["ended_early_at"].is_null());
  EXPECT_EQ(found["load"], 0.125);
  EXPECT_THAT(part.lines, testing::Not(HasSubstr("ended early")));
}

TEST(SaturationPart, OfARunThatWasFullSaysSo) {
  const Part part = find_load(200);
  EXPECT_FALSE(part.sound);
  EXPECT_FALSE(part.interrupted);
  EXPECT_THAT(part.audit, testing::StartsWith("load 1 seed 3: ended before "));
  EXPECT_THAT(part.audit, HasSubstr("more than 200 packets of a partition"));
  const auto found = nlohmann::json::parse(part.result)["saturation"][0];
  EXPECT_EQ(found["ended_early_at"], 1);
  EXPECT_EQ(found["runs"], 1);
  EXPECT_EQ(found["load"], 0);
  EXPECT_THAT(part.lines,
              HasSubstr("no load is known to be stable; the run at load 1.0000 ended early"));
}

TEST(SaturationPart, OfARunThatWasInterruptedSaysSo) {
  unsigned asked = 0;
  const Part part = find_load(1'000'000, {.stop = [&asked] { return ++asked >= 3; }});
  EXPECT_EQ(asked, 3u) << "after each interval, and not any more";
  EXPECT_FALSE(part.sound);
  EXPECT_TRUE(part.interrupted);
  EXPECT_EQ(nlohmann::json::parse(part.result)["saturation"][0]["ended_early_at"], 1);
}

constexpr const char* kBlink = R"([fabric]
name = "fat-tree:k=4,levels=2"
[measure]
warm_up_us = 0
interval_us = 0.001
saturation = true
tolerance = 0.1
)";

// It was "stable up to load 1".
TEST(SaturationPart, OfARunThatDeliversNothingEndsThereAndSaysSo) {
  const Part part = find_load(1'000'000, {}, kBlink);
  EXPECT_FALSE(part.sound);
  const auto found = nlohmann::json::parse(part.result)["saturation"][0];
  EXPECT_EQ(found["ended_early_at"], 1);
  EXPECT_EQ(found["ended_early_by"], "undelivered");
  EXPECT_EQ(
      part.lines,
      "seed 3: no load is known to be stable; nothing arrived at load 1.0000, which ended the "
      "search\n");
}

constexpr const char* kIslands = R"([fabric]
name = "multi-plane:cores=0"
[measure]
warm_up_us = 5
interval_us = 5
saturation = true
tolerance = 0.5
)";

TEST(SaturationPart, OfPairsWithoutARouteSaysThatNotAllArrives) {
  const Part part = find_load(1'000'000, {}, kIslands);
  EXPECT_THAT(part.lines,
              testing::ContainsRegex("not all arrives: [0-9]+ of [0-9]+ packets had no "
                                     "route"));
  EXPECT_GT(nlohmann::json::parse(part.result)["saturation"][0]["unreachable"], 0);
}

Part run_one(const std::string& text) {
  const auto scenario = parse_scenario(text, "s.toml");
  EXPECT_TRUE(scenario.has_value()) << print_fault(scenario.error().at(0));
  const auto prepared = PreparedScenario::prepare(*scenario);
  EXPECT_TRUE(prepared.has_value()) << print_fault(prepared.error().at(0));
  return make_part(*prepared,
                   "0123456789abcdef",
                   {.loads = scenario->traffic.loads, .first_seed = 1, .seeds = 1},
                   {.seed = 1},
                   {});
}

// It counted as any load that does not hold, and nobody heard of it.
TEST(SaturationPart, OfADeadlockNamesItAndIsNotSound) {
  const Part part =
      find_load(1'000'000, {}, std::string(kLockingRing) + "saturation = true\ntolerance = 0.5\n");
  EXPECT_FALSE(part.sound);
  EXPECT_THAT(part.lines,
              testing::ContainsRegex("; deadlocked at load [0-9.]+, found after [0-9.]+ us: "
                                     "sw-[0-9]+:[0-9]+\\(VL0\\) -> "));
  const auto found = nlohmann::json::parse(part.result)["saturation"][0];
  EXPECT_GT(found["deadlocked_at"], 0);
  EXPECT_THAT(found["deadlock"].get<std::string>(), HasSubstr("(VL0) -> "));
  EXPECT_TRUE(found["ended_early_at"].is_null()) << "lower loads are asked about";
}

constexpr const char* kExchange = R"([fabric]
name = "fat-tree:k=4,levels=2"
[traffic]
collective = "all-to-all-exchange"
bytes = 1000000
[measure]
interval_us = 10
limit_us = )";

TEST(RunPart, OfACollectiveIsSoundWhereItEnds) {
  const Part cut = run_one(std::string(kExchange) + "20\n");
  EXPECT_FALSE(cut.sound);
  EXPECT_THAT(cut.lines, HasSubstr("not done after 20.000 us"));
  EXPECT_THAT(cut.row, testing::StartsWith("0.5,1,incomplete,"));
  const Part whole = run_one(std::string(kExchange) + "100000\n");
  EXPECT_TRUE(whole.sound);
  EXPECT_THAT(whole.lines, HasSubstr("all done after "));
  EXPECT_THAT(whole.row, testing::StartsWith("0.5,1,complete,"));
}

std::string with_fault(const std::string& text, unsigned at_us) {
  return text +
         fmt::format("[[fault]]\nat_us = {}\nwhat = \"link-down\"\nwhere = \"sw-1-1:1\"\n", at_us);
}

// The line told of the changes alone.
TEST(RunPart, OfACollectiveInANetworkThatChangesSaysHowBothEnded) {
  const Part part = run_one(with_fault(std::string(kExchange) + "3000\nwarm_up_us = 0\n", 100));
  EXPECT_THAT(part.lines,
              testing::ContainsRegex("^seed 1: 1 changes, [a-z ]+, [0-9]+ of [0-9]+ packets "
                                     "delivered, [0-9]+ discarded; (all|not) done after "));
  EXPECT_EQ(part.sound,
            part.lines.find("all taken in") != std::string::npos &&
                part.lines.find("all done") != std::string::npos);
}

constexpr const char* kOpen = R"([fabric]
name = "fat-tree:k=4,levels=2"
[traffic]
load = 0.1
[measure]
warm_up_us = 10
interval_us = 10
limit_us = 50
)";

// "0 changes, all taken in".
TEST(RunPart, OfAFaultThatNeverCameIsNotSound) {
  const Part part = run_one(with_fault(kOpen, 60));
  EXPECT_FALSE(part.sound);
  EXPECT_THAT(part.lines, HasSubstr("seed 1: no change, hash "));
  EXPECT_THAT(part.lines,
              HasSubstr("  1 of the 1 faults never came: the run ended after 50.000 us\n"));
  EXPECT_THAT(part.row, testing::StartsWith("0.1,1,not_recovered,"));
  const auto point = nlohmann::json::parse(part.result)["points"][0];
  EXPECT_EQ(point["faults_never_came"], 1);
  EXPECT_EQ(point["recovered"], false);
}

constexpr const char* kWorms = R"([fabric]
model = "worms"
name = "torus:dims=3.3,hosts=2"
[traffic]
collective = "all-to-all-exchange"
bytes = 512
[measure]
interval_us = 10
limit_us = 100000
)";

TEST(RunPart, OfWormsSaysWhichFaultsCame) {
  const auto faults = [](double first, double second) {
    return std::string(kWorms) +
           fmt::format(
               "[[fault]]\nat_us = {}\nwhat = \"link-down\"\nwhere = \"sw-0-0:1\"\n"
               "[[fault]]\nat_us = {}\nwhat = \"link-up\"\nwhere = \"sw-0-0:1\"\n",
               first,
               second);
  };
  const Part none = run_one(kWorms);
  EXPECT_TRUE(none.sound) << none.lines;
  const Part late = run_one(faults(90'000, 99'000));
  EXPECT_FALSE(late.sound);
  EXPECT_THAT(late.lines, HasSubstr("  2 of the 2 faults never came: the run ended after "));
  const Part early = run_one(faults(0.01, 0.02));
  EXPECT_THAT(
      early.lines,
      testing::AllOf(HasSubstr("\n  0.010 us: link-down sw-0-0:1\n  0.020 us: link-up sw-0-0:1\n"),
                     testing::Not(HasSubstr("never came"))));
}

TEST(RunPart, ThatDeliversNothingIsNotSound) {
  std::string text = kBlink;
  text.erase(text.find("saturation"));
  EXPECT_FALSE(run_one(text).sound);
}

}  // namespace
}  // namespace smd::sim
