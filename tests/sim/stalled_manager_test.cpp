// When a master takes itself to have stood still: not for times that changed under it, but for
// those in which its machine was suspended.
#include <gtest/gtest.h>

#include "smd/base/log.h"
#include "tests/support/managers.h"

namespace smd::test {
namespace stalled_manager_test {

using namespace std::chrono_literals;

constexpr const char* kTree = "fat-tree:k=4,levels=2";

/// A master at rest that is polled at this interval.
class StalledManager : public ::testing::Test {
 protected:
  void rule(Duration poll_interval) {
    all[0].start(polled(poll_interval));
    ASSERT_TRUE(all.settle()) << all.find_fault();
    ASSERT_EQ(all[0].state(), SmState::Master);
    if (const auto lines = log::entries_after(0); !lines.empty()) seen_ = lines.back().number;
  }

  static Settings polled(Duration interval) {
    Settings settings = manager_settings(9);
    settings.election.poll_interval = interval;
    return settings;
  }

  /// Since it ruled.
  [[nodiscard]] unsigned count(std::string_view event) const {
    unsigned found = 0;
    for (const log::Entry& each : log::entries_after(seen_)) found += each.event == event ? 1 : 0;
    return found;
  }

  Managers all{kTree, {"host-00000"}};

 private:
  std::uint64_t seen_ = 0;
};

TEST_F(StalledManager, AShorterIntervalIsNoReasonToStopRuling) {
  rule(10s);
  for (const Duration interval : {1s, 10s, 1s}) {
    all.run_for(4900ms);  // the longer one beats every 5 s
    all[0].manager->adopt(polled(interval));
    EXPECT_TRUE(all[0].manager->election().may_write());
  }
  all.run_for(10s);
  EXPECT_EQ(all[0].state(), SmState::Master);
  EXPECT_EQ(count("sm.stalled"), 0u);
  EXPECT_EQ(count("sm.state"), 0u);
}

TEST_F(StalledManager, AShorterIntervalExcusesNobodyWhoStoodStillBefore) {
  rule(2s);
  all[0].pause();
  all.run_for(20s);
  all[0].manager->adopt(polled(1s));
  EXPECT_FALSE(all[0].manager->election().may_write());
  all[0].resume();
  all.run_for(10s);
  EXPECT_EQ(count("sm.stalled"), 1u);
}

TEST_F(StalledManager, AMachineThatWasSuspendedLooksBeforeItWrites) {
  rule(1s);
  all[0].runtime->suspended = 1min;
  EXPECT_FALSE(all[0].manager->election().may_write());
  all.run_for(10s);
  EXPECT_EQ(count("sm.stalled"), 1u);
  ASSERT_TRUE(all.settle()) << all.find_fault();
  EXPECT_EQ(all[0].state(), SmState::Master);
}

TEST_F(StalledManager, AShortSuspendCostsNothing) {
  rule(1s);
  all[0].runtime->suspended = 2s;
  EXPECT_TRUE(all[0].manager->election().may_write());
  all.run_for(10s);
  EXPECT_EQ(count("sm.stalled"), 0u);
}

}  // namespace stalled_manager_test
}  // namespace smd::test
