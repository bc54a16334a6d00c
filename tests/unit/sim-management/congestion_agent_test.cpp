// Agents of congestion control (IBA annex A10): what they are told and what they answer, byte by
// byte at the offsets of the specification.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smd/base/rng.h"
#include "tests/unit/sim-management/examples.h"

namespace smd::sim::test {
namespace congestion_agent_test {

using cc::Attribute;

constexpr std::uint64_t kKey = 0x1122334455667788;
constexpr Lid kSwitch{2};
constexpr Lid kHost{4};
constexpr std::size_t kData = 64;

class CongestionAgent : public ::testing::Test {
 protected:
  CongestionAgent() {
    configure_line(rig_);
    activate_line(rig_);
  }

  /// A MAD of the class, by offset.
  MadPacket mad(Method method, Attribute attribute, Lid to, std::uint32_t modifier = 0) {
    MadPacket packet;
    packet.remote_lid = to;
    packet.local_qp = packet.remote_qp = 1;
    put(packet, 0, 4, 0x01210200u | static_cast<unsigned>(method));
    put(packet, 8, 8, ++transaction_);
    put(packet, 16, 2, static_cast<unsigned>(attribute));
    put(packet, 20, 4, modifier);
    put(packet, 24, 8, key_);
    return packet;
  }

  static void put(MadPacket& packet, std::size_t offset, std::size_t bytes, std::uint64_t value) {
    for (std::size_t i = 0; i < bytes; ++i) {
      packet.mad[offset + i] = static_cast<std::byte>(value >> (8 * (bytes - 1 - i)) & 0xff);
    }
  }

  static std::uint64_t at(const MadPacket& packet, std::size_t offset, std::size_t bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) {
      value = value << 8 | std::to_integer<std::uint64_t>(packet.mad[offset + i]);
    }
    return value;
  }

  static unsigned status_of(const MadPacket& packet) {
    return static_cast<unsigned>(at(packet, 4, 2));
  }

  std::optional<MadPacket> ask(const MadPacket& packet) {
    rig_.arrivals.clear();
    rig_.fabric.inject(rig_.client, packet);
    rig_.run(std::chrono::microseconds(100));
    for (const Arrival& arrival : rig_.arrivals) {
      if (at(arrival.packet, 3, 1) == 0x81) return arrival.packet;
    }
    return std::nullopt;
  }

  std::optional<MadPacket> get(Attribute attribute, Lid to, std::uint32_t modifier = 0) {
    return ask(mad(Method::Get, attribute, to, modifier));
  }

  /// Key, protect bit, lease and violations of CongestionKeyInfo.
  unsigned set_key(Lid to, std::uint64_t key, bool protect, unsigned lease = 0) {
    MadPacket packet = mad(Method::Set, Attribute::CongestionKeyInfo, to);
    put(packet, kData, 8, key);
    put(packet, kData + 8, 1, protect ? 0x80 : 0);
    put(packet, kData + 10, 2, lease);
    const auto answer = ask(packet);
    return answer ? status_of(*answer) : 0xffff;
  }

  const CongestionState& switch_regs() { return rig_.fabric.node_state(1).congestion(PortNum{}); }

  const CongestionState& host_regs() { return rig_.fabric.node_state(3).congestion(PortNum{1}); }

  Rig rig_{line()};
  std::uint64_t key_ = 0;
  std::uint64_t transaction_ = 0;
};

TEST_F(CongestionAgent, SaysWhoItIs) {
  const auto who = get(Attribute::ClassPortInfo, kSwitch);
  ASSERT_TRUE(who);
  EXPECT_EQ(status_of(*who), 0u);
  EXPECT_EQ(at(*who, kData, 2), 0x0102u) << "base version 1, class version 2";
  EXPECT_EQ(at(*who, kData + 2, 2), 1u) << "it sends traps";
  EXPECT_EQ(at(*who, kData + 4, 4), rig_.fabric.port_info(1, PortNum{}).resp_time_value);
  EXPECT_EQ(at(*get(Attribute::CongestionInfo, kSwitch), kData, 3), 0u);
  EXPECT_EQ(at(*get(Attribute::CongestionInfo, kHost), kData, 3), 2u) << "blocks of the table";
}

TEST_F(CongestionAgent, ASwitchKeepsWhatItIsTold) {
  MadPacket set = mad(Method::Set, Attribute::SwitchCongestionSetting, kSwitch);
  put(set, kData, 4, 0x15);            // victims, threshold, marking rate
  put(set, kData + 4 + 31, 1, 0x06);   // victim mask: ports 1 and 2
  put(set, kData + 36 + 31, 1, 0xff);  // credit mask: not among the chosen
  put(set, kData + 68, 1, 0xb0);       // threshold 11
  put(set, kData + 69, 1, 8);          // packet size
  put(set, kData + 70, 1, 0x70);       // starvation: not chosen
  put(set, kData + 74, 2, 0x0123);     // marking rate
  const auto answer = ask(set);
  ASSERT_TRUE(answer);
  EXPECT_EQ(status_of(*answer), 0u);
  const auto read = get(Attribute::SwitchCongestionSetting, kSwitch);
  ASSERT_TRUE(read);
  for (const MadPacket& each : {*answer, *read}) {
    EXPECT_EQ(at(each, kData, 4), 0x15u);
    EXPECT_EQ(at(each, kData + 4 + 31, 1), 0x06u);
    EXPECT_EQ(at(each, kData + 36 + 31, 1), 0u);
    EXPECT_EQ(at(each, kData + 68, 2), 0xb008u);
    EXPECT_EQ(at(each, kData + 70, 1), 0u);
    EXPECT_EQ(at(each, kData + 74, 2), 0x0123u);
  }
  EXPECT_EQ(switch_regs().rule_of(PortNum{2}), (MarkingRule{11, 8, 0x0123, false}));
  EXPECT_TRUE(switch_regs().switch_setting.victim_mask.test(PortNum{2}));
  EXPECT_FALSE(switch_regs().switch_setting.victim_mask.test(PortNum{3}));
}

TEST_F(CongestionAgent, AFieldThatIsNotNamedStays) {
  MadPacket first = mad(Method::Set, Attribute::SwitchCongestionSetting, kSwitch);
  put(first, kData, 4, 0x14);
  put(first, kData + 68, 2, 0x3002);
  put(first, kData + 74, 2, 5);
  ASSERT_TRUE(ask(first));
  MadPacket second = mad(Method::Set, Attribute::SwitchCongestionSetting, kSwitch);
  put(second, kData, 4, 0x10);
  put(second, kData + 68, 2, 0xf00f);
  put(second, kData + 74, 2, 9);
  ASSERT_TRUE(ask(second));
  EXPECT_EQ(switch_regs().rule_of(PortNum{1}), (MarkingRule{3, 2, 9, false}));
}

TEST_F(CongestionAgent, APortMayHaveItsOwnRule) {
  MadPacket set = mad(Method::Set, Attribute::SwitchPortCongestionSetting, kSwitch);
  put(set, kData + 4 * 3, 4, 0x85'04'0007);  // port 3: valid, threshold 5, 4 x 64 bytes, rate 7
  ASSERT_TRUE(ask(set));
  EXPECT_EQ(switch_regs().rule_of(PortNum{3}), (MarkingRule{5, 4, 7, false}));
  EXPECT_EQ(switch_regs().rule_of(PortNum{2}), MarkingRule{});
  const auto read = get(Attribute::SwitchPortCongestionSetting, kSwitch);
  ASSERT_TRUE(read);
  EXPECT_EQ(at(*read, kData + 12, 4), 0x85040007u);
  MadPacket beyond = mad(Method::Set, Attribute::SwitchPortCongestionSetting, kSwitch);
  put(beyond, kData + 4 * 5, 4, 0x85040007);
  EXPECT_EQ(status_of(*ask(beyond)), 0x1cu) << "there are four ports";
  EXPECT_EQ(status_of(*get(Attribute::SwitchPortCongestionSetting, kSwitch, 1)), 0x1cu);
}

TEST_F(CongestionAgent, AnAdapterKeepsWhatItIsTold) {
  MadPacket set = mad(Method::Set, Attribute::CaCongestionSetting, kHost);
  put(set, kData, 2, 1);
  put(set, kData + 2, 2, 0x8001);
  for (std::size_t sl = 0; sl < 16; ++sl) {
    put(set, kData + 4 + 8 * sl, 5, 0x00'96'01'02'03u + sl);
  }
  const auto answer = ask(set);
  ASSERT_TRUE(answer);
  EXPECT_EQ(status_of(*answer), 0u);
  const auto read = get(Attribute::CaCongestionSetting, kHost);
  ASSERT_TRUE(read);
  EXPECT_EQ(at(*read, kData, 2), 1u);
  EXPECT_EQ(at(*read, kData + 4, 8), 0x0096'0102'0300'0000u);
  EXPECT_EQ(at(*read, kData + 4 + 8, 8), 0u) << "SL 1 was not named";
  EXPECT_EQ(at(*read, kData + 4 + 8 * 15, 8), 0x0096'0102'1200'0000u);
  EXPECT_EQ(host_regs().ca_setting.entries[15].timer, 150);
}

TEST_F(CongestionAgent, ATableComesInBlocks) {
  MadPacket set = mad(Method::Set, Attribute::CongestionControlTable, kHost, 1);
  put(set, kData, 2, 127);
  put(set, kData + 4, 2, 0x4003);           // entry 64: 3 / 2
  put(set, kData + 4 + 2 * 63, 2, 0xffff);  // entry 127
  ASSERT_EQ(status_of(*ask(set)), 0u);
  EXPECT_EQ(host_regs().ccti_limit, 127);
  EXPECT_EQ(host_regs().delay_at(64), (cc::CctEntry{1, 3}));
  EXPECT_EQ(host_regs().delay_at(127), (cc::CctEntry{3, 0x3fff}));
  EXPECT_EQ(host_regs().delay_at(128), cc::CctEntry{});
  EXPECT_EQ(at(*get(Attribute::CongestionControlTable, kHost, 1), kData + 4, 2), 0x4003u);
  EXPECT_EQ(at(*get(Attribute::CongestionControlTable, kHost, 0), kData + 4, 2), 0u);
}

TEST_F(CongestionAgent, RefusesWhatItCannotHoldAndKeepsTheRest) {
  MadPacket limit = mad(Method::Set, Attribute::CongestionControlTable, kHost);
  put(limit, kData, 2, 128);
  EXPECT_EQ(status_of(*ask(limit)), 0x1cu);
  EXPECT_EQ(status_of(*ask(mad(Method::Set, Attribute::CongestionControlTable, kHost, 2))), 0x1cu);
  MadPacket min = mad(Method::Set, Attribute::CaCongestionSetting, kHost);
  put(min, kData + 2, 2, 1);
  put(min, kData + 4 + 4, 1, 128);
  EXPECT_EQ(status_of(*ask(min)), 0x1cu);
  MadPacket control = mad(Method::Set, Attribute::CaCongestionSetting, kHost);
  put(control, kData, 2, 2);
  EXPECT_EQ(status_of(*ask(control)), 0x1cu);
  MadPacket starving = mad(Method::Set, Attribute::SwitchCongestionSetting, kSwitch);
  put(starving, kData, 4, 0x0c);
  put(starving, kData + 68, 1, 0xf0);
  const auto answer = ask(starving);
  EXPECT_EQ(status_of(*answer), 0x1cu) << "credit starvation is not offered";
  EXPECT_EQ(at(*answer, kData + 68, 1), 0u) << "the registers as they are";
  MadPacket unknown = mad(Method::Set, Attribute::SwitchCongestionSetting, kSwitch);
  put(unknown, kData, 4, 0x20);
  EXPECT_EQ(status_of(*ask(unknown)), 0x1cu);
  MadPacket far = mad(Method::Set, Attribute::ClassPortInfo, kHost);
  put(far, kData + 60, 2, 0xc000);
  EXPECT_EQ(status_of(*ask(far)), 0x1cu) << "traps go to no multicast LID";
  EXPECT_EQ(host_regs(), CongestionState{});
  EXPECT_EQ(switch_regs(), CongestionState{});
}

TEST_F(CongestionAgent, KnowsItsOwnAttributesAlone) {
  EXPECT_EQ(status_of(*get(Attribute::SwitchCongestionSetting, kHost)), 0x0cu);
  EXPECT_EQ(status_of(*get(Attribute::SwitchPortCongestionSetting, kHost)), 0x0cu);
  EXPECT_EQ(status_of(*get(Attribute::CaCongestionSetting, kSwitch)), 0x0cu);
  EXPECT_EQ(status_of(*get(Attribute::CongestionControlTable, kSwitch)), 0x0cu);
  EXPECT_EQ(status_of(*get(static_cast<Attribute>(0x77), kSwitch)), 0x0cu);
  EXPECT_EQ(status_of(*ask(mad(Method::Set, Attribute::TimeStamp, kHost))), 0x0cu);
  EXPECT_EQ(status_of(*ask(mad(Method::GetTable, Attribute::TimeStamp, kHost))), 0x08u);
  MadPacket old = mad(Method::Get, Attribute::TimeStamp, kHost);
  put(old, 2, 1, 1);
  EXPECT_EQ(status_of(*ask(old)), 0x04u);
}

TEST_F(CongestionAgent, AnswersNobodyWithoutItsKeyAndCountsThem) {
  ASSERT_EQ(set_key(kHost, kKey, true), 0u) << "no key protects nothing";
  EXPECT_FALSE(get(Attribute::TimeStamp, kHost));
  MadPacket set = mad(Method::Set, Attribute::CongestionControlTable, kHost);
  put(set, kData, 2, 5);
  EXPECT_FALSE(ask(set));
  EXPECT_EQ(host_regs().ccti_limit, 0);
  EXPECT_EQ(rig_.fabric.stats().dropped_cc_key, 2u);
  const auto hidden = get(Attribute::CongestionKeyInfo, kHost);
  ASSERT_TRUE(hidden);
  EXPECT_EQ(at(*hidden, kData, 8), 0u);
  EXPECT_EQ(at(*hidden, kData + 8, 1), 0x80u);
  EXPECT_EQ(at(*hidden, kData + 12, 2), 2u) << "violations";
  key_ = kKey;
  EXPECT_TRUE(get(Attribute::TimeStamp, kHost));
  EXPECT_EQ(at(*get(Attribute::CongestionKeyInfo, kHost), kData, 8), kKey);
  EXPECT_EQ(set_key(kHost, kKey, false), 0u);
  key_ = 7;
  EXPECT_EQ(at(*get(Attribute::CongestionKeyInfo, kHost), kData, 8), kKey)
      << "without protection the key is shown";
  EXPECT_FALSE(get(Attribute::TimeStamp, kHost)) << "and still asked for";
}

TEST_F(CongestionAgent, TheLeaseShowsTheKeyToTheNextManager) {
  ASSERT_EQ(set_key(kSwitch, kKey, true, 10), 0u);
  rig_.run(std::chrono::seconds(100));
  EXPECT_EQ(at(*get(Attribute::CongestionKeyInfo, kSwitch), kData, 8), 0u) << "no lease runs yet";
  EXPECT_FALSE(get(Attribute::TimeStamp, kSwitch));
  rig_.run(std::chrono::seconds(9));
  key_ = kKey;
  EXPECT_TRUE(get(Attribute::TimeStamp, kSwitch)) << "its manager lives";
  key_ = 0;
  rig_.run(std::chrono::seconds(100));
  EXPECT_EQ(at(*get(Attribute::CongestionKeyInfo, kSwitch), kData, 8), 0u);
  EXPECT_FALSE(get(Attribute::TimeStamp, kSwitch));
  rig_.run(std::chrono::seconds(11));
  EXPECT_EQ(at(*get(Attribute::CongestionKeyInfo, kSwitch), kData, 8), kKey);
}

TEST_F(CongestionAgent, AWrongKeyIsReportedUntilTheReportIsTaken) {
  ASSERT_EQ(set_key(kHost, kKey, true), 0u);
  EXPECT_FALSE(get(Attribute::TimeStamp, kHost));
  EXPECT_EQ(rig_.fabric.stats().traps, 0u) << "nobody asked to be told";
  key_ = kKey;
  MadPacket to = mad(Method::Set, Attribute::ClassPortInfo, kHost);
  put(to, kData + 56, 4, 8u << 20);  // trap SL 8: on VL0
  put(to, kData + 60, 2, 1);         // trap LID
  put(to, kData + 65, 3, 1);         // trap QP
  ASSERT_EQ(status_of(*ask(to)), 0u);
  key_ = 0xbad;
  EXPECT_FALSE(get(Attribute::TimeStamp, kHost, 0x5566));
  rig_.run();
  ASSERT_FALSE(rig_.arrivals.empty());
  const MadPacket trap = rig_.arrivals.front().packet;
  EXPECT_EQ(at(trap, 0, 4), 0x01210205u);
  EXPECT_EQ(at(trap, 16, 2), 2u) << "Notice";
  EXPECT_EQ(trap.sl, 8);
  EXPECT_EQ(trap.remote_lid, kHost);
  EXPECT_EQ(trap.local_qp, 1u);
  EXPECT_EQ(at(trap, kData, 4), 0x82000001u) << "generic, security, from an adapter";
  EXPECT_EQ(at(trap, kData + 4, 2), 0u) << "trap number";
  EXPECT_EQ(at(trap, kData + 6, 2), 4u) << "issuer";
  EXPECT_EQ(at(trap, kData + 10, 2), 1u) << "who did it";
  EXPECT_EQ(at(trap, kData + 12, 1), 1u) << "Get";
  EXPECT_EQ(at(trap, kData + 14, 2), 0x18u);
  EXPECT_EQ(at(trap, kData + 18, 4), 0x5566u);
  EXPECT_EQ(at(trap, kData + 23, 3), 1u);
  EXPECT_EQ(at(trap, kData + 26, 8), 0xbadu);

  const auto traps = rig_.fabric.stats().traps;
  rig_.run(std::chrono::seconds(3));
  EXPECT_GT(rig_.fabric.stats().traps, traps) << "repeated";
  MadPacket repress = trap;
  repress.remote_lid = kHost;
  put(repress, 3, 1, 0x07);
  rig_.fabric.inject(rig_.client, repress);
  rig_.run();
  const auto repressed = rig_.fabric.stats().traps;
  rig_.run(std::chrono::seconds(30));
  EXPECT_EQ(rig_.fabric.stats().traps, repressed);
}

TEST_F(CongestionAgent, LogsAreReadOnce) {
  rig_.fabric.log_mark(1, PortNum{3}, {Lid{1}, Lid{4}, Sl{2}, 77});
  rig_.fabric.log_mark(1, PortNum{2}, {Lid{4}, Lid{1}, Sl{0}, 78});
  rig_.fabric.log_trigger(3, PortNum{1}, {0x123456, Sl{5}, 1, 0x654321, Lid{4}, Lid{1}, 99});
  const auto of_switch = get(Attribute::CongestionLog, kSwitch);
  ASSERT_TRUE(of_switch);
  EXPECT_EQ(at(*of_switch, 32, 4), 0x01000002u) << "a switch's, two events";
  EXPECT_EQ(at(*of_switch, 40 + 31, 1), 0x0cu) << "ports 2 and 3";
  EXPECT_EQ(at(*of_switch, 72, 8), 0x0004'0001'00'000000u) << "the newest first";
  EXPECT_EQ(at(*of_switch, 80, 4), 78u);
  EXPECT_EQ(at(*of_switch, 84, 8), 0x0001'0004'20'000000u);
  EXPECT_EQ(at(*get(Attribute::CongestionLog, kSwitch), 32, 4), 0x01000000u);
  const auto of_host = get(Attribute::CongestionLog, kHost);
  EXPECT_EQ(at(*of_host, 32, 8), 0x0200'0001'0020'0000u) << "an adapter's, one event, SL 5";
  EXPECT_EQ(at(*of_host, 44, 8), 0x123456'51'654321'00u);
  EXPECT_EQ(at(*of_host, 52, 8), 0x0004'0001'0000'0063u);
}

TEST_F(CongestionAgent, TimeRunsInUnitsOf1024Nanoseconds) {
  const auto first = get(Attribute::TimeStamp, kHost);
  rig_.run(std::chrono::microseconds(1024 * 1000));
  const auto second = get(Attribute::TimeStamp, kHost);
  const std::uint64_t passed = at(*second, kData, 4) - at(*first, kData, 4);
  EXPECT_NEAR(static_cast<double>(passed), 1'000'000.0 + 100 / 1.024, 1.0);
}

TEST_F(CongestionAgent, MayBeAbsentSilentOrDeaf) {
  rig_.fabric.set_congestion_support(3, CongestionSupport::None);
  EXPECT_EQ(status_of(*get(Attribute::ClassPortInfo, kHost)), 0x0cu);
  rig_.fabric.set_congestion_support(3, CongestionSupport::Silent);
  EXPECT_FALSE(get(Attribute::ClassPortInfo, kHost));
  rig_.fabric.set_congestion_support(3, CongestionSupport::Deaf);
  MadPacket set = mad(Method::Set, Attribute::CongestionControlTable, kHost);
  put(set, kData, 2, 5);
  const auto answer = ask(set);
  ASSERT_TRUE(answer);
  EXPECT_EQ(status_of(*answer), 0u);
  EXPECT_EQ(at(*answer, kData, 2), 5u) << "it says that it does";
  EXPECT_EQ(at(*get(Attribute::CongestionControlTable, kHost), kData, 2), 0u);
  rig_.fabric.set_node(3, false);
  rig_.fabric.set_node(3, true);
  EXPECT_EQ(rig_.fabric.node_state(3).options.congestion, CongestionSupport::Deaf);
}

TEST_F(CongestionAgent, ForgetsEverythingWithoutPower) {
  MadPacket set = mad(Method::Set, Attribute::CongestionControlTable, kHost);
  put(set, kData, 2, 5);
  ASSERT_TRUE(ask(set));
  ASSERT_NE(host_regs(), CongestionState{});
  rig_.fabric.set_node(3, false);
  rig_.fabric.set_node(3, true);
  EXPECT_EQ(host_regs(), CongestionState{});
}

TEST_F(CongestionAgent, TellsWhoFollowsTheFabricOfChangesAlone) {
  std::vector<std::uint32_t> told;
  rig_.fabric.on_change([&](std::uint32_t node, FabricChange what) {
    if (what == FabricChange::Congestion) told.push_back(node);
  });
  MadPacket set = mad(Method::Set, Attribute::CongestionControlTable, kHost);
  put(set, kData, 2, 5);
  ASSERT_TRUE(ask(set));
  put(set, 8, 8, ++transaction_);
  ASSERT_TRUE(ask(set));
  ASSERT_TRUE(get(Attribute::CongestionControlTable, kHost));
  EXPECT_THAT(told, testing::ElementsAre(3u));
}

/// Whatever bytes come, registers stay within what the node has, and only Gets and Sets are
/// answered.
TEST_F(CongestionAgent, HoldsNothingImpossibleWhateverItIsSent) {
  Rng rng(7);
  unsigned answered = 0;
  for (int i = 0; i < 3000; ++i) {
    const Lid to = rng.below(2) == 0 ? kSwitch : kHost;
    const auto attribute = static_cast<Attribute>(rng.below(0x20));
    const auto method = static_cast<Method>(rng.below(4) + 1);
    MadPacket packet =
        mad(method, attribute, to, static_cast<std::uint32_t>(rng.below(4)) << 8 * rng.below(4));
    for (std::size_t at = kData; at < kMadSize; ++at) {
      const auto byte = static_cast<unsigned>(rng.below(256));
      packet.mad[at] = static_cast<std::byte>(rng.below(3) == 0 ? byte : byte & 1);
    }
    // Keys of their own would end the talk.
    if (attribute == Attribute::CongestionKeyInfo) put(packet, kData, 8, 0);
    const bool request = method == Method::Get || method == Method::Set;
    const auto answer = ask(packet);
    if (request) {
      ASSERT_TRUE(answer) << i;
      answered += status_of(*answer) == 0 ? 1 : 0;
    }
    ASSERT_LT(host_regs().ccti_limit, 128) << i;
    ASSERT_LE(host_regs().table.size(), 128u) << i;
    ASSERT_LE(host_regs().ca_setting.port_control, 1) << i;
    for (const cc::CaEntry& entry : host_regs().ca_setting.entries) ASSERT_LT(entry.min, 128) << i;
    ASSERT_LE(switch_regs().port_settings.size(), 5u) << i;
    ASSERT_EQ(switch_regs().switch_setting.cs_threshold, 0) << i;
    ASSERT_TRUE(switch_regs().traps_to.trap_lid == kUnassignedLid ||
                is_unicast(switch_regs().traps_to.trap_lid))
        << i;
    ASSERT_EQ(switch_regs().ca_setting, cc::CaSetting{}) << i;
    ASSERT_EQ(host_regs().switch_setting, cc::SwitchSetting{}) << i;
  }
  EXPECT_GT(answered, 200u) << "or nothing was tried";
  EXPECT_NE(host_regs().table.size(), 0u);
}

}  // namespace congestion_agent_test
}  // namespace smd::sim::test
