// When a master takes itself to have stood still: not for times that changed under it, but for
// those in which its machine was suspended. What a standby that stands still costs the others.
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

/// One of two that stands still, and shows IsSM all the while.
struct HungStandby : ::testing::Test {
  void SetUp() override {
    all[0].start(manager_settings(5));
    ASSERT_TRUE(all.settle()) << all.find_fault();
    all[1].start(manager_settings(2));
    ASSERT_TRUE(all.settle()) << all.find_fault();
    all[1].pause();
  }

  /// From the loss of a cable until the first entry is written; more than `limit` for none.
  Duration answer(unsigned port, Duration limit) {
    const std::uint64_t before = all[0].table_sets;
    const TimePoint cut = all.runtime.now();
    all.fabric.set_link(all.node("sw-0-0"), PortNum{static_cast<std::uint8_t>(port)}, false);
    (void)all.run_until([&] { return all[0].table_sets > before; }, limit);
    const Duration took = all.runtime.now() - cut;
    (void)all.run_until([&] { return all[0].manager->at_rest(); }, 10s);
    all.fabric.set_link(all.node("sw-0-0"), PortNum{static_cast<std::uint8_t>(port)}, true);
    all.run_for(15s);
    return took;
  }

  Managers all{kTree, {"host-00000", "host-00007"}};
};

TEST_F(HungStandby, DelaysNoMoreThanOneChange) {
  static_cast<void>(answer(3, 5s));
  EXPECT_LE(answer(4, 5s), 100ms);
  EXPECT_LE(answer(3, 5s), 100ms);
  EXPECT_EQ(all[0].state(), SmState::Master);
}

/// By the master's own question: the other one asks nothing yet.
TEST_F(HungStandby, IsHeededAsSoonAsItAnswersAgain) {
  static_cast<void>(answer(3, 5s));
  ASSERT_LE(answer(4, 5s), 100ms);
  const TimePoint awake = all.runtime.now();
  all[1].manager->adopt(manager_settings(9));
  all[1].loses = [&](const Smp& smp) {
    return all.runtime.now() < awake + 2s &&
           ((smp.method == Method::Get && is_about(smp, AttributeId::SmInfo)) ||
            smp.method == Method::Trap);
  };
  all[1].resume();
  all.run_for(10ms);
  all.fabric.set_link(all.node("sw-0-0"), PortNum{3}, false);
  EXPECT_TRUE(all.run_until([&] { return all[1].state() == SmState::Master; }, 1500ms));
}

}  // namespace stalled_manager_test
}  // namespace smd::test
