// Trees on fabrics of every shape, judged by letting packets go through them.
#include "smd/multicast/forest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "smd/multicast/check_tree.h"
#include "smd/routing/updn/islands.h"
#include "smd/routing/verify/channel_dependencies.h"
#include "smd/routing/verify/check_routes.h"
#include "tests/unit/multicast/random_fabric.h"

namespace smd {
namespace forest_test {

using test::end_port;
using test::fabric_from;
using test::with_tables;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr Lid kMlid{0xc000};

Lid nth(unsigned n) { return Lid{static_cast<std::uint16_t>(kMlid.value() + n)}; }

/// A fabric with routes, and a forest along their directions.
struct Woods {
  explicit Woods(std::shared_ptr<const Fabric> snapshot, std::string_view engine = "updn")
      : fabric(std::move(snapshot)), lids(test::lids_in_order(*fabric)) {
    routing = find_engine(engine)->compute(*fabric, lids, RoutingRequest{}).value();
    ranks = choose_ranks(*fabric, lids, routing, {});
    forest.adopt(fabric, ranks.rank);
  }

  explicit Woods(std::string_view text) : Woods(with_tables(fabric_from(text))) {}

  std::vector<SwitchMask> masks(Lid mlid, const std::vector<TreeMember>& members) {
    return compute_masks(*fabric, forest.update(mlid, members), members);
  }

  [[nodiscard]] std::vector<TreeMember> hosts(const std::vector<std::string>& names) const {
    std::vector<TreeMember> out;
    for (const std::string& name : names) out.push_back({end_port(*fabric, name)});
    return out;
  }

  /// Both judges.
  [[nodiscard]] std::string find_fault(const std::vector<SwitchMask>& found,
                                       const std::vector<TreeMember>& members) const {
    const std::string walked = test::find_misdelivery(*fabric, found, members);
    const std::string checked = find_tree_fault(*fabric, found, members);
    EXPECT_EQ(walked.empty(), checked.empty()) << walked << " / " << checked;
    EXPECT_FALSE(turns_up(*fabric, found, ranks.rank));
    return walked + checked;
  }

  std::shared_ptr<const Fabric> fabric;
  LidMap lids;
  RoutingTables routing;
  TreeRanks ranks;
  Forest forest;
};

TEST(Forest, OneSwitchNeedsNoCable) {
  Woods woods("H1-S1 H2-S1 S1-S2 H3-S2");
  const auto members = woods.hosts({"H1", "H2"});
  const auto masks = woods.masks(kMlid, members);
  EXPECT_THAT(masks, SizeIs(1));
  EXPECT_EQ(woods.find_fault(masks, members), "");
}

TEST(Forest, ThePortOfASwitchIsAMemberToo) {
  Woods woods("H1-S1 S1-S2 H2-S2");
  const auto members = woods.hosts({"H1", "S2"});
  const auto masks = woods.masks(kMlid, members);
  EXPECT_EQ(woods.find_fault(masks, members), "");
  EXPECT_TRUE(masks.back().ports.test(PortNum{0}));
}

TEST(Forest, NothingIsCopiedToWhereNobodyReceives) {
  Woods woods("H1-S1 S1-S2 H2-S2 S2-S3 H3-S3");
  std::vector<TreeMember> members = woods.hosts({"H1", "H3"});
  members[1].receives = false;
  const auto masks = woods.masks(kMlid, members);
  EXPECT_EQ(woods.find_fault(masks, members), "");
  // S3 sends towards S1; nothing comes back.
  EXPECT_FALSE(test::entries_of(masks)(test::switch_named(*woods.fabric, "S2"), PortNum{3}));
  EXPECT_TRUE(test::entries_of(masks)(test::switch_named(*woods.fabric, "S3"), PortNum{1}));
}

TEST(Forest, HangsWhereTheHopsAreFewest) {
  //  S1 - S2 - S3 - S4, three hosts at S4
  Woods woods("H1-S1 S1-S2 S2-S3 S3-S4 H2-S4 H3-S4 H4-S4");
  const auto members = woods.hosts({"H1", "H2", "H3", "H4"});
  const auto masks = woods.masks(kMlid, members);
  EXPECT_EQ(woods.find_fault(masks, members), "");
  EXPECT_THAT(masks, SizeIs(4));
}

TEST(Forest, ParallelCablesAndEqualSwitchesTakeTurns) {
  //  two spines, each with two links to either leaf
  Woods woods("H1-S1 H2-S2 S1-S3 S1-S3 S1-S4 S1-S4 S2-S3 S2-S3 S2-S4 S2-S4");
  const auto members = woods.hosts({"H1", "H2"});
  std::set<PortIdx> links;
  for (unsigned i = 0; i < 4; ++i) {
    static_cast<void>(woods.masks(nth(i), members));
    for (const Branch& branch : woods.forest.find(nth(i))->branches) {
      if (branch.up != kNone<PortIdx>) links.insert(branch.up);
    }
  }
  EXPECT_GE(links.size(), 4u);
}

TEST(Forest, TreesKeepOffALinkThatDidNotBecomeActive) {
  //  S1 and S2 by two cables, from their ports 2 and 3
  const std::string text = "H1-S1:1 H2-S2:1 S1:2-S2:2 S1:3-S2:3";
  for (const bool one_sends : {false, true}) {
    Woods woods(text);
    auto members = woods.hosts({"H1", "H2"});
    if (one_sends) {
      members[0].receives = false;
      members[1].sends = false;
    }
    const auto refusing = [&](unsigned port) {
      woods.fabric = with_tables(test::with_refusing_link(fabric_from(text), "S2", port));
      woods.forest.adopt(woods.fabric, woods.ranks.rank);
    };
    for (const unsigned port : {2u, 3u, 2u}) {
      refusing(port);
      for (unsigned i = 0; i < 4; ++i) {
        static_cast<void>(woods.masks(nth(i), members));
        for (const Branch& branch : woods.forest.find(nth(i))->branches) {
          if (branch.up != kNone<PortIdx>) {
            EXPECT_EQ(woods.fabric->number_of(branch.up).value(), 5 - port) << i;
          }
        }
      }
    }
  }
}

TEST(Forest, WhereNoLinkIsActiveOneIsTakenAllTheSame) {
  Woods woods("H1-S1:1 H2-S2:1 S1:2-S2:2");
  woods.fabric = with_tables(test::with_refusing_link(*woods.fabric, "S2", 2));
  woods.forest.adopt(woods.fabric, woods.ranks.rank);
  const auto members = woods.hosts({"H1", "H2"});
  EXPECT_EQ(woods.find_fault(woods.masks(kMlid, members), members), "");
}

TEST(Forest, ASwitchWithoutRoomIsPassedBy) {
  //  S1 - S2 - S3    S4 is the top; S2 has room for one block.
  //   \          /
  //    S4 ---- S5
  Fabric fabric = fabric_from("H1-S1 S1-S2 S2-S3 H3-S3 S1-S4 S4-S5 S5-S3 H2-S2");
  for (SwitchInfo& info : fabric.switch_info) info.multicast_fdb_cap = 1024;
  fabric.switch_info[test::switch_named(fabric, "S2")].multicast_fdb_cap = 32;
  Woods woods(std::make_shared<const Fabric>(std::move(fabric)));
  const SwitchIdx top = test::switch_named(*woods.fabric, "S4");
  woods.ranks.rank = compute_distances(SwitchGraph(*woods.fabric), {&top, 1});
  woods.forest.adopt(woods.fabric, woods.ranks.rank);
  const auto peer = woods.hosts({"H1", "H3"});
  EXPECT_EQ(woods.find_fault(woods.masks(kMlid, peer), peer), "");
  EXPECT_THAT(woods.masks(kMlid, peer), SizeIs(3)) << "by S2";
  EXPECT_EQ(woods.find_fault(woods.masks(nth(32), peer), peer), "");
  EXPECT_THAT(woods.masks(nth(32), peer), SizeIs(4)) << "round it";
  const auto at = woods.hosts({"H1", "H2", "H3"});
  static_cast<void>(woods.masks(nth(32), at));
  EXPECT_EQ(woods.forest.find(nth(32))->stranded, std::vector{end_port(*woods.fabric, "H2")});
}

TEST(Forest, HostsWithoutASwitchAreStranded) {
  Woods woods("H1-H2");
  const auto members = woods.hosts({"H1", "H2"});
  EXPECT_THAT(woods.masks(kMlid, members), IsEmpty());
  EXPECT_THAT(woods.forest.find(kMlid)->stranded, SizeIs(2));
}

TEST(Forest, ALostCableCostsTwoSwitchesAndTheirNewNeighbour) {
  const std::string spines =
      "H1-S1 H2-S2 H3-S3 H4-S4 S1-S5 S2-S5 S3-S5 S4-S5 S1-S6 S2-S6 S3-S6 S4-S6 ";
  Woods woods(spines);
  const std::vector<std::string> names{"H1", "H2", "H3", "H4"};
  const auto before = woods.masks(kMlid, woods.hosts(names));
  const Tree tree = *woods.forest.find(kMlid);
  const Branch lost = *std::ranges::find_if(
      tree.branches, [](const Branch& each) { return each.up != kNone<PortIdx>; });
  Fabric fabric = *woods.fabric;
  const PortIdx peer = fabric.peer[lost.up];
  fabric.peer[lost.up] = fabric.peer[peer] = kNone<PortIdx>;
  woods.fabric = std::make_shared<const Fabric>(std::move(fabric));
  woods.forest.adopt(woods.fabric, woods.ranks.rank);
  const auto members = woods.hosts(names);
  const auto after = woods.masks(kMlid, members);
  EXPECT_EQ(woods.find_fault(after, members), "");
  std::size_t changed = 0;
  for (const SwitchIdx sw : woods.fabric->switch_node.indices()) {
    const auto at = [&](const std::vector<SwitchMask>& masks) {
      const auto found = std::ranges::find(masks, sw, &SwitchMask::sw);
      return found == masks.end() ? PortMask{} : found->ports;
    };
    changed += at(before) != at(after) ? 1u : 0u;
  }
  EXPECT_LE(changed, 6u);
}

TEST(Forest, AnythingGoesAnywhere) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    Woods woods(test::random_text(rng, static_cast<unsigned>(rng.below(9)) + 2));
    ASSERT_TRUE(woods.ranks.of_unicast);
    const Fabric& fabric = *woods.fabric;
    ChannelGraph graph(fabric, 1);
    add_table_turns(fabric, woods.lids, woods.routing.lft, graph);
    for (unsigned group = 0; group < 4; ++group) {
      // Members come and go; the tree is the same one all the time.
      std::vector<SwitchMask> masks;
      for (unsigned change = 0; change < 5; ++change) {
        const auto members = test::random_members(fabric, rng);
        masks = woods.masks(nth(group), members);
        ASSERT_EQ(woods.find_fault(masks, members), "");
        ASSERT_THAT(woods.forest.find(nth(group))->stranded, IsEmpty());
      }
      add_tree_turns(fabric, masks, 0, graph);
    }
    const auto cycle = graph.find_cycle();
    ASSERT_TRUE(cycle.empty()) << print_cycle(fabric, cycle);
  }
}

TEST(Forest, CablesComeAndGo) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    Woods woods(test::random_text(rng, static_cast<unsigned>(rng.below(9)) + 2));
    const Fabric whole = *woods.fabric;
    const auto members = test::random_members(whole, rng);
    static_cast<void>(woods.masks(kMlid, members));
    for (unsigned change = 0; change < 6; ++change) {
      Fabric fabric = whole;
      const SwitchGraph graph(whole);
      for (std::uint64_t cut = rng.below(3); cut > 0; --cut) {
        const SwitchEdge edge =
            graph.edge(static_cast<std::uint32_t>(rng.below(graph.edge_count())));
        const PortIdx end = fabric.port_of(fabric.switch_node[edge.to], edge.peer_port);
        if (fabric.peer[end] == kNone<PortIdx>) continue;
        fabric.peer[fabric.peer[end]] = kNone<PortIdx>;
        fabric.peer[end] = kNone<PortIdx>;
      }
      woods.fabric = std::make_shared<const Fabric>(std::move(fabric));
      woods.routing =
          find_engine("updn")
              ->compute(*woods.fabric, woods.lids, {.previous = &woods.routing.orientation})
              .value();
      woods.ranks = choose_ranks(*woods.fabric, woods.lids, woods.routing, {});
      woods.forest.adopt(woods.fabric, woods.ranks.rank);
      const Tree& tree = woods.forest.update(kMlid, members);
      std::vector<TreeMember> served = members;
      std::erase_if(served, [&](const TreeMember& member) {
        return std::ranges::binary_search(tree.stranded, member.port);
      });
      const auto masks = compute_masks(*woods.fabric, tree, served);
      ASSERT_EQ(woods.find_fault(masks, served), "");
      // Whoever is left out cannot reach all the others.
      const bool whole_again = find_islands(SwitchGraph(*woods.fabric)).size() == 1;
      ASSERT_TRUE(!whole_again || tree.stranded.empty());
    }
  }
}

TEST(Forest, DirectionsOfOurOwn) {
  // minhop has none: in a tree of switches up is away from the hosts, in a ring it is what we say.
  Woods tree(with_tables(fabric_from("H1-S1 H2-S2 S1-S3 S2-S3 S1-S4 S2-S4")), "minhop");
  EXPECT_FALSE(tree.ranks.of_unicast);
  EXPECT_LT(tree.ranks.rank[test::switch_named(*tree.fabric, "S3")],
            tree.ranks.rank[test::switch_named(*tree.fabric, "S1")]);
  Woods ring(
      with_tables(fabric_from("H1-S1 H2-S2 H3-S3 H4-S4 H5-S5 S1-S3 S3-S2 S2-S4 S4-S5 S5-S1")),
      "minhop");
  EXPECT_FALSE(ring.ranks.kept.by_guid.empty());
  const auto members = ring.hosts({"H1", "H2", "H3", "H4", "H5"});
  EXPECT_EQ(ring.find_fault(ring.masks(kMlid, members), members), "");
}

class Judge : public ::testing::Test {
 protected:
  Judge() : woods("H1-S1 H2-S2 H3-S3 S1-S2 S2-S3 S3-S1"), members(woods.hosts({"H1", "H2", "H3"})) {
    masks = woods.masks(kMlid, members);
  }

  [[nodiscard]] std::string fault() const { return find_tree_fault(*woods.fabric, masks, members); }

  PortMask& at(std::string_view name) {
    const SwitchIdx sw = test::switch_named(*woods.fabric, name);
    return std::ranges::find(masks, sw, &SwitchMask::sw)->ports;
  }

  Woods woods;
  std::vector<TreeMember> members;
  std::vector<SwitchMask> masks;
};

TEST_F(Judge, SeesEveryMissingBit) {
  ASSERT_EQ(fault(), "");
  const auto right = masks;
  for (std::size_t i = 0; i < masks.size(); ++i) {
    right[i].ports.each([&](PortNum port) {
      masks = right;
      masks[i].ports.clear(port);
      EXPECT_NE(fault(), "") << i << ":" << int{port.value()};
    });
  }
}

TEST_F(Judge, SeesCircles) {
  for (const char* sw : {"S1", "S2", "S3"}) {
    at(sw).set(PortNum{2});
    at(sw).set(PortNum{3});
  }
  EXPECT_THAT(fault(), HasSubstr("go round"));
  EXPECT_FALSE(is_forest(*woods.fabric, masks));
}

TEST_F(Judge, SeesWhoShouldNotGetAny) {
  members.pop_back();
  EXPECT_THAT(fault(), HasSubstr("nobody receives there"));
}

TEST_F(Judge, SeesPortsThatAreNotThere) {
  at("S1").set(PortNum{200});
  EXPECT_THAT(fault(), HasSubstr("has no port 200"));
}

TEST_F(Judge, SeesTurnsUp) {
  EXPECT_FALSE(turns_up(*woods.fabric, masks, woods.ranks.rank));
  // Whoever is in the middle of the tree would be at the bottom of these.
  IndexVector<SwitchIdx, std::uint32_t> rank(3, 0);
  const auto middle = std::ranges::max_element(masks, {}, [&](const SwitchMask& mask) {
    unsigned ports = 0;
    mask.ports.each([&](PortNum) { ++ports; });
    return ports;
  });
  rank[middle->sw] = 1;
  EXPECT_TRUE(turns_up(*woods.fabric, masks, rank));
}

TEST_F(Judge, FindsCreditLoops) {
  // Three trees, each round one corner of the triangle.
  Woods ring("S1-S2 S2-S3 S3-S1 H1-S1 H2-S2 H3-S3");
  ChannelGraph graph(*ring.fabric, 1);
  for (const char* corner : {"S1", "S2", "S3"}) {
    std::vector<SwitchMask> round;
    for (const SwitchIdx sw : ring.fabric->switch_node.indices()) round.push_back({sw, {}});
    const SwitchIdx middle = test::switch_named(*ring.fabric, corner);
    EXPECT_TRUE(graph.find_cycle().empty());
    for (const PortNum out : {PortNum{1}, PortNum{2}}) {
      round[middle.value()].ports.set(out);
      const PortIdx peer =
          ring.fabric->peer[ring.fabric->port_of(ring.fabric->switch_node[middle], out)];
      round[ring.fabric->switch_at(peer).value()].ports.set(ring.fabric->number_of(peer));
    }
    EXPECT_TRUE(is_forest(*ring.fabric, round));
    add_tree_turns(*ring.fabric, round, 0, graph);
  }
  EXPECT_FALSE(graph.find_cycle().empty());
}

}  // namespace forest_test
}  // namespace smd
