// LIDs of hosts that another manager has numbered, whatever the one who rules next wrote down in
// former times: while they are unique they stay.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "tests/support/cables.h"
#include "tests/support/managers.h"

namespace smd::test {
namespace managers_lids_test {

using namespace std::chrono_literals;

/// A ring of four switches with two hosts each. The first manager has host-00005 in its book, which
/// is away, and the second, which has no copy, numbers it from 50 on.
struct RenumberedHost : ::testing::Test {
  RenumberedHost() : all("torus:dims=4,hosts=2", {"host-00000", "host-00004"}) {}

  void SetUp() override {
    all[0].start(manager_settings(9));
    ASSERT_TRUE(all.settle()) << all.find_fault();
    old = lid();
    all.fabric.set_node(host, false);
    all.run_for(2s);
    Settings second = manager_settings(2);
    second.lids.min = Lid{50};
    all[1].start(second);
    ASSERT_TRUE(all.settle()) << all.find_fault();
    ASSERT_EQ(all[1].state(), SmState::Standby);
  }

  /// The second rules without the first.
  void let_second_number_it() {
    ASSERT_TRUE(all.run_until([&] { return all[1].state() == SmState::Master; }, 20s));
    all.run_for(2s);
    all.fabric.set_node(host, true);
    all.run_for(2s);
    ASSERT_TRUE(all.settle()) << all.find_fault();
    ASSERT_GE(lid(), Lid{50});
    ASSERT_NE(lid(), old);
  }

  /// The first rules, and all is at rest.
  void let_first_rule() {
    ASSERT_TRUE(all.run_until([&] { return all[0].state() == SmState::Master; }, 60s));
    ASSERT_TRUE(all.run_until([&] { return all.settled(); }, 60s)) << all.find_fault();
  }

  [[nodiscard]] Lid lid() const { return all.fabric.port_info(host, PortNum{1}).lid; }

  Managers all;
  std::uint32_t host = all.node("host-00005");
  Lid old;
};

TEST_F(RenumberedHost, KeepsItsLidWhenTwoSubnetsAreJoined) {
  const sim::FabricSpec& spec = all.fabric.spec();
  std::set<std::uint32_t> half;  // of the first manager
  for (const char* sw : {"host-00000", "host-00002"})
    half.insert(spec.nodes[all.node(sw)].ports[1].peer_node);
  std::vector<Cable> joint = cables_between_switches(spec);
  std::erase_if(joint, [&](const Cable& each) {
    return half.contains(each.node) ==
           half.contains(spec.nodes[each.node].ports[each.port.value()].peer_node);
  });
  ASSERT_EQ(joint.size(), 2u);
  for (const Cable& each : joint) all.fabric.set_link(each.node, each.port, false);
  ASSERT_NO_FATAL_FAILURE(let_second_number_it());
  ASSERT_EQ(all[0].state(), SmState::Master);
  const auto before = all.lids();
  for (const Cable& each : joint) all.fabric.set_link(each.node, each.port, true);
  ASSERT_TRUE(all.run_until([&] { return all[1].state() == SmState::Standby; }, 20s));
  ASSERT_NO_FATAL_FAILURE(let_first_rule());
  EXPECT_EQ(all.lids(), before);
}

TEST_F(RenumberedHost, KeepsItsLidWhenTheFirstIsBackBehindACableThatWasOut) {
  all.fabric.set_link(all[0].node, PortNum{1}, false);
  ASSERT_NO_FATAL_FAILURE(let_second_number_it());
  const auto before = all.lids();
  all[1].kill();
  all.fabric.set_link(all[0].node, PortNum{1}, true);
  ASSERT_NO_FATAL_FAILURE(let_first_rule());
  EXPECT_EQ(all.lids(), before);
}

TEST_F(RenumberedHost, KeepsItsLidWhenTheFirstStartsBehindACableThatWasOut) {
  all[0].kill();
  all.fabric.set_link(all[0].node, PortNum{1}, false);
  ASSERT_NO_FATAL_FAILURE(let_second_number_it());
  const auto before = all.lids();
  all[1].kill();
  all.fabric.set_link(all[0].node, PortNum{1}, true);
  all[0].start(manager_settings(9));
  ASSERT_NO_FATAL_FAILURE(let_first_rule());
  EXPECT_EQ(all.lids(), before);
}

}  // namespace managers_lids_test
}  // namespace smd::test
