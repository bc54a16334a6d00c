// sm.non_minimal under the whole manager: LIDs by way of other places are brought up, proved, and
// survive losses, as `smd dry-run` tells it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/support/paths.h"
#include "tests/support/process.h"

namespace smd::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Finished dry_run(const std::string& engine,
                 unsigned lmc,
                 std::vector<std::string> words,
                 const std::string& ways = "valiant") {
  const std::string file =
      ::testing::TempDir() + "non_minimal-" + std::to_string(::getpid()) + ".toml";
  std::ofstream(file) << "[sm]\nengine = \"" << engine << "\"\nlmc = " << lmc
                      << "\nnon_minimal = \"" << ways << "\"\n";
  std::vector<std::string> argv{build_path("bin/smd"), "dry-run", "-c", file};
  argv.insert(argv.end(), words.begin(), words.end());
  const Finished done =
      run_process({.argv = std::move(argv), .env = {}, .cwd = {}}, std::chrono::minutes(2));
  std::filesystem::remove(file);
  return done;
}

TEST(NonMinimal, OfAHammingGraphIsProvedThroughLosses) {
  const Finished done =
      dry_run("hamming",
              2,
              {"--fabric", "hamming:dims=4.4,hosts=2", "--fail", "sw-0-0:4", "--fail", "sw-1-1"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("deadlock-free on 2 VL: yes"));
  EXPECT_THAT(done.out, HasSubstr("beyond the first are reached by way of other places"));
  EXPECT_THAT(done.out, HasSubstr("(certified, proved); up and verified"));
  EXPECT_THAT(done.out, Not(HasSubstr("next-hop-first")));
}

TEST(NonMinimal, OfADragonflyIsVerified) {
  const Finished done = dry_run("dragonfly", 3, {"--fabric", "dragonfly:a=5,c=2,h=2"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("deadlock-free on 3 VL: yes"));
  EXPECT_THAT(done.out, HasSubstr("beyond the first are reached by way of other places"));
  EXPECT_THAT(done.out, HasSubstr("up and verified"));
}

TEST(NonMinimal, AlmostMinimalPathsOfASlimFlyComeUpAndSurviveLosses) {
  const Finished done =
      dry_run("dfsssp",
              2,
              {"--fabric", "slim-fly:q=5", "--fail", "sw-0-0-0:5", "--fail", "sw-1-2-3"},
              "almost-minimal");
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("deadlock-free on 4 VL: yes"));
  EXPECT_THAT(done.out, HasSubstr("beyond the first have almost minimal paths"));
  EXPECT_THAT(done.out, HasSubstr("spread     where flows take all LIDs of a port alike"));
  EXPECT_THAT(done.out, HasSubstr("up and verified"));
  EXPECT_THAT(done.out, Not(HasSubstr("not verified")));
}

TEST(NonMinimal, IsSaidToHaveNoEffectWhereItHasNone) {
  EXPECT_THAT(dry_run("updn", 2, {"--fabric", "fat-tree:k=4"}).out,
              HasSubstr("sm.non_minimal: updn heeds it not, hamming and dragonfly do"));
  EXPECT_THAT(dry_run("hamming", 0, {"--fabric", "hamming:dims=4.4,hosts=2"}).out,
              HasSubstr("sm.non_minimal: every port has one LID"));
  EXPECT_THAT(dry_run("updn", 2, {"--fabric", "fat-tree:k=4"}, "almost-minimal").out,
              HasSubstr("sm.non_minimal: updn has no almost minimal paths, dfsssp does"));
}

}  // namespace
}  // namespace smd::test
