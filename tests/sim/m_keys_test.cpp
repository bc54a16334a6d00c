// An M_Key of its own for each port: what ports hold, whom it stops, how seeds change, and that
// nothing else of managing a subnet knows of it.
#include <gtest/gtest.h>

#include "sim-backend/agents/node_state.h"
#include "smd/policy/port_policy.h"
#include "tests/support/managers.h"

namespace smd::test {
namespace m_keys_test {

using namespace std::chrono_literals;

constexpr const char* kTree = "fat-tree:k=4,levels=2";
const std::vector<std::string> kTwo{"host-00000", "host-00007"};
const std::string kSeed(16, 'a'), kNewSeed(16, 'b');
constexpr Duration kNoticed = 7s;

MKeySource seed(const std::string& bytes) { return {.seed = bytes, .key = {}}; }

Settings keyed(unsigned priority, unsigned protect, MKeySources sources = {seed(kSeed)}) {
  Settings out = manager_settings(priority);
  out.ports.m_key = out.election.m_key = name_of(sources.front());
  out.ports.tries_m_keys = sources.size() > 1;
  out.ports.m_key_protect = static_cast<std::uint8_t>(protect);
  out.m_keys = std::move(sources);
  return out;
}

/// Management ports whose register is not the key that the seed gives them.
std::vector<Guid> find_other_keys(const Managers& all, const std::string& bytes) {
  std::vector<Guid> out;
  for (std::uint32_t node = 0; node < all.fabric.spec().nodes.size(); ++node) {
    const sim::NodeState& state = all.fabric.node_state(node);
    for (unsigned port = state.is_switch() ? 0 : 1;
         port <= (state.is_switch() ? 0 : state.num_ports());
         ++port) {
      const sim::PortRegs& regs = state.ports[port];
      if (regs.info.m_key != derive_m_key(bytes, regs.guid)) out.push_back(regs.guid);
    }
  }
  return out;
}

/// A host that sends SMPs of its own.
struct Attacker {
  Attacker(Managers& on, const std::string& host)
      : all(on),
        transport(on.fabric, on.node(host), PortNum{1}),
        client(on.runtime, transport, {}),
        scope(client) {}

  /// Takes the victim's LID away, showing this key. True where it was taken.
  bool strike(std::uint32_t victim, MKey shown) {
    PortInfo body = all.fabric.port_info(victim, PortNum{1});
    SmpRequest request{.route = SmpRoute::to_lid(body.lid),
                       .method = Method::Set,
                       .attribute = AttributeId::PortInfo,
                       .modifier = 1,
                       .m_key = shown};
    body.lid = Lid{999};
    encode_port_info(set_body(body, PortState::NoChange), request.data);
    scope.send(request, [](const Result<SmpReply>&) {});
    all.run_for(2ms);
    return all.fabric.port_info(victim, PortNum{1}).lid == Lid{999};
  }

  Managers& all;
  sim::SimTransport transport;
  SmpClient client;
  SmpScope scope;
};

class MKeyPerPort : public ::testing::TestWithParam<unsigned> {};

INSTANTIATE_TEST_SUITE_P(ProtectionLevels, MKeyPerPort, ::testing::Values(0u, 1u, 2u, 3u));

TEST_P(MKeyPerPort, EveryPortHoldsItsOwnAndTheSubnetIsUp) {
  Managers all(kTree, kTwo);
  all[0].start(keyed(9, GetParam()));
  ASSERT_TRUE(all.settle()) << all.find_fault();
  EXPECT_EQ(find_other_keys(all, kSeed), std::vector<Guid>{});
  EXPECT_EQ(all[0].reports.back().foreign_keys.ports, 0u);
}

// The attack that it stops: whoever runs a host reads the key of its own port, and shows it to
// others.
TEST_P(MKeyPerPort, AHostsOwnKeyOpensNoOtherPort) {
  for (const bool per_port : {false, true}) {
    Managers all(kTree, kTwo);
    const MKeySource one{.seed = {}, .key = MKey{0xabc}};
    all[0].start(keyed(9, GetParam(), {per_port ? seed(kSeed) : one}));
    ASSERT_TRUE(all.settle()) << all.find_fault();
    Attacker attacker(all, "host-00002");
    const MKey own = all.fabric.port_info(all.node("host-00002"), PortNum{1}).m_key;
    ASSERT_NE(own, MKey{});
    EXPECT_EQ(attacker.strike(all.node("host-00005"), own), !per_port);
  }
}

TEST_P(MKeyPerPort, ALostCableAndANewSeedAreTakenIn) {
  Managers all(kTree, kTwo);
  all[0].start(keyed(9, GetParam()));
  ASSERT_TRUE(all.settle()) << all.find_fault();
  all.fabric.set_link(all.node("sw-0-0"), PortNum{3}, false);
  all.run_for(1s);
  ASSERT_TRUE(all.settle()) << all.find_fault();
  EXPECT_EQ(all[0].reports.back().silent.size(), 0u);
  const auto lids = all.lids();
  all[0].manager->adopt(keyed(9, GetParam(), {seed(kNewSeed), seed(kSeed)}));
  all[0].manager->request_sweep("configuration");
  all.run_for(1s);
  ASSERT_TRUE(all.settle()) << all.find_fault();
  EXPECT_EQ(find_other_keys(all, kNewSeed), std::vector<Guid>{});
  EXPECT_EQ(all[0].reports.back().foreign_keys.ports, 0u);
  EXPECT_EQ(all.lids(), lids);
  // The old one is needed no longer.
  all[0].manager->adopt(keyed(9, GetParam(), {seed(kNewSeed)}));
  all.fabric.set_link(all.node("sw-0-0"), PortNum{3}, true);
  all.run_for(1s);
  ASSERT_TRUE(all.settle()) << all.find_fault();
  EXPECT_EQ(find_other_keys(all, kNewSeed), std::vector<Guid>{});
}

TEST_P(MKeyPerPort, ARestartFindsEveryPortAgain) {
  Managers all(kTree, kTwo);
  all[0].start(keyed(9, GetParam()));
  ASSERT_TRUE(all.settle()) << all.find_fault();
  const auto lids = all.lids();
  all[0].kill();
  all[0].start(keyed(9, GetParam()));
  ASSERT_TRUE(all.settle()) << all.find_fault();
  EXPECT_EQ(all[0].reports.back().counts.switches, 6u);
  EXPECT_EQ(all.lids(), lids);
  // Killed before the new seed was at any port.
  all[0].kill();
  all[0].start(keyed(9, GetParam(), {seed(kNewSeed), seed(kSeed)}));
  ASSERT_TRUE(all.settle(300s)) << all.find_fault();
  EXPECT_EQ(find_other_keys(all, kNewSeed), std::vector<Guid>{});
  EXPECT_EQ(all.lids(), lids);
}

TEST_P(MKeyPerPort, AStandbyTakesOver) {
  Managers all(kTree, kTwo);
  all[0].start(keyed(9, GetParam()));
  ASSERT_TRUE(all.settle()) << all.find_fault();
  // As its copy of the master's state has them.
  all[1].start(keyed(2, GetParam()), all[0].kept());
  ASSERT_TRUE(all.settle()) << all.find_fault();
  EXPECT_EQ(all[1].state(), SmState::Standby);
  all[0].kill();
  ASSERT_TRUE(all.run_until([&] { return all[1].state() == SmState::Master; }, kNoticed));
  ASSERT_TRUE(all.settle()) << all.find_fault();
  EXPECT_EQ(find_other_keys(all, kSeed), std::vector<Guid>{});
}

TEST_P(MKeyPerPort, AHandoverIsTakenWithTheKeyThatThePortStillHas) {
  Managers all(kTree, kTwo);
  all[0].start(keyed(2, GetParam()));
  ASSERT_TRUE(all.settle()) << all.find_fault();
  all[1].start(keyed(9, GetParam(), {seed(kNewSeed), seed(kSeed)}), all[0].kept());
  ASSERT_TRUE(all.run_until([&] { return all[1].state() == SmState::Master; }, 20s));
  ASSERT_TRUE(all.settle(300s)) << all.find_fault();
  EXPECT_EQ(find_other_keys(all, kNewSeed), std::vector<Guid>{});
}

// One for all before, as sm.m_key gave it.
TEST_P(MKeyPerPort, OneKeyForAllBecomesOneForEach) {
  Managers all(kTree, kTwo);
  const MKeySource one{.seed = {}, .key = MKey{0xabc}};
  all[0].start(keyed(9, GetParam(), {one}));
  ASSERT_TRUE(all.settle()) << all.find_fault();
  all[0].manager->adopt(keyed(9, GetParam(), {seed(kSeed), one}));
  all[0].manager->request_sweep("configuration");
  all.run_for(1s);
  ASSERT_TRUE(all.settle()) << all.find_fault();
  EXPECT_EQ(find_other_keys(all, kSeed), std::vector<Guid>{});
}

TEST_P(MKeyPerPort, PortsWithoutOneGetTheirs) {
  Managers all(kTree, kTwo);
  all[0].start(manager_settings(9));
  ASSERT_TRUE(all.settle()) << all.find_fault();
  all[0].manager->adopt(keyed(9, GetParam()));
  all[0].manager->request_sweep("configuration");
  all.run_for(1s);
  ASSERT_TRUE(all.settle()) << all.find_fault();
  EXPECT_EQ(find_other_keys(all, kSeed), std::vector<Guid>{});
}

// What the manager calls the keys of a seed is no key, and nobody is to see it.
TEST_P(MKeyPerPort, TheNameOfASeedNeverLeaves) {
  Managers all(kTree, kTwo);
  std::uint64_t seen = 0, sent = 0;
  all[0].on_send = all[1].on_send = [&](const Smp& smp) {
    ++sent;
    const bool is_port_info = smp.attribute_id == static_cast<std::uint16_t>(AttributeId::PortInfo);
    for (const std::string& bytes : {kSeed, kNewSeed}) {
      const MKey name = name_of(seed(bytes));
      seen += smp.m_key == name ? 1 : 0;
      seen += is_port_info && decode_port_info(smp.data)->m_key == name ? 1 : 0;
    }
  };
  all[0].start(keyed(9, GetParam()));
  ASSERT_TRUE(all.settle());
  all[1].start(keyed(2, GetParam()), all[0].kept());
  ASSERT_TRUE(all.settle());
  all.fabric.set_link(all.node("sw-0-0"), PortNum{3}, false);
  all.run_for(30s);
  all[0].manager->adopt(keyed(9, GetParam(), {seed(kNewSeed), seed(kSeed)}));
  all[0].manager->request_sweep("configuration");
  all.run_for(30s);
  EXPECT_GT(sent, 500u);
  EXPECT_EQ(seen, 0u);
}

// --- Keys of another manager where PortStateChange is raised -------------------------------------

class ForeignMKey : public ::testing::Test {
 protected:
  static Settings one_key(MKey key, unsigned protect, std::uint16_t lease_s) {
    Settings out = manager_settings(9);
    out.ports.m_key = out.election.m_key = key;
    out.ports.m_key_protect = static_cast<std::uint8_t>(protect);
    out.ports.m_key_lease_s = lease_s;
    return out;
  }

  void plug(const std::string& leaf, bool up) {
    for (const unsigned port : {3u, 4u})
      all.fabric.set_link(all.node(leaf), PortNum{static_cast<std::uint8_t>(port)}, up);
  }

  /// As another manager did meanwhile, from a host of the leaf.
  void give_key(const std::string& leaf, const std::string& host, MKey shown, MKey key) {
    sim::SimTransport transport(all.fabric, all.node(host), PortNum{1});
    SmpClient client(all.runtime, transport, {});
    SmpScope scope(client);
    PortInfo body = all.fabric.port_info(all.node(leaf), PortNum{0});
    SmpRequest request{.route = SmpRoute::to_lid(body.lid),
                       .method = Method::Set,
                       .attribute = AttributeId::PortInfo,
                       .m_key = shown};
    body.m_key = key;
    encode_port_info(set_body(body, PortState::NoChange), request.data);
    scope.send(request, [](const Result<SmpReply>& reply) { EXPECT_TRUE(reply); });
    all.run_for(5ms);
    ASSERT_EQ(key_of(leaf), key);
  }

  [[nodiscard]] MKey key_of(const std::string& name) const {
    return all.fabric.port_info(all.node(name), PortNum{0}).m_key;
  }

  [[nodiscard]] bool is_raised(const std::string& name) const {
    return all.fabric.switch_info(all.node(name)).port_state_change;
  }

  Managers all{kTree, kTwo};
};

TEST_F(ForeignMKey, ThatASwitchShowsIsReplacedWhenItComesBack) {
  all[0].start(one_key(MKey{0xabc}, 0, 0));
  ASSERT_TRUE(all.settle()) << all.find_fault();
  plug("sw-0-1", false);
  all.run_for(1s);
  ASSERT_TRUE(all.settle());
  ASSERT_EQ(all[0].reports.back().counts.switches, 5u);
  give_key("sw-0-1", "host-00002", MKey{0xabc}, MKey{0xdef});
  plug("sw-0-1", true);
  all.run_for(2s);
  ASSERT_TRUE(all.settle()) << all.find_fault();
  EXPECT_EQ(key_of("sw-0-1"), MKey{0xabc});
  EXPECT_EQ(all[0].reports.back().counts.switches, 6u);
  EXPECT_EQ(all[0].reports.back().silent.size(), 0u);
  EXPECT_FALSE(is_raised("sw-0-1")) << "what it reported is looked at, without a sweep";
}

TEST_F(ForeignMKey, ThatASwitchOfTheSubnetShowsIsReplacedWhenItReportsAChange) {
  all[0].start(one_key(MKey{0xabc}, 0, 0));
  ASSERT_TRUE(all.settle()) << all.find_fault();
  give_key("sw-0-1", "host-00002", MKey{0xabc}, MKey{0xdef});
  all.fabric.set_link(all.node("sw-0-1"), PortNum{3}, false);
  all.run_for(2s);
  ASSERT_TRUE(all.settle()) << all.find_fault();
  EXPECT_EQ(key_of("sw-0-1"), MKey{0xabc});
  EXPECT_EQ(all[0].reports.back().counts.switches, 6u);
  EXPECT_FALSE(is_raised("sw-0-1"));
}

TEST_F(ForeignMKey, ThatHidesKeepsNoSwitchOutThatReportsAChange) {
  all[0].start(one_key(MKey{0xabc}, 1, 30));
  ASSERT_TRUE(all.settle());
  all[0].kill();
  all[1].start(manager_settings(2));
  ASSERT_TRUE(all.run_until([&] { return !all[1].reports.empty(); }, 60s));
  for (const bool up : {false, true}) {
    all.fabric.set_link(all.node("sw-0-1"), PortNum{3}, up);
    all.run_for(5s);
    const CycleReport& report = all[1].reports.back();
    EXPECT_EQ(report.counts.switches, 6u);
    EXPECT_EQ(report.silent.size(), 0u);
    EXPECT_GT(report.foreign_keys.ports, 0u);
  }
  ASSERT_TRUE(all.settle(300s)) << all.find_fault();
  EXPECT_EQ(all[1].reports.back().foreign_keys.ports, 0u);
}

// An agent that answers everything else.
TEST_F(ForeignMKey, NorDoesASwitchThatNeverForgetsAChange) {
  unsigned tries = 0;
  all[0].loses = [&](const Smp& smp) {
    const bool clears = smp.method == Method::Set && is_about(smp, AttributeId::SwitchInfo) &&
                        decode_switch_info(smp.data)->port_state_change;
    tries += clears ? 1 : 0;
    return clears;
  };
  Settings settings = manager_settings(9);
  settings.sweep_interval = 10s;
  all[0].start(settings);
  ASSERT_TRUE(all.settle()) << all.find_fault();
  plug("sw-0-1", false);
  all.run_for(5s);
  EXPECT_EQ(all[0].reports.back().counts.switches, 5u);
  plug("sw-0-1", true);
  all.run_for(25s);
  ASSERT_TRUE(all.settle()) << all.find_fault();
  EXPECT_EQ(all[0].reports.back().counts.switches, 6u);
  EXPECT_EQ(all[0].reports.back().silent.size(), 0u);
  // Six switches, six sweeps, four SMPs each.
  tries = 0;
  const std::size_t cycles = all[0].reports.size();
  all.run_for(60s);
  EXPECT_LE(tries, 150u);
  EXPECT_EQ(all[0].reports.size(), cycles) << "nothing is written for it";
  EXPECT_TRUE(all.settled());
}

}  // namespace m_keys_test
}  // namespace smd::test
