// Managers of one subnet whose M_Keys are the same, or others.
#include "tests/support/managers.h"

#include <gtest/gtest.h>

namespace smd::test {
namespace managers_keys_test {

using namespace std::chrono_literals;

constexpr const char* kTree = "fat-tree:k=4,levels=2";
const std::vector<std::string> kTwo{"host-00000", "host-00007"};

/// A standby needs so long to see that its master is gone, with default options.
constexpr Duration kNoticed = 7s;

TEST(Managers, AnMKeyThatEveryManagerKnowsIsNoHindrance) {
  Managers all(kTree, kTwo);
  const auto settings = [](unsigned priority) {
    Settings out = manager_settings(priority);
    out.ports.m_key = out.election.m_key = MKey{0xabc};
    out.ports.m_key_protect = 2;
    return out;
  };
  all[0].start(settings(9));
  ASSERT_TRUE(all.settle());
  all[1].start(settings(2));
  ASSERT_TRUE(all.settle()) << all.find_fault();
  all[0].kill();
  ASSERT_TRUE(all.run_until([&] { return all[1].state() == SmState::Master; }, kNoticed));
  ASSERT_TRUE(all.settle()) << all.find_fault();
}

// With another M_Key it learns nothing of the subnet, and stays in Discovering.
TEST(Managers, AHigherOneThatCannotLookLeavesTheSubnetToTheNext) {
  Managers all(kTree, {"host-00000", "host-00007", "host-00003"});
  const auto settings = [](unsigned priority, std::uint64_t key) {
    Settings out = manager_settings(priority);
    out.ports.m_key = out.election.m_key = MKey{key};
    out.ports.m_key_protect = 2;
    return out;
  };
  all[0].start(settings(5, 0xabc));
  ASSERT_TRUE(all.settle());
  all[1].start(settings(2, 0xabc));
  ASSERT_TRUE(all.settle()) << all.find_fault();
  all[2].start(settings(9, 0xdef));
  all.run_for(30s);
  ASSERT_EQ(all[2].state(), SmState::Discovering);
  ASSERT_EQ(all[0].state(), SmState::Master);
  all[0].kill();
  const auto rules = [&] {
    return all[1].state() == SmState::Master && all[1].manager->last_cycle() != nullptr &&
           all[1].manager->last_cycle()->up();
  };
  ASSERT_TRUE(all.run_until(rules, kNoticed + 2min + kNoticed));
  all.run_for(60s);
  EXPECT_TRUE(rules()) << "and it stays so";
  EXPECT_EQ(all[2].state(), SmState::Discovering);
  EXPECT_EQ(all[2].sets, 0u);
}

TEST(Managers, AnUnknownMKeyIsWaitedOutAndNamed) {
  Managers all(kTree, kTwo);
  Settings keyed = manager_settings(9);
  keyed.ports.m_key = keyed.election.m_key = MKey{0xabc};
  keyed.ports.m_key_protect = 1;
  keyed.ports.m_key_lease_s = 30;
  all[0].start(keyed);
  ASSERT_TRUE(all.settle());
  all[0].kill();
  all[1].start(manager_settings(2));
  ASSERT_TRUE(all.run_until([&] { return !all[1].reports.empty(); }, 60s));
  const CycleReport& first = all[1].reports.front();
  EXPECT_GT(first.foreign_keys.ports, 0u);
  EXPECT_EQ(first.foreign_keys.longest_lease_s, 30);
  EXPECT_EQ(first.foreign_keys.forever, 0u);
  EXPECT_FALSE(all[1].manager->alarms().empty());
  ASSERT_TRUE(all.settle(300s)) << all.find_fault();
  EXPECT_EQ(all[1].reports.back().foreign_keys.ports, 0u);
}

}  // namespace managers_keys_test
}  // namespace smd::test
