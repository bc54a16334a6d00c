// Lanes of packets that came by entries which are replaced already.
#include "smd/plan/make/vl_transient_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smd/routing/sl_to_vl.h"
#include "tests/unit/plan/table_text.h"

namespace smd::test {
namespace {

//   S1 - S2 - S5    Packets from S1 to H3 went by S2 and S5; the new entry of S1 leads by S4. Those
//   |         |     under way still wait at S2 for S5, on the VL of an SL that only S1 uses.
//   S4 ------ S3 - H3
TEST(VlTransientGraph, CountsPacketsThatCameByAnEntryWhichIsReplaced) {
  const HandMade made{"S1-S2 S2-S5 S5-S3 S1-S4 S4-S3 S3-H3",
                      "S1>H3=S2 S2>H3=S5 S5>H3=S3 S4>H3=S3 S3>H3=H3",
                      "S1>H3=S4"};
  const Fabric& fabric = *made.fabric;
  const SlToVlMaps rows = build_switch_rows(fabric, SlToVlMaps{}, modulo_row(8));
  SlSets advertised{fabric.switch_count(), Lid{9}};
  advertised.add(switch_named(fabric, "S1"), Lid{3}, 2);
  SlToVlTask vls{.advertised = advertised,
                 .wanted_sls = SlSets{fabric.switch_count(), Lid{9}},
                 .held = rows,
                 .wanted = rows,
                 .unknown = {}};
  TransitionTask task = made.task();
  task.sl_to_vl = &vls;
  const InitialState initial{task};
  const std::vector<EntryChange> changes = find_changes(task);
  ASSERT_EQ(changes.size(), 1u);
  VlTransientGraph transient{task, initial, changes};
  transient.set_stage(0, EntryStage::Settled);
  std::vector<VlTurnGraph::Edge> edges;
  EXPECT_TRUE(transient.collect(3, edges));
  const auto vl = [&](const char* from, const char* to) {
    return vl_channel_at(port_towards(fabric, from, to), 2, transient.vls()).value();
  };
  EXPECT_THAT(edges,
              testing::UnorderedElementsAre(VlTurnGraph::Edge{vl("S2", "S5"), vl("S5", "S3")},
                                            VlTurnGraph::Edge{vl("S1", "S4"), vl("S4", "S3")}));
}

}  // namespace
}  // namespace smd::test
