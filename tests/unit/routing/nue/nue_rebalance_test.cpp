// One lane for all destinations: trees at a price, orders of destinations, and what relief moves.
#include <gtest/gtest.h>

#include <algorithm>

#include "smd/routing/graph/switch_graph.h"
#include "smd/routing/nue/planner.h"
#include "smd/routing/nue/tree_growth.h"
#include "tests/support/fabric_text.h"
#include "tests/unit/routing/support/generated.h"

namespace smd::test {
namespace nue_rebalance_test {

constexpr std::uint64_t kAny = ~std::uint64_t{0};

// A fabric and what planning wants to know of it.
struct Net {
  explicit Net(Fabric of, LidMap with)
      : fabric(std::move(of)),
        lids(std::move(with)),
        graph(fabric),
        channels(graph),
        targets(find_targets(fabric, lids)),
        costs(find_link_costs(fabric, graph)) {}

  explicit Net(std::string_view text) : Net(fabric_from(text), lids_in_order(fabric_from(text))) {}

  [[nodiscard]] SwitchIdx sw(std::string_view name) const { return switch_named(fabric, name); }

  [[nodiscard]] Channel channel(std::string_view from, std::string_view to) const {
    for (Channel c = channels.first[sw(from).value()]; c < channels.size(); ++c) {
      if (channels.from[c] == sw(from) && channels.to[c] == sw(to)) return c;
    }
    ADD_FAILURE() << from << " has no cable to " << to;
    return 0;
  }

  [[nodiscard]] TurnSet no_turns() const {
    std::vector<Channel> order(channels.size());
    for (Channel c = 0; c < order.size(); ++c) order[c] = c;
    return TurnSet{channels, order};
  }

  [[nodiscard]] NuePlanner planner() const { return {graph, channels, targets, costs}; }

  Fabric fabric;
  LidMap lids;
  SwitchGraph graph;
  Channels channels;
  Targets targets;
  std::vector<std::uint32_t> costs;
};

//  S1 - S2    To S2: S1 directly, or round by S4 and S3.
//   |    |
//  S4 - S3
constexpr const char* kSquare = "S1-S2 S2-S3 S3-S4 S4-S1 S1-H1 S2-H2 S3-H3 S4-H4";

TEST(PricedGrowth, GoesRoundWhatCostsMore) {
  const Net net{kSquare};
  TurnSet turns = net.no_turns();
  PricedGrowth growth{net.channels};
  std::vector<std::uint32_t> price(net.channels.size(), 10);
  growth.grow(turns, net.sw("S2"), price);
  EXPECT_EQ(growth.tree().egress[net.sw("S1")], net.channel("S1", "S2"));
  EXPECT_EQ(growth.tree().depth[net.sw("S1")], 1u);
  turns.take_back();
  price[net.channel("S1", "S2")] = 35;
  growth.grow(turns, net.sw("S2"), price);
  EXPECT_EQ(growth.tree().egress[net.sw("S1")], net.channel("S1", "S4"));
  EXPECT_EQ(growth.tree().depth[net.sw("S1")], 3u);
  EXPECT_EQ(growth.tree().order.size(), 4u);
}

// The other turns of the ring are in, so the last one is not free at any price.
TEST(PricedGrowth, TakesTheNextBestWayWhereATurnClosesACycle) {
  const Net net{kSquare};
  TurnSet turns = net.no_turns();
  EXPECT_TRUE(turns.add(net.channel("S3", "S2"), net.channel("S2", "S1")));
  EXPECT_TRUE(turns.add(net.channel("S2", "S1"), net.channel("S1", "S4")));
  EXPECT_TRUE(turns.add(net.channel("S1", "S4"), net.channel("S4", "S3")));
  turns.keep();
  std::vector<std::uint32_t> price(net.channels.size(), 10);
  price[net.channel("S4", "S1")] = 20;
  PricedGrowth growth{net.channels};
  growth.grow(turns, net.sw("S2"), price);
  EXPECT_EQ(growth.tree().egress[net.sw("S4")], net.channel("S4", "S1"));
  EXPECT_FALSE(turns.has(net.channel("S4", "S3"), net.channel("S3", "S2")));
  EXPECT_EQ(growth.tree().order.size(), 4u);
}

TEST(PricedGrowth, LeavesOutWhomNoFreeTurnLeadsFrom) {
  // Two triangles that share S3. Whoever turns from the second into S3-S1 closes a ring with turns
  // that lead from there round the first one and the second one, either way.
  const Net net{"S1-S2 S2-S3 S3-S1 S3-S4 S4-S5 S5-S3"};
  TurnSet turns = net.no_turns();
  const auto add = [&](const char* a, const char* b, const char* c) {
    EXPECT_TRUE(turns.add(net.channel(a, b), net.channel(b, c)));
  };
  add("S3", "S1", "S2");
  add("S1", "S2", "S3");
  add("S2", "S3", "S5");
  add("S3", "S5", "S4");
  add("S5", "S4", "S3");
  add("S2", "S3", "S4");
  add("S3", "S4", "S5");
  add("S4", "S5", "S3");
  turns.keep();
  PricedGrowth growth{net.channels};
  growth.grow(turns, net.sw("S1"), std::vector<std::uint32_t>(net.channels.size(), 10));
  EXPECT_EQ(growth.tree().order.size(), 3u);
  for (const char* name : {"S4", "S5"}) EXPECT_EQ(growth.tree().depth[net.sw(name)], kUnreached);
}

// Two ways, by S3 and by S4, lead from the hosts at S1 to S2 and on to one host each at S5 and S6,
// four at S7.
constexpr const char* kTwoPaths =
    "S1 S2 S3 S4 S5 S6 S7 S1-S3 S1-S4 S3-S2 S4-S2 S2-S5 S2-S6 S2-S7 "
    "H1-S1 H2-S1 H5-S5 H6-S6 H7-S7 H8-S7 H9-S7 H10-S7";

std::uint64_t fullest_from_s1(const Net& net, const NuePlanner& planner) {
  return std::max(planner.load()[net.channel("S1", "S3")], planner.load()[net.channel("S1", "S4")]);
}

// S5 and S6 come first and part, so the four at S7 share a way with one of them. Once that is
// known, the one moves over to the other.
TEST(NueRelief, MovesWhoeverChoseWithoutKnowingTheRest) {
  const Net net{kTwoPaths};
  NuePlanner planner = net.planner();
  ASSERT_TRUE(planner.plan_in_strides(1, kAny));
  EXPECT_EQ(fullest_from_s1(net, planner), 2u * 5);
  planner.rebalance();
  EXPECT_EQ(fullest_from_s1(net, planner), 2u * 4);
}

// Whatever trees it puts in place of the planned ones.
TEST(NueRelief, LoadsAreThoseOfTheTreesAndTheirTurnsAreIn) {
  for (const char* spec : {"torus:dims=6.6,hosts=2",
                           "dragonfly:a=4,c=2,h=2",
                           "irregular:switches=24,ports=12,links=4,hosts=4"}) {
    const Generated g = generated(spec);
    const Net net{g.fabric, g.lids};
    NuePlanner planner = net.planner();
    ASSERT_TRUE(planner.plan_in_strides(2, kAny));
    const std::uint64_t before = *std::ranges::max_element(planner.load());
    planner.rebalance();
    EXPECT_LT(*std::ranges::max_element(planner.load()), before) << spec;
    std::vector<std::uint64_t> load(net.channels.size(), 0);
    for (const SwitchIdx destination : planner.planned()) {
      GrownTree tree;
      planner.read(destination, tree);
      EXPECT_EQ(tree.order.size(), net.graph.switches());
      for (const SwitchIdx start : tree.order) {
        for (SwitchIdx sw = start; sw != destination; sw = net.channels.to[tree.egress[sw]]) {
          load[tree.egress[sw]] +=
              std::uint64_t{net.targets.hosts[start]} * net.targets.hosts[destination];
          const Channel next = tree.egress[net.channels.to[tree.egress[sw]]];
          EXPECT_TRUE(next == kNoChannel || planner.turns(destination).has(tree.egress[sw], next));
        }
      }
    }
    EXPECT_EQ(load, planner.load()) << spec;
  }
}

TEST(NueStrides, EndAsSoonAsThereAreMoreLinksThanAllowed) {
  const Generated g = generated("torus:dims=7,hosts=1");
  const Net net{g.fabric, g.lids};
  NuePlanner planner = net.planner();
  ASSERT_TRUE(planner.plan_in_strides(2, kAny));
  const std::uint64_t links = planner.count_links();
  EXPECT_GT(links, 7u * (1 + 1 + 2 + 2 + 3 + 3));
  EXPECT_TRUE(planner.plan_in_strides(2, links));
  EXPECT_FALSE(planner.plan_in_strides(2, links - 1));
}

// LoadRebalancer may spend a few links more.
TEST(NueSingleLane, TakesTheOrderWithFewestLinks) {
  for (const char* spec : {"torus:dims=8.8,hosts=1", "dragonfly:a=6,c=3,h=3"}) {
    const Generated g = generated(spec);
    const Net net{g.fabric, g.lids};
    const auto best = plan_single_layer(net.graph, net.channels, net.targets, net.costs);
    NuePlanner two = net.planner(), six = net.planner();
    ASSERT_TRUE(two.plan_in_strides(2, kAny) && six.plan_in_strides(6, kAny));
    ASSERT_NE(two.count_links(), six.count_links()) << spec;
    NuePlanner& better = two.count_links() < six.count_links() ? two : six;
    better.rebalance();
    EXPECT_EQ(best->load(), better.load()) << spec;
    EXPECT_TRUE(best->is_rebalanced()) << spec;
  }
}

TEST(NueSingleLane, ShortestRoutesThatGoTogetherNeedNoRelief) {
  const Generated g = generated("fat-tree:k=4,levels=3");
  const Net net{g.fabric, g.lids};
  EXPECT_FALSE(plan_single_layer(net.graph, net.channels, net.targets, net.costs)->is_rebalanced());
}

// S1 has S3 and S4 as short to S2. The second is taken too, unless it carries more.
TEST(NueWays, AFurtherWayMayNotCarryMoreThanTheTrees) {
  const Net net{kTwoPaths};
  TurnSet turns = net.no_turns();
  PricedGrowth growth{net.channels};
  growth.grow(turns, net.sw("S2"), std::vector<std::uint32_t>(net.channels.size(), 10));
  const GrownTree& tree = growth.tree();
  const bool by_s3 = tree.egress[net.sw("S1")] == net.channel("S1", "S3");
  const Channel beyond = net.channel(by_s3 ? "S4" : "S3", "S2");
  LayerNextHops next_hops{net.channels};
  NextHops hops;
  std::vector<std::uint64_t> load(net.channels.size(), 5);
  next_hops.widen(tree, turns, hops, &load);
  EXPECT_EQ(hops.edges.size(), hops.order.size() + 1);
  load[beyond] = 6;
  next_hops.widen(tree, turns, hops, &load);
  EXPECT_EQ(hops.edges.size(), hops.order.size());
  next_hops.widen(tree, turns, hops);
  EXPECT_EQ(hops.edges.size(), hops.order.size() + 1);
}

}  // namespace nue_rebalance_test
}  // namespace smd::test
