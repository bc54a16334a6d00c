#include "smd/routing/fat_tree/shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/routing/support/trees.h"

namespace smd::test {
namespace fat_tree_shape_test {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

FatTreeShape shape_of(const Fabric& fabric) {
  auto shape = recognise_fat_tree(fabric);
  EXPECT_TRUE(shape.has_value()) << (shape ? "" : shape.error().context);
  return shape ? std::move(*shape) : FatTreeShape{};
}

std::uint32_t level(const Fabric& fabric, const FatTreeShape& shape, std::string_view name) {
  return shape.level[switch_named(fabric, name)];
}

std::vector<std::size_t> switches_by_level(const FatTreeShape& shape) {
  std::vector<std::size_t> counts;
  for (const auto& each : shape.levels) counts.push_back(each.switches);
  return counts;
}

/// Leaves that have a place, in the order of their places, as "name@place".
std::vector<std::string> places(const Fabric& fabric, const FatTreeShape& shape) {
  std::vector<std::pair<std::uint64_t, std::string>> order;
  for (const SwitchIdx sw : shape.level.indices()) {
    if (shape.leaf_place[sw] != kNoPlace)
      order.emplace_back(shape.leaf_place[sw], fabric.description[fabric.switch_node[sw]]);
  }
  std::sort(order.begin(), order.end());
  std::vector<std::string> names;
  for (const auto& [place, name] : order) names.push_back(name + "@" + std::to_string(place));
  return names;
}

TEST(FatTreeShape, CountsLevelsParentsAndCables) {
  const FatTreeShape shape =
      shape_of(generated_fabric("pgft:levels=3,down=4.4.4,up=1.2.4,parallel=1.2.2"));
  EXPECT_THAT(switches_by_level(shape), ElementsAre(16u, 8u, 8u));
  EXPECT_EQ(shape.levels[0].parents, 2u);
  EXPECT_EQ(shape.levels[0].links, 4u);
  EXPECT_EQ(shape.levels[1].parents, 4u);
  EXPECT_EQ(shape.levels[1].links, 8u);
  EXPECT_EQ(shape.levels[2].links, 0u);
  EXPECT_EQ(shape.missing(), 0u);
  EXPECT_EQ(shape.hosts, 64u);
  EXPECT_EQ(shape.host_places, 4u);
  EXPECT_EQ(print_fat_tree(shape), "fat tree of 16 + 8 + 8 switches, 64 hosts");
}

TEST(FatTreeShape, NumbersLeavesInTheOrderOfTheSubtrees) {
  const Fabric fabric = generated_fabric("fat-tree:k=4,levels=3");
  const FatTreeShape shape = shape_of(fabric);
  std::uint64_t place = 0;
  for (const PortIdx host : list_hosts(fabric)) {
    const PortIdx at = fabric.peer[host];
    const SwitchIdx leaf = fabric.switch_at(at);
    EXPECT_EQ(
        shape.leaf_place[leaf] * shape.host_places + shape.host_place[fabric.number_of(at).value()],
        place++);
  }
}

TEST(FatTreeShape, ALostLeafMovesNoOther) {
  const Fabric fabric = generated_fabric("fat-tree:k=4,levels=3");
  for (const char* name : {"sw-0-0", "sw-0-3", "sw-0-6"}) {
    auto expected = places(fabric, shape_of(fabric));
    std::erase_if(expected, [&](const std::string& text) {
      return text.starts_with(std::string(name) + "@");
    });
    std::set<NodeIdx> gone{node(fabric, name)};
    for (const PortIdx port : fabric.external_ports(node(fabric, name))) {
      const NodeIdx far = fabric.node_of[fabric.peer[port]];
      if (!fabric.is_switch(far)) gone.insert(far);
    }
    const Fabric damaged = without_nodes(fabric, gone);
    EXPECT_EQ(places(damaged, shape_of(damaged)), expected) << name;
  }
}

TEST(FatTreeShape, InTwoLevelsTheFirstLeafKeepsItsPlaceWhenItIsAway) {
  const Fabric fabric = generated_fabric("fat-tree:k=6,levels=2");
  const Fabric damaged = without_nodes(fabric, {node(fabric, "sw-0-0")});
  EXPECT_THAT(places(damaged, shape_of(damaged)),
              ElementsAre("sw-0-1@1", "sw-0-2@2", "sw-0-3@3", "sw-0-4@4", "sw-0-5@5"));
}

TEST(FatTreeShape, LeavesThatClaimOnePlaceAreNumberedByGuid) {
  //  Both leaves hang at port 1 of their spine.
  const Fabric fabric = fabric_from("S1-H1 S2-H2 S3:1-S1 S4:1-S2 S3:2-S2 S4:2-S1");
  EXPECT_THAT(places(fabric, shape_of(fabric)), ElementsAre("S1@0", "S2@1"));
}

TEST(FatTreeShape, AHeadNodeOnASpineMakesNoLeaf) {
  //  H9 sits on a spine of two levels: an odd number of links from the leaves.
  const Fabric fabric =
      fabric_from("S1-S3 S1-S4 S2-S3 S2-S4 S1-H1 S1-H2 S1-H3 S2-H4 S2-H5 S2-H6 S3-H9");
  const FatTreeShape shape = shape_of(fabric);
  EXPECT_EQ(level(fabric, shape, "S3"), 1u);
  EXPECT_EQ(shape.hosts_above, 1u);
  EXPECT_THAT(print_fat_tree(shape), HasSubstr("1 hosts above the leaves"));
}

TEST(FatTreeShape, AHeadNodeOnACoreMakesNoLeafEvenWhereLeavesHaveOneHost) {
  //  Even number of links from the leaves: only the subtrees that it joins tell.
  const Fabric fabric = fabric_from(
      "S1-H1 S2-H2 S3-H3 S4-H4 S1-S11 S1-S12 S2-S11 S2-S12 S3-S13 S3-S14 S4-S13 S4-S14 "
      "S11-S21 S13-S21 S12-S22 S14-S22 S21-H9");
  const FatTreeShape shape = shape_of(fabric);
  EXPECT_EQ(level(fabric, shape, "S21"), 2u);
  EXPECT_EQ(level(fabric, shape, "S1"), 0u);
  EXPECT_EQ(shape.hosts_above, 1u);
}

TEST(FatTreeShape, WithOneHostPerLeafASpineWithAHostIsFoundByItsNeighbours) {
  const Fabric fabric = fabric_from(
      "S1-H1 S2-H2 S3-H3 S4-H4 S1-S11 S1-S12 S2-S11 S2-S12 S3-S11 S3-S12 S4-S11 S4-S12 S12-H9");
  const FatTreeShape shape = shape_of(fabric);
  EXPECT_EQ(level(fabric, shape, "S12"), 1u);
  EXPECT_EQ(shape.level_links, 0u);
}

TEST(FatTreeShape, LeavesWithoutHostsRemainLeaves) {
  const Fabric fabric = generated_fabric("fat-tree:k=4,levels=3");
  // All hosts of the first leaf of pod 0; then all of pod 3.
  for (const auto& [from, to] : {std::pair{0u, 1u}, std::pair{6u, 7u}}) {
    std::set<NodeIdx> off;
    for (unsigned leaf = from; leaf <= to; ++leaf) {
      for (const PortIdx port :
           fabric.external_ports(node(fabric, "sw-0-" + std::to_string(leaf)))) {
        const NodeIdx far = fabric.node_of[fabric.peer[port]];
        if (!fabric.is_switch(far) && (from != 0 || leaf == 0)) off.insert(far);
      }
    }
    const Fabric dark = without_nodes(fabric, off);
    const FatTreeShape shape = shape_of(dark);
    EXPECT_THAT(switches_by_level(shape), ElementsAre(8u, 8u, 4u));
    EXPECT_EQ(shape.missing(), 0u);
  }
}

TEST(FatTreeShape, CountsWhatIsMissing) {
  const Fabric fabric = generated_fabric("fat-tree:k=8,levels=3");
  const Fabric damaged = without_cables(
      fabric, {cable(fabric, "sw-0-0", "sw-1-2"), cable(fabric, "sw-1-5", "sw-2-5")});
  const FatTreeShape shape = shape_of(damaged);
  EXPECT_EQ(shape.missing(), 2u);
  EXPECT_EQ(shape.levels[0].missing, 1u);
  EXPECT_EQ(shape.levels[1].missing, 1u);
}

TEST(FatTreeShape, StaysWhatItIsHoweverManyCablesAreLost) {
  const Fabric fabric = generated_fabric("fat-tree:k=8,levels=3");
  const FatTreeShape whole = shape_of(fabric);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Rng rng{seed};
    const Fabric damaged = without_cables(fabric, draw_cables(fabric, 50, rng));
    const FatTreeShape shape = shape_of(damaged);
    std::size_t different = 0;
    for (const SwitchIdx sw : whole.level.indices()) {
      different += shape.level[sw] != whole.level[sw];
    }
    EXPECT_LE(different, 1u) << "seed " << seed;
    for (const SwitchIdx sw : whole.level.indices()) {
      if (whole.leaf_place[sw] == kNoPlace || SwitchGraph{damaged}.edges(sw).empty()) continue;
      EXPECT_EQ(shape.leaf_place[sw], whole.leaf_place[sw]) << "seed " << seed;
    }
  }
}

TEST(FatTreeShape, ACableBetweenTwoLeavesIsTolerated) {
  std::string text = fat_tree_text(4);
  const FatTreeShape before = shape_of(fabric_from(text));
  const FatTreeShape shape = shape_of(fabric_from(text + "S1-S6"));
  EXPECT_EQ(shape.level_links, 1u);
  EXPECT_EQ(shape.level, before.level);
}

TEST(FatTreeShape, ASwitchThatHasLostItsLeavesStaysBelowTheCores) {
  const Fabric fabric = generated_fabric("fat-tree:k=4,levels=3");
  const Fabric damaged = without_cables(
      fabric, {cable(fabric, "sw-0-2", "sw-1-3"), cable(fabric, "sw-0-3", "sw-1-3")});
  const FatTreeShape shape = shape_of(damaged);
  EXPECT_EQ(level(damaged, shape, "sw-1-3"), 1u);
  EXPECT_EQ(places(damaged, shape), places(fabric, shape_of(fabric)));
}

TEST(FatTreeShape, CoresStayCoresWhereMostHostsAreInOnePod) {
  const Fabric fabric = generated_fabric("fat-tree:k=8,levels=3");
  std::set<NodeIdx> off;
  const std::vector<PortIdx> hosts = list_hosts(fabric);
  for (std::size_t i = 16; i < hosts.size(); ++i) {
    if (i != 77) off.insert(fabric.node_of[hosts[i]]);
  }
  EXPECT_THAT(switches_by_level(shape_of(without_nodes(fabric, off))), ElementsAre(32u, 32u, 16u));
}

TEST(FatTreeShape, RefusesWhatIsNoTreeAndNamesTwoSwitches) {
  for (const char* spec : {"torus:dims=4.4",
                           "torus:dims=5.3",
                           "dragonfly:a=4,c=1,h=1",
                           "hamming:dims=4.4",
                           "hypercube:dim=4",
                           "irregular4:switches=16,nodes=30,seed=1"})
    EXPECT_FALSE(recognise_fat_tree(generated_fabric(spec))) << spec;
  const auto ring = recognise_fat_tree(
      fabric_from("S1-S2 S2-S3 S3-S4 S4-S5 S5-S1 S1-H1 S2-H2 S3-H3 S4-H4 S5-H5"));
  ASSERT_FALSE(ring);
  EXPECT_EQ(ring.error().code, Errc::Unsupported);
  EXPECT_THAT(ring.error().context, AllOf(HasSubstr("of 5 links"), HasSubstr("such as S")));
}

}  // namespace fat_tree_shape_test
}  // namespace smd::test
