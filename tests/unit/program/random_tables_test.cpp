// Switches that route by a random table: 16 entries per block, and a port for everything else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/unit/program/program_lab.h"

namespace smd::test {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr Guid kNode{0x42};

RandomTables::Entries entries(std::initializer_list<std::pair<unsigned, unsigned>> list) {
  RandomTables::Entries out;
  for (const auto& [lid, port] : list)
    out.emplace(Lid{static_cast<std::uint16_t>(lid)}, PortNum{static_cast<std::uint8_t>(port)});
  return out;
}

void confirm_all(RandomTables& tables, const std::vector<RandomTables::Block>& blocks) {
  for (const auto& [number, block] : blocks) tables.confirm(kNode, number, block);
}

TEST(Layout, FillsSlotsInOrderOfLids) {
  RandomTables tables;
  const auto blocks = tables.layout(kNode, entries({{9, 2}, {3, 1}}), 32, false);
  ASSERT_THAT(blocks, SizeIs(2)) << "nothing is known of either block";
  EXPECT_EQ(blocks[0].second[0], (RftEntry{.lid = Lid{3}, .valid = true, .port = PortNum{1}}));
  EXPECT_EQ(blocks[0].second[1], (RftEntry{.lid = Lid{9}, .valid = true, .port = PortNum{2}}));
  EXPECT_FALSE(blocks[0].second[2].valid);
}

TEST(Layout, KeepsEntriesWhereTheyAre) {
  RandomTables tables;
  confirm_all(tables, tables.layout(kNode, entries({{1, 1}, {2, 1}, {3, 1}}), 32, false));
  EXPECT_THAT(tables.layout(kNode, entries({{1, 1}, {2, 1}, {3, 1}}), 32, false), IsEmpty());
  const auto blocks = tables.layout(kNode, entries({{1, 1}, {3, 4}, {7, 2}}), 32, false);
  ASSERT_THAT(blocks, SizeIs(1));
  EXPECT_EQ(blocks[0].second[0].lid, Lid{1});
  EXPECT_EQ(blocks[0].second[1].lid, Lid{7}) << "the place of LID 2 is free";
  EXPECT_EQ(blocks[0].second[2].port, PortNum{4});
  confirm_all(tables, blocks);
  EXPECT_EQ(tables.entries(kNode), entries({{1, 1}, {3, 4}, {7, 2}}));
}

TEST(Layout, LeavesOutWhatFindsNoPlace) {
  RandomTables tables;
  RandomTables::Entries many;
  for (std::uint16_t lid = 1; lid <= 20; ++lid) many.emplace(Lid{lid}, PortNum{1});
  const auto blocks = tables.layout(kNode, many, 16, false);
  ASSERT_THAT(blocks, SizeIs(1));
  EXPECT_EQ(blocks[0].second[15].lid, Lid{16});
}

TEST(Layout, OfAllNamesBlocksThatNeedNoChange) {
  RandomTables tables;
  confirm_all(tables, tables.layout(kNode, {}, 48, false));
  EXPECT_THAT(tables.layout(kNode, {}, 48, true), SizeIs(3));
}

struct RandomSwitches : testing::Test {
  RandomSwitches() : lab("example:name=fig76", options()) {}

  static LabOptions options() {
    LabOptions out;
    out.agents.rft_cap = 64;
    return out;
  }

  /// Towards the root what has no entry of its own, by the engine that says so.
  ProgramInput partly_implicit() {
    lab.discover("updn");
    const Fabric& fabric = lab.snapshot();
    defaults = IndexVector<SwitchIdx, PortNum>(fabric.switch_count(), kNoRoute);
    for (SwitchIdx sw : fabric.switch_node.indices()) {
      // The port that most LIDs leave by serves as default; its entries need not be there.
      std::map<PortNum, unsigned> uses;
      for (std::uint16_t l = 1; l <= lab.routing.lft.top().value(); ++l)
        ++uses[lab.routing.lft.route(sw, Lid{l})];
      uses.erase(PortNum{0});
      uses.erase(kNoRoute);
      for (const auto& [port, count] : uses) {
        if (defaults[sw] == kNoRoute || count > uses[defaults[sw]]) defaults[sw] = port;
      }
    }
    full = lab.routing.lft;
    for (SwitchIdx sw : fabric.switch_node.indices()) {
      for (std::uint16_t l = 1; l <= full.top().value(); ++l) {
        if (full.route(sw, Lid{l}) == defaults[sw]) lab.routing.lft.set_route(sw, Lid{l}, kNoRoute);
      }
    }
    ProgramInput input = lab.input();
    input.default_port = &defaults;
    return input;
  }

  ProgramLab lab;
  IndexVector<SwitchIdx, PortNum> defaults;
  ForwardingTables full;
};

TEST_F(RandomSwitches, AreProgrammedWithEntriesAndDefaults) {
  const ProgramReport report = lab.program(partly_implicit());
  EXPECT_EQ(report.fault_count, 0u);
  EXPECT_EQ(lab.find_wrong_entry(full), "") << "what has no entry takes the default port";
  EXPECT_EQ(lab.find_false_claim(), "");
  EXPECT_EQ(lab.find_inactive_port(), "");
}

TEST_F(RandomSwitches, AreLeftAloneWhenNothingChanged) {
  lab.program(partly_implicit());
  const ProgramInput again = partly_implicit();
  bool set = false;
  lab.tap.on_send = [&](const Smp& smp) {
    set = set || smp.method == Method::Set;
    return true;
  };
  const ProgramReport report = lab.program(again);
  EXPECT_FALSE(set);
  EXPECT_EQ(report.blocks_read, 0u);
}

TEST_F(RandomSwitches, AreReadBackAfterARestart) {
  lab.program(partly_implicit());
  lab.state = {};
  const ProgramInput again = partly_implicit();
  bool set = false;
  lab.tap.on_send = [&](const Smp& smp) {
    set = set || smp.method == Method::Set;
    return true;
  };
  const ProgramReport report = lab.program(again);
  EXPECT_FALSE(set);
  EXPECT_EQ(report.blocks_read, 4 * lab.snapshot().switch_count());
}

TEST_F(RandomSwitches, AreWrittenAnewWhenTheyWereSwitchedOff) {
  lab.program(partly_implicit());
  const std::uint32_t node = sim::find_node(lab.fabric.spec(), "node-6");
  lab.fabric.set_node(node, false);
  lab.fabric.set_node(node, true);
  lab.program(partly_implicit());
  EXPECT_EQ(lab.find_wrong_entry(full), "");
  EXPECT_EQ(lab.find_false_claim(), "");
}

TEST_F(RandomSwitches, FollowAPlan) {
  lab.program(partly_implicit());
  lab.discover("updn");  // every route explicit from now on
  const ForwardingTables none(lab.snapshot().switch_count(), lab.routing.lft.top());
  const TransitionPlan plan = split_by_lid(none, lab.routing.lft, 2);
  ProgramInput input = lab.input();
  input.plan = &plan;
  const ProgramReport report = lab.program(input);
  EXPECT_FALSE(report.plan_interrupted);
  EXPECT_EQ(lab.find_wrong_entry(lab.routing.lft), "");
  EXPECT_EQ(lab.find_false_claim(), "");
}

TEST_F(RandomSwitches, LoseEntriesThatNobodyWantsAnyMore) {
  lab.program(partly_implicit());
  const SwitchIdx sw{0};
  const Lid lid = lab.routing.lft.top();
  lab.discover("updn");
  lab.routing.lft.set_route(sw, lid, kNoRoute);
  defaults[sw] = kNoRoute;
  const TransitionPlan plan{.kind = TransitionKind::Certified, .phases = {}};
  ProgramInput input = lab.input();
  input.plan = &plan;
  input.default_port = &defaults;
  lab.program(input);
  EXPECT_EQ(lab.fabric.lft(lab.sim_switch(sw), lid), kNoRoute);
}

TEST_F(RandomSwitches, ADefaultPortThatIsNotKeptIsAFault) {
  lab.tap.on_receive = [](Smp& smp) {
    if (smp.attribute_id != static_cast<std::uint16_t>(AttributeId::SwitchInfo)) return true;
    auto info = decode_switch_info(smp.data);
    info->default_port = PortNum{99};
    encode_switch_info(*info, smp.data);
    return true;
  };
  const ProgramReport report = lab.program(partly_implicit());
  ASSERT_GT(report.fault_count, 0u);
  EXPECT_THAT(report.faults[0].what, testing::HasSubstr("DefaultPort was not kept"));
}

}  // namespace
}  // namespace smd::test
