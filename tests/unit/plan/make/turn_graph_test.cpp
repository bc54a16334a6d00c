#include "smd/plan/make/turn_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smd/base/rng.h"
#include "smd/plan/make/transient_graph.h"
#include "tests/unit/plan/hand_made.h"

namespace smd::test {
namespace {

using Turns = std::vector<std::pair<PortIdx, PortIdx>>;

Turns turns_of(const TurnGraph& graph) {
  Turns turns;
  graph.for_each_turn([&](PortIdx in, PortIdx out) { turns.emplace_back(in, out); });
  return turns;
}

bool respects_order(const TurnGraph& graph) {
  bool respecting = true;
  graph.for_each_turn(
      [&](PortIdx in, PortIdx out) { respecting = respecting && graph.respects_order(in, out); });
  return respecting;
}

/// Every pair of cabled ports of every switch, in random order.
Turns shuffled_turns(const Fabric& fabric, Rng& rng) {
  Turns all;
  const TurnGraph graph{fabric};
  for (const NodeIdx node : fabric.switch_node) {
    for (const PortIdx in : fabric.external_ports(node)) {
      for (const PortIdx out : fabric.external_ports(node)) {
        if (graph.is_channel(in) && graph.is_channel(out)) all.emplace_back(in, out);
      }
    }
  }
  for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[rng.below(i)]);
  return all;
}

TEST(TurnGraph, InsertingKeepsTheOrderAndRefusesExactlyWhatClosesACycle) {
  const Fabric fabric = fabric_from(
      "S1-S2 S2-S3 S3-S1 S3-S4 S4-S5 S5-S1 S5-S2 S4-S1 S4-S1 S2:60-S2:60 S3-S6 S6-S5 S1-H1");
  Rng rng{7};
  for (int round = 0; round < 50; ++round) {
    TurnGraph graph{fabric};
    ASSERT_TRUE(graph.sort());
    for (const auto& [in, out] : shuffled_turns(fabric, rng)) {
      TurnGraph copy = graph;
      copy.add(in, out);
      const bool free = copy.sort();
      const Turns before = turns_of(graph);
      ASSERT_EQ(graph.insert(in, out), free);
      ASSERT_TRUE(respects_order(graph));
      ASSERT_EQ(turns_of(graph), free ? turns_of(copy) : before);
    }
  }
}

TEST(TurnGraph, StruckTurnsAreNeverThere) {
  const Fabric fabric = fabric_from("S1-S2 S2-S3");
  const PortIdx in = port(fabric, "S2:1"), out = port(fabric, "S2:2");
  TurnGraph graph{fabric};
  graph.add(in, out);
  graph.forbid(in, out);
  graph.forbid_u_turns();
  graph.add(in, out);
  graph.add(out, out);
  EXPECT_TRUE(graph.sort());
  EXPECT_TRUE(graph.insert(in, out));
  EXPECT_THAT(turns_of(graph), testing::IsEmpty());
}

TEST(TurnGraph, AnOrderFromOutsideMustRise) {
  const Fabric fabric = fabric_from("S1-S2 S2-S3");
  const PortIdx in = port(fabric, "S2:1"), out = port(fabric, "S2:2");
  TurnGraph graph{fabric};
  graph.add(in, out);
  ChannelOrder order(fabric.port_count(), 5);
  EXPECT_FALSE(graph.sort_by(order));
  order[out] = 6;
  EXPECT_TRUE(graph.sort_by(order));
  EXPECT_TRUE(graph.respects_order(in, out));
}

TEST(TransientGraph, AnEntryThatDoesNotFitLeavesNoTrace) {
  const HandMade made = loop_of_two();
  const TransitionTask task = made.task();
  const InitialState initial{task};
  TransientGraph transient{task, initial, find_changes(task)};
  transient.set_stages(EntryStage::Pending);
  TurnGraph graph{*made.fabric};
  transient.mark(graph, true);
  ASSERT_TRUE(graph.sort());
  ASSERT_TRUE(transient.try_now(graph, 0));
  const Turns before = turns_of(graph);
  EXPECT_FALSE(transient.try_now(graph, 1));
  EXPECT_EQ(turns_of(graph), before);
  EXPECT_EQ(transient.stage(1), EntryStage::Pending);
}

/// A chain that stands in the wrong order: what closes it to a circle has to look at all of it.
TEST(VlTurnGraph, WhatIsLookedAtIsSpentAndNothingIsInsertedOnceAllIs) {
  constexpr std::uint32_t kLast = 50;
  VlTurnGraph graph{kLast + 1};
  for (std::uint32_t at = 0; at < kLast; ++at) graph.add({at, at + 1});
  ASSERT_TRUE(graph.sort());
  PlanBudget budget{1000};
  EXPECT_FALSE(graph.insert({kLast, 0}, budget)) << "a circle";
  EXPECT_LE(budget.left(), 1000 - kLast);
  EXPECT_TRUE(graph.insert({0, kLast}, budget));
  budget.spend(budget.left());
  EXPECT_TRUE(budget.is_spent());
  EXPECT_FALSE(graph.insert({0, 7}, budget)) << "though it closes nothing";
  EXPECT_TRUE(graph.insert({0, 1}, budget)) << "it is there";
}

}  // namespace
}  // namespace smd::test
