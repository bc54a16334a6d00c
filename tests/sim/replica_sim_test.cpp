// Two managers with their administrations, the standby with a copy of what its master keeps: when
// the master dies, groups, services and subscriptions are there, and nothing is written that is
// right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "smd/base/log.h"
#include "smd/base/rng.h"
#include "tests/sim/succession.h"

namespace smd::test {
namespace {

TEST_F(Succession, TheNextHasEverythingThatClientsLeftAndWritesNoTableThatIsRight) {
  populate();
  const ClientRecords left = first.records();
  ASSERT_GE(left.groups.size(), 3u);
  ASSERT_EQ(left.subscriptions.size(), 1u);
  ASSERT_EQ(left.services.size(), 2u);
  ASSERT_GT(first.mft_sets, 0u);
  const auto before = lids();
  second.clock_error_ms += 3'600'000;  // its clock is an hour ahead
  first.kill();
  ASSERT_TRUE(run_until([&] { return second.state() == SmState::Master; }));
  ASSERT_TRUE(settle(second));
  run_for(10s);

  const ClientRecords now = second.records();
  EXPECT_EQ(now.groups, left.groups);
  EXPECT_EQ(now.subscriptions, left.subscriptions);
  ASSERT_EQ(now.services.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(now.services[i].record.id, left.services[i].record.id);
    EXPECT_EQ(now.services[i].expires.has_value(), left.services[i].expires.has_value());
    if (now.services[i].expires) {
      const Duration moved = *now.services[i].expires - *left.services[i].expires;
      EXPECT_LE(std::max(moved, -moved), Duration{10ms}) << "whatever its clock says";
    }
  }
  EXPECT_EQ(lids(), before);
  EXPECT_EQ(second.lft_sets, 0u);
  EXPECT_EQ(second.mft_sets, 0u);
  EXPECT_EQ(second.row_sets, 0u);

  const unsigned told = reports;
  fabric.set_node(node("host-00006"), false);
  run_for(10s);
  EXPECT_GT(reports, told) << "who subscribed with the first is told by the second";
  join(1, 1);
  run_for(1s);
  EXPECT_EQ(second.records().groups.size(), left.groups.size());
}

TEST_F(Succession, EveryChangeIsCopiedByItself) {
  namespace part = member_component;
  second.clock_error_ms -= 7'200'000;  // its clock is two hours behind
  populate();
  const unsigned wholes = whole_copies;
  EXPECT_GE(wholes, 1u);
  patience = 1ms;
  Rng rng(11);
  for (int step = 0; step < 400; ++step) {
    const auto host = static_cast<std::size_t>(rng.below(hosts.size()));
    switch (rng.below(5)) {
      case 0:
      case 1:
        join(host, 1 + rng.below(12));
        break;
      case 2:
        leave(host, 1 + rng.below(12));
        break;
      case 3:
        serve(host, rng.below(6), rng.below(2) == 0 ? kForever : 5);
        break;
      default:
        ask(host,
            RecordId::InformInfo,
            InformInfo{.subscribe = static_cast<std::uint8_t>(rng.below(2)),
                       .trap_or_device = static_cast<std::uint16_t>(64 + rng.below(4))},
            kInformInfoSize,
            0);
    }
    if (step % 40 == 0) {
      fabric.set_node(node_of(3), step % 80 != 0);  // who goes takes what it left along
      run_for(2s);
    }
    if (step % 10 != 0) continue;
    // Silent subscribers are given up at any moment: the last change may be under way.
    const auto kept_by = [this](Machine& machine) {
      return print_records(machine.records(), {runtime.now(), 0});
    };
    for (int wait = 0; wait < 30 && kept_by(second) != kept_by(first); ++wait) run_for(100ms);
    ASSERT_EQ(kept_by(second), kept_by(first)) << step;
  }
  EXPECT_EQ(whole_copies, wholes) << "never all of it again";
  EXPECT_GT(change_copies, 40u);
}

TEST_F(Succession, WhatLeftWithTheFirstIsGoneWithTheSecond) {
  populate();
  namespace part = member_component;
  const ClientRecords before = first.records();
  fabric.set_node(node_of(3), false);
  run_for(10s);
  const ClientRecords left = first.records();
  ASSERT_NE(left.groups, before.groups);
  first.kill();
  ASSERT_TRUE(run_until([&] { return second.state() == SmState::Master; }));
  ASSERT_TRUE(settle(second));
  EXPECT_EQ(second.records().groups, left.groups);
}

TEST_F(Succession, WhatClientsLeftOutlivesTheCableOfTheFirst) {
  populate();
  const ClientRecords left = first.records();
  ASSERT_EQ(left.subscriptions.size(), 1u);
  fabric.set_link(first.node, PortNum{1}, false);
  first.manager().request_sweep("test");
  ASSERT_TRUE(run_until([&] { return second.state() == SmState::Master; }));
  EXPECT_TRUE(first.manager().last_cycle()->cut_off);
  ASSERT_TRUE(settle(second));
  EXPECT_EQ(second.records().subscriptions, left.subscriptions);
  EXPECT_EQ(second.records().groups, left.groups);
  EXPECT_EQ(second.records().services.size(), left.services.size());
  fabric.set_link(first.node, PortNum{1}, true);
  ASSERT_TRUE(run_until([&] { return second.state() == SmState::Standby; }));
  ASSERT_TRUE(settle(first));
  run_for(5s);
  EXPECT_EQ(first.records().subscriptions, left.subscriptions);
  EXPECT_EQ(first.records().groups, left.groups);
}

// It sees nobody, and looks on.
TEST_F(Succession, WhatClientsLeftOutlivesTheCableOfTheSecond) {
  populate();
  const ClientRecords left = first.records();
  ASSERT_EQ(left.subscriptions.size(), 1u);
  ASSERT_GE(left.groups.size(), 3u);
  fabric.set_link(second.node, PortNum{1}, false);
  ASSERT_TRUE(run_until([&] { return second.state() == SmState::Discovering; }));
  run_for(5s);
  ASSERT_TRUE(second.manager().last_cycle()->cut_off);
  const auto print_groups = [](const ClientRecords& records) {
    return print_records({.groups = records.groups}, {});
  };
  EXPECT_EQ(print_groups(second.records()), print_groups(left));
  first.kill();
  fabric.set_link(second.node, PortNum{1}, true);
  ASSERT_TRUE(run_until([&] { return !second.manager().last_cycle()->cut_off; }));
  ASSERT_TRUE(settle(second));
  run_for(5s);
  EXPECT_EQ(second.records().subscriptions, left.subscriptions);
  EXPECT_EQ(second.records().groups, left.groups);
  EXPECT_EQ(second.records().services.size(), left.services.size());
}

TEST_F(Succession, ThereAndBackAgain) {
  populate();
  ASSERT_NO_FATAL_FAILURE(let_second_take_over());
  join(0, 9);  // with the second alone
  run_for(1s);
  const ClientRecords left = second.records();
  const auto before = lids();
  first.kept = {};  // its disk, too
  first.lft_sets = first.mft_sets = 0;
  first.start(settings_of(9), "first", "second");
  // It stands by, has the copy, and is handed the subnet.
  ASSERT_TRUE(run_until([&] { return first.state() == SmState::Master; }));
  ASSERT_TRUE(settle(first));
  run_for(5s);
  EXPECT_EQ(second.state(), SmState::Standby);
  EXPECT_EQ(lids(), before);
  EXPECT_EQ(first.records().groups, left.groups) << "the handover waited for the copy";
  EXPECT_EQ(first.mft_sets, 0u);
}

TEST_F(Succession, AHandoverDoesNotWaitForeverForAReader) {
  populate();
  ASSERT_NO_FATAL_FAILURE(let_second_take_over());
  net.freeze(true);
  first.start(settings_of(9), "first", "second");
  const TimePoint began = runtime.now();
  ASSERT_TRUE(run_until([&] { return first.state() == SmState::Master; }, 30s));
  EXPECT_GE(runtime.now() - began, StandbyReplication::kHandoverWait);
  EXPECT_LE(runtime.now() - began, StandbyReplication::kHandoverWait + 5s);
}

TEST_F(Succession, EveryHandoverWaitsForItsOwnReader) {
  populate();
  ASSERT_NO_FATAL_FAILURE(let_second_take_over());
  net.freeze(true);
  first.start(settings_of(9), "first", "second");
  ASSERT_TRUE(run_until([&] { return first.state() == SmState::Standby; }));
  run_for(1s);
  ASSERT_EQ(second.state(), SmState::Master) << "the handover waits";
  first.kill();
  const PartitionOrders ordered{{.key = 0x22, .name = "Ordered", .created = true}};
  second.store->put_partition_orders(ordered);
  run_for(10s);
  net.freeze(false);
  net.delay = 300ms;
  first.kept = {};
  first.start(settings_of(9), "first", "second");
  ASSERT_TRUE(run_until([&] { return first.state() == SmState::Master; }));
  ASSERT_TRUE(settle(first));
  EXPECT_EQ(first.store->get().partitions, ordered);
}

TEST_F(Succession, AHandoverWaitsForTheReaderThatItIsFor) {
  populate();
  ASSERT_NO_FATAL_FAILURE(let_second_take_over());
  Machine third{*this, net, "host-00004"};
  third.start(settings_of(1), "third", "second");
  ASSERT_TRUE(run_until([&] { return second.replication->server().is_current(); }));
  join(0, 9);
  run_for(1s);
  const ClientRecords left = second.records();
  ASSERT_TRUE(second.replication->server().is_current()) << "the third has everything";
  net.delay = 300ms;
  first.kept = {};
  first.start(settings_of(9), "first", "second");
  ASSERT_TRUE(run_until([&] { return first.state() == SmState::Master; }));
  ASSERT_TRUE(settle(first));
  EXPECT_EQ(first.records().groups, left.groups);
}

TEST_F(Succession, AStandbyWithoutACopyIsAnAlarmOnBothSides) {
  second.start(settings_of(2), "second", "nobody");
  run_for(StandbyReplication::kMostWithoutCopy / 2);
  EXPECT_EQ(second.replication->alarm(), "") << "it has just started";
  run_for(StandbyReplication::kMostWithoutCopy);
  EXPECT_THAT(second.replication->alarm(), testing::HasSubstr("nobody: nobody listens there"));
  EXPECT_THAT(first.replication->alarm(), testing::HasSubstr("has no copy"));
  second.start(settings_of(2), "second", "first");
  run_for(10s);
  EXPECT_EQ(second.replication->alarm(), "");
  EXPECT_EQ(first.replication->alarm(), "");
  net.freeze(true);
  run_for(StandbyReplication::kMostWithoutCopy + 20s);
  EXPECT_NE(second.replication->alarm(), "") << "what it has grows old";
  EXPECT_NE(first.replication->alarm(), "");
}

/// The second has no copy of them, and what it sends has none.
TEST_F(Succession, TurnsThatTheFirstLeftBlockedAreNotForgottenOverACopy) {
  const TurnRef turn{fabric.spec().nodes[node("sw-0-0")].guid, PortNum{1}, PortNum{2}};
  net.freeze(true);
  first.store->put_turns({turn});
  ASSERT_NO_FATAL_FAILURE(let_second_take_over());
  ASSERT_TRUE(second.kept.turns.empty());
  net.freeze(false);
  run_for(40s);
  first.row_sets = 0;
  first.start(settings_of(9), "first", "second");
  ASSERT_TRUE(run_until([&] { return first.state() == SmState::Standby; }));
  ASSERT_TRUE(run_until([&] { return first.state() == SmState::Master; }));
  ASSERT_TRUE(settle(first));
  EXPECT_GT(first.row_sets, 0u) << "it makes sure that the turn is open";
  EXPECT_TRUE(first.kept.turns.empty());
}

auto count_lost() {
  return std::ranges::count(log::entries_after(0), "partition.order_lost", &log::Entry::event);
}

TEST_F(Succession, OrdersThatTheNextMasterDoesNotHaveAreNamedInTheLog) {
  const auto before = count_lost();
  net.freeze(true);
  first.store->put_partition_orders({{.key = 0x22, .name = "Ordered", .created = true}});
  fabric.set_link(first.node, PortNum{1}, false);
  ASSERT_TRUE(run_until([&] { return second.state() == SmState::Master; }));
  ASSERT_TRUE(settle(second));
  net.freeze(false);
  run_for(40s);
  fabric.set_link(first.node, PortNum{1}, true);
  ASSERT_TRUE(run_until([&] { return first.state() == SmState::Standby; }));
  ASSERT_TRUE(run_until([&] { return first.state() == SmState::Master; }));
  EXPECT_TRUE(first.kept.partitions.empty());
  EXPECT_EQ(count_lost(), before + 1);
}

TEST_F(Succession, OrdersAreNamedAlsoWhereTheFirstHasDied) {
  const auto before = count_lost();
  net.freeze(true);
  first.store->put_partition_orders({{.key = 0x22, .name = "Ordered", .created = true}});
  ASSERT_NO_FATAL_FAILURE(let_second_take_over());
  net.freeze(false);
  run_for(40s);
  first.start(settings_of(9), "first", "second");
  ASSERT_TRUE(run_until([&] { return first.state() == SmState::Standby; }));
  ASSERT_TRUE(run_until([&] { return first.state() == SmState::Master; }));
  EXPECT_TRUE(first.kept.partitions.empty());
  EXPECT_EQ(count_lost(), before + 1);
}

TEST_F(Succession, TurnsThatTheFirstLeftBlockedAreKnownToTheSecond) {
  const TurnRef turn{fabric.spec().nodes[node("sw-0-0")].guid, PortNum{1}, PortNum{2}};
  first.store->put_turns({turn});
  ASSERT_TRUE(run_until([&] { return !second.kept.turns.empty(); }, 5s));
  EXPECT_EQ(second.kept.turns, first.kept.turns);
  first.kill();
  ASSERT_TRUE(run_until([&] { return second.state() == SmState::Master; }));
  ASSERT_TRUE(settle(second));
  EXPECT_GT(second.row_sets, 0u) << "it makes sure that the turn is open";
  EXPECT_TRUE(second.kept.turns.empty());
}

TEST_F(Succession, WhatRoutesAreLaidByIsKnownToTheSecond) {
  ASSERT_TRUE(run_until([&] { return !second.kept.directions.empty(); }, 5s));
  EXPECT_EQ(second.kept.directions, first.kept.directions);
  const LatticeRecord lattice{
      .engine = "dor", .sides = {2, 3}, .wraps = {0, 1}, .cells = {{Guid{0x10}, 5}}};
  first.store->put_lattice(lattice);
  ASSERT_TRUE(run_until([&] { return !second.kept.lattice.engine.empty(); }, 5s));
  EXPECT_EQ(second.kept.lattice, lattice);
}

TEST_F(Succession, TheBookOfPortsThatAreAwayIsKept) {
  populate();
  const std::uint32_t away = node("host-00004");
  const Lid lid = fabric.port_info(away, PortNum{1}).lid;
  fabric.set_node(away, false);
  run_for(5s);
  first.kill();
  ASSERT_TRUE(run_until([&] { return second.state() == SmState::Master; }));
  ASSERT_TRUE(settle(second));
  fabric.set_node(away, true);
  run_for(10s);
  ASSERT_TRUE(settle(second));
  EXPECT_EQ(fabric.port_info(away, PortNum{1}).lid, lid) << "it asked for it with the first";
}

TEST_F(Succession, WithoutANetworkTheyTakeOverAsBefore) {
  populate();
  net.freeze(true);
  join(0, 9);
  run_for(10s);
  const auto before = lids();
  first.kill();
  ASSERT_TRUE(run_until([&] { return second.state() == SmState::Master; }));
  ASSERT_TRUE(settle(second));
  EXPECT_EQ(lids(), before);
  EXPECT_EQ(second.lft_sets, 0u);
  EXPECT_EQ(second.records().services.size(), 2u) << "an old copy is better than none";
}

}  // namespace
}  // namespace smd::test
