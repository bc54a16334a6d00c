// One host sends traps, as many and in whatever name it likes: what that costs the fabric and the
// manager is bounded, and what really fails meanwhile is taken in as soon as ever.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>

#include "smd/base/rng.h"
#include "smd/mad/notice.h"
#include "tests/support/cables.h"
#include "tests/support/subnet_oracles.h"

namespace smd::test {
namespace trap_flood_test {

using namespace std::chrono_literals;

class TrapFlood : public testing::Test, protected SimulatedSubnet {
 protected:
  TrapFlood()
      : SimulatedSubnet(spec_of("fat-tree:k=8,levels=3"),
                        {.settings = settings_of(1h)}) {  // nothing is found by chance
    tap.on_send = [this](const Smp& smp) {
      represses += smp.method == Method::TrapRepress ? 1 : 0;
      return true;
    };
    start();
    EXPECT_TRUE(manager.last_cycle()->up());
    attacker = node("host-00100");
    client = fabric.attach(attacker, PortNum{1}, [](const MadPacket&) {});
    cables = cables_between_switches(fabric.spec());
    reports.clear();
  }

  static Settings settings_of(Duration sweep_interval) {
    Settings out = default_settings();
    out.sweep_interval = sweep_interval;
    // Loads would be evened just as an attack ends and the next cable fails, which then waits for
    // what goes over that cable (relief_test).
    out.rebalance_delay = Duration{0};
    return out;
  }

  [[nodiscard]] Lid lid(std::uint32_t index) const {
    const bool is_switch = fabric.spec().nodes[index].type == NodeType::Switch;
    return fabric.port_info(index, PortNum{is_switch ? std::uint8_t{0} : std::uint8_t{1}}).lid;
  }

  [[nodiscard]] std::vector<Lid> switch_lids() const {
    std::vector<Lid> out;
    for (std::uint32_t i = 0; i < fabric.spec().nodes.size(); ++i) {
      if (fabric.spec().nodes[i].type == NodeType::Switch) out.push_back(lid(i));
    }
    return out;
  }

  /// Exit ports from the attacker on.
  [[nodiscard]] std::vector<PortNum> way_to_manager() const {
    const sim::FabricSpec& spec = fabric.spec();
    std::map<std::uint32_t, std::vector<PortNum>> ways{{attacker, {}}};
    for (std::deque<std::uint32_t> next{attacker}; !next.empty(); next.pop_front()) {
      const std::uint32_t at = next.front();
      for (unsigned p = 1; p <= spec.nodes[at].num_ports(); ++p) {
        const std::uint32_t peer = spec.nodes[at].ports[p].peer_node;
        if (peer == sim::kNoNode || ways.contains(peer)) continue;
        ways[peer] = ways[at];
        ways[peer].push_back(PortNum{static_cast<std::uint8_t>(p)});
        next.push_back(peer);
      }
    }
    return ways.at(spec.sm_node);
  }

  [[nodiscard]] MadPacket trap_packet(const Notice& notice) {
    Smp smp;
    smp.method = Method::Trap;
    smp.attribute_id = static_cast<std::uint16_t>(AttributeId::Notice);
    smp.transaction_id = ++transaction;
    encode_notice(notice, smp.data);
    MadPacket packet{.remote_lid = lid(fabric.spec().sm_node)};
    encode_smp(smp, packet.mad);
    return packet;
  }

  /// From the attacker's port: the adapter puts its own LID into the packet.
  void send(const Notice& notice) { fabric.inject(client, trap_packet(notice)); }

  /// As if `source` had sent it.
  void forge(Lid source, const Notice& notice) {
    MadPacket packet = trap_packet(notice);
    packet.remote_lid = source;
    tap.deliver(packet);
  }

  [[nodiscard]] static Notice change_at(Lid issuer, std::uint16_t number = trap::kLinkState) {
    Notice notice = number == trap::kLinkState ? link_state_notice(issuer)
                                               : capability_notice(issuer, NodeType::Ca, 0, true);
    notice.trap_or_device = number;
    notice.issuer_lid = issuer;
    return notice;
  }

  /// Calls `attack` so often, evenly, while `time` passes.
  void attack_for(Duration time, unsigned per_second, const std::function<void()>& attack) {
    const TimePoint end = runtime.now() + time;
    while (runtime.now() < end) {
      attack();
      run_for(Duration{1s} / per_second);
    }
  }

  /// Takes a cable between two switches out, and says how long it was until that was taken in.
  Duration time_of_failure(const Cable& cable, const std::function<void()>& meanwhile = {}) {
    const std::uint64_t links = manager.last_cycle()->counts.links;
    const TimePoint failed = runtime.now();
    fabric.set_link(cable.node, cable.port, false);
    while (manager.last_cycle()->counts.links != links - 1) {
      if (runtime.now() - failed > 1min) return Duration::max();
      if (meanwhile) meanwhile();
      run_for(50us);
    }
    return manager.last_cycle()->ended - failed;
  }

  [[nodiscard]] std::uint64_t requests() const { return manager.smp_stats().requests(); }

  [[nodiscard]] std::size_t full_looks() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(reports, [](const CycleReport& each) { return !each.partial; }));
  }

  std::uint64_t represses = 0;
  std::uint32_t attacker = 0;
  sim::SimFabric::ClientId client{};
  std::vector<Cable> cables;
  std::uint64_t transaction = 1'000'000;
  Rng rng{1};
};

TEST_F(TrapFlood, RandomIssuersFromOneHostCostAFewSmpsAndLeaveNothingBehind) {
  const Duration usual = time_of_failure(cables[0]);
  const std::uint64_t before = requests();
  const auto attack = [&] {
    send(change_at(Lid{static_cast<std::uint16_t>(1 + rng.below(65'000))}));
  };
  attack_for(10s, 22'000, attack);
  EXPECT_GT(manager.traps().stats().unknown_issuer, 200'000u);
  EXPECT_GT(manager.traps().stats().wrong_issuer, 100u);
  EXPECT_LE(manager.traps().sources(), 8u);
  EXPECT_LT(requests() - before, 200u);
  EXPECT_LT(represses, 300u) << "forged traps are not answered one by one";
  EXPECT_EQ(full_looks(), 0u);
  EXPECT_FALSE(manager.alarms().empty()) << "the operator is told";
  EXPECT_LE(time_of_failure(cables[5], attack), 2 * usual);
}

TEST_F(TrapFlood, TheNamesOfAllSwitchesFromOneHostCostAFewSmps) {
  const Duration usual = time_of_failure(cables[0]);
  const std::vector<Lid> names = switch_lids();
  for (const std::uint16_t number : {trap::kLinkState, trap::kCapability, trap::kSystemGuid}) {
    const std::uint64_t before = requests();
    const auto attack = [&] { send(change_at(names[rng.below(names.size())], number)); };
    attack_for(10s, 5'000, attack);
    EXPECT_LT(requests() - before, 200u) << number;
    EXPECT_LE(time_of_failure(cables[5 + number % 7], attack), 2 * usual) << number;
  }
  EXPECT_LE(manager.traps().sources(), 8u);
  EXPECT_EQ(full_looks(), 0u);
}

TEST_F(TrapFlood, ItsOwnNameCostsAFewSmps) {
  const Duration usual = time_of_failure(cables[0]);
  for (const std::uint16_t number : {trap::kLinkState, trap::kCapability, trap::kSystemGuid}) {
    const std::uint64_t before = requests();
    const auto attack = [&] { send(change_at(lid(attacker), number)); };
    attack_for(10s, 5'000, attack);
    EXPECT_LT(requests() - before, 300u) << number;
    EXPECT_LE(time_of_failure(cables[5 + number % 7], attack), 2 * usual) << number;
  }
  EXPECT_EQ(full_looks(), 0u);
}

TEST_F(TrapFlood, ADirectedTrapIsItsSendersWhateverItSays) {
  const std::uint64_t before = requests();
  attack_for(10s, 1'000, [&] {
    const Notice notice = change_at(lid(node("sw-2-0")));
    Smp smp;
    smp.directed = true;
    smp.method = Method::Trap;
    smp.attribute_id = static_cast<std::uint16_t>(AttributeId::Notice);
    smp.transaction_id = ++transaction;
    const std::vector<PortNum> hops = way_to_manager();
    smp.hop_count = static_cast<std::uint8_t>(hops.size());
    for (std::size_t i = 0; i < hops.size(); ++i) smp.initial_path[i + 1] = hops[i].value();
    encode_notice(notice, smp.data);
    MadPacket packet{.remote_lid = kPermissiveLid};
    encode_smp(smp, packet.mad);
    fabric.inject(client, packet);
  });
  EXPECT_GT(manager.traps().stats().received, 9'000u);
  const std::uint64_t wrong = manager.traps().stats().wrong_issuer;
  EXPECT_EQ(wrong, manager.traps().stats().received);
  EXPECT_LT(requests() - before, 200u);
  EXPECT_THAT(manager.traps().alarm(),
              testing::EndsWith(
                  fmt::format(" 0 dropped; {} named another issuer than their sender", wrong)));
}

TEST_F(TrapFlood, AHostOfTheAttackersOwnLeafThatFailsIsTakenInAsSoonAsEver) {
  const sim::PortSpec& cable = fabric.spec().nodes[attacker].ports[1];
  const std::uint32_t leaf = cable.peer_node;
  const auto hosts = [&] {
    std::vector<PortNum> out;
    for (unsigned p = 1; p <= fabric.spec().nodes[leaf].num_ports(); ++p) {
      const std::uint32_t peer = fabric.spec().nodes[leaf].ports[p].peer_node;
      if (peer != sim::kNoNode && peer != attacker &&
          fabric.spec().nodes[peer].type != NodeType::Switch)
        out.push_back(PortNum{static_cast<std::uint8_t>(p)});
    }
    return out;
  }();
  ASSERT_GE(hosts.size(), 2u);
  const Duration usual = time_of_failure({leaf, hosts[0]});
  const auto attack = [&] { send(change_at(lid(leaf))); };
  attack_for(10s, 5'000, attack);
  EXPECT_LE(time_of_failure({leaf, hosts[1]}, attack), 2 * usual);
}

TEST_F(TrapFlood, TheSenderIsWhereItsAddressLeads) {
  const auto guid = [&](std::uint32_t index) { return fabric.spec().nodes[index].guid; };
  const std::uint32_t leaf = node("sw-0-5");
  const auto sender = [&](Lid source, Lid issuer) {
    MadPacket packet{.remote_lid = source};
    return find_trap_sender(*manager.in_force(), Smp{}, packet, issuer);
  };
  EXPECT_EQ(sender(lid(leaf), lid(leaf)), (TrapSender{guid(leaf), true}));
  EXPECT_EQ(sender(lid(leaf), kUnassignedLid), (TrapSender{guid(leaf), true}));
  EXPECT_EQ(sender(lid(attacker), lid(leaf)), (TrapSender{guid(attacker), false}));
  EXPECT_EQ(sender(lid(attacker), Lid{40'000}), (TrapSender{guid(attacker), false}));
  EXPECT_EQ(sender(Lid{40'000}, lid(leaf)), TrapSender{});
  EXPECT_EQ(sender(kUnassignedLid, lid(leaf)), (TrapSender{guid(leaf), true}))
      << "some drivers give no source for what a port sends to itself";
}

TEST_F(TrapFlood, TheSenderOfADirectedTrapIsWhereItsWayBackEnds) {
  const std::uint32_t own = fabric.spec().sm_node;
  const std::uint32_t leaf = fabric.spec().nodes[own].ports[1].peer_node;
  const auto sender = [&](std::vector<unsigned> back, Lid issuer, Lid dr_slid = kPermissiveLid) {
    Smp smp{.directed = true, .hop_count = static_cast<std::uint8_t>(back.size())};
    smp.dr_slid = dr_slid;
    for (std::size_t hop = 0; hop < back.size(); ++hop)
      smp.return_path[back.size() - hop] = static_cast<std::uint8_t>(back[hop]);
    return find_trap_sender(*manager.in_force(), smp, MadPacket{}, issuer);
  };
  const Guid leaf_guid = fabric.spec().nodes[leaf].guid;
  EXPECT_EQ(sender({1}, lid(leaf)), (TrapSender{leaf_guid, true}));
  EXPECT_EQ(sender({1}, lid(attacker)), (TrapSender{leaf_guid, false}));
  EXPECT_EQ(sender({1, 200}, lid(leaf)), (TrapSender{leaf_guid, false}))
      << "it came over a port that is not known, beside the last switch that is";
  EXPECT_EQ(sender({1, 0}, lid(leaf)), (TrapSender{leaf_guid, false}));
  EXPECT_EQ(sender({1}, lid(leaf), Lid{3}), TrapSender{}) << "its LID-routed part is hearsay";
}

// What follows no honest adapter lets anybody do: the source LID is forged as well.

TEST_F(TrapFlood, UnknownSendersCostALookRoundNowAndThen) {
  const Duration usual = time_of_failure(cables[0]);
  const std::uint64_t before = requests();
  const auto attack = [&] { forge(Lid{40'000}, change_at(Lid{40'000})); };
  attack_for(10min, 5, attack);
  EXPECT_EQ(full_looks(), 0u);
  EXPECT_LE(requests() - before, 12 * switch_lids().size());
  EXPECT_LE(time_of_failure(cables[5], attack), 2 * usual);
}

TEST_F(TrapFlood, TheNamesAndLidsOfAllSwitchesAreBoundedInAll) {
  const std::vector<Lid> names = switch_lids();
  const std::uint64_t before = requests();
  const auto attack = [&] {
    const Lid name = names[rng.below(names.size())];
    forge(name, change_at(name));
  };
  attack_for(1min, 2'000, attack);
  const std::uint64_t first_minute = requests() - before;
  attack_for(1min, 2'000, attack);
  const std::uint64_t second_minute = requests() - before - first_minute;
  EXPECT_LT(second_minute, 20 * names.size());
  EXPECT_LT(first_minute, 100 * names.size());
  EXPECT_EQ(full_looks(), 0u);
  EXPECT_LE(manager.traps().sources(), 2 * names.size());
}

TEST_F(TrapFlood, ACableOfASwitchInWhoseNameAndLidItFloodsIsTakenInByItsOtherEnd) {
  const Duration usual = time_of_failure(cables[0]);
  const Lid name = lid(cables[5].node);
  const auto attack = [&] { forge(name, change_at(name)); };
  attack_for(1min, 2'000, attack);
  EXPECT_LE(time_of_failure(cables[5], attack), 2 * usual);
}

TEST_F(TrapFlood, AHostOfSuchASwitchIsMissedByTheNextSweepAtTheLatest) {
  manager.adopt(settings_of(10s));
  manager.request_sweep("test");
  run_for(1s);
  const sim::PortSpec& cable = fabric.spec().nodes[attacker].ports[1];
  const Lid name = lid(cable.peer_node);
  const auto attack = [&] { forge(name, change_at(name)); };
  attack_for(1min, 500, attack);
  EXPECT_LE(time_of_failure({cable.peer_node, cable.peer_port}, attack), 10s + 100ms);
}

TEST_F(TrapFlood, ANodeThatWasSilentIsTakenInWhenItsTrapComes) {
  const std::uint32_t leaf = node("sw-0-5");
  const Lid own = lid(leaf);
  fabric.set_silent(leaf, true);
  manager.request_sweep("test");
  ASSERT_TRUE(
      run_until([&] { return manager.at_rest() && !manager.last_cycle()->silent.empty(); }, 1min));
  const std::size_t before = manager.last_cycle()->counts.switches;
  ASSERT_EQ(manager.in_force()->lids->owner_of(own), kNone<PortIdx>);
  fabric.set_silent(leaf, false);
  const TimePoint spoke = runtime.now();
  forge(own, change_at(own));
  ASSERT_TRUE(run_until([&] { return manager.last_cycle()->counts.switches > before; }, 1min));
  EXPECT_LT(runtime.now() - spoke, 100ms);
}

TEST_F(TrapFlood, ANewSwitchWhoseTrapHasAnUnknownLidIsTakenInAtOnce) {
  const std::uint32_t spine = node("sw-2-3");
  fabric.set_node(spine, false);
  ASSERT_TRUE(run_until([&] { return reports.size() > 0 && manager.at_rest(); }, 1min));
  const std::size_t before = manager.last_cycle()->counts.switches;
  // The traps of its neighbours are lost; its own comes.
  fabric.set_wire_faults({.drop = 1.0});
  fabric.set_node(spine, true);
  run_for(100us);
  fabric.set_wire_faults({});
  const TimePoint came = runtime.now();
  forge(Lid{40'000}, change_at(Lid{40'000}));
  ASSERT_TRUE(run_until([&] { return manager.last_cycle()->counts.switches > before; }, 1min));
  EXPECT_LT(runtime.now() - came, 100ms);
}

}  // namespace trap_flood_test
}  // namespace smd::test
