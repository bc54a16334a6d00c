// What a search for saturation leaves behind when its runs do not come to their end.
#include "sim-backend/campaign/make_part.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

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

Part search(std::uint32_t most_packets,
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
  const Part part = search(1'000'000);
  EXPECT_TRUE(part.sound);
  EXPECT_FALSE(part.interrupted);
  EXPECT_EQ(part.audit, "");
  const auto found = nlohmann::json::parse(part.result)["saturation"][0];
  EXPECT_TRUE(found["ended_early_at"].is_null());
  EXPECT_EQ(found["load"], 0.125);
  EXPECT_THAT(part.lines, testing::Not(HasSubstr("ended early")));
}

TEST(SaturationPart, OfARunThatWasFullSaysSo) {
  const Part part = search(200);
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
  const Part part = search(1'000'000, {.stop = [&asked] { return ++asked >= 3; }});
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
  const Part part = search(1'000'000, {}, kBlink);
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
  const Part part = search(1'000'000, {}, kIslands);
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

TEST(RunPart, ThatDeliversNothingIsNotSound) {
  std::string text = kBlink;
  text.erase(text.find("saturation"));
  EXPECT_FALSE(run_one(text).sound);
}

}  // namespace
}  // namespace smd::sim
