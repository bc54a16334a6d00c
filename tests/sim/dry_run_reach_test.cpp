// `smd dry-run` says what the manager does not reach: at bring-up, and once something has failed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/files.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"

namespace smd::test {
namespace dry_run_reach_test {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

Finished smd(std::vector<std::string> args) {
  args.insert(args.begin(), build_path("bin/smd"));
  return run_process({.argv = std::move(args)}, std::chrono::seconds(60));
}

TEST(DryRunReach, CuttingTheManagerOffIsNotUp) {
  const Finished done = smd({"dry-run", "--fabric", "torus:dims=3.3", "--fail", "sw-0-0"});
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_THAT(done.out, HasSubstr("the manager's own port has no link"));
}

TEST(DryRunReach, ARingLongerThanDirectedRoutesIsNotUp) {
  const Finished done = smd({"dry-run", "--fabric", "torus:dims=300"});
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_THAT(done.out, HasSubstr("125 switches, "));
  EXPECT_THAT(done.out, HasSubstr("  too far    0x"));
  EXPECT_THAT(done.out, HasSubstr("NOT UP: 4 ports, of them 0x"));
  EXPECT_THAT(done.out, HasSubstr("beyond the 63 hops that a directed route may have"));
  EXPECT_THAT(done.out, testing::Not(HasSubstr("up and verified")));
}

TEST(DryRunReach, AFailureThatMovesNodesOutOfReachIsNotUp) {
  const Finished done =
      smd({"dry-run", "--fabric", "torus:dims=100", "--fail", "sw-0:1", "--json"});
  EXPECT_EQ(done.exit_code, 1);
  const json out = json::parse(done.out);
  EXPECT_EQ(out["ports_out_of_reach"], 0);
  EXPECT_EQ(out["up"], true);
  EXPECT_EQ(out["changes"][0]["ports_out_of_reach"], 2) << "a host and the next switch";
}

TEST(DryRunReach, ABringUpThatMissesMostOfTheFabricIsNotAllRight) {
  // A hop loses three SMPs in ten: of questions two hops away a third is never answered.
  const std::vector<std::string> words = {
      "dry-run", "--fabric", "fat-tree:k=8,levels=2", "--drop", "0.3", "--seed"};
  unsigned up = 0;
  for (int seed = 1; seed <= 8; ++seed) {
    std::vector<std::string> args = words;
    args.push_back(std::to_string(seed));
    const Finished text = smd(args);
    EXPECT_EQ(text.exit_code, 1) << seed;
    args.emplace_back("--json");
    json out = json::parse(smd(args).out);
    if (out["error"].is_string()) continue;
    const std::size_t found =
        out["fabric"]["switches"].get<std::size_t>() + out["fabric"]["cas"].get<std::size_t>();
    EXPECT_EQ(found + out["not_found"].size(), 12u + 32u) << seed;
    EXPECT_THAT(text.out,
                HasSubstr("NOT ALL FOUND: cables that are up lead to " +
                          std::to_string(out["not_found"].size()) + " more node"));
    up += out["up"].get<bool>() ? 1 : 0;
  }
  EXPECT_GT(up, 0u) << "what was found came up, and said so alone";
}

// Shortest paths on rings of five close credit loops, and are not written.
TEST(DryRunReach, RoutesThatAreRefusedLeaveNobodyUnfoundAndNoLoads) {
  const std::vector<std::string> words = {
      "dry-run", "--fabric", "torus:dims=5.5", "--engine", "minhop"};
  const Finished text = smd(words);
  EXPECT_EQ(text.exit_code, 1);
  EXPECT_THAT(text.out, HasSubstr("minhop: unverified tables: credit loop"));
  EXPECT_THAT(text.out, HasSubstr("25 switches, "));
  EXPECT_THAT(text.out, HasSubstr("deadlock-free on 1 VL: NO"));
  EXPECT_THAT(text.out, Not(HasSubstr("NOT ALL FOUND")));
  EXPECT_THAT(text.out, Not(HasSubstr("  load ")));
  std::vector<std::string> args = words;
  args.emplace_back("--json");
  const json out = json::parse(smd(args).out);
  EXPECT_TRUE(out["error"].is_string());
  EXPECT_EQ(out["fabric"]["switches"], 25);
  EXPECT_EQ(out["deadlock"]["acyclic"], false);
  EXPECT_EQ(out["not_found"], json::array());
  EXPECT_TRUE(out["load"].is_null()) << out["load"];

  // Nor a failure after which they are refused as well.
  args.insert(args.end(), {"--fail", "host-00007"});
  const json lost = json::parse(smd(args).out);
  ASSERT_EQ(lost["changes"].size(), 1u);
  EXPECT_EQ(lost["changes"][0]["not_found"], json::array());
}

TEST(DryRunReach, WhatAChangeCutsOffIsNamed) {
  const std::vector<std::string> words = {
      "dry-run", "--fabric", "fat-tree:k=4,levels=2", "--fail", "sw-0-1", "--fail", "host-00007"};
  const Finished text = smd(words);
  EXPECT_EQ(text.exit_code, 0) << text.err;
  std::vector<std::string> args = words;
  args.emplace_back("--json");
  const json out = json::parse(smd(args).out);
  EXPECT_EQ(out["not_found"], json::array());
  ASSERT_EQ(out["changes"].size(), 2u);
  const json leaf = out["changes"][0]["adapters_cut_off"];
  ASSERT_EQ(leaf.size(), 2u) << leaf;
  EXPECT_THAT(text.out,
              HasSubstr("  cut off    2 adapters: " + leaf[0].get<std::string>() + ", " +
                        leaf[1].get<std::string>() + "\n"));
  EXPECT_EQ(out["changes"][1]["adapters_cut_off"], json::array()) << "it failed itself";
}

TEST(DryRunReach, AnAggregationNodeIsAPartOfItsSwitch) {
  const std::string fabric = "fat-tree:k=4,levels=2,aggregation=1";
  const json leaf =
      json::parse(smd({"dry-run", "--fabric", fabric, "--fail", "sw-0-1", "--json"}).out);
  EXPECT_EQ(leaf["changes"][0]["adapters_cut_off"].size(), 2u) << leaf["changes"][0];
  const Finished spine = smd({"dry-run", "--fabric", fabric, "--fail", "sw-1-0"});
  EXPECT_EQ(spine.exit_code, 0) << spine.err;
  EXPECT_THAT(spine.out, Not(HasSubstr("cut off")));
}

}  // namespace dry_run_reach_test
}  // namespace smd::test
