// Partitions as simulated ports have them: read from the registers, after a cycle and at every SMP
// in between.
#include <gmock/gmock.h>

#include <set>

#include "sim-backend/agents/node_state.h"
#include "smd/base/log.h"
#include "smd/mad/tables.h"
#include "smd/manager/effective_settings.h"
#include "smd/policy/qos_rules.h"
#include "tests/support/subnet_oracles.h"

namespace smd::test {
namespace partitions_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Keys = std::vector<unsigned>;

/// Two leaf switches with two hosts each: host-0 and -1, where the manager sits on host-0.
constexpr const char* kFabric = "fat-tree:k=4,levels=2,hosts=4";

/// Of rules with the line `mgid=ff12::9`.
constexpr Gid kSiteGroup{0xff12000000000000u, Guid{9}};

/// A manager with partitions, every SMP of which is looked at.
struct Partitioned : TimedFabric {
  explicit Partitioned(std::string_view rules, sim::AgentOptions agents = {})
      : TimedFabric(spec_of(kFabric), sim::Timing::modern(), 1, agents) {
    for (std::uint32_t n = 0; n < fabric.spec().nodes.size(); ++n) {
      if (fabric.spec().nodes[n].type == NodeType::Ca) hosts.push_back(n);
    }
    set_rules(rules);
    renew();
  }

  /// Another manager, which knows nothing.
  void renew() {
    life.emplace(*this, SimulatedSubnetOptions{.settings = settings});
    life->tap.on_send = [this](const Smp& smp) {
      watch();
      if (is_about(smp, AttributeId::PKeyTable)) ++(smp.method == Method::Set ? sets : gets);
      return !lose || !lose(smp);
    };
  }

  void set_rules(std::string_view rules) {
    settings.partitions = PartitionPolicy{.rules = parse_partition_file(rules, "p").value().rules,
                                          .enforcement = enforcement};
    settings.groups = settings.partitions->rules.groups;
  }

  /// What must hold at every moment.
  void watch() {
    for (const std::uint32_t host : hosts) {
      const sim::PortRegs& regs = fabric.node_state(host).ports[1];
      if (!has_default_key(regs.p_keys)) trouble = fabric.spec().nodes[host].description;
      const sim::PortSpec& cable = fabric.spec().nodes[host].ports[1];
      const sim::PortRegs& leaf = fabric.node_state(cable.peer_node).ports[cable.peer_port.value()];
      const bool enforced =
          leaf.info.partition_enforcement_inbound || leaf.info.partition_enforcement_outbound;
      if (enforced && !has_default_key(leaf.p_keys)) trouble = "the switch before a host";
      if (regs.state() >= PortState::Armed && expected && keys_of(host) != expected(host))
        trouble = "a host that was up too soon";
    }
  }

  bool settle() {
    const bool done = life->settle(1, std::chrono::minutes(1));
    watch();
    return done;
  }

  bool start() {
    life->manager.start();
    return settle();
  }

  bool adopt(std::string_view rules) {
    set_rules(rules);
    life->manager.adopt(settings);
    life->manager.request_sweep("configuration");
    sets = gets = 0;
    return settle();
  }

  static Keys trimmed(const std::vector<PKey>& table) {
    Keys keys;
    for (std::size_t i = 0; i < used_entries(table); ++i) keys.push_back(table[i].value());
    return keys;
  }

  Keys keys_of(std::uint32_t host) const {
    return trimmed(fabric.node_state(host).ports[1].p_keys);
  }

  Keys keys(std::size_t host) const { return keys_of(hosts[host]); }

  const sim::PortRegs& leaf(std::size_t host) const {
    const sim::PortSpec& cable = fabric.spec().nodes[hosts[host]].ports[1];
    return fabric.node_state(cable.peer_node).ports[cable.peer_port.value()];
  }

  Guid port_guid(std::size_t host) const { return fabric.spec().nodes[hosts[host]].ports[1].guid; }

  std::string guid(std::size_t host) const {
    return fmt::format("0x{:x}", port_guid(host).value());
  }

  const Group* site_group() const { return life->manager.multicast().groups().find(kSiteGroup); }

  bool join_site_group(std::size_t host) {
    MulticastManager& multicast = life->manager.multicast();
    const bool taken = multicast.groups()
                           .join(*multicast.realm(),
                                 {.mgid = kSiteGroup,
                                  .port_gid = Gid{kDefaultSubnetPrefix, port_guid(host)},
                                  .join_state = join_state::kFull},
                                 port_guid(host))
                           .has_value();
    multicast.note_change();
    return taken;
  }

  std::vector<std::uint32_t> hosts;
  Settings settings = quiet_settings();
  PartitionEnforcement enforcement = PartitionEnforcement::Both;
  std::optional<SimulatedManager> life;
  unsigned gets = 0;  // of P_Key tables
  unsigned sets = 0;
  std::string trouble;
  std::function<bool(const Smp&)> lose;
  std::function<Keys(std::uint32_t host)> expected;  // where it is up
};

/// Rules that name host-1 and host-2 of `lab`.
std::string storage_rules(const Partitioned& lab) {
  return "Storage=0x80: " + lab.guid(1) + "=full, " + lab.guid(2) + ";";
}

TEST(Partitions, AreSetAtPortsAndEnforcedBeforeAnybodyWorks) {
  Partitioned lab("Default: ALL;");
  lab.set_rules(storage_rules(lab));
  lab.renew();
  lab.expected = [&lab](std::uint32_t host) -> Keys {
    if (host == lab.fabric.spec().sm_node) return {0xffff};
    if (host == lab.hosts[1]) return {0x7fff, 0x8080};
    if (host == lab.hosts[2]) return {0x7fff, 0x0080};
    return {0x7fff};
  };
  ASSERT_TRUE(lab.start());
  EXPECT_TRUE(lab.life->manager.last_cycle()->up());
  EXPECT_EQ(lab.trouble, "");
  for (std::size_t i = 0; i < lab.hosts.size(); ++i) {
    EXPECT_EQ(lab.keys(i), lab.expected(lab.hosts[i])) << i;
    EXPECT_EQ(Partitioned::trimmed(lab.leaf(i).p_keys), lab.expected(lab.hosts[i])) << i;
    EXPECT_TRUE(lab.leaf(i).info.partition_enforcement_inbound) << i;
    EXPECT_TRUE(lab.leaf(i).info.partition_enforcement_outbound) << i;
  }
  // Switches are members as well, and enforce nothing between each other.
  for (std::uint32_t n = 0; n < lab.fabric.spec().nodes.size(); ++n) {
    const sim::NodeState& node = lab.fabric.node_state(n);
    if (!node.is_switch()) continue;
    EXPECT_EQ(Partitioned::trimmed(node.ports[0].p_keys), Keys{0x7fff});
    for (std::size_t p = 1; p < node.ports.size(); ++p) {
      const std::uint32_t peer = lab.fabric.spec().nodes[n].ports[p].peer_node;
      if (peer == sim::kNoNode || !lab.fabric.node_state(peer).is_switch()) continue;
      EXPECT_FALSE(node.ports[p].info.partition_enforcement_inbound);
    }
  }
}

TEST(Partitions, AChangeCostsWhatItTouches) {
  Partitioned lab("A=1: ALL=full;");
  ASSERT_TRUE(lab.start());
  lab.gets = lab.sets = 0;
  lab.life->manager.request_sweep("again");
  ASSERT_TRUE(lab.settle());
  EXPECT_EQ(lab.sets + lab.gets, 0u);
  // One host more: its table, and the one of the switch before it.
  ASSERT_TRUE(lab.adopt("A=1: ALL=full; B=2: " + lab.guid(1) + ";"));
  EXPECT_EQ(lab.sets, 2u);
  EXPECT_EQ(lab.gets, 0u);
  EXPECT_EQ(lab.keys(1), (Keys{0x7fff, 0x8001, 0x0002}));
  EXPECT_EQ(lab.trouble, "");
}

// It is set up, restarts, and is made Active: nothing in PortInfo tells.
TEST(Partitions, AHostThatRestartsBeforeItIsActivatedGetsItsKeysAgain) {
  Partitioned lab("A=1: ALL=full;");
  lab.fabric.set_node(lab.hosts[1], false);
  ASSERT_TRUE(lab.start());
  Timer restart;
  bool restarted = false;
  lab.lose = [&](const Smp& smp) {
    if (lab.keys(1) != Keys{0x7fff, 0x8001} || restarted || smp.method != Method::Set ||
        !is_about(smp, AttributeId::PortInfo))
      return false;
    restarted = true;
    restart = Timer(lab.runtime, lab.runtime.now(), [&] {
      lab.fabric.set_node(lab.hosts[1], false);
      lab.fabric.set_node(lab.hosts[1], true);
    });
    return false;
  };
  lab.fabric.set_node(lab.hosts[1], true);
  ASSERT_TRUE(lab.settle());
  ASSERT_TRUE(restarted);
  lab.run_for(std::chrono::seconds(5));
  EXPECT_EQ(lab.fabric.port_info(lab.hosts[1], PortNum{1}).state(), PortState::Active);
  EXPECT_EQ(lab.keys(1), (Keys{0x7fff, 0x8001}));
}

TEST(Partitions, KeysKeepTheirIndexOverChanges) {
  Partitioned lab("A=1: ALL=full; B=2: ALL=full; C=3: ALL=full;");
  ASSERT_TRUE(lab.start());
  EXPECT_EQ(lab.keys(1), (Keys{0x7fff, 0x8001, 0x8002, 0x8003}));
  ASSERT_TRUE(lab.adopt("C=3: ALL=full; A=1: ALL;"));
  EXPECT_EQ(lab.keys(1), (Keys{0x7fff, 0x0001, 0, 0x8003}));
  ASSERT_TRUE(lab.adopt("D=4: ALL=full; C=3: ALL=full;"));
  EXPECT_EQ(lab.keys(1), (Keys{0x7fff, 0, 0, 0x8003, 0x8004})) << "2 was B's";
  ASSERT_TRUE(lab.adopt("D=4: ALL=full;"));
  ASSERT_TRUE(lab.adopt("E=5: ALL=full;"));
  EXPECT_EQ(lab.keys(1), (Keys{0x7fff, 0, 0, 0, 0, 0x8005})) << "4 was D's";
  EXPECT_EQ(lab.trouble, "");
}

TEST(Partitions, TheKeyOfTheAdministrationIsThereWhileItMoves) {
  Partitioned lab("Default: ALL;", {.ca_partition_cap = 128, .switch_partition_cap = 128});
  std::string many;
  for (int i = 1; i <= 40; ++i) many += fmt::format("P{}={}: ALL=full;\n", i, i);
  lab.set_rules(many);
  lab.renew();
  ASSERT_TRUE(lab.start());
  // The first Set of the block that brings the key is lost everywhere: others must wait for it.
  const auto lose_first_of = [&lab](unsigned block) {
    lab.lose = [block,
                lost = std::set<std::pair<HopArray, std::uint32_t>>{}](const Smp& smp) mutable {
      return smp.method == Method::Set && is_about(smp, AttributeId::PKeyTable) &&
             decode_p_key_modifier(smp.attribute_modifier).block == block &&
             lost.insert({smp.initial_path, smp.attribute_modifier}).second;
    };
  };
  lose_first_of(1);
  ASSERT_TRUE(lab.adopt(many + "X=0x99,indx0: ALL=full;"));
  ASSERT_EQ(lab.keys(1).front(), 0x8099u);
  ASSERT_EQ(lab.keys(1).at(41), 0x7fffu) << "in the second block now";
  EXPECT_EQ(lab.trouble, "");
  lose_first_of(0);
  ASSERT_TRUE(lab.adopt(many));
  EXPECT_EQ(lab.keys(1).front(), 0x7fffu);
  EXPECT_EQ(lab.trouble, "");
}

TEST(Partitions, AHostThatComesBackHasItsTableInTheSameCycle) {
  Partitioned lab("A=1: ALL=full;");
  ASSERT_TRUE(lab.start());
  lab.expected = [&lab](std::uint32_t host) {
    return host == lab.fabric.spec().sm_node ? Keys{0xffff, 0x8001} : Keys{0x7fff, 0x8001};
  };
  lab.fabric.set_node(lab.hosts[3], false);
  ASSERT_TRUE(lab.settle());
  lab.fabric.set_node(lab.hosts[3], true);
  ASSERT_EQ(lab.keys(3), Keys{0xffff}) << "as after power-on";
  ASSERT_TRUE(lab.settle());
  EXPECT_TRUE(lab.life->manager.last_cycle()->up());
  EXPECT_EQ(lab.keys(3), (Keys{0x7fff, 0x8001}));
  EXPECT_EQ(lab.trouble, "");
}

TEST(Partitions, RulesThatDoNotFitAreNotTaken) {
  Partitioned lab("A=1: ALL=full;", {.ca_partition_cap = 4, .switch_partition_cap = 3});
  ASSERT_TRUE(lab.start());
  const unsigned long errors = log::count(log::Level::Error);
  ASSERT_TRUE(lab.adopt("A=1: ALL; B=2: " + lab.guid(2) + "; C=3: " + lab.guid(2) + ";"));
  EXPECT_EQ(lab.sets, 0u);
  EXPECT_EQ(lab.keys(1), (Keys{0x7fff, 0x8001})) << "not half of it";
  EXPECT_THAT(lab.life->manager.alarms(),
              ElementsAre(HasSubstr("room for 3 enforced P_Keys, 4 wanted; 0x0003 would not fit")));
  EXPECT_GT(log::count(log::Level::Error), errors);
  // Said once.
  const unsigned long said = log::count(log::Level::Error);
  lab.life->manager.request_sweep("again");
  ASSERT_TRUE(lab.settle());
  EXPECT_EQ(log::count(log::Level::Error), said);
  ASSERT_TRUE(lab.adopt("A=1: ALL; B=2: " + lab.guid(2) + ";"));
  EXPECT_EQ(lab.keys(2), (Keys{0x7fff, 0x0001, 0x0002}));
  EXPECT_THAT(lab.life->manager.alarms(), IsEmpty());
}

// A look at the fabric without them would find room for everything.
TEST(Partitions, RulesThatWereNotTakenWaitForThePortsThatHadNoRoom) {
  Partitioned lab("A=1: ALL=full;", {.ca_partition_cap = 4, .switch_partition_cap = 3});
  ASSERT_TRUE(lab.start());
  const std::string b = "A=1: ALL; B=2: " + lab.guid(2) + "; ";
  ASSERT_TRUE(lab.adopt(b + "C=3: " + lab.guid(2) + ";"));
  const auto refused = ElementsAre(HasSubstr("would not fit"));
  ASSERT_THAT(lab.life->manager.alarms(), refused);
  const unsigned long said = log::count(log::Level::Error);
  const auto sweep = [&lab] {
    lab.life->manager.request_sweep("test");
    return lab.settle();
  };
  const sim::FabricSpec& spec = lab.fabric.spec();
  for (const bool up : {false, true}) {
    lab.fabric.set_link(spec.sm_node, spec.sm_port, up);
    ASSERT_TRUE(sweep());
    EXPECT_EQ(lab.life->manager.last_cycle()->cut_off, !up);
    EXPECT_THAT(lab.life->manager.alarms(), testing::Contains(HasSubstr("would not fit")));
  }
  const std::uint32_t leaf = spec.nodes[lab.hosts[2]].ports[1].peer_node;
  for (const std::uint32_t node : {leaf, lab.hosts[2]}) {
    for (const bool up : {false, true}) {
      lab.fabric.set_node(node, up);
      ASSERT_TRUE(sweep());
      EXPECT_EQ(lab.keys(1), (Keys{0x7fff, 0x8001})) << spec.nodes[node].description << up;
      EXPECT_THAT(lab.life->manager.alarms(), refused) << spec.nodes[node].description << up;
    }
  }
  EXPECT_EQ(lab.keys(2), (Keys{0x7fff, 0x8001}));
  EXPECT_EQ(log::count(log::Level::Error), said) << "said once";
  ASSERT_TRUE(lab.adopt(b));
  EXPECT_EQ(lab.keys(2), (Keys{0x7fff, 0x0001, 0x0002}));
  EXPECT_THAT(lab.life->manager.alarms(), IsEmpty());
}

TEST(Partitions, NewRulesWaitForTheCableOfTheManager) {
  Partitioned lab("A=1: ALL=full;", {.ca_partition_cap = 4, .switch_partition_cap = 3});
  ASSERT_TRUE(lab.start());
  const sim::FabricSpec& spec = lab.fabric.spec();
  lab.fabric.set_link(spec.sm_node, spec.sm_port, false);
  ASSERT_TRUE(lab.adopt("A=1: ALL; B=2: " + lab.guid(2) + "; C=3: " + lab.guid(2) + ";"));
  ASSERT_TRUE(lab.life->manager.last_cycle()->cut_off);
  EXPECT_THAT(lab.life->manager.alarms(), testing::Contains(HasSubstr("new rules wait")));
  lab.fabric.set_link(spec.sm_node, spec.sm_port, true);
  lab.life->manager.request_sweep("test");
  ASSERT_TRUE(lab.settle());
  EXPECT_EQ(lab.keys(1), (Keys{0x7fff, 0x8001}));
  EXPECT_THAT(lab.life->manager.alarms(), ElementsAre(HasSubstr("would not fit")));
}

TEST(Partitions, RulesThatAreNotTakenLeaveGroupsAsTheyAre) {
  Partitioned lab("A=1: mgid=ff12::9,Q_Key=0x11; A=1: ALL=full;",
                  {.ca_partition_cap = 4, .switch_partition_cap = 3});
  ASSERT_TRUE(lab.start());
  ASSERT_TRUE(lab.join_site_group(1));
  const Group before = *lab.site_group();
  ASSERT_EQ(before.traits.q_key, 0x11u);

  const std::string too_many = "B=2: " + lab.guid(2) + "; C=3: " + lab.guid(2) + "; ";
  ASSERT_TRUE(lab.adopt(too_many + "A=1: mgid=ff12::9,Q_Key=0x22; A=1: ALL=full;"));
  ASSERT_THAT(lab.life->manager.alarms(), ElementsAre(HasSubstr("would not fit")));
  EXPECT_EQ(lab.site_group()->traits, before.traits);

  // Whose key is another: its member would be none of its partition.
  ASSERT_TRUE(lab.adopt(too_many + "D=4: mgid=ff12::9; D=4: " + lab.guid(2) + "=full; A=1: ALL;"));
  ASSERT_NE(lab.site_group(), nullptr);
  EXPECT_EQ(lab.site_group()->traits, before.traits);
  EXPECT_EQ(lab.site_group()->members, before.members);

  // And rules that name no group.
  ASSERT_TRUE(lab.adopt(too_many + "A=1: ALL=full;"));
  EXPECT_TRUE(lab.site_group()->permanent);

  ASSERT_TRUE(lab.adopt("A=1: mgid=ff12::9,Q_Key=0x22; A=1: ALL=full;"));
  EXPECT_EQ(lab.site_group()->traits.q_key, 0x22u) << "these fit";
}

TEST(Partitions, RulesThatAreNotTakenGiveNoPartitionItsName) {
  Partitioned lab("A=1: ALL=full;", {.ca_partition_cap = 4, .switch_partition_cap = 3});
  ASSERT_TRUE(lab.start());
  lab.settings.qos_rules = QosFile{.groups = {{.name = "a", .partitions = {"A"}}},
                                   .levels = {{.name = "none"}, {.name = "of A", .sl = 1}},
                                   .matches = {{.sources = {0}, .level = 1}}};
  ASSERT_TRUE(lab.adopt("B=2: " + lab.guid(2) + "; C=3: " + lab.guid(2) + "; Other=1: ALL=full;"));
  const ActiveSubnet& now = *lab.life->manager.in_force();
  const auto rules = make_qos_rules(lab.settings, now);
  EXPECT_EQ(rules->find_level({.source = now.fabric().sm_port}).name, "of A");
}

TEST(Partitions, APortThatIsTooSmallFromTheStartGetsWhatItHasRoomFor) {
  Partitioned lab("", {.ca_partition_cap = 2, .switch_partition_cap = 32});
  lab.set_rules("A=1: ALL; B=2: " + lab.guid(1) + ";");
  lab.renew();
  ASSERT_TRUE(lab.start());
  EXPECT_EQ(lab.keys(1), (Keys{0x7fff, 0x0001}));
  EXPECT_TRUE(lab.leaf(1).info.partition_enforcement_inbound);
  EXPECT_EQ(Partitioned::trimmed(lab.leaf(1).p_keys), (Keys{0x7fff, 0x0001}));
  EXPECT_EQ(lab.keys(2), (Keys{0x7fff, 0x0001}));
  EXPECT_THAT(lab.life->manager.alarms(), ElementsAre(HasSubstr("0x0002 would not fit")));
}

// Of the order of the rules these two are the exceptions.
TEST(Partitions, APortThatIsTooSmallGetsTheDefaultFirstAndThenTheOneForItsFirstEntry) {
  Partitioned lab("", {.ca_partition_cap = 2, .switch_partition_cap = 32});
  const std::string members = ": " + lab.guid(1) + "; ";
  lab.set_rules("A=1" + members + "B=2" + members + "C=3,indx0" + members + "Default=0x7fff: ALL;");
  lab.renew();
  ASSERT_TRUE(lab.start());
  EXPECT_EQ(lab.keys(1), (Keys{0x0003, 0x7fff}));
  EXPECT_THAT(lab.life->manager.alarms(),
              ElementsAre(HasSubstr("room for 2 P_Keys, 4 wanted; 0x0001, 0x0002 would not fit")));
  const ActiveSubnet& now = *lab.life->manager.in_force();
  const auto port = now.fabric().find_node(lab.fabric.spec().nodes[lab.hosts[1]].guid);
  ASSERT_TRUE(port);
  EXPECT_EQ(now.partitions->map[now.fabric().port_of(*port, PortNum{1})].keys.size(), 2u)
      << "nobody is told a path in a partition that it is not in";
}

TEST(Partitions, ASwitchPortThatIsTooSmallLetsThroughWhatItDid) {
  Partitioned lab("", {.ca_partition_cap = 8, .switch_partition_cap = 2});
  lab.set_rules("A=1: ALL; B=2: " + lab.guid(1) + ";");
  lab.renew();
  ASSERT_TRUE(lab.start());
  EXPECT_EQ(lab.keys(1), (Keys{0x7fff, 0x0001, 0x0002}));
  EXPECT_FALSE(lab.leaf(1).info.partition_enforcement_inbound);
  EXPECT_TRUE(lab.leaf(2).info.partition_enforcement_inbound);
  EXPECT_THAT(lab.life->manager.alarms(),
              ElementsAre(HasSubstr("room for 2 enforced P_Keys, 3 wanted; 0x0002 would not fit")));
}

TEST(Partitions, ATableThatCouldNotBeWrittenIsNotEnforcedAndIsTriedAgain) {
  Partitioned lab("A=1: ALL=full;");
  lab.lose = [](const Smp& smp) {
    return smp.method == Method::Set && is_about(smp, AttributeId::PKeyTable) &&
           decode_p_key_modifier(smp.attribute_modifier).port != PortNum{0};
  };
  ASSERT_TRUE(lab.start());
  EXPECT_FALSE(lab.life->manager.last_cycle()->up());
  EXPECT_FALSE(lab.leaf(1).info.partition_enforcement_inbound);
  EXPECT_EQ(lab.keys(1), (Keys{0x7fff, 0x8001}));
  lab.lose = nullptr;
  ASSERT_TRUE(lab.settle()) << "nobody asked: a cycle with trouble is followed by another";
  EXPECT_TRUE(lab.life->manager.last_cycle()->up());
  EXPECT_TRUE(lab.leaf(1).info.partition_enforcement_inbound);
  EXPECT_EQ(Partitioned::trimmed(lab.leaf(1).p_keys), (Keys{0x7fff, 0x8001}));
  EXPECT_EQ(lab.trouble, "");
}

TEST(Partitions, AnAgentThatKeepsSomethingElseIsAFault) {
  Partitioned lab("A=1: ALL=full;");
  lab.life->tap.on_receive = [](Smp& smp) {
    if (is_about(smp, AttributeId::PKeyTable)) smp.data[3] = std::byte{0x77};
    return true;
  };
  ASSERT_TRUE(lab.start());
  EXPECT_FALSE(lab.life->manager.last_cycle()->up());
  EXPECT_THAT(lab.life->manager.last_cycle()->faults.at(0).what,
              HasSubstr("P_Key block 0: the agent kept something else"));
}

TEST(Partitions, EnforcementIsWhatTheSiteWants) {
  for (const auto& [wanted, in, out] : {std::tuple{PartitionEnforcement::Off, false, false},
                                        std::tuple{PartitionEnforcement::In, true, false},
                                        std::tuple{PartitionEnforcement::Out, false, true},
                                        std::tuple{PartitionEnforcement::Both, true, true}}) {
    Partitioned lab("A=1: ALL;");
    ASSERT_TRUE(lab.start());
    lab.enforcement = wanted;
    ASSERT_TRUE(lab.adopt("A=1: ALL;"));
    EXPECT_EQ(lab.leaf(1).info.partition_enforcement_inbound, in);
    EXPECT_EQ(lab.leaf(1).info.partition_enforcement_outbound, out);
    EXPECT_EQ(lab.trouble, "");
  }
}

TEST(Partitions, WhoTakesTheFileAwayGetsEverybodyBackIntoTheDefault) {
  Partitioned lab("A=1: ALL;");
  ASSERT_TRUE(lab.start());
  lab.settings.partitions.reset();
  lab.life->manager.adopt(lab.settings);
  lab.life->manager.request_sweep("configuration");
  ASSERT_TRUE(lab.settle());
  EXPECT_EQ(lab.keys(1), Keys{0xffff});
  EXPECT_FALSE(lab.leaf(1).info.partition_enforcement_inbound);
}

TEST(Partitions, AManagerWithoutAFileOpensWhatAnotherClosed) {
  Partitioned lab("A=1: ALL;");
  ASSERT_TRUE(lab.start());
  lab.settings.partitions.reset();
  lab.renew();
  ASSERT_TRUE(lab.start());
  EXPECT_EQ(lab.keys(1).front(), 0xffffu);
  EXPECT_FALSE(lab.leaf(1).info.partition_enforcement_inbound);
  EXPECT_FALSE(lab.leaf(1).info.partition_enforcement_outbound);
}

}  // namespace partitions_test
}  // namespace smd::test
