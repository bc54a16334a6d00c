// Hardware that the classic specification does not know: fabrics whose switches route no SMPs by
// LID, and switches where another manager left adaptive routing on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim-backend/agents/node_state.h"
#include "smd/base/log.h"
#include "smd/mad/vendor.h"
#include "tests/support/managers.h"

namespace smd::test {
namespace hardware_test {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kTree = "fat-tree:k=4,levels=2";
const std::vector<std::string> kTwo{"host-00000", "host-00007"};

// --- Planarized fabrics -------------------------------------------------------------------------

/// A TrapRepress goes the way that the trap came.
bool asks_by_lid(const Smp& smp) {
  return !smp.directed && (smp.method == Method::Get || smp.method == Method::Set);
}

class Planarized : public ::testing::Test {
 protected:
  Planarized() {
    for (const auto& each : all.members)
      each->on_send = [this](const Smp& smp) { by_lid += asks_by_lid(smp) ? 1 : 0; };
  }

  static Settings settings(unsigned priority) {
    Settings out = manager_settings(priority);
    out.sweep_interval = 1s;
    return out;
  }

  Managers all{kTree, kTwo, 1, {}, {.routes_smps_by_lid = false}};
  unsigned by_lid = 0;
};

TEST_F(Planarized, EverySmpGoesDirected) {
  for (unsigned i = 0; i < 2; ++i) all[i].start(settings(9 - i));
  ASSERT_TRUE(all.settle()) << all.find_fault();
  EXPECT_EQ(all.find_fault(), "");
  const std::size_t cycles = all[0].reports.size();
  all.run_for(5s);
  EXPECT_EQ(all[0].reports.size(), cycles) << "light sweeps find nothing new";
  all.fabric.set_link(all.node("sw-0-0"), PortNum{3}, false);
  all.run_for(3s);
  ASSERT_TRUE(all.settle()) << all.find_fault();
  EXPECT_GT(all[0].reports.size(), cycles) << "where no trap arrives a light sweep finds the loss";
  EXPECT_EQ(all.find_fault(), "");
  EXPECT_EQ(by_lid, 0u);
}

TEST_F(Planarized, AStandbyTakesOver) {
  for (unsigned i = 0; i < 2; ++i) all[i].start(settings(9 - i));
  ASSERT_TRUE(all.settle()) << all.find_fault();
  ASSERT_EQ(all[1].state(), SmState::Standby);
  const auto lids = all.lids();
  all[0].kill();
  ASSERT_TRUE(
      all.run_until([&] { return all[1].state() == SmState::Master && all.settled(); }, 60s))
      << all.find_fault();
  EXPECT_EQ(all.lids(), lids);
  EXPECT_EQ(by_lid, 0u);
}

TEST_F(Planarized, WithSmpsByLidEverySwitchSeemsToBeGone) {
  Settings wrong = settings(9);
  wrong.directed_only = false;
  all[0].start(wrong);
  all.run_for(10s);
  EXPECT_GT(by_lid, 0u);
  EXPECT_GT(all[0].reports.size(), 1u) << "each light sweep finds every switch silent";
}

TEST(DirectedOnly, CanBeAskedForWhereLidsAreRouted) {
  Managers all(kTree, kTwo);
  unsigned by_lid = 0;
  all[0].on_send = [&](const Smp& smp) { by_lid += asks_by_lid(smp) ? 1 : 0; };
  Settings settings = manager_settings(9);
  settings.sweep_interval = 1s;
  settings.directed_only = true;
  all[0].start(settings);
  ASSERT_TRUE(all.settle()) << all.find_fault();
  all.run_for(3s);
  EXPECT_EQ(by_lid, 0u);
}

// --- Extended speeds ----------------------------------------------------------------------------

/// PortInfo that a manager asks for and sets without bit 31 of the modifier, on a fabric where
/// every device announces extended speeds.
class ExtendedSpeeds : public ::testing::Test {
 protected:
  ExtendedSpeeds() {
    for (const auto& each : all.members)
      each->on_send = [this](const Smp& smp) {
        const bool is_first = smp.directed && smp.hop_count == 0;
        sweeps += is_first && sim::is_about(smp, AttributeId::NodeInfo) ? 1 : 0;
        if (!sim::is_about(smp, AttributeId::PortInfo)) return;
        const bool is_set = smp.method == Method::Set;
        if (decode_port_info_modifier(smp.attribute_modifier).extended_speeds)
          (is_set ? sets : gets) += 1;
        else
          (is_set ? plain_sets : plain_gets) += 1;
      };
  }

  /// A sweep of everything does not know yet what devices can do: it asks one of each kind so, and
  /// then again.
  void expect_extended(const char* when) {
    EXPECT_LE(plain_gets, 2 * sweeps) << when;
    EXPECT_EQ(plain_sets, 0u) << when;
    EXPECT_GT(gets, 2 * plain_gets) << when;
    plain_gets = plain_sets = gets = sweeps = 0;
  }

  Managers all{"fat-tree:k=4,levels=2,speed=NDR", kTwo};
  unsigned plain_gets = 0, plain_sets = 0, gets = 0, sets = 0;
  unsigned sweeps = 0;  // of everything, which begin with the manager's own node
};

TEST_F(ExtendedSpeeds, AreAskedForAndSetWhateverHappens) {
  all[0].start(manager_settings(5));
  ASSERT_TRUE(all.settle()) << all.find_fault();
  EXPECT_GT(sets, 0u);
  expect_extended("bring-up");

  for (const bool up : {false, true}) {
    all.fabric.set_link(all.node("sw-0-1"), PortNum{3}, up);
    all.run_for(3s);
    ASSERT_TRUE(all.settle()) << all.find_fault();
    expect_extended(up ? "a cable came" : "a cable went");
  }

  all[1].start(manager_settings(3));
  ASSERT_TRUE(all.settle()) << all.find_fault();
  EXPECT_EQ(all[1].state(), SmState::Standby);
  expect_extended("a standby");

  // Set above the master, it reads its own port and reports itself.
  all[1].manager->adopt(manager_settings(9));
  ASSERT_TRUE(
      all.run_until([&] { return all[1].state() == SmState::Master && all.settled(); }, 60s))
      << all.find_fault();
  expect_extended("a handover");

  sets = 0;
  all[1].kill();
  ASSERT_TRUE(
      all.run_until([&] { return all[0].state() == SmState::Master && all.settled(); }, 60s))
      << all.find_fault();
  EXPECT_GT(sets, 0u);
  expect_extended("a takeover");

  all[0].manager->request_sweep("test");
  all.run_for(3s);
  ASSERT_TRUE(all.settle()) << all.find_fault();
  expect_extended("a sweep");
}

/// Everything as `m_key_file` with one `key` line has it.
Settings keyed(unsigned priority, MKey key, std::uint16_t lease_s) {
  Settings out = manager_settings(priority);
  out.m_keys = {{.seed = {}, .key = key}};
  out.ports.m_key = out.election.m_key = key;
  out.ports.m_key_lease_s = lease_s;
  return out;
}

TEST_F(ExtendedSpeeds, AreAskedForAndSetWhereMKeysOfAnotherManagerAreReplacedAndKeptAlive) {
  all[0].start(keyed(5, MKey{0xabc}, 0));
  ASSERT_TRUE(all.settle()) << all.find_fault();
  all[0].kill();
  expect_extended("bring-up");

  sets = 0;
  all[1].start(keyed(5, MKey{0xdef}, 4));
  ASSERT_TRUE(all.settle()) << all.find_fault();
  for (const char* const name : {"sw-0-0", "sw-1-1"})
    EXPECT_EQ(all.fabric.port_info(all.node(name), PortNum{0}).m_key, MKey{0xdef}) << name;
  EXPECT_EQ(all.fabric.port_info(all.node("host-00003"), PortNum{1}).m_key, MKey{0xdef});
  EXPECT_GT(sets, 0u);
  expect_extended("keys of another manager");

  // Adapters are asked twice in a lease, and nothing else is swept meanwhile.
  all.run_for(3s);
  EXPECT_EQ(sweeps, 0u);
  EXPECT_EQ(plain_gets, 0u);
  EXPECT_GE(gets, 7u) << "each adapter but the manager's own";
  expect_extended("leases");
}

TEST_F(ExtendedSpeeds, AreAskedForWhereANodeSaysThatItChanged) {
  all[0].start(manager_settings(5));
  ASSERT_TRUE(all.settle()) << all.find_fault();
  expect_extended("bring-up");

  all.fabric.set_description(all.node("host-00003"), "storage-1");
  all.run_for(3s);
  ASSERT_TRUE(all.settle()) << all.find_fault();
  EXPECT_EQ(sweeps, 0u) << "a trap 144 of an adapter is no reason to sweep";
  EXPECT_EQ(plain_gets, 0u);
  EXPECT_EQ(gets, 1u) << "its port is read again";
}

/// A node that was away may be called otherwise: no trap tells of it, as its port was down.
TEST(Descriptions, AreAskedAgainOfWhoeverWasAway) {
  Managers all{kTree, {"host-00000"}};
  all[0].start(manager_settings(5));
  ASSERT_TRUE(all.settle()) << all.find_fault();
  const auto name_of_guid = [&](Guid guid) {
    const Fabric& fabric = all[0].manager->active().current()->fabric();
    const auto node = fabric.find_node(guid);
    return node ? fabric.description[*node] : "not there";
  };
  for (const char* const name : {"host-00003", "sw-1-1"}) {
    const std::uint32_t node = all.node(name);
    const Guid guid = all.fabric.spec().nodes[node].guid;
    all.fabric.set_node(node, false);
    all.run_for(1s);
    ASSERT_TRUE(all.settle()) << all.find_fault();
    all.fabric.set_description(node, "renamed");
    all.run_for(1s);
    all.fabric.set_node(node, true);
    all.run_for(3s);
    ASSERT_TRUE(all.settle()) << all.find_fault();
    EXPECT_EQ(name_of_guid(guid), "renamed") << name;
  }
}

// --- What another manager left on ---------------------------------------------------------------

class AdaptiveRoutingLeft : public ::testing::Test {
 protected:
  /// As another manager did before.
  void turn_on(const std::string& name, AttributeId attribute, const SmpData& data) {
    const std::uint32_t sw = all.node(name);
    SmpClient client(all.runtime, other_, {});
    SmpScope scope(client);
    const Lid lid = all.fabric.port_info(sw, PortNum{0}).lid;
    scope.send({.route = SmpRoute::to_lid(lid),
                .method = Method::Set,
                .attribute = attribute,
                .data = data},
               [](const Result<SmpReply>& reply) {
                 ASSERT_TRUE(reply);
                 EXPECT_EQ(reply->status, 0);
               });
    all.run_for(5ms);
  }

  void turn_on_two() {
    all[0].start(manager_settings(9));
    ASSERT_TRUE(all.settle()) << all.find_fault();
    SmpData routing{};
    // Byte 3: adaptive routing and fast recovery; byte 22: hash-based forwarding; byte 6 is kept.
    routing[3] = std::byte{0x11};
    routing[22] = std::byte{0x80};
    routing[6] = std::byte{0x55};
    turn_on("sw-0-1", AttributeId::AdaptiveRoutingInfo, routing);
    SmpData tables{};
    tables[3] = std::byte{2};
    turn_on("sw-1-0", AttributeId::PrivateLftInfo, tables);
    all[0].kill();
    count_vendor();
  }

  void count_vendor() {
    all[0].on_send = [this](const Smp& smp) {
      asked += smp.attribute_id >= 0xff00 && smp.method == Method::Get ? 1 : 0;
      set += smp.attribute_id >= 0xff00 && smp.method == Method::Set ? 1 : 0;
    };
  }

  /// Lines of the log about it since this was asked last, as "LEVEL TEXT".
  [[nodiscard]] std::vector<std::string> said() {
    std::vector<std::string> out;
    for (const log::Entry& each : log::entries_after(last_line_)) {
      last_line_ = each.number;
      if (each.event == "switch.leftover")
        out.push_back(fmt::format("{} {}", log::name_of(each.level), each.text));
    }
    return out;
  }

  [[nodiscard]] Guid guid_of(const std::string& name) const {
    return all.fabric.spec().nodes[all.node(name)].guid;
  }

  void manage(Leftovers about) {
    Settings settings = manager_settings(9);
    settings.leftovers = about;
    all[0].start(settings);
    ASSERT_TRUE(all.settle()) << all.find_fault();
    all.run_for(1s);
  }

  [[nodiscard]] const sim::NodeState& at(const std::string& name) {
    return all.fabric.node_state(all.node(name));
  }

  Managers all{kTree, kTwo, 1, {}, {.adaptive_routing = true}};
  unsigned asked = 0, set = 0;

 private:
  sim::SimTransport other_{all.fabric, all.node("host-00003"), PortNum{1}};
  std::uint64_t last_line_ = 0;
};

constexpr const char* kAdaptive =
    "sw-0-1: another manager left on: adaptive routing, fast link fault recovery, hash-based "
    "forwarding; packets need not go as the tables say (sm.leftovers)";
constexpr const char* kPrivate =
    "sw-1-0: another manager left on: forwarding tables of single ports, mode 2; packets need not "
    "go as the tables say (sm.leftovers)";

TEST_F(AdaptiveRoutingLeft, IsSaidInALineForEachThing) {
  turn_on_two();
  const std::string adaptive = fmt::format(
      "node={} what=\"adaptive routing, fast link fault recovery, hash-based forwarding\"",
      guid_of("sw-0-1"));
  const std::string tables =
      fmt::format("node={} what=\"forwarding tables of single ports, mode 2\"", guid_of("sw-1-0"));
  (void)said();
  manage(Leftovers::Report);
  EXPECT_THAT(said(),
              ::testing::UnorderedElementsAre("warn " + adaptive + " cleared=no",
                                              "warn " + tables + " cleared=no"));
  all[0].kill();
  manage(Leftovers::Clear);
  EXPECT_THAT(said(),
              ::testing::UnorderedElementsAre("info " + adaptive + " cleared=yes",
                                              "info " + tables + " cleared=yes"));
}

TEST_F(AdaptiveRoutingLeft, NobodyIsAskedByDefault) {
  turn_on_two();
  manage(Leftovers::Ignore);
  EXPECT_EQ(asked, 0u);
  EXPECT_THAT(all[0].manager->alarms(), IsEmpty());
}

TEST_F(AdaptiveRoutingLeft, IsAnAlarmWhereItIsAskedFor) {
  turn_on_two();
  manage(Leftovers::Report);
  EXPECT_THAT(all[0].manager->alarms(), ::testing::UnorderedElementsAre(kAdaptive, kPrivate));
  EXPECT_EQ(set, 0u);
  EXPECT_EQ(asked, 6u * 3) << "GeneralInfo and two attributes of each switch";
  // At rest nobody is asked again, and a switch that comes back is.
  all.run_for(30s);
  EXPECT_EQ(asked, 6u * 3);
  all.fabric.reboot_node(all.node("sw-0-1"), 1s);
  all.run_for(5s);
  ASSERT_TRUE(all.settle()) << all.find_fault();
  all.run_for(1s);
  EXPECT_THAT(all[0].manager->alarms(), ElementsAre(kPrivate)) << "power-on switched it off";
}

TEST_F(AdaptiveRoutingLeft, IsSwitchedOffWhereThatIsOrderedAndNothingElseChanges) {
  turn_on_two();
  manage(Leftovers::Clear);
  EXPECT_THAT(all[0].manager->alarms(), IsEmpty());
  EXPECT_EQ(set, 2u);
  EXPECT_FALSE(at("sw-0-1").adaptive_routing.any());
  EXPECT_EQ(at("sw-0-1").adaptive_routing.rest[6], std::byte{0x55});
  EXPECT_EQ(at("sw-1-0").private_lft.active_mode, 0);
}

TEST_F(AdaptiveRoutingLeft, StaysAnAlarmWhereASwitchDoesNotObey) {
  turn_on_two();
  all[0].loses = [](const Smp& smp) {
    return smp.method == Method::Set && smp.attribute_id >= 0xff00;
  };
  manage(Leftovers::Clear);
  all.run_for(30s);
  EXPECT_THAT(all[0].manager->alarms(), ::testing::UnorderedElementsAre(kAdaptive, kPrivate));
}

TEST_F(AdaptiveRoutingLeft, AConfigurationThatIsReadAgainCountsAtOnce) {
  turn_on_two();
  manage(Leftovers::Ignore);
  const auto adopt = [this](Leftovers about) {
    Settings settings = manager_settings(9);
    settings.leftovers = about;
    all[0].manager->adopt(settings);
    all[0].manager->request_sweep("configuration");
    all.run_for(2s);
  };
  adopt(Leftovers::Report);
  EXPECT_THAT(all[0].manager->alarms(), ::testing::UnorderedElementsAre(kAdaptive, kPrivate));
  EXPECT_EQ(set, 0u);
  adopt(Leftovers::Clear);
  EXPECT_THAT(all[0].manager->alarms(), IsEmpty());
  EXPECT_FALSE(at("sw-0-1").adaptive_routing.any());
  EXPECT_EQ(set, 2u);
}

TEST_F(AdaptiveRoutingLeft, WhoDidNotAnswerIsAskedAgainAfterTheNextChange) {
  turn_on_two();
  bool mute = true;
  all[0].loses = [&](const Smp& smp) { return mute && smp.attribute_id >= 0xff00; };
  manage(Leftovers::Clear);
  all.run_for(10s);
  EXPECT_THAT(all[0].manager->alarms(), IsEmpty()) << "nothing is known of them";
  mute = false;
  all.fabric.set_link(all.node("sw-0-0"), PortNum{3}, false);
  all.run_for(3s);
  EXPECT_EQ(set, 2u);
  EXPECT_FALSE(at("sw-0-1").adaptive_routing.any());
  EXPECT_EQ(at("sw-1-0").private_lft.active_mode, 0);
}

TEST_F(AdaptiveRoutingLeft, ASwitchThatDidNotObeyIsToldAgainAfterTheNextChange) {
  turn_on_two();
  bool deaf = true;
  all[0].loses = [&](const Smp& smp) {
    return deaf && smp.method == Method::Set && smp.attribute_id >= 0xff00;
  };
  manage(Leftovers::Clear);
  all.run_for(10s);
  EXPECT_THAT(all[0].manager->alarms(), ::testing::UnorderedElementsAre(kAdaptive, kPrivate));
  deaf = false;
  all.fabric.set_link(all.node("sw-0-0"), PortNum{3}, false);
  all.run_for(3s);
  EXPECT_THAT(all[0].manager->alarms(), IsEmpty());
  EXPECT_FALSE(at("sw-0-1").adaptive_routing.any());
}

TEST(AdaptiveRoutingNowhere, CostsOneQuestionOfEachSwitch) {
  Managers all(kTree, kTwo);
  unsigned asked = 0;
  all[0].on_send = [&](const Smp& smp) { asked += smp.attribute_id >= 0xff00 ? 1 : 0; };
  Settings settings = manager_settings(9);
  settings.leftovers = Leftovers::Report;
  all[0].start(settings);
  ASSERT_TRUE(all.settle()) << all.find_fault();
  all.run_for(1s);
  EXPECT_EQ(asked, 6u);
  EXPECT_THAT(all[0].manager->alarms(), IsEmpty());
}

}  // namespace hardware_test
}  // namespace smd::test
