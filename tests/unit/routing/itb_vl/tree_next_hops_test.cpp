#include "smd/routing/itb_vl/trees.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "smd/routing/itb_vl/sl_tables.h"
#include "smd/routing/updn/orientation.h"
#include "tests/unit/routing/support/generated.h"

namespace smd::test {
namespace {

// Over all shortest paths, one after the other.
std::uint32_t fewest_cuts(const SwitchGraph& graph,
                          const UpDownRule& rule,
                          const IndexVector<SwitchIdx, std::uint32_t>& distance,
                          SwitchIdx at,
                          bool came_down) {
  if (distance[at] == 0) return 0;
  std::uint32_t best = kUnreached;
  std::uint32_t position = graph.first_edge(at);
  for (const SwitchEdge& edge : graph.edges(at)) {
    const bool up = rule.is_up(position++);
    if (distance[edge.to] + 1 != distance[at]) continue;
    best = std::min(best,
                    (came_down && up ? 1 : 0) + fewest_cuts(graph, rule, distance, edge.to, !up));
  }
  return best;
}

TEST(AllowedNextHops, LeastCutsAreAsFewAsAnyShortestPathHas) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    const Generated g = irregular(24, seed);
    const OrientedFabric oriented{g.fabric, g.lids, {}, nullptr};
    const SwitchGraph& graph = oriented.graph;
    const UpDownRule rule{graph, oriented.up_down};
    AllowedNextHops edges{graph, oriented.up_down, rule};
    NextHops hops, all;
    std::uint64_t cuts = 0, choices = 0;
    for (const SwitchIdx to : g.fabric.switch_node.indices()) {
      const auto distance = compute_distances(graph, {&to, 1});
      edges.find(AllowedNextHops::Kind::LeastCuts, to, hops);
      choices += hops.edges.size() - hops.order.size();
      // Whichever of the ways a tree takes, here the first ones and the last ones.
      for (const bool last : {false, true}) {
        SwitchTrees trees{graph.switches()};
        for (std::size_t i = 0; i < hops.order.size(); ++i)
          trees.set_edge(
              to, hops.order[i], hops.edges[last ? hops.first[i + 1] - 1 : hops.first[i]]);
        EdgePath path;
        for (const SwitchIdx from : g.fabric.switch_node.indices()) {
          ASSERT_TRUE(find_path(graph, trees, from, to, path));
          EXPECT_EQ(path.size(), distance[from]);
          EXPECT_EQ(count_cuts(rule, path), fewest_cuts(graph, rule, distance, from, false));
          cuts += count_cuts(rule, path);
        }
      }
    }
    EXPECT_GT(cuts, 0u);
    EXPECT_GT(choices, 0u) << "not everything but one way is thrown away";
  }
}

TEST(AllowedNextHops, FreshOnesAreThoseThatOthersTakeLeast) {
  // S1 reaches S2 over S3, S4 and S5.
  const Fabric f = fabric_from("S1-S3 S1-S4 S1-S5 S2-S3 S2-S4 S2-S5");
  const SwitchGraph graph{f};
  const SwitchIdx from = switch_named(f, "S1"), to = switch_named(f, "S2");
  const auto fresh = [&](std::initializer_list<std::uint32_t> taken) {
    std::vector<SwitchTrees> others(taken.size(), SwitchTrees{graph.switches()});
    std::size_t i = 0;
    for (const std::uint32_t edge : taken)
      others[i++].set_edge(to, from, graph.first_edge(from) + edge);
    ShortestSearch search{graph};
    NextHops hops;
    search.find(to, hops);
    keep_fresh(others, to, hops);
    const auto at = std::ranges::find(hops.order, from) - hops.order.begin();
    std::vector<std::uint32_t> edges;
    for (auto e = hops.first[std::size_t(at)]; e < hops.first[std::size_t(at) + 1]; ++e)
      edges.push_back(hops.edges[e] - graph.first_edge(from));
    return edges;
  };
  using Edges = std::vector<std::uint32_t>;
  EXPECT_EQ(fresh({}), (Edges{0, 1, 2}));
  EXPECT_EQ(fresh({1}), (Edges{0, 2}));
  EXPECT_EQ(fresh({1, 0}), (Edges{2}));
  EXPECT_EQ(fresh({1, 0, 2}), (Edges{0, 1, 2}));
  EXPECT_EQ(fresh({1, 0, 2, 0}), (Edges{1, 2}));
}

}  // namespace
}  // namespace smd::test
