// `smd dry-run` says what trees for one sender are worth, where they are asked for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/paths.h"
#include "tests/support/process.h"

namespace smd::test {
namespace one_sender_dry_run_test {

using ::testing::HasSubstr;
using ::testing::Not;

Finished dry_run(const std::string& trees,
                 const std::string& engine,
                 const std::string& fabric,
                 const std::vector<std::string>& words = {}) {
  const std::string file =
      ::testing::TempDir() + "one_sender-" + std::to_string(::getpid()) + ".toml";
  std::ofstream(file) << "[sm]\nengine = \"" << engine << "\"\nmulticast_trees = \"" << trees
                      << "\"\n";
  std::vector<std::string> argv{build_path("bin/smd"), "dry-run", "-c", file, "--fabric", fabric};
  argv.insert(argv.end(), words.begin(), words.end());
  const Finished done =
      run_process({.argv = std::move(argv), .env = {}, .cwd = {}}, std::chrono::minutes(2));
  std::filesystem::remove(file);
  return done;
}

TEST(OneSenderDryRun, MeasuresAGroupToWhichTheManagersPortAloneSends) {
  // In a tree for all it is 4.9 over all senders, along one path that meets every label (1 + 2 + …
  // + 35) / 35.
  for (const auto& [trees, engine, fabric, hops] :
       {std::tuple("by-sender", "updn", "torus:dims=6.6", 4.0),
        std::tuple("multi-path", "hamiltonian", "torus:dims=6.6,mesh=1", 18.0)}) {
    SCOPED_TRACE(trees);
    const Finished text = dry_run(trees, engine, fabric);
    EXPECT_EQ(text.exit_code, 0) << text.err;
    EXPECT_THAT(text.out, HasSubstr("multicast from the manager's port alone to all hosts: "));
    const Finished done = dry_run(trees, engine, fabric, {"--json"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    const auto json = nlohmann::json::parse(done.out);
    const auto& one = json.at("multicast_one_sender");
    // To a host at every other switch no less than as many channels.
    EXPECT_EQ(one.at("mean_channels"), 35.0);
    EXPECT_GE(one.at("depth"), one.at("shortest_depth"));
    EXPECT_LT(one.at("mean_hops").get<double>(), hops);
  }
}

TEST(OneSenderDryRun, SaysNothingWhereTreesAreForAll) {
  for (const auto& [trees, engine, fabric] : {std::tuple("up-down", "updn", "torus:dims=4.4"),
                                              std::tuple("multi-path", "updn", "fat-tree:k=4")}) {
    const Finished done = dry_run(trees, engine, fabric, {"--json"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_FALSE(nlohmann::json::parse(done.out).contains("multicast_one_sender"));
    EXPECT_THAT(dry_run(trees, engine, fabric).out, Not(HasSubstr("port alone")));
  }
}

}  // namespace one_sender_dry_run_test
}  // namespace smd::test
