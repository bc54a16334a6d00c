// Plans beside switches that answer nothing but may still forward.
#include "smd/manager/plan_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smd/manager/route_job.h"
#include "smd/routing/engine.h"
#include "tests/support/fabric_text.h"

namespace smd {
namespace {

using test::fabric_from;
using test::node;
using test::port;
using test::switch_named;

using Subnet = std::shared_ptr<const ActiveSubnet>;

Subnet make_subnet(const SweepReport& sweep, const Shared<LidMap>& lids, RoutingTables routing) {
  return std::make_shared<const ActiveSubnet>(
      ActiveSubnet{.sweep = sweep, .lids = lids, .routing = std::move(routing), .rows = {}});
}

Subnet in_force_on(Fabric fabric,
                   const char* engine = "updn",
                   const RoutingRequest& request = {},
                   std::uint8_t lmc = 0) {
  const LidMap lids = test::lids_in_order(fabric, lmc);
  RoutingTables routing = *find_engine(engine)->compute(fabric, lids, request);
  return make_subnet(
      {.fabric = std::make_shared<const Fabric>(std::move(fabric))}, lids, std::move(routing));
}

ConfirmedTables held_by(const ActiveSubnet& before) {
  ConfirmedTables held;
  for (const SwitchIdx sw : before.fabric().switch_node.indices()) {
    LftBlock block;
    std::ranges::copy(before.routing->lft.block(sw, 0), block.begin());
    held.confirm(before.fabric().node_guid[before.fabric().switch_node[sw]], 0, block);
  }
  return held;
}

/// A ring of four with a host each; S3 went silent, its two cables are Active.
struct Silent {
  static Fabric find_before() {
    return fabric_from(
        "S1:1-S2:1 S2:2-S3:1 S3:2-S4:1 S4:2-S1:2 H1:1-S1:3 H2:1-S2:3 H4:1-S4:3 H3:1-S3:3");
  }

  static Fabric find_now() {
    Fabric fabric = fabric_from("S1:1-S2:1 S4:2-S1:2 H1:1-S1:3 H2:1-S2:3 H4:1-S4:3 S2/3");
    for (const char* end : {"S2:2", "S4:1"})
      fabric.port_info[port(fabric, end)].port_state = static_cast<std::uint8_t>(PortState::Active);
    return fabric;
  }

  Subnet before = in_force_on(find_before());
  Subnet now = in_force_on(find_now());
};

TEST(UnresponsiveSwitches, IsWhatIsInForceWhenNothingLingers) {
  Silent net;
  EXPECT_EQ(add_unresponsive(net.before, *net.before), net.before);
  EXPECT_EQ(add_unresponsive(net.before, *net.now), net.before);
}

TEST(UnresponsiveSwitches, ASilentSwitchKeepsItsRowAndItsPlaceInTheOrientation) {
  Silent net;
  const auto extended = add_unresponsive(net.now, *net.before);
  ASSERT_NE(extended, net.now);
  const SwitchIdx then = switch_named(net.before->fabric(), "S3");
  const SwitchIdx here = switch_named(extended->fabric(), "S3");
  EXPECT_EQ(here.value(), net.now->fabric().switch_count());
  EXPECT_TRUE(std::ranges::equal(extended->routing->lft.block(here, 0),
                                 net.before->routing->lft.block(then, 0)));
  EXPECT_EQ(extended->routing->orientation.rank[here], net.before->routing->orientation.rank[then]);
  EXPECT_EQ(extended->lids->base.size(), extended->fabric().port_count());
}

// Its far end may be Active: then the first packet from there makes this one Active as well.
TEST(UnresponsiveSwitches, AreThereBehindPortsThatAreArmedOnly) {
  Silent net;
  Fabric armed = Silent::find_now();
  for (const char* end : {"S2:2", "S4:1"})
    armed.port_info[port(armed, end)].port_state = static_cast<std::uint8_t>(PortState::Armed);
  const Subnet now = in_force_on(std::move(armed));
  const Subnet extended = add_unresponsive(now, *net.before);
  ASSERT_NE(extended, now);
  EXPECT_EQ(extended->fabric().switch_count(), now->fabric().switch_count() + 1);
}

// Such routes keep directions for the next computation and have no ranks.
TEST(UnresponsiveSwitches, DirectionsThatRoutesDoNotObeyAreKeptByGuidAlone) {
  struct Row {
    const char* engine;
    RoutingRequest request;
    std::uint8_t lmc;
  };

  for (const auto& [engine, request, lmc] :
       {Row{"itb-vl", {.max_vls = 8}, 0},
        Row{"itb-vl", {.options = {.path_sets = true}, .max_vls = 8}, 1}}) {
    SCOPED_TRACE(testing::Message() << engine << ", LMC " << int{lmc});
    const Subnet before = in_force_on(Silent::find_before(), engine, request, lmc);
    const Subnet now = in_force_on(Silent::find_now(), engine, request, lmc);
    auto wanted = now->routing->orientation.by_guid;
    ASSERT_EQ(wanted.size(), 3u);
    ASSERT_EQ(now->routing->orientation.rank.size(), 0u);
    const SwitchIdx silent = switch_named(before->fabric(), "S3");
    const Guid guid = before->fabric().node_guid[before->fabric().switch_node[silent]];
    const auto& known = before->routing->orientation.by_guid;
    wanted.push_back(*std::ranges::find(known, guid, &std::pair<Guid, std::uint32_t>::first));
    std::ranges::sort(wanted);

    const auto extended = add_unresponsive(now, *before);
    ASSERT_NE(extended, now);
    EXPECT_EQ(extended->routing->orientation.by_guid, wanted);
    EXPECT_EQ(extended->routing->orientation.rank.size(), 0u);
  }
}

TEST(UnresponsiveSwitches, WhatLingersIsWantedToDoWhatItDoes) {
  Silent net;
  const auto extended = add_unresponsive(net.now, *net.before);
  const SwitchIdx silent = switch_named(extended->fabric(), "S3");
  ConfirmedTables confirmed = held_by(*net.before);
  const Guid guid = extended->fabric().node_guid[extended->fabric().switch_node[silent]];
  LftBlock other;
  other.fill(PortNum{2});
  confirmed.confirm(guid, 0, other);
  HeldTables held =
      collect_held_tables(extended->fabric(), extended->routing->lft.top(), confirmed);
  const Subnet left = freeze_unresponsive(silent, *extended, held);
  EXPECT_THAT(left->routing->lft.block(silent, 0), testing::Each(PortNum{2}));
  EXPECT_TRUE(held.unknown.empty());
}

UnresponsiveJob job_of(const Silent& net, const Subnet& extended) {
  const ConfirmedTables confirmed = held_by(*net.before);
  UnresponsiveJob job{.job = {.goal = extended}, .without = {.goal = net.now}};
  for (PlanJob* each : {&job.job, &job.without})
    each->held =
        collect_held_tables(each->goal->fabric(), each->goal->routing->lft.top(), confirmed);
  job.job.goal =
      freeze_unresponsive(SwitchIdx{static_cast<std::uint32_t>(net.now->fabric().switch_count())},
                          *extended,
                          job.job.held);
  return job;
}

TEST(UnresponsiveSwitches, APlanIsProvedWithTheSilentSwitchAndWritesNothingThere) {
  Silent net;
  const TransitionPlan plan = compute_plan(job_of(net, add_unresponsive(net.now, *net.before)));
  EXPECT_FALSE(plan.phases.empty());
  EXPECT_TRUE(plan.certified());
  EXPECT_FALSE(reaches_beyond(net.now->fabric(), plan));
  EXPECT_EQ(plan.phases.front().certificate.size(), net.now->fabric().port_count() + 4);
}

// Whoever answers nothing takes no SL-to-VL entries either.
TEST(UnresponsiveSwitches, SlsDiscardedThereAreBeyondReach) {
  Silent net;
  const Fabric& found = net.now->fabric();
  const SwitchIdx last{static_cast<std::uint32_t>(found.switch_count()) - 1},
      silent{last.value() + 1};
  TransitionPlan plan;
  plan.blocked_sls = {{.turn = {last, PortNum{1}, PortNum{2}}, .sls = 1}};
  EXPECT_FALSE(reaches_beyond(found, plan));
  plan.blocked_sls.push_back({.turn = {silent, PortNum{1}, PortNum{2}}, .sls = 1});
  EXPECT_TRUE(reaches_beyond(found, plan));
}

// Its entries and those of the rest close a cycle, whatever is done.
TEST(UnresponsiveSwitches, WhereNoPlanHoldsWhatLingersIsCutOffFirst) {
  Silent net;
  const auto extended = add_unresponsive(net.now, *net.before);
  UnresponsiveJob job = job_of(net, extended);
  // A turn around the ring at every switch: LIDs 1 and 2 chase each other through S3.
  const auto turn = [&](ForwardingTables& lft, const char* at, unsigned lid, unsigned out) {
    lft.set_route(switch_named(extended->fabric(), at),
                  Lid{static_cast<std::uint16_t>(lid)},
                  PortNum{static_cast<std::uint8_t>(out)});
  };
  RoutingTables routing = job.job.goal->routing;
  for (ForwardingTables* lft : {&routing.lft, &job.job.held.lft}) {
    for (const unsigned lid : {1u, 2u, 3u, 4u}) {
      turn(*lft, "S1", lid, 1);
      turn(*lft, "S2", lid, 2);
      turn(*lft, "S3", lid, 2);
      turn(*lft, "S4", lid, 2);
    }
  }
  job.job.goal = make_subnet(extended->sweep, extended->lids, std::move(routing));
  turn(job.job.held.lft, "S1", 5, 1);
  const TransitionPlan plan = compute_plan(job);
  ASSERT_GE(plan.phases.size(), 1u);
  EXPECT_THAT(
      plan.phases.front().deactivate,
      testing::ElementsAre(port(net.now->fabric(), "S2:2"), port(net.now->fabric(), "S4:1")));
  EXPECT_FALSE(plan.certified());
  EXPECT_EQ(plan.kind, TransitionKind::CutPorts);
  EXPECT_THAT(plan.why, testing::HasSubstr("2 ports to switches that answer nothing"));
}

// The last Set to it may have arrived, may arrive yet, or was lost.
TEST(UnresponsiveSwitches, WhoseEntriesNobodyKnowsAreCutOffFirst) {
  Silent net;
  const auto extended = add_unresponsive(net.now, *net.before);
  const SwitchIdx silent = switch_named(extended->fabric(), "S3");
  ConfirmedTables confirmed = held_by(*net.before);
  confirmed.forget_block(extended->fabric().node_guid[extended->fabric().switch_node[silent]], 0);
  Fabric programmed = extended->fabric();
  const Lid top = extended->routing->lft.top();
  for (SwitchInfo& info : programmed.switch_info) info.linear_fdb_top = top.value();
  const HeldTables held = collect_held_tables(programmed, top, confirmed);
  UnresponsiveJob job = job_of(net, extended);
  job.job.goal = freeze_unresponsive(silent, *extended, held);
  job.job.held = held;
  ASSERT_THAT(job.job.held.unknown, testing::SizeIs(1));
  const TransitionPlan plan = compute_plan(job);
  ASSERT_GE(plan.phases.size(), 1u);
  EXPECT_THAT(
      plan.phases.front().deactivate,
      testing::ElementsAre(port(net.now->fabric(), "S2:2"), port(net.now->fabric(), "S4:1")));
  EXPECT_TRUE(plan.phases.front().entries.empty());
  EXPECT_FALSE(plan.is_free()) << "ports are taken down";
}

}  // namespace
}  // namespace smd
