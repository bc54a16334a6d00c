// Two and three managers on one fabric: who rules, how the next one takes over, and what of the
// fabric stays as it is.
#include "tests/support/managers.h"
#include "tests/support/files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "sim-backend/agents/node_state.h"
#include "sim-backend/management/fabric_oracle.h"
#include "smd/base/log.h"
#include "smd/policy/partition_file.h"
#include "tests/support/cables.h"
#include "tests/support/oracle_watch.h"

namespace smd::test {
namespace managers_test {

using namespace std::chrono_literals;

constexpr const char* kTree = "fat-tree:k=4,levels=2";
const std::vector<std::string> kTwo{"host-00000", "host-00007"};
const std::vector<std::string> kThree{"host-00000", "host-00007", "host-00003"};

/// A standby needs so long to see that its master is gone, with default options: the last answer,
/// poll_retries + 1 questions, each of which the client repeats.
constexpr Duration kNoticed = 7s;

/// One more, and all have come to rest.
testing::AssertionResult start(Managers& all, std::size_t which, unsigned priority) {
  all[which].start(manager_settings(priority));
  if (all.settle()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << all.find_fault();
}

TEST(Managers, TheHigherPriorityRules) {
  for (const unsigned higher : {0u, 1u}) {
    Managers all(kTree, kTwo);
    all[0].start(manager_settings(higher == 0 ? 9 : 2));
    ASSERT_TRUE(start(all, 1, higher == 1 ? 9 : 2));
    EXPECT_EQ(all[higher].state(), SmState::Master);
    EXPECT_EQ(all[1 - higher].state(), SmState::Standby);
    EXPECT_EQ(all[1 - higher].sets, 0u) << "who does not rule writes nothing";
    EXPECT_LE(all.longest_rivalry, 0ns);
  }
}

/// Lines of the log, while it lives.
class LogLines {
 public:
  LogLines() { EXPECT_TRUE(log::open_sink(folder_ / "log")); }

  ~LogLines() { EXPECT_TRUE(log::open_sink("stderr")); }

  [[nodiscard]] std::size_t count(std::string_view part) const {
    std::ifstream in(folder_ / "log");
    std::size_t found = 0;
    for (std::string line; std::getline(in, line);) found += line.find(part) != std::string::npos;
    return found;
  }

 private:
  Scratch scratch_;
  std::filesystem::path folder_ = scratch_.path();
};

TEST(Managers, EveryCycleThatBeginsEndsInTheLog) {
  const LogLines log;
  {
    Managers all(kTree, kThree);
    all[0].start(manager_settings(2));
    ASSERT_TRUE(start(all, 1, 9));  // the lower one's first look ends as it stands by
    all[2].start(manager_settings(5));
    const auto looks = [&] { return all[2].manager->phase() == smd::Phase::Discovering; };
    ASSERT_TRUE(all.runtime.run_while_not(looks, all.runtime.now() + kNoticed));
    all[2].kill();  // in the middle of its first cycle
  }
  EXPECT_GE(log.count(" cycle.begin "), 3u);
  EXPECT_EQ(log.count(" cycle.end "), log.count(" cycle.begin "));
  EXPECT_GE(log.count("result=dropped"), 2u);
}

TEST(Managers, OfEqualPriorityTheLowerGuidRules) {
  Managers all(kTree, kTwo);
  all[1].start(manager_settings(3));
  ASSERT_TRUE(start(all, 0, 3));
  EXPECT_EQ(all[0].state(), SmState::Master);
}

TEST(Managers, ALatecomerOfLowerPriorityWaitsAndWritesNothing) {
  Managers all(kTree, kTwo);
  ASSERT_TRUE(start(all, 0, 9));
  const std::uint64_t before = all[0].sets;
  ASSERT_TRUE(start(all, 1, 2));
  all.run_for(30s);
  EXPECT_EQ(all[1].state(), SmState::Standby);
  EXPECT_EQ(all[1].sets, 0u);
  EXPECT_EQ(all[0].sets, before) << "nor is anything written for it";
}

TEST(Managers, ALatecomerOfHigherPriorityIsHandedTheSubnet) {
  Managers all(kTree, kTwo);
  ASSERT_TRUE(start(all, 0, 2));
  const auto lids = all.lids();
  const auto entries = all.entries();
  all[1].start(manager_settings(9));
  ASSERT_TRUE(all.run_until([&] { return all[1].state() == SmState::Master; }, 10s));
  ASSERT_TRUE(all.settle()) << all.find_fault();
  EXPECT_EQ(all[0].state(), SmState::Standby);
  EXPECT_EQ(all.lids(), lids);
  EXPECT_EQ(all.entries(), entries);
  EXPECT_EQ(all[1].table_sets, 0u) << "an entry that is right is not written again";
  EXPECT_EQ(all.longest_rivalry, 0ns);
}

TEST(Managers, AStandbyTakesOverFromADeadMaster) {
  Managers all(kTree, kTwo);
  ASSERT_TRUE(start(all, 0, 9));
  ASSERT_TRUE(start(all, 1, 2));
  const auto lids = all.lids();
  const auto entries = all.entries();
  all[0].kill();
  ASSERT_TRUE(all.run_until([&] { return all[1].state() == SmState::Master; }, kNoticed));
  ASSERT_TRUE(all.settle()) << all.find_fault();
  EXPECT_EQ(all.lids(), lids) << "no LID moves";
  for (const auto& [guid, lid] : lids)
    EXPECT_EQ(all[1].kept().lids.at(guid).base, lid) << "what it took over is kept";
  EXPECT_EQ(all.entries(), entries);
  EXPECT_EQ(all[1].table_sets, 0u);
}

TEST(Managers, RoutesThatWorkAreTheNextMastersRoutes) {
  // A ring has many shortest routes: the two would choose others of them.
  Managers all("torus:dims=4,hosts=2", {"host-00000", "host-00004"});
  ASSERT_TRUE(start(all, 0, 2));
  const auto entries = all.entries();
  all[1].start(manager_settings(9));
  ASSERT_TRUE(all.run_until([&] { return all[1].state() == SmState::Master; }, 10s));
  ASSERT_TRUE(all.settle()) << all.find_fault();
  EXPECT_EQ(all.entries(), entries);
  EXPECT_EQ(all[1].table_sets, 0u);
}

TEST(Managers, RoutesThatBrokeWithTheMasterAreMended) {
  Managers all("torus:dims=4,hosts=2", {"host-00000", "host-00004"});
  ASSERT_TRUE(start(all, 0, 9));
  ASSERT_TRUE(start(all, 1, 2));
  OracleWatch watch(all);
  all[0].kill();
  const Cable cut = cables_between_switches(all.fabric.spec()).front();
  all.fabric.set_link(cut.node, cut.port, false);
  ASSERT_TRUE(all.run_until([&] { return all[1].state() == SmState::Master; }, kNoticed));
  ASSERT_TRUE(all.settle()) << all.find_fault();
  EXPECT_GT(all[1].table_sets, 0u);
  EXPECT_TRUE(watch.connected());
  EXPECT_EQ(watch.never_allowed(), "");
}

TEST(Managers, ClientsAreToldToRegisterAgainWithTheNewMaster) {
  Managers all(kTree, kTwo);
  ASSERT_TRUE(start(all, 0, 9));
  ASSERT_TRUE(start(all, 1, 2));
  std::set<Lid> told;
  all[1].on_send = [&](const Smp& smp) {
    if (smp.method != Method::Set || !is_about(smp, AttributeId::PortInfo)) return;
    const PortInfo info = decode_port_info(smp.data).value();
    if (info.client_reregister) told.insert(info.lid);
  };
  all[0].kill();
  ASSERT_TRUE(all.run_until([&] { return all[1].state() == SmState::Master; }, kNoticed));
  ASSERT_TRUE(all.settle()) << all.find_fault();
  const sim::FabricSpec& spec = all.fabric.spec();
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    const bool is_switch = spec.nodes[n].type == NodeType::Switch;
    const PortInfo info =
        all.fabric.port_info(n, PortNum{static_cast<std::uint8_t>(is_switch ? 0 : 1)});
    if ((info.capability_mask & port_cap::kIsClientReregistrationSupported) == 0) continue;
    EXPECT_TRUE(told.contains(info.lid)) << spec.nodes[n].description;
  }
}

TEST(Managers, TheDeadMasterComesBackAndRulesAgain) {
  Managers all(kTree, kTwo);
  ASSERT_TRUE(start(all, 0, 9));
  ASSERT_TRUE(start(all, 1, 2));
  const auto lids = all.lids();
  all[0].kill();
  ASSERT_TRUE(all.run_until([&] { return all[1].state() == SmState::Master; }, kNoticed));
  ASSERT_TRUE(all.settle());
  all[0].start(manager_settings(9));
  ASSERT_TRUE(all.run_until([&] { return all[0].state() == SmState::Master; }, 15s));
  ASSERT_TRUE(all.settle()) << all.find_fault();
  EXPECT_EQ(all[1].state(), SmState::Standby);
  EXPECT_EQ(all.lids(), lids);
  EXPECT_EQ(all.longest_rivalry, 0ns);
}

TEST(Managers, OfTwoStandbysTheHigherTakesOver) {
  Managers all(kTree, kThree);
  for (const unsigned i : {0u, 1u, 2u}) {
    ASSERT_TRUE(start(all, i, 9 - i));
  }
  EXPECT_EQ(all[0].state(), SmState::Master);
  all[0].kill();
  ASSERT_TRUE(all.settle()) << all.find_fault();
  EXPECT_EQ(all[1].state(), SmState::Master);
  EXPECT_EQ(all[2].state(), SmState::Standby);
  all[1].kill();
  ASSERT_TRUE(all.settle()) << all.find_fault();
  EXPECT_EQ(all[2].state(), SmState::Master);
  EXPECT_EQ(all.longest_rivalry, 0ns);
}

TEST(Managers, AMasterThatStoodStillDoesNotWriteBesideTheNext) {
  Managers all(kTree, kTwo);
  ASSERT_TRUE(start(all, 0, 9));
  ASSERT_TRUE(start(all, 1, 2));
  all[0].pause();
  ASSERT_TRUE(all.run_until([&] { return all[1].state() == SmState::Master; }, kNoticed));
  all.run_for(5s);
  const std::uint64_t before = all[1].sets;
  all.fabric.set_link(all.node("sw-0-0"), PortNum{4}, false);
  all.run_for(1s);
  EXPECT_GT(all[1].sets, before) << "something to do for whoever believes to rule";
  unsigned beside = 0;
  all[0].on_send = [&](const Smp& smp) {
    if (smp.method == Method::Set && !is_about(smp, AttributeId::SmInfo))
      beside += all[1].writes() || all[1].state() == SmState::Master ? 1 : 0;
  };
  all[0].resume();
  ASSERT_TRUE(all.settle()) << all.find_fault();
  all.run_for(15s);
  ASSERT_TRUE(all.settle()) << all.find_fault();
  EXPECT_EQ(all[0].state(), SmState::Master) << "by handover, since it is the higher";
  EXPECT_EQ(beside, 0u);
  EXPECT_EQ(all.longest_rivalry, 0ns);
}

/// Rules of partitions that were refused, with an alarm, stay refused when all is looked at anew.
TEST(Managers, AMasterThatStoodStillDoesNotTakeRulesThatItRefused) {
  Managers all(kTree, kTwo, 1, {}, {.ca_partition_cap = 4, .switch_partition_cap = 3});
  Settings settings = manager_settings(9);
  const auto take = [&settings](const std::string& file) {
    settings.partitions = PartitionPolicy{.rules = parse_partition_file(file, "p").value().rules};
  };
  take("A=1: ALL;");
  all[0].start(settings);
  ASSERT_TRUE(all.settle()) << all.find_fault();
  take("A=1: ALL; B=2: ALL; C=3: ALL;");
  all[0].manager->adopt(settings);
  all[0].manager->request_sweep("configuration");
  ASSERT_TRUE(all.settle()) << all.find_fault();
  const auto keys = [&all] { return all.fabric.node_state(all[1].node).ports[1].p_keys; };
  const std::vector<PKey> before = keys();
  ASSERT_FALSE(all[0].manager->alarms().empty());
  const std::size_t cycles = all[0].reports.size();
  all[0].pause();
  all.run_for(10s);
  all[0].resume();
  all.run_for(10s);
  ASSERT_TRUE(all.settle()) << all.find_fault();
  EXPECT_GT(all[0].reports.size(), cycles) << "it looked at everything anew";
  EXPECT_EQ(keys(), before);
  EXPECT_FALSE(all[0].manager->alarms().empty());
}

TEST(Managers, AShortPauseCostsNothing) {
  Managers all(kTree, kTwo);
  ASSERT_TRUE(start(all, 0, 9));
  ASSERT_TRUE(start(all, 1, 2));
  const std::uint64_t before = all[0].sets;
  all[0].pause();
  all.run_for(2s);
  all[0].resume();
  all.run_for(20s);
  EXPECT_EQ(all[0].state(), SmState::Master);
  EXPECT_EQ(all[0].sets, before);
  EXPECT_EQ(all[1].sets, 0u);
}

bool orders(const Smp& smp, SmControl what) {
  return smp.method == Method::Set && is_about(smp, AttributeId::SmInfo) &&
         smp.attribute_modifier == static_cast<std::uint32_t>(what);
}

TEST(Managers, AHandoverNeedsNoAcknowledge) {
  Managers all(kTree, kTwo);
  ASSERT_TRUE(start(all, 0, 2));
  all[1].start(manager_settings(9));
  all[1].loses = [](const Smp& smp) { return orders(smp, SmControl::Acknowledge); };
  ASSERT_TRUE(all.run_until([&] { return all[1].state() == SmState::Master; }, 10s));
  ASSERT_TRUE(all.settle()) << all.find_fault();
  EXPECT_EQ(all[0].state(), SmState::Standby) << "it sees who is master";
  EXPECT_EQ(all.longest_rivalry, 0ns);
}

TEST(Managers, AHandoverThatIsNotAnsweredIsTriedAgain) {
  Managers all(kTree, kTwo);
  ASSERT_TRUE(start(all, 0, 2));
  unsigned tried = 0;
  all[0].loses = [&](const Smp& smp) {
    const bool lost = orders(smp, SmControl::Handover);
    tried += lost ? 1 : 0;
    return lost;
  };
  all[1].start(manager_settings(9));
  ASSERT_TRUE(all.run_until([&] { return tried > 0; }, 20s));
  all.run_for(8s);
  ASSERT_TRUE(all.settle()) << all.find_fault();
  EXPECT_EQ(all[0].state(), SmState::Master) << "nobody took over, so it goes on";
  all[0].loses = nullptr;
  ASSERT_TRUE(all.run_until([&] { return all[1].state() == SmState::Master; }, 30s));
  ASSERT_TRUE(all.settle()) << all.find_fault();
}

TEST(Managers, AStandbyThatTakesNoHandoverIsAskedEverMoreRarelyAndHostsDoNotNotice) {
  Managers all("torus:dims=4,hosts=2", {"host-00000", "host-00004"});
  ASSERT_TRUE(start(all, 0, 2));
  const auto entries = all.entries();
  unsigned handovers = 0, told = 0;
  all[0].on_send = [&](const Smp& smp) {
    handovers += orders(smp, SmControl::Handover) ? 1 : 0;
    if (smp.method == Method::Set && is_about(smp, AttributeId::PortInfo))
      told += decode_port_info(smp.data).value().client_reregister ? 1 : 0;
  };
  Settings higher = manager_settings(9);
  higher.election.sm_key = SmKey{0x2222};  // the master has none: its orders are refused
  all[1].start(higher);
  all.run_for(5min);
  EXPECT_EQ(all[0].state(), SmState::Master);
  EXPECT_GE(handovers, 3u);
  EXPECT_LE(handovers, 6u) << "after 10 s, 20 s, 40 s, 80 s and 160 s";
  EXPECT_EQ(told, 0u) << "nobody else ruled";
  EXPECT_EQ(all.entries(), entries);
  const std::vector<std::string> alarms = all[0].manager->alarms();
  EXPECT_TRUE(std::ranges::any_of(alarms, [](const std::string& alarm) {
    return alarm.find("takes no handover: it refused") != std::string::npos;
  })) << "an operator has to know";
  all[1].start(manager_settings(9));
  ASSERT_TRUE(all.run_until([&] { return all[1].state() == SmState::Master; }, 30s))
      << "one that started anew is not held to what it did before";
  ASSERT_TRUE(all.settle()) << all.find_fault();
}

TEST(Managers, WhileItHandsOverAMasterWritesNothing) {
  Managers all(kTree, kTwo);
  ASSERT_TRUE(start(all, 0, 2));
  all[1].start(manager_settings(9));
  std::optional<TimePoint> out;  // the order was
  std::uint64_t sets = 0;
  all[0].on_send = [&](const Smp& smp) {
    if (!orders(smp, SmControl::Handover) || out) return;
    out = all.runtime.now();
    sets = all[0].sets;
  };
  // It neither asks whether the other one has taken over nor is told, for a while.
  const auto deaf = [&] { return out && all.runtime.now() < *out + 2s; };
  all[0].loses = [&](const Smp& smp) {
    return deaf() && smp.method == Method::Get && is_about(smp, AttributeId::SmInfo);
  };
  all[1].loses = [&](const Smp& smp) { return deaf() && orders(smp, SmControl::Acknowledge); };
  ASSERT_TRUE(all.runtime.run_while_not([&] { return out.has_value(); }, all.runtime.now() + 20s));
  // Something to do, on no way between the two.
  all.fabric.set_link(all.node("sw-0-1"), PortNum{4}, false);
  all.run_for(1500ms);
  ASSERT_TRUE(all[0].manager->election().holding());
  EXPECT_EQ(all[0].sets, sets);
  EXPECT_FALSE(all[0].manager->request_engine("minhop", false)) << "it would be forgotten";
  ASSERT_TRUE(all.run_until([&] { return all[0].state() == SmState::Standby; }, 10s));
  ASSERT_TRUE(all.settle()) << all.find_fault();
  EXPECT_EQ(all[0].sets, sets);
  EXPECT_GT(all[1].table_sets, 0u) << "the next master did it";
}

TEST(Managers, AnotherSmKeyIsHandedNothing) {
  Managers all(kTree, kTwo);
  Settings lower = manager_settings(2);
  lower.election.sm_key = SmKey{0x1111};
  Settings higher = manager_settings(9);
  higher.election.sm_key = SmKey{0x2222};
  all[0].start(lower);
  ASSERT_TRUE(all.settle());
  all[1].start(higher);
  all.run_for(40s);
  EXPECT_EQ(all[0].state(), SmState::Master);
  EXPECT_EQ(all[1].state(), SmState::Standby);
  EXPECT_TRUE(all[0].manager->election().others().begin()->second.foreign);
  higher.election.sm_key = SmKey{0x1111};
  all[1].start(higher);
  ASSERT_TRUE(all.run_until([&] { return all[1].state() == SmState::Master; }, 20s));
  ASSERT_TRUE(all.settle()) << all.find_fault();
}

TEST(Managers, WhoeverRulesMayKeepRulingByItsMasterPriority) {
  Managers all(kTree, kTwo);
  const auto settings = [](unsigned priority) {
    Settings out = manager_settings(priority);
    out.election.master_priority = 15;
    return out;
  };
  all[0].start(settings(9));
  ASSERT_TRUE(all.settle());
  all[1].start(settings(2));
  ASSERT_TRUE(all.settle());
  all[0].kill();
  ASSERT_TRUE(all.run_until([&] { return all[1].state() == SmState::Master; }, kNoticed));
  all[0].start(settings(9));
  all.run_for(40s);
  ASSERT_TRUE(all.settle()) << all.find_fault();
  EXPECT_EQ(all[1].state(), SmState::Master);
}

/// Somebody at a port who speaks as a master.
struct Impostor {
  Impostor(Managers& all, const std::string& host)
      : transport(all.fabric, all.node(host), PortNum{1}),
        client(all.runtime, transport, {}),
        scope(client) {}

  std::optional<std::uint16_t> order(
      SmpRoute route, SmControl what, Managers& all, Guid claimed = Guid{0x77}, MKey m_key = {}) {
    SmpRequest request{.route = route,
                       .method = Method::Set,
                       .attribute = AttributeId::SmInfo,
                       .modifier = static_cast<std::uint32_t>(what),
                       .m_key = m_key};
    encode_sm_info(
        {.guid = claimed, .priority = 15, .sm_state = static_cast<std::uint8_t>(SmState::Master)},
        request.data);
    std::optional<std::uint16_t> status;
    scope.send(request,
               [&](const Result<SmpReply>& reply) { status = reply ? reply->status : 99; });
    (void)all.run_until([&] { return status.has_value(); }, 5s);
    return status;
  }

  sim::SimTransport transport;
  SmpClient client;
  SmpScope scope;
};

TEST(Managers, AStandbyIsDisabledAndWokenByOrder) {
  Managers all(kTree, kTwo);
  ASSERT_TRUE(start(all, 0, 9));
  ASSERT_TRUE(start(all, 1, 2));
  Impostor other(all, "host-00002");
  const SmpRoute there = SmpRoute::to_lid(all.fabric.port_info(all[1].node, PortNum{1}).lid);
  EXPECT_EQ(other.order(there, SmControl::Disable, all), 0);
  EXPECT_EQ(all[1].state(), SmState::NotActive);
  unsigned polls = 0;
  all[1].on_send = [&](const Smp& smp) { polls += is_about(smp, AttributeId::SmInfo) ? 1 : 0; };
  all[0].kill();
  all.run_for(20s);
  EXPECT_EQ(all[1].state(), SmState::NotActive) << "until it is told otherwise";
  EXPECT_EQ(polls, 0u);
  EXPECT_EQ(other.order(there, SmControl::Standby, all), 0);
  EXPECT_EQ(all[1].state(), SmState::Standby);
  ASSERT_TRUE(all.settle()) << "its master is nobody: " << all.find_fault();
  EXPECT_EQ(all[1].state(), SmState::Master);
  EXPECT_EQ(other.order(there, SmControl::Disable, all), 0x1c) << "a master is not disabled";
}

Settings with_m_key(unsigned priority, std::uint64_t key) {
  Settings out = manager_settings(priority);
  out.ports.m_key = out.election.m_key = MKey{key};
  return out;
}

/// Else any host could leave the subnet without a standby.
TEST(Managers, AnOrderIsObeyedWithTheMKeyOfThePortAlone) {
  Managers all(kTree, kTwo);
  all[0].start(with_m_key(9, 0xabc));
  ASSERT_TRUE(all.settle());
  all[1].start(with_m_key(2, 0xabc));
  ASSERT_TRUE(all.settle());
  Impostor other(all, "host-00002");
  const SmpRoute there = SmpRoute::to_lid(all.fabric.port_info(all[1].node, PortNum{1}).lid);
  unsigned asked = 0;
  all[1].on_send = [&](const Smp& smp) {
    asked += smp.method == Method::Get && is_about(smp, AttributeId::PortInfo) ? 1 : 0;
  };
  const auto disable = [&](std::uint64_t key) {
    return other.order(there, SmControl::Disable, all, Guid{0x77}, MKey{key});
  };
  for (const std::uint64_t key : {0, 0xdef}) {
    EXPECT_NE(disable(key), 0) << key;
    EXPECT_NE(other.order(there, SmControl::Handover, all, Guid{0x77}, MKey{key}), 0) << key;
    ASSERT_EQ(all[1].state(), SmState::Standby);
  }
  EXPECT_LE(asked, 40u) << "one question for each of the orders, which the client repeats";
  EXPECT_EQ(disable(0xabc), 0);
  EXPECT_EQ(all[1].state(), SmState::NotActive);
  EXPECT_EQ(other.order(there, SmControl::Standby, all, Guid{0x77}, MKey{0xabc}), 0);
  ASSERT_TRUE(all.settle());
  EXPECT_NE(disable(0), 0);
  all[0].kill();
  EXPECT_TRUE(all.run_until([&] { return all[1].state() == SmState::Master; }, kNoticed));
}

/// The port may have no M_Key yet, or that of the master, which has another one or none.
TEST(Managers, AMasterWithAnotherMKeyOrNoneHandsOver) {
  for (const std::uint64_t key : {0, 0xdef}) {
    SCOPED_TRACE(key);
    Managers all(kTree, kTwo);
    all[0].start(with_m_key(2, key));
    ASSERT_TRUE(all.settle());
    all[1].start(with_m_key(9, 0xabc));
    EXPECT_TRUE(all.run_until([&] { return all[1].state() == SmState::Master; }, 10s));
  }
}

TEST(Managers, HandoversThatNobodyStandsForCostAMasterAQuestion) {
  Managers all(kTree, kTwo);
  ASSERT_TRUE(start(all, 0, 9));
  const std::size_t cycles = all[0].reports.size();
  const auto entries = all.entries();
  unsigned asked = 0;
  all[0].on_send = [&](const Smp& smp) {
    asked += smp.method == Method::Get && is_about(smp, AttributeId::SmInfo) ? 1 : 0;
  };
  Impostor host(all, "host-00002");
  const SmpRoute there = SmpRoute::to_lid(all.fabric.port_info(all[0].node, PortNum{1}).lid);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(host.order(there, SmControl::Handover, all), 0);
    ASSERT_EQ(all[0].state(), SmState::Master);
    ASSERT_FALSE(all[0].manager->election().holding());
  }
  all.run_for(5s);
  EXPECT_EQ(all[0].reports.size(), cycles) << "nothing was looked at for its sake";
  EXPECT_EQ(all.entries(), entries);
  EXPECT_GE(asked, 1u);
  EXPECT_LE(asked, 4u) << "one question and its retries in ten seconds";
}

TEST(Managers, WhereNoneMayRunItIsHandedNothing) {
  Managers all(kTree, kTwo);
  const auto port = [&](std::size_t which) {
    return all.fabric.spec().nodes[all[which].node].ports[1].guid;
  };
  Settings lower = manager_settings(2);
  lower.election.allowed = {port(0), Guid{0x4711}};
  all[0].start(lower);
  ASSERT_TRUE(all.settle());
  const auto entries = all.entries();
  all[1].start(manager_settings(9));
  all.run_for(40s);
  EXPECT_EQ(all[0].state(), SmState::Master);
  EXPECT_EQ(all.entries(), entries);
  const smd::KnownManager& other = all[0].manager->election().others().begin()->second;
  EXPECT_TRUE(other.excluded);
  EXPECT_FALSE(other.foreign);

  lower.election.allowed.insert(port(1));
  all[0].manager->adopt(lower);
  ASSERT_TRUE(all.run_until([&] { return all[1].state() == SmState::Master; }, 60s));
  ASSERT_TRUE(all.settle()) << all.find_fault();
}

TEST(Managers, AStandbyLeavesAMasterThatMayNoLongerRun) {
  Managers all(kTree, kTwo);
  ASSERT_TRUE(start(all, 1, 9));
  ASSERT_TRUE(start(all, 0, 2));
  ASSERT_EQ(all[0].state(), SmState::Standby);
  Settings settings = manager_settings(2);
  settings.election.allowed = {all.fabric.spec().nodes[all[0].node].ports[1].guid};
  all[0].manager->adopt(settings);
  EXPECT_TRUE(all.run_until([&] { return all[0].state() == SmState::Master; }, 60s));
}

// The order is obeyed from where a manager may run alone, whoever it is said to be of.
TEST(Managers, OrdersInTheNameOfOneThatMayRunComeFromItsPort) {
  Managers all(kTree, kTwo);
  const Guid own = all.fabric.spec().nodes[all[0].node].ports[1].guid;
  const std::uint32_t allowed = all.node("host-00003");
  const Guid named = all.fabric.spec().nodes[allowed].ports[1].guid;
  Settings settings = manager_settings(9);
  settings.election.allowed = {own, named};
  all[0].start(settings);
  ASSERT_TRUE(all.settle());
  const std::size_t cycles = all[0].reports.size();
  unsigned asked = 0;
  all[0].on_send = [&](const Smp& smp) {
    asked += smp.method == Method::Get && is_about(smp, AttributeId::SmInfo) ? 1 : 0;
  };
  const SmpRoute there = SmpRoute::to_lid(all.fabric.port_info(all[0].node, PortNum{1}).lid);
  Impostor stranger(all, "host-00002");
  (void)stranger.order(there, SmControl::Handover, all, named);
  all.run_for(5s);
  EXPECT_EQ(asked, 0u) << "it is not worth a question";
  EXPECT_EQ(all[0].state(), SmState::Master);
  EXPECT_EQ(all[0].reports.size(), cycles);
  Impostor at_its_port(all, "host-00003");
  (void)at_its_port.order(there, SmControl::Handover, all, named);
  all.run_for(5s);
  EXPECT_GE(asked, 1u) << "asked back whether it is master";
}

/// A master asks back who asks it, and shows its key where a manager may run.
TEST(Managers, TheSmKeyIsShownWhereAManagerMayRunAlone) {
  Managers all(kTree, kTwo);
  const auto port_at = [&](std::uint32_t node) {
    return all.fabric.spec().nodes[node].ports[1].guid;
  };
  const auto settings = [&](unsigned priority) {
    Settings out = manager_settings(priority);
    out.election.sm_key = SmKey{0x1111};
    out.election.allowed = {
        port_at(all[0].node), port_at(all[1].node), port_at(all.node("host-00003"))};
    return out;
  };
  all[0].start(settings(2));
  ASSERT_TRUE(all.settle());
  unsigned asked = 0, shown = 0;
  all[0].on_send = [&](const Smp& smp) {
    if (smp.method != Method::Get || !is_about(smp, AttributeId::SmInfo)) return;
    ++asked;
    shown += decode_sm_info(smp.data)->sm_key == SmKey{0x1111} ? 1 : 0;
  };
  const SmpRoute there = SmpRoute::to_lid(all.fabric.port_info(all[0].node, PortNum{1}).lid);
  for (const auto& [host, may_see] :
       {std::pair("host-00002", false), std::pair("host-00003", true)}) {
    asked = shown = 0;
    Impostor thief(all, host);
    thief.scope.send({.route = there, .method = Method::Get, .attribute = AttributeId::SmInfo},
                     [](const Result<SmpReply>&) {});
    all.run_for(5s);
    EXPECT_GT(asked, 0u) << host;
    EXPECT_EQ(shown > 0, may_see) << host;
  }
  all[0].on_send = nullptr;
  all[1].start(settings(9));
  ASSERT_TRUE(all.run_until([&] { return all[1].state() == SmState::Master; }, 60s));
  ASSERT_TRUE(all.settle()) << all.find_fault();
}

TEST(Managers, SubnetsThatAreJoinedHaveOneMaster) {
  for (unsigned form = 0; form < 8; ++form) {
    const unsigned higher = form & 1;
    const bool named = (form & 2) != 0, keyed = (form & 4) != 0;
    SCOPED_TRACE(testing::Message()
                 << higher << (named ? ", ports named" : "") << (keyed ? ", with an M_Key" : ""));
    // Two rings of two switches become one of four.
    Managers all("torus:dims=4,hosts=2", {"host-00000", "host-00004"});
    const sim::FabricSpec& spec = all.fabric.spec();
    std::vector<std::uint32_t> switches;
    for (std::uint32_t n = 0; n < spec.nodes.size(); ++n)
      if (spec.nodes[n].type == NodeType::Switch) switches.push_back(n);
    const auto side = [&](std::uint32_t n) { return n == switches[0] || n == switches[1]; };
    std::vector<Cable> joint = cables_between_switches(spec);
    std::erase_if(joint, [&](const Cable& each) {
      return !side(each.node) || side(spec.nodes[each.node].ports[each.port.value()].peer_node);
    });
    ASSERT_EQ(joint.size(), 2u);
    for (const auto& [node, port] : joint) all.fabric.set_link(node, port, false);
    for (const unsigned which : {0u, 1u}) {
      Settings settings = manager_settings(higher == which ? 9 : 2);
      for (const unsigned each : {0u, 1u}) {
        if (named) settings.election.allowed.insert(spec.nodes[all[each].node].ports[1].guid);
      }
      if (named) settings.election.sm_key = SmKey{0x1111};
      if (keyed) {
        settings.ports.m_key = settings.election.m_key = MKey{0xabc};
        settings.m_keys = {{.seed = {}, .key = MKey{0xabc}}};
      }
      all[which].start(settings);
    }
    ASSERT_TRUE(all.settle()) << all.find_fault();
    EXPECT_EQ(all[0].state(), SmState::Master);
    EXPECT_EQ(all[1].state(), SmState::Master);
    const auto before = all.lids();
    unsigned handovers = 0;
    all[1 - higher].on_send = [&](const Smp& smp) {
      handovers += smp.method == Method::Set && is_about(smp, AttributeId::SmInfo) &&
                           smp.attribute_modifier == static_cast<std::uint32_t>(SmControl::Handover)
                       ? 1
                       : 0;
    };
    // It hears of the other before it has met its port.
    const TimePoint late = all.runtime.now() + 500ms;
    all[1 - higher].loses = [&](const Smp& smp) {
      return keyed && is_about(smp, AttributeId::NodeInfo) && all.runtime.now() < late;
    };
    for (const auto& [node, port] : joint) all.fabric.set_link(node, port, true);
    ASSERT_TRUE(all.run_until([&] { return all[1 - higher].state() == SmState::Standby; }, 10s));
    EXPECT_EQ(handovers, 1u) << "each is obeyed, with the key of the port that it goes to";
    ASSERT_TRUE(all.settle()) << all.find_fault();
    EXPECT_EQ(all[higher].state(), SmState::Master);
    EXPECT_LE(all.longest_rivalry, 22s);
    // Both gave out the same LIDs: one side of each pair moves, and no port that need not.
    std::set<Lid> lids;
    std::size_t moved = 0;
    for (const auto& [guid, lid] : all.lids()) {
      EXPECT_TRUE(lids.insert(lid).second) << lid.value() << " twice";
      moved += before.at(guid) == lid ? 0 : 1;
    }
    EXPECT_LE(moved, before.size() / 2);
  }
}

/// Reports go by where a P_Key stands in our own table.
TEST(Managers, WhoRulesAgainReadsPKeysAgain) {
  Managers all(kTree, kTwo);
  ASSERT_TRUE(start(all, 0, 2));
  all.run_for(5s);
  const auto knows_its_keys = [&] {
    const auto now = all[0].manager->active().current();
    const Fabric& fabric = now->fabric();
    const PortIdx own = fabric.sm_port;
    return all[0].manager->program_state().keys.find_part(
               {fabric.node_guid[fabric.node_of[own]], fabric.number_of(own)}) != nullptr;
  };
  EXPECT_TRUE(knows_its_keys());
  all[1].start(manager_settings(9));
  ASSERT_TRUE(all.run_until([&] { return all[0].state() == SmState::Standby; }, 10s));
  ASSERT_TRUE(all.settle());
  all[1].kill();
  ASSERT_TRUE(all.run_until([&] { return all[0].state() == SmState::Master; }, kNoticed));
  ASSERT_TRUE(all.settle());
  all.run_for(5s);
  EXPECT_TRUE(knows_its_keys());
}

TEST(Managers, TheLeaseOfAnMKeyIsKeptAliveOnAdapters) {
  Managers all(kTree, kTwo);
  Settings keyed = manager_settings(9);
  keyed.ports.m_key = keyed.election.m_key = MKey{0xabc};
  keyed.ports.m_key_protect = 1;
  keyed.ports.m_key_lease_s = 30;
  all[0].start(keyed);
  ASSERT_TRUE(all.settle());
  all[0].loses = [](const Smp& smp) {  // it would stop the lease, too
    return smp.method == Method::TrapRepress;
  };
  const std::uint32_t victim = all.node("host-00005");
  Impostor thief(all, "host-00002");
  SmpRequest request{.route = SmpRoute::to_lid(all.fabric.port_info(victim, PortNum{1}).lid),
                     .method = Method::Set,
                     .attribute = AttributeId::PortInfo,
                     .modifier = 1,
                     .m_key = MKey{0xbad}};
  thief.scope.send(request, [](const Result<SmpReply>&) {});
  all.run_for(3s);
  ASSERT_NE(all.fabric.node_state(victim).ports[1].lease_end, TimePoint{}) << "it runs";
  all.run_for(60s);
  EXPECT_EQ(all.fabric.node_state(victim).ports[1].lease_end, TimePoint{});
  EXPECT_EQ(all.fabric.port_info(victim, PortNum{1}).m_key_protect_bits, 1);
}

}  // namespace managers_test
}  // namespace smd::test
