#include "plugins/opensm/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace smd::opensm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

Options read(std::string_view text) {
  auto options = parse_options(text);
  EXPECT_TRUE(options) << text << ": " << (options ? "" : print_fault(options.error().front()));
  return options ? *options : Options{};
}

std::string complaint(std::string_view text) {
  const auto options = parse_options(text);
  if (options) return "accepted";
  return print_fault(options.error().front());
}

TEST(OpensmOptions, NothingIsTheDefaults) {
  EXPECT_EQ(read(""), Options{});
  EXPECT_EQ(read(" \t; ;"), Options{});
}

TEST(OpensmOptions, EveryKeyHasItsMeaning) {
  EXPECT_THAT(read("roots=0x0002c90300000001,0xA").roots,
              ElementsAre(Guid{0x0002c90300000001}, Guid{10}));
  EXPECT_EQ(read("vls=4").vls, 4u);
  EXPECT_EQ(read("seed=18446744073709551615").seed, 18446744073709551615u);
  EXPECT_EQ(read("orientation=dfs").orientation_search, OrientationSearch::DepthFirst);
  EXPECT_EQ(read("orientation=bfs").orientation_search, OrientationSearch::BreadthFirst);
  EXPECT_EQ(read("lane_cut=dfs").lane_cut, VlChangeRule::DepthFirst);
  EXPECT_EQ(read("lane_cut=cycles").lane_cut, VlChangeRule::MinimalCycles);
  EXPECT_EQ(read("lane_cut=updown").lane_cut, VlChangeRule::UpDown);
  EXPECT_EQ(read("auto_for=uniform").auto_for, TrafficGoal::Uniform);
  EXPECT_EQ(read("auto_for=permutations").auto_for, TrafficGoal::Permutations);
  EXPECT_EQ(read("auto_for=both").auto_for, TrafficGoal::Both);
  EXPECT_EQ(read("gateways=uniform").gateways, GatewayChoice::Uniform);
  EXPECT_EQ(read("gateways=least").gateways, GatewayChoice::LeastLoaded);
  EXPECT_EQ(read("gateways=own").gateways, GatewayChoice::OwnFirst);
  EXPECT_THAT(read("weights=0x20:0,0x10:4").weights,
              ElementsAre(Pair(Guid{0x10}, 4u), Pair(Guid{0x20}, 0u)))
      << "sorted by GUID, as engines want it";
  EXPECT_THAT(read("no_data=0x10,ufm-*?HCA-1").no_data, ElementsAre("0x10", "ufm-*?HCA-1"));
  EXPECT_TRUE(read("shorten_detours=yes").shorten_detours);
  EXPECT_TRUE(read("relieve=yes").rebalance);
  EXPECT_FALSE(read("keep=no").keep);
  EXPECT_TRUE(read("any_sl=yes").any_sl);
}

TEST(OpensmOptions, WhatOpensmMustHaveCutIsRefused) {
  // 1022 bytes of a line, the keyword and a blank among them, with room for the line's end.
  const std::size_t room = 1021 - std::string_view("event_plugin_options ").size();
  std::string roots = "roots=0x1";
  while (roots.size() + 20 <= room) roots += ",0x000000000000000a";
  roots.append(room - roots.size(), ' ');
  EXPECT_EQ(read(roots).roots.size(), 1 + (room - 9) / 19);
  EXPECT_THAT(complaint(roots + ";"), HasSubstr("OpenSM cuts lines after 1022 bytes"));
}

TEST(OpensmOptions, BlanksAndSemicolonsSeparateWords) {
  const Options all = read("vls=2;seed=7  keep=no;\torientation=dfs;");
  EXPECT_EQ(all.vls, 2u);
  EXPECT_EQ(all.seed, 7u);
  EXPECT_FALSE(all.keep);
  EXPECT_EQ(all.orientation_search, OrientationSearch::DepthFirst);
}

TEST(OpensmOptions, AnUnknownWordIsNamedWithThoseThatThereAre) {
  EXPECT_THAT(complaint("rots=0x1"), HasSubstr("rots=0x1"));
  EXPECT_THAT(complaint("rots=0x1"),
              HasSubstr("no such option; there are any_sl, auto_for, gateways, keep"));
  EXPECT_THAT(complaint("/var/log/events.json"), HasSubstr("no such option"));
  EXPECT_THAT(complaint("vls"), HasSubstr("KEY=VALUE"));
  EXPECT_THAT(complaint("=4"), HasSubstr("no such option"));
}

struct Wrong {
  const char* word;
  const char* right;
};

class WrongValues : public testing::TestWithParam<Wrong> {};

TEST_P(WrongValues, AreNamedWithWhatWouldBeRight) {
  EXPECT_THAT(complaint(GetParam().word), HasSubstr(GetParam().word));
  EXPECT_THAT(complaint(GetParam().word), HasSubstr(GetParam().right));
}

INSTANTIATE_TEST_SUITE_P(OpensmOptions,
                         WrongValues,
                         testing::Values(Wrong{"vls=0", "1 to 15"},
                                         Wrong{"vls=16", "1 to 15"},
                                         Wrong{"vls=4x", "1 to 15"},
                                         Wrong{"vls=", "1 to 15"},
                                         Wrong{"seed=-1", "64 bits"},
                                         Wrong{"seed=18446744073709551616", "64 bits"},
                                         Wrong{"orientation=up", "bfs or dfs"},
                                         Wrong{"lane_cut=none", "updown, dfs or cycles"},
                                         Wrong{"gateways=any", "own, uniform or least"},
                                         Wrong{"roots=", "GUIDs of switches"},
                                         Wrong{"roots=1", "GUIDs of switches"},
                                         Wrong{"roots=0x0", "GUIDs of switches"},
                                         Wrong{"roots=0x1,", "GUIDs of switches"},
                                         Wrong{"roots=0x10000000000000000", "GUIDs of switches"},
                                         Wrong{"weights=0x1", "weights"},
                                         Wrong{"weights=0x1:", "weights"},
                                         Wrong{"weights=0x1:-1", "weights"},
                                         Wrong{"weights=0x1:2,0x1:3", "one weight"},
                                         Wrong{"no_data=", "GUIDs of adapters"},
                                         Wrong{"no_data=ufm,,io", "GUIDs of adapters"},
                                         Wrong{"keep=true", "yes or no"},
                                         Wrong{"any_sl=1", "yes or no"}));

TEST(OpensmOptions, EveryFaultIsTold) {
  const auto options = parse_options("vls=99 seed=1 keep=maybe colour=red");
  ASSERT_FALSE(options);
  ASSERT_EQ(options.error().size(), 3u);
  EXPECT_EQ(options.error()[0].where, "vls=99");
  EXPECT_EQ(options.error()[1].where, "keep=maybe");
  EXPECT_EQ(options.error()[2].where, "colour=red");
}

TEST(OpensmOptions, AKeyStandsOnce) {
  EXPECT_THAT(complaint("vls=2 seed=1 vls=2"), HasSubstr("twice"));
}

TEST(OpensmOptions, PrintedOptionsReadBackTheSame) {
  EXPECT_EQ(print_options({}), "");
  for (const char* text : {"any_sl=yes auto_for=uniform gateways=least keep=no lane_cut=dfs "
                           "no_data=0x9,io-* orientation=dfs "
                           "relieve=yes roots=0x1,0x2 seed=7 "
                           "shorten_detours=yes vls=3 weights=0x5:0,0x6:9",
                           "gateways=uniform lane_cut=cycles"}) {
    const Options options = read(text);
    EXPECT_EQ(read(print_options(options)), options) << text;
    EXPECT_NE(options, Options{});
  }
}

}  // namespace
}  // namespace smd::opensm
