// CC_Keys of a whole subnet: ours, former ones of ours, and those of others.
#include <gmock/gmock.h>

#include "tests/sim/congestion_lab.h"

namespace smd::test {
namespace {

using std::chrono_literals::operator""ms;
using testing::Contains;
using testing::HasSubstr;

constexpr cc::CcKey kKey{0x1122334455667788};

cc::Options with_key() {
  cc::Options options = Subnet::wish();
  options.key = kKey;
  options.protect = true;
  options.lease_s = 60;
  return options;
}

/// A Get of TimeStamp, with a wrong key unless told otherwise, from the manager's own node.
void knock(Subnet& subnet, std::uint32_t node, cc::CcKey key = cc::CcKey{0xbad}) {
  MadPacket packet;
  packet.remote_lid =
      subnet.fabric
          .port_info(node, PortNum{subnet.is_switch(node) ? std::uint8_t{0} : std::uint8_t{1}})
          .lid;
  packet.local_qp = packet.remote_qp = 1;
  encode_mad_header({.mgmt_class = 0x21,
                     .class_version = 2,
                     .method = 1,
                     .transaction_id = 0xffff0000,
                     .attribute_id = 0x18},
                    packet.mad);
  cc::write_key(key, packet.mad);
  ASSERT_TRUE(subnet.transport.send(packet));
}

TEST(CongestionKeys, TheKeyIsWrittenAndItsLeaseKeptAlive) {
  Subnet subnet(with_key());
  subnet.start();
  const std::uint32_t host = subnet.nth(false, 4);
  EXPECT_EQ(find_unset(subnet), "");
  for (std::uint32_t node = 0; node < subnet.nodes(); ++node) {
    EXPECT_EQ(subnet.at(node).key.key, kKey);
    EXPECT_TRUE(subnet.at(node).key.protect);
    EXPECT_EQ(subnet.at(node).key.lease_s, 60);
  }
  knock(subnet, host);
  subnet.run_for(1s);
  EXPECT_EQ(subnet.at(host).key.violations, 1);
  EXPECT_EQ(subnet.cc_manager.stats().violations, 1u) << "the agent said so";
  const auto traps = subnet.fabric.stats().traps;
  subnet.run_for(600s);
  EXPECT_EQ(subnet.fabric.stats().traps, traps) << "and was answered";
  EXPECT_TRUE(subnet.at(host).key.protect) << "the lease began, and the right key stopped it";
}

TEST(CongestionKeys, AKeyThatIsChangedWhileLogsAreReadReachesEveryAgent) {
  cc::Options options = with_key();
  Subnet subnet(options);
  subnet.start();
  const auto logs = subnet.cc_manager.stats().logs;
  ASSERT_TRUE(subnet.run_until([&] { return subnet.cc_manager.stats().logs > logs; }, 60s));
  options.key = cc::CcKey{0xfeed};
  subnet.cc_manager.adopt(subnet.manager.share_in_force(), Subnet::settings_of(options), 3, {});
  subnet.run_for(1000s);
  for (std::uint32_t node = 0; node < subnet.nodes(); ++node)
    EXPECT_EQ(subnet.at(node).key.key, options.key) << node;
  EXPECT_EQ(subnet.cc_manager.count(CcAgentStatus::Managed), subnet.nodes());
}

/// What an agent at `issuer` says of somebody with a wrong key; from whoever sends it.
MadPacket violation_trap(const Subnet& subnet, Lid issuer) {
  MadPacket packet;
  packet.remote_lid = subnet.fabric.port_info(subnet.fabric.spec().sm_node, PortNum{1}).lid;
  packet.local_qp = packet.remote_qp = 1;
  encode_mad_header({.mgmt_class = 0x21,
                     .class_version = 2,
                     .method = static_cast<std::uint8_t>(Method::Trap),
                     .transaction_id = 1,
                     .attribute_id = static_cast<std::uint16_t>(cc::Attribute::Notice)},
                    packet.mad);
  Notice notice = cc::key_notice({}, NodeType::Ca);
  notice.issuer_lid = issuer;
  encode_notice(
      notice, std::span<std::byte, kMadSize>(packet.mad).subspan<cc::kDataOffset, kSmpDataSize>());
  return packet;
}

/// How many MADs a trap in the name of `issuer`, sent by somebody on the host, has for an answer.
std::uint64_t answers_to(Subnet& subnet, std::uint32_t host, Lid issuer) {
  const auto client = subnet.fabric.attach(host, PortNum{1}, [](const MadPacket&) {});
  const std::uint64_t before = subnet.fabric.stats().injected;
  subnet.fabric.inject(client, violation_trap(subnet, issuer));
  subnet.run_for(100ms);
  subnet.fabric.detach(client);
  return subnet.fabric.stats().injected - before - 1;
}

/// One key opens all agents: a trap is answered with it only where that agent has it already.
TEST(CongestionKeys, WhoSpeaksForAnotherAgentIsNotGivenTheKey) {
  Subnet subnet(with_key());
  const std::uint32_t host = subnet.nth(false, 4);
  const std::uint32_t other = subnet.nth(false, 5);
  subnet.start();
  const auto lid = [&](std::uint32_t node) {
    return subnet.fabric.port_info(node, PortNum{1}).lid;
  };
  EXPECT_EQ(answers_to(subnet, host, lid(other)), 0u);
  EXPECT_EQ(answers_to(subnet, host, kUnassignedLid), 0u);
  EXPECT_EQ(answers_to(subnet, host, Lid{0x1234}), 0u);
  EXPECT_EQ(answers_to(subnet, host, lid(host)), 1u) << "its agent has the key";
  EXPECT_EQ(subnet.cc_manager.stats().violations, 4u) << "all are said";
}

TEST(CongestionKeys, WhoseAgentIsLeftAloneIsNotGivenTheKey) {
  cc::Options options = with_key();
  const std::uint32_t host = Subnet().nth(false, 4);
  options.nodes.push_back({.node = Subnet().guid(host), .off = true});
  Subnet subnet(options);
  subnet.start();
  EXPECT_EQ(answers_to(subnet, host, subnet.fabric.port_info(host, PortNum{1}).lid), 0u);
}

TEST(CongestionKeys, AFloodOfForgedViolationsIsAnsweredAtABoundedRate) {
  Subnet subnet(with_key());
  subnet.start();
  const std::uint32_t host = subnet.nth(false, 4);
  const auto client = subnet.fabric.attach(host, PortNum{1}, [](const MadPacket&) {});
  const MadPacket packet = violation_trap(subnet, subnet.fabric.port_info(host, PortNum{1}).lid);
  const std::uint64_t before = subnet.fabric.stats().injected;
  constexpr unsigned kTraps = 10'000;
  for (unsigned i = 0; i < kTraps; ++i) subnet.fabric.inject(client, packet);
  subnet.run_for(1s);
  EXPECT_EQ(subnet.cc_manager.stats().violations, 20u);
  EXPECT_LT(subnet.fabric.stats().injected - before - kTraps, 100u) << "they were answered";
  subnet.run_for(10s);
  subnet.fabric.inject(client, packet);
  subnet.run_for(1s);
  EXPECT_EQ(subnet.cc_manager.stats().violations, 21u) << "and the sender is heeded again";
}

TEST(CongestionKeys, AForeignKeyIsSaidAndNotKnockedAt) {
  Subnet subnet(with_key());
  subnet.start();
  cc::Options stranger = with_key();
  stranger.key = cc::CcKey{99};
  StateStore store;
  CcManager next(subnet.runtime, subnet.split.congestion(), store);
  next.adopt(subnet.manager.share_in_force(), Subnet::settings_of(stranger), 3, {});
  ASSERT_TRUE(subnet.run_until([&] { return next.at_rest(); }, 60s));
  EXPECT_EQ(next.count(CcAgentStatus::ForeignKey), subnet.nodes());
  EXPECT_THAT(next.alarms(), Contains(HasSubstr("another manager's CC_Key")));
  EXPECT_EQ(subnet.fabric.stats().dropped_cc_key, 0u) << "no violation is caused";
}

/// Every agent is protected by `key`.
std::string find_other_key(const Subnet& subnet, cc::CcKey key) {
  for (std::uint32_t node = 0; node < subnet.nodes(); ++node) {
    if (subnet.at(node).key.key != key || !subnet.at(node).key.protect)
      return subnet.fabric.spec().nodes[node].description;
  }
  return "";
}

/// Takes the place of the cc_manager of `subnet`, which falls silent, under another key.
struct Successor {
  Successor(Subnet& subnet, const cc::Options& options, std::vector<cc::CcKey> keys)
      : store({.cc_keys = std::move(keys)}),
        cc_manager(silence(subnet), subnet.split.congestion(), store) {
    cc_manager.adopt(subnet.manager.share_in_force(), Subnet::settings_of(options), 3, {});
    EXPECT_TRUE(subnet.run_until([&] { return cc_manager.at_rest(); }, 60s));
  }

  static Runtime& silence(Subnet& subnet) {
    subnet.cc_manager.stop();
    return subnet.runtime;
  }

  StateStore store;
  CcManager cc_manager;
};

constexpr cc::CcKey kNextKey{99};

TEST(CongestionKeys, AnotherKeyReplacesTheOneInForce) {
  Subnet subnet(with_key());
  subnet.start();
  cc::Options options = with_key();
  options.key = kNextKey;
  subnet.manager.adopt(Subnet::settings_of(options));
  subnet.sweep();
  EXPECT_EQ(find_other_key(subnet, kNextKey), "");
  EXPECT_EQ(subnet.cc_manager.count(CcAgentStatus::Managed), subnet.nodes());
  EXPECT_EQ(subnet.fabric.stats().dropped_cc_key, 0u) << "no violation is caused";
  const auto sets = subnet.cc_manager.stats().sets;
  subnet.sweep();
  EXPECT_EQ(subnet.cc_manager.stats().sets, sets) << "and that is that";
}

TEST(CongestionKeys, KeysOfAFormerLifeOpenItsAgents) {
  cc::Options forever = with_key();
  forever.lease_s = 0;
  Subnet subnet(forever);
  subnet.start();
  cc::Options options = forever;
  options.key = kNextKey;
  Successor next(subnet, options, {cc::CcKey{7}, kKey, cc::CcKey{8}});
  EXPECT_EQ(find_other_key(subnet, kNextKey), "");
  EXPECT_EQ(next.cc_manager.count(CcAgentStatus::Managed), subnet.nodes());
  EXPECT_EQ(subnet.fabric.stats().dropped_cc_key, 0u) << "no violation is caused";
  EXPECT_EQ(next.store.get().cc_keys,
            (std::vector<cc::CcKey>{cc::CcKey{7}, kKey, cc::CcKey{8}, kNextKey}));
}

TEST(CongestionKeys, WithoutProtectionAFormerKeyIsTakenAway) {
  Subnet subnet(with_key());
  subnet.start();
  Successor next(subnet, Subnet::wish(), {kKey});
  for (std::uint32_t node = 0; node < subnet.nodes(); ++node)
    EXPECT_EQ(subnet.at(node).key.key, cc::CcKey{}) << node;
  EXPECT_EQ(next.cc_manager.count(CcAgentStatus::Managed), subnet.nodes());
}

TEST(CongestionKeys, AKeyIsFoundWhenTheLeaseOfItsOwnerHasEnded) {
  Subnet subnet(with_key());
  subnet.start();
  cc::Options options = with_key();
  options.key = kNextKey;
  Successor next(subnet, options, {});
  EXPECT_EQ(next.cc_manager.count(CcAgentStatus::ForeignKey), subnet.nodes());
  subnet.run_for(60s);
  EXPECT_EQ(find_other_key(subnet, kKey), "") << "its lease runs";
  subnet.run_for(30s);
  EXPECT_EQ(find_other_key(subnet, kNextKey), "");
  EXPECT_EQ(next.cc_manager.count(CcAgentStatus::Managed), subnet.nodes());
  EXPECT_EQ(subnet.fabric.stats().dropped_cc_key, subnet.nodes()) << "one knock each";
  EXPECT_EQ(next.cc_manager.stats().violations, 0u) << "which is not held against anybody";
}

TEST(CongestionKeys, AnOwnerThatLivesKeepsItsAgents) {
  Subnet subnet(with_key());
  subnet.start();
  cc::Options options = with_key();
  options.key = kNextKey;
  Successor next(subnet, options, {});
  for (int round = 0; round < 40; ++round) {
    subnet.run_for(10s);
    for (std::uint32_t node = 0; node < subnet.nodes(); ++node) knock(subnet, node, kKey);
  }
  subnet.run_for(5s);  // between two rounds
  EXPECT_EQ(find_other_key(subnet, kKey), "");
  EXPECT_EQ(next.cc_manager.count(CcAgentStatus::ForeignKey), subnet.nodes());
  EXPECT_EQ(subnet.fabric.stats().dropped_cc_key, subnet.nodes()) << "not knocked at again";
}

}  // namespace
}  // namespace smd::test
