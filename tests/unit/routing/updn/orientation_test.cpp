#include "smd/routing/updn/orientation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "smd/routing/updn/islands.h"
#include "smd/routing/verify/check_routes.h"
#include "tests/unit/routing/support/paths.h"

namespace smd::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Oriented {
  explicit Oriented(std::string_view text, const Orientation* previous = nullptr)
      : fabric(fabric_from(text)), lids(lids_in_order(fabric)) {
    tables = compute("updn", fabric, lids, {.previous = previous});
    EXPECT_TRUE(check_routes(fabric, lids, tables.lft).ok());
  }

  unsigned rank(std::string_view name) const {
    return tables.orientation.rank[switch_named(fabric, name)];
  }

  std::vector<std::string> altered() const {
    std::vector<std::string> names;
    for (const Guid guid : tables.altered)
      names.push_back(fabric.description[*fabric.find_node(guid)]);
    return names;
  }

  Fabric fabric;
  LidMap lids;
  RoutingTables tables;
};

Orientation ranks(std::initializer_list<std::pair<unsigned, unsigned>> list) {
  Orientation o;
  for (const auto& [number, rank] : list) o.by_guid.emplace_back(Guid{0x1000 + number}, rank);
  return o;
}

TEST(Orientation, TheMiddleOfAChainIsTheRoot) {
  const Oriented o{"S1-S2 S2-S3 S3-S4 S4-S5 S1-H1 S2-H2 S3-H3 S4-H4 S5-H5"};
  EXPECT_EQ(o.rank("S3"), 0u);
  EXPECT_EQ(o.rank("S1"), 2u);
  EXPECT_THAT(o.tables.orientation.by_guid.front(), ::testing::Pair(Guid{0x1001}, 2u));
}

TEST(Orientation, ATopThatLostItsUpLinkGoesBelowANeighbour) {
  //     S1            S2 had only S1 above it. Its neighbour S4 still has S3.
  //   x    \          .
  //  S2     S3
  //    \   /
  //     S4
  const Orientation before = ranks({{1, 0}, {2, 1}, {3, 1}, {4, 2}});
  const Oriented o{"S1-S3 S3-S4 S4-S2 S1-H1 S2-H2", &before};
  EXPECT_THAT(o.altered(), ElementsAre("S2"));
  EXPECT_EQ(o.rank("S2"), 3u);
  EXPECT_EQ(o.rank("S4"), 2u);
}

TEST(Orientation, AWholeBranchIsTurnedWhenItHangsByItsFoot) {
  //   S1 - S3 - S4 - S5 - S2      S2 was up at S1 and has S5, S4 below; only S3-S4 is left of the
  //                               other side, so the branch is climbed the other way now.
  const Orientation before = ranks({{1, 0}, {2, 1}, {5, 2}, {4, 3}, {3, 1}});
  const Oriented o{"S1-S3 S3-S4 S4-S5 S5-S2 S1-H1 S2-H2", &before};
  EXPECT_EQ(o.rank("S1"), 0u);
  EXPECT_EQ(o.rank("S4"), 3u) << "has S3 above it already";
  EXPECT_THAT(o.altered(), ElementsAre("S2", "S5"));
}

//        S1            The root is a leaf of a fat tree: S2, S3 above S4 and below S1; S5, S6 the
//       /  \           cores, S7, S8 and S9 another pod. When S1-S3 is lost, S3 has nobody above
//     S2    S3         it, though all of its half of the tree climbs there.
//     | \  / | \      .
//     |  S4  |  |      .
//     S5     S6
//     S7     S8
//       \   /
//        S9
constexpr std::string_view kTreeWithoutACableOfTheRoot =
    "S1-S2 S2-S4 S3-S4 S2-S5 S3-S6 S5-S7 S6-S8 S7-S9 S8-S9 S1-H1 S4-H4 S9-H9";

unsigned count_turned(const Oriented& o, const Orientation& before) {
  const auto rank_before = [&](SwitchIdx sw) {
    const Guid guid = o.fabric.node_guid[o.fabric.switch_node[sw]];
    const auto known =
        std::ranges::find(before.by_guid, guid, [](const auto& entry) { return entry.first; });
    return std::pair(known->second, guid);
  };
  const auto rank_now = [&](SwitchIdx sw) {
    return std::pair(o.tables.orientation.rank[sw], o.fabric.node_guid[o.fabric.switch_node[sw]]);
  };
  const SwitchGraph graph{o.fabric};
  unsigned turned = 0;
  for (const SwitchIdx sw : o.fabric.switch_node.indices()) {
    for (const SwitchEdge& edge : graph.edges(sw))
      turned += rank_before(sw) < rank_before(edge.to) && rank_now(edge.to) < rank_now(sw);
  }
  return turned;
}

TEST(Orientation, ACableOfTheRootTurnsASingleLink) {
  const Orientation before =
      ranks({{1, 0}, {2, 1}, {3, 1}, {4, 2}, {5, 2}, {6, 2}, {7, 3}, {8, 3}, {9, 4}});
  const Oriented o{kTreeWithoutACableOfTheRoot, &before};
  EXPECT_THAT(o.altered(), ElementsAre("S3"));
  EXPECT_EQ(count_turned(o, before), 1u);
  EXPECT_GT(o.rank("S3"), o.rank("S4"));
  EXPECT_GT(o.rank("S6"), o.rank("S3"));
}

TEST(Orientation, WhoIsHungUnderTakesItsPlaceOfTheOrderToo) {
  // The same, but the leaf that S3 goes below comes last of all: it is raised, and the others stay.
  const Orientation before =
      ranks({{1, 0}, {2, 1}, {3, 1}, {4, 5}, {5, 2}, {6, 2}, {7, 3}, {8, 3}, {9, 4}});
  const Oriented o{kTreeWithoutACableOfTheRoot, &before};
  EXPECT_THAT(o.altered(), ElementsAre("S3", "S4"));
  EXPECT_EQ(count_turned(o, before), 1u);
}

TEST(Orientation, ManyTopsAreHungOneAfterTheOther) {
  //  S1   S2   S3    No switch is next to all three.
  //    \ /  \ /
  //    S4    S5
  const Orientation before = ranks({{1, 0}, {2, 0}, {3, 0}, {4, 1}, {5, 1}});
  const Oriented o{"S1-S4 S2-S4 S2-S5 S3-S5 S1-H1 S3-H3", &before};
  EXPECT_THAT(o.altered(), ElementsAre("S2", "S3"));
  EXPECT_EQ(count_turned(o, before), 2u);
  EXPECT_EQ(o.rank("S1"), 0u);
}

TEST(Orientation, ADeadRootIsReplacedByOneNeighbourOfAllTops) {
  //    S2  S3  S4     S1, above these, is gone. S5 and S6 are below each of them.
  const Orientation before = ranks({{1, 0}, {2, 1}, {3, 1}, {4, 1}, {5, 2}, {6, 2}});
  const Oriented o{"S2-S5 S3-S5 S4-S5 S2-S6 S3-S6 S4-S6 S5-H1 S6-H2", &before};
  EXPECT_THAT(o.altered(), ElementsAre("S5"));
  EXPECT_EQ(o.rank("S5"), 0u);
  EXPECT_EQ(o.rank("S6"), 2u);
}

TEST(Orientation, RoomIsMadeAboveRankZeroWithoutTurningAnything) {
  // Three running subnets are cabled together through the new switch S9's neighbour S5.
  const Orientation before = ranks({{2, 0}, {3, 0}, {4, 0}, {5, 1}, {6, 1}});
  const Oriented o{"S2-S5 S3-S5 S4-S5 S2-S6 S5-H1 S6-H2", &before};
  EXPECT_THAT(o.altered(), ElementsAre("S5"));
  EXPECT_EQ(o.rank("S5"), 0u);
  EXPECT_EQ(o.rank("S2"), 1u);
  EXPECT_EQ(o.rank("S6"), 2u);
}

TEST(Orientation, ANewSwitchComesBelowItsHighestNeighbour) {
  const Orientation before = ranks({{1, 0}, {2, 1}, {3, 1}});
  const Oriented o{"S1-S2 S1-S3 S2-S7 S3-S7 S7-S8 S8-H1", &before};
  EXPECT_EQ(o.rank("S7"), 2u);
  EXPECT_EQ(o.rank("S8"), 3u);
  EXPECT_THAT(o.altered(), IsEmpty());
}

TEST(Orientation, IslandsHaveTheirOwnRoots) {
  const Oriented o{"S1-S2 S3-S4 S5"};
  EXPECT_EQ(o.rank("S1") + o.rank("S2"), 1u);
  EXPECT_EQ(o.rank("S3") + o.rank("S4"), 1u);
  EXPECT_EQ(o.rank("S5"), 0u);
}

}  // namespace
}  // namespace smd::test
