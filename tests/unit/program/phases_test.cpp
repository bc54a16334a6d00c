// Phases, their lists and their barriers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "tests/unit/program/program_lab.h"

namespace smd::test {
namespace {

constexpr const char* kTree = "fat-tree:k=4,levels=2";

TEST(WithoutPlan, EverythingIsWrittenAndActive) {
  ProgramLab lab(kTree);
  const ProgramReport report = lab.bring_up();
  EXPECT_EQ(report.fault_count, 0u);
  EXPECT_EQ(report.ports_not_active, 0u);
  EXPECT_EQ(report.not_kept_count, 0u);
  EXPECT_FALSE(report.plan_interrupted);
  EXPECT_EQ(lab.find_inactive_port(), "");
  EXPECT_EQ(lab.find_wrong_entry(lab.routing.lft), "");
  EXPECT_EQ(lab.find_false_claim(), "");
}

TEST(WithoutPlan, ASecondRunSetsNothing) {
  ProgramLab lab(kTree);
  lab.bring_up();
  lab.discover();
  bool set = false;
  lab.tap.on_send = [&](const Smp& smp) {
    set = set || smp.method == Method::Set;
    return true;
  };
  const ProgramReport report = lab.program(lab.input());
  EXPECT_FALSE(set);
  EXPECT_EQ(report.blocks_written, 0u);
}

TEST(WithoutPlan, AManagerThatRestartsReadsAndWritesNothing) {
  ProgramLab lab(kTree);
  lab.spread_lids(10);
  lab.bring_up();
  lab.state = {};
  lab.discover();
  bool set = false;
  lab.tap.on_send = [&](const Smp& smp) {
    set = set || smp.method == Method::Set;
    return true;
  };
  const ProgramReport report = lab.program(lab.input());
  EXPECT_FALSE(set);
  EXPECT_EQ(report.blocks_read, lab.snapshot().switch_count() * lab.routing.lft.blocks());
}

struct Change : testing::Test {
  Change() {
    lab.spread_lids(10);
    lab.bring_up();
    before = lab.routing.lft;
    lab.routing.lft = turned_tables(lab.snapshot(), before);
    plan = split_by_lid(before, lab.routing.lft, 3);
  }

  ProgramReport run() {
    ProgramInput input = lab.input();
    input.plan = &plan;
    input.blocks = blocks;
    return lab.program(input);
  }

  ProgramLab lab{kTree};
  ForwardingTables before;
  TransitionPlan plan;
  BlockChoice blocks = BlockChoice::Changed;
};

TEST_F(Change, PhasesFollowEachOtherAndEndInTheWantedTables) {
  std::string mixed;
  std::size_t looks = 0;
  lab.tap.on_send = [&](const Smp&) {
    ++looks;
    if (mixed.empty()) mixed = find_mixed_phases(lab, plan);
    return true;
  };
  const ProgramReport report = run();
  EXPECT_EQ(mixed, "");
  EXPECT_GT(looks, 10u);
  EXPECT_EQ(report.phases_done, 3u);
  EXPECT_FALSE(report.plan_interrupted);
  EXPECT_EQ(report.fault_count, 0u);
  EXPECT_EQ(lab.find_wrong_entry(lab.routing.lft), "");
  EXPECT_EQ(lab.find_false_claim(), "");
}

TEST_F(Change, OnlyBlocksWithChangesAreSent) {
  // Everything but the entries of one LID on one switch stays.
  lab.routing.lft = before;
  const SwitchIdx sw{2};
  const Lid lid{static_cast<std::uint16_t>(lab.lids.top.value())};
  lab.routing.lft.set_route(sw, lid, kNoRoute);
  plan.phases.assign(1, {});
  plan.phases[0].entries = {{sw, lid, kNoRoute}};
  std::vector<std::uint32_t> sent;
  lab.tap.on_send = [&](const Smp& smp) {
    if (smp.method == Method::Set) sent.push_back(smp.attribute_modifier);
    return true;
  };
  const ProgramReport report = run();
  EXPECT_THAT(sent, testing::ElementsAre(lid.value() / 64u));
  EXPECT_EQ(report.blocks_written, 1u);
  EXPECT_EQ(lab.find_wrong_entry(lab.routing.lft), "");
}

TEST_F(Change, WholeTablesGoOutOnceAndPhaseByPhaseAfterwards) {
  blocks = BlockChoice::ToTop;
  std::map<std::uint32_t, unsigned> sent;
  lab.tap.on_send = [&](const Smp& smp) {
    if (smp.attribute_id == static_cast<std::uint16_t>(AttributeId::LinearForwardingTable))
      ++sent[smp.attribute_modifier];
    return true;
  };
  std::string mixed;
  lab.tap.on_receive = [&](Smp&) {
    if (mixed.empty()) mixed = find_mixed_phases(lab, plan);
    return true;
  };
  run();
  EXPECT_EQ(mixed, "");
  ASSERT_EQ(sent.size(), lab.routing.lft.blocks());
  for (const auto& [number, times] : sent) EXPECT_GE(times, lab.snapshot().switch_count());
  EXPECT_EQ(lab.find_wrong_entry(lab.routing.lft), "");
}

TEST_F(Change, ConsecutiveBlocksGoToDifferentSwitches) {
  plan = split_by_lid(before, lab.routing.lft, 1);
  std::vector<std::string> paths;
  lab.tap.on_send = [&](const Smp& smp) {
    if (smp.method == Method::Set)
      paths.emplace_back(reinterpret_cast<const char*>(smp.initial_path.data()),
                         smp.initial_path.size());
    return true;
  };
  run();
  ASSERT_GT(paths.size(), 10u);
  unsigned same = 0;
  for (std::size_t i = 1; i < paths.size(); ++i) same += paths[i] == paths[i - 1] ? 1 : 0;
  EXPECT_EQ(same, 0u);
}

TEST_F(Change, AnEntryThatNoPhaseNamesIsReported) {
  plan.phases.pop_back();
  const ProgramReport report = run();
  ASSERT_TRUE(report.plan_interrupted);
  EXPECT_EQ(report.plan_interrupted->phase, 2u);
  EXPECT_THAT(report.plan_interrupted->why, testing::HasSubstr("not as wanted"));
  EXPECT_EQ(find_mixed_phases(lab, plan), "");
}

TEST_F(Change, APlanWithoutPhasesWritesNothing) {
  lab.routing.lft = before;
  plan = {};
  bool set = false;
  lab.tap.on_send = [&](const Smp& smp) {
    set = set || smp.method == Method::Set;
    return true;
  };
  const ProgramReport report = run();
  EXPECT_FALSE(set);
  EXPECT_FALSE(report.plan_interrupted);
}

TEST_F(Change, TheListsOfAPhaseComeInOrder) {
  const Fabric& fabric = lab.snapshot();
  const SwitchIdx sw{0};
  plan = split_by_lid(before, lab.routing.lft, 1);
  plan.phases[0].block = {{sw, PortNum{1}, PortNum{2}}};
  plan.phases[0].restore = {{sw, PortNum{2}, PortNum{1}}};
  const PortIdx down = fabric.port_of(fabric.switch_node[sw], PortNum{1});
  plan.phases[0].deactivate = {down};
  plan.phases[0].activate = {down, fabric.peer[down]};
  std::vector<std::string> order;
  lab.tap.on_send = [&](const Smp& smp) {
    if (smp.method != Method::Set) return true;
    std::string what{print_attribute_id(smp.attribute_id)};
    if (smp.attribute_id == static_cast<std::uint16_t>(AttributeId::PortInfo))
      what = print_port_state(decode_port_info(smp.data)->state());
    if (smp.attribute_id == static_cast<std::uint16_t>(AttributeId::SlToVlMappingTable))
      what = (*decode_sl_to_vl(smp.data))[0] == kManagementVl ? "block" : "restore";
    if (order.empty() || order.back() != what) order.push_back(what);
    return true;
  };
  const ProgramReport report = run();
  EXPECT_FALSE(report.plan_interrupted);
  EXPECT_THAT(
      order,
      testing::ElementsAre("block", "restore", "Down", "LinearForwardingTable", "Armed", "Active"));
  EXPECT_EQ(lab.find_inactive_port(), "");
}

// Entries lead over the link, and it carries nothing.
TEST(LinksThatDoNotBecomeActive, EndThePlanBeforeTheEntriesThatRelyOnThem) {
  ProgramLab lab(kTree);
  lab.bring_up();
  const std::uint32_t spine = lab.sim_switch(lab.switch_named("sw-1-0"));
  lab.fabric.set_link(spine, PortNum{1}, false);
  lab.runtime.run_until(lab.runtime.now() + std::chrono::seconds(1));
  lab.fabric.set_link(spine, PortNum{1}, true);
  lab.runtime.run_until(lab.runtime.now() + std::chrono::seconds(1));
  lab.discover();
  const ForwardingTables before = lab.routing.lft;
  lab.routing.lft = turned_tables(lab.snapshot(), before);
  const Fabric& fabric = lab.snapshot();
  const PortIdx end = fabric.port_of(fabric.switch_node[lab.switch_named("sw-1-0")], PortNum{1});
  TransitionPlan plan = split_by_lid(before, lab.routing.lft, 1);
  plan.kind = TransitionKind::Certified;
  std::vector<PortIdx> ends{end, fabric.peer[end]};
  std::ranges::sort(ends);
  plan.phases.insert(plan.phases.begin(), TransitionPhase{.activate = ends});
  unsigned blocks = 0;
  lab.tap.on_send = [&](const Smp& smp) {
    if (smp.method != Method::Set) return true;
    blocks += sim::is_about(smp, AttributeId::LinearForwardingTable) ? 1u : 0u;
    return !sim::is_about(smp, AttributeId::PortInfo) ||
           decode_port_info(smp.data)->state() != PortState::Active;
  };
  ProgramInput input = lab.input();
  input.plan = &plan;
  const ProgramReport report = lab.program(input);
  ASSERT_TRUE(report.plan_interrupted);
  EXPECT_EQ(report.plan_interrupted->phase, 0u);
  EXPECT_TRUE(report.plan_interrupted->switches.empty()) << "nobody is to blame";
  EXPECT_EQ(report.plan_interrupted->links.size(), 2u);
  EXPECT_EQ(blocks, 0u);

  lab.tap.on_send = nullptr;
  EXPECT_FALSE(lab.program(input).plan_interrupted);
  EXPECT_EQ(lab.find_inactive_port(), "");
}

/// From the last SL-to-VL entry to the first forwarding block, with a drain time of 100 ms.
Duration time_before_entries(ProgramLab& lab, const TransitionPlan& plan, const SlToVlMaps* rows) {
  ProgramInput input = lab.input();
  input.plan = &plan;
  input.sl_to_vl = rows;
  input.writing.drain_time = std::chrono::milliseconds(100);
  std::optional<TimePoint> closed, written;
  lab.tap.on_send = [&](const Smp& smp) {
    if (smp.method != Method::Set) return true;
    if (smp.attribute_id == static_cast<std::uint16_t>(AttributeId::SlToVlMappingTable))
      closed = lab.runtime.now();
    if (smp.attribute_id == static_cast<std::uint16_t>(AttributeId::LinearForwardingTable))
      written = written.value_or(lab.runtime.now());
    return true;
  };
  EXPECT_FALSE(lab.program(input).plan_interrupted);
  EXPECT_TRUE(closed && written);
  return written.value_or(TimePoint{}) - closed.value_or(TimePoint{});
}

// Packets that a switch looked up before wait for the output of the turn: entries that close a
// circle with it come when they are gone.
TEST_F(Change, EntriesWaitUntilWhatABlockedTurnHoldsIsGone) {
  plan = split_by_lid(before, lab.routing.lft, 1);
  plan.kind = TransitionKind::CutDependencies;
  plan.phases[0].block = {{SwitchIdx{0}, PortNum{1}, PortNum{2}}};
  EXPECT_GE(time_before_entries(lab, plan, nullptr), std::chrono::milliseconds(100));
}

TEST_F(Change, EntriesWaitForDiscardedSlsAndNotForRowsThatDiscardNothing) {
  const SlToVlMaps rows = build_switch_rows(lab.snapshot(), {}, modulo_row(2));
  for (const TransitionKind kind : {TransitionKind::CutDependencies, TransitionKind::Certified}) {
    ProgramLab other(kTree);
    other.spread_lids(10);
    other.bring_up();
    const ForwardingTables held = other.routing.lft;
    other.routing.lft = turned_tables(other.snapshot(), held);
    TransitionPlan change = split_by_lid(held, other.routing.lft, 1);
    change.kind = kind;
    change.phases[0].sl_to_vl = true;
    const Duration waited = time_before_entries(other, change, &rows);
    EXPECT_EQ(waited >= std::chrono::milliseconds(100), kind == TransitionKind::CutDependencies);
  }
}

}  // namespace
}  // namespace smd::test
