// The manager among what happens to it: what is asked for while a cycle runs, other managers, the
// end before its time, and what it hands over.
#include "smd/manager/subnet_manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "sim-backend/agents/node_state.h"
#include "smd/base/log.h"
#include "smd/mad/notice.h"
#include "tests/unit/manager/small_subnet.h"

namespace smd::test {
namespace subnet_manager_test {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;
using testing::Truly;

struct Bench {
  explicit Bench(PersistentState kept = {}) : store(std::move(kept)) { make(small_settings()); }

  /// In place of the one there is.
  void make(Settings settings) {
    manager.reset();
    SubnetManager::Observer observer;
    observer.on_phase = [this](Phase phase) {
      phases.push_back(phase);
      if (on_phase) on_phase(phase);
    };
    observer.on_cycle = [this](const CycleReport& report) {
      reasons.push_back(report.reason);
      if (on_cycle) on_cycle();
    };
    observer.on_role = [this](SmState state) { roles.push_back(state); };
    observer.standby_is_behind = [this](Guid) { return standby_is_behind; };
    observer.on_lost = [this](const Error&) { ++lost; };
    manager = std::make_unique<SubnetManager>(
        net.runtime, net.port, std::move(settings), store, std::move(observer));
  }

  bool settle() {
    return net.run_until([this] { return manager->at_rest(); });
  }

  /// What was said and sent on the way is forgotten.
  bool bring_up() {
    manager->start();
    const bool up = settle() && manager->last_cycle() != nullptr && manager->last_cycle()->up();
    phases.clear();
    reasons.clear();
    net.sent.clear();
    return up;
  }

  bool run_to(Phase phase) {
    return net.run_until([this, phase] { return manager->phase() == phase; });
  }

  [[nodiscard]] auto sweeps() const { return std::ranges::count(phases, Phase::Discovering); }

  SmallSubnet net;
  StateStore store;
  bool standby_is_behind = false;
  std::function<void(Phase)> on_phase;
  std::function<void()> on_cycle;
  std::vector<Phase> phases;
  std::vector<std::string> reasons;  // of cycles that were not quiet
  std::vector<SmState> roles;
  unsigned lost = 0;
  std::unique_ptr<SubnetManager> manager;
};

// --- What is asked for --------------------------------------------------------------------------

TEST(SubnetManager, WhatIsAskedForWhileACycleRunsMakesOneMore) {
  Bench bench;
  bench.manager->start();
  for (const Phase phase : {Phase::Discovering, Phase::Routing, Phase::Programming}) {
    ASSERT_TRUE(bench.run_to(phase));
    bench.manager->request_sweep(std::string(print_phase(phase)));
    EXPECT_EQ(bench.manager->phase(), phase) << "the cycle goes on";
    EXPECT_FALSE(bench.manager->at_rest());
  }
  ASSERT_TRUE(bench.settle());
  EXPECT_EQ(bench.sweeps(), 2);
  EXPECT_THAT(bench.reasons, ElementsAre("start", "discovering"));
}

TEST(SubnetManager, AtRestACycleBeginsAtOnce) {
  Bench bench;
  ASSERT_TRUE(bench.bring_up());
  bench.manager->request_sweep("command");
  EXPECT_EQ(bench.manager->phase(), Phase::Discovering);
  ASSERT_TRUE(bench.settle());
  EXPECT_THAT(bench.reasons, ElementsAre("command"));
}

// Its link stays Active: nothing comes up when it speaks.
TEST(SubnetManager, WhoWasSilentIsAskedForItsPartitionsWhenItSpeaks) {
  Bench bench;
  ASSERT_TRUE(bench.bring_up());
  bench.net.fabric.set_silent(kH3, true);
  bench.make(small_settings());
  bench.manager->start();
  ASSERT_TRUE(bench.settle());
  bench.net.sent.clear();
  bench.net.fabric.set_silent(kH3, false);
  bench.manager->request_sweep("again");
  ASSERT_TRUE(bench.settle());
  const auto asked = std::ranges::count_if(bench.net.sent, [](const Smp& smp) {
    return is_about(smp, AttributeId::PKeyTable) && goes_to(smp, kToH3);
  });
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(bench.net.count(Method::Get, AttributeId::PKeyTable), 1u) << "nobody else";
}

TEST(SubnetManager, AnOperatorsSweepReadsTheTablesOfPortsAgain) {
  Bench bench;
  Settings settings = small_settings();
  settings.qos.sl_to_vl.emplace().fill(Vl{0});
  bench.make(settings);
  const auto gets = [&bench] {
    return std::pair(bench.net.count(Method::Get, AttributeId::PKeyTable),
                     bench.net.count(Method::Get, AttributeId::SlToVlMappingTable));
  };
  bench.manager->start();
  ASSERT_TRUE(bench.settle());
  const auto first = gets();
  EXPECT_GT(first.first, 0u);
  EXPECT_GT(first.second, 0u);
  bench.net.sent.clear();
  bench.manager->request_sweep("a change");
  ASSERT_TRUE(bench.settle());
  EXPECT_EQ(gets(), std::pair(std::size_t{0}, std::size_t{0}));
  bench.manager->request_audit("command");
  ASSERT_TRUE(bench.settle());
  EXPECT_EQ(gets(), first);
}

TEST(SubnetManager, NamesWhoIsGoneBehindAPortThatLeadsToSilence) {
  Bench bench;
  ASSERT_TRUE(bench.bring_up());
  bench.net.fabric.set_silent(kS2, true);
  for (int cycle = 0; cycle < 2; ++cycle) {
    bench.manager->request_sweep("look");
    ASSERT_TRUE(bench.settle());
    EXPECT_THAT(bench.manager->alarms(),
                ElementsAre(StartsWith("0x0000000000000200 port 3 (s1, led to s2): ")));
  }
  const auto said = log::entries_after(0);
  const auto of_s2 = std::ranges::find_if(said, [](const log::Entry& each) {
    return each.event == "discovery.silent" && each.text.find("led_to=\"s2\"") != std::string::npos;
  });
  ASSERT_NE(of_s2, said.end());
  EXPECT_THAT(of_s2->text,
              StartsWith("node=0x0000000000000200 port=3 name=\"s1\" led_to=\"s2\" why="));
  bench.net.fabric.set_silent(kS2, false);
  bench.manager->request_sweep("again");
  ASSERT_TRUE(bench.settle());
  EXPECT_THAT(bench.manager->alarms(), IsEmpty());
}

// In a turn of the loop in which somebody else begins a cycle: the sweep after it waits for its
// end.
TEST(SubnetManager, ALightSweepThatEndsWhereACycleBeginsIsOver) {
  Bench bench;
  Settings settings = small_settings();
  settings.sweep_interval = 1ms;
  bench.make(settings);
  bench.manager->start();
  ASSERT_TRUE(bench.run_to(Phase::Up));
  bool begun = false;
  unsigned answers = 0;
  bench.net.port.on_receive = [&](Smp& smp) {
    const bool is_last =
        !smp.directed && is_about(smp, AttributeId::SwitchInfo) && ++answers % 2 == 0;
    if (!is_last || begun) return true;
    bench.net.runtime.post([&] {
      if (begun || bench.manager->phase() != Phase::Up) return;
      begun = true;
      bench.net.loses = [](const Smp& sent) { return sent.directed && goes_to(sent, kToH3); };
      bench.manager->request_sweep("meanwhile");
    });
    return true;
  };
  std::size_t swept = 0;
  bench.net.port.on_send = [&](const Smp& smp) {
    swept += begun && bench.manager->phase() != Phase::Up && !smp.directed ? 1 : 0;
    return !bench.net.loses || !bench.net.loses(smp);
  };
  ASSERT_TRUE(bench.net.run_until([&] { return begun && bench.manager->phase() == Phase::Up; }));
  EXPECT_EQ(swept, 0u) << "a sweep of what the cycle is about to replace";
}

TEST(SubnetManager, AskedOutOfTheReportOfACycleTheNextBegins) {
  Bench bench;
  ASSERT_TRUE(bench.bring_up());
  bench.on_cycle = [&] {
    if (bench.reasons.size() < 3) bench.manager->request_sweep("once more");
  };
  bench.manager->request_sweep("command");
  ASSERT_TRUE(bench.settle());
  EXPECT_THAT(bench.reasons, ElementsAre("command", "once more", "once more"));
}

TEST(SubnetManager, ALightSweepWaitsForTheEndOfTheCycle) {
  Bench bench;
  ASSERT_TRUE(bench.bring_up());
  bench.manager->request_sweep("command");
  ASSERT_TRUE(bench.run_to(Phase::Programming));
  bench.manager->request_light_sweep();
  ASSERT_TRUE(bench.settle());
  bench.net.run_for(1s);
  EXPECT_EQ(bench.sweeps(), 1) << "no switch reported a change";
  EXPECT_GT(bench.manager->last_sweep()->ended, bench.manager->last_cycle()->ended);
}

/// From h3: the first block of s2's table leads nowhere.
void clear_table_of_s2(SmallSubnet& net) {
  sim::SimTransport port(net.fabric, kH3, PortNum{1});
  port.set_handlers([](const MadPacket&) {}, [](const Error&) {});
  SmpRequest request{.route = SmpRoute::directed({PortNum{1}}),
                     .method = Method::Set,
                     .attribute = AttributeId::LinearForwardingTable};
  request.data.fill(std::byte{0xff});
  ASSERT_TRUE(port.send(build_request(request, Lid{0}, 1)));
  net.run_for(1s);
}

TEST(SubnetManager, TablesThatSomebodyElseWroteAreReadAgainForASwitchThatIsSilentByLid) {
  Bench bench;
  ASSERT_TRUE(bench.bring_up());
  const auto entry = [&] {
    return bench.net.fabric.node_state(kS2).lft[bench.net.lid(kH1).value()];
  };
  clear_table_of_s2(bench.net);
  ASSERT_NE(entry(), PortNum{3});
  for (int sweeps = 0; sweeps < 2; ++sweeps) {
    bench.manager->request_light_sweep();
    bench.net.run_for(20s);
  }
  EXPECT_EQ(entry(), PortNum{3});
  EXPECT_THAT(bench.reasons.back(), testing::HasSubstr("tables are read again"));
}

TEST(SubnetManager, TablesAreReadOnceForASwitchThatNeverAnswersByLid) {
  Bench bench;
  ASSERT_TRUE(bench.bring_up());
  bench.net.loses = [&](const Smp& smp) {
    return !smp.directed && is_about(smp, AttributeId::SwitchInfo);
  };
  std::vector<std::size_t> reads;
  for (int sweeps = 0; sweeps < 4; ++sweeps) {
    bench.manager->request_light_sweep();
    bench.net.run_for(20s);
    reads.push_back(bench.net.count(Method::Get, AttributeId::LinearForwardingTable));
  }
  EXPECT_EQ(reads[0], 0u);
  EXPECT_GT(reads[1], 0u);
  EXPECT_EQ(reads[3], reads[1]);
}

TEST(SubnetManager, SettingsHoldFromTheNextCycle) {
  Bench bench;
  bench.manager->start();
  ASSERT_TRUE(bench.run_to(Phase::Discovering));
  Settings next = small_settings();
  next.engine = "minhop";
  bench.manager->adopt(next);
  EXPECT_EQ(bench.manager->settings().engine, "updn");
  ASSERT_TRUE(bench.settle());
  EXPECT_EQ(bench.manager->last_cycle()->engine, "updn");
  bench.manager->request_sweep("command");
  ASSERT_TRUE(bench.settle());
  EXPECT_EQ(bench.manager->last_cycle()->engine, "minhop");
}

TEST(SubnetManager, AnEngineAskedForInACycleIsTriedInTheNext) {
  Bench bench;
  bench.manager->start();
  ASSERT_TRUE(bench.run_to(Phase::Programming));
  ASSERT_TRUE(bench.manager->request_engine("minhop", false));
  EXPECT_TRUE(bench.manager->is_trying_engine());
  ASSERT_TRUE(bench.net.run_until([&] { return bench.reasons.size() == 1; }));
  EXPECT_TRUE(bench.manager->is_trying_engine()) << "the first cycle did not try it";
  ASSERT_TRUE(bench.settle());
  ASSERT_TRUE(bench.manager->engine_trial());
  EXPECT_TRUE(bench.manager->engine_trial()->taken);
  EXPECT_EQ(bench.manager->in_force()->routing->engine, "minhop");
}

TEST(SubnetManager, AnOrderedEngineOutlivesAReloadThatNamesTheSameAsBefore) {
  Bench bench;
  ASSERT_TRUE(bench.bring_up());
  const auto reload = [&](std::string engine) {
    Settings settings = small_settings();
    settings.engine = std::move(engine);
    bench.manager->adopt(std::move(settings));
    bench.manager->request_sweep("configuration");
    EXPECT_TRUE(bench.settle());
    return bench.manager->in_force()->routing->engine;
  };
  ASSERT_TRUE(bench.manager->request_engine("minhop", false));
  ASSERT_TRUE(bench.settle());
  EXPECT_EQ(reload("updn"), "minhop");
  EXPECT_EQ(reload("updn"), "minhop");
  EXPECT_EQ(reload("minhop"), "minhop");
  EXPECT_EQ(reload("updn"), "updn");
}

TEST(SubnetManager, AnEngineThatIsAskedForIsTriedThoughTheConfigurationIsReadMeanwhile) {
  Bench bench;
  bench.manager->start();
  ASSERT_TRUE(bench.run_to(Phase::Programming));
  ASSERT_TRUE(bench.manager->request_engine("minhop", false));
  bench.manager->adopt(small_settings());
  ASSERT_TRUE(bench.settle());
  EXPECT_EQ(bench.manager->in_force()->routing->engine, "minhop");
  Settings other = small_settings();
  other.engine = "ftree";
  ASSERT_TRUE(bench.manager->request_engine("updn", false));
  bench.manager->adopt(std::move(other));
  bench.manager->request_sweep("configuration");
  ASSERT_TRUE(bench.settle());
  EXPECT_EQ(bench.manager->settings().engine, "ftree") << "the file names another";
}

TEST(SubnetManager, AFailedCycleIsTriedAgain) {
  Bench bench;
  bench.net.loses = [](const Smp&) { return true; };
  bench.manager->start();
  ASSERT_TRUE(bench.run_to(Phase::Idle));
  EXPECT_EQ(bench.manager->active().current(), nullptr);
  bench.net.loses = nullptr;
  ASSERT_TRUE(bench.run_to(Phase::Up)) << "nobody asked";
  EXPECT_TRUE(bench.manager->last_cycle()->up());
}

TEST(SubnetManager, WhatIsReportedDuringACycleThatFailsMakesOneAtOnce) {
  Bench bench;
  bench.on_cycle = [&] {
    if (bench.reasons.size() == 1) bench.net.loses = [](const Smp&) { return true; };
  };
  bench.manager->start();
  ASSERT_TRUE(bench.run_to(Phase::Programming));
  bench.manager->request_sweep("nobody answers it");  // before names are read, which is put off
  bench.net.run_for(60s);
  ASSERT_EQ(bench.manager->bring_up()->reason, "start");
  ASSERT_TRUE(bench.run_to(Phase::Discovering)) << "it tries again";
  bench.manager->request_sweep("command");
  ASSERT_TRUE(bench.run_to(Phase::Idle));
  bench.net.loses = nullptr;
  bench.net.run_for(1s);
  EXPECT_EQ(bench.reasons.back(), "command");
}

// --- The end ------------------------------------------------------------------------------------

TEST(SubnetManager, DestroyedAfterAnyStepItSendsAndSaysNothingMore) {
  bool whole = false;
  for (unsigned tasks = 0; !whole; tasks += 11) {
    Bench bench;
    bench.manager->start();
    for (unsigned run = 0; run < tasks && !whole; ++run) {
      bench.net.runtime.run_one();
      whole = bench.manager->phase() == Phase::Up && bench.manager->at_rest();
    }
    bench.manager.reset();
    const std::size_t sent = bench.net.sent.size();
    const std::size_t phases = bench.phases.size();
    bench.net.run_for(20s);
    EXPECT_EQ(bench.net.sent.size(), sent) << "after " << tasks;
    EXPECT_EQ(bench.phases.size(), phases) << "after " << tasks;
  }
}

TEST(SubnetManager, MayBeDestroyedInTheTurnAfterAnythingThatItSays) {
  for (const Phase last : {Phase::Discovering, Phase::Routing, Phase::Programming, Phase::Up}) {
    Bench bench;
    bench.on_phase = [&](Phase phase) {
      if (phase == last) bench.net.runtime.post([&] { bench.manager.reset(); });
    };
    bench.manager->start();
    ASSERT_TRUE(bench.net.run_until([&] { return bench.manager == nullptr; }));
    const std::size_t sent = bench.net.sent.size();
    bench.net.run_for(20s);
    EXPECT_EQ(bench.net.sent.size(), sent);
  }
}

TEST(SubnetManager, SaysOnceThatItsPortIsGone) {
  Bench bench;
  bench.manager->start();
  ASSERT_TRUE(bench.run_to(Phase::Programming));
  bench.net.wire.unplug();
  bench.net.run_for(20s);
  EXPECT_EQ(bench.lost, 1u);
}

// --- What is kept -------------------------------------------------------------------------------

TEST(SubnetManager, LidsAndTablesOutliveIt) {
  Bench bench({.lids = {{Guid{0x501}, {.base = Lid{40}}}}});
  ASSERT_TRUE(bench.bring_up());
  EXPECT_EQ(bench.net.lid(kH3), Lid{40});
  const LidBook lids = bench.store.get().lids;
  EXPECT_THAT(lids, SizeIs(5));
  bench.make(small_settings());
  unsigned tables = 0;
  bench.net.loses = [&](const Smp& smp) {
    tables += sets(smp, AttributeId::LinearForwardingTable) ? 1u : 0u;
    return false;
  };
  ASSERT_TRUE(bench.bring_up());
  EXPECT_EQ(bench.store.get().lids, lids);
  EXPECT_EQ(tables, 0u);
}

TEST(SubnetManager, TurnsThatWereLeftBlockedAreLookedAtAndForgotten) {
  const TurnRef turn{.node = Guid{0x200}, .in = PortNum{1}, .out = PortNum{3}};
  Bench bench;
  ASSERT_TRUE(bench.bring_up());  // a switch that was just switched on has nothing blocked
  bench.store.put_turns({turn});
  bench.make(small_settings());
  bench.manager->start();
  ASSERT_TRUE(bench.settle());
  const SlToVlModifier row{.in = turn.in, .out = turn.out};
  EXPECT_TRUE(std::ranges::any_of(bench.net.sent, [&](const Smp& smp) {
    return goes_to(smp, kToS1) && is_about(smp, AttributeId::SlToVlMappingTable) &&
           smp.attribute_modifier == encode_modifier(row);
  }));
  EXPECT_THAT(bench.store.get().turns, IsEmpty());
}

TEST(SubnetManager, TurnsStayKeptWhereTheCycleNeverCameToThem) {
  const TurnRef turn{.node = Guid{0x200}, .in = PortNum{1}, .out = PortNum{3}};
  Bench bench({.turns = {turn}});
  bench.net.loses = [](const Smp&) { return true; };
  bench.manager->start();
  ASSERT_TRUE(bench.run_to(Phase::Idle));
  EXPECT_THAT(bench.store.get().turns, ElementsAre(turn));
}

// --- Other managers -----------------------------------------------------------------------------

TEST(SubnetManager, AStandbyOnlyAsksItsMaster) {
  Bench bench;
  Rival rival(bench.net, SmState::Master, 5);
  bench.manager->start();
  ASSERT_TRUE(bench.run_to(Phase::Standby));
  EXPECT_THAT(bench.roles, ElementsAre(SmState::Discovering, SmState::Standby));
  EXPECT_EQ(bench.net.writes(), 0u);
  bench.net.sent.clear();
  bench.manager->request_sweep("command");
  bench.manager->request_light_sweep();
  EXPECT_EQ(bench.manager->request_engine("minhop", true).error().code, Errc::Busy);
  bench.net.run_for(20s);
  EXPECT_TRUE(bench.manager->at_rest());
  EXPECT_FALSE(bench.net.sent.empty());
  EXPECT_EQ(bench.net.count(Method::Get, AttributeId::SmInfo), bench.net.sent.size());
  EXPECT_EQ(bench.manager->active().current(), nullptr);
}

TEST(SubnetManager, WhatTheMasterKeptHoldsOnceItIsGone) {
  Bench bench;
  Rival rival(bench.net, SmState::Master, 5);
  bench.manager->start();
  ASSERT_TRUE(bench.run_to(Phase::Standby));
  bench.store.put_lids({{Guid{0x301}, {.base = Lid{77}}}});
  rival.silent = true;
  ASSERT_TRUE(bench.run_to(Phase::Up));
  EXPECT_EQ(bench.roles.back(), SmState::Master);
  EXPECT_EQ(bench.net.lid(kH2), Lid{77});
}

TEST(SubnetManager, AHigherMasterEndsTheCycleInItsMiddle) {
  Bench bench;
  bench.manager->start();
  ASSERT_TRUE(bench.run_to(Phase::Programming));
  Rival rival(bench.net, SmState::Master, 5);
  rival.tell();
  ASSERT_TRUE(bench.run_to(Phase::HandingOver));
  rival.silent = true;
  bench.net.sent.clear();
  bench.net.run_for(500us);
  EXPECT_EQ(bench.manager->phase(), Phase::HandingOver);
  EXPECT_THAT(bench.net.sent,
              Each(Truly([](const Smp& smp) { return is_about(smp, AttributeId::SmInfo); })))
      << "nothing is even asked for the cycle any more";
  rival.silent = false;
  ASSERT_TRUE(bench.run_to(Phase::Standby));
  bench.net.run_for(20s);
  EXPECT_EQ(bench.manager->phase(), Phase::Standby);
  EXPECT_EQ(bench.net.writes(), 0u);
  EXPECT_THAT(bench.reasons, IsEmpty()) << "the cycle never ended";
  EXPECT_EQ(bench.manager->active().current(), nullptr);
}

TEST(SubnetManager, AHigherStandbyWaitsUntilNothingIsBeingWritten) {
  Bench bench;
  bench.manager->start();
  ASSERT_TRUE(bench.run_to(Phase::Programming));
  Rival rival(bench.net, SmState::Standby, 5);
  rival.tell();
  ASSERT_TRUE(bench.net.run_until([&] { return !rival.orders().empty(); }));
  ASSERT_THAT(bench.reasons, ElementsAre("start"));
  EXPECT_TRUE(bench.manager->last_cycle()->up());
  EXPECT_THAT(rival.orders(), ElementsAre(SmControl::Handover));
  EXPECT_EQ(bench.manager->phase(), Phase::HandingOver);
  rival.is(SmState::Master);
  rival.tell(SmControl::Acknowledge);
  ASSERT_TRUE(bench.run_to(Phase::Standby));
}

TEST(SubnetManager, AHandoverWaitsForWhoeverIsBehind) {
  Bench bench;
  bench.standby_is_behind = true;
  ASSERT_TRUE(bench.bring_up());
  Rival rival(bench.net, SmState::Standby, 5);
  rival.tell();
  bench.net.run_for(1s);
  EXPECT_THAT(rival.heard, Not(IsEmpty())) << "it is known";
  EXPECT_THAT(rival.orders(), IsEmpty());
  bench.standby_is_behind = false;
  bench.manager->settle_handover();
  bench.net.run_for(1s);
  EXPECT_THAT(rival.orders(), ElementsAre(SmControl::Handover));
}

TEST(SubnetManager, ACycleGoesOnWhileAHandoverWaitsForWhoeverIsBehind) {
  Bench bench;
  bench.standby_is_behind = true;
  ASSERT_TRUE(bench.bring_up());
  Rival rival(bench.net, SmState::Standby, 5);
  bench.manager->request_sweep("command");
  bench.net.run_for(1s);
  EXPECT_THAT(rival.heard, Not(IsEmpty())) << "the sweep found it";
  EXPECT_THAT(rival.orders(), IsEmpty());
  EXPECT_THAT(bench.reasons, ElementsAre("command"));
  EXPECT_EQ(bench.manager->phase(), Phase::Up);
  bench.standby_is_behind = false;
  bench.manager->settle_handover();
  bench.net.run_for(1s);
  EXPECT_THAT(rival.orders(), ElementsAre(SmControl::Handover));
}

TEST(SubnetManager, AHandoverThatNobodyAnswersIsTakenBack) {
  Bench bench;
  ASSERT_TRUE(bench.bring_up());
  Rival rival(bench.net, SmState::Standby, 5);
  rival.tell();
  ASSERT_TRUE(bench.run_to(Phase::HandingOver));
  EXPECT_EQ(bench.net.count(Method::Set, AttributeId::SmInfo), 1u);
  rival.silent = true;
  ASSERT_TRUE(bench.run_to(Phase::Up));
  EXPECT_EQ(bench.roles.back(), SmState::Master);
  EXPECT_EQ(bench.sweeps(), 1) << "the subnet is looked at again";
}

// An OpenSM of default options takes a minute to see that its master is gone: two are enough.
TEST(SubnetManager, AHigherOneThatNeverBecomesMasterIsWaitedForTwoMinutes) {
  for (const SmState state : {SmState::Discovering, SmState::Standby}) {
    Bench bench;
    Rival rival(bench.net, state, 5);
    bench.manager->start();
    ASSERT_TRUE(bench.run_to(Phase::Standby));
    const auto rules = [&] { return bench.roles.back() == SmState::Master; };
    EXPECT_FALSE(bench.net.run_until(rules, 115s));
    ASSERT_TRUE(bench.net.run_until(rules, 20s)) << print_sm_state(state);
    ASSERT_TRUE(bench.net.run_until([&] { return bench.manager->last_cycle() != nullptr; }));
    if (state == SmState::Standby) continue;  // it is handed the subnet at once
    ASSERT_TRUE(bench.settle());
    EXPECT_TRUE(bench.manager->last_cycle()->up());
    EXPECT_THAT(rival.orders(), IsEmpty());
    rival.is(SmState::Standby);
    rival.tell();
    bench.net.run_for(15s);
    EXPECT_THAT(rival.orders(), ElementsAre(SmControl::Handover)) << "it is well now";
  }
}

TEST(SubnetManager, AHigherOneThatStartsAgainAndAgainIsWaitedForTwoMinutes) {
  Bench bench;
  Rival rival(bench.net, SmState::Discovering, 5);
  bench.manager->start();
  ASSERT_TRUE(bench.run_to(Phase::Standby));
  for (int times = 0; times < 46; ++times) {
    rival.silent = times % 2 == 0;
    bench.net.run_for(3s);
  }
  EXPECT_EQ(bench.roles.back(), SmState::Master);
}

TEST(SubnetManager, AHigherOneThatBecomesMasterInTimeIsStoodByFor) {
  Bench bench;
  Rival rival(bench.net, SmState::Discovering, 5);
  bench.manager->start();
  ASSERT_TRUE(bench.run_to(Phase::Standby));
  for (int times = 0; times < 4; ++times) {
    bench.net.run_for(100s);
    rival.is(times % 2 == 0 ? SmState::Master : SmState::Discovering);
  }
  bench.net.run_for(100s);
  EXPECT_THAT(bench.roles, ElementsAre(SmState::Discovering, SmState::Standby));
}

// --- What ports say -----------------------------------------------------------------------------

/// As if the port at `from` had sent it.
void deliver_trap(SmallSubnet& net, const Notice& notice, Lid from) {
  Smp trap;
  trap.method = Method::Trap;
  trap.attribute_id = static_cast<std::uint16_t>(AttributeId::Notice);
  trap.transaction_id = 77;
  encode_notice(notice, trap.data);
  MadPacket packet{.remote_lid = from};
  encode_smp(trap, packet.mad);
  net.port.deliver(packet);
}

const HopPath kToH2{PortNum{1}, PortNum{2}};

[[nodiscard]] bool reads_h2(const Smp& smp) {
  return smp.method == Method::Get && is_about(smp, AttributeId::PortInfo) && goes_to(smp, kToH2);
}

/// At rest, with nothing left to be asked.
void come_to_rest(Bench& bench) {
  ASSERT_TRUE(bench.bring_up());
  bench.net.run_for(10s);
  bench.net.sent.clear();
}

TEST(SubnetManager, ANodeThatChangedIsAskedAlsoWhereAStrangerSpokeWithIt) {
  Bench bench;
  come_to_rest(bench);
  const Lid h2 = bench.net.lid(kH2);
  deliver_trap(bench.net, capability_notice(h2, NodeType::Ca, 0, true), h2);
  deliver_trap(bench.net, link_state_notice(Lid{999}), Lid{999});
  bench.net.run_for(10s);
  EXPECT_EQ(bench.net.count(Method::Get, AttributeId::NodeDescription), 1u);
  EXPECT_EQ(std::ranges::count_if(bench.net.sent, reads_h2), 1);
}

TEST(SubnetManager, ANodeThatChangedIsAskedAgainWhereACycleCutTheQuestionShort) {
  Bench bench;
  come_to_rest(bench);
  const Lid h2 = bench.net.lid(kH2);
  bench.net.loses = reads_h2;
  deliver_trap(bench.net, capability_notice(h2, NodeType::Ca, 0, true), h2);
  const auto asked = [&] { return std::ranges::any_of(bench.net.sent, reads_h2); };
  ASSERT_TRUE(bench.net.run_until(asked));
  const Lid s2 = bench.net.fabric.port_info(kS2, PortNum{0}).lid;
  deliver_trap(bench.net, link_state_notice(s2), s2);
  ASSERT_TRUE(bench.run_to(Phase::Discovering));
  bench.net.loses = nullptr;
  bench.net.sent.clear();
  bench.net.run_for(10s);
  EXPECT_EQ(std::ranges::count_if(bench.net.sent, reads_h2), 1);
}

// What a port sends to itself: some drivers give no source.
TEST(SubnetManager, ATrapWithoutASourceIsRepressedAtItsOwnPort) {
  Bench bench;
  Settings settings = small_settings();
  settings.m_keys = {{.seed = std::string(16, 'a'), .key = {}}};
  settings.ports.m_key = name_of(settings.m_keys[0]);
  bench.make(settings);
  come_to_rest(bench);
  std::vector<MadPacket> represses;
  bench.net.port.on_departure = [&](const MadPacket& packet) {
    const auto smp = decode_smp(packet.mad);
    if (smp && smp->method == Method::TrapRepress) represses.push_back(packet);
  };
  const Lid own = bench.net.lid(kH1);
  deliver_trap(bench.net, capability_notice(own, NodeType::Ca, 0, true), kUnassignedLid);
  bench.net.run_for(1s);
  ASSERT_THAT(represses, SizeIs(1));
  EXPECT_EQ(represses[0].remote_lid, own);
  EXPECT_EQ(decode_smp(represses[0].mad)->m_key,
            derive_m_key(settings.m_keys[0].seed, bench.net.port_guid(kH1)));
}

// A cycle that fails found nothing, and did not find that there is nothing.
TEST(SubnetManager, ACycleThatFailsSaysNothingOfWhoSentTraps) {
  Bench bench;
  come_to_rest(bench);
  const Lid s2 = bench.net.fabric.port_info(kS2, PortNum{0}).lid;
  const auto send_traps_for = [&](Duration time) {
    for (Duration passed{0}; passed < time; passed += 2s) {
      deliver_trap(bench.net, link_state_notice(s2), s2);
      bench.net.run_for(2s);
    }
  };
  send_traps_for(600s);  // sweeps that find nothing
  bench.net.loses = [](const Smp&) { return true; };
  send_traps_for(130s);  // one of them makes a cycle
  ASSERT_TRUE(bench.manager->last_cycle()->error);
  const std::uint64_t before = bench.manager->cycles();
  send_traps_for(60s);
  EXPECT_LE(bench.manager->cycles() - before, 3u);
}

}  // namespace subnet_manager_test
}  // namespace smd::test
