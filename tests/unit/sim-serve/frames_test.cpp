// The byte layouts are those that strace shows between libumad2sim 0.10 and ibsim 0.10 on x86-64.
#include "sim-backend/serve/frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace smd::sim {
namespace {

template <std::size_t N>
std::array<std::byte, N> bytes_of(std::initializer_list<unsigned> values) {
  std::array<std::byte, N> out{};
  std::size_t at = 0;
  for (const unsigned v : values) out[at++] = static_cast<std::byte>(v);
  return out;
}

// Connect from process 6569 to "H-0001".
const auto kConnect = bytes_of<kControlSize>({0xef, 0xbe, 0xad, 0xde, 0,    0,   0,   0,    //
                                              0x01, 0,    0,    0,    0x2c, 0,   0,   0,    //
                                              0xa9, 0x19, 0,    0,    0,    0,   0,   0,    //
                                              0,    0,    0,    0,    'H',  '-', '0', '0',  //
                                              '0',  '1'});

TEST(ControlFrame, ReadsWhatLibumad2simSends) {
  const auto frame = decode_control(kConnect);
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->client, 0u);
  EXPECT_EQ(frame->type, static_cast<std::uint32_t>(ControlType::Connect));
  EXPECT_EQ(frame->length, 44u);
  EXPECT_EQ(decode_connect(frame->data),
            (ConnectData{.id = 6569, .qp = 0, .is_sm = false, .node = "H-0001"}));
}

TEST(ControlFrame, WritesWhatItReads) {
  std::array<std::byte, kControlSize> again;
  encode_control(*decode_control(kConnect), again);
  EXPECT_EQ(again, kConnect);
}

TEST(ControlFrame, RefusesOtherSizesAndMagicNumbers) {
  EXPECT_FALSE(decode_control(std::span(kConnect).first(79)));
  EXPECT_FALSE(decode_control({}));
  std::array<std::byte, kControlSize + 1> longer{};
  std::copy(kConnect.begin(), kConnect.end(), longer.begin());
  EXPECT_FALSE(decode_control(longer));
  auto wrong = kConnect;
  wrong[0] = std::byte{0xee};
  const auto refused = decode_control(wrong);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().context, testing::HasSubstr("0xdeadbeef"));
}

TEST(ControlFrame, NodeNamesEndAt31Bytes) {
  ControlData data{};
  std::memset(data.data() + 12, 'x', data.size() - 12);
  EXPECT_EQ(decode_connect(data).node, std::string(31, 'x'));
  EXPECT_EQ(decode_connect(encode_connect({.node = std::string(50, 'y')})).node,
            std::string(31, 'y'));
}

TEST(ControlFrame, VendorHasItsFirmwareAfterAHole) {
  EXPECT_EQ(encode_vendor(0x2c9, 0x1013, 0xa1),
            bytes_of<kControlDataSize>({0xc9,
                                        2,
                                        0,
                                        0,
                                        0x13,
                                        0x10,
                                        0,
                                        0,
                                        0xa1,
                                        0,
                                        0,
                                        0,  //
                                        0,
                                        0,
                                        0,
                                        0,
                                        1}));
}

TEST(PacketFrame, LidsAndQueuePairsAreInNetworkOrder) {
  auto bytes = bytes_of<kPacketSize>({0x01, 0x02, 0, 0,   0x03, 0x04, 0, 0,  //
                                      0,    0,    0, 1,   0,    0,    0, 2,  //
                                      0,    0,    0, 110, 0,    0,    0, 0,  //
                                      0,    0,    0, 0,   0,    0,    1, 0});
  bytes[32] = std::byte{1};
  const auto frame = decode_packet(bytes);
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->dlid, Lid{0x0102});
  EXPECT_EQ(frame->slid, Lid{0x0304});
  EXPECT_EQ(frame->dqp, 1u);
  EXPECT_EQ(frame->sqp, 2u);
  EXPECT_EQ(frame->status, kStatusTimedOut);
  EXPECT_EQ(frame->length, 256u);
  EXPECT_EQ(frame->mad[0], std::byte{1});
  std::array<std::byte, kPacketSize> again;
  encode_packet(*frame, again);
  EXPECT_EQ(again, bytes);
}

TEST(PacketFrame, RefusesOtherSizesAndLengths) {
  std::array<std::byte, kPacketSize> bytes{};
  EXPECT_TRUE(decode_packet(bytes));
  EXPECT_FALSE(decode_packet(std::span(bytes).first(kPacketSize - 1)));
  EXPECT_FALSE(decode_packet({}));
  bytes[30] = std::byte{1};
  bytes[31] = std::byte{1};  // 257
  EXPECT_FALSE(decode_packet(bytes));
  bytes[24] = std::byte{0xff};
  EXPECT_FALSE(decode_packet(bytes));
}

}  // namespace
}  // namespace smd::sim
