// fabric.path_sets: what is refused and where, whose routes LIDs then have, and what packets gain.
#include <fmt/core.h>
#include <gmock/gmock.h>

#include "sim-backend/scenario/run.h"
#include "tests/support/scenario_text.h"

namespace smd::sim::test {
namespace path_sets_scenario_test {

constexpr const char* kTorus = "[fabric]\nname = \"torus:dims=4.4,hosts=4\"\n";
constexpr const char* kSets = "path_sets = \"updn-shortest\"\n";

TEST(PathSetsScenario, WhatCannotBeIsRefusedWithItsLine) {
  const std::string sets = std::string(kTorus) + kSets;  // line 3
  EXPECT_EQ(fault_of_text(sets + "lmc = 1\nvls = 8\nengine = \"itb-vl\"\n"), "");
  EXPECT_EQ(fault_of_text(sets + "lmc = 7\nvls = 8\nengine = \"dfsssp\"\n"), "");
  EXPECT_EQ(fault_of_text(std::string(kTorus) + "path_sets = \"off\"\n"), "");
  for (const char* wrong : {"\"updn\"", "[\"updn\", \"shortest\"]", "true", "\"\""}) {
    EXPECT_EQ(fault_of_text(fmt::format("{}path_sets = {}\n", kTorus, wrong)),
              "s.toml:3: fabric.path_sets must be \"off\" or \"updn-shortest\"")
        << wrong;
  }
  EXPECT_EQ(fault_of_text(sets + "vls = 8\nengine = \"itb-vl\"\n"),
            "s.toml:3: fabric.path_sets is about LIDs beyond the first of a host: fabric.lmc = 1 "
            "to 7");
  EXPECT_EQ(fault_of_text(sets + "lmc = 1\nvls = 8\nengine = \"ftree\"\n"),
            "s.toml:2: ftree: makes no shortest paths on VLs of their own (sm.path_sets); dfsssp, "
            "itb-vl and lash do");
  EXPECT_EQ(fault_of_text(sets + "lmc = 1\nvls = 1\nengine = \"itb-vl\"\n"),
            "s.toml:2: itb-vl: two sets of paths (sm.path_sets) need 2 data VLs, and there is 1");
  EXPECT_EQ(fault_of_text(sets + "lmc = 1\n[[fault]]\nat_us = 100\nwhat = \"switch-down\"\n"
                                 "where = \"sw-1-1\"\n"),
            "s.toml:3: fabric.path_sets is of a network without [[fault]]; leave it out");
  EXPECT_EQ(fault_of_text(sets + "model = \"worms\"\n"),
            "s.toml:3: fabric.path_sets is of fabric.model = \"packets\"; leave it out");
}

TEST(PathSetsScenario, TheFirstLidIsOfSlZeroAndTheOthersAreNot) {
  const auto prepared =
      prepare_text(std::string(kTorus) + kSets + "lmc = 1\nvls = 8\n" + "engine = \"itb-vl\"\n");
  ASSERT_TRUE(prepared.has_value());
  EXPECT_EQ(prepared->fabric().routing.engine, "updn+itb-vl");
  const auto sl = prepared->path_sl();
  ASSERT_TRUE(sl);
  for (HostNum from = 0; from < 64; ++from) {
    for (HostNum to = 0; to < 64; ++to) {
      if (from / 4 == to / 4) continue;  // of one switch
      EXPECT_EQ(sl(from, to, 0), 0) << from << " to " << to;
      EXPECT_GE(sl(from, to, 1), 1) << from << " to " << to;
    }
  }
}

struct RoutesCase {
  const char* engine;
  bool sets;
  const char* lid;
  double stable;     // a load that they carry
  double saturated;  // and one that they do not
};

class PathSetsAtLoad : public testing::TestWithParam<RoutesCase> {};

// Between the highest stable loads that docs/engines.md has: 0.22 of updn, 0.28 of both sets, 0.39
// of itb-vl. Packets to first LIDs alone see nothing but the first set.
TEST_P(PathSetsAtLoad, CarryWhatTheirRoutesDo) {
  const RoutesCase& with = GetParam();
  const auto prepared = prepare_text(fmt::format(R"({}engine = "{}"
{}lmc = 1
vls = 8
[traffic]
lid = "{}"
{})",
                                                 kTorus,
                                                 with.engine,
                                                 with.sets ? kSets : "",
                                                 with.lid,
                                                 kShortRun));
  ASSERT_TRUE(prepared.has_value()) << print_fault(prepared.error().at(0));
  expect_carried(*prepared, with.stable, with.saturated);
}

INSTANTIATE_TEST_SUITE_P(Torus,
                         PathSetsAtLoad,
                         testing::Values(RoutesCase{"updn", false, "any", 0.18, 0.25},
                                         RoutesCase{"itb-vl", true, "first", 0.18, 0.25},
                                         RoutesCase{"itb-vl", true, "any", 0.25, 0.34},
                                         RoutesCase{"itb-vl", false, "any", 0.34, 0.45}));

}  // namespace path_sets_scenario_test
}  // namespace smd::sim::test
