// Cables by class and length, against published counts, closed forms and floors drawn by hand.
#include "sim-backend/cost/network_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace smd::sim::test {
namespace {

using testing::ElementsAre;
using testing::Pair;

NetworkParts parts_of(const std::string& fabric, const ShapeKeys& keys = {}) {
  return count_parts(load_fabric(fabric).value(), {}, keys).value();
}

struct CountCase {
  const char* fabric;
  std::uint32_t group;
  std::uint64_t switches, adapters;
  unsigned radix;
  std::vector<std::pair<const char*, std::uint64_t>> classes;  // between switches
  std::uint64_t of_host = 1;                                   // adapters
};

void PrintTo(const CountCase& row, std::ostream* os) { *os << row.fabric; }

class Counted : public testing::TestWithParam<CountCase> {};

TEST_P(Counted, IsWhatWasPublished) {
  const CountCase& row = GetParam();
  const NetworkParts parts = parts_of(row.fabric, {.dims = {}, .group = row.group});
  EXPECT_EQ(parts.switch_count(), row.switches);
  EXPECT_THAT(parts.switches, ElementsAre(Pair(row.radix, row.switches)));
  EXPECT_EQ(parts.hosts, row.adapters / row.of_host);
  EXPECT_EQ(
      parts.systems,
      (HostCounts{.hosts = row.adapters / row.of_host, .least = row.of_host, .most = row.of_host}));
  EXPECT_EQ(parts.host_ports, row.adapters);
  ASSERT_EQ(parts.classes.size(), row.classes.size() + 1);
  EXPECT_EQ(parts.classes[0].name, "hosts");
  EXPECT_EQ(parts.classes[0].count, row.adapters);
  std::uint64_t between = 0;
  for (std::size_t c = 0; c < row.classes.size(); ++c) {
    EXPECT_EQ(parts.classes[c + 1].name, row.classes[c].first);
    EXPECT_EQ(parts.classes[c + 1].count, row.classes[c].second) << row.classes[c].first;
    between += row.classes[c].second;
  }
  EXPECT_EQ(parts.switch_cables(), between);
  // Every port that is not free is an end of a cable.
  EXPECT_EQ(parts.switch_ports - parts.free_ports, row.adapters + 2 * between);
}

// Dimensions in the order in which they are recognised: the longest first.
INSTANTIATE_TEST_SUITE_P(
    Networks,
    Counted,
    testing::Values(
        CountCase{"hamming:dims=6.16,hosts=16",
                  0,
                  96,
                  1536,
                  36,
                  {{"dimension 0", 96 * 15 / 2}, {"dimension 1", 96 * 5 / 2}}},
        CountCase{"hamming:dims=6.16,hosts=16,trunk=3.1",
                  0,
                  96,
                  1536,
                  46,
                  {{"dimension 0", 720}, {"dimension 1", 720}}},
        CountCase{"hamming:dims=4.4.7,hosts=7,trunk=2.2.1",
                  0,
                  112,
                  784,
                  25,
                  {{"dimension 0", 336}, {"dimension 1", 336}, {"dimension 2", 336}}},
        CountCase{"dragonfly:a=5,c=2,h=2",
                  0,
                  55,
                  110,
                  8,
                  {{"within groups", 110}, {"between groups", 55}}},
        CountCase{"dragonfly:a=9,c=4,h=4",
                  0,
                  333,
                  1332,
                  16,
                  {{"within groups", 1332}, {"between groups", 666}}},
        CountCase{"dragonfly:a=9,c=4,h=4,groups=19,global-trunk=2",
                  0,
                  171,
                  684,
                  16,
                  {{"within groups", 684}, {"between groups", 342}}},
        CountCase{"dragonfly:a=9,c=8,h=8,groups=9,global-trunk=9",
                  9,
                  81,
                  648,
                  24,
                  {{"within groups", 324}, {"between groups", 324}}},
        // As many cables on every level: k^3/4 hosts on k ports.
        CountCase{
            "fat-tree:k=8,levels=3", 0, 80, 128, 8, {{"level 0 to 1", 128}, {"level 1 to 2", 128}}},
        // 5 groups of 4 leaves, each to 2 spines of 2 links; 13 groups of a butterfly of 3 x 4.
        CountCase{"dragonfly-plus:leaves=4,spines=2,hosts=4,global=2",
                  0,
                  30,
                  80,
                  6,
                  {{"within groups", 40}, {"between groups", 10}}},
        CountCase{"dragonfly:local=3.4,h=1,c=2",
                  0,
                  156,
                  312,
                  8,
                  {{"within groups", 13 * (4 * 3 + 3 * 6)}, {"between groups", 78}}},
        CountCase{"rails:units=4,hosts=32,rails=8,spines=16,parallel=2",
                  0,
                  48,
                  1024,
                  64,
                  {{"level 0 to 1", 1024}},
                  8},
        // No shape that is known.
        CountCase{"cplant", 0, 50, 400, 16, {{"between switches", 175}}}));

TEST(NetworkParts, CountsFreePortsAndPortsOfAdapters) {
  const NetworkParts parts = parts_of("dragonfly:a=9,c=4,h=4,groups=19");
  EXPECT_EQ(parts.free_ports, 171u * 2) << "of 4 ports to other groups two are used";
  FabricSpec spec;
  const auto sw = add_node(spec, NodeType::Switch, "sw", Guid{1}, 4);
  const auto host = add_node(spec, NodeType::Ca, "host", Guid{2}, 2);
  connect(spec, sw, PortNum{1}, host, PortNum{1});
  connect(spec, sw, PortNum{2}, host, PortNum{2});
  spec.sm_node = host;
  const NetworkParts two = count_parts(spec, {}).value();
  EXPECT_EQ(two.hosts, 1u);
  EXPECT_EQ(two.host_ports, 2u);
  EXPECT_EQ(two.classes[0].count, 2u);
  EXPECT_EQ(two.free_ports, 2u);
}

// The adapters of a host are in one box: cables to its four planes are as long as those of one
// adapter with four ports.
TEST(NetworkParts, AHostWithSeveralAdaptersStandsInOneRack) {
  const std::string planes = "multi-plane:planes=4,leaves=64,spines=16,hosts=32,cores=0,adapters=";
  const NetworkParts one = parts_of(planes + "1"), four = parts_of(planes + "4");
  EXPECT_EQ(four.systems, (HostCounts{.hosts = 2048, .least = 4, .most = 4}));
  EXPECT_EQ(four.classes[0].by_metres, one.classes[0].by_metres);
  EXPECT_GT(one.classes[0].by_metres.size(), 1u) << "planes stand apart";
}

TEST(NetworkParts, NamesGroupsOfLeavesAndOfButterflies) {
  EXPECT_EQ(parts_of("dragonfly-plus:leaves=4,spines=2,hosts=4,global=2").shape,
            "dragonfly+ of 5 groups of 4 leaves and 2 spines, trunks of 1 between groups");
  EXPECT_EQ(parts_of("dragonfly:local=3.4,h=1,c=2").shape,
            "dragonfly of 13 groups, butterflies of 4 x 3, trunks of 1 between groups");
  // A cable less, and it is no whole one.
  FabricSpec spec = load_fabric("dragonfly-plus:leaves=4,spines=2,hosts=4,global=2").value();
  for (NodeSpec& node : spec.nodes) {
    if (node.description != "sw-0-1-0") continue;
    PortSpec& port = node.ports[5];
    spec.nodes[port.peer_node].ports[port.peer_port.value()].peer_node = kNoNode;
    port.peer_node = kNoNode;
  }
  const NetworkParts parts = count_parts(spec, {}).value();
  EXPECT_EQ(parts.shape.find("dragonfly"), std::string::npos) << parts.shape;
  EXPECT_EQ(parts.switch_cables(), 49u);
}

TEST(NetworkParts, SaysWhyAGroupCannotBe) {
  const auto parts =
      count_parts(load_fabric("dragonfly:a=5,c=2,h=2").value(), {}, {.dims = {}, .group = 7});
  ASSERT_FALSE(parts);
  EXPECT_EQ(parts.error().context, "groups of 7 switches each: the fabric has 55");
}

TEST(NetworkParts, GivesCablesTheLengthsOfTheirRacks) {
  // Four switches in a ring, one in each rack: two rows of two.
  FabricSpec spec;
  for (std::uint64_t s = 0; s < 4; ++s) {
    add_node(spec, NodeType::Switch, "sw-" + std::to_string(s), Guid{s + 1}, 4);
  }
  connect(spec, 0, PortNum{1}, 1, PortNum{2});
  connect(spec, 1, PortNum{1}, 2, PortNum{2});
  connect(spec, 2, PortNum{1}, 3, PortNum{2});
  connect(spec, 3, PortNum{1}, 0, PortNum{2});
  const auto host = add_node(spec, NodeType::Ca, "host", Guid{9}, 1);
  connect(spec, 3, PortNum{4}, host, PortNum{1});
  spec.sm_node = host;
  const Floor floor{
      .switches_per_rack = 1, .within_m = 1.5, .overhead_m = 1, .rack_m = 4, .row_m = 4};
  const NetworkParts parts = count_parts(spec, floor).value();
  ASSERT_GE(parts.classes.size(), 2u);
  EXPECT_THAT(parts.classes[0].by_metres, ElementsAre(Pair(2, 1)));
  // 0-1 and 2-3 along a row: 6 m; 3-0 and 1-2: 0 is above 2 and 1 above 3, so both are across:
  // 2 + 4 + 4 m.
  std::map<std::uint64_t, std::uint64_t> all;
  for (std::size_t c = 1; c < parts.classes.size(); ++c) {
    for (const auto& [metres, count] : parts.classes[c].by_metres) all[metres] += count;
  }
  EXPECT_THAT(all, ElementsAre(Pair(7, 2), Pair(10, 2)));
}

TEST(SoldLength, IsTheNextOneThatIsMade) {
  EXPECT_EQ(sold_length(0.3), 1u);
  EXPECT_EQ(sold_length(2), 2u);
  EXPECT_EQ(sold_length(2.1), 3u);
  EXPECT_EQ(sold_length(7.5), 10u);
  EXPECT_EQ(sold_length(10.5), 15u);
  EXPECT_EQ(sold_length(101), 150u);
  EXPECT_EQ(sold_length(1600), 2000u);
  EXPECT_EQ(sold_length(4e9), 5'000'000'000u);
  EXPECT_EQ(sold_length(1e12), 1'000'000'000'000u);
}

// 542 hosts as `smd dry-run` has them; each was 582 here, with a cable for what is inside a switch.
TEST(CountParts, AggregationNodesArePartsOfTheirSwitches) {
  const NetworkParts parts = parts_of("ndr-582");
  EXPECT_EQ(parts.hosts, 542u);
  EXPECT_EQ(parts.host_ports, 542u);
  EXPECT_EQ(parts.classes[0].count, 542u);
  EXPECT_THAT(parts.switches, ElementsAre(Pair(64u, 40u)));
  const NetworkParts with = parts_of("fat-tree:k=8,levels=2,aggregation=1");
  const NetworkParts without = parts_of("fat-tree:k=8,levels=2");
  EXPECT_EQ(with.shape, without.shape);
  EXPECT_EQ(with.hosts, without.hosts);
  EXPECT_EQ(with.switches, without.switches);
  EXPECT_EQ(with.free_ports, without.free_ports);
}

}  // namespace
}  // namespace smd::sim::test
