// Lanes of packets that came by entries which are replaced already.
#include "smd/plan/lane_mixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smd/routing/switch_rows.h"
#include "tests/unit/plan/table_text.h"

namespace smd::test {
namespace {

//   S1 - S2 - S5    Packets from S1 to H3 went by S2 and S5; the new entry of S1 leads by S4. Those
//   |         |     under way still wait at S2 for S5, on the lane of an SL that only S1 uses.
//   S4 ------ S3 - H3
TEST(LaneMixture, CountsPacketsThatCameByAnEntryWhichIsReplaced) {
  const HandMade made{"S1-S2 S2-S5 S5-S3 S1-S4 S4-S3 S3-H3",
                      "S1>H3=S2 S2>H3=S5 S5>H3=S3 S4>H3=S3 S3>H3=H3",
                      "S1>H3=S4"};
  const Fabric& fabric = *made.fabric;
  const LaneMaps rows = build_switch_rows(fabric, LaneMaps{}, modulo_row(8));
  LaneTask lanes{.told = {fabric.switch_count(), Lid{9}},
                 .wanted_sls = {fabric.switch_count(), Lid{9}},
                 .held = rows,
                 .wanted = rows,
                 .unknown = {}};
  lanes.told.add(switch_named(fabric, "S1"), Lid{3}, 2);
  TransitionTask task = made.task();
  task.lanes = &lanes;
  const PlanScene scene{task};
  const std::vector<EntryChange> changes = find_changes(task);
  ASSERT_EQ(changes.size(), 1u);
  LaneMixture mixture{task, scene, changes};
  mixture.set_stage(0, Stage::Fresh);
  std::vector<LaneTurnGraph::Edge> edges;
  EXPECT_TRUE(mixture.collect(3, edges));
  const auto lane = [&](const char* from, const char* to) {
    return lane_at(port_towards(fabric, from, to), 2, mixture.lanes()).value();
  };
  EXPECT_THAT(
      edges,
      testing::UnorderedElementsAre(LaneTurnGraph::Edge{lane("S2", "S5"), lane("S5", "S3")},
                                    LaneTurnGraph::Edge{lane("S1", "S4"), lane("S4", "S3")}));
}

}  // namespace
}  // namespace smd::test
