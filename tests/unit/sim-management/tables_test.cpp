// Every table reads back what was written, refuses what does not exist, and says what it does not
// know.
#include <gtest/gtest.h>

#include "smd/mad/port_info.h"
#include "smd/mad/tables.h"
#include "tests/unit/sim-management/examples.h"

namespace smd::sim::test {
namespace tables_test {

constexpr unsigned kBadField = 0x1c;
constexpr unsigned kBadMethod = 0x08;
constexpr unsigned kBadMethodAttribute = 0x0c;

class Tables : public ::testing::Test {
 protected:
  unsigned status(Hops path, Method method, AttributeId attribute, std::uint32_t modifier = 0) {
    const auto answer = rig_.ask(along(path, request(method, attribute, modifier)));
    return answer.has_value() ? answer->status : 0xffffu;
  }

  /// Writes the block, then reads it.
  SmpData round_trip(Hops path, AttributeId attribute, std::uint32_t modifier, SmpData data) {
    Smp set = along(path, request(Method::Set, attribute, modifier));
    set.data = data;
    const auto written = rig_.ask(set);
    EXPECT_TRUE(written.has_value() && written->status == 0);
    const auto read = rig_.ask(get(path, attribute, modifier));
    EXPECT_TRUE(read.has_value() && read->status == 0);
    return read.has_value() ? read->data : SmpData{};
  }

  Rig rig_{line()};
};

TEST_F(Tables, LinearForwardingBlocks) {
  LftBlock block;
  for (unsigned i = 0; i < block.size(); ++i) block[i] = port_num(i % 5);
  SmpData data{};
  encode_lft_block(block, data);
  EXPECT_EQ(round_trip({1}, AttributeId::LinearForwardingTable, 200, data), data);
  const auto empty = rig_.ask(get({1}, AttributeId::LinearForwardingTable, 199));
  EXPECT_EQ(decode_lft_block(empty->data).value()[0], kNoRoute);
  // 49,152 LIDs are 768 blocks.
  EXPECT_EQ(status({1}, Method::Get, AttributeId::LinearForwardingTable, 767), 0u);
  EXPECT_EQ(status({1}, Method::Get, AttributeId::LinearForwardingTable, 768), kBadField);
  EXPECT_EQ(status({}, Method::Get, AttributeId::LinearForwardingTable), kBadMethodAttribute);
  EXPECT_EQ(status({1}, Method::Get, AttributeId::RandomForwardingTable), kBadMethodAttribute);
}

TEST_F(Tables, EntriesBeyondTheTopDoNotRoute) {
  rig_.set_routes({1}, {{1, 1}, {40, 2}});
  EXPECT_EQ(rig_.fabric.lft(1, Lid{40}), PortNum{2});
  Smp set = along({1}, request(Method::Set, AttributeId::SwitchInfo));
  encode_switch_info({.linear_fdb_top = 39}, set.data);
  ASSERT_TRUE(rig_.ask(set).has_value());
  EXPECT_EQ(rig_.fabric.lft(1, Lid{40}), kNoRoute);
  EXPECT_EQ(rig_.fabric.lft(1, Lid{1}), PortNum{1});
  encode_switch_info({.linear_fdb_top = 49152}, set.data);
  EXPECT_EQ(rig_.ask(set)->status, kBadField);
  EXPECT_EQ(rig_.fabric.switch_info(1).linear_fdb_top, 39);
}

TEST(MulticastTop, IsWithinTheTableAndAChangeOfRoutes) {
  Rig rig(line(), Timing::none(), 1, {.mft_cap = 96, .multicast_fdb_top = true});
  EXPECT_NE(
      rig.fabric.port_info(1, PortNum{0}).capability_mask & port_cap::kIsMulticastFdbTopSupported,
      0u);
  EXPECT_EQ(rig.fabric.port_info(1, PortNum{1}).capability_mask, 0u);
  EXPECT_EQ(
      rig.fabric.port_info(0, PortNum{1}).capability_mask & port_cap::kIsMulticastFdbTopSupported,
      0u);
  EXPECT_EQ(rig.fabric.switch_info(1).multicast_fdb_top, 0xBFFF);
  unsigned told = 0;
  rig.fabric.on_change(
      [&](std::uint32_t, FabricChange what) { told += what == FabricChange::Routes; });
  const auto set = [&](std::uint16_t top) {
    Smp smp = along({1}, request(Method::Set, AttributeId::SwitchInfo));
    encode_switch_info({.multicast_fdb_top = top}, smp.data);
    return rig.ask(smp)->status;
  };
  EXPECT_EQ(set(0xC05F), 0u);
  EXPECT_EQ(rig.fabric.switch_info(1).multicast_fdb_top, 0xC05F);
  EXPECT_EQ(told, 1u);
  for (const unsigned wrong : {0u, 0xBFFEu, 0xC060u, 0xFFFFu})
    EXPECT_EQ(set(static_cast<std::uint16_t>(wrong)), kBadField) << wrong;
  EXPECT_EQ(rig.fabric.switch_info(1).multicast_fdb_top, 0xC05F);
  EXPECT_EQ(told, 1u);
  EXPECT_EQ(set(0xBFFF), 0u);
  EXPECT_EQ(told, 2u);
}

TEST_F(Tables, MulticastForwardingBlocks) {
  MftBlock block{};
  block[3] = 0x16;
  SmpData data{};
  encode_mft_block(block, data);
  EXPECT_EQ(round_trip({1}, AttributeId::MulticastForwardingTable, 5, data), data);
  // Position 1 stands for ports 16-31, which a 4-port switch does not have.
  EXPECT_EQ(status({1}, Method::Get, AttributeId::MulticastForwardingTable, 1u << 28), kBadField);
  EXPECT_EQ(status({1}, Method::Get, AttributeId::MulticastForwardingTable, 32), kBadField);
}

TEST_F(Tables, PartitionKeysOfAdaptersAndSwitchPorts) {
  PKeyBlock block{};
  block[0] = kDefaultPKey;
  block[31] = PKey{0x8001};
  SmpData data{};
  encode_p_key_block(block, data);
  EXPECT_EQ(round_trip({1, 2, 3}, AttributeId::PKeyTable, 3, data), data);
  EXPECT_EQ(round_trip({1}, AttributeId::PKeyTable, 2u << 16, data), data);
  const auto other = rig_.ask(get({1}, AttributeId::PKeyTable, 3u << 16));
  EXPECT_EQ(decode_p_key_block(other->data).value()[31], PKey{});
  EXPECT_EQ(decode_p_key_block(other->data).value()[0], kDefaultPKey) << "the power-on key";
  EXPECT_EQ(status({1, 2, 3}, Method::Get, AttributeId::PKeyTable, 4), kBadField);
  EXPECT_EQ(status({1}, Method::Get, AttributeId::PKeyTable, 2u << 16 | 1), kBadField);
  EXPECT_EQ(status({1}, Method::Get, AttributeId::PKeyTable, 5u << 16), kBadField);
}

TEST_F(Tables, SlToVlPerPairOfPorts) {
  SlToVl map;
  map.fill(Vl{15});
  SmpData data{};
  encode_sl_to_vl(map, data);
  EXPECT_EQ(round_trip({1}, AttributeId::SlToVlMappingTable, 1u << 8 | 2, data), data);
  EXPECT_EQ(rig_.fabric.sl_to_vl(1, PortNum{1}, PortNum{2}), map);
  EXPECT_EQ(rig_.fabric.sl_to_vl(1, PortNum{2}, PortNum{1})[9], Vl{1}) << "SL modulo 8 VLs";
  EXPECT_EQ(round_trip({}, AttributeId::SlToVlMappingTable, 0, data), data);
  EXPECT_EQ(status({1}, Method::Get, AttributeId::SlToVlMappingTable, 5), kBadField);
  EXPECT_EQ(status({1}, Method::Set, AttributeId::SlToVlMappingTable, 1u << 17 | 2), kBadField)
      << "wildcards are not offered";
}

TEST_F(Tables, VlArbitrationParts) {
  VlArbBlock block{};
  for (unsigned i = 0; i < 8; ++i) block[i] = {Vl{static_cast<std::uint8_t>(i)}, 64};
  SmpData data{};
  encode_vl_arb_block(block, data);
  EXPECT_EQ(round_trip({1}, AttributeId::VlArbitrationTable, 1u << 16 | 2, data), data);
  EXPECT_EQ(round_trip({}, AttributeId::VlArbitrationTable, 3u << 16, data), data);
  // Eight entries each, so no second half; and there is no part 0 or 5.
  for (const unsigned part : {0u, 2u, 4u, 5u}) {
    EXPECT_EQ(status({1}, Method::Get, AttributeId::VlArbitrationTable, part << 16 | 2), kBadField);
  }
  EXPECT_EQ(status({1}, Method::Get, AttributeId::VlArbitrationTable, 1u << 16 | 5), kBadField);
}

TEST_F(Tables, GuidsKeepTheirFirst) {
  GuidBlock block{};
  block[0] = Guid{1};
  block[1] = Guid{2};
  SmpData data{};
  encode_guid_block(block, data);
  const GuidBlock read =
      decode_guid_block(round_trip({1, 2, 3}, AttributeId::GuidInfo, 0, data)).value();
  EXPECT_EQ(read[0], Guid{0x401}) << "burnt in";
  EXPECT_EQ(read[1], Guid{2});
  EXPECT_EQ(status({1, 2, 3}, Method::Get, AttributeId::GuidInfo, 1), kBadField);
}

TEST_F(Tables, StatusesOfWhatCannotBe) {
  EXPECT_EQ(status({}, Method::Set, AttributeId::NodeInfo), kBadMethodAttribute);
  EXPECT_EQ(status({}, Method::Set, AttributeId::NodeDescription), kBadMethodAttribute);
  EXPECT_EQ(status({}, Method::Get, AttributeId::SwitchInfo), kBadMethodAttribute);
  EXPECT_EQ(status({}, Method::Get, static_cast<AttributeId>(0x1234)), kBadMethodAttribute);
  EXPECT_EQ(status({}, static_cast<Method>(0x12), AttributeId::NodeInfo), kBadMethod);
  EXPECT_EQ(status({1}, Method::Get, AttributeId::PortInfo, 5), kBadField);
  EXPECT_EQ(status({1}, Method::Get, AttributeId::PortInfo, 1u << 16), kBadField);
  EXPECT_EQ(status({1}, Method::Get, AttributeId::SmInfo), kBadMethodAttribute)
      << "no manager there";
}

TEST_F(Tables, AnOlderClassVersionIsAnsweredSo) {
  MadPacket packet;
  encode_smp(get({}, AttributeId::NodeInfo), packet.mad);
  packet.mad[2] = std::byte{2};
  rig_.fabric.inject(rig_.client, packet);
  rig_.run();
  ASSERT_EQ(rig_.arrivals.size(), 1u);
  EXPECT_EQ(std::to_integer<int>(rig_.arrivals[0].packet.mad[5]), 0x04);
}

TEST_F(Tables, GarbageIsCountedAndDropped) {
  MadPacket packet;
  packet.mad.fill(std::byte{0xa5});
  rig_.fabric.inject(rig_.client, packet);
  packet.mad[1] = std::byte{0x01};
  packet.mad[3] = std::byte{0x01};
  rig_.fabric.inject(rig_.client, packet);
  rig_.run();
  EXPECT_TRUE(rig_.arrivals.empty());
  EXPECT_GE(rig_.fabric.stats().dropped_malformed, 1u);
}

TEST(OptimizedSlToVl, WritesRowsColumnsAndAll) {
  Rig rig(line(), Timing::none(), 1, {.optimized_sl_to_vl = 1});
  const auto write = [&](SlToVlModifier modifier, unsigned vl) {
    SlToVl map;
    map.fill(Vl{static_cast<std::uint8_t>(vl)});
    Smp set = along(
        {1}, request(Method::Set, AttributeId::SlToVlMappingTable, encode_modifier(modifier)));
    encode_sl_to_vl(map, set.data);
    const auto answer = rig.ask(set);
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->status, 0);
  };
  const auto vl = [&](unsigned in, unsigned out) {
    return rig.fabric.sl_to_vl(1, port_num(in), port_num(out))[0].value();
  };
  write({.all_in = true, .all_out = true}, 3);
  write({.out = PortNum{2}, .all_in = true}, 4);
  write({.in = PortNum{1}, .all_out = true}, 5);
  EXPECT_EQ(vl(3, 4), 3);
  EXPECT_EQ(vl(3, 2), 4);
  EXPECT_EQ(vl(1, 2), 5);
  EXPECT_EQ(vl(1, 4), 5);
  EXPECT_EQ(vl(2, 1), 3);
}

TEST(RandomForwarding, MatchesEntriesThenTheDefaultPort) {
  Rig rig(line(), Timing::none(), 1, {.rft_cap = 1024});
  EXPECT_EQ(rig.fabric.switch_info(1).random_fdb_cap, 1024);
  EXPECT_EQ(rig.fabric.switch_info(1).linear_fdb_cap, 0);
  rig.set_lid({}, 1, 1);
  rig.set_lid({1, 2, 3}, 1, 8);
  const auto write = [&](Hops path, RftEntry entry, unsigned default_port) {
    RftBlock block{};
    block[5] = entry;
    Smp set = along(path, request(Method::Set, AttributeId::RandomForwardingTable, 2));
    encode_rft_block(block, set.data);
    ASSERT_TRUE(rig.ask(set).has_value());
    const auto read = rig.ask(get(path, AttributeId::RandomForwardingTable, 2));
    EXPECT_EQ(decode_rft_block(read->data).value(), block);
    Smp info = along(path, request(Method::Set, AttributeId::SwitchInfo));
    encode_switch_info({.default_port = port_num(default_port)}, info.data);
    EXPECT_EQ(rig.ask(info)->status, 0);
  };
  EXPECT_EQ(rig.fabric.lft(1, Lid{8}), kNoRoute) << "no default port after power-on";
  write({1}, {Lid{8}, true, 1, PortNum{2}}, 1);
  write({1, 2}, {Lid{1}, true, 0, PortNum{1}}, 3);
  EXPECT_EQ(rig.fabric.lft(1, Lid{8}), PortNum{2});
  EXPECT_EQ(rig.fabric.lft(1, Lid{9}), PortNum{2}) << "LMC 1 covers two LIDs";
  EXPECT_EQ(rig.fabric.lft(1, Lid{10}), PortNum{1}) << "default";
  const auto answer = rig.ask(request(Method::Get, AttributeId::NodeDescription), Lid{8});
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(decode_node_description(answer->data).value(), "h3");
  EXPECT_FALSE(rig.ask(get({1}, AttributeId::LinearForwardingTable))->status == 0);
}

TEST(ExtendedPortInfo, TellsFdr10FromQdrOnMellanoxOnly) {
  FabricSpec spec = line(LinkWidth::X4, LinkSpeed::Fdr10);
  spec.nodes[3].vendor_id = 0x1234;
  Rig rig(spec);
  const auto fdr10 = rig.ask(get({1}, AttributeId::ExtendedPortInfo, 2));
  ASSERT_TRUE(fdr10.has_value());
  EXPECT_EQ(fdr10->status, 0);
  EXPECT_EQ(decode_extended_port_info(fdr10->data).value().link_speed_active, 1);
  EXPECT_EQ(rig.ask(get({1, 2, 3}, AttributeId::ExtendedPortInfo, 1))->status, kBadMethodAttribute);
}

}  // namespace tables_test
}  // namespace smd::sim::test
