// A plan under every fault that can be named. Whatever happens: no phase begins before the one
// before it is in every living switch, what is confirmed is what the registers hold, and a plan
// that could not be finished says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "smd/program/lft_writer.h"
#include "tests/unit/program/program_lab.h"

namespace smd::test {
namespace distribution_faults_test {

constexpr const char* kTree = "fat-tree:k=4,levels=2";
constexpr auto kLft = static_cast<std::uint16_t>(AttributeId::LinearForwardingTable);

/// A settled fabric, a change of nearly every entry in three phases, and a watch over the registers
/// at every SMP.
struct Distribution {
  explicit Distribution(LabOptions options = {}) : lab(kTree, options) {
    lab.spread_lids(10);
    lab.bring_up();
    before = lab.routing.lft;
    lab.routing.lft = turned_tables(lab.snapshot(), before);
    plan = split_by_lid(before, lab.routing.lft, 3);
    const Fabric& fabric = lab.snapshot();
    plan.phases[0].block = {{SwitchIdx{0}, PortNum{1}, PortNum{2}},
                            {SwitchIdx{3}, PortNum{1}, PortNum{2}}};
    plan.phases[2].restore = plan.phases[0].block;
    const PortIdx port = fabric.port_of(fabric.switch_node[SwitchIdx{1}], PortNum{1});
    plan.phases[1].deactivate = {port};
    plan.phases[1].activate = {port, fabric.peer[port]};
    std::ranges::sort(plan.phases[1].activate);
    lab.tap.on_send = [this](const Smp& smp) {
      watch();
      return !on_send || on_send(smp);
    };
  }

  void watch() {
    if (mixed.empty()) mixed = find_mixed_phases(lab, plan);
  }

  ProgramInput input() {
    ProgramInput out = lab.input();
    out.plan = &plan;
    return out;
  }

  ProgramReport run() {
    ProgramReport report = lab.program(input());
    watch();
    return report;
  }

  /// What a manager does next: reads what is in doubt, and plans from what is confirmed.
  void plan_again() {
    const Fabric& fabric = lab.snapshot();
    std::vector<TableBlock> unknown = find_unknown();
    while (!unknown.empty()) {
      bool done = false;
      ReadBack reader(lab.client, {});
      reader.start(lab.sweep, unknown, lab.state.tables, [&](std::uint64_t) { done = true; });
      lab.run_until([&] { return done; }, std::chrono::minutes(1));
      unknown = find_unknown();
    }
    ForwardingTables held(fabric.switch_count(), lab.routing.lft.top());
    for (SwitchIdx sw : fabric.switch_node.indices()) {
      for (std::uint32_t number = 0; number < held.blocks(); ++number) {
        const Guid guid = fabric.node_guid[fabric.switch_node[sw]];
        held.set_block(sw, number, *lab.state.tables.find_block(guid, number));
      }
    }
    plan = split_by_lid(held, lab.routing.lft, 3);
  }

  [[nodiscard]] std::vector<TableBlock> find_unknown() const {
    const Fabric& fabric = lab.snapshot();
    std::vector<TableBlock> out;
    for (SwitchIdx sw : fabric.switch_node.indices()) {
      for (std::uint32_t number = 0; number < lab.routing.lft.blocks(); ++number) {
        const Guid guid = fabric.node_guid[fabric.switch_node[sw]];
        if (!lab.state.tables.find_block(guid, number)) out.push_back({sw, number});
      }
    }
    return out;
  }

  ProgramLab lab;
  ForwardingTables before;
  TransitionPlan plan;
  std::function<bool(const Smp&)> on_send;
  std::string mixed;
};

TEST(ALiar, WhoSaysOtherwiseOnlyWhenSetIsCaughtByLooking) {
  Distribution change;
  std::set<std::uint64_t> sets;
  change.on_send = [&](const Smp& smp) {
    if (smp.method == Method::Set) sets.insert(smp.transaction_id);
    return true;
  };
  change.lab.tap.on_receive = [&](Smp& smp) {
    if (smp.attribute_id == kLft && sets.contains(smp.transaction_id)) smp.data.fill(std::byte{2});
    return true;
  };
  const ProgramReport report = change.run();
  EXPECT_FALSE(report.plan_interrupted);
  EXPECT_EQ(report.fault_count, 0u);
  EXPECT_EQ(report.blocks_read, report.blocks_written);
  EXPECT_EQ(change.mixed, "");
  EXPECT_EQ(change.lab.find_false_claim(), "");
  EXPECT_EQ(change.lab.find_wrong_entry(change.lab.routing.lft), "");
}

TEST(ALiar, WhoContradictsHimselfIsNotBelieved) {
  Distribution change;
  std::uint8_t lie = 0;
  change.lab.tap.on_receive = [&](Smp& smp) {
    if (smp.attribute_id == kLft) smp.data.fill(std::byte{++lie});
    return true;
  };
  const ProgramReport report = change.run();
  ASSERT_TRUE(report.plan_interrupted);
  EXPECT_EQ(report.plan_interrupted->phase, 0u);
  EXPECT_THAT(report.plan_interrupted->why, testing::HasSubstr("writing entries of phase 1: 0x"));
  EXPECT_EQ(change.mixed, "");
  EXPECT_EQ(change.lab.find_false_claim(), "");
  for (const Guid guid : report.plan_interrupted->switches)
    EXPECT_FALSE(change.lab.state.tables.find_block(guid, 0));
}

TEST(ALiar, IsPlannedAroundByWhatHeSays) {
  Distribution change;
  const SwitchIdx liar{2};
  const Guid guid = change.lab.snapshot().node_guid[change.lab.snapshot().switch_node[liar]];
  const HopPath path = change.lab.sweep.path[change.lab.snapshot().switch_node[liar]];
  LftBlock said;
  said.fill(PortNum{1});
  change.lab.tap.on_receive = [&](Smp& smp) {
    if (smp.attribute_id != kLft || smp.hop_count != path.size()) return true;
    for (std::size_t i = 0; i < path.size(); ++i) {
      if (smp.initial_path[i + 1] != path[i].value()) return true;
    }
    encode_lft_block(said, smp.data);
    return true;
  };
  const ProgramReport report = change.run();
  ASSERT_TRUE(report.plan_interrupted);
  EXPECT_THAT(report.plan_interrupted->switches, testing::ElementsAre(guid));
  const std::optional<LftBlock> held = change.lab.state.tables.find_block(guid, 0);
  ASSERT_TRUE(held);
  EXPECT_EQ(*held, said);
  EXPECT_EQ(change.mixed, "");
}

TEST(ASilentSwitch, HoldsUpNobodyOfItsPhaseAndEverybodyOfTheNext) {
  Distribution change;
  const SwitchIdx silent{4};
  const std::uint32_t node = change.lab.sim_switch(silent);
  const Guid guid = change.lab.fabric.spec().nodes[node].guid;
  change.on_send = [&](const Smp& smp) {
    // It still forwards: its tables are those of before.
    if (smp.attribute_id == kLft) change.lab.fabric.set_silent(node, true);
    return true;
  };
  const ProgramReport report = change.run();
  ASSERT_TRUE(report.plan_interrupted);
  EXPECT_EQ(report.plan_interrupted->phase, 0u);
  EXPECT_EQ(report.phases_done, 0u);
  EXPECT_EQ(change.mixed, "");
  EXPECT_EQ(change.lab.find_false_claim(), "");
  for (const EntryChange& entry : change.plan.phases[0].entries) {
    const std::uint32_t n = change.lab.sim_switch(entry.sw);
    // Directed routes through the silent switch do not work either.
    const bool reached = std::ranges::find(report.plan_interrupted->switches,
                                           change.lab.fabric.spec().nodes[n].guid) ==
                         report.plan_interrupted->switches.end();
    if (reached) {
      EXPECT_EQ(change.lab.fabric.lft(n, entry.lid), entry.egress);
    }
  }
  EXPECT_THAT(report.plan_interrupted->switches, testing::Contains(guid));
  EXPECT_FALSE(change.lab.state.tables.find_block(guid, 0)) << "it may have obeyed";
}

TEST(LostSmps, DelayButNeverMixPhases) {
  unsigned interrupted = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    LabOptions options{.seed = seed};
    options.smp.retries = 1;  // so that some are given up
    Distribution change(options);
    change.lab.fabric.set_wire_faults({.drop = 0.05, .duplicate = 0.05, .reorder = 0.1});
    bool done = false;
    for (int attempt = 0; attempt < 30 && !done; ++attempt) {
      const ProgramReport report = change.run();
      done = !report.plan_interrupted;
      interrupted += done ? 0 : 1;
      EXPECT_EQ(change.mixed, "") << "seed " << seed;
      // Duplicates that are still on their way.
      change.lab.run_for(std::chrono::seconds(1));
      EXPECT_EQ(change.lab.find_false_claim(), "") << "seed " << seed;
      change.lab.take_port_info(report);
      change.plan_again();
    }
    ASSERT_TRUE(done) << "seed " << seed;
    EXPECT_EQ(change.lab.find_wrong_entry(change.lab.routing.lft), "") << "seed " << seed;
  }
  EXPECT_GT(interrupted, 5u) << "too little was lost to say anything";
}

TEST(LateAnswers, OfAnEarlierRunConfirmNothing) {
  Distribution change;
  std::vector<Smp> answers;
  change.lab.tap.on_receive = [&](Smp& smp) {
    answers.push_back(smp);
    return true;
  };
  change.run();
  change.lab.tap.on_receive = nullptr;
  ASSERT_GT(answers.size(), 10u);

  // Back again; every answer of before comes once more, and says what no longer holds.
  std::swap(change.before, change.lab.routing.lft);
  change.plan = split_by_lid(change.before, change.lab.routing.lft, 3);
  std::size_t next = 0;
  change.on_send = [&](const Smp&) {
    if (next < answers.size()) {
      MadPacket packet;
      encode_smp(answers[next++], packet.mad);
      change.lab.runtime.post([&, packet] { change.lab.tap.deliver(packet); });
    }
    return true;
  };
  const ProgramReport report = change.run();
  EXPECT_FALSE(report.plan_interrupted);
  EXPECT_GT(change.lab.client.stats().late, 10u);
  EXPECT_EQ(change.mixed, "");
  EXPECT_EQ(change.lab.find_false_claim(), "");
  EXPECT_EQ(change.lab.find_wrong_entry(change.lab.routing.lft), "");
}

/// False when the run was over before operation `n`.
bool die_at(std::size_t n, std::uint32_t victim_switch, std::size_t& interruptions) {
  Distribution change;
  std::size_t sent = 0;
  bool hit = false;
  change.on_send = [&](const Smp&) {
    if (sent++ != n) return true;
    hit = true;
    const std::uint32_t victim = change.lab.sim_switch(SwitchIdx{victim_switch});
    change.lab.dead[victim] = true;
    change.lab.fabric.set_node(victim, false);
    return true;
  };
  const ProgramReport report = change.run();
  EXPECT_EQ(change.mixed, "") << "operation " << n;
  EXPECT_EQ(change.lab.find_false_claim(), "") << "operation " << n;
  if (report.plan_interrupted) {
    ++interruptions;
    EXPECT_FALSE(report.plan_interrupted->why.empty());
    EXPECT_LT(report.phases_done, change.plan.phases.size());
  } else {
    EXPECT_EQ(change.lab.find_wrong_entry(change.lab.routing.lft), "") << "operation " << n;
  }

  // The next cycle, without it.
  change.on_send = nullptr;
  change.plan = {};
  change.lab.discover();
  EXPECT_EQ(change.lab.program(change.lab.input()).fault_count, 0u) << "operation " << n;
  EXPECT_EQ(change.lab.find_wrong_entry(change.lab.routing.lft), "") << "operation " << n;
  EXPECT_EQ(change.lab.find_inactive_port(), "") << "operation " << n;
  EXPECT_EQ(change.lab.find_false_claim(), "") << "operation " << n;
  return hit;
}

class ASwitchThatDies : public testing::TestWithParam<std::uint32_t> {};

TEST_P(ASwitchThatDies, AtAnyOperationEndsThePlanInOrder) {
  std::size_t interruptions = 0;
  std::size_t n = 0;
  while (die_at(n, GetParam(), interruptions)) {
    ASSERT_FALSE(HasFailure()) << "operation " << n;
    ++n;
  }
  EXPECT_GT(n, 30u) << "the sweep covered too little";
  EXPECT_GT(interruptions, n / 2);
}

INSTANTIATE_TEST_SUITE_P(Victims, ASwitchThatDies, testing::Values(0u, 3u, 5u));

TEST(AManagerThatStops, AtAnyOperationClaimsNothingThatIsNotSo) {
  std::size_t stopped = 0;
  for (std::size_t n = 0;; ++n) {
    Distribution change;
    std::size_t sent = 0;
    change.on_send = [&](const Smp&) { return ++sent, true; };
    bool done = false;
    {
      Programmer programmer(
          change.lab.runtime, change.lab.client, change.lab.state, change.lab.meter);
      programmer.start(change.input(), [&](const ProgramReport&) { done = true; });
      change.lab.run_until([&] { return done || sent > n; }, std::chrono::minutes(1));
    }
    if (done) break;
    ++stopped;
    // What was on the wire still arrives.
    change.lab.run_for(std::chrono::seconds(1));
    ASSERT_EQ(change.lab.find_false_claim(), "") << "operation " << n;
    ASSERT_EQ(find_mixed_phases(change.lab, change.plan), "") << "operation " << n;
  }
  EXPECT_GT(stopped, 30u) << "the sweep covered too little";
}

TEST(AnInitialPlan, GoesOnAfterAFault) {
  ProgramLab lab(kTree);
  lab.discover();
  TransitionPlan plan{.kind = TransitionKind::Initial, .phases = {{}}};
  plan.phases[0].to_wanted = true;
  bool refused = false;
  lab.tap.on_send = [&](const Smp& smp) {
    if (smp.attribute_id != kLft || refused) return true;
    lab.fabric.set_silent(lab.sim_switch(SwitchIdx{5}), true);
    refused = true;
    return true;
  };
  ProgramInput input = lab.input();
  input.plan = &plan;
  const ProgramReport report = lab.program(input);
  EXPECT_FALSE(report.plan_interrupted);
  EXPECT_GT(report.fault_count, 0u);
  EXPECT_GT(report.ports_activated, 10u);
  EXPECT_EQ(lab.find_false_claim(), "");
}

// What such a switch does nobody knows, and nothing is to come to it from others.
TEST(AnInitialPlan, LeavesLinksDownToASwitchThatDidNotConfirmItsEntries) {
  for (const unsigned lists : {1u, 2u}) {
    SCOPED_TRACE(lists);
    ProgramLab lab(kTree);
    lab.discover();
    const Fabric fabric = lab.snapshot();
    const SwitchIdx deaf{5};
    const NodeIdx node = fabric.switch_node[deaf];
    TransitionPlan plan{.kind = TransitionKind::Initial, .phases = {{}}};
    plan.phases[0].to_wanted = true;
    for (const PortIdx port : fabric.peer.indices()) {
      const PortIdx peer = fabric.peer[port];
      if (peer != kNone<PortIdx> && fabric.switch_at(port) != kNone<SwitchIdx> &&
          fabric.switch_at(peer) != kNone<SwitchIdx>)
        plan.phases[0].activate.push_back(port);
    }
    const HopPath path = lab.sweep.path[node];
    unsigned sets = 0;  // and what is read when nobody answers them
    lab.tap.on_send = [&](const Smp& smp) {
      if (smp.attribute_id != kLft || smp.hop_count != path.size()) return true;
      for (std::size_t hop = 0; hop < path.size(); ++hop) {
        if (smp.initial_path[hop + 1] != path[hop].value()) return true;
      }
      return ++sets > lists * 2 * (SmpClientConfig{}.retries + 1);
    };
    ProgramInput input = lab.input();
    input.plan = &plan;
    const ProgramReport report = lab.program(input);
    EXPECT_FALSE(report.plan_interrupted);
    unsigned down = 0;
    for (const PortIdx port : fabric.peer.indices()) {
      if (fabric.peer[port] == kNone<PortIdx> || fabric.number_of(port) == PortNum{0}) continue;
      const std::uint32_t n = lab.sim_node(fabric.node_guid[fabric.node_of[port]]);
      const bool active =
          lab.fabric.port_info(n, fabric.number_of(port)).state() == PortState::Active;
      const bool leads_there =
          std::ranges::count(plan.phases[0].activate, port) != 0 &&
          (fabric.node_of[port] == node || fabric.node_of[fabric.peer[port]] == node);
      EXPECT_EQ(active, lists == 1 || !leads_there) << print_port(fabric, port);
      down += active ? 0 : 1;
    }
    EXPECT_EQ(down > 0, lists == 2) << "the second list makes up for the first";
    lab.tap.on_send = nullptr;
    lab.bring_up();
    EXPECT_EQ(lab.find_inactive_port(), "") << "by the next run";
    EXPECT_EQ(lab.find_wrong_entry(lab.routing.lft), "");
  }
}

}  // namespace distribution_faults_test
}  // namespace smd::test
