// Blocked turns lie over the rows that the site wants.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/program/program_lab.h"

namespace smd::test {
namespace turns_test {

using Held = TurnMemory::Held;

constexpr auto kRows = static_cast<std::uint16_t>(AttributeId::SlToVlMappingTable);

SlToVl row_of(std::initializer_list<unsigned> lanes) {
  SlToVl row;
  for (std::size_t sl = 0; sl < row.size(); ++sl)
    row[sl] = Vl{static_cast<std::uint8_t>(*(lanes.begin() + sl % lanes.size()))};
  return row;
}

struct Turns : testing::Test {
  Turns() { lab.bring_up(); }

  ProgramReport run(std::vector<Turn> block, std::vector<Turn> restore) {
    TransitionPlan plan{.kind = TransitionKind::CutDependencies, .phases = {{}}};
    plan.phases[0].block = std::move(block);
    plan.phases[0].restore = std::move(restore);
    ProgramInput input = lab.input();
    input.plan = &plan;
    input.qos = qos;
    input.writing.reads_before_blocking = reads_before;
    return lab.program(input);
  }

  [[nodiscard]] SlToVl held() const {
    return lab.fabric.sl_to_vl(lab.sim_switch(turn.sw), turn.in, turn.out);
  }

  /// Rows set and read from now on.
  void count_rows() {
    lab.tap.on_send = [this](const Smp& smp) {
      if (smp.attribute_id == kRows) ++(smp.method == Method::Set ? sets : gets);
      return true;
    };
  }

  ProgramLab lab{"fat-tree:k=4,levels=2"};
  Turn turn{SwitchIdx{1}, PortNum{1}, PortNum{2}};
  QosPolicy qos;
  bool reads_before = true;
  unsigned gets = 0;
  unsigned sets = 0;
};

TEST_F(Turns, AreBlockedForEverySl) {
  const ProgramReport report = run({turn}, {});
  EXPECT_EQ(report.turns_blocked, 1u);
  EXPECT_EQ(held(), row_of({15}));
  EXPECT_THAT(lab.state.turns.collect(lab.snapshot(), Held::Blocked), testing::ElementsAre(turn));
  EXPECT_EQ(lab.find_false_claim(), "");
}

TEST_F(Turns, AreRestoredToWhatTheSwitchHeldBefore) {
  const SlToVl before = held();
  run({turn}, {});
  const ProgramReport report = run({}, {turn});
  EXPECT_EQ(report.turns_restored, 1u);
  EXPECT_EQ(held(), before);
  EXPECT_THAT(lab.state.turns.collect(lab.snapshot(), Held::Blocked), testing::IsEmpty());
}

TEST_F(Turns, AreRestoredToWhatTheSiteConfiguredSince) {
  run({turn}, {});
  qos.sl_to_vl = row_of({3, 1, 15, 9});
  run({}, {turn});
  // Eight lanes here: lane 9 does not exist, and 15 is meant to discard.
  EXPECT_EQ(held(), row_of({3, 1, 15, 1}));
}

TEST_F(Turns, AreRestoredAsTheQosAuditWouldWriteThem) {
  qos.sl_to_vl = row_of({0, 5, 11, 15, 7});
  run({}, {turn});
  const SlToVl restored = held();
  ProgramLab other("fat-tree:k=4,levels=2");
  other.bring_up();
  ProgramInput input = other.input();
  input.qos = qos;
  other.program(input);
  EXPECT_EQ(restored, other.fabric.sl_to_vl(other.sim_switch(turn.sw), turn.in, turn.out));
}

TEST_F(Turns, OfWhichNothingIsKnownAreOpenedLaneByLane) {
  reads_before = false;
  run({turn}, {});
  run({}, {turn});
  EXPECT_EQ(held(), row_of({0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST_F(Turns, StayBlockedUnderTheQosAudit) {
  qos.sl_to_vl = row_of({0, 1});
  run({turn}, {});
  EXPECT_EQ(held(), row_of({15}));
  lab.state.audited.reset();
  run({}, {});
  EXPECT_EQ(held(), row_of({15}));
}

TEST_F(Turns, CostNothingWhenTheyAreSoAlready) {
  run({turn}, {});
  count_rows();
  run({turn}, {});
  EXPECT_EQ(gets + sets, 0u);
  run({}, {turn});
  run({}, {turn});
  EXPECT_EQ(sets, 1u);
}

TEST_F(Turns, AreReadBeforeTheyAreBlockedWhereNobodyTellsTheRow) {
  count_rows();
  run({turn}, {});
  EXPECT_EQ(gets, 1u);
  EXPECT_EQ(sets, 1u);
  qos.sl_to_vl = row_of({0});
  run({turn}, {});  // looks everywhere
  gets = sets = 0;
  const Turn other{SwitchIdx{1}, PortNum{2}, PortNum{1}};
  run({other}, {});
  EXPECT_EQ(gets, 0u);
  EXPECT_EQ(sets, 1u);
}

TEST_F(Turns, ThatWereBlockedByAFormerLifeAreNotRestoredToThat) {
  run({turn}, {});
  lab.state = {};
  run({turn}, {});
  run({}, {turn});
  EXPECT_EQ(held(), row_of({0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST_F(Turns, ThatAreNotKeptInterruptThePlan) {
  lab.tap.on_receive = [](Smp& smp) {
    if (smp.attribute_id == kRows) encode_sl_to_vl(row_of({0, 1, 2, 3, 4, 5, 6, 7}), smp.data);
    return true;
  };
  const ProgramReport report = run({turn}, {});
  ASSERT_TRUE(report.plan_interrupted);
  EXPECT_THAT(report.plan_interrupted->why, testing::HasSubstr("blocking turns of phase 1"));
  EXPECT_THAT(report.plan_interrupted->switches,
              testing::ElementsAre(lab.snapshot().node_guid[lab.snapshot().switch_node[turn.sw]]));
  EXPECT_EQ(report.turns_blocked, 0u);
}

TEST_F(Turns, InDoubtAreOpenedByTheNextRun) {
  // The Set arrives, no answer ever does.
  lab.tap.on_receive = [](Smp& smp) {
    if (smp.attribute_id == kRows) smp.transaction_id ^= 0xffff;
    return true;
  };
  EXPECT_TRUE(run({turn}, {}).plan_interrupted);
  EXPECT_THAT(lab.state.turns.collect(lab.snapshot(), Held::Blocked), testing::IsEmpty());
  lab.tap.on_receive = nullptr;
  EXPECT_FALSE(run({}, {}).plan_interrupted);
  EXPECT_EQ(held()[0], Vl{0});
  EXPECT_THAT(lab.state.turns.collect(lab.snapshot(), Held::Unknown), testing::IsEmpty());
  EXPECT_EQ(lab.find_false_claim(), "");
}

TEST_F(Turns, ThatAFormerLifeWroteDownAreOpened) {
  run({turn}, {});
  const std::vector<TurnRef> written = lab.state.turns.maybe_blocked();
  ASSERT_THAT(written, testing::SizeIs(1));
  lab.state = {};
  for (const TurnRef& each : written) lab.state.turns.suspect(each);
  EXPECT_EQ(lab.state.turns.maybe_blocked(), written);
  run({}, {});
  EXPECT_EQ(held()[0], Vl{0});
  EXPECT_THAT(lab.state.turns.maybe_blocked(), testing::IsEmpty());
}

// Whoever has ruled it meanwhile need not have opened what was blocked.
TEST(TurnMemory, OfASwitchThatIsDoubtedIsNotLost) {
  const Guid node{0x1234};
  ProgramState state;
  state.turns.at(node, PortNum{1}, PortNum{2}) = {.held = TurnMemory::Held::Blocked};
  state.doubt(node);
  ASSERT_EQ(state.turns.maybe_blocked().size(), 1u);
  EXPECT_EQ(state.turns.find(node, PortNum{1}, PortNum{2})->held, TurnMemory::Held::Unknown);
  state.forget(node);
  EXPECT_THAT(state.turns.maybe_blocked(), testing::IsEmpty());
}

TEST_F(Turns, OfASwitchThatWasSwitchedOffAreForgotten) {
  run({turn}, {});
  lab.fabric.set_node(lab.sim_switch(turn.sw), false);
  lab.fabric.set_node(lab.sim_switch(turn.sw), true);
  lab.bring_up();
  EXPECT_THAT(lab.state.turns.collect(lab.snapshot(), Held::Blocked), testing::IsEmpty());
  EXPECT_EQ(lab.find_false_claim(), "");
}

TEST(TurnMemory, LeavesOutPortsThatTheSwitchNoLongerHas) {
  ProgramLab lab("fat-tree:k=4,levels=2");
  lab.discover();
  const Guid guid = lab.snapshot().node_guid[lab.snapshot().switch_node[SwitchIdx{0}]];
  TurnMemory memory;
  memory.at(guid, PortNum{1}, PortNum{200}).held = Held::Blocked;
  memory.at(Guid{0x77}, PortNum{1}, PortNum{2}).held = Held::Blocked;
  EXPECT_THAT(memory.collect(lab.snapshot(), Held::Blocked), testing::IsEmpty());
}

}  // namespace turns_test
}  // namespace smd::test
