// The daemon is killed around an order of partitions, as a process: whatever the moment, the order
// is there whole or not at all afterwards.
#include <gtest/gtest.h>

#include <signal.h>
#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/files.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"
#include "tests/support/wait_until.h"

namespace smd::test {
namespace partition_orders_kill_test {

using nlohmann::json;

constexpr std::chrono::seconds kLimit{60};

/// smd on a fabric of its own, in processes that are killed, and smctl to ask it.
class Killed : public testing::Test {
 protected:
  Killed() {
    std::ofstream(folder() + "/p.conf") << "Site=0x11: ALL=full;\n";
    std::ofstream(config())
        << "[transport]\nkind = \"sim\"\nfabric = \"fat-tree:k=4,levels=2\"\n[sm]\nstate_dir = \""
        << folder() << "/state\"\n[admin]\nsocket = \"" << folder()
        << "/s\"\n[partitions]\nfile = \"" << folder() << "/p.conf\"\n";
  }

  [[nodiscard]] std::string folder() const { return folder_.string(); }

  [[nodiscard]] std::string config() const { return folder() + "/smd.toml"; }

  Finished smctl(std::vector<std::string> args) const {
    args.insert(args.begin(), {build_path("bin/smctl"), "--socket", folder() + "/s", "--json"});
    return run_process({.argv = std::move(args)}, kLimit);
  }

  std::unique_ptr<Process> start() const {
    auto process = std::make_unique<Process>(
        ProcessOptions{.argv = {build_path("bin/smd"), "run", "-c", config()}});
    EXPECT_TRUE(wait_until([this] { return smctl({"nodes"}).exit_code == 0; }, kLimit));
    return process;
  }

  /// The partitions that are there.
  std::set<std::string> list() const {
    std::set<std::string> out;
    const json answer = json::parse(smctl({"partition", "list"}).out, nullptr, false);
    if (!answer.is_object()) return out;
    for (const json& each : answer.at("partitions"))
      out.insert(each.at("partition").get<std::string>());
    return out;
  }

 private:
  Scratch scratch_;
  std::filesystem::path folder_ = scratch_.path();
};

TEST_F(Killed, AnOrderOfPartitionsIsThereWholeOrNotAndThereWhereItWasAnswered) {
  std::set<std::string> answered{"Default", "Site"};
  unsigned number = 0;
  unsigned cut = 0;  // orders that were on their way
  // From at once to a few times as long as an order takes, on a slow machine as well. The last one
  // has all the time it needs.
  constexpr int kAnswered = -1;
  std::vector<int> delays{0, 1, 2, 3, 4, 5, 6, 8, 10, 15, 25, 50, 100, 200, 400};
  // Where orders take their time, and few of these meet one, times in between.
  for (int more = 12; more < 400; more += 8) delays.push_back(more);
  delays.push_back(kAnswered);
  constexpr std::size_t kAlways = 15;
  for (std::size_t round = 0; round < delays.size(); ++round) {
    const int delay_ms = delays[round];
    if (round >= kAlways && cut >= 2 && delay_ms != kAnswered) continue;
    const auto daemon = start();
    ASSERT_TRUE(daemon->is_running()) << daemon->err();
    std::set<std::string> there = list();
    for (const std::string& each : answered) EXPECT_TRUE(there.contains(each)) << each;
    for (const std::string& each : there) {
      if (answered.contains(each)) continue;
      EXPECT_EQ(each, "P" + std::to_string(number)) << "nobody asked for it just now";
      const json shown = json::parse(smctl({"partition", "show", each}).out, nullptr, false);
      EXPECT_EQ(shown.value("members", json::array()).size(), 2u) << each;
      EXPECT_EQ(shown.value("groups", json::array()).size(), 1u) << each;
    }
    answered = std::move(there);
    std::thread killer;
    if (delay_ms != kAnswered) {
      killer = std::thread([&daemon, delay_ms] {
        std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
        ::kill(daemon->pid(), SIGKILL);
      });
    }
    const std::string name = "P" + std::to_string(++number);
    const Finished done = smctl({"partition",
                                 "create",
                                 name,
                                 std::to_string(100 + number),
                                 "host-00001",
                                 "0xabc=limited",
                                 "--ipoib"});
    if (delay_ms == kAnswered) {
      ASSERT_EQ(done.exit_code, 0) << done.err;
      ::kill(daemon->pid(), SIGKILL);
    } else {
      killer.join();
    }
    if (done.exit_code == 0) answered.insert(name);
    // It had a connection, and no answer came.
    cut += done.err.find("closed the connection") != std::string::npos ||
                   done.err.find("Connection reset") != std::string::npos
               ? 1
               : 0;
    static_cast<void>(daemon->wait(kLimit));
  }
  EXPECT_GE(cut, 2u) << "too few kills met an order on its way";
  const auto daemon = start();
  EXPECT_EQ(list(), answered);
}

}  // namespace partition_orders_kill_test
}  // namespace smd::test
