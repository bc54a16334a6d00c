// Hosts with several adapters: how many there are by each definition, where they hang, what they
// are called, and what cannot be. Hosts are counted here by SystemImageGUID alone.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "sim-backend/topology/generator.h"
#include "tests/unit/sim-topology/graph.h"

namespace smd::sim::testing {
namespace several_adapters_test {

/// Adapters of each host in the order of the drawing.
std::map<std::uint64_t, std::vector<std::uint32_t>> hosts_of(const FabricSpec& spec) {
  std::map<std::uint64_t, std::vector<std::uint32_t>> hosts;
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    if (!is_switch(spec, n)) hosts[spec.nodes[n].system_guid.value()].push_back(n);
  }
  return hosts;
}

struct Row {
  const char* call;
  std::size_t hosts, adapters, switches;
  unsigned largest_switch;
};

void PrintTo(const Row& row, std::ostream* os) { *os << row.call; }

class SeveralAdapters : public ::testing::TestWithParam<Row> {};

TEST_P(SeveralAdapters, AreOfOneHostOnTheNextPortsOfItsSwitch) {
  const Row& row = GetParam();
  const FabricSpec spec = draw(row.call);
  EXPECT_EQ(check_spec(spec), "");
  EXPECT_EQ(count_switches(spec), row.switches);
  unsigned largest = 0;
  std::set<std::uint64_t> guids;
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    if (is_switch(spec, n)) largest = std::max(largest, spec.nodes[n].num_ports());
    EXPECT_TRUE(guids.insert(spec.nodes[n].guid.value()).second) << "a GUID for each node";
  }
  EXPECT_EQ(largest, row.largest_switch);
  const auto hosts = hosts_of(spec);
  EXPECT_EQ(hosts.size(), row.hosts);
  std::set<std::string> names;
  for (const auto& [system, adapters] : hosts) {
    ASSERT_EQ(adapters.size(), row.adapters);
    EXPECT_EQ(spec.nodes[adapters[0]].guid.value(), system) << "that of the first";
    const std::string& first = spec.nodes[adapters[0]].description;
    const std::string name = first.substr(0, first.find(' '));
    EXPECT_TRUE(names.insert(name).second) << name;
    for (std::size_t i = 0; i < adapters.size(); ++i) {
      const NodeSpec& node = spec.nodes[adapters[i]];
      EXPECT_EQ(node.description, fmt::format("{} mlx5_{}", name, i));
      ASSERT_EQ(node.num_ports(), 1u);
      EXPECT_EQ(node.ports[1].peer_node, spec.nodes[adapters[0]].ports[1].peer_node);
      EXPECT_EQ(node.ports[1].peer_port.value(),
                spec.nodes[adapters[0]].ports[1].peer_port.value() + i);
    }
  }
  // host-00000 to the last, without a gap.
  EXPECT_EQ(*names.begin(), "host-00000");
  EXPECT_EQ(*names.rbegin(), fmt::format("host-{:05}", row.hosts - 1));
}

// A leaf of a k-port tree has k/2 ports below, and as many hosts as fit whole: of 18 ports four
// hosts of four, and then the tree of leaves with 16.
INSTANTIATE_TEST_SUITE_P(
    Trees,
    SeveralAdapters,
    ::testing::Values(Row{"fat-tree:k=8,levels=2,adapters=4", 8, 4, 8 + 4, 8},
                      Row{"fat-tree:k=8,levels=2,adapters=2", 16, 2, 8 + 4, 8},
                      Row{"fat-tree:k=8,levels=3,adapters=2", 64, 2, 80, 8},
                      Row{"fat-tree:k=36,levels=2,adapters=4", 36 * 4, 4, 36 + 16, 36},
                      Row{"fat-tree:k=8,levels=1,adapters=3", 2, 3, 1, 8},
                      Row{"fat-tree:k=8,levels=2,hosts=4,adapters=4", 4, 4, 4 + 2, 8},
                      Row{"fat-tree:k=8,levels=2,hosts=3,adapters=3", 3, 3, 3 + 2, 8},
                      // Two leaves of ten would be filled exactly, by two hosts and a half each.
                      Row{"fat-tree:k=36,levels=2,hosts=5,adapters=4", 5, 4, 2 + 1, 36},
                      Row{"pgft:down=4.8,up=1.4,parallel=1.1,adapters=2", 32, 2, 8 + 4, 12},
                      Row{"clos:m=3,n=2,r=4,adapters=5", 8, 5, 7, 13}));

INSTANTIATE_TEST_SUITE_P(
    Others,
    SeveralAdapters,
    ::testing::Values(Row{"torus:dims=3.4,hosts=2,adapters=3", 24, 3, 12, 4 + 6},
                      Row{"express-torus:dims=5.5,hosts=1,adapters=2", 25, 2, 25, 8 + 2},
                      Row{"hypercube:dim=3,hosts=1,adapters=8", 8, 8, 8, 3 + 8},
                      Row{"hamming:dims=3.3,hosts=2,adapters=2", 18, 2, 9, 4 + 4},
                      Row{"dragonfly:a=4,c=2,h=2,adapters=2", 72, 2, 36, 3 + 2 + 4},
                      Row{"dragonfly-plus:leaves=2,spines=2,hosts=2,global=1,adapters=4",
                          3 * 2 * 2,
                          4,
                          3 * 4,
                          8 + 2},
                      Row{"irregular:switches=8,ports=12,links=4,hosts=2,adapters=4", 16, 4, 8, 12},
                      Row{"cplant:hosts=2,adapters=4", 100, 4, 50, 16},
                      Row{"slim-fly:q=5,hosts=1,adapters=3", 50, 3, 50, 7 + 3},
                      // Half of seven links, rounded up, is four ports for hosts: one of three.
                      Row{"slim-fly:q=5,adapters=3", 50, 3, 50, 7 + 3}));

TEST(AdaptersOfAHost, OneIsWhatItWas) {
  for (const char* call : {"fat-tree:k=8,levels=2,hosts=20,spine_hosts=2",
                           "torus:dims=3.3",
                           "dragonfly",
                           "slim-fly",
                           "multi-plane:planes=2"}) {
    EXPECT_EQ(
        draw(call).nodes,
        draw(std::string(call) +
             (std::string(call).find(':') == std::string::npos ? ":adapters=1" : ",adapters=1"))
            .nodes)
        << call;
  }
  const FabricSpec spec = draw("fat-tree:k=4,levels=2");
  EXPECT_EQ(spec.nodes[0].description, "host-00000");
  EXPECT_EQ(hosts_of(spec).size(), 8u);
}

// What hangs at the top has an adapter of its own each, and a switch's aggregation node none of
// anybody's.
TEST(AdaptersOfAHost, HostsAtSpinesHaveOne) {
  const auto hosts = hosts_of(draw("fat-tree:k=8,levels=2,adapters=4,spine_hosts=3,aggregation=1"));
  std::map<std::size_t, int> of_so_many;
  for (const auto& [system, adapters] : hosts) ++of_so_many[adapters.size()];
  EXPECT_EQ(of_so_many, (std::map<std::size_t, int>{{1, 3 + 12}, {4, 8}}));
}

TEST(AdaptersOfAHost, SharePlanesEvenly) {
  const FabricSpec spec = draw("multi-plane:planes=4,leaves=2,spines=2,hosts=3,adapters=2,cores=0");
  const auto hosts = hosts_of(spec);
  EXPECT_EQ(hosts.size(), 6u);
  for (const auto& [system, adapters] : hosts) {
    ASSERT_EQ(adapters.size(), 2u);
    for (unsigned i = 0; i < 2; ++i) {
      const NodeSpec& node = spec.nodes[adapters[i]];
      ASSERT_EQ(node.num_ports(), 2u);
      for (unsigned p = 1; p <= 2; ++p)
        EXPECT_EQ(coordinates(spec, node.ports[p].peer_node)[0], 2 * i + p - 1) << "the plane";
    }
  }
}

TEST(AdaptersOfAHost, AreReadFromTheFileThatTheyWerePrintedTo) {
  const FabricSpec spec = draw("fat-tree:k=8,levels=2,adapters=4");
  const auto read = parse_fabric(print_fabric(spec), "file");
  ASSERT_TRUE(read);
  EXPECT_EQ(hosts_of(*read), hosts_of(spec));
}

TEST(AdaptersOfAHost, WhatCannotBeIsSaidInOneLine) {
  using ::testing::EndsWith;
  const auto why = [](const std::string& call) {
    const auto made = generate(call);
    if (made) return std::string("made");
    EXPECT_EQ(made.error().size(), 1u) << call;
    return made.error().front().message;
  };
  EXPECT_EQ(why("fat-tree:k=8,levels=2,adapters=5"),
            "adapters=5 is too many: a leaf of k=8 and levels=2 has 4 ports for hosts");
  EXPECT_EQ(why("fat-tree:k=8,levels=2,adapters=4,hosts=9"),
            "hosts=9 is too many: k=8 and levels=2 hold 8 of 4 adapters");
  EXPECT_EQ(why("fat-tree:k=254,levels=2,adapters=2,hosts=49151"),
            "hosts=49151 is too many: k=254 and levels=2 hold 16002 of 2 adapters");
  EXPECT_THAT(why("fat-tree:adapters=0"), EndsWith("a number from 1 to 254"));
  EXPECT_EQ(why("torus:dims=4.4,hosts=64,adapters=4"),
            "260 ports on one switch: InfiniBand switches have at most 254");
  EXPECT_EQ(why("torus:dims=100.100,hosts=2,adapters=2"),
            "10000 switches and 40000 host ports: a subnet has 49151 LIDs in all");
  EXPECT_EQ(why("irregular:links=4,hosts=2,adapters=4"),
            "links=4 and hosts=2 of 4 adapters need 12 ports: ports=8 is too few");
  EXPECT_EQ(why("slim-fly:adapters=5"),
            "adapters=5 is too many: q=5 carries 4 of a switch; hosts=1 or more for more");
  EXPECT_EQ(why("multi-plane:planes=4,adapters=3"),
            "adapters=3 do not share planes=4 evenly: a divisor of it");
  EXPECT_THAT(why("bmin:adapters=2"), ::testing::HasSubstr("bmin has no key \"adapters\""));
}

}  // namespace several_adapters_test
}  // namespace smd::sim::testing
