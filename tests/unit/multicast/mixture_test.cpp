// Entries of trees taken together: changes in which a packet could turn up again, each fault named
// by the judge that must stop it; circles where copies move in lock-step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smd/multicast/check_tree.h"
#include "smd/multicast/group_trees.h"
#include "smd/multicast/tree_quality.h"
#include "tests/unit/multicast/random_fabric.h"

namespace smd {
namespace mixture_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr Lid kMlid{0xc000};

struct Lab {
  explicit Lab(std::string_view text) : fabric(test::with_tables(test::fabric_from(text))) {
    for (const MftWrite& each : find_unread(*fabric, memory, {{kMlid, {}}}))
      memory.confirm(guid(each.sw), each.at, {});
  }

  [[nodiscard]] Guid guid(SwitchIdx sw) const { return fabric->node_guid[fabric->switch_node[sw]]; }

  [[nodiscard]] SwitchIdx sw(const char* name) const { return test::switch_named(*fabric, name); }

  /// "S1:1,2 S3:4".
  [[nodiscard]] std::vector<SwitchMask> masks(
      const std::vector<std::pair<const char*, std::vector<unsigned>>>& copies) const {
    std::vector<SwitchMask> out;
    for (const auto& [name, ports] : copies) {
      out.push_back({sw(name), {}});
      for (const unsigned port : ports)
        out.back().ports.set(PortNum{static_cast<std::uint8_t>(port)});
    }
    std::ranges::sort(out, {}, &SwitchMask::sw);
    return out;
  }

  /// By distance from a switch.
  [[nodiscard]] IndexVector<SwitchIdx, std::uint32_t> ranks(const char* top) const {
    const SwitchIdx start = sw(top);
    return compute_distances(SwitchGraph(*fabric), {&start, 1});
  }

  [[nodiscard]] MftWrite write(const SwitchMask& mask) const {
    MftWrite out{.sw = mask.sw, .at = {0, 0}};
    out.masks[0] = mask.ports.position(0);
    return out;
  }

  [[nodiscard]] std::vector<MftWrite> writes(const std::vector<SwitchMask>& all) const {
    std::vector<MftWrite> out;
    for (const SwitchMask& mask : all) out.push_back(write(mask));
    return out;
  }

  void hold(const std::vector<SwitchMask>& all) {
    for (const MftWrite& each : writes(all)) memory.confirm(guid(each.sw), each.at, each.masks);
  }

  std::shared_ptr<const Fabric> fabric;
  MftMemory memory;
};

//   S1    S2     up is towards either
//     \  /
//      S3        a group that hung on S1 by S3 is to hang on S2
constexpr const char* kTwoTops = "S1:1-S3:1 S2:1-S3:2 H1-S1:5 H2-S2:5 H3-S3:5";

TEST(Mixture, WhatCameDownIsNotSentUpWhileATreeMoves) {
  Lab lab(kTwoTops);
  const auto before = lab.masks({{"S1", {1, 5}}, {"S3", {1, 5}}});
  const auto after = lab.masks({{"S2", {1, 5}}, {"S3", {2, 5}}});
  IndexVector<SwitchIdx, std::uint32_t> rank(3, 0);
  rank[lab.sw("S3")] = 1;
  lab.hold(before);
  // The links of both close no circle: without ranks all of it is written at once.
  EXPECT_THAT(plan_stage(*lab.fabric, lab.memory, {{kMlid, after}}).first_steps, IsEmpty());
  const MftStage stage = plan_stage(*lab.fabric, lab.memory, {{kMlid, after}}, {.rank = rank});
  EXPECT_THAT(stage.first_steps, ElementsAre(kMlid));
  EXPECT_EQ(find_mixture_fault(*lab.fabric, lab.memory, stage.writes, rank), "");
  const auto at_once = lab.writes(after);
  EXPECT_EQ(find_mixture_fault(*lab.fabric, lab.memory, at_once, {}), "");
  EXPECT_THAT(find_mixture_fault(*lab.fabric, lab.memory, at_once, rank),
              HasSubstr("MLID 0xc000: packets that came down by"));
}

TEST(Mixture, CirclesAreFoundByWhatIsLeft) {
  Lab lab("S1:1-S2:1 S2:2-S3:1 S3:2-S1:2 S3:3-S4:1 H1-S1:5 H4-S4:5");
  const auto chain = lab.masks({{"S1", {1}}, {"S2", {1, 2}}, {"S3", {1, 3}}, {"S4", {1, 5}}});
  EXPECT_EQ(find_mixture_fault(*lab.fabric, lab.memory, lab.writes(chain), {}), "");
  lab.hold(chain);
  const auto closing = lab.masks({{"S3", {2, 3}}});
  EXPECT_THAT(find_mixture_fault(*lab.fabric, lab.memory, lab.writes(closing), {}),
              HasSubstr("go round or come twice"));
  // What was there is not asked about, nor what is taken away.
  lab.hold(lab.masks({{"S3", {1, 2, 3}}}));
  EXPECT_EQ(find_mixture_fault(*lab.fabric, lab.memory, lab.writes(chain), {}), "");
  // A Set on its way counts, whatever comes of it.
  lab.hold(chain);
  lab.memory.send(lab.guid(lab.sw("S1")), {0, 0}, lab.write(lab.masks({{"S1", {1, 2}}})[0]).masks);
  EXPECT_EQ(
      find_mixture_fault(*lab.fabric, lab.memory, lab.writes(lab.masks({{"S4", {1, 5}}})), {}), "");
  EXPECT_THAT(
      find_mixture_fault(*lab.fabric, lab.memory, lab.writes(lab.masks({{"S4", {1, 5, 6}}})), {}),
      HasSubstr("go round or come twice"));
}

//  S1 - S2    somebody's tree is the row S1, S2, S3, S4; wanted is S2, S1, S4, S3
//   |    |
//  S4 - S3    nobody could read S3, which copies to S2 and to S4
constexpr const char* kRing = "S1:1-S2:1 S2:2-S3:1 S3:2-S4:1 S4:2-S1:2 H1-S1:5 H3-S3:5";

TEST(Mixture, WhatWasNeverReadMayLeadToEverySwitch) {
  Lab lab(kRing);
  lab.hold(lab.masks({{"S1", {1, 5}}, {"S2", {1, 2}}, {"S4", {1}}}));
  lab.memory.forget(lab.guid(lab.sw("S3")));
  const MftGoals goals{{kMlid, lab.masks({{"S1", {1, 2, 5}}, {"S3", {2, 5}}, {"S4", {1, 2}}})}};
  const MftStage stage = plan_stage(*lab.fabric, lab.memory, goals);
  EXPECT_THAT(stage.held_up, ElementsAre(kMlid));
  EXPECT_THAT(stage.first_steps, IsEmpty());
  EXPECT_THAT(stage.writes, IsEmpty()) << "what is there serves until it is read";
  // What is taken away leads nobody round.
  EXPECT_THAT(plan_stage(*lab.fabric, lab.memory, {{kMlid, {}}}).writes, SizeIs(3));
  // The judge, of what is not wanted being gone.
  lab.hold(lab.masks({{"S1", {1, 5}}, {"S2", {1}}, {"S4", {1}}}));
  const auto added = lab.writes(lab.masks({{"S1", {1, 2, 5}}, {"S4", {1, 2}}}));
  EXPECT_THAT(find_mixture_fault(*lab.fabric, lab.memory, added, {}),
              HasSubstr("MLID 0xc000: packets go round or come twice"));
  lab.memory.confirm(lab.guid(lab.sw("S3")), {0, 0}, {});
  EXPECT_EQ(find_mixture_fault(*lab.fabric, lab.memory, added, {}), "");
  EXPECT_THAT(plan_stage(*lab.fabric, lab.memory, goals).held_up, IsEmpty());
}

TEST(Mixture, WhatWasNeverReadHoldsUpNothingThatDoesNotLeadThere) {
  Lab lab(kRing);
  lab.memory.forget(lab.guid(lab.sw("S3")));
  const auto beside = lab.masks({{"S1", {1, 2, 5}}, {"S2", {1}}, {"S4", {2}}});
  EXPECT_EQ(find_mixture_fault(*lab.fabric, lab.memory, lab.writes(beside), {}), "");
  const MftStage stage = plan_stage(*lab.fabric, lab.memory, {{kMlid, beside}});
  EXPECT_THAT(stage.held_up, IsEmpty());
  EXPECT_THAT(stage.writes, SizeIs(3));
  // Nor where it could lead to one switch alone.
  const auto into = lab.masks({{"S1", {5}}, {"S4", {1}}});
  EXPECT_EQ(find_mixture_fault(*lab.fabric, lab.memory, lab.writes(into), {}), "");
  EXPECT_THAT(plan_stage(*lab.fabric, lab.memory, {{kMlid, into}}).held_up, IsEmpty());
}

TEST(Mixture, WhatWasNeverReadHoldsUpNothingInATreeOfSwitches) {
  constexpr const char* kTree =
      "S1:1-S3:1 S1:2-S4:1 S1:3-S5:1 S2:1-S3:2 S2:2-S4:2 S2:3-S5:2 H3-S3:5 H4-S4:5 H5-S5:5";
  for (const char* const unread : {"S1", "S2", "S3", "S4", "S5"}) {
    Lab lab(kTree);
    lab.memory.forget(lab.guid(lab.sw(unread)));
    const auto tree =
        lab.masks({{"S1", {1, 2, 3}}, {"S3", {1, 5}}, {"S4", {1, 5}}, {"S5", {1, 5}}});
    const MftStage stage =
        plan_stage(*lab.fabric, lab.memory, {{kMlid, tree}}, {.rank = lab.ranks("S1")});
    EXPECT_THAT(stage.held_up, IsEmpty()) << unread;
    EXPECT_EQ(find_mixture_fault(*lab.fabric, lab.memory, stage.writes, lab.ranks("S1")), "");
  }
}

TEST(Mixture, WhatWasNeverReadLeadsOnToTheNextThatWasNot) {
  Lab lab(kRing);
  for (const char* const name : {"S2", "S3"}) lab.memory.forget(lab.guid(lab.sw(name)));
  const auto into = lab.masks({{"S1", {2, 5}}, {"S4", {1, 2}}});
  EXPECT_THAT(find_mixture_fault(*lab.fabric, lab.memory, lab.writes(into), {}),
              HasSubstr("go round"));
  EXPECT_THAT(plan_stage(*lab.fabric, lab.memory, {{kMlid, into}}).held_up, ElementsAre(kMlid));
  // Whatever they hold beyond the room of their tables, they do not.
  Fabric small = *lab.fabric;
  for (const char* const name : {"S2", "S3"}) small.switch_info[lab.sw(name)].multicast_fdb_cap = 0;
  EXPECT_EQ(find_mixture_fault(small, lab.memory, lab.writes(into), {}), "");
  EXPECT_THAT(plan_stage(small, lab.memory, {{kMlid, into}}).held_up, IsEmpty());
}

TEST(Mixture, WhatMayBeHeldIsCollected) {
  Lab lab(kTwoTops);
  const auto before = lab.masks({{"S1", {1, 5}}, {"S3", {1, 5}}});
  lab.hold(before);
  EXPECT_THAT(collect_possible(*lab.fabric, lab.memory), ElementsAre(std::pair{kMlid, before}));
  lab.memory.send(lab.guid(lab.sw("S3")), {0, 0}, {});
  EXPECT_THAT(collect_possible(*lab.fabric, lab.memory), ElementsAre(std::pair{kMlid, before}))
      << "the Set may get lost";
}

/// Trees by every judge of circles, alone on their lane.
bool closes_circle(const Fabric& fabric, const std::vector<MasksOnVl>& trees, bool lock_step) {
  ChannelGraph graph(fabric, 1);
  for (const MasksOnVl& tree : trees) add_tree_turns(fabric, tree.masks, tree.vl, graph);
  return lock_step ? !find_lock_step_cycle(fabric, graph, trees).empty()
                   : !graph.find_cycle().empty();
}

//  H1-S1 - S2-H2    two packets from S1 and S4 that each wait for the branch to a host's switch
//     |    |        which the other holds: S5 below S2, S6 below S3
constexpr const char* kChain =
    "S1:1-S2:1 S2:2-S3:1 S3:2-S4:1 S2:3-S5:1 S3:3-S6:1 H1-S1:5 H4-S4:5 H5-S5:5 H6-S6:5";

TEST(LockStep, TwoForksOfOneTreeCloseACircle) {
  Lab lab(kChain);
  const auto tree = lab.masks({{"S1", {1, 5}},
                               {"S2", {1, 2, 3}},
                               {"S3", {1, 2, 3}},
                               {"S4", {1, 5}},
                               {"S5", {1, 5}},
                               {"S6", {1, 5}}});
  EXPECT_FALSE(closes_circle(*lab.fabric, {{tree, 0}}, false));
  EXPECT_TRUE(closes_circle(*lab.fabric, {{tree, 0}}, true));
  // From one end alone everything is taken in one order.
  const auto from_one = lab.masks({{"S1", {1}}, {"S2", {2, 3}}, {"S3", {2, 3}}, {"S4", {5}}});
  EXPECT_FALSE(closes_circle(*lab.fabric, {{from_one, 0}}, true));
}

/// Switches in a row, a host at each, and the tree along all of them.
bool row_closes_circle(unsigned switches) {
  std::string text;
  std::vector<std::pair<std::string, std::vector<unsigned>>> copies;
  for (unsigned s = 1; s <= switches; ++s) {
    text += fmt::format("H{}-S{}:5 ", s, s);
    if (s < switches) text += fmt::format("S{}:2-S{}:1 ", s, s + 1);
    copies.push_back({fmt::format("S{}", s), {5}});
    if (s > 1) copies.back().second.push_back(1);
    if (s < switches) copies.back().second.push_back(2);
  }
  Lab lab(text);
  std::vector<SwitchMask> tree;
  for (const auto& [name, ports] : copies) tree.push_back(lab.masks({{name.c_str(), ports}})[0]);
  std::ranges::sort(tree, {}, &SwitchMask::sw);
  EXPECT_FALSE(closes_circle(*lab.fabric, {{tree, 0}}, false));
  return closes_circle(*lab.fabric, {{tree, 0}}, true);
}

// Hosts at two neighbours in the middle send both ways at once: each holds the channel that the
// other's copy waits for.
TEST(LockStep, ARowOfFourIsOneTooMany) {
  EXPECT_FALSE(row_closes_circle(2));
  EXPECT_FALSE(row_closes_circle(3));
  EXPECT_TRUE(row_closes_circle(4));
}

TEST(LockStep, AStarClosesNone) {
  Lab lab("S1:1-S2:1 S1:2-S3:1 S1:3-S4:1 H2-S2:5 H3-S3:5 H4-S4:5");
  const auto star = lab.masks({{"S1", {1, 2, 3}}, {"S2", {1, 5}}, {"S3", {1, 5}}, {"S4", {1, 5}}});
  EXPECT_FALSE(closes_circle(*lab.fabric, {{star, 0}}, true));
}

TEST(LockStep, HoldsWhateverIsOfTheGraphToo) {
  Lab lab("S1:1-S2:1 S2:2-S3:1 S3:2-S1:2 H1-S1:5");
  ChannelGraph graph(*lab.fabric, 1);
  const auto port = [&](const char* name, unsigned number) {
    return lab.fabric->port_of(lab.fabric->switch_node[lab.sw(name)],
                               PortNum{static_cast<std::uint8_t>(number)});
  };
  graph.add(port("S2", 1), 0, 2, 0);
  graph.add(port("S3", 1), 0, 2, 0);
  EXPECT_THAT(find_lock_step_cycle(*lab.fabric, graph, {}), IsEmpty());
  graph.add(port("S1", 2), 0, 1, 0);
  EXPECT_THAT(find_lock_step_cycle(*lab.fabric, graph, {}), SizeIs(3));
}

TEST(TreeQuality, CountsAChainByHand) {
  //  H1-S1 - S2 - S3-H3,H4      and S1 - S4 - S3 as short
  Lab lab("S1:1-S2:1 S2:2-S3:1 S1:2-S4:1 S4:2-S3:2 H1-S1:5 H3-S3:5 H4-S3:6 H2-S2:5");
  std::vector<TreeMember> members;
  for (const char* host : {"H1", "H3", "H4", "H2"})
    members.push_back({test::end_port(*lab.fabric, host), std::string_view(host) != "H2"});
  std::ranges::sort(members, {}, &TreeMember::port);
  const auto tree = lab.masks({{"S1", {1, 5}}, {"S2", {1, 2}}, {"S3", {1, 5, 6}}});
  const TreeQuality out = measure_tree(*lab.fabric, tree, members);
  EXPECT_EQ(out.cables, 2u);
  EXPECT_EQ(out.senders, 4u);
  // H1 to two, each of those to H1 and one another, H2 to three.
  EXPECT_EQ(out.pairs, 2u + 2 * 2 + 3);
  EXPECT_EQ(out.hops, 2u * 2 + 2 * 2 + 3);
  EXPECT_EQ(out.depth, 2u);
  EXPECT_EQ(out.channels, 2u + 2 * 2 + 2);
  EXPECT_EQ(out.shortest_hops, out.hops);
  EXPECT_EQ(out.shortest_channels, out.channels);
  EXPECT_FALSE(out.sampled);
}

TEST(TreeQuality, OfAnOnlySenderIsWhatItsPacketTakes) {
  //  H1 sends along S1 - S2 - S3; its receivers do not, and nothing leads back
  Lab lab("S1:1-S2:1 S2:2-S3:1 H1-S1:5 H2-S2:5 H3-S3:5 H4-S3:6 H5-S1:6");
  std::vector<TreeMember> members;
  for (const char* host : {"H1", "H2", "H3", "H4", "H5"}) {
    const bool sends = std::string_view(host) == "H1";
    members.push_back({test::end_port(*lab.fabric, host), !sends, sends});
  }
  std::ranges::sort(members, {}, &TreeMember::port);
  const auto tree = lab.masks({{"S1", {1, 6}}, {"S2", {2, 5}}, {"S3", {5, 6}}});
  EXPECT_EQ(find_tree_fault(*lab.fabric, tree, members), "");
  const TreeQuality out = measure_tree(*lab.fabric, tree, members);
  EXPECT_EQ(out.senders, 1u);
  EXPECT_EQ(out.pairs, 4u);
  EXPECT_EQ(out.hops, 0u + 1 + 2 + 2);
  EXPECT_EQ(out.depth, 2u);
  EXPECT_EQ(out.channels, 2u);
  EXPECT_EQ(out.cables, 2u);
}

TEST(TreeQuality, ShowsWhatADetourCosts) {
  //  a ring of four: the tree goes the long way from S1 to S4
  Lab lab("S1:1-S2:1 S2:2-S3:1 S3:2-S4:1 S4:2-S1:2 H1-S1:5 H4-S4:5");
  const std::vector<TreeMember> members{{test::end_port(*lab.fabric, "H1")},
                                        {test::end_port(*lab.fabric, "H4")}};
  const auto tree = lab.masks({{"S1", {1, 5}}, {"S2", {1, 2}}, {"S3", {1, 2}}, {"S4", {1, 5}}});
  const TreeQuality out = measure_tree(*lab.fabric, tree, members);
  EXPECT_EQ(out.depth, 3u);
  EXPECT_EQ(out.mean_hops(), 3.0);
  EXPECT_EQ(out.shortest_depth, 1u);
  EXPECT_EQ(out.mean_shortest_channels(), 1.0);
  EXPECT_EQ(out.mean_unicast_channels(), 1.0);
  const LinkShares shares = measure_cables(
      *lab.fabric, {{kMlid, tree}, {Lid{0xc001}, lab.masks({{"S1", {1}}, {"S2", {5}}})}});
  EXPECT_EQ(shares.cables, 3u);
  EXPECT_EQ(shares.trees, 4u);
  EXPECT_EQ(shares.most, 2u);
  EXPECT_EQ(print_port(*lab.fabric, shares.fullest), "S1:1");
}

TEST(TreeQuality, LargeGroupsAreSampled) {
  std::string text;
  for (unsigned s = 2; s <= 100; ++s) text += fmt::format("S1:{}-S{}:1 H{}-S{}:5 ", s, s, s, s);
  Lab lab(text);
  std::vector<TreeMember> members;
  SwitchMask top{lab.sw("S1"), {}};
  std::vector<SwitchMask> masks;
  for (unsigned s = 2; s <= 100; ++s) {
    members.push_back({test::end_port(*lab.fabric, fmt::format("H{}", s))});
    top.ports.set(PortNum{static_cast<std::uint8_t>(s)});
    SwitchMask leaf{lab.sw(fmt::format("S{}", s).c_str()), {}};
    leaf.ports.set(PortNum{1});
    leaf.ports.set(PortNum{5});
    masks.push_back(leaf);
  }
  masks.push_back(top);
  std::ranges::sort(masks, {}, &SwitchMask::sw);
  const TreeQuality out = measure_tree(*lab.fabric, masks, members);
  EXPECT_TRUE(out.sampled);
  EXPECT_EQ(out.senders, 64u);
  EXPECT_EQ(out.mean_hops(), 2.0);
  EXPECT_EQ(out.mean_channels(), 99.0);
  EXPECT_EQ(out.mean_shortest_channels(), 99.0);
  EXPECT_EQ(out.mean_unicast_channels(), 2.0 * 98);
}

}  // namespace mixture_test
}  // namespace smd
