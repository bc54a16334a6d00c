// When LinearFDBTop moves, and how long phases wait for each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "smd/program/lft_writer.h"
#include "tests/unit/program/program_lab.h"

namespace smd::test {
namespace switch_info_test {

constexpr auto kLft = static_cast<std::uint16_t>(AttributeId::LinearForwardingTable);
constexpr auto kSwitchInfo = static_cast<std::uint16_t>(AttributeId::SwitchInfo);

/// A settled fabric whose LIDs reach further now than they did.
struct MoreLids : testing::Test {
  MoreLids() {
    lab.bring_up();
    const ForwardingTables small = lab.routing.lft;
    lab.routing.lft = ForwardingTables(lab.snapshot().switch_count(), Lid{200});
    for (SwitchIdx sw : lab.snapshot().switch_node.indices()) {
      for (std::uint16_t l = 1; l <= small.top().value(); ++l)
        lab.routing.lft.set_route(sw, Lid{l}, small.route(sw, Lid{l}));
      entries.push_back({sw, Lid{150}, PortNum{1}});
      lab.routing.lft.set_route(sw, Lid{150}, PortNum{1});
    }
  }

  std::vector<std::string> order_of_sets(const TransitionPlan* plan) {
    std::vector<std::string> order;
    lab.tap.on_send = [&](const Smp& smp) {
      if (smp.method != Method::Set) return true;
      const std::string what{print_attribute_id(smp.attribute_id)};
      if (order.empty() || order.back() != what) order.push_back(what);
      if (smp.attribute_id == kSwitchInfo) ++switch_sets;
      return true;
    };
    ProgramInput input = lab.input();
    input.plan = plan;
    report = lab.program(input);
    lab.tap.on_send = nullptr;
    return order;
  }

  ProgramLab lab{"fat-tree:k=4,levels=2"};
  std::vector<EntryChange> entries;
  ProgramReport report;
  unsigned switch_sets = 0;
};

TEST(MulticastTop, ReachesAsFarAsTheTable) {
  LabOptions options;
  options.agents.mft_cap = 96;
  ProgramLab lab("fat-tree:k=4,levels=2", options);
  const std::uint16_t before = lab.bring_up().switch_info[SwitchIdx{0}].multicast_fdb_top;
  EXPECT_NE(before, 0xc05f) << "switches that do not say that they have one keep what they have";
  lab.tap.on_receive = [](Smp& smp) {
    if (smp.attribute_id != static_cast<std::uint16_t>(AttributeId::PortInfo)) return true;
    if ((smp.attribute_modifier & 0xff) != 0) return true;
    PortInfo info = *decode_port_info(smp.data);
    info.capability_mask |= port_cap::kIsMulticastFdbTopSupported;
    encode_port_info(info, smp.data);
    return true;
  };
  lab.discover();
  const ProgramReport report = lab.program(lab.input());
  EXPECT_EQ(report.fault_count, 0u);
  for (const SwitchInfo& info : report.switch_info) EXPECT_EQ(info.multicast_fdb_top, 0xc05f);
}

TEST_F(MoreLids, ComeIntoForceAfterTheirBlocksAreKnown) {
  TransitionPlan plan{.kind = TransitionKind::Certified, .phases = {{}}};
  plan.phases[0].entries = entries;
  EXPECT_THAT(order_of_sets(&plan), testing::ElementsAre("LinearForwardingTable", "SwitchInfo"));
  EXPECT_EQ(switch_sets, lab.snapshot().switch_count());
  EXPECT_FALSE(report.plan_interrupted);
  EXPECT_EQ(lab.find_wrong_entry(lab.routing.lft), "");
  EXPECT_EQ(lab.find_false_claim(), "");
  for (const SwitchInfo& info : report.switch_info) EXPECT_EQ(info.linear_fdb_top, 200);
}

/// These LIDs, of three new blocks, in the first phase; one entry more in the second, which relies
/// on the first.
TransitionPlan two_phases(ProgramLab& lab, const std::vector<std::uint16_t>& first) {
  TransitionPlan plan{.kind = TransitionKind::Certified, .phases = {{}, {}}};
  for (const SwitchIdx sw : lab.snapshot().switch_node.indices()) {
    for (const std::uint16_t number : first) {
      const Lid lid{number};
      lab.routing.lft.set_route(sw, lid, PortNum{1});
      plan.phases[0].entries.push_back({sw, lid, PortNum{1}});
    }
  }
  lab.routing.lft.set_route(SwitchIdx{0}, Lid{151}, PortNum{2});
  plan.phases[1].entries = {{SwitchIdx{0}, Lid{151}, PortNum{2}}};
  return plan;
}

TEST_F(MoreLids, ComeIntoForceBeforeThePhaseThatReliesOnThem) {
  const TransitionPlan plan = two_phases(lab, {100, 150, 200});
  EXPECT_THAT(order_of_sets(&plan),
              testing::ElementsAre("LinearForwardingTable", "SwitchInfo", "LinearForwardingTable"));
  EXPECT_EQ(switch_sets, lab.snapshot().switch_count());
  EXPECT_EQ(lab.find_wrong_entry(lab.routing.lft), "");
}

// Nobody has a LID of the second block.
TEST_F(MoreLids, ComeIntoForceThoughThePlanLeavesABlockAlone) {
  const TransitionPlan plan = two_phases(lab, {150, 200});
  EXPECT_THAT(order_of_sets(&plan),
              testing::ElementsAre("LinearForwardingTable", "SwitchInfo", "LinearForwardingTable"));
  EXPECT_EQ(switch_sets, lab.snapshot().switch_count());
  EXPECT_FALSE(report.plan_interrupted);
  EXPECT_EQ(report.blocks_written, lab.snapshot().switch_count() * 3 + 1);
  EXPECT_EQ(lab.find_wrong_entry(lab.routing.lft), "");
  EXPECT_EQ(lab.find_false_claim(), "");
}

// What it holds is part of the proof, until a phase writes it.
TEST_F(MoreLids, ComeIntoForceBesideABlockInForceThatNobodyKnows) {
  TransitionPlan plan = two_phases(lab, {150, 200});
  for (std::uint16_t l = 1; l < kLftBlockSize; ++l)
    plan.phases[1].entries.push_back(
        {SwitchIdx{0}, Lid{l}, lab.routing.lft.route(SwitchIdx{0}, Lid{l})});
  std::ranges::sort(plan.phases[1].entries);
  lab.state.tables.forget_block(lab.snapshot().node_guid[lab.snapshot().switch_node[SwitchIdx{0}]],
                                0);
  EXPECT_THAT(order_of_sets(&plan),
              testing::ElementsAre("LinearForwardingTable", "SwitchInfo", "LinearForwardingTable"));
  EXPECT_EQ(switch_sets, lab.snapshot().switch_count());
  EXPECT_FALSE(report.plan_interrupted);
  EXPECT_EQ(lab.find_wrong_entry(lab.routing.lft), "");
}

TEST_F(MoreLids, HoldBackThePhaseThatReliesOnThem) {
  lab.tap.on_receive = [](Smp& smp) {
    if (smp.attribute_id == kSwitchInfo) smp.status = 0x1c;
    return true;
  };
  for (const std::vector<std::uint16_t>& first :
       std::vector<std::vector<std::uint16_t>>{{100, 150, 200}, {150, 200}}) {
    const TransitionPlan plan = two_phases(lab, first);
    order_of_sets(&plan);
    ASSERT_TRUE(report.plan_interrupted);
    EXPECT_EQ(report.plan_interrupted->phase, 0u);
    EXPECT_THAT(report.plan_interrupted->why, testing::HasSubstr("raising LinearFDBTop"));
    EXPECT_EQ(report.plan_interrupted->switches.size(), lab.snapshot().switch_count());
    lab.state.tables.forget_block(
        lab.snapshot().node_guid[lab.snapshot().switch_node[SwitchIdx{0}]], 1);
  }
}

TEST_F(MoreLids, ComeIntoForceAtOnceWhenNothingCarriesData) {
  TransitionPlan plan{.kind = TransitionKind::Initial, .phases = {{}}};
  plan.phases[0].entries = entries;
  EXPECT_THAT(order_of_sets(&plan), testing::ElementsAre("SwitchInfo", "LinearForwardingTable"));
  EXPECT_EQ(lab.find_wrong_entry(lab.routing.lft), "");
}

TEST_F(MoreLids, ComeIntoForceAtOnceWhereTheirBlocksAreKnown) {
  TransitionPlan plan{.kind = TransitionKind::Certified, .phases = {{}}};
  plan.phases[0].entries = entries;
  order_of_sets(&plan);
  lab.take_port_info(report);
  const ForwardingTables large = lab.routing.lft;
  ForwardingTables small(lab.snapshot().switch_count(), Lid{60});
  for (SwitchIdx sw : lab.snapshot().switch_node.indices()) {
    for (std::uint16_t l = 1; l <= 60; ++l) small.set_route(sw, Lid{l}, large.route(sw, Lid{l}));
  }
  lab.routing.lft = small;
  const TransitionPlan nothing;
  EXPECT_THAT(order_of_sets(&nothing), testing::ElementsAre("SwitchInfo"));
  lab.take_port_info(report);
  lab.routing.lft = large;
  EXPECT_THAT(order_of_sets(&nothing), testing::ElementsAre("SwitchInfo"));
  EXPECT_EQ(lab.find_wrong_entry(large), "");
}

TEST_F(MoreLids, StayOutOfForceWhenThePlanIsInterrupted) {
  TransitionPlan plan{.kind = TransitionKind::Certified, .phases = {{}}};
  plan.phases[0].entries = entries;
  lab.tap.on_receive = [](Smp& smp) {
    if (smp.attribute_id == kLft) smp.status = 0x1c;
    return true;
  };
  order_of_sets(&plan);
  EXPECT_TRUE(report.plan_interrupted);
  EXPECT_EQ(switch_sets, 0u);
}

TEST_F(MoreLids, BlocksThatNoEntryTouchesAreWrittenBeforeTheyShow) {
  // What a switch holds above LinearFDBTop is anything.
  TransitionPlan plan{.kind = TransitionKind::Certified, .phases = {{}}};
  plan.phases[0].entries = entries;
  order_of_sets(&plan);
  for (SwitchIdx sw : lab.snapshot().switch_node.indices()) {
    const Guid guid = lab.snapshot().node_guid[lab.snapshot().switch_node[sw]];
    for (std::uint32_t number = 0; number <= 3; ++number)
      EXPECT_TRUE(lab.state.tables.find_block(guid, number));
  }
}

TEST(WholeTables, GoUpToTheHighestLidOrAsFarAsTheSwitchGoes) {
  LabOptions options;
  options.agents.lft_cap = 640;
  for (const bool literal : {false, true}) {
    ProgramLab lab("fat-tree:k=4,levels=2", options);
    lab.bring_up();
    TransitionPlan plan{.kind = TransitionKind::Unordered, .phases = {{}}, .whole_tables = true};
    plan.phases[0].to_wanted = true;
    ProgramInput input = lab.input();
    input.plan = &plan;
    if (literal) input.writing = kThesisWriting;
    const ProgramReport report = lab.program(input);
    EXPECT_EQ(report.blocks_written, lab.snapshot().switch_count() * (literal ? 10u : 1u));
    const auto& lft = lab.fabric.node_state(lab.sim_switch(SwitchIdx{0})).lft;
    ASSERT_EQ(lft.size(), literal ? 640u : 64u);
    EXPECT_EQ(lft.back(), kNoRoute) << "nobody has that LID";
  }
}

TEST(DrainedPlans, WaitBetweenPhasesAndNotAfterTheLast) {
  for (const InFlight in_flight : {InFlight::Linger, InFlight::Drained}) {
    ProgramLab lab("fat-tree:k=4,levels=2");
    lab.bring_up();
    TransitionPlan plan{.kind = TransitionKind::Certified, .phases = {{}, {}, {}}};
    plan.in_flight = in_flight;
    ProgramInput input = lab.input();
    input.plan = &plan;
    const Duration drain_time = std::chrono::milliseconds(100);
    input.writing.drain_time = drain_time;
    const TimePoint began = lab.runtime.now();
    lab.program(input);
    const Duration took = lab.runtime.now() - began;
    const Duration waits = in_flight == InFlight::Drained ? 2 * drain_time : Duration{0};
    EXPECT_GE(took, waits);
    EXPECT_LT(took, waits + drain_time);
  }
}

/// From the beginning of the plan to its first forwarding block, with a drain time of 100 ms.
Duration time_to_entries(ProgramLab& lab, const TransitionPlan& plan) {
  ProgramInput input = lab.input();
  input.plan = &plan;
  input.writing.drain_time = std::chrono::milliseconds(100);
  const TimePoint began = lab.runtime.now();
  std::optional<Duration> waited;
  lab.tap.on_send = [&](const Smp& smp) {
    if (!waited && smp.attribute_id == kLft) waited = lab.runtime.now() - began;
    return true;
  };
  (void)lab.program(input);
  lab.tap.on_send = nullptr;
  EXPECT_TRUE(waited);
  return waited.value_or(Duration{0});
}

// Its proof begins with what switches hold, and knows nothing of what an entry was before that.
TEST(DrainedPlans, BeginWhenWhatAPlanBeforeReplacedHasDrained) {
  using std::chrono::milliseconds;
  for (const bool refused : {false, true}) {
    SCOPED_TRACE(refused);
    ProgramLab lab("fat-tree:k=4,levels=2");
    lab.spread_lids(10);
    lab.bring_up();
    const ForwardingTables first = lab.routing.lft;
    const ForwardingTables second = turned_tables(lab.snapshot(), first);
    TransitionPlan there = split_by_lid(first, second, 1), back = split_by_lid(second, first, 1);
    lab.tap.on_receive = [&](Smp& smp) {
      if (refused && smp.attribute_id == kLft && smp.attribute_modifier == 1) smp.status = 0x1c;
      return true;
    };
    lab.routing.lft = second;
    EXPECT_LT(time_to_entries(lab, there), milliseconds(50)) << "nothing was replaced";
    lab.tap.on_receive = nullptr;
    lab.routing.lft = first;
    lab.runtime.run_until(lab.runtime.now() + milliseconds(40));
    const Duration waited = time_to_entries(lab, back);
    EXPECT_GT(waited, milliseconds(50));
    EXPECT_LE(waited, milliseconds(65)) << "40 ms of it had passed";
    lab.runtime.run_until(lab.runtime.now() + milliseconds(100));
    lab.routing.lft = second;
    EXPECT_LT(time_to_entries(lab, there), milliseconds(10)) << "it has drained by itself";
    lab.routing.lft = first;
    back.kind = TransitionKind::Initial;
    EXPECT_LT(time_to_entries(lab, back), milliseconds(10)) << "nothing carries data";
  }
}

TEST(UnreadBlocks, AreThoseInForceOfWhichNothingIsKnown) {
  ProgramLab lab("fat-tree:k=4,levels=2");
  lab.spread_lids(10);
  lab.bring_up();
  EXPECT_TRUE(find_unread_blocks(lab.snapshot(), lab.lids.top, lab.state.tables).empty());
  const SwitchIdx sw{3};
  lab.state.tables.forget_block(lab.snapshot().node_guid[lab.snapshot().switch_node[sw]], 1);
  EXPECT_THAT(find_unread_blocks(lab.snapshot(), lab.lids.top, lab.state.tables),
              testing::ElementsAre(TableBlock{sw, 1}));
  EXPECT_THAT(find_unread_blocks(lab.snapshot(), Lid{63}, lab.state.tables), testing::IsEmpty());
}

}  // namespace switch_info_test
}  // namespace smd::test
