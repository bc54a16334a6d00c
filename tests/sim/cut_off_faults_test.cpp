// `smd dry-run --fail` of what earlier failures have cut off: nobody can notice it, and it is no
// fault of the manager.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/paths.h"
#include "tests/support/process.h"

namespace smd::test {
namespace cut_off_faults_test {

using ::testing::HasSubstr;
using ::testing::Not;

// A mesh in a row: whoever loses the second switch loses all behind it.
Finished dry_run(std::vector<std::string> words) {
  std::vector<std::string> argv{
      build_path("bin/smd"), "dry-run", "--fabric", "torus:dims=4,hosts=1,mesh=1"};
  argv.insert(argv.end(), words.begin(), words.end());
  return run_process({.argv = std::move(argv), .env = {}, .cwd = {}}, std::chrono::minutes(2));
}

const std::vector<std::string> kFailures{"--fail", "sw-1", "--fail", "sw-2:1", "--fail", "sw-3"};

TEST(CutOffFaults, AreSaidToBeSoAndLeaveTheExitCode) {
  const Finished done = dry_run(kFailures);
  EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
  EXPECT_THAT(done.out, HasSubstr("sw-2:1 down: it was cut off already\n"));
  EXPECT_THAT(done.out, HasSubstr("sw-3 down: it was cut off already\n"));
  EXPECT_THAT(done.out, Not(HasSubstr("FAILED")));
}

TEST(CutOffFaults, AreMarkedInJson) {
  std::vector<std::string> words = kFailures;
  words.insert(words.end(), {"--json"});
  const Finished done = dry_run(words);
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const auto changes = nlohmann::json::parse(done.out).at("changes");
  ASSERT_EQ(changes.size(), 3u);
  EXPECT_FALSE(changes[0].contains("cut_off_already"));
  EXPECT_TRUE(changes[0].contains("smps"));
  EXPECT_EQ(changes[1],
            (nlohmann::json{{"what", "sw-2:1"}, {"kind", "down"}, {"cut_off_already", true}}));
  EXPECT_EQ(changes[2].at("what"), "sw-3");
}

}  // namespace cut_off_faults_test
}  // namespace smd::test
