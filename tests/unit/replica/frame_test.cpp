// Frames: whole, in pieces, cut, changed, foreign.
#include "smd/replica/link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace smd::replica {
namespace {

using ::testing::HasSubstr;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

const Frame kHelloFrame{.kind = FrameKind::Hello,
                        .wall_ms = 1'700'000'000'123,
                        .body = encode_hello({.manager = Guid{0x2c903}, .state = SmState::Master})};
const Frame kPartFrame{.kind = FrameKind::Part,
                       .wall_ms = -1,
                       .body = encode_part({.name = "lids", .text = "0x1 1 0\n"})};

std::string fault_of(const std::string& text) {
  FrameReader reader;
  const auto fed = reader.feed(bytes_of(text), [](const Frame&) { return true; });
  return fed ? "" : fed.error().context;
}

TEST(Frame, ComesOutOfPiecesOfAnySize) {
  const std::string text = encode_frame(kHelloFrame) + encode_frame(kPartFrame) + encode_frame({});
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    FrameReader reader;
    std::vector<Frame> got;
    for (std::size_t at = 0; at < text.size(); at += piece) {
      ASSERT_TRUE(reader.feed(bytes_of(std::string_view(text).substr(at, piece)), [&](Frame frame) {
        got.push_back(std::move(frame));
        return true;
      }));
    }
    ASSERT_EQ(got, (std::vector<Frame>{kHelloFrame, kPartFrame, Frame{}})) << piece;
    EXPECT_EQ(reader.held(), 0u);
  }
}

TEST(Frame, IsLaidOutAsDocumented) {
  const std::string text = encode_frame({.kind = FrameKind::Part, .wall_ms = 258, .body = "a\nb"});
  EXPECT_EQ(text.substr(0, 8), std::string("SMDR\0\5\2\0", 8));
  EXPECT_EQ(text.substr(8, 8), std::string("\0\0\0\0\0\0\1\2", 8));
  EXPECT_EQ(text.substr(16, 4), std::string("\0\0\0\3", 4));
  EXPECT_EQ(text.substr(24), "a\nb");
}

TEST(Frame, WhatIsForeignIsNamedAtOnce) {
  EXPECT_THAT(fault_of("GET / HTTP/1.1\r\n"), HasSubstr("no manager speaks there"));
  EXPECT_THAT(fault_of("X"), HasSubstr("no manager speaks there"));
  EXPECT_EQ(fault_of("SM"), "") << "it may go on as it should";
  std::string text = encode_frame(kPartFrame);
  text[5] = 1;
  EXPECT_THAT(fault_of(text), HasSubstr("it speaks version 1, we speak 5"));
  text = encode_frame(kPartFrame);
  text[6] = 9;
  EXPECT_THAT(fault_of(text), HasSubstr("kind 9"));
  text = encode_frame(kPartFrame);
  text[16] = 5;
  EXPECT_THAT(fault_of(text.substr(0, kHeaderSize)), HasSubstr("are the most"))
      << "before it is waited for";
}

TEST(Frame, AChangedBodyIsNoticed) {
  const std::string whole = encode_frame(kPartFrame);
  for (std::size_t at = kHeaderSize - 4; at < whole.size(); ++at) {
    std::string text = whole;
    text[at] = static_cast<char>(text[at] ^ 0x10);
    EXPECT_THAT(fault_of(text), HasSubstr("checksum")) << at;
  }
}

TEST(Frame, NothingIsReadAfterTheReaderStops) {
  FrameReader reader;
  int seen = 0;
  ASSERT_TRUE(reader.feed(bytes_of(encode_frame(kHelloFrame) + encode_frame(kPartFrame)),
                          [&](const Frame&) { return ++seen < 1; }));
  EXPECT_EQ(seen, 1);
}

TEST(Frame, HellosAndPartsAreCheckedToo) {
  const Hello hello{
      .manager = Guid{7}, .state = SmState::Standby, .subnet_prefix = 0xfe80ull << 48};
  EXPECT_EQ(decode_hello(encode_hello(hello)).value(), hello);
  EXPECT_FALSE(decode_hello("short"));
  std::string strange = encode_hello(hello);
  strange[16] = 4;
  EXPECT_FALSE(decode_hello(strange)) << "no such state";
  const Part part{.name = "records", .text = "a\nb\n"};
  EXPECT_EQ(decode_part(encode_part(part)).value(), part);
  EXPECT_FALSE(decode_part("\ntext"));
  EXPECT_FALSE(decode_part("no line feed"));
  std::string long_name(60, 'x');
  long_name[50] = '\n';
  EXPECT_FALSE(decode_part(long_name));
}

}  // namespace
}  // namespace smd::replica
