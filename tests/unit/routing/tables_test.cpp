// Versions of tables that share rows: each holds what was written to it, whoever else writes.
#include "smd/routing/tables.h"

#include <gtest/gtest.h>
#include <malloc.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <thread>

#include "smd/routing/incremental/changes.h"

namespace smd::test {
namespace {

constexpr SwitchIdx kFirst{0}, kSecond{1};

SwitchIdx switch_at(std::uint32_t i) { return SwitchIdx{i}; }

Lid lid_at(std::size_t value) { return Lid{static_cast<std::uint16_t>(value)}; }

TEST(ForwardingTables, ACopySharesEveryRowUntilItIsWritten) {
  ForwardingTables before{2, Lid{100}};
  before.set_route(kFirst, Lid{3}, PortNum{1});
  ForwardingTables after = before;
  EXPECT_TRUE(after.shares_row(kFirst, before, kFirst));
  after.set_route(kFirst, Lid{3}, PortNum{1});  // as it is
  EXPECT_TRUE(after.shares_row(kFirst, before, kFirst));
  after.set_route(kFirst, Lid{3}, PortNum{2});
  EXPECT_FALSE(after.shares_row(kFirst, before, kFirst));
  EXPECT_TRUE(after.shares_row(kSecond, before, kSecond));
  EXPECT_EQ(before.route(kFirst, Lid{3}), PortNum{1});
  EXPECT_NE(before, after);
}

TEST(ForwardingTables, WhatWasCopiedFromDoesNotWriteToTheCopy) {
  ForwardingTables before{2, Lid{100}};
  const ForwardingTables copy = before;
  before.set_route(kFirst, Lid{3}, PortNum{1});
  before.mutable_row(kSecond)[4] = PortNum{2};
  EXPECT_EQ(copy, (ForwardingTables{2, Lid{100}}));
  EXPECT_EQ(before.route(kSecond, Lid{4}), PortNum{2});
}

/// What the process has asked for, in bytes.
std::size_t allocated() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// As where switches go and come back, again and again: most rows are older than the tables.
TEST(ForwardingTables, KeepNoMoreAliveThanTheirRows) {
  constexpr std::uint32_t kSwitches = 256;
  constexpr std::size_t kRow = 4096;
  const Lid top = lid_at(kRow - 1);
  ForwardingTables now{kSwitches, top};
  IndexVector<SwitchIdx, SwitchIdx> row_before;
  for (std::uint32_t sw = 0; sw < kSwitches; ++sw) row_before.push_back(switch_at(sw));
  const std::size_t before = allocated();
  for (std::uint32_t gone = 0; gone < 60; ++gone) {
    row_before[switch_at(gone)] = kNone<SwitchIdx>;
    now = copy_tables(now, row_before, top);
    now.set_route(switch_at(gone), Lid{3}, PortNum{1});
    row_before[switch_at(gone)] = switch_at(gone);
  }
  EXPECT_LT(allocated(), before + 60 * 2 * kRow + kSwitches * 64);
}

TEST(ForwardingTables, BlocksThatAreAsTheyWereKeepTheRow) {
  const ForwardingTables before{1, Lid{100}};
  ForwardingTables after = before;
  std::array<PortNum, kLftBlockSize> block;
  block.fill(kNoRoute);
  after.set_block(kFirst, 1, block);
  EXPECT_TRUE(after.shares_row(kFirst, before, kFirst));
  block[5] = PortNum{9};
  after.set_block(kFirst, 1, block);
  EXPECT_EQ(after.route(kFirst, Lid{69}), PortNum{9});
  EXPECT_EQ(before.route(kFirst, Lid{69}), kNoRoute);
}

TEST(ForwardingTables, ARowOfAnotherWidthIsCopied) {
  ForwardingTables narrow{1, Lid{63}}, wide{1, Lid{64}};
  narrow.set_route(kFirst, Lid{7}, PortNum{3});
  wide.set_route(kFirst, Lid{64}, PortNum{4});
  ForwardingTables out = wide;
  out.set_row(kFirst, narrow, kFirst);
  EXPECT_FALSE(out.shares_row(kFirst, narrow, kFirst));
  EXPECT_EQ(out.route(kFirst, Lid{7}), PortNum{3});
  EXPECT_EQ(out.route(kFirst, Lid{64}), PortNum{4});
  narrow.set_row(kFirst, out, kFirst);
  EXPECT_EQ(narrow.row(kFirst).size(), 64u);
}

std::vector<std::size_t> list_other_blocks(const ForwardingTables& a, const ForwardingTables& b) {
  std::vector<std::size_t> out;
  a.for_each_other_block(kFirst, b, kFirst, [&](std::size_t block) {
    out.push_back(block);
    return true;
  });
  return out;
}

TEST(ForwardingTables, BlocksThatDifferAreToldOfVersionsAndOfOthers) {
  const ForwardingTables before{1, Lid{64 * 200}};
  ForwardingTables one = before, other = before;
  for (const std::size_t lid : {70u, 5000u, 12799u}) one.set_route(kFirst, lid_at(lid), PortNum{1});
  other.set_route(kFirst, Lid{5000}, PortNum{1});
  other.set_route(kFirst, Lid{9000}, PortNum{2});
  using Blocks = std::vector<std::size_t>;
  EXPECT_EQ(list_other_blocks(one, before), (Blocks{1, 78, 199}));
  EXPECT_EQ(list_other_blocks(before, one), (Blocks{1, 78, 199}));
  EXPECT_EQ(list_other_blocks(one, other), (Blocks{1, 140, 199})) << "78 is alike in both";
  const ForwardingTables made{1, Lid{64 * 200}};
  EXPECT_EQ(list_other_blocks(other, made), (Blocks{78, 140})) << "neither knows the other";
  const ForwardingTables narrow{1, Lid{64 * 100}};
  EXPECT_EQ(list_other_blocks(one, narrow), (Blocks{1, 78})) << "of blocks that both have";
  EXPECT_EQ(one.find_other_block(kFirst, before, kFirst), 1u);
  EXPECT_FALSE(before.find_other_block(kFirst, made, kFirst));
}

// Against matrices that share nothing.
struct Model {
  static constexpr std::size_t kLids = 64 * 150;  // several blocks are a stretch
  ForwardingTables tables;
  std::vector<std::vector<PortNum>> entries;

  explicit Model(std::size_t switches)
      : tables(switches, lid_at(kLids - 1)),
        entries(switches, std::vector<PortNum>(kLids, kNoRoute)) {}

  void check() const {
    RC_ASSERT(tables.switches() == entries.size());
    for (std::uint32_t sw = 0; sw < entries.size(); ++sw)
      RC_ASSERT(std::ranges::equal(tables.row(switch_at(sw)), entries[sw]));
  }

  void compare(std::uint32_t sw, const Model& with, std::uint32_t there) const {
    std::vector<std::size_t> told, found;
    tables.for_each_other_block(
        switch_at(sw), with.tables, switch_at(there), [&](std::size_t block) {
          told.push_back(block);
          return true;
        });
    for (std::size_t block = 0; block < kLids / 64; ++block) {
      const auto first = static_cast<std::ptrdiff_t>(block * 64);
      if (!std::equal(entries[sw].begin() + first,
                      entries[sw].begin() + first + 64,
                      with.entries[there].begin() + first))
        found.push_back(block);
    }
    RC_ASSERT(told == found);
  }
};

RC_GTEST_PROP(ForwardingTablesProperty, EveryVersionHoldsWhatWasWrittenToIt, ()) {
  constexpr std::uint32_t kSwitches = 5;
  std::vector<Model> all(4, Model{kSwitches});
  const auto pick = [](std::size_t below) { return *rc::gen::inRange<std::size_t>(0, below); };
  for (int step = 0; step < 60; ++step) {
    Model& to = all[pick(all.size())];
    const Model& from = all[pick(all.size())];
    const auto sw = static_cast<std::uint32_t>(pick(kSwitches));
    const std::size_t lid = pick(Model::kLids);
    const PortNum port{static_cast<std::uint8_t>(pick(4))};
    switch (pick(6)) {
      case 0:
        to = Model{from};
        break;
      case 1: {
        Model moved{from};
        to = std::move(moved);
        break;
      }
      case 2: {
        const auto there = static_cast<std::uint32_t>(pick(kSwitches));
        to.tables.set_row(switch_at(sw), from.tables, switch_at(there));
        to.entries[sw] = from.entries[there];
        break;
      }
      case 3:
        std::ranges::fill(to.tables.mutable_row(switch_at(sw)).first(lid), port);
        std::fill_n(to.entries[sw].begin(), lid, port);
        break;
      case 4: {
        std::array<PortNum, kLftBlockSize> block;
        block.fill(port);
        to.tables.set_block(switch_at(sw), lid / kLftBlockSize, block);
        std::fill_n(to.entries[sw].begin() + static_cast<std::ptrdiff_t>(lid / 64 * 64), 64, port);
        break;
      }
      default:
        to.tables.set_route(switch_at(sw), lid_at(lid), port);
        to.entries[sw][lid] = port;
    }
    for (const Model& model : all) model.check();
    for (std::uint32_t there = 0; there < kSwitches; ++there) to.compare(sw, from, there);
    RC_ASSERT((all[0].tables == all[1].tables) == (all[0].entries == all[1].entries));
  }
}

// For ThreadSanitizer: copies are made of a version that others read, and are written to.
TEST(ForwardingTablesThreads, CopiesAreWrittenWhileTheirOriginIsRead) {
  ForwardingTables made{40, Lid{200}};
  for (std::uint32_t sw = 0; sw < 40; ++sw)
    std::ranges::fill(made.mutable_row(switch_at(sw)), PortNum{static_cast<std::uint8_t>(sw)});
  const ForwardingTables origin = made;
  const auto rewrite = [&origin](std::uint8_t port) {
    ForwardingTables own = origin;
    for (int round = 0; round < 3; ++round) {
      for (std::uint32_t sw = 0; sw < 40; sw += 2)
        own.set_route(switch_at(sw), lid_at(sw), PortNum{port});
      const ForwardingTables kept = own;
      own.set_row(kFirst, kept, switch_at(4));
    }
    return own;
  };
  std::array<ForwardingTables, 2> written;
  std::thread first{[&] { written[0] = rewrite(100); }};
  std::thread second{[&] { written[1] = rewrite(101); }};
  // The maker goes on as well, with rows of its own.
  made.set_route(kSecond, Lid{9}, PortNum{77});
  first.join();
  second.join();
  EXPECT_EQ(origin.route(kSecond, Lid{9}), PortNum{1});
  for (std::uint32_t sw = 0; sw < 40; ++sw) {
    const PortNum was{static_cast<std::uint8_t>(sw)};
    EXPECT_TRUE(
        std::ranges::all_of(origin.row(switch_at(sw)), [&](PortNum p) { return p == was; }));
    if (sw == 0 || sw % 2 == 1) continue;
    EXPECT_EQ(written[0].route(switch_at(sw), lid_at(sw)), PortNum{100});
    EXPECT_EQ(written[1].route(switch_at(sw), lid_at(sw)), PortNum{101});
  }
  EXPECT_TRUE(written[0].shares_row(kSecond, written[1], kSecond));
}

TEST(ForwardingTables, OrphanedLidsAreThoseThatSomebodyStillLeadsTo) {
  LidMap lids;
  lids.owner.assign(70, kNone<PortIdx>);
  lids.owner[5] = lids.owner[66] = PortIdx{0};
  lids.top = Lid{69};
  ForwardingTables tables{3, Lid{300}};
  EXPECT_TRUE(list_orphaned_lids(tables, lids).empty());
  for (const std::size_t led : {5u, 66u}) tables.set_route(kFirst, lid_at(led), PortNum{1});
  EXPECT_TRUE(list_orphaned_lids(tables, lids).empty()) << "somebody has them";
  tables.set_route(switch_at(2), Lid{7}, PortNum{1});
  tables.set_route(kFirst, Lid{64}, PortNum{1});
  tables.set_route(switch_at(2), Lid{65}, PortNum{1});
  for (const std::uint32_t sw : {0u, 1u}) tables.set_route(switch_at(sw), Lid{300}, PortNum{1});
  EXPECT_EQ(list_orphaned_lids(tables, lids), (std::vector{Lid{7}, Lid{64}, Lid{65}, Lid{300}}));
}

}  // namespace
}  // namespace smd::test
