// What the codes of a PortInfo mean.
#include "smd/mad/port_info.h"

#include <gtest/gtest.h>

#include <array>

namespace smd {
namespace {

struct SpeedRow {
  LinkSpeed speed;
  std::uint8_t active;
  std::uint8_t ext_active;
  std::uint8_t ext2_active;
};

class SpeedFields : public testing::TestWithParam<SpeedRow> {};

TEST_P(SpeedFields, GiveTheFastestSpeedInUse) {
  const SpeedRow& row = GetParam();
  const PortInfo info{.link_speed_active = row.active,
                      .link_speed_ext_active = row.ext_active,
                      .link_speed_ext2_active = row.ext2_active};
  EXPECT_EQ(active_speed(info), row.speed);
}

INSTANTIATE_TEST_SUITE_P(Codes,
                         SpeedFields,
                         testing::Values(SpeedRow{LinkSpeed::Sdr, 1, 0, 0},
                                         SpeedRow{LinkSpeed::Ddr, 2, 0, 0},
                                         SpeedRow{LinkSpeed::Qdr, 4, 0, 0},
                                         SpeedRow{LinkSpeed::Fdr, 4, 1, 0},
                                         SpeedRow{LinkSpeed::Edr, 4, 2, 0},
                                         SpeedRow{LinkSpeed::Hdr, 0, 4, 0},
                                         SpeedRow{LinkSpeed::Ndr, 0, 8, 0},
                                         SpeedRow{LinkSpeed::Xdr, 0, 0, 1},
                                         SpeedRow{LinkSpeed::Xdr, 4, 8, 1},
                                         SpeedRow{LinkSpeed::None, 0, 0, 0},
                                         SpeedRow{LinkSpeed::None, 3, 0, 0},
                                         SpeedRow{LinkSpeed::None, 4, 3, 0},
                                         SpeedRow{LinkSpeed::None, 4, 8, 2}));

TEST(ActiveSpeed, OfASwitchPortNeedsNoCapabilityMask) {
  // Only port 0 of a switch has a capability mask.
  EXPECT_EQ(active_speed(PortInfo{.capability_mask = 0, .link_speed_ext_active = 8}),
            LinkSpeed::Ndr);
}

TEST(ActiveWidth, KnowsOneToTwelveLanesAndNothingElse) {
  const auto width = [](std::uint8_t code) {
    return active_width(PortInfo{.link_width_active = code});
  };
  EXPECT_EQ(width(1), LinkWidth::X1);
  EXPECT_EQ(width(2), LinkWidth::X4);
  EXPECT_EQ(width(4), LinkWidth::X8);
  EXPECT_EQ(width(8), LinkWidth::X12);
  EXPECT_EQ(width(16), LinkWidth::X2);
  for (const int code : {0, 3, 5, 7, 15, 17, 32, 255}) {
    EXPECT_EQ(width(static_cast<std::uint8_t>(code)), LinkWidth::None) << code;
  }
}

TEST(SetActiveSpeed, IsReadBackAndLeavesNoOlderSpeedBehind) {
  PortInfo info;
  for (const LinkSpeed speed : {LinkSpeed::Xdr,
                                LinkSpeed::Ndr,
                                LinkSpeed::Hdr,
                                LinkSpeed::Edr,
                                LinkSpeed::Fdr,
                                LinkSpeed::Qdr,
                                LinkSpeed::Ddr,
                                LinkSpeed::Sdr,
                                LinkSpeed::None}) {
    set_active_speed(info, speed);
    EXPECT_EQ(active_speed(info), speed);
  }
  set_active_speed(info, LinkSpeed::Fdr10);
  EXPECT_EQ(active_speed(info), LinkSpeed::Qdr);
}

TEST(SetOfferedSpeeds, OffersEverySpeedUpToTheFastest) {
  PortInfo info;
  set_offered_speeds(info, LinkSpeed::Edr);
  EXPECT_EQ(info.link_speed_supported, 7);
  EXPECT_EQ(info.link_speed_ext_supported, 3);
  EXPECT_EQ(info.link_speed_ext2_supported, 0);
  EXPECT_EQ(info.link_speed_ext_enabled, 3);
  EXPECT_EQ(info.capability_mask, port_cap::kIsExtendedSpeedsSupported);
  EXPECT_EQ(info.capability_mask2, 0);

  set_offered_speeds(info, LinkSpeed::Xdr);
  EXPECT_EQ(info.link_speed_ext_supported, 15);
  EXPECT_EQ(info.link_speed_ext2_supported, 1);
  EXPECT_EQ(info.capability_mask2, 0x1c20);  // HDR, NDR, extended speeds 2, XDR
  EXPECT_NE(info.capability_mask & port_cap::kIsCapabilityMask2Supported, 0u);

  set_offered_speeds(info, LinkSpeed::Qdr);
  EXPECT_EQ(info.link_speed_supported, 7);
  EXPECT_EQ(info.link_speed_ext_supported, 0);
  EXPECT_EQ(info.capability_mask & port_cap::kIsExtendedSpeedsSupported, 0u);
  EXPECT_EQ(info.capability_mask2, 0);
}

TEST(DataVls, FollowTheTableOfTheSpecification) {
  EXPECT_EQ(data_vls(0), 0u);
  EXPECT_EQ(data_vls(1), 1u);
  EXPECT_EQ(data_vls(2), 2u);
  EXPECT_EQ(data_vls(3), 4u);
  EXPECT_EQ(data_vls(4), 8u);
  EXPECT_EQ(data_vls(5), 15u);
  EXPECT_EQ(data_vls(6), 0u);
  EXPECT_EQ(data_vls(15), 0u);
}

// An active 4x HDR port of an adapter, LID 12, as its agent would answer. Every byte by hand.
TEST(PortInfo, DecodesAnHdrAdapterPort) {
  constexpr std::array<unsigned, 64> kBytes = {
      0,    0,    0,    0,    0, 0, 0, 0,  // M_Key
      0xfe, 0x80, 0,    0,    0, 0, 0, 0,  // GidPrefix
      0x00, 0x0c, 0x00, 0x01,              // LID, MasterSMLID
      0xa7, 0x51, 0xe8, 0x48,              // CapabilityMask
      0,    0,    0,    0,                 // DiagCode, lease
      0x01, 0x1f, 0x1f, 0x02,              // LocalPort; widths enabled, supported, active
      0x74,                                // speeds SDR-QDR supported; Active
      0x52,                                // LinkUp; default Polling
      0x80,                                // protect 2, LMC 0
      0x47,                                // QDR active, SDR-QDR enabled
      0x50,                                // NeighborMTU 4096, SMSL 0
      0x40, 0x04, 0x08, 0x08,              // VLCap 8; limits
      0x05,                                // MTUCap 4096
      0xf2,                                // stall 7, HOQ 18
      0x30,                                // 4 operational VLs
      0,    0,    0,    0,    0, 0,        // violations
      0x20, 0x12, 0x11,                    // GUIDCap 32; SubnetTimeout 18; RespTime 17
      0x88,                                // LocalPhyErrors 8, Overrun 8
      0,    0,                             // MaxCreditHint
      0,    0,    0,    0x19,              // round trip 25
      0x00, 0x20,                          // CapabilityMask2: HDR
      0x47, 0x07};                         // HDR active; FDR, EDR, HDR
  SmpData data{};
  std::size_t at = 0;
  for (const unsigned b : kBytes) data[at++] = static_cast<std::byte>(b);

  const PortInfo info = decode_port_info(data).value();
  EXPECT_EQ(info.gid_prefix, kDefaultSubnetPrefix);
  EXPECT_EQ(info.lid, Lid{12});
  EXPECT_EQ(info.master_sm_lid, Lid{1});
  EXPECT_EQ(info.state(), PortState::Active);
  EXPECT_EQ(active_width(info), LinkWidth::X4);
  EXPECT_EQ(active_speed(info), LinkSpeed::Hdr);
  EXPECT_EQ(info.m_key_protect_bits, 2);
  EXPECT_EQ(data_vls(info.vl_cap), 8u);
  EXPECT_EQ(data_vls(info.operational_vls), 4u);
  EXPECT_EQ(info.vl_stall_count, 7);
  EXPECT_EQ(info.hoq_life, 18);
  EXPECT_EQ(info.link_round_trip_latency, 25u);
  EXPECT_EQ(info.capability_mask2, port_cap2::kIsLinkSpeedHdrSupported);
  EXPECT_EQ(print_port_info(info),
            "port 1 lid 12 lmc 0 sm lid 1 sl 0 Active/LinkUp 4x HDR mtu 4096 of 4096 vls 4 of 8 "
            "cap 0xa751e848 cap2 0x0020 mkey 0x0000000000000000 protect 2 lease 0 violations m 0 "
            "p 0 q 0 timeout 18 resp 17 hoq 18 stall 7");

  SmpData back;
  encode_port_info(info, back);
  EXPECT_EQ(back, data);
}

// Byte 56: reserved 1, active 2, supported 2, enabled 3.
TEST(PortInfo, CarriesXdrInTheByteBeforeTheRoundTripLatency) {
  SmpData data;
  encode_port_info(PortInfo{.link_round_trip_latency = 0xabcdef,
                            .link_speed_ext2_active = 1,
                            .link_speed_ext2_supported = 3,
                            .link_speed_ext2_enabled = 5},
                   data);
  EXPECT_EQ(data[56], std::byte{0x3d});
  EXPECT_EQ(data[57], std::byte{0xab});
  EXPECT_EQ(data[59], std::byte{0xef});
}

}  // namespace
}  // namespace smd
