// Multicast along labels: the published example, fabrics at random, what is refused.
#include "smd/multicast/label_paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "smd/multicast/check_tree.h"
#include "smd/routing/verify/channel_dependencies.h"
#include "tests/unit/multicast/label_walks.h"
#include "tests/unit/multicast/random_fabric.h"

namespace smd {
namespace label_paths_test {

using test::fabric_from;
using test::label_at;
using test::mesh_text;
using test::Published;
using test::published;
using test::Walks;
using test::with_tables;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Lid kMlid{0xc000};

/// "" when packets go where they should and every branch leads to a smaller label, no two to one.
std::string find_fault(const Walks& walks,
                       const std::vector<SwitchMask>& masks,
                       const std::vector<TreeMember>& members) {
  const Fabric& fabric = *walks.fabric;
  std::set<SwitchIdx> entered;
  for (const Branch& branch : walks.paths.find(kMlid)->branches) {
    if (branch.up == kNone<PortIdx>) continue;
    const SwitchIdx to = fabric.switch_at(fabric.peer[branch.up]);
    if (walks.label(to) >= walks.label(branch.sw)) return "a branch leads to a greater label";
    if (!entered.insert(to).second) return "a packet forks";
  }
  if (turns_up(fabric, masks, walks.paths.labels())) return "packets turn up again";
  return test::find_misdelivery(fabric, masks, members) + find_tree_fault(fabric, masks, members);
}

TEST(LabelPaths, DualPathTakesThePublishedChannels) {
  Walks walks(mesh_text(6, 6), TreeShape::DualPath);
  const Published example = published(walks);
  const auto masks = walks.masks(example.members);
  EXPECT_EQ(find_fault(walks, masks, example.members), "");
  unsigned above = 0;
  unsigned below = 0;
  for (const std::uint32_t label : walks.labels_of_tree()) {
    above += label > example.source ? 1 : 0;
    below += label < example.source ? 1 : 0;
  }
  // Lin, McKinley and Ni: 33 channels, 18 of them rise, 15 fall.
  EXPECT_EQ(above, 18u);
  EXPECT_EQ(below, 15u);
}

TEST(LabelPaths, KeepOffALinkThatDidNotBecomeActive) {
  for (const unsigned port : {2u, 3u}) {
    const Walks whole("H1-S1:1 H2-S2:1 S1:2-S2:2 S1:3-S2:3", TreeShape::DualPath);
    Walks walks(with_tables(test::with_refusing_link(*whole.fabric, "S2", port)),
                TreeShape::DualPath);
    const std::vector<TreeMember> members = {{walks.host(0)}, {walks.host(1)}};
    for (unsigned i = 0; i < 4; ++i) {
      const Lid mlid{static_cast<std::uint16_t>(kMlid.value() + i)};
      static_cast<void>(walks.masks(members, mlid));
      const PortIdx up = walks.paths.find(mlid)->branches.back().up;
      const PortIdx link = up == kNone<PortIdx> ? walks.paths.find(mlid)->branches.front().up : up;
      EXPECT_EQ(walks.fabric->number_of(link).value(), 5 - port) << i;
    }
  }
}

TEST(LabelPaths, ASharedPathMeetsEveryLabelBetween) {
  Walks walks(mesh_text(6, 6), TreeShape::PathShared);
  const Published example = published(walks);
  const auto masks = walks.masks(example.members);
  EXPECT_EQ(find_fault(walks, masks, example.members), "");
  std::vector<std::uint32_t> all;
  for (std::uint32_t label = label_at(0, 0); label <= label_at(0, 5); ++label) all.push_back(label);
  EXPECT_EQ(walks.labels_of_tree(), all);
}

TEST(LabelPaths, AnySenderWill) {
  // Also one who is in the middle of others: a path is walked both ways.
  for (const TreeShape shape : {TreeShape::PathShared, TreeShape::DualPath}) {
    Walks walks(mesh_text(1, 5), shape);
    const std::vector<TreeMember> members{
        {walks.host(1)}, {walks.host(2), false}, {walks.host(3)}, {walks.host(4), false}};
    EXPECT_EQ(find_fault(walks, walks.masks(members), members), "");
    EXPECT_THAT(walks.labels_of_tree(), ElementsAre(1, 2, 3, 4));
  }
}

TEST(LabelPaths, RandomGroupsCloseNoLoopWithUnicastRoutes) {
  std::size_t shared = 0;
  std::size_t dual = 0;
  unsigned searched = 0;  // fabrics that are no grid
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    Rng rng(seed);
    const auto rows = static_cast<unsigned>(rng.below(4)) + 1;
    const auto columns = static_cast<unsigned>(rng.below(4)) + 2;
    const auto text =
        mesh_text(rows, columns, static_cast<unsigned>(rng.below(2)) + 1, seed % 3 == 0);
    const bool any = seed % 4 == 0;
    const auto fabric = with_tables(fabric_from(any ? test::random_text(rng, 7) : text));
    const LidMap lids = test::lids_in_order(*fabric);
    const auto routes = find_engine("hamiltonian")->compute(*fabric, lids, RoutingRequest{});
    if (any && !routes) continue;
    ASSERT_TRUE(routes);
    searched += any ? 1 : 0;
    std::vector<std::vector<TreeMember>> groups;
    for (unsigned group = 0; group < 4; ++group)
      groups.push_back(test::random_members(*fabric, rng));
    for (const TreeShape shape : {TreeShape::PathShared, TreeShape::DualPath}) {
      SCOPED_TRACE(fmt::format("seed {} {}x{} shape {}", seed, rows, columns, int(shape)));
      Walks walks(fabric, shape);
      ChannelGraph graph(*fabric, 1);
      add_table_turns(*fabric, lids, routes->lft, graph);
      for (const std::vector<TreeMember>& members : groups) {
        const auto masks = walks.masks(members);
        ASSERT_EQ(find_fault(walks, masks, members), "");
        ASSERT_THAT(walks.paths.find(kMlid)->stranded, IsEmpty());
        (shape == TreeShape::DualPath ? dual : shared) += walks.paths.find(kMlid)->branches.size();
        add_tree_turns(*fabric, masks, 0, graph);
      }
      ASSERT_THAT(graph.find_cycle(), IsEmpty());
    }
  }
  EXPECT_LT(dual, shared) << "what short cuts are for";
  EXPECT_GT(searched, 3u);
}

TEST(LabelPaths, CablesBesideThePathMoveNoLabel) {
  Walks walks(mesh_text(4, 4), TreeShape::DualPath);
  const auto before = walks.paths.labels();
  // A link that leads past labels, not to the next one.
  for (const SwitchIdx sw : walks.fabric->switch_node.indices()) {
    Fabric cut = *walks.fabric;
    PortIdx port = kNone<PortIdx>;
    for (const PortIdx each : cut.ports_of(cut.switch_node[sw])) {
      const PortIdx peer = cut.peer[each];
      if (peer == kNone<PortIdx> || !cut.is_switch(cut.node_of[peer])) continue;
      if (walks.label(cut.switch_at(peer)) > walks.label(sw) + 1) port = each;
    }
    if (port == kNone<PortIdx>) continue;
    cut.peer[cut.peer[port]] = kNone<PortIdx>;
    cut.peer[port] = kNone<PortIdx>;
    ASSERT_TRUE(walks.paths.adopt(std::make_shared<const Fabric>(cut), TreeShape::DualPath));
    EXPECT_EQ(walks.paths.labels(), before);
  }
}

TEST(LabelPaths, WhatNoPathMeetsIsRefused) {
  LabelPaths paths;
  const auto star = with_tables(fabric_from("S1-S2 S1-S3 S1-S4 H1-S2 H2-S3"));
  EXPECT_FALSE(paths.adopt(star, TreeShape::PathShared));
  EXPECT_THAT(paths.refusal(), HasSubstr("no path meets every switch once"));
  EXPECT_FALSE(paths.adopt(star, TreeShape::PathShared)) << "the same again";
  EXPECT_THAT(paths.refusal(), HasSubstr("no path meets every switch once"));
  EXPECT_TRUE(paths.adopt(with_tables(fabric_from(mesh_text(2, 2))), TreeShape::PathShared));
  EXPECT_EQ(paths.refusal(), "");
}

TEST(LabelPaths, ASwitchWithoutRoomEndsThePath) {
  Fabric fabric = *with_tables(fabric_from(mesh_text(1, 5)));
  Walks all(std::make_shared<const Fabric>(fabric), TreeShape::PathShared);
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    if (all.label(sw) == 3) fabric.switch_info[sw].multicast_fdb_cap = 0;
  }
  Walks walks(std::make_shared<const Fabric>(fabric), TreeShape::PathShared);
  const std::vector<TreeMember> members{{walks.host(0)}, {walks.host(1)}, {walks.host(4)}};
  const auto masks = walks.masks(members);
  EXPECT_THAT(walks.paths.find(kMlid)->stranded, ElementsAre(walks.host(4)));
  EXPECT_EQ(find_fault(walks, masks, {members[0], members[1]}), "");
  EXPECT_THAT(walks.labels_of_tree(), ElementsAre(0, 1));
}

}  // namespace label_paths_test
}  // namespace smd
