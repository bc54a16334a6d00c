// What changed between two snapshots.
#include "smd/fabric/delta.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fabric_text.h"

namespace smd {
namespace {

using test::fabric_from;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

PortRef at(std::uint64_t guid, unsigned port) {
  return {Guid{guid}, PortNum{static_cast<std::uint8_t>(port)}};
}

TEST(Delta, OfOneFabricIsEmpty) {
  const Fabric fabric = fabric_from("S1-S2 S1-S2 S2-S2 H1-S1");
  EXPECT_TRUE(diff_fabrics(fabric, fabric).empty());
}

// Numbers differ, GUIDs do not.
TEST(Delta, DoesNotDependOnNumbering) {
  const Fabric one = fabric_from("S1:1-S2:1 S2:2-S3:1 H1:1-S1:2");
  const Fabric two = fabric_from("S3:1-S2:2 H1:1-S1:2 S2:1-S1:1");
  EXPECT_TRUE(diff_fabrics(one, two).empty());
}

TEST(Delta, ALinkThatFailedIsDownAtBothEnds) {
  const Fabric before = fabric_from("S1:1-S2:1 S1:2-S2:2");
  const Fabric now = fabric_from("S1:1-S2:1");
  const Delta delta = diff_fabrics(before, now);
  EXPECT_THAT(delta.ports_down, ElementsAre(at(0x1001, 2), at(0x1002, 2)));
  EXPECT_THAT(delta.ports_up, IsEmpty());
  const Delta back = diff_fabrics(now, before);
  EXPECT_THAT(back.ports_up, ElementsAre(at(0x1001, 2), at(0x1002, 2)));
  EXPECT_THAT(back.ports_down, IsEmpty());
}

TEST(Delta, ANodeThatIsGoneTakesItsPortsDown) {
  const Fabric before = fabric_from("S1:1-S2:1 S2:2-S3:1 H2:1-S2:3");
  const Fabric now = fabric_from("S1/2 S3/2");
  const Delta delta = diff_fabrics(before, now);
  EXPECT_THAT(delta.nodes_gone, ElementsAre(Guid{0x1002}, Guid{0x20200}));
  EXPECT_THAT(delta.ports_down,
              ElementsAre(at(0x1001, 1),
                          at(0x1002, 1),
                          at(0x1002, 2),
                          at(0x1002, 3),
                          at(0x1003, 1),
                          at(0x20200, 1)));
  EXPECT_THAT(delta.nodes_new, IsEmpty());
  EXPECT_THAT(diff_fabrics(now, before).nodes_new, ElementsAre(Guid{0x1002}, Guid{0x20200}));
}

TEST(Delta, AMovedCableIsDownAndUp) {
  const Delta delta =
      diff_fabrics(fabric_from("S1:1-S2:1 S1:2-S3:1 S3/4"), fabric_from("S1:1-S2:1 S1:2-S3:4"));
  EXPECT_THAT(delta.ports_down, ElementsAre(at(0x1001, 2), at(0x1003, 1)));
  EXPECT_THAT(delta.ports_up, ElementsAre(at(0x1001, 2), at(0x1003, 4)));
}

TEST(Delta, AnotherNodeAtTheSamePortIsAChange) {
  const Delta delta = diff_fabrics(fabric_from("S1:1-H1:1"), fabric_from("S1:1-H2:1"));
  EXPECT_THAT(delta.ports_down, ElementsAre(at(0x1001, 1), at(0x20100, 1)));
  EXPECT_THAT(delta.ports_up, ElementsAre(at(0x1001, 1), at(0x20200, 1)));
}

TEST(Delta, OfSnapshotsThatShareTheirNodesLinksAreComparedByNumber) {
  const Fabric before = fabric_from("S1:1-S2:1 S1:2-S3:1 S2:2-S3:2");
  Fabric now = before;
  const PortIdx one = test::port(before, "S1:2");
  const PortIdx other = before.peer[one];
  now.peer[one] = now.peer[other] = kNone<PortIdx>;
  ASSERT_TRUE(now.node_guid.shares(before.node_guid));
  const Delta lost = diff_fabrics(before, now);
  EXPECT_THAT(lost.ports_down, ElementsAre(at(0x1001, 2), at(0x1003, 1)));
  EXPECT_THAT(lost.ports_up, IsEmpty());
  EXPECT_THAT(diff_fabrics(now, before).ports_up, ElementsAre(at(0x1001, 2), at(0x1003, 1)));
  EXPECT_TRUE(diff_fabrics(before, Fabric{before}).empty());
}

TEST(Delta, AnEmptiedTableIsARestart) {
  Fabric before = fabric_from("S1-S2");
  Fabric now = before;
  for (SwitchInfo& info : before.switch_info) info.linear_fdb_top = 9;
  now.switch_info = before.switch_info;
  now.switch_info[test::switch_named(now, "S2")].linear_fdb_top = 0;
  EXPECT_THAT(diff_fabrics(before, now).restarted, ElementsAre(Guid{0x1002}));
  EXPECT_THAT(diff_fabrics(now, before).restarted, IsEmpty());
  now.switch_info[test::switch_named(now, "S2")].linear_fdb_top = 8;
  EXPECT_THAT(diff_fabrics(before, now).restarted, IsEmpty());
}

TEST(Delta, OtherSizesAreARestart) {
  const Fabric before = fabric_from("S1:1-S2:1 S2/8");
  EXPECT_THAT(diff_fabrics(before, fabric_from("S1:1-S2:1 S2/16")).restarted,
              ElementsAre(Guid{0x1002}));
  for (std::uint16_t SwitchInfo::*cap :
       {&SwitchInfo::linear_fdb_cap, &SwitchInfo::random_fdb_cap}) {
    Fabric now = before;
    now.switch_info[test::switch_named(now, "S1")].*cap = 77;
    EXPECT_THAT(diff_fabrics(before, now).restarted, ElementsAre(Guid{0x1001}));
  }
}

}  // namespace
}  // namespace smd
