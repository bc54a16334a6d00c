// Turns counted anew, and entry by entry.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <iterator>

#include "smd/routing/verify/channel_dependencies.h"
#include "tests/unit/routing/support/paths.h"
#include "tests/unit/routing/support/random_fabric.h"

namespace smd::test {
namespace {

TurnCounts counted(const Fabric& fabric,
                   const ForwardingTables& tables,
                   const std::vector<std::uint16_t>& lids) {
  TurnCounts turns{fabric};
  turns.add(fabric, tables, lids);
  return turns;
}

TEST(TurnCounts, ATurnIsTwoEntriesOfOneLid) {
  // H1 - S1 - S2 - S3 - H2: S2's port 1 leads to S1, port 2 to S3.
  const Fabric fabric = fabric_from("S1-S2 S2-S3 S1-H1 S3-H2");
  const LidMap lids = lids_in_order(fabric);
  const ForwardingTables tables = compute("updn", fabric, lids).lft;
  const TurnCounts turns = counted(fabric, tables, find_owned_lids(lids, tables));
  const NodeIdx middle = node(fabric, "S2");
  const PortIdx from_s1 = fabric.port_of(middle, PortNum{1});
  const PortIdx from_s3 = fabric.port_of(middle, PortNum{2});
  EXPECT_EQ(turns.count(from_s1, PortNum{2}), 2u) << "to S3 and to H2";
  EXPECT_EQ(turns.count(from_s1, PortNum{0}), 1u) << "to S2 itself";
  EXPECT_EQ(turns.count(from_s1, PortNum{1}), 0u);
  EXPECT_EQ(turns.count(from_s3, PortNum{1}), 2u);
  EXPECT_EQ(turns.outs(from_s1)[0], 0b101u);
  EXPECT_EQ(turns.row(from_s1).size(), 3u);
  const PortIdx host_port = fabric.peer[end_port(fabric, "H1")];
  EXPECT_EQ(turns.outs(host_port)[0], 0u) << "no switch sends from there";
}

TEST(TurnCounts, LidsThatNobodyHasCountWhenTheyWereAdded) {
  const Fabric fabric = fabric_from("S1-S2 S2-S3 S1-H1 S3-H2");
  const LidMap lids = lids_in_order(fabric);
  ForwardingTables tables = compute("updn", fabric, lids).lft;
  const Lid nobodys{60};
  ASSERT_EQ(lids.owner_of(nobodys), kNone<PortIdx>);
  tables.set_route(switch_named(fabric, "S1"), nobodys, PortNum{1});
  tables.set_route(switch_named(fabric, "S2"), nobodys, PortNum{1});
  const PortIdx from_s1 = fabric.port_of(node(fabric, "S2"), PortNum{1});
  TurnCounts turns = counted(fabric, tables, find_owned_lids(lids, tables));
  EXPECT_EQ(turns.count(from_s1, PortNum{1}), 0u);
  const std::vector<std::uint16_t> beside{nobodys.value()};
  turns.add(fabric, tables, beside);
  EXPECT_EQ(turns.count(from_s1, PortNum{1}), 1u) << "back to where it came from";
}

TEST(TurnCounts, BitsFollowTheCountsAndACopyKeepsItsOwn) {
  const Fabric fabric = fabric_from("S1-S2 S2-S3 S1-H1 S3-H2");
  const LidMap lids = lids_in_order(fabric);
  const ForwardingTables tables = compute("updn", fabric, lids).lft;
  const TurnCounts turns = counted(fabric, tables, find_owned_lids(lids, tables));
  const PortIdx from_s1 = fabric.port_of(node(fabric, "S2"), PortNum{1});
  TurnCounts copy = turns;
  EXPECT_EQ(copy, turns);
  copy.take_away(from_s1, PortNum{2});
  EXPECT_EQ(copy.outs(from_s1)[0], 0b101u) << "one of two LIDs is left";
  copy.take_away(from_s1, PortNum{2});
  EXPECT_EQ(copy.outs(from_s1)[0], 0b001u);
  copy.add(from_s1, PortNum{1});
  EXPECT_EQ(copy.outs(from_s1)[0], 0b011u);
  EXPECT_FALSE(copy == turns);
  EXPECT_EQ(turns.outs(from_s1)[0], 0b101u) << "what was copied from";
  EXPECT_EQ(turns.count(from_s1, PortNum{2}), 2u);
  TurnCounts other{fabric};
  other.set_switch(switch_named(fabric, "S2"), copy, switch_named(fabric, "S2"));
  other.take_away(from_s1, PortNum{1});
  EXPECT_EQ(copy.outs(from_s1)[0], 0b011u) << "whose switch was taken over";
}

// Entries of any kind: loops, ports that there are not, back over the cable to itself.
RC_GTEST_PROP(TurnCounts, TurnsThatAnyLidTakesAreThoseOfTheGraph, ()) {
  const Fabric fabric = fabric_from(*random_fabric_text());
  const LidMap lids = lids_in_order(fabric);
  ForwardingTables tables{fabric.switch_count(), Lid{lids.top}};
  const std::vector<std::uint16_t> owned = find_owned_lids(lids, tables);
  RC_PRE(!owned.empty());
  const auto any = [](std::size_t below) { return *rc::gen::inRange<std::size_t>(0, below); };
  for (int change = 0; change < 60; ++change) {
    const SwitchIdx sw{static_cast<std::uint32_t>(any(fabric.switch_count()))};
    const unsigned ports = fabric.num_ports(fabric.switch_node[sw]);
    const std::size_t port = any(ports + 3);
    tables.set_route(sw,
                     Lid{owned[any(owned.size())]},
                     port > ports + 1 ? kNoRoute : PortNum{static_cast<std::uint8_t>(port)});
  }
  const TurnCounts turns = counted(fabric, tables, owned);

  ChannelGraph graph{fabric, 1}, same{fabric, 1};
  add_table_turns(fabric, lids, tables, graph);
  for (const PortIdx port : fabric.peer.indices()) {
    if (fabric.is_switch(fabric.node_of[port]) && fabric.peer[port] != kNone<PortIdx> &&
        fabric.is_switch(fabric.node_of[fabric.peer[port]]))
      same.add_all(port, turns.outs(port));
  }
  RC_ASSERT(graph == same);
}

}  // namespace
}  // namespace smd::test
