#include "smd/mad/tables.h"

#include <gtest/gtest.h>

#include "smd/base/rng.h"

namespace smd {
namespace {

TEST(PortInfoModifier, HoldsThePortAndThatExtendedSpeedsAreKnown) {
  EXPECT_EQ(encode_modifier(PortInfoModifier{.port = PortNum{36}}), 36u);
  EXPECT_EQ(encode_modifier(PortInfoModifier{.port = PortNum{255}, .extended_speeds = true}),
            0x800000ffu);
  EXPECT_EQ(decode_port_info_modifier(0x80000003),
            (PortInfoModifier{.port = PortNum{3}, .extended_speeds = true}));
}

TEST(PortInfoModifier, TellsOnlyWhoAnnouncesExtendedSpeeds) {
  EXPECT_EQ(port_info_modifier(PortNum{3}, 0), 3u);
  EXPECT_EQ(port_info_modifier(PortNum{3}, 1u << 14), 0x80000003u);
  EXPECT_EQ(port_info_modifier(PortNum{3}, ~(1u << 14)), 3u);
}

TEST(SlToVlModifier, HoldsBothPortsAndTheWildcards) {
  EXPECT_EQ(encode_modifier(SlToVlModifier{.in = PortNum{3}, .out = PortNum{9}}), 0x0309u);
  EXPECT_EQ(encode_modifier(SlToVlModifier{.out = PortNum{9}, .all_in = true}), 0x20009u);
  EXPECT_EQ(encode_modifier(SlToVlModifier{.all_in = true, .all_out = true}), 0x30000u);
  EXPECT_EQ(decode_sl_to_vl_modifier(0x10700), (SlToVlModifier{.in = PortNum{7}, .all_out = true}));
}

TEST(VlArbModifier, HoldsThePartOfTheTableAndThePort) {
  EXPECT_EQ(encode_modifier(VlArbModifier{.part = VlArbPart::HighSecond, .port = PortNum{5}}),
            0x40005u);
  EXPECT_EQ(decode_vl_arb_modifier(0x20007),
            (VlArbModifier{.part = VlArbPart::LowSecond, .port = PortNum{7}}));
  EXPECT_EQ(decode_vl_arb_modifier(0xffff0000).part, static_cast<VlArbPart>(0xffff));
}

TEST(MftModifier, HoldsTheBlockAndThePosition) {
  EXPECT_EQ(encode_modifier(MftModifier{.block = 511, .position = 15}), 0xf00001ffu);
  EXPECT_EQ(encode_modifier(MftModifier{.block = 512, .position = 16}), 0u);
  EXPECT_EQ(decode_mft_modifier(0x20000003), (MftModifier{.block = 3, .position = 2}));
}

TEST(PKeyModifier, HoldsTheBlockAndThePortOfASwitch) {
  EXPECT_EQ(encode_modifier(PKeyModifier{.block = 2, .port = PortNum{17}}), 0x110002u);
  EXPECT_EQ(decode_p_key_modifier(0x110002), (PKeyModifier{.block = 2, .port = PortNum{17}}));
}

TEST(Modifiers, SurviveEncodingWhateverTheirBits) {
  Rng rng(8);
  for (int i = 0; i < 1000; ++i) {
    const auto bits = static_cast<std::uint32_t>(rng.next());
    EXPECT_EQ(encode_modifier(decode_port_info_modifier(bits)), bits & 0x800000ff);
    EXPECT_EQ(encode_modifier(decode_sl_to_vl_modifier(bits)), bits & 0x0003ffff);
    EXPECT_EQ(encode_modifier(decode_vl_arb_modifier(bits)), bits & 0xffff00ff);
    EXPECT_EQ(encode_modifier(decode_mft_modifier(bits)), bits & 0xf00001ff);
    EXPECT_EQ(encode_modifier(decode_p_key_modifier(bits)), bits & 0x00ffffff);
  }
}

}  // namespace
}  // namespace smd
