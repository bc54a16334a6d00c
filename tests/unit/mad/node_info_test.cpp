#include "smd/mad/node_info.h"

#include <gtest/gtest.h>

#include <string>

namespace smd {
namespace {

std::string round_trip(std::string_view text) {
  SmpData data;
  data.fill(std::byte{0xee});
  encode_node_description(text, data);
  return decode_node_description(data).value();
}

std::string xs(std::size_t count, const char* end = "") {
  std::string text(count, 'x');
  text.append(end);
  return text;
}

TEST(NodeDescription, ComesBackUnchangedUpTo64Bytes) {
  EXPECT_EQ(round_trip(""), "");
  EXPECT_EQ(round_trip("node01 HCA-1"), "node01 HCA-1");
  EXPECT_EQ(round_trip("with \"quotes\" and \xc3\xa9"), "with \"quotes\" and \xc3\xa9");
  EXPECT_EQ(round_trip(xs(64)), xs(64));
}

TEST(NodeDescription, IsCutAt64BytesWithoutTearingACharacter) {
  EXPECT_EQ(round_trip(xs(80)), xs(64));
  // Two, three and four bytes that would straddle the limit.
  EXPECT_EQ(round_trip(xs(63, "\xc3\xa9")), xs(63));
  EXPECT_EQ(round_trip(xs(62, "\xe2\x82\xac")), xs(62));
  EXPECT_EQ(round_trip(xs(61, "\xf0\x9f\x98\x80")), xs(61));
  // One that just fits.
  EXPECT_EQ(round_trip(xs(62, "\xc3\xa9!")), xs(62, "\xc3\xa9"));
}

TEST(NodeDescription, ThatIsNoUtf8IsCutAtTheLimit) {
  EXPECT_EQ(round_trip(std::string(80, '\x80')), std::string(64, '\x80'));
}

TEST(NodeDescription, EndsAtTheFirstNul) {
  EXPECT_EQ(round_trip(std::string("abc\0def", 7)), "abc");
  SmpData data{};
  data[0] = std::byte{'a'};
  data[2] = std::byte{'b'};
  EXPECT_EQ(decode_node_description(data).value(), "a");
}

TEST(NodeDescription, KeepsBytesThatAreNoText) {
  EXPECT_EQ(round_trip("\x01\x7f\xff"), "\x01\x7f\xff");
}

TEST(NodeDescription, IsShownWithoutAnythingThatCouldBreakALine) {
  EXPECT_EQ(print_node_description("node01 \xc3\xa9"), "node01 \xc3\xa9");
  EXPECT_EQ(print_node_description("a\nb\t\"c\"\\\x1b[0m\x7f"),
            "a\\x0ab\\x09\\x22c\\x22\\x5c\\x1b[0m\\x7f");
}

TEST(NodeDescription, NeedsAll64Bytes) {
  const SmpData data{};
  const auto short_one = decode_node_description(std::span(data).first(63));
  ASSERT_FALSE(short_one);
  EXPECT_EQ(short_one.error().context, "NodeDescription: only 63 bytes");
}

TEST(NodeInfo, PrintsWhatANodeIs) {
  const NodeInfo info{.node_type = 2,
                      .num_ports = 36,
                      .system_guid = Guid{0x100},
                      .node_guid = Guid{0x101},
                      .port_guid = Guid{0x101},
                      .partition_cap = 8,
                      .device_id = 0xcf08,
                      .revision = 160,
                      .local_port = PortNum{5},
                      .vendor_id = 0x2c9};
  EXPECT_TRUE(info.is_switch());
  EXPECT_EQ(print_node_info(info),
            "switch node 0x0000000000000101 port 0x0000000000000101 (local 5 of 36) system "
            "0x0000000000000100 device 0xcf08 vendor 0x0002c9 revision 160 pkeys 8");
}

}  // namespace
}  // namespace smd
