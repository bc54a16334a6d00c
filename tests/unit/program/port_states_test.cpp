// Ports that a plan takes down and brings up, and by which way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/unit/program/program_lab.h"

namespace smd::test {
namespace port_states_test {

constexpr auto kPortInfo = static_cast<std::uint16_t>(AttributeId::PortInfo);

struct Ports : testing::Test {
  Ports() {
    lab.bring_up();
    const Fabric& fabric = lab.snapshot();
    for (PortIdx each : fabric.peer.indices()) {
      const PortIdx peer = fabric.peer[each];
      if (peer != kNone<PortIdx> && fabric.is_switch(fabric.node_of[each]) &&
          fabric.is_switch(fabric.node_of[peer]) && port == kNone<PortIdx>)
        port = each;
    }
    plan.phases[0].deactivate = {port};
    plan.phases[0].activate = {port, fabric.peer[port]};
  }

  ProgramReport run() {
    input = lab.input();
    input.plan = &plan;
    input.writing.lid_routed_activation = lid_routed;
    input.writing.one_set_activation = one_set;
    return lab.program(input);
  }

  [[nodiscard]] PortRef ref(PortIdx each) const {
    const Fabric& fabric = lab.snapshot();
    return {fabric.node_guid[fabric.node_of[each]], fabric.number_of(each)};
  }

  ProgramLab lab{"fat-tree:k=4,levels=2"};
  PortIdx port = kNone<PortIdx>;
  TransitionPlan plan{.kind = TransitionKind::CutPorts, .phases = {{}}};
  ProgramInput input;
  bool lid_routed = false;
  bool one_set = false;
};

TEST_F(Ports, TakenDownComeUpAgainOnBothEnds) {
  const ProgramReport report = run();
  EXPECT_FALSE(report.plan_interrupted);
  EXPECT_EQ(report.fault_count, 0u);
  EXPECT_EQ(report.ports_deactivated, 1u);
  EXPECT_EQ(report.ports_activated, 2u);
  EXPECT_EQ(report.ports_not_active, 0u);
  EXPECT_EQ(lab.find_inactive_port(), "");
}

TEST_F(Ports, TakenDownAreNamedWithTheirFarEnds) {
  const ProgramReport report = run();
  std::vector<PortRef> ends{ref(port), ref(lab.snapshot().peer[port])};
  std::ranges::sort(ends);
  EXPECT_EQ(report.retrained, ends);
}

TEST_F(Ports, ThatThePlanForgetsToBringUpComeUpAllTheSame) {
  plan.phases[0].activate.clear();
  const ProgramReport report = run();
  EXPECT_EQ(lab.find_inactive_port(), "");
  EXPECT_EQ(report.activate.smps, 0u);
  EXPECT_GT(report.configure.smps, 0u);
}

TEST_F(Ports, WhoseFarEndIsOnTheListNeedNoSetOfTheirOwn) {
  plan.phases[0].deactivate = {port, lab.snapshot().peer[port]};
  std::ranges::sort(plan.phases[0].deactivate);
  const ProgramReport report = run();
  EXPECT_EQ(report.deactivate.smps, 1u);
  EXPECT_EQ(lab.find_inactive_port(), "");
}

TEST_F(Ports, CountAsUpUntilSomebodyAnswersThatTheyAreDown) {
  // The Set arrives, its answers do not; for all the manager knows, it did not arrive.
  const PortIdx peer = lab.snapshot().peer[port];
  const PortNum number = lab.snapshot().number_of(port);
  bool deaf = true;
  lab.tap.on_receive = [&](Smp& smp) {
    if (deaf && smp.attribute_id == kPortInfo) smp.transaction_id ^= 0xffff;
    return true;
  };
  const ProgramReport report = run();
  ASSERT_TRUE(report.plan_interrupted);
  EXPECT_THAT(report.plan_interrupted->why, testing::HasSubstr("deactivating ports of phase 1"));
  EXPECT_EQ(report.port_info[port].state(), PortState::Active);
  EXPECT_EQ(report.port_info[peer].state(), PortState::Active);
  EXPECT_EQ(lab.fabric.port_info(lab.sim_switch(lab.snapshot().switch_at(port)), number).state(),
            PortState::Initialize);
  deaf = false;
  lab.discover();
  plan.phases[0] = {};
  run();
  EXPECT_EQ(lab.find_inactive_port(), "");
}

TEST_F(Ports, AreLookedAtWhenTheAnswerToDownIsLost) {
  unsigned swallowed = 0;
  lab.tap.on_receive = [&](Smp& smp) {
    if (smp.attribute_id == kPortInfo && swallowed < 4) {
      ++swallowed;
      smp.transaction_id ^= 0xffff;
    }
    return true;
  };
  const ProgramReport report = run();
  EXPECT_EQ(swallowed, 4u);  // the Set and its three retries
  EXPECT_FALSE(report.plan_interrupted);
  EXPECT_EQ(lab.find_inactive_port(), "");
}

TEST_F(Ports, ThatAreStillTrainingAreWaitedFor) {
  // The agent shows Down for a while: the link trains.
  unsigned rounds = 0;
  lab.tap.on_send = [&](const Smp& smp) {
    if (smp.method == Method::Set && smp.attribute_id == kPortInfo &&
        decode_port_info(smp.data)->state() == PortState::Armed)
      ++rounds;
    return true;
  };
  lab.tap.on_receive = [&](Smp& smp) {
    if (smp.attribute_id != kPortInfo || rounds == 0 || rounds > 6) return true;
    auto info = decode_port_info(smp.data);
    info->port_state = static_cast<std::uint8_t>(PortState::Down);
    encode_port_info(*info, smp.data);
    return true;
  };
  const TimePoint began = lab.runtime.now();
  const ProgramReport report = run();
  EXPECT_EQ(report.fault_count, 0u);
  EXPECT_EQ(lab.find_inactive_port(), "");
  EXPECT_GE(lab.runtime.now() - began, Duration(std::chrono::milliseconds(300)));
}

TEST_F(Ports, ThatNeverTrainAreAFaultAndNotWaitedForForever) {
  lab.tap.on_receive = [&](Smp& smp) {
    if (smp.attribute_id != kPortInfo || (smp.attribute_modifier & 0xff) == 0) return true;
    auto info = decode_port_info(smp.data);
    info->port_state = static_cast<std::uint8_t>(PortState::Down);
    encode_port_info(*info, smp.data);
    return true;
  };
  const ProgramReport report = run();
  EXPECT_GT(report.fault_count, 0u);
  EXPECT_FALSE(report.plan_interrupted) << "a port that is down carries nothing";
  EXPECT_EQ(report.ports_not_active, 2u);
}

TEST_F(Ports, ComeUpOverTheNewTablesWhenAskedTo) {
  lid_routed = true;
  std::set<bool> directed;
  lab.tap.on_send = [&](const Smp& smp) {
    if (smp.method == Method::Set && smp.attribute_id == kPortInfo &&
        decode_port_info(smp.data)->state() >= PortState::Armed)
      directed.insert(smp.directed);
    return true;
  };
  const ProgramReport report = run();
  EXPECT_EQ(report.fault_count, 0u);
  EXPECT_THAT(directed, testing::ElementsAre(false));
  EXPECT_EQ(lab.find_inactive_port(), "");
}

TEST_F(Ports, FallBackToDirectedRoutesWhenNobodyAnswersByLid) {
  lid_routed = true;
  lab.tap.on_send = [](const Smp& smp) { return smp.directed; };
  const ProgramReport report = run();
  EXPECT_EQ(report.fault_count, 0u);
  EXPECT_EQ(lab.find_inactive_port(), "");
}

TEST(LidRouted, PortsWithoutTheirLidYetAreSetByDirectedRoute) {
  ProgramLab lab("fat-tree:k=4,levels=2");
  lab.discover();
  ProgramInput input = lab.input();
  input.writing.lid_routed_activation = true;
  const ProgramReport report = lab.program(input);
  EXPECT_EQ(report.fault_count, 0u);
  EXPECT_EQ(lab.client.stats().timeouts, 0u);
  EXPECT_EQ(lab.find_inactive_port(), "");
}

TEST_F(Ports, ThatWantArmedInBetweenGetItAfterOneSetWasRefused) {
  one_set = true;
  const ProgramReport report = run();
  EXPECT_EQ(report.fault_count, 0u);
  EXPECT_EQ(lab.find_inactive_port(), "");
}

TEST(CameUp, NamesPortsThatWereInInitialize) {
  ProgramLab lab("fat-tree:k=4,levels=2");
  lab.discover();
  std::vector<PortIdx> initial;
  for (PortIdx each : lab.snapshot().peer.indices()) {
    if (is_managed(lab.snapshot(), each) &&
        lab.snapshot().port_info[each].state() == PortState::Initialize)
      initial.push_back(each);
  }
  EXPECT_GE(initial.size(), 2 * lab.snapshot().link_count());
  const ProgramReport first = lab.program(lab.input());
  EXPECT_EQ(first.came_up, initial);
  lab.take_port_info(first);
  EXPECT_TRUE(lab.program(lab.input()).came_up.empty());
}

TEST(BasePort0, IsConfiguredAndNeverActivated) {
  for (const PortState state : {PortState::NoChange, PortState::Down, PortState::Initialize}) {
    sim::FabricSpec spec = sim::spec_of("fat-tree:k=4,levels=2");
    for (sim::NodeSpec& node : spec.nodes) node.enhanced_port0 = false;
    ProgramLab lab(std::move(spec), {.agents = {.base_port0_state = state}});
    unsigned state_changes = 0;
    lab.tap.on_send = [&](const Smp& smp) {
      if (smp.method == Method::Set && smp.attribute_id == kPortInfo &&
          (smp.attribute_modifier & 0xff) == 0 &&
          decode_port_info(smp.data)->state() != PortState::NoChange)
        ++state_changes;
      return true;
    };
    lab.discover();
    const ProgramReport report = lab.program(lab.input());
    EXPECT_EQ(report.ports_not_active, 0u) << print_port_state(state);
    EXPECT_EQ(report.fault_count, 0u);
    for (const SwitchIdx sw : lab.snapshot().switch_node.indices()) {
      const PortIdx own = lab.snapshot().port_of(lab.snapshot().switch_node[sw], PortNum{0});
      const PortInfo now = lab.fabric.port_info(lab.sim_switch(sw), PortNum{0});
      EXPECT_EQ(now.lid, lab.lids.base[own]);
      EXPECT_EQ(now.state(), state);
      EXPECT_FALSE(std::ranges::binary_search(report.came_up, own));
    }
    EXPECT_EQ(state_changes, 0u);
  }
}

}  // namespace port_states_test
}  // namespace smd::test
