// Every generator against the numbers that its definition gives: switches, hosts, cables between
// switches, ports per switch, longest way.
#include <gtest/gtest.h>

#include <algorithm>

#include "sim-backend/topology/generator.h"
#include "tests/unit/sim-topology/graph.h"

namespace smd::sim::testing {
namespace {

struct Row {
  const char* call;
  std::size_t switches, hosts, switch_links;
  unsigned largest_switch;
  int diameter;
};

void PrintTo(const Row& row, std::ostream* os) { *os << row.call; }

class Counts : public ::testing::TestWithParam<Row> {};

TEST_P(Counts, AreThoseOfTheDefinition) {
  const Row& row = GetParam();
  const FabricSpec spec = draw(row.call);
  EXPECT_EQ(count_switches(spec), row.switches);
  EXPECT_EQ(count_hosts(spec), row.hosts);
  EXPECT_EQ(count_switch_links(spec), row.switch_links);
  unsigned largest = 0;
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    if (is_switch(spec, n)) largest = std::max(largest, spec.nodes[n].num_ports());
  }
  EXPECT_EQ(largest, row.largest_switch);
  EXPECT_EQ(diameter(spec), row.diameter);
}

INSTANTIATE_TEST_SUITE_P(
    Trees,
    Counts,
    ::testing::Values(
        // m-port n-tree: 2(m/2)^n hosts, (2n-1)(m/2)^(n-1) switches.
        Row{"fat-tree:k=4", 6, 8, 8, 4, 2},
        Row{"fat-tree:k=8", 12, 32, 32, 8, 2},
        Row{"fat-tree", 54, 648, 648, 36, 2},
        Row{"fat-tree:k=4,levels=3", 20, 16, 32, 4, 4},
        Row{"fat-tree:k=8,levels=3", 80, 128, 256, 8, 4},
        Row{"fat-tree:k=4,levels=4", 56, 32, 96, 4, 6},
        Row{"fat-tree:k=6,levels=1", 1, 6, 0, 6, 0},
        // Trimmed where the hosts divide evenly: half the leaves and half the spines.
        Row{"fat-tree:hosts=324", 27, 324, 324, 36, 2},
        Row{"fat-tree:hosts=648", 54, 648, 648, 36, 2},
        // and where they do not: 12 leaves for 200 hosts.
        Row{"fat-tree:hosts=200", 18, 200, 216, 36, 2},
        Row{"fat-tree:levels=3,hosts=1728", 246, 1728, 3456, 36, 4},
        Row{"pgft", 12, 32, 32, 8, 2},
        Row{"pgft:down=18.18,up=1.9,parallel=1.2", 27, 324, 324, 36, 2},
        Row{"pgft:levels=3,down=16.18.6,up=1.18.3,parallel=1.1.6", 270, 1728, 3888, 36, 4}));

INSTANTIATE_TEST_SUITE_P(Grids,
                         Counts,
                         ::testing::Values(Row{"torus", 64, 64, 128, 5, 8},
                                           Row{"torus:dims=4.4.4,hosts=2", 64, 128, 192, 8, 6},
                                           Row{"torus:dims=5.3", 15, 15, 30, 5, 3},
                                           Row{"torus:dims=2.2", 4, 4, 4, 5, 2},
                                           Row{"torus:dims=3.1", 3, 3, 3, 5, 1},
                                           Row{"torus:mesh=1", 64, 64, 112, 5, 14},
                                           Row{"hypercube", 16, 16, 32, 5, 4},
                                           Row{"hypercube:dim=7,hosts=2", 128, 256, 448, 9, 7},
                                           Row{"express-torus", 64, 512, 256, 16, 4},
                                           Row{"express-torus:dims=4,hosts=1", 4, 4, 6, 5, 1}));

// The table of hardware counts in the flattened butterfly and dragonfly literature.
INSTANTIATE_TEST_SUITE_P(
    Direct,
    Counts,
    ::testing::Values(
        Row{"hamming:dims=16.16,hosts=16", 256, 4096, 3840, 46, 2},
        Row{"hamming:dims=6.16,hosts=16", 96, 1536, 960, 36, 2},
        Row{"hamming:dims=6.16,hosts=16,trunk=2.1", 96, 1536, 1200, 41, 2},
        Row{"hamming:dims=6.16,hosts=16,trunk=3.1", 96, 1536, 1440, 46, 2},
        Row{"hamming:dims=4.4.7,hosts=7,trunk=2.2.1", 112, 784, 1008, 25, 3},
        Row{"hamming:dims=4.7.7,hosts=7,trunk=2.1.1", 196, 1372, 1764, 25, 3},
        Row{"dragonfly:a=5,h=2,c=2", 55, 110, 165, 8, 3},
        Row{"dragonfly:a=9,h=4,c=4", 333, 1332, 1998, 16, 3},
        Row{"dragonfly:a=9,h=2,c=4,groups=19", 171, 684, 684 + 171, 14, 3},
        Row{"dragonfly:a=9,h=4,c=4,groups=19,global-trunk=2", 171, 684, 684 + 342, 16, 3},
        Row{"dragonfly:a=9,h=8,c=8", 657, 5256, 2628 + 2628, 24, 3},
        Row{"dragonfly:a=9,h=8,c=8,local-trunk=2", 657, 5256, 5256 + 2628, 32, 3},
        Row{"dragonfly:a=9,h=8,c=8,groups=9,global-trunk=9", 81, 648, 324 + 324, 24, 2},
        Row{"dragonfly:a=4,h=2,c=1,groups=8", 32, 32, 48 + 28, 6, 3},
        Row{"dragonfly:a=1,h=1,c=3,groups=2", 2, 6, 1, 4, 1},
        // Switches of 16 ports: (k/2)^4 + (k/2)^2 hosts (Shpiner and others, 2017). From a spine to
        // one of a group that neither has a link to it is five links: down, up, over, down, up.
        Row{"dragonfly-plus:leaves=8,spines=8,hosts=8,global=8",
            65 * 16,
            4160,
            65 * 64 + 65 * 32,
            16,
            5},
        // Here the spines of one number are a ring: those of another one are three links away.
        Row{"dragonfly-plus:leaves=4,spines=2,hosts=4,global=2", 30, 80, 40 + 10, 6, 3},
        // Groups as those of a Cray XC: 16 blades in each of 6 chassis, a trunk of 3 between
        // chassis.
        Row{"dragonfly:local=16.6,local-trunk=1.3,h=1,c=1,groups=9,global-trunk=12",
            864,
            864,
            9 * 1440 + 36 * 12,
            32,
            5},
        Row{"dragonfly:local=3.4,h=1,c=2", 156, 312, 13 * 30 + 78, 8, 5},
        // 2 q^2 switches of (3q - d) / 2 links, two hops from anywhere to anywhere: the 50 switches
        // and 200 hosts of the one that was built, the 722 and 10,830 of the one that was proposed.
        Row{"slim-fly:q=5", 50, 200, 50 * 7 / 2, 11, 2},
        Row{"slim-fly:q=7", 98, 588, 98 * 11 / 2, 17, 2},
        Row{"slim-fly:q=11,hosts=1", 242, 242, 242 * 17 / 2, 18, 2},
        Row{"slim-fly:q=13,hosts=1", 338, 338, 338 * 19 / 2, 20, 2},
        Row{"slim-fly:q=19", 722, 10830, 722 * 29 / 2, 44, 2},
        Row{"cplant", 50, 400, 175, 16, 4}));

INSTANTIATE_TEST_SUITE_P(
    SeveralAdapters,
    Counts,
    ::testing::Values(
        // A published one of four units of 32 hosts with 8 adapters: 32 leaves, 16 spines, 1,024
        // cables between them.
        Row{"rails:units=4,hosts=32,rails=8,spines=16,parallel=2", 48, 1024, 1024, 64, 2},
        Row{"rails:units=1,hosts=3,rails=2,spines=1", 3, 6, 2, 4, 2},
        Row{"multi-plane:planes=4,leaves=8,spines=8,hosts=8,cores=8",
            72,
            64,
            4 * 64 + 32 * 8,
            32,
            4},
        Row{"multi-plane:planes=2,leaves=2,spines=1,hosts=1,cores=0", 6, 2, 4, 2, -1}));

INSTANTIATE_TEST_SUITE_P(Stages,
                         Counts,
                         ::testing::Values(Row{"clos:m=3,n=1,r=4", 7, 4, 12, 4, 2},
                                           // k-ary n-fly: n k^(n-1) switches, k^n hosts.
                                           Row{"bmin", 48, 64, 128, 8, 4},
                                           Row{"bmin:wiring=butterfly", 48, 64, 128, 8, 4},
                                           Row{"bmin:k=8", 192, 512, 1024, 16, 4},
                                           Row{"bmin:stages=5,hosts=512", 640, 512, 2048, 8, 8},
                                           Row{"umin:k=4,stages=4", 256, 256, 768, 8, 6},
                                           Row{"umin:k=8", 192, 512, 1024, 16, 4}));

INSTANTIATE_TEST_SUITE_P(Examples,
                         Counts,
                         ::testing::Values(Row{"example", 8, 7, 9, 4, 4},
                                           Row{"example:name=fig68", 9, 9, 11, 4, 5},
                                           Row{"example:name=fig76", 8, 7, 9, 4, 4},
                                           Row{"example:name=flich", 8, 8, 12, 4, 2},
                                           Row{"ndr-582", 40, 582, 532, 65, 3},
                                           Row{"ndr-582:aggregation=0", 40, 542, 532, 65, 3}));

TEST(FatTree, OfThirtySixPortsAndThreeLevels) {
  const FabricSpec spec = draw("fat-tree:k=36,levels=3");
  EXPECT_EQ(count_switches(spec), 1620u);
  EXPECT_EQ(count_hosts(spec), 11664u);
  EXPECT_EQ(count_links(spec), 3u * 11664u);  // full bisection: as many cables on every level
}

TEST(Generators, AllDefaultsMakeAFabric) {
  for (const Generator& generator : generators()) {
    const FabricSpec spec = draw(std::string(generator.name));
    EXPECT_EQ(spec.title, generator.name);
    EXPECT_GE(diameter(spec), 0) << generator.name << " is not connected";
  }
}

TEST(Generators, SameCallSameBytes) {
  for (const Generator& generator : generators()) {
    const std::string call(generator.name);
    EXPECT_EQ(print_fabric(draw(call)), print_fabric(draw(call))) << call;
  }
  EXPECT_NE(print_fabric(draw("irregular:seed=1")), print_fabric(draw("irregular:seed=2")));
  EXPECT_NE(print_fabric(draw("irregular4:seed=1")), print_fabric(draw("irregular4:seed=2")));
}

TEST(Generators, TheManagerSitsOnTheFirstNodeOfTheFile) {
  for (const Generator& generator : generators()) {
    const FabricSpec spec = draw(std::string(generator.name));
    EXPECT_EQ(spec.sm_node, 0u) << generator.name;
    EXPECT_EQ(spec.sm_port.value(), is_switch(spec, 0) ? 0 : 1) << generator.name;
  }
}

TEST(Generators, HostsAndSwitchesAreNamedAndNumberedByPlace) {
  const FabricSpec spec = draw("fat-tree:k=4");
  const NodeSpec& host = spec.nodes[node_named(spec, "host-00003")];
  EXPECT_EQ(host.guid, Guid{0x0001000000000006});
  EXPECT_EQ(host.ports[1].guid, Guid{0x0001000000000007});
  EXPECT_EQ(host.id, "H-0001000000000006");
  EXPECT_EQ(host.ports[1].peer_node, node_named(spec, "sw-0-1"));
  EXPECT_EQ(host.ports[1].peer_port.value(), 2);
  EXPECT_EQ(spec.nodes[node_named(spec, "sw-1-1")].guid, Guid{0x0002000000000005});
}

TEST(Generators, RateOfEveryCable) {
  const FabricSpec spec = draw("torus:dims=3.3,width=2x,speed=NDR");
  for (const NodeSpec& node : spec.nodes) {
    for (const PortSpec& port : node.ports) {
      if (port.peer_node == kNoNode) continue;
      EXPECT_EQ(port.width, LinkWidth::X2);
      EXPECT_EQ(port.speed, LinkSpeed::Ndr);
    }
  }
}

}  // namespace
}  // namespace smd::sim::testing
