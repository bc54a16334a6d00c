// Delivery times against sums worked out by hand.
//
// Preset "thesis": a byte takes 4 ns on 1x SDR. A packet of 256 bytes is 282 bytes long: 1,128 ns.
//   adapter: mapping 20 + link arbitration 40                                  =    60 ns
//   cable: propagation                                                         =   100 ns
//   switch: routing 40 + mapping 20 + crossbar arbitration 40
//           + crossbar set-up 2 + first byte 4 + link arbitration 40           =   146 ns
// Over n switches the first bit is in after 60 + 100 + n (146 + 100), the last 1,128 ns later.
#include <gmock/gmock.h>

#include "tests/unit/sim-packet/rig.h"

namespace smd::sim::test {
namespace {

TEST(PacketTiming, OneSwitch) {
  PacketRig rig(draw("H1-S1 H2-S1"), PacketOptions::thesis());
  Script script({{.at = 0, .source = 0, .what = rig.to(1, 256)}});
  rig.run(script);
  ASSERT_EQ(script.arrivals.size(), 1u);
  const Delivery& arrival = script.arrivals[0];
  EXPECT_EQ(arrival.injected, 60 * kNano);
  EXPECT_EQ(arrival.head, (60 + 100 + 146 + 100) * kNano);
  EXPECT_EQ(arrival.tail, (60 + 100 + 146 + 100 + 1128) * kNano);
  EXPECT_EQ(arrival.hops, 1);
}

TEST(PacketTiming, TwoSwitches) {
  PacketRig rig(draw("H1-S1 S1-S2 S2-H2"), PacketOptions::thesis());
  Script script({{.at = 5 * kNano, .source = 0, .what = rig.to(1, 256)}});
  rig.run(script);
  ASSERT_EQ(script.arrivals.size(), 1u);
  EXPECT_EQ(script.arrivals[0].head, (5 + 60 + 100 + 2 * 246) * kNano);
  EXPECT_EQ(script.arrivals[0].tail, (5 + 60 + 100 + 2 * 246 + 1128) * kNano);
}

TEST(PacketTiming, ThreeSwitches) {
  PacketRig rig(draw("H1-S1 S1-S2 S2-S3 S3-H2"), PacketOptions::thesis());
  Script script({{.at = 0, .source = 0, .what = rig.to(1, 64)}});
  rig.run(script);
  ASSERT_EQ(script.arrivals.size(), 1u);
  // 64 + 26 bytes.
  EXPECT_EQ(script.arrivals[0].tail, (60 + 100 + 3 * 246 + 90 * 4) * kNano);
  EXPECT_EQ(script.arrivals[0].hops, 3);
}

TEST(PacketTiming, CablesOfGroupsHaveTheirOwnLength) {
  PacketOptions options = PacketOptions::thesis();
  options.links.group_switches = 2;  // S1 and S2, S3 and S4
  options.links.within_groups = 30 * kNano;
  options.links.between_groups = 700 * kNano;
  PacketRig rig(draw("H1-S1 S1-S2 S2-S3 S3-S4 S4-H2"), options);
  Script script({{.at = 0, .source = 0, .what = rig.to(1, 64)}});
  rig.run(script);
  ASSERT_EQ(script.arrivals.size(), 1u);
  EXPECT_EQ(script.arrivals[0].head, (60 + 4 * 146 + 100 + 30 + 700 + 30 + 100) * kNano);
}

TEST(PacketTiming, PacketsFollowEachOther) {
  // Work on a packet overlaps the transfer of the one before; only the crossbar is busy while it is
  // set up.
  PacketRig rig(draw("H1-S1 S1-S2 S2-H2"), PacketOptions::thesis());
  std::vector<Script::Line> lines;
  for (int i = 0; i < 5; ++i) lines.push_back({.at = i, .source = 0, .what = rig.to(1, 256)});
  Script script(lines);
  rig.run(script);
  ASSERT_EQ(script.arrivals.size(), 5u);
  for (std::size_t i = 1; i < 5; ++i) {
    const Picos gap = script.arrivals[i].tail - script.arrivals[i - 1].tail;
    // Flow control packets of 6 bytes go the other way.
    EXPECT_EQ(gap, (2 + 1128) * kNano) << i;
  }
}

TEST(PacketTiming, TwoInputsShareAnOutput) {
  // H1 and H2 send to H3 at once: one crosses, the other crosses when the first is through, and
  // stands in the output buffer until the link is free: the link sends without a gap.
  PacketRig rig(draw("H1-S1 H2-S1 H3-S1"), PacketOptions::thesis());
  Script script({{.at = 0, .source = 0, .what = rig.to(2, 256)},
                 {.at = 0, .source = 1, .what = rig.to(2, 256)}});
  rig.run(script);
  ASSERT_EQ(script.arrivals.size(), 2u);
  EXPECT_EQ(script.arrivals[0].source, 0u);
  // One routing unit per switch: the second head waits 40 ns for it, but is not held up by that.
  EXPECT_EQ(script.arrivals[0].tail, (60 + 100 + 146 + 100 + 1128) * kNano);
  // The first crosses from 260 to 262 + 1,128 = 1,390, the second from there: its first byte is at
  // the link at 1,390 + 2 + 4 + 40 = 1,436, which has been free since 306 + 1,128 = 1,434.
  EXPECT_EQ(script.arrivals[1].head, (1436 + 100) * kNano);
  EXPECT_EQ(script.arrivals[1].tail, (1436 + 100 + 1128) * kNano);
}

TEST(PacketTiming, ASlowOutputIsFedAtItsOwnPace) {
  // H2 hangs on 1x, the rest is 4x: cut-through into a slower link.
  FabricSpec spec = draw("H1-S1", LinkWidth::X4);
  const std::uint32_t h2 = add_node(spec, NodeType::Ca, "H2", Guid{0x20200}, 1);
  connect(spec, 1, PortNum{2}, h2, PortNum{1}, LinkWidth::X1, LinkSpeed::Sdr);
  PacketRig rig(spec, PacketOptions::thesis());
  Script script({{.at = 0, .source = 0, .what = rig.to(1, 256)}});
  rig.run(script);
  // The crossbar is as fast as the fastest link: 1 ns per byte.
  EXPECT_EQ(script.arrivals.at(0).head, (60 + 100 + 100 + 2 + 1 + 40 + 100) * kNano);
  EXPECT_EQ(script.arrivals.at(0).tail, (60 + 100 + 100 + 2 + 1 + 40 + 100 + 1128) * kNano);
}

TEST(PacketTiming, AFastOutputWaitsForASlowInput) {
  // H1 hangs on 1x, H2 on 4x. The last byte is at the switch at 160 + 1,128 = 1,288 and across at
  // 1,290; the link, which takes 282 ns, starts so that it never runs dry.
  FabricSpec spec = draw("H1-S1", LinkWidth::X1);
  const std::uint32_t h2 = add_node(spec, NodeType::Ca, "H2", Guid{0x20200}, 1);
  connect(spec, 1, PortNum{2}, h2, PortNum{1}, LinkWidth::X4, LinkSpeed::Sdr);
  PacketRig rig(spec, PacketOptions::thesis());
  Script script({{.at = 0, .source = 0, .what = rig.to(1, 256)}});
  rig.run(script);
  EXPECT_EQ(script.arrivals.at(0).tail, (1290 + 100) * kNano);

  // The same without output buffers: across onto the link itself.
  PacketOptions bare = PacketOptions::thesis();
  bare.switches.output_buffers = false;
  bare.switches.one_routing_unit = false;
  PacketRig again(spec, bare);
  Script second({{.at = 0, .source = 0, .what = again.to(1, 256)}});
  again.run(second);
  EXPECT_EQ(second.arrivals.at(0).tail, (1288 + 100) * kNano);
}

TEST(PacketTiming, CyclesOfAFlitLevelSimulator) {
  // 16 flits of 64 bytes: 16 cycles; cables 1, routers 3 cycles. Over h routers 4 h + 17.
  for (const auto& [text, routers] : {std::pair{"H1-S1 H2-S1", 1},
                                      std::pair{"H1-S1 S1-S2 S2-H2", 2},
                                      std::pair{"H1-S1 S1-S2 S2-S3 S3-H2", 3}}) {
    PacketRig rig(draw(text), PacketOptions::cycles());
    Script script({{.at = 0, .source = 0, .what = rig.to(1, 1024)}});
    rig.run(script);
    EXPECT_EQ(script.arrivals.at(0).tail, (4 * routers + 17) * 1024) << routers;
  }
}

TEST(PacketTiming, LinksOfEverySpeed) {
  // Picoseconds of 4,122 bytes: bits * 1e6 / Mbit/s.
  EXPECT_EQ(transfer_time(byte_time_of(LinkWidth::X1, LinkSpeed::Sdr), 4122), 16'488'000);
  EXPECT_EQ(transfer_time(byte_time_of(LinkWidth::X4, LinkSpeed::Qdr), 4122), 1'030'500);
  // 14.0625 Gbaud at 64 of 66 bits: 13.636 Gbit/s per lane.
  EXPECT_EQ(transfer_time(byte_time_of(LinkWidth::X4, LinkSpeed::Fdr), 4122), 604'576);
  EXPECT_EQ(transfer_time(byte_time_of(LinkWidth::X4, LinkSpeed::Edr), 4122), 329'760);
  EXPECT_EQ(transfer_time(byte_time_of(LinkWidth::X4, LinkSpeed::Hdr), 4122), 164'880);
  EXPECT_EQ(transfer_time(byte_time_of(LinkWidth::X4, LinkSpeed::Ndr), 4122), 82'440);
  EXPECT_EQ(byte_time_of(LinkWidth::None, LinkSpeed::Edr), 0u);
}

}  // namespace
}  // namespace smd::sim::test
