// Which switch is joined to which: the definition of each network, checked on every cable.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "sim-backend/topology/snapshot.h"
#include "tests/unit/sim-topology/graph.h"

namespace smd::sim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(Hamming, SwitchesThatDifferInOneCoordinateAreJoined) {
  const std::vector<unsigned> trunk{3, 1, 2};
  const FabricSpec spec = draw("hamming:dims=3.5.2,hosts=2,trunk=3.1.2");
  for (std::uint32_t a = 0; a < spec.nodes.size(); ++a) {
    if (!is_switch(spec, a)) continue;
    const auto joined = switch_neighbours(spec, a);
    EXPECT_EQ(hosts_on(spec, a), 2u);
    for (std::uint32_t b = 0; b < spec.nodes.size(); ++b) {
      if (!is_switch(spec, b)) continue;
      const auto x = coordinates(spec, a);
      const auto y = coordinates(spec, b);
      unsigned differing = 0;
      unsigned expected = 0;
      for (std::size_t d = 0; d < x.size(); ++d) {
        if (x[d] == y[d]) continue;
        ++differing;
        expected = trunk[d];
      }
      const auto found = joined.find(b);
      EXPECT_EQ(found == joined.end() ? 0 : found->second, differing == 1 ? expected : 0);
    }
  }
}

TEST(DragonflyPlus, LeavesMeetTheirSpinesAndSpinesOtherGroups) {
  const FabricSpec spec = draw("dragonfly-plus:leaves=3,spines=2,hosts=2,global=3,groups=4");
  std::map<std::pair<unsigned, unsigned>, unsigned> between;
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    if (!is_switch(spec, n)) continue;
    const auto place = coordinates(spec, n);  // group, leaf or spine, number
    EXPECT_EQ(hosts_on(spec, n), place[1] == 0 ? 2u : 0u);
    unsigned within = 0;
    for (const auto& [peer, cables] : switch_neighbours(spec, n)) {
      const auto other = coordinates(spec, peer);
      if (other[0] == place[0]) {
        EXPECT_NE(other[1], place[1]);
        within += cables;
      } else {
        EXPECT_EQ(place[1] + other[1], 2u) << "spines alone";
        between[{place[0], other[0]}] += cables;
      }
    }
    EXPECT_EQ(within, place[1] == 0 ? 2u : 3u);
  }
  EXPECT_EQ(between.size(), 12u);
  for (const auto& [pair, cables] : between) EXPECT_EQ(cables, 1u);
}

TEST(SlimFly, SidesAreJoinedAlongLines) {
  const FabricSpec spec = draw("slim-fly:q=7,hosts=1");
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    if (!is_switch(spec, n)) continue;
    const auto at = coordinates(spec, n);  // side, x or m, y or c
    unsigned across = 0;
    for (const auto& [peer, cables] : switch_neighbours(spec, n)) {
      EXPECT_EQ(cables, 1u);
      const auto other = coordinates(spec, peer);
      if (other[0] == at[0]) {
        EXPECT_EQ(other[1], at[1]);
        continue;
      }
      ++across;
      const auto& point = at[0] == 0 ? at : other;
      const auto& line = at[0] == 0 ? other : at;
      EXPECT_EQ(point[2], (line[1] * point[1] + line[2]) % 7);
    }
    EXPECT_EQ(across, 7u) << "one line through each point for every slope";
  }
}

TEST(Rails, AdaptersOfAHostAreOnLeavesOfTheirOwn) {
  const FabricSpec spec = draw("rails:units=2,hosts=3,rails=4,spines=2");
  std::map<std::uint64_t, std::set<std::vector<unsigned>>> leaves;  // by host
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    const NodeSpec& node = spec.nodes[n];
    if (is_switch(spec, n)) continue;
    const auto leaf = coordinates(spec, node.ports[1].peer_node);  // 0, unit, rail
    leaves[node.system_guid.value()].insert({leaf[1], leaf[2]});
    EXPECT_EQ(node.description.back() - '0', static_cast<int>(leaf[2])) << node.description;
  }
  ASSERT_EQ(leaves.size(), 6u);
  for (const auto& [host, places] : leaves) {
    EXPECT_EQ(places.size(), 4u) << "a rail each";
    EXPECT_EQ((*places.begin())[0], (*places.rbegin())[0]) << "of one unit";
  }
  EXPECT_EQ(node_named(spec, "host-00005 mlx5_3") < spec.nodes.size(), true);
}

TEST(MultiPlane, EachPortIsInItsPlane) {
  const FabricSpec spec = draw("multi-plane:planes=3,leaves=2,spines=2,hosts=2,cores=0");
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    if (is_switch(spec, n)) {
      for (const auto& [peer, cables] : switch_neighbours(spec, n)) {
        EXPECT_EQ(coordinates(spec, peer)[0], coordinates(spec, n)[0]);
      }
      continue;
    }
    ASSERT_EQ(spec.nodes[n].num_ports(), 3u);
    for (unsigned p = 1; p <= 3; ++p) {
      EXPECT_EQ(coordinates(spec, spec.nodes[n].ports[p].peer_node)[0], p - 1);
    }
  }
}

// Trees as they really are.

constexpr const char* kTrunks = "pgft:down=8.6,up=1.4,parallel=1.2";  // 6 leaves, 4 spines, by twos

std::map<unsigned, unsigned> trunk_widths(const FabricSpec& spec) {
  std::map<unsigned, unsigned> count;
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    if (!is_switch(spec, n) || coordinates(spec, n)[0] != 0) continue;
    for (const auto& [peer, cables] : switch_neighbours(spec, n)) ++count[cables];
  }
  return count;
}

TEST(ImperfectTree, TrunksGetWiderAndNarrowerAndKeepAllCables) {
  EXPECT_THAT(trunk_widths(draw(kTrunks)), ElementsAre(Pair(2u, 24u)));
  const FabricSpec spec = draw(std::string(kTrunks) + ",uneven=100");
  EXPECT_EQ(count_switch_links(spec), 48u);
  EXPECT_THAT(trunk_widths(spec), ::testing::SizeIs(::testing::Gt(1u)));
  EXPECT_EQ(check_spec(spec), "");
}

/// Switches of a level whose cables up lead elsewhere than in the whole tree.
unsigned count_exchanged(const FabricSpec& spec, const FabricSpec& whole, unsigned at) {
  const auto parents = [](const FabricSpec& of, std::uint32_t node) {
    std::map<std::uint32_t, unsigned> out = switch_neighbours(of, node);
    std::erase_if(out, [&](const auto& to) {
      return coordinates(of, to.first)[0] < coordinates(of, node)[0];
    });
    return out;
  };
  unsigned count = 0;
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    if (!is_switch(spec, n) || coordinates(spec, n)[0] != at) continue;
    count += parents(spec, n) != parents(whole, n);
  }
  return count;
}

TEST(ImperfectTree, TheShareThatExchangesIsOfEachLevel) {
  // 32 switches of level 0, 32 of level 1.
  const FabricSpec whole = draw("fat-tree:k=8,levels=3");
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const FabricSpec spec = draw("fat-tree:k=8,levels=3,uneven=50,seed=" + std::to_string(seed));
    EXPECT_EQ(count_exchanged(spec, whole, 0), 16u) << seed;
    EXPECT_EQ(count_exchanged(spec, whole, 1), 16u) << seed;
    EXPECT_EQ(count_switch_links(spec), count_switch_links(whole)) << seed;
    EXPECT_EQ(check_spec(spec), "") << seed;
  }
}

TEST(ImperfectTree, CablesAreMissingAndNobodyIsCutOff) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const FabricSpec spec = draw(std::string(kTrunks) + ",missing=39,seed=" + std::to_string(seed));
    EXPECT_EQ(count_switch_links(spec), 9u) << "a spanning tree is left";
    EXPECT_GT(diameter(spec), 0);
  }
}

TEST(ImperfectTree, MoreThanCanBeMissingIsRefusedInOneLine) {
  const auto spec = load_fabric(std::string(kTrunks) + ",missing=40");
  ASSERT_FALSE(spec);
  ASSERT_EQ(spec.error().size(), 1u);
  EXPECT_EQ(print_fault(spec.error()[0]),
            std::string(kTrunks) +
                ",missing=40: missing=40 is too many: of 48 cables between switches 39 may be "
                "missing before the tree falls apart");
}

TEST(ImperfectTree, EverySwitchHasAnAggregationNodeOnItsLastPort) {
  const FabricSpec spec = draw("fat-tree:k=4,aggregation=1");
  unsigned nodes = 0;
  for (const NodeSpec& node : spec.nodes) {
    if (node.type != NodeType::Switch) continue;
    EXPECT_EQ(node.num_ports(), 5u);
    const NodeSpec& last = spec.nodes[node.ports[5].peer_node];
    EXPECT_EQ(last.description, "Mellanox Technologies Aggregation Node");
    EXPECT_EQ(last.device_id, 0xcf09);
    ++nodes;
  }
  EXPECT_EQ(nodes, 6u);
  EXPECT_EQ(count_hosts(spec), 8u + 6u);
  EXPECT_EQ(check_spec(spec), "");
}

TEST(ImperfectTree, WithoutAggregationNodesItIsWhatItWouldBe) {
  FabricSpec bare = hosts_and_switches(draw("fat-tree:k=4,aggregation=1"));
  FabricSpec drawn = draw("fat-tree:k=4");
  EXPECT_EQ(bare.nodes, drawn.nodes);
  EXPECT_EQ(check_spec(bare), "");
  drawn.title.clear();
  EXPECT_EQ(hosts_and_switches(drawn), drawn);
}

TEST(ImperfectTree, PortsInBetweenAreFreeAndTheManagerStaysWithTheSwitch) {
  FabricSpec spec;
  const std::uint32_t node =
      add_node(spec, NodeType::Ca, "Mellanox Technologies Aggregation Node", Guid{1}, 1);
  const std::uint32_t sw = add_node(spec, NodeType::Switch, "sw", Guid{2}, 3);
  const std::uint32_t host = add_node(spec, NodeType::Ca, "host", Guid{3}, 1);
  connect(spec, sw, PortNum{2}, node, PortNum{1});
  connect(spec, sw, PortNum{3}, host, PortNum{1});
  const FabricSpec bare = hosts_and_switches(spec);
  ASSERT_EQ(bare.nodes.size(), 2u);
  EXPECT_EQ(check_spec(bare), "");
  EXPECT_EQ(bare.nodes[0].num_ports(), 3u);
  EXPECT_EQ(bare.nodes[0].ports[2].peer_node, kNoNode);
  EXPECT_EQ(bare.nodes[0].ports[3].peer_node, 1u);
  EXPECT_EQ(bare.sm_node, 0u);
  EXPECT_EQ(bare.sm_port, PortNum{0});
}

TEST(ImperfectTree, RoutersAreNoHosts) {
  FabricSpec spec;
  const std::uint32_t router = add_node(spec, NodeType::Router, "router", Guid{1}, 2);
  const std::uint32_t sw = add_node(spec, NodeType::Switch, "sw", Guid{4}, 3);
  const std::uint32_t host = add_node(spec, NodeType::Ca, "host", Guid{5}, 1);
  connect(spec, sw, PortNum{1}, host, PortNum{1});
  connect(spec, sw, PortNum{3}, router, PortNum{2});
  const FabricSpec bare = hosts_and_switches(spec);
  ASSERT_EQ(bare.nodes.size(), 2u);
  EXPECT_EQ(check_spec(bare), "");
  EXPECT_EQ(bare.nodes[0].num_ports(), 3u) << "the switch has its port, for whatever comes";
  EXPECT_EQ(bare.nodes[0].ports[3].peer_node, kNoNode);
  EXPECT_EQ(bare.nodes[1].description, "host");
}

TEST(ImperfectTree, AManagerOnARouterWithoutACableMovesToTheFirstNodeThatIsLeft) {
  FabricSpec spec;
  add_node(spec, NodeType::Router, "router", Guid{1}, 2);
  const std::uint32_t sw = add_node(spec, NodeType::Switch, "sw", Guid{4}, 3);
  const std::uint32_t host = add_node(spec, NodeType::Ca, "host", Guid{5}, 1);
  connect(spec, sw, PortNum{1}, host, PortNum{1});
  ASSERT_EQ(check_spec(spec), "");
  EXPECT_EQ(check_spec(hosts_and_switches(spec)), "");
}

TEST(ImperfectTree, HostsSitAtSpinesAndCablesAreSlow) {
  const FabricSpec spec = draw("fat-tree:k=4,spine_hosts=3,slow=50,speed=NDR");
  std::map<LinkSpeed, unsigned> ends;
  unsigned at_spines = 0;
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    if (!is_switch(spec, n)) continue;
    if (coordinates(spec, n)[0] == 1) at_spines += hosts_on(spec, n);
    for (const PortSpec& port : spec.nodes[n].ports) {
      if (port.peer_node != kNoNode && is_switch(spec, port.peer_node)) ++ends[port.speed];
    }
  }
  EXPECT_EQ(at_spines, 3u);
  EXPECT_THAT(ends, ElementsAre(Pair(LinkSpeed::Hdr, 8u), Pair(LinkSpeed::Ndr, 8u)));
}

TEST(ImperfectTree, TheSameCallGivesTheSameBytesAndAnotherSeedOthers) {
  const std::string call = "fat-tree:k=8,levels=3,uneven=30,missing=20,slow=10,seed=";
  EXPECT_EQ(print_fabric(draw(call + "1")), print_fabric(draw(call + "1")));
  EXPECT_NE(print_fabric(draw(call + "1")), print_fabric(draw(call + "2")));
}

struct DragonflyShape {
  const char* call;
  unsigned groups, globals_per_router, global_trunk, local_trunk;
  bool is_full;  // every global port is used
};

class Dragonfly : public ::testing::TestWithParam<DragonflyShape> {};

TEST_P(Dragonfly, GroupsAndRoutersAreJoinedCompletely) {
  const DragonflyShape& shape = GetParam();
  const FabricSpec spec = draw(shape.call);
  std::map<std::pair<unsigned, unsigned>, unsigned> between;
  std::map<std::pair<unsigned, unsigned>, std::set<std::uint32_t>> gateways;
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    if (!is_switch(spec, n)) continue;
    const unsigned group = coordinates(spec, n)[0];
    unsigned globals = 0;
    for (const auto& [peer, cables] : switch_neighbours(spec, n)) {
      const unsigned other = coordinates(spec, peer)[0];
      if (other == group) {
        EXPECT_EQ(cables, shape.local_trunk);
        continue;
      }
      globals += cables;
      between[{group, other}] += cables;
      gateways[{group, other}].insert(n);
    }
    EXPECT_LE(globals, shape.globals_per_router);
    EXPECT_GE(globals + (shape.is_full ? 0 : 1), shape.globals_per_router);
  }
  EXPECT_EQ(between.size(), std::size_t{shape.groups} * (shape.groups - 1));
  for (const auto& [pair, cables] : between) {
    EXPECT_EQ(cables, shape.global_trunk) << pair.first << "-" << pair.second;
    EXPECT_EQ(gateways[pair].size(), shape.global_trunk) << "trunk members share a router";
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes,
    Dragonfly,
    ::testing::Values(
        DragonflyShape{"dragonfly:a=5,h=2,c=2", 11, 2, 1, 1, true},
        DragonflyShape{"dragonfly:a=9,h=4,c=1", 37, 4, 1, 1, true},
        DragonflyShape{"dragonfly:a=9,h=4,c=1,groups=19,global-trunk=2", 19, 4, 2, 1, true},
        DragonflyShape{"dragonfly:a=9,h=8,c=1,groups=9,global-trunk=9", 9, 8, 9, 1, true},
        DragonflyShape{"dragonfly:a=4,h=1,c=1,local-trunk=3", 5, 1, 1, 3, true},
        DragonflyShape{"dragonfly:a=3,h=1,c=1", 4, 1, 1, 1, true},              // even groups
        DragonflyShape{"dragonfly:a=3,h=3,c=1", 10, 3, 1, 1, true},             // even groups
        DragonflyShape{"dragonfly:a=4,h=2,c=1,groups=8", 8, 2, 1, 1, false}));  // one port open

TEST(Torus, PortsFollowTheDimensions) {
  const FabricSpec spec = draw("torus:dims=4.5.3");
  const std::vector<unsigned> sides{4, 5, 3};
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    if (!is_switch(spec, n)) continue;
    for (std::size_t d = 0; d < 3; ++d) {
      auto ahead = coordinates(spec, n);
      ahead[d] = (ahead[d] + 1) % sides[d];
      const PortSpec& port = spec.nodes[n].ports[2 * d + 1];
      EXPECT_EQ(coordinates(spec, port.peer_node), ahead);
      EXPECT_EQ(port.peer_port.value(), 2 * d + 2);
    }
    EXPECT_FALSE(is_switch(spec, spec.nodes[n].ports[7].peer_node));
  }
}

TEST(Torus, AMeshHasNoWayAround) {
  const FabricSpec spec = draw("torus:dims=4.3,mesh=1");
  const auto corner = switch_neighbours(spec, node_named(spec, "sw-0-0"));
  EXPECT_EQ(corner.size(), 2u);
  EXPECT_TRUE(corner.contains(node_named(spec, "sw-1-0")));
  EXPECT_TRUE(corner.contains(node_named(spec, "sw-0-1")));
}

TEST(ExpressTorus, LeadsOneAndTwoAwayInEachDimension) {
  const FabricSpec spec = draw("express-torus");
  const auto joined = switch_neighbours(spec, node_named(spec, "sw-0-0"));
  std::set<std::vector<unsigned>> found;
  for (const auto& [peer, cables] : joined) found.insert(coordinates(spec, peer));
  EXPECT_EQ(found,
            (std::set<std::vector<unsigned>>{
                {1, 0}, {7, 0}, {2, 0}, {6, 0}, {0, 1}, {0, 7}, {0, 2}, {0, 6}}));
  EXPECT_THAT(switch_degrees(spec), ElementsAre(Pair(8, 64)));
}

TEST(Hypercube, NeighboursDifferInOneBit) {
  const FabricSpec spec = draw("hypercube:dim=5");
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    if (!is_switch(spec, n)) continue;
    for (unsigned d = 0; d < 5; ++d) {
      auto flipped = coordinates(spec, n);
      flipped[d] ^= 1u;
      EXPECT_EQ(coordinates(spec, spec.nodes[n].ports[d + 1].peer_node), flipped);
      EXPECT_EQ(spec.nodes[n].ports[d + 1].peer_port.value(), d + 1);
    }
  }
}

TEST(Cplant, HasTheDegreesOfTheMachine) {
  EXPECT_THAT(switch_degrees(draw("cplant")), ElementsAre(Pair(4, 2), Pair(7, 42), Pair(8, 6)));
}

TEST(Pgft, EveryLevelHasItsSwitchesParentsAndParallelCables) {
  const FabricSpec spec = draw("pgft:levels=3,down=3.4.5,up=1.2.3,parallel=1.3.2");
  std::map<unsigned, unsigned> per_level;
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    if (!is_switch(spec, n)) continue;
    const unsigned level = coordinates(spec, n)[0];
    ++per_level[level];
    unsigned above = 0;
    unsigned below = 0;
    for (const auto& [peer, cables] : switch_neighbours(spec, n)) {
      const bool is_up = coordinates(spec, peer)[0] > level;
      (is_up ? above : below) += 1;
      EXPECT_EQ(cables, std::min(level, coordinates(spec, peer)[0]) == 0 ? 3u : 2u);
    }
    EXPECT_EQ(above, (std::vector{2u, 3u, 0u})[level]);
    EXPECT_EQ(below, (std::vector{0u, 4u, 5u})[level]);
  }
  // Level i: the children above it times the parents up to it.
  EXPECT_THAT(per_level, ElementsAre(Pair(0, 20), Pair(1, 10), Pair(2, 6)));
}

TEST(Pgft, UpPortsGoRoundTheParents) {
  const FabricSpec spec = draw("pgft:down=2.3,up=1.2,parallel=1.2");
  const NodeSpec& leaf = spec.nodes[node_named(spec, "sw-0-1")];
  const std::uint32_t first = node_named(spec, "sw-1-0");
  const std::uint32_t second = node_named(spec, "sw-1-1");
  EXPECT_EQ(leaf.ports[3].peer_node, first);
  EXPECT_EQ(leaf.ports[4].peer_node, second);
  EXPECT_EQ(leaf.ports[5].peer_node, first);
  EXPECT_EQ(leaf.ports[6].peer_node, second);
  EXPECT_EQ(leaf.ports[3].peer_port.value(), 2);  // child 1 of 3, first round
  EXPECT_EQ(leaf.ports[5].peer_port.value(), 5);  // second round
}

/// Cables from the switches of one level of a fat tree to the next.
std::vector<std::size_t> cables_up(const FabricSpec& spec, unsigned levels) {
  std::vector<std::size_t> cables(levels);
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    if (!is_switch(spec, n)) continue;
    const unsigned level = coordinates(spec, n)[0];
    for (const auto& [peer, count] : switch_neighbours(spec, n)) {
      if (coordinates(spec, peer)[0] > level) cables[level] += count;
    }
  }
  return cables;
}

TEST(FatTree, TrimmedKeepsFullBisection) {
  for (const unsigned hosts : {1u, 7u, 36u, 37u, 100u, 324u, 500u, 647u}) {
    const FabricSpec spec = draw("fat-tree:hosts=" + std::to_string(hosts));
    EXPECT_EQ(count_hosts(spec), hosts);
    EXPECT_GE(cables_up(spec, 2)[0], hosts);
  }
  for (const unsigned hosts : {648u, 1000u, 1728u, 3456u, 5000u}) {
    const FabricSpec spec = draw("fat-tree:levels=3,hosts=" + std::to_string(hosts));
    EXPECT_EQ(count_hosts(spec), hosts);
    EXPECT_GE(cables_up(spec, 3)[0], hosts);
    EXPECT_GE(cables_up(spec, 3)[1], hosts);
  }
}

TEST(FatTree, TrimmedNeedsNoMoreSwitchesThanTheHandMadeOnes) {
  EXPECT_LE(count_switches(draw("fat-tree:levels=3,hosts=1728")), 108u + 108u + 54u);
  EXPECT_LE(count_switches(draw("fat-tree:levels=3,hosts=5832")), 324u + 324u + 162u);
  // No two-level tree of 36-port switches holds 324 hosts at full bisection with fewer than
  // 324/18 leaves and 324/36 spines.
  EXPECT_EQ(count_switches(draw("fat-tree:hosts=324")), 18u + 9u);
}

/// Switches of the last stage that can be reached from one of the first by going right only.
std::size_t reach_right(const FabricSpec& spec, std::uint32_t from, unsigned k, unsigned stages) {
  std::set<std::uint32_t> here{from};
  for (unsigned stage = 0; stage + 1 < stages; ++stage) {
    std::set<std::uint32_t> next;
    for (const std::uint32_t node : here) {
      for (unsigned p = k + 1; p <= 2 * k; ++p) next.insert(spec.nodes[node].ports[p].peer_node);
    }
    here = std::move(next);
  }
  return here.size();
}

TEST(Multistage, EveryFirstSwitchReachesEveryLastOne) {
  struct Net {
    const char* call;
    unsigned k, stages;
    std::size_t last;
  };

  for (const Net& net : {Net{"bmin", 4, 3, 16},
                         Net{"bmin:wiring=butterfly", 4, 3, 16},
                         Net{"bmin:stages=5,hosts=512", 4, 5, 128},
                         Net{"umin:k=3,stages=4", 3, 4, 27},
                         Net{"umin:k=3,stages=4,wiring=perfect-shuffle", 3, 4, 27}}) {
    const FabricSpec spec = draw(net.call);
    for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
      if (is_switch(spec, n) && coordinates(spec, n)[0] == 0) {
        EXPECT_EQ(reach_right(spec, n, net.k, net.stages), net.last) << net.call;
      }
    }
  }
}

TEST(Multistage, WiringIsTheNamedPermutation) {
  // 2-ary 3-fly, position 5 = 101: the shuffle rotates to 011 = 3, the butterfly between the first
  // two stages exchanges the last two digits and gives 110 = 6.
  const FabricSpec shuffle = draw("bmin:k=2");
  const PortSpec& s = shuffle.nodes[node_named(shuffle, "sw-0-2")].ports[4];
  EXPECT_EQ(shuffle.nodes[s.peer_node].description, "sw-1-1");
  EXPECT_EQ(s.peer_port.value(), 2);
  const FabricSpec butterfly = draw("bmin:k=2,wiring=butterfly");
  const PortSpec& b = butterfly.nodes[node_named(butterfly, "sw-0-2")].ports[4];
  EXPECT_EQ(butterfly.nodes[b.peer_node].description, "sw-1-3");
  EXPECT_EQ(b.peer_port.value(), 1);
}

TEST(Umin, HostsSendLeftAndReceiveRight) {
  const FabricSpec spec = draw("umin:k=2");
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    if (is_switch(spec, n)) continue;
    ASSERT_EQ(spec.nodes[n].num_ports(), 2u);
    EXPECT_EQ(coordinates(spec, spec.nodes[n].ports[1].peer_node)[0], 0u);
    EXPECT_EQ(coordinates(spec, spec.nodes[n].ports[2].peer_node)[0], 2u);
  }
}

TEST(Clos, EveryEdgeSwitchMeetsEveryMiddleOneOnce) {
  const FabricSpec spec = draw("clos:m=3,n=1,r=4");
  EXPECT_THAT(switch_degrees(spec), ElementsAre(Pair(3, 4), Pair(4, 3)));
  for (unsigned e = 0; e < 4; ++e) {
    const auto joined = switch_neighbours(spec, node_named(spec, "sw-0-" + std::to_string(e)));
    EXPECT_EQ(joined.size(), 3u);
    for (const auto& [peer, cables] : joined) EXPECT_EQ(cables, 1u);
  }
}

TEST(Irregular, IsRegularSimpleAndConnectedForEverySeed) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    for (const char* shape : {"switches=8",
                              "switches=5",
                              "switches=16,links=3",
                              "switches=9,links=2",
                              "switches=64",
                              "switches=2,links=1",
                              "switches=7,links=6,ports=10"}) {
      const std::string call = std::string("irregular:") + shape + ",seed=" + std::to_string(seed);
      const FabricSpec spec = draw(call);
      EXPECT_GE(diameter(spec), 0) << call;
      EXPECT_EQ(switch_degrees(spec).size(), 1u) << call;
      for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
        if (!is_switch(spec, n)) continue;
        EXPECT_EQ(hosts_on(spec, n), 4u);
        for (const auto& [peer, cables] : switch_neighbours(spec, n)) EXPECT_EQ(cables, 1u);
      }
    }
  }
}

TEST(Irregular, AnOddNumberOfEndsLeavesOneOpen) {
  EXPECT_THAT(switch_degrees(draw("irregular:switches=7,links=3")),
              ElementsAre(Pair(2, 1), Pair(3, 6)));
}

TEST(Irregular4, HasTheNodesOfTheEvaluation) {
  const std::vector<std::pair<unsigned, unsigned>> sizes{{8, 15},
                                                         {16, 30},
                                                         {24, 46},
                                                         {32, 53},
                                                         {32, 72},
                                                         {48, 112},
                                                         {64, 146},
                                                         {12, 23},
                                                         {20, 40},
                                                         {40, 68},
                                                         {128, 218}};
  for (const auto& [switches, nodes] : sizes) {
    for (unsigned seed = 1; seed <= 5; ++seed) {
      const FabricSpec spec = draw("irregular4:switches=" + std::to_string(switches) + ",nodes=" +
                                   std::to_string(nodes) + ",seed=" + std::to_string(seed));
      EXPECT_EQ(spec.nodes.size(), nodes);
      EXPECT_EQ(count_switches(spec), switches);
      EXPECT_GE(diameter(spec), 0);
      EXPECT_EQ(spec.nodes[0].description, "sw-0");
      EXPECT_EQ(spec.nodes[0].num_ports(), 4u);
      EXPECT_EQ(spec.sm_port.value(), 0);
    }
  }
}

}  // namespace
}  // namespace smd::sim::testing
