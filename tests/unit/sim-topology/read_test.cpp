// Files as people and tools write them.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "sim-backend/topology/network.h"
#include "tests/support/files.h"
#include "tests/unit/sim-topology/graph.h"

namespace smd::sim::testing {
namespace {

FabricSpec read(std::string_view text) {
  auto spec = parse_fabric(text, "test.net");
  if (!spec) {
    for (const Fault& fault : spec.error()) ADD_FAILURE() << print_fault(fault);
    return {};
  }
  EXPECT_EQ(check_spec(*spec), "");
  return *spec;
}

const PortSpec& port(const FabricSpec& spec, const std::string& node, std::size_t p) {
  return spec.nodes[node_named(spec, node)].ports[p];
}

// As in the examples that come with ibsim.
constexpr std::string_view kHandWritten = R"(# two switches
Switch	8 "Switch1"
[1]	"Hca1"[1]
[2]	"Hca2"[2]
[3]	"Switch2"[3]
[4]	"Switch2"[4]

Switch 8 "Switch2"
[3]	"Switch1"[3]
[4]	"Switch1"[4]

Hca	2 "Hca1"
[1]	"Switch1"[1]

Hca	2 "Hca2"
[2]	"Switch1"[2]
)";

TEST(Ibsim, HandWrittenNet) {
  const FabricSpec spec = read(kHandWritten);
  ASSERT_EQ(spec.nodes.size(), 4u);
  EXPECT_EQ(spec.title, "test.net");
  EXPECT_EQ(spec.nodes[0].type, NodeType::Switch);
  EXPECT_EQ(spec.nodes[0].num_ports(), 8u);
  EXPECT_EQ(spec.nodes[0].description, "Switch1");
  EXPECT_EQ(spec.nodes[3].type, NodeType::Ca);
  EXPECT_EQ(port(spec, "Hca2", 2).peer_node, 0u);
  EXPECT_EQ(port(spec, "Hca2", 1).peer_node, kNoNode);
  EXPECT_EQ(port(spec, "Switch1", 4).peer_port.value(), 4);
  // The first port of the file is where the manager sits; GUIDs are those that ibsim gives out.
  EXPECT_EQ(spec.sm_node, 0u);
  EXPECT_EQ(spec.sm_port.value(), 0);
  EXPECT_EQ(spec.nodes[0].guid, Guid{0x200000});
  EXPECT_EQ(spec.nodes[1].guid, Guid{0x200001});
  EXPECT_EQ(spec.nodes[2].guid, Guid{0x100000});
  EXPECT_EQ(spec.nodes[3].guid, Guid{0x100003});
  EXPECT_EQ(port(spec, "Hca2", 2).guid, Guid{0x100005});
}

TEST(Ibsim, CarriageReturnsAndAByteOrderMark) {
  std::string text = "\xef\xbb\xbf";
  for (const char c : kHandWritten) text += c == '\n' ? "\r\n" : std::string(1, c);
  EXPECT_EQ(read(text).nodes, read(kHandWritten).nodes);
}

TEST(Ibsim, NoNewlineAtTheEnd) {
  EXPECT_EQ(read("Switch 2 \"s\"\n[1] \"h\"[1]\n\nCa 1 \"h\"\n[1] \"s\"[1]").nodes.size(), 2u);
}

TEST(Ibsim, WidthAndSpeedAreMasksAndTheBestInCommonCounts) {
  const FabricSpec spec = read(R"(
Switch 6 "s"
[1] "a"[1] w=15 s=7
[2] "b"[1] w=1
[3] "c"[1] s=2
[4] "d"[1]
[5] "e"[1] s=7 e=15 w=31
Ca 1 "a"
[1] "s"[1] w=3 s=6
Ca 1 "b"
[1] "s"[2] w=3
Ca 1 "c"
[1] "s"[3] s=3
Ca 1 "d"
[1] "s"[4]
Ca 1 "e"
[1] "s"[5] e=6 w=16
)");
  EXPECT_EQ(port(spec, "a", 1).width, LinkWidth::X4);
  EXPECT_EQ(port(spec, "a", 1).speed, LinkSpeed::Qdr);
  EXPECT_EQ(port(spec, "b", 1).width, LinkWidth::X1);
  EXPECT_EQ(port(spec, "c", 1).speed, LinkSpeed::Ddr);
  EXPECT_EQ(port(spec, "d", 1).speed, LinkSpeed::Edr);
  EXPECT_EQ(port(spec, "s", 1).speed, LinkSpeed::Qdr);
  EXPECT_EQ(port(spec, "e", 1).speed, LinkSpeed::Hdr);
  EXPECT_EQ(port(spec, "e", 1).width, LinkWidth::X2);
}

TEST(Ibsim, WidthAndSpeedOfAWholeFile) {
  const FabricSpec spec =
      read("width=8\nspeed=4\nSwitch 1 \"s\"\n[1] \"h\"[1]\n\nHca 1 \"h\"\n[1] \"s\"[1]\n");
  EXPECT_EQ(port(spec, "h", 1).width, LinkWidth::X12);
  EXPECT_EQ(port(spec, "h", 1).speed, LinkSpeed::Qdr);
}

TEST(Ibsim, GuidsAbsoluteAndRelative) {
  const FabricSpec spec = read(R"(
switchguid=0x1000
hcaguids=0x2000
Switch 1 "s0"
Switch 1 "s1"
switchguid+0x10
Switch 1 "s2"
Hca 2 "h0"
Hca 2 "h1"
rtguid=4096000
Rt 1 "r0"
)");
  EXPECT_EQ(spec.nodes[1].guid, Guid{0x1001});
  EXPECT_EQ(spec.nodes[2].guid, Guid{0x1010});
  EXPECT_EQ(spec.nodes[4].guid, Guid{0x2003});
  EXPECT_EQ(spec.nodes[5].guid, Guid{4096000});
  EXPECT_EQ(spec.nodes[5].type, NodeType::Router);
}

TEST(Ibsim, BehindANumberThereMayBeAComment) {
  const FabricSpec spec = read(
      "vendid=0x66a # of the next node\nsysimgguid=0x77\t\ndevid=7#\n"
      "switchguid=0x1000(1000) # and its port\nwidth=8 #\nspeed=4\t\n"
      "Switch 1 \"s\"\n[1] \"h\"[1]\n\nHca 1 \"h\"\n");
  EXPECT_EQ(spec.nodes[0].guid, Guid{0x1000});
  EXPECT_EQ(spec.nodes[0].system_guid, Guid{0x77});
  EXPECT_EQ(spec.nodes[0].vendor_id, 0x66au);
  EXPECT_EQ(spec.nodes[0].device_id, 7);
  EXPECT_EQ(port(spec, "h", 1).width, LinkWidth::X12);
  EXPECT_EQ(port(spec, "h", 1).speed, LinkSpeed::Qdr);
}

TEST(Ibsim, ACableListedAtOneEndIsACable) {
  const FabricSpec spec = read("Switch 4 \"s\"\n[3] \"h\"\n\nCa 1 \"h\"\n");
  EXPECT_EQ(port(spec, "h", 1).peer_node, 0u);
  EXPECT_EQ(port(spec, "h", 1).peer_port.value(), 3);
}

TEST(Ibsim, ALoopBackCableJoinsTwoPortsOfOneSwitch) {
  const FabricSpec spec = read("Switch 4 \"s\"\n[1] \"s\"[2]\n[2] \"s\"[1]\n");
  EXPECT_EQ(port(spec, "s", 1).peer_node, 0u);
  EXPECT_EQ(port(spec, "s", 1).peer_port.value(), 2);
}

TEST(Ibsim, IslandsAndSingleNodesAreFabrics) {
  EXPECT_EQ(read("Ca 1 \"alone\"\n").sm_port.value(), 1);
  EXPECT_EQ(read("Ca 2 \"a\"\n[2] \"b\"[1]\n\nCa 1 \"b\"\n[1] \"a\"[2]\n").sm_port.value(), 2);
  EXPECT_EQ(diameter(read("Switch 1 \"a\"\n\nSwitch 1 \"b\"\n")), -1);
}

// What `ibnetdiscover -g` prints for two switches, a two-port adapter and a router, shortened.
constexpr std::string_view kDiscovered = R"(#
# Topology file: generated on Fri Jul 19 02:49:25 2024
#
# Max of 3 hops discovered
# Initiated from node 0c42a10300000010 port 0c42a10300000012

Chassis 1 (guid 0x5442ba00003000)

Non-Chassis Nodes

vendid=0x2c9
devid=0xd2f2
sysimgguid=0x9c05910300f0a000
switchguid=0x9c05910300f0a080(9c05910300f0a080)
Switch	129 "S-9c05910300f0a080"		# "MF0;leaf "A" #1:MQM9700/U1" enhanced port 0 lid 3 lmc 1
[1]	"H-0c42a10300000010"[1](c42a10300000011) 		# "gpu-01 mlx5_0" lid 4 4xEDR
[7][ext 12]	"S-9c05910300f0b080"[9][ext 3]		# "Übersicht" lid 7 2xNDR
[129]	"R-0c42a10300000020"[1](c42a10300000099) 		# "router" lid 9 4x???

vendid=0x2c9
devid=0xd2f2
sysimgguid=0x9c05910300f0b000
switchguid=0x9c05910300f0b080(9c05910300f0b080)
Switch	64 "S-9c05910300f0b080"		# "Übersicht" base port 0 lid 7 lmc 0
[9]	"S-9c05910300f0a080"[7]		# "MF0;leaf "A" #1:MQM9700/U1" lid 3 2xNDR
[10]	"H-0c42a10300000010"[2](c42a10300000012) 		# "gpu-01 mlx5_0" lid 5 4xHDR

vendid=0x2c9
devid=0x101b
sysimgguid=0xc42a10300000010
caguid=0xc42a10300000010
Ca	2 "H-0c42a10300000010"		# "gpu-01 mlx5_0"
[1](c42a10300000011) 	"S-9c05910300f0a080"[1]		# lid 4 lmc 0 "MF0;leaf "A" #1:MQM9700/U1" lid 3 4xEDR
[2](c42a10300000012) 	"S-9c05910300f0b080"[10]		# lid 5 lmc 2 "Übersicht" lid 7 4xHDR

vendid=0x66a
devid=0x1
rtguid=0xc42a10300000020
Rt	2 "R-0c42a10300000020"		# "router"
[1](c42a10300000099) 	"S-9c05910300f0a080"[129]		# lid 9 lmc 0 "MF0;leaf "A" #1:MQM9700/U1" lid 3 4x???
)";

TEST(Ibnetdiscover, NodesCablesNamesLidsAndRates) {
  const FabricSpec spec = read(kDiscovered);
  ASSERT_EQ(spec.nodes.size(), 4u);
  const NodeSpec& leaf = spec.nodes[0];
  EXPECT_EQ(leaf.description, "MF0;leaf \"A\" #1:MQM9700/U1");
  EXPECT_EQ(leaf.num_ports(), 129u);
  EXPECT_TRUE(leaf.enhanced_port0);
  EXPECT_EQ(leaf.ports[0].lid, Lid{3});
  EXPECT_EQ(leaf.ports[0].lmc, 1);
  EXPECT_EQ(leaf.guid, Guid{0x9c05910300f0a080});
  EXPECT_EQ(leaf.system_guid, Guid{0x9c05910300f0a000});
  EXPECT_EQ(leaf.device_id, 0xd2f2);
  EXPECT_EQ(leaf.ports[7].peer_node, 1u);
  EXPECT_EQ(leaf.ports[7].peer_port.value(), 9);
  EXPECT_EQ(leaf.ports[7].width, LinkWidth::X2);
  EXPECT_EQ(leaf.ports[7].speed, LinkSpeed::Ndr);
  EXPECT_EQ(spec.nodes[1].description, "Übersicht");
  EXPECT_FALSE(spec.nodes[1].enhanced_port0);
  const NodeSpec& adapter = spec.nodes[2];
  EXPECT_EQ(adapter.ports[2].guid, Guid{0x0c42a10300000012});
  EXPECT_EQ(adapter.ports[2].lid, Lid{5});
  EXPECT_EQ(adapter.ports[2].lmc, 2);
  EXPECT_EQ(adapter.ports[2].speed, LinkSpeed::Hdr);
  const NodeSpec& router = spec.nodes[3];
  EXPECT_EQ(router.type, NodeType::Router);
  EXPECT_EQ(router.vendor_id, 0x66au);
  EXPECT_EQ(router.system_guid, router.guid);
  EXPECT_EQ(router.ports[1].guid, Guid{0x0c42a10300000099});
  EXPECT_EQ(router.ports[1].speed, LinkSpeed::Ndr) << "the tool did not know it; the leaf has NDR";
  EXPECT_EQ(spec.sm_node, 2u);
  EXPECT_EQ(spec.sm_port.value(), 2);
}

std::string discovered(std::string_view rate, std::string_view other_rate) {
  return fmt::format(
      "Switch\t3 \"S\"\t\t# \"s\" enhanced port 0 lid 1 lmc 0\n"
      "[1]\t\"T\"[1]\t\t# \"t\" lid 2 {0}\n[2]\t\"T\"[2]\t\t# \"t\" lid 2 {1}\n"
      "[3]\t\"H\"[1]\t\t# \"h\" lid 3 4xHDR\n\n"
      "Switch\t3 \"T\"\t\t# \"t\" enhanced port 0 lid 2 lmc 0\n"
      "[1]\t\"S\"[1]\t\t# \"s\" lid 1 {0}\n[2]\t\"S\"[2]\t\t# \"s\" lid 1 {1}\n\n"
      "Ca\t1 \"H\"\t\t# \"h\"\n[1]\t\"S\"[3]\t\t# lid 3 lmc 0 \"s\" lid 1 4xHDR\n",
      rate,
      other_rate);
}

// Who reads an XDR cluster by an older ibnetdiscover must not take it for EDR unawares.
TEST(Ibnetdiscover, SpeedsThatItDoesNotKnowAreSaid) {
  const smd::test::Scratch folder;
  const std::string file = (folder.path() / "f.net").string();
  const auto load = [&](const std::string& text, Faults& notes) {
    std::ofstream(file) << text;
    return load_fabric(file, notes).value();
  };
  Faults known, like_others, beside, none;
  EXPECT_EQ(port(load(discovered("4xXDR", "4xXDR"), known), "s", 1).speed, LinkSpeed::Xdr);
  EXPECT_TRUE(known.empty());
  EXPECT_EQ(port(load(discovered("2x???", "2x???"), like_others), "t", 2).speed, LinkSpeed::Hdr);
  ASSERT_EQ(like_others.size(), 1u);
  EXPECT_EQ(
      print_fault(like_others[0]),
      file +
          ":2: note: ??? in place of the speed of 2 cables: the program that wrote the file did "
          "not know it; taken for that of other cables of their nodes; write what it is, such "
          "as 4xXDR");
  const FabricSpec one = load(discovered("2x???", "4xNDR"), beside);
  EXPECT_EQ(port(one, "s", 1).speed, LinkSpeed::Ndr) << "of the cable beside it, not of the host";
  EXPECT_EQ(port(one, "t", 1).width, LinkWidth::X2) << "which was known";
  EXPECT_EQ(beside.size(), 1u);
  std::string bare = discovered("4x???", "?????");
  for (std::size_t i; (i = bare.find("4xHDR")) != std::string::npos;) bare.replace(i, 5, "4x???");
  EXPECT_EQ(port(load(bare, none), "h", 1).speed, LinkSpeed::Edr);
  ASSERT_EQ(none.size(), 1u);
  EXPECT_THAT(none[0].message, ::testing::HasSubstr("speed of 3 cables:"));
  EXPECT_THAT(none[0].message, ::testing::HasSubstr("taken for EDR; write"));
  // A rate behind it counts.
  Faults put_right;
  EXPECT_EQ(port(load(discovered("4x??? 4xXDR", "4xXDR"), put_right), "s", 1).speed,
            LinkSpeed::Xdr);
  EXPECT_TRUE(put_right.empty());
}

// As rdma-core prints them (out_ca_port), with a blank before the other end's GUID.
TEST(Ibnetdiscover, TwoAdaptersThatAreCabledToEachOther) {
  const FabricSpec spec = read(
      "vendid=0x2c9\ndevid=0x101b\nsysimgguid=0xc42a10300000010\ncaguid=0xc42a10300000010\n"
      "Ca\t1 \"H-0c42a10300000010\"\t\t# \"a\"\n"
      "[1](c42a10300000011) \t\"H-0c42a10300000020\"[1] (c42a10300000021) \t\t"
      "# lid 1 lmc 0 \"b\" lid 2 4xEDR\n\n"
      "vendid=0x2c9\ndevid=0x101b\nsysimgguid=0xc42a10300000020\ncaguid=0xc42a10300000020\n"
      "Ca\t1 \"H-0c42a10300000020\"\t\t# \"b\"\n"
      "[1](c42a10300000021) \t\"H-0c42a10300000010\"[1] (c42a10300000011) \t\t"
      "# lid 2 lmc 0 \"a\" lid 1 4xEDR\n");
  ASSERT_EQ(spec.nodes.size(), 2u);
  EXPECT_EQ(port(spec, "a", 1).peer_node, 1u);
  EXPECT_EQ(port(spec, "a", 1).guid, Guid{0x0c42a10300000011});
  EXPECT_EQ(port(spec, "a", 1).lid, Lid{1});
  EXPECT_EQ(port(spec, "b", 1).guid, Guid{0x0c42a10300000021});
  EXPECT_EQ(port(spec, "b", 1).lid, Lid{2});
  EXPECT_EQ(port(spec, "b", 1).speed, LinkSpeed::Edr);

  const FabricSpec one_end = read(
      "Ca\t1 \"A\"\n[1](c42a10300000011) \t\"B\"[1][ext 3] (c42a10300000021) \t\t# lid 1 lmc 0\n\n"
      "Ca\t1 \"B\"\n");
  EXPECT_EQ(port(one_end, "B", 1).guid, Guid{0x0c42a10300000021});
}

TEST(Ibnetdiscover, WhatWasReadIsPrintedAndReadAgain) {
  const FabricSpec spec = read(kDiscovered);
  EXPECT_EQ(read(print_fabric(spec)), spec);
}

TEST(Files, IncludesAreFoundBesideTheFile) {
  const test::Scratch scratch;
  const std::filesystem::path& folder = scratch.path();
  std::ofstream(folder / "main.net") << "include \"hosts.net\"\nSwitch 2 \"s\"\n[1] \"h\"[1]\n";
  std::ofstream(folder / "hosts.net") << "Ca 1 \"h\"\n[1] \"s\"[1]\n";
  const FabricSpec spec = draw((folder / "main.net").string());
  EXPECT_EQ(spec.nodes.size(), 2u);
  EXPECT_EQ(spec.nodes[0].description, "h");

  std::ofstream(folder / "hosts.net") << "Ca 1 \"h\"\n[1] \"t\"[1]\n";
  const auto broken = load_fabric((folder / "main.net").string());
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error()[0].where, "hosts.net");
  EXPECT_EQ(broken.error()[0].line, 2);

  std::ofstream(folder / "main.net") << "include \"main.net\"\n";
  const auto endless = load_fabric((folder / "main.net").string());
  ASSERT_FALSE(endless);
  EXPECT_NE(endless.error()[0].message.find("nested"), std::string::npos);
}

}  // namespace
}  // namespace smd::sim::testing
