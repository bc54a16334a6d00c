// Groups in the tables of switches that the test plays: what comes while entries are written, what
// is never answered, and what becomes of trees when the subnet is another.
#include "smd/manager/multicast_manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smd/base/log.h"
#include "tests/unit/manager/multicast_bench.h"

namespace smd::test {
namespace multicast_manager_test {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(MulticastManager, SaysWhereAGroupOfTheSiteIsLargerThanALinkCarries) {
  Bench bench;
  bench.settings.groups = {
      {.mgid = Bench::mgid(1), .p_key = kDefaultPKey, .mtu = 5, .partition = "A"}};
  bench.adopt();
  EXPECT_EQ(bench.manager->stats().mtu_too_large, "");
  bench.mtu_cap = 4;
  bench.adopt("H1-S1:1 H2-S1:2 S1:4-S2:4 H3-S2:1");
  EXPECT_THAT(bench.manager->stats().mtu_too_large,
              testing::HasSubstr("of 'A' has an MTU of 4096, and a link between switches 2048"));
}

TEST(MulticastManager, SaysWhereAGroupOfTheSiteIsLargerThanPortsMayBe) {
  Bench bench;
  bench.settings.ports.mtu_max = Mtu::B1024;
  bench.settings.groups = {{.mgid = Bench::mgid(1), .p_key = kDefaultPKey, .partition = "A"}};
  const unsigned long warnings = log::count(log::Level::Warn);
  bench.adopt();
  EXPECT_EQ(bench.manager->groups().find(Bench::mgid(1))->traits.mtu, 3);
  EXPECT_THAT(bench.manager->stats().mtu_lessened,
              testing::HasSubstr("of 'A' gets an MTU of 1024 (port.mtu_max) instead of 2048"));
  EXPECT_EQ(bench.manager->stats().mtu_too_large, "") << "links carry what it has";
  EXPECT_EQ(log::count(log::Level::Warn), warnings + 1);
  bench.mtu_cap = 2;
  bench.adopt("H1-S1:1 H2-S1:2 S1:4-S2:4 H3-S2:1");
  EXPECT_THAT(bench.manager->stats().mtu_too_large,
              testing::HasSubstr("of 'A' has an MTU of 1024, and a link between switches 512"));
  EXPECT_EQ(log::count(log::Level::Warn), warnings + 2) << "each once";
}

TEST(MulticastManager, EntriesLeadToEveryMemberAndNowhereElse) {
  Bench bench;
  bench.adopt();
  ASSERT_TRUE(bench.settle());
  bench.join(1, 1);
  bench.join(3, 1);
  ASSERT_TRUE(bench.settle());
  const unsigned s1 = bench.mask(1, bench.mlid(1));
  const unsigned trunk = s1 & ports({3, 4});
  EXPECT_EQ(s1, ports({1}) | trunk);
  EXPECT_TRUE(trunk == ports({3}) || trunk == ports({4})) << "by one cable";
  EXPECT_EQ(bench.mask(2, bench.mlid(1)), ports({1}) | trunk);
  EXPECT_THAT(bench.news, ElementsAre(GroupChange{Bench::mgid(1), kDefaultPKey, true}));
  EXPECT_EQ(bench.manager->stats().rounds, 1u) << "joins of one turn are one round";
}

TEST(MulticastManager, WhoJoinsWhileEntriesAreWrittenIsInTheNextRound) {
  Bench bench;
  bench.adopt();
  bench.join(1, 1);
  bench.join(2, 1);
  ASSERT_TRUE(bench.run_into_writing());
  bench.join(3, 1);
  bench.join(3, 2);
  bench.run_for(500us);
  EXPECT_EQ(bench.manager->stats().rounds, 1u);
  ASSERT_TRUE(bench.settle());
  EXPECT_EQ(bench.manager->stats().rounds, 2u);
  EXPECT_EQ(bench.mask(2, bench.mlid(1)) & ports({1}), ports({1}));
  EXPECT_NE(bench.manager->find_tree(bench.mlid(2)), nullptr);
}

TEST(MulticastManager, AGroupWhoseLastMemberLeavesIsGoneFromTheSwitches) {
  Bench bench;
  bench.adopt();
  bench.join(1, 1);
  bench.join(3, 1);
  ASSERT_TRUE(bench.settle());
  const Lid mlid = bench.mlid(1);
  bench.leave(1, 1);
  bench.leave(3, 1);
  ASSERT_TRUE(bench.settle());
  EXPECT_EQ(bench.mask(1, mlid), 0u);
  EXPECT_EQ(bench.mask(2, mlid), 0u);
  EXPECT_EQ(bench.manager->find_tree(mlid), nullptr);
  EXPECT_THAT(bench.news,
              ElementsAre(GroupChange{Bench::mgid(1), kDefaultPKey, true},
                          GroupChange{Bench::mgid(1), kDefaultPKey, false}));
}

TEST(MulticastManager, WhoLeavesWhileEntriesAreWrittenForHimIsTakenOut) {
  Bench bench;
  bench.adopt();
  bench.join(1, 1);
  bench.join(3, 1);
  ASSERT_TRUE(bench.run_into_writing());
  const Lid mlid = bench.mlid(1);
  bench.leave(3, 1);
  bench.leave(1, 1);
  ASSERT_TRUE(bench.settle());
  EXPECT_EQ(bench.mask(1, mlid), 0u);
  EXPECT_EQ(bench.mask(2, mlid), 0u);
}

// A round takes 256 MLIDs, and as many change again in each.
TEST(MulticastManager, GroupsOfHighMlidsAreServedWhileThoseOfLowOnesNeverRest) {
  constexpr unsigned kGroups = 300;
  Bench bench;
  bench.fdb_cap = 512;
  bench.adopt();
  for (unsigned group = 1; group <= kGroups; ++group) {
    bench.join(1, group);
    bench.join(3, group);
  }
  ASSERT_NE(bench.mlid(1), bench.mlid(kGroups));
  for (unsigned round = 1; round <= 3; ++round) {
    ASSERT_TRUE(bench.run_until([&] { return bench.manager->stats().rounds == round; }));
    for (unsigned group = 1; group <= 256; ++group)
      round % 2 == 1 ? bench.join(2, group) : bench.leave(2, group);
  }
  EXPECT_NE(bench.mask(1, bench.mlid(kGroups)), 0u);
  ASSERT_TRUE(bench.settle());
  EXPECT_NE(bench.mask(1, bench.mlid(1)), 0u);
}

TEST(MulticastManager, TreesOfANewSubnetAreMadeInOneRound) {
  Bench bench;
  bench.adopt();
  for (const std::uint64_t group : {1u, 2u}) {
    bench.join(1, group);
    bench.join(3, group);
  }
  ASSERT_TRUE(bench.settle());
  for (const unsigned left : {4u, 3u}) {
    const std::uint64_t rounds = bench.manager->stats().rounds;
    bench.adopt(left == 3 ? "H1-S1:1 H2-S1:2 S1:3-S2:3 H3-S2:1"
                          : "H1-S1:1 H2-S1:2 S1:4-S2:4 H3-S2:1");
    ASSERT_TRUE(bench.settle());
    EXPECT_EQ(bench.manager->stats().rounds, rounds + 1);
    for (const std::uint64_t group : {1u, 2u}) {
      EXPECT_EQ(bench.mask(1, bench.mlid(group)), ports({1, left}));
      EXPECT_EQ(bench.mask(2, bench.mlid(group)), ports({1, left}));
    }
  }
}

TEST(MulticastManager, ACycleThatEndsWhileEntriesAreWrittenHasTheLastWord) {
  Bench bench;
  bench.adopt("H1-S1:1 H2-S1:2 S1:3-S2:3 H3-S2:1");
  bench.join(1, 1);
  bench.join(3, 1);
  ASSERT_TRUE(bench.run_into_writing());
  bench.adopt("H1-S1:1 H2-S1:2 S1:4-S2:4 H3-S2:1");
  ASSERT_TRUE(bench.settle());
  EXPECT_EQ(bench.mask(1, bench.mlid(1)), ports({1, 4}));
  EXPECT_EQ(bench.mask(2, bench.mlid(1)), ports({1, 4}));
}

TEST(MulticastManager, ASnapshotWithTheSameRoutesCostsNothing) {
  Bench bench;
  bench.adopt();
  bench.join(1, 1);
  bench.join(3, 1);
  ASSERT_TRUE(bench.settle());
  const std::size_t sent = bench.sent.size();
  bench.manager->adopt(with_fabric(*bench.now, std::make_shared<const Fabric>(bench.now->fabric())),
                       bench.settings);
  ASSERT_TRUE(bench.settle());
  EXPECT_EQ(bench.sent.size(), sent);
  EXPECT_EQ(bench.manager->stats().rounds, 1u);
}

TEST(MulticastManager, WhatIsWantedIsOfTheSnapshotThatIsThere) {
  constexpr unsigned kGroups = 300;  // more than one round takes
  Bench bench;
  bench.settings.multicast_proof = CopyModel::LockStep;  // of each round, with all that is wanted
  bench.fdb_cap = 512;
  bench.adopt();
  for (unsigned group = 1; group <= kGroups; ++group) {
    bench.join(1, group);
    bench.join(3, group);
    bench.run_for(1ms);
  }
  ASSERT_TRUE(bench.settle());
  ASSERT_EQ(bench.manager->summary().trees, kGroups);
  const std::uint64_t rounds = bench.manager->stats().rounds;
  bench.adopt("H1-S1:1 H2-S1:2");
  const auto all_are_here = [&] {
    return std::ranges::all_of(bench.manager->masks(), [&](const auto& each) {
      return std::ranges::all_of(each.second, [&](const SwitchMask& mask) {
        return mask.sw.value() < bench.now->fabric().switch_count();
      });
    });
  };
  ASSERT_TRUE(all_are_here()) << "the other switch is gone";
  EXPECT_EQ(bench.manager->summary().trees, 0u) << "none is laid yet";
  ASSERT_TRUE(bench.run_until([&] { return bench.manager->stats().rounds > rounds; }));
  ASSERT_TRUE(all_are_here()) << "what this round did not take";
  ASSERT_TRUE(bench.settle());
  EXPECT_EQ(bench.manager->stats().rounds, rounds + 2);
  EXPECT_EQ(bench.manager->summary().trees, kGroups);
  EXPECT_EQ(bench.manager->stats().acyclic, true);
}

//   H1    H2    H3    H4    the first group: from H2 to H4, then to H1 too
//   S1 -- S2 -- S3 -- S4    the last group: from H3 to H4 and to S1, as long as H5 is there
//
// What H2 sends has the channel to S1 and waits for that to S4, what H3 sends has that and waits.
TEST(MulticastManager, WhatWaitsForALaterRoundIsProvedAsItIsHeld) {
  constexpr unsigned kGroups = 300;  // more than one round takes
  Bench bench;
  bench.settings.multicast_proof = CopyModel::LockStep;
  bench.settings.multicast_trees = TreeShape::BySender;
  bench.fdb_cap = 512;
  bench.adopt(kRow);
  for (unsigned group = 1; group <= kGroups; ++group) {
    bench.join(4, group);
    bench.run_for(1ms);
  }
  bench.join(2, 1, join_state::kSendOnlyFull);
  bench.join(3, kGroups, join_state::kSendOnlyFull);
  bench.join(5, kGroups);
  ASSERT_TRUE(bench.settle());
  ASSERT_LT(bench.mlid(1), bench.mlid(kGroups));
  ASSERT_EQ(bench.mask(2, bench.mlid(kGroups)), ports({3}));
  ASSERT_EQ(bench.manager->stats().credit_loops, 0u);
  const std::uint64_t rounds = bench.manager->stats().rounds;
  bench.adopt(kRow.substr(0, kRow.find(" H5")));
  bench.join(1, 1);
  ASSERT_TRUE(bench.run_until([&] { return bench.manager->stats().rounds == rounds + 2; }));
  ASSERT_EQ(bench.mask(2, bench.mlid(1)), ports({3, 4})) << "of the first round";
  ASSERT_EQ(bench.mask(2, bench.mlid(kGroups)), ports({3})) << "not yet its turn";
  EXPECT_EQ(bench.manager->stats().acyclic, false);
  ASSERT_TRUE(bench.settle());
  EXPECT_EQ(bench.mask(2, bench.mlid(kGroups)), 0u);
  EXPECT_EQ(bench.manager->stats().acyclic, true);
  EXPECT_EQ(bench.manager->stats().credit_loops, 1u);
}

TEST(MulticastManager, TreesAreCheckedBesideRoutesWhenAllAreLaid) {
  constexpr unsigned kGroups = 300;  // more than one round takes
  Bench bench;
  const TimePoint start = bench.runtime.now();
  bench.fdb_cap = 512;
  bench.adopt();
  for (unsigned group = 1; group <= kGroups; ++group) {
    bench.join(1, group);
    bench.join(3, group);
  }
  ASSERT_TRUE(bench.settle());
  bench.runtime.run_until(start + 4995ms);
  bench.holding.holds = true;
  bench.silent = 2;
  bench.adopt("H1-S1:1 H2-S1:2 S1:4-S2:4 H3-S2:1");
  bench.runtime.run_until(start + 5005ms);
  ASSERT_FALSE(bench.manager->at_rest()) << "the first round waits for the silent switch";
  EXPECT_THAT(bench.holding.held, IsEmpty());
  bench.run_for(6s);
  EXPECT_THAT(bench.holding.held, SizeIs(1));
  bench.holding.release();
}

TEST(MulticastManager, AVerdictOnASubnetThatIsNoMoreIsDropped) {
  Bench bench;
  unsigned requests = 0;
  bench.manager->on_credit_loop([&] {
    ++requests;
    return tl::unexpected(std::string("none"));
  });
  bench.changes_vls = true;
  bench.adopt();
  bench.join(1, 1);
  bench.join(3, 1);
  ASSERT_TRUE(bench.settle());
  bench.holding.holds = true;
  ASSERT_TRUE(bench.run_until([&] { return bench.holding.held.size() == 1; }));
  bench.changes_vls = false;
  bench.adopt("H1-S1:1 H2-S1:2 S1:4-S2:4 H3-S2:1");
  bench.holding.release();
  bench.run_for(1s);
  EXPECT_EQ(bench.manager->stats().acyclic, true);
  EXPECT_EQ(requests, 0u);
  bench.holding.holds = true;
  bench.run_for(6s);
  EXPECT_THAT(bench.holding.held, SizeIs(1)) << "the one that is there is checked as well";
  bench.holding.release();
}

TEST(MulticastManager, AProofOfASubnetThatIsNoMoreIsMadeAgainAtOnce) {
  Bench bench;
  bench.settings.multicast_proof = CopyModel::LockStep;  // every round is proved
  bench.manager->on_credit_loop([] { return MulticastVl{.sl = 1, .vl = Vl{1}}; });
  bench.changes_vls = true;
  bench.adopt();
  bench.join(1, 1);
  bench.run_for(10ms);
  ASSERT_EQ(bench.writes(), 0u) << "it waits for a VL";
  bench.holding.holds = true;
  bench.join(3, 1);
  ASSERT_TRUE(bench.run_until([&] { return bench.holding.held.size() == 1; }));
  bench.changes_vls = false;
  bench.adopt("H1-S1:1 H2-S1:2 S1:4-S2:4 H3-S2:1");
  bench.run_for(10ms);
  bench.holding.release();
  bench.run_for(1s);
  EXPECT_EQ(bench.mask(1, bench.mlid(1)), ports({1, 4}));
  EXPECT_EQ(bench.mask(2, bench.mlid(1)), ports({1, 4}));
}

// A cycle ends while trees make way for it, and another one follows: what they are taken away for
// is not looked at yet.
TEST(MulticastManager, RoutesThatFollowWhileTreesMakeWayHaveTheirOwnAnswer) {
  Bench bench;
  bench.root = "S2";
  bench.adopt(kRing);
  for (const unsigned number : {1u, 2u, 3u}) bench.join(number, 1);
  ASSERT_TRUE(bench.settle());
  ASSERT_EQ(bench.mask(2, bench.mlid(1)), ports({1, 3, 4}));
  bench.root = "S3";
  const auto next = bench.route(kRing);
  bench.all_silent = true;
  bool first = false;
  bool second = false;
  bench.manager->make_way(next, [&] { first = true; });
  bench.run_for(5ms);
  bench.manager->end_way();
  bench.manager->make_way(next, [&] { second = true; });
  bench.run_for(10ms);
  bench.all_silent = false;
  ASSERT_FALSE(first || second) << "no switch was given up yet";
  ASSERT_TRUE(bench.run_until([&] { return second; }));
  EXPECT_EQ(bench.mask(2, bench.mlid(1)), 0u);
  EXPECT_FALSE(first);
  bench.manager->end_way();
  ASSERT_TRUE(bench.settle());
  EXPECT_EQ(bench.mask(2, bench.mlid(1)), ports({1, 3, 4})) << "they come back";
}

TEST(MulticastManager, AnAnswerAboutRoutesOfBeforeIsNotTakenForOneAboutThese) {
  Bench bench;
  bench.settings.multicast_proof = CopyModel::LockStep;
  bench.root = "S2";
  bench.adopt(kRing);
  for (const unsigned number : {1u, 2u, 3u}) bench.join(number, 1);
  ASSERT_TRUE(bench.settle());
  bench.holding.holds = true;
  bool first = false;
  bool second = false;
  bench.root = "S1";
  bench.manager->make_way(bench.route(kRing), [&] { first = true; });
  bench.root = "S3";
  bench.manager->make_way(bench.route(kRing), [&] { second = true; });
  ASSERT_THAT(bench.holding.held, SizeIs(2));
  bench.runtime.offload(bench.holding.held.front().first, bench.holding.held.front().second);
  bench.run_for(50ms);
  EXPECT_FALSE(second);
  bench.runtime.offload(bench.holding.held.back().first, bench.holding.held.back().second);
  bench.run_for(50ms);
  EXPECT_TRUE(second);
  EXPECT_FALSE(first);
}

TEST(MulticastManager, WhosePortIsGoneLeavesHisGroups) {
  Bench bench;
  bench.adopt();
  bench.join(1, 1);
  bench.join(3, 1);
  bench.join(3, 2);
  ASSERT_TRUE(bench.settle());
  const Lid alone = bench.mlid(2);
  bench.adopt("H1-S1:1 H2-S1:2 S1:3-S2:3 S1:4-S2:4");
  ASSERT_TRUE(bench.settle());
  EXPECT_THAT(bench.manager->groups().find(Bench::mgid(1))->members, SizeIs(1));
  EXPECT_EQ(bench.manager->groups().find(Bench::mgid(2)), nullptr);
  EXPECT_EQ(bench.mask(2, alone), 0u);
  EXPECT_EQ(bench.news.back(), (GroupChange{Bench::mgid(2), kDefaultPKey, false}));
}

TEST(MulticastManager, WhatASwitchDoesNotAnswerIsCountedAndTriedAgain) {
  Bench bench;
  bench.adopt();
  bench.silent = 2;
  bench.join(1, 1);
  bench.join(3, 1);
  ASSERT_TRUE(bench.settle());
  EXPECT_EQ(bench.manager->stats().unmet, 1u);
  EXPECT_GT(bench.manager->stats().faults, 0u);
  bench.silent.reset();
  bench.run_for(2s);
  EXPECT_EQ(bench.manager->stats().unmet, 0u) << "nobody asked";
  EXPECT_EQ(bench.mask(2, bench.mlid(1)) & ports({1}), ports({1}));
}

TEST(MulticastManager, OneSwitchThatDoesNotAnswerKeepsNobodyElseWaiting) {
  Bench bench;
  bench.adopt();
  bench.silent = 2;
  bench.join(3, 1);
  ASSERT_TRUE(bench.settle());
  ASSERT_EQ(bench.manager->stats().unmet, 1u);
  bench.join(1, 2);
  bench.join(2, 2);
  ASSERT_TRUE(bench.settle());
  EXPECT_EQ(bench.mask(1, bench.mlid(2)), ports({1, 2}));
}

TEST(MulticastManager, HoweverManyOfItsMlidsFail) {
  constexpr unsigned kGroups = 300;  // more than one round takes
  Bench bench;
  bench.fdb_cap = 512;
  bench.adopt();
  bench.silent = 2;
  for (unsigned group = 1; group <= kGroups; ++group) {
    bench.join(1, group);
    bench.join(2, group);
    bench.run_for(1ms);
  }
  ASSERT_TRUE(bench.settle()) << "what fails waits for its time";
  EXPECT_EQ(bench.manager->stats().unmet, kGroups) << "of each the other switch is not known";
  for (unsigned group = 1; group <= kGroups; ++group)
    ASSERT_EQ(bench.mask(1, bench.mlid(group)), ports({1, 2})) << group;
  bench.silent.reset();
  bench.run_for(61s);
  EXPECT_EQ(bench.manager->stats().unmet, 0u);
}

TEST(MulticastManager, WhoJoinsMeanwhileDoesNotPutTheRetryOff) {
  Bench bench;
  bench.adopt();
  bench.silent = 2;
  bench.join(3, 1);
  ASSERT_TRUE(bench.settle());
  const auto asked = [&bench] {
    return std::ranges::count_if(bench.sent, [](const Smp& smp) { return smp.hop_count == 2; });
  };
  const auto first = asked();
  for (unsigned group = 2; group < 9; ++group) {
    bench.join(1, group);
    bench.run_for(100ms);
  }
  EXPECT_EQ(asked(), first) << "it is left alone until it is time";
  bench.silent.reset();
  for (unsigned group = 9; group < 14; ++group) {
    bench.join(1, group);
    bench.run_for(100ms);
  }
  EXPECT_GT(asked(), first) << "a second after the first";
  EXPECT_EQ(bench.manager->stats().unmet, 0u);
}

// A Set was lost with the cable that it went over, and what lives is not left alone for that.
TEST(MulticastManager, ASwitchIsAskedOnItsNewPathAsSoonAsTheOldOneIsGivenUp) {
  Bench bench;
  bench.adopt();
  bench.cut = PortNum{3};
  bench.join(1, 1);
  bench.join(3, 1);
  ASSERT_TRUE(bench.run_until([&] { return !bench.sent.empty(); }));
  bench.adopt("H1-S1:1 H2-S1:2 S1:4-S2:4 H3-S2:1");
  bench.run_for(200ms);  // 20 of them until it is given up
  EXPECT_EQ(bench.mask(2, bench.mlid(1)), ports({1, 4}));
  EXPECT_EQ(bench.manager->stats().unmet, 0u);
}

TEST(MulticastManager, AChangeOfTheSubnetBeginsTheRetriesAnew) {
  Bench bench;
  bench.adopt();
  bench.silent = 2;
  bench.join(1, 1);
  bench.join(3, 1);
  bench.run_for(40s);  // after 1, 3, 7, 15 and 31 s
  bench.adopt("H1-S1:1 H2-S1:2 S1:4-S2:4 H3-S2:1");
  ASSERT_TRUE(bench.settle());
  ASSERT_EQ(bench.manager->stats().unmet, 1u);
  bench.silent.reset();
  bench.run_for(2s);
  EXPECT_EQ(bench.manager->stats().unmet, 0u);
}

TEST(MulticastManager, AGroupForWhichNoTreeCanBeLaidWaitsForTheNextSnapshot) {
  Bench bench;
  bench.crossed = true;
  bench.adopt();
  const unsigned long errors = log::count(log::Level::Error);
  bench.silent = 2;
  bench.join(1, 1);
  bench.join(3, 1);
  bench.join(3, 2);
  ASSERT_TRUE(bench.settle());
  ASSERT_EQ(log::count(log::Level::Error), errors + 1) << "packets would go round";
  EXPECT_EQ(bench.manager->stats().unmet, 1u) << "what the silent switch has of the other";
  bench.silent.reset();
  bench.run_for(100s);
  EXPECT_EQ(bench.mask(2, bench.mlid(2)), ports({1}));
  EXPECT_EQ(bench.manager->stats().unmet, 0u);
  EXPECT_EQ(log::count(log::Level::Error), errors + 1) << "not tried with what is tried again";
  bench.crossed = false;
  bench.adopt("H1-S1:1 H2-S1:2 S1:4-S2:4 H3-S2:1");
  ASSERT_TRUE(bench.settle());
  EXPECT_EQ(bench.mask(2, bench.mlid(1)), ports({1, 4}));
}

TEST(MulticastManager, ABlockThatCouldNotBeReadIsNotWritten) {
  Bench bench;
  MftBlock of_others{};
  of_others[20] = 0x6;
  encode_mft_block(of_others, bench.tables[{2, 0}]);
  bench.adopt();
  bench.silent = 2;
  bench.silent_to_gets = true;
  bench.join(3, 1);
  bench.join(1, 1);
  ASSERT_TRUE(bench.settle());
  EXPECT_EQ(bench.manager->stats().unmet, 1u);
  EXPECT_EQ(bench.mask(2, Lid{0xc014}), 0x6u) << "of a group that hosts may be in";
  bench.silent.reset();
  bench.run_for(2s);
  EXPECT_EQ(bench.manager->stats().unmet, 0u);
  EXPECT_NE(bench.mask(2, bench.mlid(1)), 0u);
}

// Two cables join the switches: what the tree sends over one the other's old entries send back.
TEST(MulticastManager, WhatASwitchThatCannotBeReadMaySendBackIsNotSentThere) {
  Bench bench;
  MftBlock of_others{};
  of_others[0] = ports({1, 3, 4});
  encode_mft_block(of_others, bench.tables[{2, 0}]);
  bench.adopt();
  bench.silent = 2;
  bench.silent_to_gets = true;
  bench.join(1, 1);
  bench.join(3, 1);
  bench.join(1, 2);
  bench.join(2, 2);
  ASSERT_TRUE(bench.settle());
  ASSERT_EQ(bench.mlid(1), Lid{0xc000});
  EXPECT_EQ(bench.mask(1, bench.mlid(1)), 0u) << "what H1 sends would go round";
  EXPECT_EQ(bench.mask(1, bench.mlid(2)), ports({1, 2})) << "leads to no other switch";
  EXPECT_EQ(bench.manager->stats().unmet, 2u);
  EXPECT_EQ(bench.manager->stats().held_up, 1u);
  bench.silent.reset();
  bench.run_for(2s);
  EXPECT_EQ(bench.manager->stats().unmet, 0u);
  EXPECT_EQ(bench.manager->stats().held_up, 0u);
  EXPECT_EQ(bench.mask(1, bench.mlid(1)) & ports({1}), ports({1}));
}

/// Of every Set of a multicast table.
std::vector<TimePoint> times_of_sets(const Bench& bench) {
  std::vector<TimePoint> out;
  for (std::size_t n = 0; n < bench.sent.size(); ++n) {
    if (bench.sent[n].method == Method::Set) out.push_back(bench.sent_at[n]);
  }
  return out;
}

// Both switches hold entries for both cables, which is a circle: these go before any is added.
TEST(MulticastManager, WhatIsAddedWaitsUntilWhatWasCopiedBeforeHasLeft) {
  for (const Duration drain_time : {Duration{0}, Duration{50ms}}) {
    Bench bench;
    bench.settings.strategy.writing.drain_time = drain_time;
    for (const unsigned sw : {1u, 2u}) {
      MftBlock of_others{};
      of_others[0] = ports({3, 4});
      encode_mft_block(of_others, bench.tables[{sw, 0}]);
    }
    bench.adopt();
    bench.join(1, 1);
    bench.join(3, 1);
    ASSERT_TRUE(bench.settle());
    ASSERT_EQ(bench.mlid(1), Lid{0xc000});
    const std::vector<TimePoint> sets = times_of_sets(bench);
    ASSERT_THAT(sets, SizeIs(4)) << "two steps of two";
    EXPECT_EQ(sets[1], sets[0]);
    EXPECT_EQ(sets[3], sets[2]);
    const Duration between = sets[2] - sets[1];
    EXPECT_GE(between, drain_time + 1ms) << "since the last answer";
    EXPECT_LE(between, drain_time + 2ms);
    const TimePoint before = bench.runtime.now();
    bench.join(2, 1);
    ASSERT_TRUE(bench.settle());
    EXPECT_LE(bench.runtime.now() - before, 10ms) << "nothing is taken away";
    bench.leave(2, 1);
    ASSERT_TRUE(bench.settle());
    const TimePoint left = times_of_sets(bench).back();
    bench.join(2, 1);
    ASSERT_TRUE(bench.settle());
    EXPECT_GE(times_of_sets(bench).back() - left, drain_time) << "in another round";
  }
}

// Whether it is said, when the first routes are written over these switches, that trees which
// somebody may have left there are in no proof.
TEST(MulticastManager, SaysThatTheFirstPlanReckonsWithoutTreesOfOthers) {
  const auto says = [](Bench& bench) {
    const auto before = log::entries_after(0);
    const std::uint64_t last = before.empty() ? 0 : before.back().number;
    bool went_on = false;
    bench.manager->make_way(bench.now, [&] { went_on = true; });
    EXPECT_TRUE(went_on) << "nobody waits for that";
    bench.manager->end_way();
    std::string said;
    for (const log::Entry& entry : log::entries_after(last)) {
      if (entry.event == "multicast.unread") said += entry.text;
    }
    return said;
  };
  Bench bench;
  bench.adopt();
  EXPECT_EQ(says(bench), "") << "not the first";
  bench.make();
  EXPECT_THAT(says(bench), testing::HasSubstr("switches=2;"));
  bench.memory.note_restarted(Guid{0x1001});
  EXPECT_THAT(says(bench), testing::HasSubstr("switches=1;"));
  bench.memory.confirm(Guid{0x1002}, {0, 0}, {});
  EXPECT_EQ(says(bench), "");
  Bench fresh;
  fresh.adopt("H1-S1:1 H2-S1:2 S1:3~S2:3 S1:4~S2:4 H3-S2:1");
  fresh.make();
  EXPECT_EQ(says(fresh), "") << "no link carries data";
}

TEST(MulticastManager, StoppedItWritesNothingAndKeepsItsGroupsForTheNextTerm) {
  Bench bench;
  bench.adopt();
  bench.join(1, 1);
  bench.join(3, 1);
  ASSERT_TRUE(bench.run_until([&] { return !bench.sent.empty(); }));  // and nothing written
  const Lid mlid = bench.mlid(1);
  bench.manager->stop();
  const std::size_t sent = bench.sent.size();
  bench.run_for(100s);
  EXPECT_EQ(bench.sent.size(), sent);
  EXPECT_TRUE(bench.manager->at_rest());
  EXPECT_THAT(bench.manager->to_restore(), SizeIs(1));
  bench.adopt();
  ASSERT_TRUE(bench.settle());
  EXPECT_EQ(bench.mlid(1), mlid);
  EXPECT_EQ(bench.mask(2, mlid) & ports({1}), ports({1}));
}

TEST(MulticastManager, AProofOfATermBeforeIsNotTakenForOneOfThisTerm) {
  Bench bench;
  bench.settings.multicast_proof = CopyModel::LockStep;  // every round is proved
  bench.adopt();
  bench.holding.holds = true;
  bench.join(1, 1);
  bench.join(2, 1);
  ASSERT_TRUE(bench.run_until([&] { return bench.holding.held.size() == 1; }));
  bench.manager->stop();
  bench.adopt();
  bench.join(1, 2);
  bench.join(3, 2);
  ASSERT_TRUE(bench.run_until([&] { return bench.holding.held.size() == 2; }));
  bench.holding.release();
  ASSERT_TRUE(bench.settle());
  bench.run_for(1s);
  EXPECT_EQ(bench.mask(1, bench.mlid(1)) & ports({1, 2}), ports({1, 2}));
  EXPECT_EQ(bench.mask(1, bench.mlid(2)) & ports({1}), ports({1}));
  EXPECT_EQ(bench.mask(2, bench.mlid(2)) & ports({1}), ports({1}));
}

TEST(MulticastManager, GroupsOfAFormerLifeWaitForTheFirstSnapshot) {
  Bench bench;
  bench.adopt();
  bench.join(1, 1);
  bench.join(3, 2);
  ASSERT_TRUE(bench.settle());
  const std::vector<Group> kept = bench.manager->to_restore();
  bench.make();
  bench.memory = {};
  bench.tables.clear();
  bench.manager->restore(kept);
  EXPECT_EQ(bench.manager->to_restore(), kept) << "until then they are what is handed on";
  EXPECT_THAT(bench.manager->groups().groups(), IsEmpty());
  bench.adopt();
  ASSERT_TRUE(bench.settle());
  EXPECT_EQ(bench.manager->to_restore(), kept);
  EXPECT_EQ(bench.mask(2, bench.mlid(2)) & ports({1}), ports({1}));
}

TEST(MulticastManager, DestroyedAfterAnyStepItSendsNothingMore) {
  bool whole = false;
  for (unsigned tasks = 0; !whole; ++tasks) {
    Bench bench;
    bench.adopt();
    bench.join(1, 1);
    bench.join(3, 1);
    for (unsigned run = 0; run < tasks && !whole; ++run) {
      bench.runtime.run_one();
      whole = bench.manager->at_rest();
    }
    bench.manager.reset();
    const std::size_t sent = bench.sent.size();
    bench.run_for(100s);
    EXPECT_EQ(bench.sent.size(), sent) << "after " << tasks;
  }
}

}  // namespace multicast_manager_test
}  // namespace smd::test
