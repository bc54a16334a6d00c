// Parts to one result: which are joined, which are refused, what is missing.
#include "sim-backend/campaign/join.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace smd::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const CampaignPlan kPlan{.loads = {0.5, 0.1}, .first_seed = 1, .seeds = 2, .saturation = false};

NamedPart part(std::size_t load, std::uint64_t seed) {
  const std::string id = std::to_string(load) + "," + std::to_string(seed);
  return {.file = id,
          .part = {.scenario = "0123456789abcdef",
                   .plan = kPlan,
                   .key = {.load = load, .seed = seed},
                   .result = R"({"fabric":{"name":"f"},"points":[{"id":")" + id +
                             R"("}],"saturation":[]})",
                   .row = "row " + id + "\n",
                   .series = "series " + id + "\n",
                   .periods = load == 0 ? "" : "stretch " + id + "\n",
                   .lines = "line " + id + "\n",
                   .plot = {.title = "t", .series = {{.name = "s", .points = {{1.0 / 3, 2}}}}}}};
}

TEST(Join, OrderIsTheScenariosWhateverCameFirst) {
  const auto joined = join_parts({part(1, 2), part(0, 2), part(1, 1), part(0, 1)});
  ASSERT_TRUE(joined);
  EXPECT_EQ(joined->lines, "line 0,1\nline 0,2\nline 1,1\nline 1,2\n");
  EXPECT_THAT(joined->points_csv, testing::EndsWith("row 0,1\nrow 0,2\nrow 1,1\nrow 1,2\n"));
  EXPECT_THAT(joined->points_csv, testing::StartsWith("load,seed,"));
  EXPECT_THAT(joined->series_csv, testing::StartsWith("load,seed,"));
  EXPECT_THAT(joined->periods_csv, testing::StartsWith("load,seed,"));
  EXPECT_THAT(joined->periods_csv, testing::EndsWith("\nstretch 1,1\nstretch 1,2\n"));
  const auto json = nlohmann::json::parse(joined->json);
  ASSERT_EQ(json["points"].size(), 4u);
  EXPECT_EQ(json["points"][3]["id"], "1,2");
  EXPECT_EQ(json["fabric"]["name"], "f");
  EXPECT_THAT(joined->missing, IsEmpty());
  EXPECT_FALSE(json["interrupted"]);
  EXPECT_TRUE(joined->sound);
}

TEST(Join, NamesWhatIsMissing) {
  const auto joined = join_parts({part(1, 2), part(0, 1)});
  ASSERT_TRUE(joined);
  EXPECT_THAT(joined->missing, ElementsAre("load 0.5 seed 2", "load 0.1 seed 1"));
  EXPECT_TRUE(nlohmann::json::parse(joined->json)["interrupted"]);
}

TEST(Join, WithoutChangesThereAreNoStretches) {
  EXPECT_EQ(join_parts({part(0, 1)})->periods_csv, "");
}

TEST(Join, PlansWithOtherSeedsAddUp) {
  NamedPart later = part(0, 9);
  later.part.plan.first_seed = 9;
  later.part.plan.seeds = 1;
  const auto joined = join_parts({part(0, 1), part(0, 2), part(1, 1), part(1, 2), later});
  ASSERT_TRUE(joined);
  EXPECT_THAT(joined->missing, ElementsAre("load 0.1 seed 9"));
  EXPECT_THAT(joined->lines, HasSubstr("line 0,9\n"));
}

TEST(Join, TheSameRunTwiceCountsOnce) {
  NamedPart again = part(0, 1);
  again.file = "elsewhere";
  again.part.plan.seeds = 1;
  const auto joined = join_parts({part(0, 1), again});
  ASSERT_TRUE(joined);
  EXPECT_EQ(joined->lines, "line 0,1\n");
}

TEST(Join, RefusesTwoThatDiffer) {
  NamedPart other = part(0, 1);
  other.file = "elsewhere";
  other.part.result = R"({"fabric":{},"points":[{"id":"other"}],"saturation":[]})";
  const auto joined = join_parts({part(0, 1), other});
  ASSERT_FALSE(joined);
  EXPECT_EQ(joined.error().size(), 1u);
  EXPECT_THAT(print_fault(joined.error()[0]), HasSubstr("elsewhere: differs from 0,1"));
}

TEST(Join, RefusesPartsOfOtherScenarios) {
  NamedPart other = part(1, 1);
  other.part.scenario = "fedcba9876543210";
  NamedPart loads = part(1, 2);
  loads.part.plan.loads = {0.5, 0.2};
  const auto joined = join_parts({part(0, 1), other, loads});
  ASSERT_FALSE(joined);
  ASSERT_EQ(joined.error().size(), 2u);
  EXPECT_THAT(print_fault(joined.error()[0]), HasSubstr("1,1: is of another scenario than 0,1"));
  EXPECT_THAT(print_fault(joined.error()[1]), HasSubstr("1,2: is of another scenario than 0,1"));
}

TEST(Join, RefusesPartsOfOtherVersions) {
  NamedPart first = part(0, 1), other = part(1, 1), unknown = part(1, 2);
  first.part.program = "0.2.0";
  other.part.program = "0.1.0";
  const auto joined = join_parts({first, other, unknown});
  ASSERT_FALSE(joined);
  ASSERT_EQ(joined.error().size(), 2u);
  EXPECT_THAT(print_fault(joined.error()[0]),
              HasSubstr("1,1: is of smsim 0.1.0, 0,1 of smsim 0.2.0; smsim run --resume"));
  EXPECT_THAT(print_fault(joined.error()[1]),
              HasSubstr("1,2: is of an earlier smsim, 0,1 of smsim 0.2.0; "));
}

TEST(Join, AnUnsoundRunMakesTheWholeUnsound) {
  NamedPart locked = part(0, 2);
  locked.part.sound = false;
  locked.part.audit = "one packet too many";
  const auto joined = join_parts({part(0, 1), locked});
  ASSERT_TRUE(joined);
  EXPECT_FALSE(joined->sound);
  EXPECT_THAT(joined->audits, ElementsAre("one packet too many"));
}

TEST(Part, ReadBackIsTheSame) {
  NamedPart one = part(1, 0xffffffffffffffff);
  one.part.program = "0.1.0";
  one.part.lines = "quotes \" and \n lines\n";
  one.part.audit = "x";
  const std::string text = print_part(one.part);
  const auto read = parse_part(text, "f");
  ASSERT_TRUE(read);
  EXPECT_EQ(print_part(*read), text);
  EXPECT_EQ(read->key, one.part.key);
  EXPECT_EQ(read->plan, kPlan);
  EXPECT_EQ(read->program, one.part.program);
  EXPECT_EQ(read->lines, one.part.lines);
  EXPECT_EQ(read->plot.series[0].points[0].first, 1.0 / 3);
}

TEST(Part, WhatIsNoneIsSaidWithItsFile) {
  const std::string whole = print_part(part(0, 1).part);
  for (std::size_t length = 0; length + 2 < whole.size(); length += 7) {
    const auto cut = parse_part(whole.substr(0, length), "runs/parts/x.json");
    ASSERT_FALSE(cut);
    EXPECT_THAT(print_fault(cut.error()[0]), HasSubstr("runs/parts/x.json: is no result of a run"));
  }
  NamedPart beyond = part(2, 1);
  EXPECT_FALSE(parse_part(print_part(beyond.part), "x"));
}

TEST(Part, AResultWithoutItsListsIsNone) {
  for (const char* result : {"{}",
                             "[]",
                             "7",
                             "null",
                             R"({"points":[]})",
                             R"({"saturation":[]})",
                             R"({"points":{},"saturation":[]})",
                             R"({"points":[],"saturation":null})"}) {
    NamedPart one = part(0, 1);
    one.part.result = result;
    const auto read = parse_part(print_part(one.part), "runs/parts/x.json");
    ASSERT_FALSE(read) << result;
    EXPECT_EQ(
        print_fault(read.error()[0]),
        "runs/parts/x.json: is no result of a run: its \"result\" is an object with the lists "
        "\"points\" and \"saturation\"; run it again");
  }
}

TEST(Digest, KnowsTextsApart) {
  const auto digest = [](std::vector<std::string_view> texts) {
    ScenarioDigest out;
    for (const std::string_view text : texts) {
      out.add(text);
      out.end_text();
    }
    return out.print();
  };
  EXPECT_EQ(digest({"a", "b"}), digest({"a", "b"}));
  EXPECT_NE(digest({"ab", ""}), digest({"a", "b"}));
  EXPECT_EQ(digest({}), "cbf29ce484222325");  // FNV-1a's offset
  ScenarioDigest a;
  a.add("a");
  EXPECT_EQ(a.print(), "af63dc4c8601ec8c");  // of the published test vectors
}

}  // namespace
}  // namespace smd::sim
