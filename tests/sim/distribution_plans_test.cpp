// Plans of the planner, run on changing fabrics: each ends in the wanted tables with every port up,
// and what is confirmed is what the registers hold.
#include <gtest/gtest.h>

#include "smd/base/rng.h"
#include "smd/plan/confirmed_tables.h"
#include "smd/plan/make/planner.h"
#include "smd/plan/verify/check_transition.h"
#include "smd/program/lft_writer.h"
#include "tests/unit/program/program_lab.h"

namespace smd::test {
namespace distribution_plans_test {

struct Case {
  const char* fabric;
  Deactivation how;
  bool whole;
};

void PrintTo(const Case& each, std::ostream* out) {
  *out << each.fabric << " " << static_cast<int>(each.how) << (each.whole ? " whole" : "");
}

class Planned : public testing::TestWithParam<Case> {
 protected:
  /// Discovery, routes over the kept orientation, plan, run.
  ProgramReport take_in() {
    const Orientation before = lab.routing.orientation;
    lab.discover("updn");
    if (!before.by_guid.empty()) {
      auto routes = find_engine("updn")->compute(lab.snapshot(), lab.lids, {.previous = &before});
      EXPECT_TRUE(routes);
      lab.routing = std::move(*routes);
    }
    read_back();
    const HeldTables held =
        collect_held_tables(lab.snapshot(), lab.routing.lft.top(), lab.state.tables);
    TransitionTask task{
        .fabric = &lab.snapshot(),
        .lids = &lab.lids,
        .held = &held.lft,
        .wanted = &lab.routing.lft,
        .unknown = held.unknown,
        .blocked = lab.state.turns.collect(lab.snapshot(), TurnMemory::Held::Blocked),
        .orientation = &lab.routing.orientation};
    plan = plan_transition(task, {.first = GetParam().how, .whole_tables = GetParam().whole});
    EXPECT_EQ(check_transition(task, plan).fault, "");
    ProgramInput input = lab.input();
    input.plan = &plan;
    return lab.program(input);
  }

  void read_back() {
    for (SwitchIdx sw : lab.snapshot().switch_node.indices()) {
      if (lab.snapshot().switch_info[sw].linear_fdb_top == 0)
        lab.state.forget(lab.snapshot().node_guid[lab.snapshot().switch_node[sw]]);
    }
    bool done = false;
    ReadBack reader(lab.client, {});
    reader.start(lab.sweep,
                 find_unread_blocks(lab.snapshot(), lab.routing.lft.top(), lab.state.tables),
                 lab.state.tables,
                 [&](std::uint64_t) { done = true; });
    lab.run_until([&] { return done; }, std::chrono::minutes(1));
  }

  void expect_settled(const ProgramReport& report, const std::string& what) {
    SCOPED_TRACE(what + ", " + std::string(print_transition_kind(plan.kind)) + ": " + plan.why);
    EXPECT_FALSE(report.plan_interrupted) << report.plan_interrupted->why;
    EXPECT_EQ(report.fault_count, 0u);
    EXPECT_EQ(report.ports_not_active, 0u);
    EXPECT_EQ(lab.find_wrong_entry(lab.routing.lft), "");
    EXPECT_EQ(lab.find_inactive_port(), "");
    EXPECT_EQ(lab.find_false_claim(), "");
    EXPECT_EQ(lab.state.turns.collect(lab.snapshot(), TurnMemory::Held::Blocked), plan.blocked);
  }

  /// Both ends are switches, and neither is the manager's only way out.
  std::vector<PortIdx> inner_ports() const {
    const Fabric& fabric = lab.snapshot();
    std::vector<PortIdx> out;
    for (PortIdx port : fabric.peer.indices()) {
      const PortIdx peer = fabric.peer[port];
      if (peer != kNone<PortIdx> && peer > port && fabric.is_switch(fabric.node_of[port]) &&
          fabric.is_switch(fabric.node_of[peer]))
        out.push_back(port);
    }
    return out;
  }

  ProgramLab lab{GetParam().fabric};
  TransitionPlan plan;
};

TEST_P(Planned, ChangesEndInTheWantedTables) {
  expect_settled(take_in(), "bring-up");
  Rng rng(7);
  for (int change = 0; change < 6; ++change) {
    const std::vector<PortIdx> ports = inner_ports();
    const PortIdx port = ports[rng.below(ports.size())];
    const Guid guid = lab.snapshot().node_guid[lab.snapshot().node_of[port]];
    const std::uint32_t node = lab.sim_node(guid);
    const PortNum number = lab.snapshot().number_of(port);
    lab.fabric.set_link(node, number, false);
    expect_settled(take_in(), fmt::format("link {} down", change));
    lab.fabric.set_link(node, number, true);
    expect_settled(take_in(), fmt::format("link {} up", change));
  }
}

/// Whole tables are written whatever they hold; these only where they differ.
class PlannedByChange : public Planned {};

TEST_P(PlannedByChange, ASecondLookFindsNothingToSet) {
  take_in();
  const std::uint64_t before = lab.client.stats().sent;
  const ProgramReport report = take_in();
  EXPECT_EQ(plan.kind, TransitionKind::Nothing);
  EXPECT_EQ(report.blocks_written, 0u);
  EXPECT_GT(lab.client.stats().sent, before) << "discovery asked";
  EXPECT_EQ((report.configure.smps + report.tables.smps + report.activate.smps + report.turns.smps +
             report.deactivate.smps),
            0u);
}

TEST_P(PlannedByChange, AManagerThatRestartsReadsAndSetsNothing) {
  take_in();
  lab.state = {};
  bool set = false;
  lab.tap.on_send = [&](const Smp& smp) {
    set = set || smp.method == Method::Set;
    return true;
  };
  take_in();
  EXPECT_EQ(plan.kind, TransitionKind::Nothing);
  EXPECT_FALSE(set);
}

constexpr const char* kFabrics[] = {
    "example:name=fig76", "fat-tree:k=4,levels=3", "torus:dims=4.3,hosts=1"};

std::vector<Case> cases_by_change() {
  std::vector<Case> out;
  for (const char* fabric : kFabrics) {
    for (const Deactivation how : {Deactivation::Certified,
                                   Deactivation::CutDependencies,
                                   Deactivation::CutPorts,
                                   Deactivation::All,
                                   Deactivation::None}) {
      out.push_back({fabric, how, false});
    }
  }
  return out;
}

std::vector<Case> all_cases() {
  std::vector<Case> out = cases_by_change();
  for (const char* fabric : kFabrics) out.push_back({fabric, Deactivation::All, true});
  return out;
}

INSTANTIATE_TEST_SUITE_P(Kinds, Planned, testing::ValuesIn(all_cases()));
INSTANTIATE_TEST_SUITE_P(Kinds, PlannedByChange, testing::ValuesIn(cases_by_change()));

}  // namespace distribution_plans_test
}  // namespace smd::test
