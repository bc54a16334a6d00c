// A master term ends while hosts join: what was begun is neither finished beside the next master
// nor remembered as done.
#include <gtest/gtest.h>

#include <utility>

#include "tests/sim/succession.h"
#include "tests/support/flood.h"

namespace smd::test {
namespace {

struct ReignEnd : Succession {
  /// What switches do with what one of `members` sends to the group. Empty: it is right.
  [[nodiscard]] std::string find_fault(std::uint64_t group,
                                       const std::vector<std::size_t>& members) {
    const Fabric& seen = first.manager().in_force()->fabric();
    const Group* known = first.manager().multicast().groups().find(mgid(group));
    if (known == nullptr) return "there is no such group";
    std::vector<std::pair<PortIdx, bool>> ports;
    for (const PortIdx port : seen.peer.indices()) {
      for (const std::size_t host : members) {
        if (seen.is_end_port(port) && seen.port_guid[port] == gid(host).guid)
          ports.emplace_back(port, true);
      }
    }
    if (ports.size() != members.size()) return "hosts are missing";
    const std::size_t at = known->mlid.value() - 0xc000u;
    const auto copies = [&](SwitchIdx sw, PortNum port) {
      const Guid guid = seen.node_guid[seen.switch_node[sw]];
      for (std::uint32_t n = 0; n < fabric.spec().nodes.size(); ++n) {
        if (fabric.spec().nodes[n].guid != guid) continue;
        const auto& table = fabric.node_state(n).mft[port.value() / 16];
        return at < table.size() && (table[at] >> port.value() % 16 & 1) != 0;
      }
      return false;
    };
    return find_misdelivery(seen, copies, ports);
  }

  /// The second comes back above the first; hosts leave and join group 1 until they are told that
  /// the first has handed over, `offset` after the start of a round of four.
  void hand_over_under_joins(Duration offset) {
    second.kill();
    second.start(settings_of(12), "second", "first");
    run_for(offset);
    patience = 50us;
    for (unsigned n = 0; first.state() == SmState::Master && n < 1'000'000; ++n)
      n % 2 == 0 ? leave(n / 2 % hosts.size(), 1) : join(n / 2 % hosts.size(), 1);
    patience = 20ms;
  }

  void first_rules_again() {
    second.kill();
    ASSERT_TRUE(run_until([&] { return first.state() == SmState::Master; }));
    ASSERT_TRUE(settle(first));
  }
};

TEST_F(ReignEnd, NothingIsAskedOfSwitchesAfterIt) {
  populate();
  hand_over_under_joins(0ms);
  ASSERT_EQ(first.state(), SmState::Standby);
  unsigned asked = 0;
  first.on_multicast = [&](const Smp&) { ++asked; };
  run_for(30s);
  EXPECT_EQ(first.state(), SmState::Standby);
  EXPECT_EQ(asked, 0u) << "a standby looks at its master alone";
}

TEST_F(ReignEnd, GroupsAreThoseOfTheManagerBetween) {
  populate();
  hand_over_under_joins(0ms);
  ASSERT_TRUE(settle(second));
  join(0, 9);
  join(3, 9);
  run_for(1s);
  const std::vector<Group> left = second.records().groups;
  first_rules_again();
  EXPECT_EQ(first.records().groups, left);
  EXPECT_EQ(find_fault(9, {0, 3}), "");
}

TEST_F(ReignEnd, GroupsAreItsOwnWhereNobodyToldIt) {
  populate();
  net.freeze(true);
  hand_over_under_joins(0ms);
  const std::vector<Group> own = first.records().groups;
  ASSERT_GE(own.size(), 3u);
  ASSERT_TRUE(settle(second));
  first_rules_again();
  EXPECT_EQ(first.records().groups, own);
}

// What the first once wrote, or was about to, is wanted again after the second changed it.
TEST_F(ReignEnd, EntriesAreThoseThatSwitchesHold) {
  populate();
  for (int round = 0; round < 3; ++round) {
    hand_over_under_joins(round * 130us);
    ASSERT_TRUE(settle(second));
    run_for(1s);
    for (std::size_t host = 0; host < hosts.size(); ++host) leave(host, 1);
    run_for(1s);
    first_rules_again();
    for (std::size_t host = 0; host < hosts.size(); ++host) join(host, 1);
    ASSERT_TRUE(settle(first));
    EXPECT_EQ(find_fault(1, {0, 1, 2, 3}), "") << round;
    second.start(settings_of(2), "second", "first");
    ASSERT_TRUE(run_until([&] { return second.state() == SmState::Standby; }));
  }
}

}  // namespace
}  // namespace smd::test
