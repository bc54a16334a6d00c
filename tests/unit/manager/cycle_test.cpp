// One cycle by itself: the order of what it does, what it says of answers that never come, and its
// end before its time.
#include "smd/manager/cycle.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "smd/base/log.h"
#include "smd/mad/port_info.h"
#include "smd/mad/tables.h"
#include "smd/policy/partition_file.h"
#include "tests/unit/manager/small_subnet.h"

namespace smd::test {
namespace cycle_test {

using testing::ElementsAre;
using testing::EndsWith;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;
using testing::UnorderedElementsAre;

/// All that a cycle needs of its owner.
struct Bench {
  explicit Bench(PersistentState kept = {}) : store(std::move(kept)) {
    store.changed().subscribe([this](const StateKind& kind) { put.emplace_back(kind.name); });
  }

  void begin(SweepTrigger why = SweepTrigger::of_everything("start")) {
    steps.clear();
    report.reset();
    cycle.emplace(
        Cycle::Parts{.runtime = net.runtime,
                     .client = client,
                     .settings = settings,
                     .state = state,
                     .store = store,
                     .deferred_work = deferred_work,
                     .meter = meter,
                     .read_only = read_only,
                     .trial_engine = trial_engine},
        Cycle::Hooks{
            .on_phase = [this](Phase phase) { steps.emplace_back(print_phase(phase)); },
            .on_plan = [this](const Fabric&, const TransitionPlan&) { steps.emplace_back("plan"); },
            .on_found =
                [this](const SweepReport&) {
                  steps.emplace_back("found");
                  if (goes_on) cycle->proceed();
                },
            .change_waits = change_waits,
            .done =
                [this](CycleReport ended) {
                  EXPECT_FALSE(report) << "ended twice";
                  steps.emplace_back("done");
                  report = std::move(ended);
                }});
    cycle->start(std::move(why));
  }

  bool finish() {
    const bool ended = net.run_until([this] { return report.has_value(); });
    cycle.reset();
    return ended;
  }

  bool run(SweepTrigger why = SweepTrigger::of_everything("start")) {
    begin(std::move(why));
    return finish();
  }

  SmallSubnet net;
  Settings settings = small_settings();
  SmpClient client{net.runtime, net.port, settings.smp};
  StateStore store;
  ManagerState state{.book = store.get().lids};
  DeferredWork deferred_work{net.runtime, client, state.program.keys};
  CostMeter meter{net.runtime, client, {}};
  bool read_only = false;
  bool goes_on = true;  // at once, when the sweep is over
  std::function<bool()> change_waits;
  std::string trial_engine;
  std::vector<std::string> steps;  // in order
  std::vector<std::string> put;    // into the store, likewise
  std::optional<CycleReport> report;
  std::optional<Cycle> cycle;
};

TEST(Cycle, StepsComeInOrderAndTheReportIsLast) {
  Bench bench;
  ASSERT_TRUE(bench.run());
  const auto again = std::ranges::unique(bench.steps);
  bench.steps.erase(again.begin(), again.end());
  EXPECT_THAT(bench.steps,
              ElementsAre("discovering", "found", "routing", "programming", "plan", "done"));
  EXPECT_TRUE(bench.report->up());
  EXPECT_EQ(bench.report->reason, "start");
  EXPECT_EQ(bench.report->engine, "updn");
  EXPECT_EQ(bench.report->counts,
            (FabricCounts{.switches = 2, .cas = 3, .links = 4, .lids = 5, .hosts = {3, 1, 1}}));
  EXPECT_EQ(bench.state.in_force->fabric().switch_count(), 2u);
}

TEST(Cycle, NothingComesOutOfTheCallThatStartsIt) {
  Bench bench;
  bench.net.loses = [](const Smp&) { return true; };
  bench.begin();
  EXPECT_THAT(bench.steps, ElementsAre("discovering"));
}

TEST(Cycle, WritesNothingUntilItIsToldToGoOn) {
  Bench bench;
  bench.read_only = true;
  bench.goes_on = false;
  bench.begin();
  bench.net.run_for(30s);
  EXPECT_THAT(bench.steps, ElementsAre("discovering", "found"));
  EXPECT_EQ(bench.net.writes(), 0u);
  EXPECT_THAT(bench.put, IsEmpty());
  bench.cycle->proceed();
  ASSERT_TRUE(bench.finish());
  EXPECT_TRUE(bench.report->up());
}

TEST(Cycle, FailsWithoutAnAnswerOfItsOwnPortAndChangesNothing) {
  Bench bench;
  bench.net.loses = [](const Smp&) { return true; };
  ASSERT_TRUE(bench.run());
  ASSERT_TRUE(bench.report->error);
  EXPECT_EQ(bench.report->error->code, Errc::Timeout);
  EXPECT_THAT(bench.steps, ElementsAre("discovering", "done"));
  EXPECT_THAT(bench.put, IsEmpty());
  EXPECT_EQ(bench.state.in_force, nullptr);
}

TEST(Cycle, NamesThePortBehindWhichNobodyAnswersAndBringsTheRestUp) {
  Bench bench;
  bench.net.loses = [](const Smp& smp) { return goes_to(smp, kToH3); };
  ASSERT_TRUE(bench.run());
  ASSERT_THAT(bench.report->silent, SizeIs(1));
  EXPECT_EQ(bench.report->silent[0].node, bench.net.fabric.spec().nodes[kS2].guid);
  EXPECT_EQ(bench.report->silent[0].port, PortNum{1});
  EXPECT_EQ(bench.report->counts.cas, 2u);
  EXPECT_FALSE(bench.report->error);
  EXPECT_EQ(bench.net.fabric.port_info(kH2, PortNum{1}).state(), PortState::Active);
  EXPECT_EQ(bench.state.stale, "") << "light sweeps ask who is silent";
}

TEST(Cycle, ASetWhoseAnswerIsLostOnceIsSentAgainAndNoFault) {
  Bench bench;
  unsigned lost = 0;
  bench.net.loses = [&](const Smp& smp) {
    return sets(smp, AttributeId::LinearForwardingTable) && lost++ == 0;
  };
  ASSERT_TRUE(bench.run());
  EXPECT_EQ(bench.client.stats().retries, 1u);
  EXPECT_TRUE(bench.report->up());
  EXPECT_EQ(bench.report->transition.replans, 0u);
}

TEST(Cycle, ASetThatIsNeverAnsweredIsAFaultOfItsSwitch) {
  Bench bench;
  bench.net.loses = [](const Smp& smp) {
    return goes_to(smp, kToS2) && sets(smp, AttributeId::LinearForwardingTable);
  };
  ASSERT_TRUE(bench.run());
  EXPECT_FALSE(bench.report->error);
  ASSERT_GT(bench.report->fault_count, 0u);
  EXPECT_EQ(bench.report->faults[0].node, bench.net.fabric.spec().nodes[kS2].guid);
  EXPECT_FALSE(bench.report->up());
}

TEST(Cycle, ASwitchThatConfirmsNoChangeIsLeftOutUntilItDoes) {
  Bench bench;
  bench.net.fabric.set_link(kH2, PortNum{1}, false);
  ASSERT_TRUE(bench.run());
  bench.net.fabric.set_link(kH2, PortNum{1}, true);
  bench.net.loses = [](const Smp& smp) {
    return goes_to(smp, kToS2) && sets(smp, AttributeId::LinearForwardingTable);
  };
  ASSERT_TRUE(bench.run(SweepTrigger::of_everything("h2")));
  const Guid s2 = bench.net.fabric.spec().nodes[kS2].guid;
  EXPECT_GT(bench.report->transition.replans, 0u);
  EXPECT_TRUE(bench.state.refusing.contains(s2));
  EXPECT_EQ(bench.report->counts.switches, 1u);
  ASSERT_THAT(bench.report->silent, SizeIs(1));
  EXPECT_THAT(bench.report->silent[0].why, StartsWith("left out"));
  EXPECT_THAT(bench.report->silent[0].why, HasSubstr("; 1 host is out with it: 0x"));
  EXPECT_EQ(bench.net.fabric.port_info(kH2, PortNum{1}).state(), PortState::Active);
  bench.net.loses = nullptr;
  ASSERT_TRUE(bench.run(SweepTrigger::of_everything("again")));
  EXPECT_TRUE(bench.report->up());
  EXPECT_THAT(bench.state.refusing, IsEmpty());
  EXPECT_EQ(bench.report->counts.switches, 2u);
}

// One that is gone is not asked for ever, and one that comes later begins anew.
TEST(Cycle, ASwitchThatConfirmsNoChangeIsForgottenOnceItIsGone) {
  Bench bench;
  bench.state.refusing[bench.net.fabric.spec().nodes[kS2].guid];
  bench.state.refusing[Guid{0x999}];
  ASSERT_TRUE(bench.run(SweepTrigger::of("a port", {})));
  bench.net.fabric.set_link(kS1, PortNum{3}, false);
  ASSERT_TRUE(bench.run(SweepTrigger::of_everything("all")));
  EXPECT_EQ(bench.report->counts.switches, 1u);
  EXPECT_THAT(bench.state.refusing, IsEmpty());
}

TEST(Cycle, ASwitchThatConfirmsNoChangeIsNotForgottenWhileTheOwnCableIsOut) {
  Bench bench;
  const Guid s2 = bench.net.fabric.spec().nodes[kS2].guid;
  ASSERT_TRUE(bench.run());
  bench.state.refusing[s2];
  bench.net.fabric.set_link(kH1, PortNum{1}, false);
  bench.goes_on = false;
  bench.begin(SweepTrigger::of_everything("the own port has no link"));
  ASSERT_TRUE(
      bench.net.run_until([&] { return !bench.steps.empty() && bench.steps.back() == "found"; }));
  EXPECT_TRUE(bench.state.refusing.contains(s2));
}

// --- Rules of partitions
// --------------------------------------------------------------------------

struct Rules : testing::Test {
  Rules() {
    EXPECT_TRUE(bench.run());
    Fabric small = bench.state.in_force->fabric();
    small.node_info[*small.find_node(h3)].partition_cap = 2;
    whole = bench.state.in_force->sweep;
    whole.fabric = std::make_shared<const Fabric>(std::move(small));
    take("A=1: ALL;");
    static_cast<void>(choose(whole));
    take("A=1: ALL; B=2: ALL;");
  }

  void take(const std::string& file) {
    bench.settings.partitions =
        PartitionPolicy{.rules = parse_partition_file(file, "p").value().rules,
                        .enforcement = PartitionEnforcement::Off};
  }

  std::shared_ptr<const PartitionPlan> choose(const SweepReport& found) {
    return choose_partitions(bench.settings, *found.fabric, state);
  }

  [[nodiscard]] bool are_in_force() const { return state.in_force == bench.settings.partitions; }

  Bench bench;
  Guid h3 = bench.net.fabric.spec().nodes[kH3].guid;
  SweepReport whole;
  PartitionState state;
};

TEST_F(Rules, ThatDidNotFitOneThatIsGoneAreTriedWithoutItWhereAnOperatorAsks) {
  static_cast<void>(choose(whole));
  EXPECT_THAT(state.faults, ElementsAre(EndsWith("would not fit")));
  const SweepReport without = leave_out(whole, {{h3, ""}});
  static_cast<void>(choose(without));
  EXPECT_FALSE(are_in_force()) << "it may come back";
  EXPECT_THAT(state.faults,
              ElementsAre(EndsWith("would not fit; it is gone, and the new rules wait for it: "
                                   "SIGHUP or smctl sweep --full tries them without it")));
  state.tries_anew = true;
  static_cast<void>(choose(without));
  EXPECT_TRUE(are_in_force());
  EXPECT_THAT(state.faults, IsEmpty());
}

TEST_F(Rules, ThatDoNotFitAreRefusedAgainWhenAnOperatorAsks) {
  static_cast<void>(choose(whole));
  state.tries_anew = true;
  static_cast<void>(choose(whole));
  EXPECT_FALSE(are_in_force());
  EXPECT_THAT(state.faults, ElementsAre(EndsWith("would not fit")));
  static_cast<void>(choose(leave_out(whole, {{h3, ""}})));
  EXPECT_FALSE(are_in_force()) << "who asked once has not asked for ever";
}

TEST_F(Rules, AreNotTriedByOneWhoSeesNobody) {
  static_cast<void>(choose(whole));
  state.tries_anew = true;
  const Guid s1 = bench.net.fabric.spec().nodes[kS1].guid;
  const SweepReport cut_off = leave_out(whole, {{s1, ""}});
  ASSERT_TRUE(is_cut_off(*cut_off.fabric));
  static_cast<void>(choose(cut_off));
  EXPECT_FALSE(are_in_force());
  static_cast<void>(choose(leave_out(whole, {{h3, ""}})));
  EXPECT_TRUE(are_in_force()) << "the question still stands";
}

/// Directed routes to ports whose clients were asked to register again, and nothing else was set.
std::vector<std::string> find_asked(const SmallSubnet& net) {
  std::vector<std::string> out;
  for (const Smp& smp : net.sent) {
    if (!sets(smp, AttributeId::PortInfo)) continue;
    const auto body = decode_port_info(smp.data);
    if (!body->client_reregister || body->state() != PortState::NoChange) continue;
    std::string route = "h1";
    for (unsigned hop = 1; hop <= smp.hop_count; ++hop)
      route += fmt::format(" {}", smp.initial_path[hop]);
    out.push_back(route);
  }
  return out;
}

/// s2 comes before h2 in every list.
struct RestOf : testing::Test {
  RestOf() { bench.net.fabric.move_cable(kS1, PortNum{2}, kS1, PortNum{4}); }

  void lose_s2() {
    bench.net.sent.clear();
    bench.state.reregister = true;
    ASSERT_TRUE(bench.run(SweepTrigger::of_everything("another one was master")));
    ASSERT_EQ(bench.report->counts.switches, 1u);
  }

  Bench bench;
};

TEST_F(RestOf, ASwitchThatIsLeftOutIsAskedToRegisterAgain) {
  bench.net.fabric.set_link(kH3, PortNum{1}, false);
  ASSERT_TRUE(bench.run());
  bench.net.fabric.set_link(kH3, PortNum{1}, true);
  bench.net.loses = [](const Smp& smp) {
    return goes_to(smp, kToS2) && sets(smp, AttributeId::LinearForwardingTable);
  };
  lose_s2();
  EXPECT_THAT(find_asked(bench.net), UnorderedElementsAre("h1", "h1 1", "h1 1 4"));
}

TEST_F(RestOf, ASmallForwardingTableIsAskedToRegisterAgain) {
  ASSERT_TRUE(bench.run());
  bench.net.port.on_receive = [](Smp& smp) {
    if (!goes_to(smp, kToS2) || !is_about(smp, AttributeId::SwitchInfo)) return true;
    auto info = decode_switch_info(smp.data);
    info->linear_fdb_cap = 4;
    encode_switch_info(*info, smp.data);
    return true;
  };
  lose_s2();
  EXPECT_THAT(find_asked(bench.net), UnorderedElementsAre("h1", "h1 1", "h1 1 4"));
}

TEST(Cycle, LidsAreKeptOnceAndBeforeTheFirstPortTakesOne) {
  Bench bench;
  unsigned given = 0;
  bench.net.loses = [&](const Smp& smp) {
    if (!sets(smp, AttributeId::PortInfo)) return false;
    if (decode_port_info(smp.data)->lid == kUnassignedLid) return false;
    if (given++ == 0) {
      EXPECT_THAT(bench.store.get().lids, SizeIs(5));
    }
    return false;
  };
  ASSERT_TRUE(bench.run());
  EXPECT_GE(given, 5u);
  EXPECT_THAT(bench.put, ElementsAre(StateKind::kLids.name));
  ASSERT_TRUE(bench.run(SweepTrigger::of_everything("again")));
  EXPECT_THAT(bench.put, SizeIs(1)) << "they are what they were";
}

TEST(Cycle, NoPortIsGivenALidBeforeItIsOnTheDisk) {
  Bench bench;
  bool kept = false;
  bench.store.set_is_kept([&] { return kept; });
  bench.begin();
  ASSERT_TRUE(bench.net.run_until([&] { return !bench.put.empty(); }));
  bench.net.run_for(1s);
  EXPECT_EQ(bench.net.count(Method::Set, AttributeId::PortInfo), 0u);
  kept = true;
  ASSERT_TRUE(bench.finish());
  EXPECT_TRUE(bench.report->up());
}

TEST(Cycle, ADiskThatHangsIsWaitedForOnceAndNotForLong) {
  Bench bench;
  bool kept = false;
  bench.store.set_is_kept([&] { return kept; });
  const auto warnings = [before = log::count(log::Level::Warn)] {
    return log::count(log::Level::Warn) - before;
  };
  bench.begin();
  ASSERT_TRUE(bench.net.run_until([&] { return !bench.put.empty(); }));
  bench.net.run_for(1990ms);
  EXPECT_EQ(bench.net.count(Method::Set, AttributeId::PortInfo), 0u);
  EXPECT_EQ(warnings(), 0u);
  bench.net.run_for(20ms);
  EXPECT_GT(bench.net.count(Method::Set, AttributeId::PortInfo), 0u);
  EXPECT_EQ(warnings(), 1u);
  ASSERT_TRUE(bench.finish());
  EXPECT_TRUE(bench.report->up());
  ASSERT_TRUE(bench.run(SweepTrigger::of_everything("again")));
  EXPECT_LT(bench.report->ended - bench.report->began, Duration{1s});
  EXPECT_EQ(warnings(), 1u);
  kept = true;
  ASSERT_TRUE(bench.run(SweepTrigger::of_everything("it is there again")));
  kept = false;
  ASSERT_TRUE(bench.run(SweepTrigger::of_everything("and hangs again")));
  EXPECT_GT(bench.report->ended - bench.report->began, Duration{2s});
  EXPECT_EQ(warnings(), 2u);
}

TEST(Cycle, DestroyedWhileItWaitsForTheDiskItSendsNothing) {
  Bench bench;
  bench.store.set_is_kept([] { return false; });
  bench.begin();
  ASSERT_TRUE(bench.net.run_until([&] { return !bench.put.empty(); }));
  bench.net.run_for(1s);
  bench.cycle.reset();
  bench.net.run_for(10s);
  EXPECT_EQ(bench.net.count(Method::Set, AttributeId::PortInfo), 0u);
}

TEST(Cycle, LidsOfAFormerLifeAreGivenAgain) {
  Bench bench({.lids = {{Guid{0x501}, {.base = Lid{40}}}, {Guid{0x301}, {.base = Lid{7}}}}});
  ASSERT_TRUE(bench.run());
  EXPECT_EQ(bench.net.lid(kH3), Lid{40});
  EXPECT_EQ(bench.net.lid(kH2), Lid{7});
}

TEST(Cycle, FoundAsItWasItIsQuietAndWritesNothing) {
  Bench bench;
  ASSERT_TRUE(bench.run());
  const std::size_t before = bench.net.writes();
  const auto in_force = bench.state.in_force;
  ASSERT_TRUE(bench.run(SweepTrigger::of("trap", {bench.net.fabric.spec().nodes[kS2].guid})));
  EXPECT_TRUE(bench.report->quiet);
  EXPECT_TRUE(bench.report->partial);
  EXPECT_THAT(bench.steps, ElementsAre("discovering", "done"));
  EXPECT_EQ(bench.net.writes(), before);
  EXPECT_EQ(bench.state.in_force, in_force);
}

TEST(Cycle, ChecksOfRoutesThatDifferAreReported) {
  Bench bench;
  ASSERT_TRUE(bench.run());
  EXPECT_FALSE(bench.report->check_differs);
  const auto right = bench.state.in_force;
  ASSERT_NE(right->verified, nullptr);
  LidMap fewer = right->lids;
  fewer.owner.back() = kNone<PortIdx>;
  bench.state.replace_in_force(
      with_verified(*right, VerifiedRoutes::build({&right->fabric(), &fewer, &*right->routing})));
  ASSERT_TRUE(bench.run(SweepTrigger::of_everything("sweep")));
  EXPECT_TRUE(bench.report->check_differs);
  EXPECT_EQ(bench.report->routes.pairs,
            check_routes(right->fabric(), right->lids, right->routing).pairs);
  ASSERT_NE(bench.state.in_force->verified, nullptr);
  EXPECT_TRUE(bench.state.in_force->verified->counts_equal(*right->verified));
  ASSERT_TRUE(bench.run(SweepTrigger::of_everything("sweep")));
  EXPECT_FALSE(bench.report->check_differs);
}

TEST(Cycle, RoutesThatAreEvenAreNotRebalanced) {
  Bench bench;
  ASSERT_TRUE(bench.run());
  const std::size_t before = bench.net.count(Method::Set, AttributeId::LinearForwardingTable);
  bench.state.imbalanced = true;
  ASSERT_TRUE(bench.run(SweepTrigger::of_imbalance("rebalance")));
  EXPECT_TRUE(bench.report->quiet);
  EXPECT_FALSE(bench.state.imbalanced) << "or it would be tried for ever";
  EXPECT_EQ(bench.net.count(Method::Set, AttributeId::LinearForwardingTable), before);
}

// However often nothing waits yet when a cycle that is done at rest asks.
TEST(Cycle, WhatIsDoneAtRestGivesWayToAChangeAndComesBack) {
  for (const auto& [why, of] : {std::pair{SweepTrigger::of_imbalance("rebalance"), true},
                                std::pair{SweepTrigger::of_blocked("open"), false}}) {
    Bench bench;
    ASSERT_TRUE(bench.run());
    const std::size_t before = bench.net.writes();
    const auto in_force = bench.state.in_force;
    bool& left = of ? bench.state.imbalanced : bench.state.leaves_blocked;
    unsigned asked = 0;
    unsigned most = 0;
    bench.change_waits = [&] { return asked++ == most; };
    for (bool gave_way = true; gave_way; ++most) {
      SCOPED_TRACE(why.reason + ", " + std::to_string(most));
      asked = 0;
      left = true;
      bench.state.gave_way = 0;
      ASSERT_TRUE(bench.run(why));
      gave_way = asked > most;
      if (!gave_way) break;
      EXPECT_TRUE(bench.report->quiet);
      EXPECT_TRUE(left);
      EXPECT_EQ(bench.state.in_force, in_force);
      EXPECT_EQ(bench.state.stale, "") << "the change is looked at where it is";
      EXPECT_EQ(bench.net.writes(), before);
    }
    EXPECT_GE(most, 2u) << "before and after routes are computed";
    EXPECT_FALSE(left);
  }
}

// Else a link that flaps would put it off without end.
TEST(Cycle, WhatIsDoneAtRestGivesWayTwiceInARow) {
  Bench bench;
  ASSERT_TRUE(bench.run());
  bench.change_waits = [] { return true; };
  for (int round = 0; round < 2; ++round) {
    for (const bool gives_way : {true, true, false}) {
      bench.state.imbalanced = true;
      ASSERT_TRUE(bench.run(SweepTrigger::of_imbalance("rebalance")));
      EXPECT_EQ(bench.state.imbalanced, gives_way) << round;
    }
  }
}

// What is being computed is of no use once a change waits: its end is not awaited.
TEST(Cycle, RoutesThatAreComputedAtRestAreLeftForAChange) {
  Bench bench;
  ASSERT_TRUE(bench.run());
  bench.state.imbalanced = true;
  bench.begin(SweepTrigger::of_imbalance("rebalance"));
  ASSERT_TRUE(bench.net.run_until([&] { return bench.steps.back() == "routing"; }));
  bench.cycle->stop_for_change();
  ASSERT_TRUE(bench.finish());
  EXPECT_TRUE(bench.report->quiet);
  EXPECT_TRUE(bench.state.imbalanced) << "nobody knows whether they are even";
  EXPECT_EQ(bench.state.gave_way, 1u);
}

// As one that waits for a proof, and is found again every few minutes.
TEST(Cycle, AChangeThatIsNotTakenInIsLoggedOnce) {
  Bench bench;
  ASSERT_TRUE(bench.run());
  const auto lines_of = [&](const char* why) {
    const auto before = log::count(log::Level::Info);
    EXPECT_TRUE(bench.run(SweepTrigger::of_everything(why)));
    EXPECT_EQ(bench.report->changes.count, 1u);
    return log::count(log::Level::Info) - before;
  };
  bench.net.fabric.set_link(kH2, PortNum{1}, false);
  bench.settings.engine = "dragonfly";  // which does not suit
  const auto first = lines_of("h2 is gone");
  ASSERT_TRUE(bench.report->error);
  EXPECT_EQ(lines_of("retry"), first - 1);
  bench.settings.engine = "updn";
  lines_of("taken in");
  ASSERT_FALSE(bench.report->error);
  bench.net.fabric.set_link(kH2, PortNum{1}, true);
  bench.settings.engine = "dragonfly";
  lines_of("h2 is back");
  bench.settings.engine = "updn";
  lines_of("taken in");
  bench.net.fabric.set_link(kH2, PortNum{1}, false);
  bench.settings.engine = "dragonfly";
  EXPECT_EQ(lines_of("h2 is gone again"), first);
}

TEST(Cycle, AnEngineOnTrialThatDoesNotSuitLeavesTheOneInForce) {
  Bench bench;
  ASSERT_TRUE(bench.run());
  bench.trial_engine = "dragonfly";
  ASSERT_TRUE(bench.run(SweepTrigger::of_everything("command")));
  ASSERT_TRUE(bench.report->trial);
  EXPECT_FALSE(bench.report->trial->taken);
  EXPECT_NE(bench.report->trial->why, "");
  EXPECT_EQ(bench.report->engine, "updn");
  EXPECT_TRUE(bench.report->up());
  EXPECT_EQ(bench.state.in_force->routing->engine, "updn");
}

TEST(Cycle, AnEngineOnTrialThatSuitsIsTaken) {
  Bench bench;
  ASSERT_TRUE(bench.run());
  bench.trial_engine = "minhop";
  ASSERT_TRUE(bench.run(SweepTrigger::of_everything("command")));
  ASSERT_TRUE(bench.report->trial);
  EXPECT_TRUE(bench.report->trial->taken);
  EXPECT_EQ(bench.state.in_force->routing->engine, "minhop");
}

TEST(Cycle, DestroyedAfterAnyStepItSendsAndSaysNothingMore) {
  bool whole = false;
  for (unsigned tasks = 0; !whole; tasks += 9) {
    Bench bench;
    bench.begin();
    for (unsigned run = 0; run < tasks && !bench.report; ++run) bench.net.runtime.run_one();
    whole = bench.report.has_value();
    bench.cycle.reset();
    const std::size_t sent = bench.net.sent.size();
    const std::vector<std::string> steps = bench.steps;
    bench.net.run_for(10s);
    EXPECT_EQ(bench.net.sent.size(), sent) << "after " << tasks;
    EXPECT_EQ(bench.steps, steps) << "after " << tasks;
  }
}

TEST(Cycle, WhatAnotherOneLeftHalfDoneIsMadeWhole) {
  Bench bench;
  bench.begin();
  ASSERT_TRUE(bench.net.run_until(
      [&] { return bench.net.count(Method::Set, AttributeId::LinearForwardingTable) > 0; }));
  bench.cycle.reset();
  ASSERT_TRUE(bench.run(SweepTrigger::of_everything("again")));
  EXPECT_TRUE(bench.report->up());
  EXPECT_EQ(bench.net.fabric.lft(kS2, bench.net.lid(kH2)), PortNum{3});
  EXPECT_EQ(bench.net.fabric.lft(kS1, bench.net.lid(kH3)), PortNum{3});
}

}  // namespace cycle_test
}  // namespace smd::test
