#include "smd/plan/confirmed_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fabric_text.h"

namespace smd {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr SwitchIdx kFirst{0}, kSecond{1};

class TableDiff : public testing::Test {
 protected:
  Guid guid(SwitchIdx sw) const { return fabric->node_guid[fabric->switch_node[sw]]; }

  /// Both switches confirm everything that is wanted.
  void confirm_all() {
    for (SwitchIdx sw : fabric->switch_node.indices()) {
      for (std::size_t block = 0; block < wanted.blocks(); ++block) {
        LftBlock data;
        std::ranges::copy(wanted.block(sw, block), data.begin());
        confirmed.confirm(guid(sw), block, data);
      }
    }
  }

  std::shared_ptr<const Fabric> fabric = test::fabric_from_shared("S1-S2 H1-S1 H2-S2");
  ForwardingTables wanted{2, Lid{100}};  // two blocks
  ConfirmedTables confirmed;
};

TEST_F(TableDiff, UnknownBlocksDiffer) {
  EXPECT_THAT(diff_tables(*fabric, wanted, confirmed),
              ElementsAre(TableBlock{kFirst, 0},
                          TableBlock{kSecond, 0},
                          TableBlock{kFirst, 1},
                          TableBlock{kSecond, 1}));
  EXPECT_DOUBLE_EQ(changed_entries_pct(*fabric, wanted, confirmed), 100.0);
}

TEST_F(TableDiff, ConfirmedBlocksAreNotWrittenAgain) {
  confirm_all();
  EXPECT_THAT(diff_tables(*fabric, wanted, confirmed), IsEmpty());
  EXPECT_DOUBLE_EQ(changed_entries_pct(*fabric, wanted, confirmed), 0.0);
}

TEST_F(TableDiff, OneEntryIsOneBlock) {
  confirm_all();
  wanted.set_route(kSecond, Lid{70}, PortNum{3});
  EXPECT_THAT(diff_tables(*fabric, wanted, confirmed), ElementsAre(TableBlock{kSecond, 1}));
  EXPECT_DOUBLE_EQ(changed_entries_pct(*fabric, wanted, confirmed), 100.0 / 200.0);
}

TEST_F(TableDiff, AFailedBlockIsUnknown) {
  confirm_all();
  confirmed.forget_block(guid(kFirst), 1);
  EXPECT_THAT(diff_tables(*fabric, wanted, confirmed), ElementsAre(TableBlock{kFirst, 1}));
  EXPECT_TRUE(confirmed.knows(guid(kFirst)));
}

TEST_F(TableDiff, AResetSwitchIsWrittenWhole) {
  confirm_all();
  confirmed.forget(guid(kFirst));
  EXPECT_FALSE(confirmed.knows(guid(kFirst)));
  EXPECT_THAT(diff_tables(*fabric, wanted, confirmed),
              ElementsAre(TableBlock{kFirst, 0}, TableBlock{kFirst, 1}));
}

TEST_F(TableDiff, ARowIsSharedWhereTheSwitchHoldsIt) {
  confirmed.share_row(guid(kFirst), wanted, kFirst);
  EXPECT_FALSE(confirmed.shares_row(guid(kFirst), wanted, kFirst)) << "nothing is known";
  confirm_all();
  for (const SwitchIdx sw : {kFirst, kSecond}) confirmed.share_row(guid(sw), wanted, sw);
  EXPECT_TRUE(confirmed.shares_row(guid(kFirst), wanted, kFirst));
  EXPECT_TRUE(confirmed.knows_all(guid(kFirst), 2));
  EXPECT_FALSE(confirmed.knows_all(guid(kFirst), 3));
  const HeldTables held = collect_held_tables(*fabric, wanted.top(), confirmed, &wanted);
  EXPECT_TRUE(held.lft.shares_row(kSecond, wanted, kSecond));

  const ForwardingTables before = wanted;
  wanted.set_route(kSecond, Lid{70}, PortNum{3});
  EXPECT_FALSE(confirmed.shares_row(guid(kSecond), wanted, kSecond));
  confirmed.share_row(guid(kSecond), wanted, kSecond);
  EXPECT_TRUE(confirmed.shares_row(guid(kSecond), before, kSecond)) << "it holds the other one";
  EXPECT_DOUBLE_EQ(changed_entries_pct(*fabric, wanted, confirmed), 100.0 / 200.0);
  const HeldTables still = collect_held_tables(*fabric, wanted.top(), confirmed, &wanted);
  EXPECT_EQ(still.lft, before);
}

TEST_F(TableDiff, ARowThatIsNoLongerHeldIsNotShared) {
  confirm_all();
  for (const SwitchIdx sw : {kFirst, kSecond}) confirmed.share_row(guid(sw), wanted, sw);
  LftBlock other;
  other.fill(PortNum{1});
  confirmed.confirm(guid(kFirst), 1, other);
  confirmed.forget_block(guid(kSecond), 0);
  EXPECT_FALSE(confirmed.shares_row(guid(kFirst), wanted, kFirst));
  EXPECT_FALSE(confirmed.shares_row(guid(kSecond), wanted, kSecond));
  EXPECT_FALSE(confirmed.knows_all(guid(kSecond), 2));
  const HeldTables held = collect_held_tables(*fabric, wanted.top(), confirmed, &wanted);
  const HeldTables alone = collect_held_tables(*fabric, wanted.top(), confirmed);
  EXPECT_EQ(held.lft, alone.lft);
  EXPECT_EQ(held.unknown, alone.unknown);
  EXPECT_EQ(held.lft.route(kFirst, Lid{70}), PortNum{1});
  const auto first = confirmed.find_block(guid(kFirst), 0);
  ASSERT_TRUE(first) << "the rest of the row is what it was";
  EXPECT_TRUE(std::ranges::equal(*first, wanted.block(kFirst, 0)));
  EXPECT_EQ(confirmed.find_block(guid(kFirst), 1), other);
  EXPECT_FALSE(confirmed.find_block(guid(kSecond), 0));
  const auto second = confirmed.find_block(guid(kSecond), 1);
  ASSERT_TRUE(second);
  EXPECT_TRUE(std::ranges::equal(*second, wanted.block(kSecond, 1)));
  EXPECT_EQ(held.lft.route(kSecond, Lid{1}), kNoRoute);
}

TEST_F(TableDiff, ForgettingWhatWasNeverKnownIsHarmless) {
  confirmed.forget_block(Guid{99}, 7);
  confirmed.forget(Guid{99});
  EXPECT_FALSE(confirmed.find_block(Guid{99}, 7));
}

}  // namespace
}  // namespace smd
