#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "smd/routing/updn/islands.h"
#include "smd/routing/updn/orientation.h"
#include "smd/routing/updn/root_choice.h"
#include "smd/routing/verify/check_routes.h"
#include "tests/unit/routing/support/generated.h"
#include "tests/unit/routing/support/random_fabric.h"
#include "tests/unit/routing/support/turn_model.h"

namespace smd::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr OrientationSearch kDepth = OrientationSearch::DepthFirst;

std::vector<std::string> by_rank(const Fabric& f, const Orientation& orientation) {
  std::vector<std::string> names(f.switch_count());
  for (const SwitchIdx sw : f.switch_node.indices())
    names.at(orientation.rank[sw]) = f.description[f.switch_node[sw]];
  return names;
}

TEST(DepthFirst, GoesOnToTheNeighbourWithMostCablesToThoseMet) {
  //  S1 - S2, S1 - S3, S2 - S3, S2 - S4, S3 - S4, S4 - S5
  //  From S1 both S2 and S3 have one cable back; from S2, S3 has two and S4 one.
  const Fabric f = fabric_from("S1-S2 S1-S3 S2-S3 S2-S4 S3-S4 S4-S5");
  RoutingRequest request = rooted(f, "S1");
  request.options.orientation_search = kDepth;
  EXPECT_THAT(by_rank(f, compute("updn", f, lids_in_order(f), request).orientation),
              ElementsAre("S1", "S2", "S3", "S4", "S5"));
}

TEST(DepthFirst, OfEqualOnesToTheFarthestThenTheSmallestGuid) {
  //  S2 and S3 are alike seen from S1, but S3 leads away from the rest: it is farther on average.
  const Fabric far = fabric_from("S1-S2 S1-S3 S2-S4 S4-S1 S2-S5 S5-S1");
  RoutingRequest request = rooted(far, "S1");
  request.options.orientation_search = kDepth;
  EXPECT_EQ(by_rank(far, compute("updn", far, lids_in_order(far), request).orientation)[1], "S3");

  const Fabric ring = fabric_from("S1-S2 S2-S3 S3-S4 S4-S1");
  request = rooted(ring, "S1");
  request.options.orientation_search = kDepth;
  EXPECT_THAT(by_rank(ring, compute("updn", ring, lids_in_order(ring), request).orientation),
              ElementsAre("S1", "S2", "S3", "S4"));
}

TEST(DepthFirst, StartsWhereFewestTurnsAreForbidden) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const Generated g = irregular(16, seed);
    const SwitchGraph graph{g.fabric};
    IndexVector<SwitchIdx, Guid> guids;
    for (const NodeIdx n : g.fabric.switch_node) guids.push_back(g.fabric.node_guid[n]);
    const std::vector<SwitchIdx> island = find_islands(graph).at(0);
    std::vector<std::uint64_t> turns;
    for (const SwitchIdx root : island) {
      IndexVector<SwitchIdx, std::uint32_t> rank(graph.switches());
      rank_depth_first(graph, guids, island, {&root, 1}, rank);
      EXPECT_EQ(rank[root], 0u);
      turns.push_back(count_forbidden_turns(graph, guids, island, rank));
    }
    IndexVector<SwitchIdx, std::uint32_t> rank(graph.switches());
    rank_depth_first(graph, guids, island, island, rank);
    const auto fewest = std::ranges::min_element(turns);
    EXPECT_EQ(count_forbidden_turns(graph, guids, island, rank), *fewest);
    EXPECT_EQ(rank[island[static_cast<std::size_t>(fewest - turns.begin())]], 0u)
        << "of equal ones the smallest GUID";
  }
}

TEST(DepthFirst, CountsOrderedPairsOfUpLinks) {
  // Three up links of S4 forbid 3 * 2 turns; two of S3 forbid 2.
  const Fabric f = fabric_from("S1-S2 S1-S3 S2-S3 S1-S4 S2-S4 S3-S4");
  const SwitchGraph graph{f};
  IndexVector<SwitchIdx, Guid> guids;
  IndexVector<SwitchIdx, std::uint32_t> rank;
  for (const NodeIdx n : f.switch_node) {
    guids.push_back(f.node_guid[n]);
    rank.push_back(static_cast<std::uint32_t>(rank.size()));
  }
  EXPECT_EQ(count_forbidden_turns(graph, guids, find_islands(graph).at(0), rank), 8u);
}

TEST(DepthFirst, OfSeveralRootsGivenTheBestIsTheRoot) {
  const Generated g = irregular(16, 3);
  RoutingRequest request{.options = {.orientation_search = kDepth}};
  for (const NodeIdx n : g.fabric.switch_node)
    request.options.roots.push_back(g.fabric.node_guid[n]);
  const RoutingTables all = compute("updn", g.fabric, g.lids, request);
  EXPECT_THAT(all.notes, IsEmpty());
  EXPECT_EQ(
      all.orientation,
      compute("updn", g.fabric, g.lids, {.options = {.orientation_search = kDepth}}).orientation);
}

TEST(DepthFirst, DirectionsAreKept) {
  const Generated g = irregular(16, 4);
  const RoutingTables first =
      compute("updn", g.fabric, g.lids, {.options = {.orientation_search = kDepth}});
  const RoutingTables again =
      compute("updn",
              g.fabric,
              g.lids,
              {.options = {.orientation_search = kDepth}, .previous = &first.orientation});
  EXPECT_EQ(again.orientation, first.orientation);
  EXPECT_EQ(again.lft, first.lft);
}

TEST(RootChoice, CentralIsTheOneWhoseFarthestSwitchIsNearest) {
  //  A chain of five with a tail of leaves on S2: S3 is the middle.
  const Fabric f = fabric_from("S1-S2 S2-S3 S3-S4 S4-S5 S2-S6 S2-S7 H1-S1 H5-S5");
  const RoutingTables tables =
      compute("updn", f, lids_in_order(f), {.options = {.root_choice = RootChoice::Central}});
  EXPECT_EQ(tables.orientation.rank[switch_named(f, "S3")], 0u);
}

TEST(RootChoice, OfEquallyCentralOnesTheOneNearestToAll) {
  //  S2 and S3 both have everybody within two links; S3 has more of them beside it.
  const Fabric f = fabric_from("S1-S2 S2-S3 S3-S4 S3-S5 S3-S6");
  const RoutingTables tables =
      compute("updn", f, lids_in_order(f), {.options = {.root_choice = RootChoice::Central}});
  EXPECT_EQ(tables.orientation.rank[switch_named(f, "S3")], 0u);
}

TEST(RootChoice, RootsGivenComeFirst) {
  const Fabric f = fabric_from("S1-S2 S2-S3 S3-S4 S4-S5");
  RoutingRequest request = rooted(f, "S5");
  request.options.root_choice = RootChoice::Central;
  EXPECT_EQ(compute("updn", f, lids_in_order(f), request).orientation.rank[switch_named(f, "S5")],
            0u);
}

RC_GTEST_PROP(DepthFirst, IsCompleteLegalAndAcyclicOnAnyFabric, ()) {
  const Fabric f = fabric_from(*random_fabric_text());
  const LidMap lids = lids_in_order(f, *rc::gen::inRange<std::uint8_t>(0, 3));
  const RoutingTables tables =
      compute("updn", f, lids, {.options = {.orientation_search = kDepth}});
  const RouteReport report = check_routes(f, lids, tables.lft);
  RC_ASSERT(report.first_faults == std::vector<std::string>{});
  RC_ASSERT(report.ok());
  // Ranks of an island are 0, 1, …: those of a walk, each switch below somebody but the root.
  const SwitchGraph graph{f};
  for (const auto& island : find_islands(graph)) {
    std::set<std::uint32_t> ranks;
    for (const SwitchIdx sw : island) {
      ranks.insert(tables.orientation.rank[sw]);
      const auto edges = graph.edges(sw);
      RC_ASSERT(tables.orientation.rank[sw] == 0u ||
                std::ranges::any_of(edges, [&](const SwitchEdge& edge) {
                  return tables.orientation.rank[edge.to] < tables.orientation.rank[sw];
                }));
    }
    RC_ASSERT(ranks.size() == island.size());
    RC_ASSERT(*ranks.rbegin() == island.size() - 1);
  }
}

// Cables that the walk does not take join a switch to an ancestor: removing all switches below rank
// r leaves no cable between branches.
RC_GTEST_PROP(DepthFirst, NoCableJoinsTwoBranches, ()) {
  const Fabric f = fabric_from(*random_fabric_text());
  const Orientation o =
      compute("updn", f, lids_in_order(f), {.options = {.orientation_search = kDepth}}).orientation;
  const SwitchGraph graph{f};
  // A walk that leaves a switch never comes back below it: whoever has a rank between two cabled
  // switches hangs below the upper one.
  for (const auto& island : find_islands(graph)) {
    std::vector<SwitchIdx> at(island.size());
    for (const SwitchIdx sw : island) at[o.rank[sw]] = sw;
    std::vector<std::size_t> parent(island.size(), 0);
    for (std::size_t r = 1; r < at.size(); ++r) {
      for (const SwitchEdge& edge : graph.edges(at[r])) {
        if (o.rank[edge.to] < r) parent[r] = std::max<std::size_t>(parent[r], o.rank[edge.to]);
      }
    }
    for (std::size_t r = 1; r < at.size(); ++r) {
      for (const SwitchEdge& edge : graph.edges(at[r])) {
        if (o.rank[edge.to] >= r) continue;
        std::size_t above = r;
        while (above > o.rank[edge.to]) above = parent[above];
        RC_ASSERT(above == o.rank[edge.to]);
      }
    }
  }
}

}  // namespace
}  // namespace smd::test
