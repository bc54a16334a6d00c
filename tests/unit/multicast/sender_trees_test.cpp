// Trees of groups with one sender that does not receive: they are shortest ways from it, they are
// judged by letting packets go through them, and every fault that could be made of one is found by
// code that did not make it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <set>

#include "sim-backend/topology/fabric_spec.h"
#include "sim-backend/topology/snapshot.h"
#include "smd/multicast/check_tree.h"
#include "smd/multicast/group_trees.h"
#include "smd/multicast/mft_plan.h"
#include "smd/multicast/tree_quality.h"
#include "smd/routing/updn/islands.h"
#include "smd/routing/verify/channel_dependencies.h"
#include "tests/unit/multicast/random_fabric.h"

namespace smd {
namespace sender_trees_test {

using test::end_port;
using test::fabric_from;
using test::find_fault_of_one_sender;
using test::one_sender;
using test::with_tables;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Lid kMlid{0xc000};

struct Woods {
  explicit Woods(std::shared_ptr<const Fabric> snapshot,
                 std::string_view engine = "updn",
                 TreeShape wanted = TreeShape::BySender)
      : fabric(std::move(snapshot)), lids(test::lids_in_order(*fabric)) {
    routing = find_engine(engine)->compute(*fabric, lids, RoutingRequest{}).value();
    trees.adopt(fabric, lids, routing, wanted);
  }

  [[nodiscard]] std::vector<SwitchMask> masks(const std::vector<TreeMember>& members) {
    GroupTrees::Outcome laid = trees.lay(kMlid, members);
    EXPECT_EQ(laid.fault, "");
    EXPECT_EQ(laid.stranded, 0u);
    return laid.masks;
  }

  [[nodiscard]] bool is_up(PortIdx out) const {
    const PortIdx in = fabric->peer[out];
    const auto height = [&](PortIdx port) {
      return std::pair(trees.ranks()[fabric->switch_at(port)],
                       fabric->node_guid[fabric->node_of[port]]);
    };
    return height(in) < height(out);
  }

  /// Cables between different switches, from both ends.
  [[nodiscard]] std::vector<PortIdx> cables() const {
    std::vector<PortIdx> out;
    for (const PortIdx port : fabric->peer.indices()) {
      const PortIdx far = fabric->peer[port];
      if (far == kNone<PortIdx> || !fabric->is_switch(fabric->node_of[port]) ||
          !fabric->is_switch(fabric->node_of[far]) || fabric->node_of[port] == fabric->node_of[far])
        continue;
      out.push_back(port);
    }
    return out;
  }

  std::shared_ptr<const Fabric> fabric;
  LidMap lids;
  RoutingTables routing;
  GroupTrees trees;
};

std::shared_ptr<const Fabric> random_fabric(Rng& rng) {
  return with_tables(fabric_from(test::random_text(rng, static_cast<unsigned>(rng.below(10)) + 2)));
}

void set(std::vector<SwitchMask>& masks, const Fabric& fabric, PortIdx out) {
  const SwitchIdx sw = fabric.switch_at(out);
  auto at = std::ranges::lower_bound(masks, sw, {}, &SwitchMask::sw);
  if (at == masks.end() || at->sw != sw) at = masks.insert(at, {sw, {}});
  at->ports.set(fabric.number_of(out));
}

bool has(const std::vector<SwitchMask>& masks, const Fabric& fabric, PortIdx out) {
  const auto at = std::ranges::lower_bound(masks, fabric.switch_at(out), {}, &SwitchMask::sw);
  return at != masks.end() && at->sw == fabric.switch_at(out) &&
         at->ports.test(fabric.number_of(out));
}

/// Switches that a packet of the sender comes to.
std::set<SwitchIdx> switches_of(const Fabric& fabric,
                                const std::vector<SwitchMask>& masks,
                                const std::vector<TreeMember>& members) {
  std::set<SwitchIdx> out;
  for (const TreeMember& member : members)
    out.insert(fabric.switch_at(entry_of(fabric, member.port)));
  for (const SwitchMask& mask : masks) out.insert(mask.sw);
  return out;
}

TEST(SenderTrees, EveryReceiverGetsOneCopyAndNoCircleIsClosed) {
  unsigned one_way = 0;  // trees that not everybody could use
  for (std::uint64_t seed = 1; seed <= 250; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const char* engine = seed % 3 == 0 ? "minhop" : "updn";
    Woods woods(random_fabric(rng), engine);
    ChannelGraph graph(*woods.fabric, 1);
    if (seed % 3 != 0) add_table_turns(*woods.fabric, woods.lids, woods.routing.lft, graph);
    for (unsigned group = 0; group < 3; ++group) {
      const auto members = one_sender(*woods.fabric, rng, rng.below(9) + 1);
      const auto masks = woods.masks(members);
      ASSERT_EQ(find_fault_of_one_sender(*woods.fabric, masks, members), "");
      ASSERT_FALSE(turns_up(*woods.fabric, masks, woods.trees.ranks()));
      if (members.size() > 1) {
        ASSERT_EQ(woods.trees.sender_of(kMlid), find_only_sender(members));
      }
      one_way += test::find_misdelivery(*woods.fabric, masks, members).empty() ? 0 : 1;
      add_tree_turns(*woods.fabric, masks, 0, graph);
    }
    ASSERT_THAT(graph.find_cycle(), IsEmpty());
  }
  EXPECT_GT(one_way, 100u);
}

/// Hops of shortest ways that first lead up, then down, by a search over switches and halves of
/// the way.
std::map<SwitchIdx, unsigned> legal_hops(const Woods& woods, SwitchIdx from) {
  std::map<std::pair<SwitchIdx, bool>, unsigned> hops{{{from, false}, 0}};
  std::vector<std::pair<SwitchIdx, bool>> queue{{from, false}};
  std::map<SwitchIdx, unsigned> out;
  const auto cables = woods.cables();
  for (std::size_t at = 0; at < queue.size(); ++at) {
    const auto [sw, descends] = queue[at];
    out.try_emplace(sw, hops[queue[at]]);
    for (const PortIdx port : cables) {
      if (woods.fabric->switch_at(port) != sw || (descends && woods.is_up(port))) continue;
      const std::pair next(woods.fabric->switch_at(woods.fabric->peer[port]), !woods.is_up(port));
      if (hops.try_emplace(next, hops[{sw, descends}] + 1).second) queue.push_back(next);
    }
  }
  return out;
}

// A switch that leads up to be reached is entered from below even where coming down would be
// shorter; everything else is as near as up*/down* allows.
TEST(SenderTrees, WaysAreShortest) {
  std::uint64_t own = 0, shared = 0;
  unsigned longer = 0, all = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    Woods woods(random_fabric(rng));
    Woods common(woods.fabric, "updn", TreeShape::UpDown);
    const auto members = one_sender(*woods.fabric, rng, rng.below(9) + 1);
    const TreeQuality tree = measure_tree(*woods.fabric, woods.masks(members), members);
    const TreeQuality other = measure_tree(*woods.fabric, common.masks(members), members);
    ASSERT_EQ(common.trees.sender_of(kMlid), kNone<PortIdx>);
    ASSERT_EQ(tree.senders, 1u);
    ASSERT_EQ(tree.pairs, members.size() - 1);
    std::uint64_t legal = 0;
    const PortIdx sender = find_only_sender(members);
    if (sender == kNone<PortIdx>) continue;
    const auto hops = legal_hops(woods, woods.fabric->switch_at(entry_of(*woods.fabric, sender)));
    for (const TreeMember& member : members) {
      if (member.receives)
        legal += hops.at(woods.fabric->switch_at(entry_of(*woods.fabric, member.port)));
    }
    ASSERT_GE(tree.hops, legal);
    ASSERT_LE(legal, other.hops);
    ++all;
    longer += tree.hops > legal ? 1 : 0;
    own += tree.hops;
    shared += other.hops;
  }
  EXPECT_GT(all, 150u);
  EXPECT_LT(own * 100, shared * 95);
  EXPECT_EQ(longer, 0u) << "directions by distance from a root";
}

TEST(SenderTrees, AJoinLeavesBranchesWhereTheyAre) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    Woods woods(random_fabric(rng));
    const auto all = one_sender(*woods.fabric, rng, 9);
    const auto sender = std::ranges::find(all, true, &TreeMember::sends);
    std::vector<TreeMember> members{*sender};
    std::vector<Branch> before;
    for (const TreeMember& member : all) {
      if (member.sends) continue;
      members.push_back(member);
      std::ranges::sort(members, {}, &TreeMember::port);
      static_cast<void>(woods.masks(members));
      const std::vector<Branch>& now = woods.trees.find(kMlid)->branches;
      for (const Branch& branch : before) ASSERT_TRUE(std::ranges::find(now, branch) != now.end());
      before = now;
    }
  }
}

// From one shape to the other and back, cables lost meanwhile: each tree is right for what it is.
TEST(SenderTrees, SendersComeAndGoWhileCablesAreLost) {
  unsigned by_sender = 0, shared = 0;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    Woods woods(random_fabric(rng));
    const auto whole = woods.fabric;
    for (unsigned change = 0; change < 8; ++change) {
      auto fabric = std::make_shared<Fabric>(*whole);
      for (std::uint64_t cut = rng.below(3); cut > 0; --cut) {
        const auto cables = woods.cables();
        if (cables.empty()) break;
        const PortIdx end = cables[rng.below(cables.size())];
        if (fabric->peer[end] == kNone<PortIdx>) continue;
        fabric->peer[fabric->peer[end]] = kNone<PortIdx>;
        fabric->peer[end] = kNone<PortIdx>;
      }
      woods.fabric = fabric;
      woods.routing =
          find_engine("updn")
              ->compute(*woods.fabric, woods.lids, {.previous = &woods.routing.orientation})
              .value();
      woods.trees.adopt(woods.fabric, woods.lids, woods.routing, TreeShape::BySender);
      for (unsigned turn = 0; turn < 3; ++turn) {
        const bool alone = rng.below(2) == 0;
        auto members =
            alone ? one_sender(*woods.fabric, rng, 5) : test::random_members(*woods.fabric, rng);
        const GroupTrees::Outcome laid = woods.trees.lay(kMlid, members);
        ASSERT_EQ(laid.fault, "");
        if (members.empty()) continue;
        const Tree& tree = *woods.trees.find(kMlid);
        std::erase_if(members, [&](const TreeMember& member) {
          return std::ranges::binary_search(tree.stranded, member.port);
        });
        const bool directed = woods.trees.sender_of(kMlid) != kNone<PortIdx>;
        ASSERT_EQ(directed ? find_fault_of_one_sender(*woods.fabric, laid.masks, members)
                           : test::find_misdelivery(*woods.fabric, laid.masks, members),
                  "");
        if (find_islands(SwitchGraph(*woods.fabric)).size() == 1) {
          ASSERT_THAT(tree.stranded, IsEmpty());
        }
        ++(directed ? by_sender : shared);
      }
    }
  }
  EXPECT_GT(by_sender, 500u);
  EXPECT_GT(shared, 500u);
}

// Every fault that a tree can have, made of good ones.

TEST(SenderTrees, WhatIsMissingIsFound) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Rng rng(seed);
    Woods woods(random_fabric(rng));
    const auto members = one_sender(*woods.fabric, rng, 5);
    const auto right = woods.masks(members);
    for (std::size_t i = 0; i < right.size(); ++i) {
      right[i].ports.each([&](PortNum port) {
        auto masks = right;
        masks[i].ports.clear(port);
        EXPECT_NE(find_fault_of_one_sender(*woods.fabric, masks, members), "");
        EXPECT_NE(find_tree_fault(*woods.fabric, masks, members), "");
      });
    }
  }
}

TEST(SenderTrees, ASecondWayIntoASwitchIsFound) {
  unsigned twice = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Rng rng(seed);
    Woods woods(random_fabric(rng));
    const auto members = one_sender(*woods.fabric, rng, 5);
    const auto right = woods.masks(members);
    const auto inside = switches_of(*woods.fabric, right, members);
    for (const PortIdx out : woods.cables()) {
      const PortIdx in = woods.fabric->peer[out];
      if (!inside.contains(woods.fabric->switch_at(out)) ||
          !inside.contains(woods.fabric->switch_at(in)) || has(right, *woods.fabric, out) ||
          has(right, *woods.fabric, in))
        continue;
      auto masks = right;
      set(masks, *woods.fabric, out);
      EXPECT_THAT(find_tree_fault(*woods.fabric, masks, members), HasSubstr("go round"));
      twice += find_fault_of_one_sender(*woods.fabric, masks, members).empty() ? 0 : 1;
    }
  }
  EXPECT_GT(twice, 100u) << "packets that came twice";
}

TEST(SenderTrees, ATurnUpIsFoundWhereverItIsPut) {
  unsigned found = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Rng rng(seed);
    Woods woods(random_fabric(rng));
    const auto members = one_sender(*woods.fabric, rng, 5);
    const auto right = woods.masks(members);
    std::set<SwitchIdx> came_down;
    for (const PortIdx out : woods.cables()) {
      if (has(right, *woods.fabric, out) && !woods.is_up(out))
        came_down.insert(woods.fabric->switch_at(woods.fabric->peer[out]));
    }
    for (const PortIdx out : woods.cables()) {
      if (!came_down.contains(woods.fabric->switch_at(out)) || !woods.is_up(out) ||
          has(right, *woods.fabric, woods.fabric->peer[out]))
        continue;
      auto masks = right;
      set(masks, *woods.fabric, out);
      EXPECT_TRUE(turns_up(*woods.fabric, masks, woods.trees.ranks()));
      ++found;
    }
  }
  EXPECT_GT(found, 100u);
}

// What nobody may take for granted: that tables know by which port a packet came. Copied back
// towards the sender as well, as in a tree for all, what a receiver sends turns up again.
TEST(SenderTrees, CopiedBackWhatReceiversSendTurnsUp) {
  unsigned found = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Rng rng(seed);
    Woods woods(random_fabric(rng));
    auto members = one_sender(*woods.fabric, rng, 5);
    static_cast<void>(woods.masks(members));
    for (TreeMember& member : members) member.sends = true;
    const auto masks = compute_masks(*woods.fabric, *woods.trees.find(kMlid), members);
    EXPECT_EQ(find_tree_fault(*woods.fabric, masks, members), "") << "of copies alone it would do";
    found += turns_up(*woods.fabric, masks, woods.trees.ranks()) ? 1 : 0;
  }
  EXPECT_GT(found, 30u);
}

/// What switches hold, Set by Set: copies that come twice or go round, or turn up again.
class Held {
 public:
  Held(const Woods& woods, const std::vector<SwitchMask>& masks) : woods_(woods) {
    for (const MftWrite& each : find_unread(*woods.fabric, memory, {{kMlid, {}}}))
      memory.confirm(guid(each.sw), each.at, {});
    for (const MftWrite& each : plan_stage(*woods.fabric, memory, {{kMlid, masks}}).writes)
      apply(each);
  }

  void apply(const MftWrite& write) { memory.confirm(guid(write.sw), write.at, write.masks); }

  /// In an order at random; the first that is wrong on the way.
  std::string apply_all(std::vector<MftWrite> writes, Rng& rng) {
    std::string fault;
    for (std::size_t i = 0; i < writes.size(); ++i) {
      std::swap(writes[i], writes[i + rng.below(writes.size() - i)]);
      apply(writes[i]);
      if (fault.empty()) fault = find_fault();
    }
    return fault;
  }

  [[nodiscard]] std::string find_fault() const {
    const MftGoals all = collect_possible(*woods_.fabric, memory);
    const auto found = all.find(kMlid);
    const std::vector<SwitchMask> masks =
        found == all.end() ? std::vector<SwitchMask>{} : found->second;
    if (turns_up(*woods_.fabric, masks, woods_.trees.ranks())) return "turns up";
    return test::find_repetition(
        *woods_.fabric, test::entries_of(masks), test::end_ports(*woods_.fabric));
  }

  MftMemory memory;

 private:
  [[nodiscard]] Guid guid(SwitchIdx sw) const {
    return woods_.fabric->node_guid[woods_.fabric->switch_node[sw]];
  }

  const Woods& woods_;
};

// A writer that takes no heed sends everything at once: whatever goes wrong then in some order, the
// judge of mixtures has said before. The planner's stages pass it, and nothing goes wrong.
TEST(SenderTrees, FromOneShapeToTheOtherNoOrderOfSetsDoesHarm) {
  unsigned harmful = 0, refused = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    Woods woods(random_fabric(rng));
    auto members = one_sender(*woods.fabric, rng, 6);
    const auto directed = woods.masks(members);
    for (TreeMember& member : members) member.sends = true;
    const auto shared = woods.masks(members);
    for (const bool to_sender : {true, false}) {
      const auto& before = to_sender ? shared : directed;
      const auto& after = to_sender ? directed : shared;
      Held heedless(woods, before);
      MftRules rules{.rank = woods.trees.ranks()};
      // All that is wanted, whatever is held.
      std::vector<MftWrite> at_once;
      for (const MftWrite& each :
           plan_stage(*woods.fabric, Held(woods, {}).memory, {{kMlid, after}}).writes)
        at_once.push_back(each);
      for (const SwitchMask& mask : before) {
        if (std::ranges::find(at_once, mask.sw, &MftWrite::sw) == at_once.end())
          at_once.push_back({.sw = mask.sw, .at = {0, 0}});
      }
      const std::string said =
          find_mixture_fault(*woods.fabric, heedless.memory, at_once, rules.rank);
      const std::string harm = heedless.apply_all(at_once, rng);
      ASSERT_TRUE(harm.empty() || !said.empty()) << harm;
      harmful += harm.empty() ? 0 : 1;
      refused += said.empty() ? 0 : 1;

      Held held(woods, before);
      unsigned stages = 0;
      for (; !find_unmet(*woods.fabric, held.memory, {{kMlid, after}}).empty(); ++stages) {
        ASSERT_LT(stages, 2u);
        const MftStage stage = plan_stage(*woods.fabric, held.memory, {{kMlid, after}}, rules);
        ASSERT_EQ(find_mixture_fault(*woods.fabric, held.memory, stage.writes, rules.rank), "");
        ASSERT_EQ(held.apply_all(stage.writes, rng), "");
      }
    }
  }
  EXPECT_GT(harmful, 10u);
  EXPECT_GE(refused, harmful);
}

TEST(SenderTrees, WhoIsAtASwitchWithoutRoomSendsToNobodyAndTheRestHaveATree) {
  Fabric fabric = *with_tables(fabric_from("H1-S1 H2-S2 H3-S3 S1-S2 S2-S3"));
  fabric.switch_info[test::switch_named(fabric, "S1")].multicast_fdb_cap = 0;
  Woods woods(std::make_shared<const Fabric>(fabric));
  std::vector<TreeMember> members{{end_port(*woods.fabric, "H1"), false, true},
                                  {end_port(*woods.fabric, "H2"), true, false},
                                  {end_port(*woods.fabric, "H3"), true, false}};
  std::ranges::sort(members, {}, &TreeMember::port);
  const GroupTrees::Outcome laid = woods.trees.lay(kMlid, members);
  EXPECT_EQ(laid.fault, "");
  EXPECT_EQ(laid.stranded, 1u);
  EXPECT_EQ(woods.trees.sender_of(kMlid), kNone<PortIdx>);
  std::erase_if(members, [](const TreeMember& member) { return member.sends; });
  EXPECT_EQ(test::find_misdelivery(*woods.fabric, laid.masks, members), "");
}

TEST(SenderTrees, OnlyOneThatDoesNotReceiveIsTheOnlySender) {
  const auto member = [](unsigned port, bool receives, bool sends) {
    return TreeMember{PortIdx{port}, receives, sends};
  };
  EXPECT_EQ(find_only_sender(std::vector<TreeMember>{}), kNone<PortIdx>);
  EXPECT_EQ(find_only_sender({member(1, false, true)}), kNone<PortIdx>) << "nobody to send to";
  EXPECT_EQ(find_only_sender({member(1, true, false), member(2, false, true)}), PortIdx{2});
  EXPECT_EQ(find_only_sender({member(1, true, false), member(2, true, true)}), kNone<PortIdx>);
  EXPECT_EQ(find_only_sender({member(1, true, true), member(2, false, true)}), kNone<PortIdx>);
  EXPECT_EQ(find_only_sender({member(1, true, false), member(2, true, false)}), kNone<PortIdx>);
}

TEST(SenderTrees, OtherShapesHaveOneTreeForAll) {
  for (const TreeShape shape : {TreeShape::UpDown, TreeShape::PathShared, TreeShape::DualPath}) {
    Woods woods(
        with_tables(fabric_from("H1-S1 H2-S2 H3-S3 H4-S4 S1-S2 S2-S3 S3-S4 S4-S1")), "updn", shape);
    Rng rng(3);
    const auto members = one_sender(*woods.fabric, rng, 10);
    EXPECT_EQ(test::find_misdelivery(*woods.fabric, woods.masks(members), members), "");
    EXPECT_EQ(woods.trees.sender_of(kMlid), kNone<PortIdx>);
  }
}

/// Means over groups of receivers at random, one sender each: what docs/multicast.md has.
struct Means {
  double channels = 0, hops = 0, depth = 0;
};

struct Row {
  const char* fabric;
  const char* engine;
  TreeShape shape;
};

Means measure(const Row& row, std::size_t receivers) {
  constexpr unsigned kGroups = 100;
  Fabric built = *sim::build_snapshot(sim::load_fabric(row.fabric).value());
  Woods woods(with_tables(std::move(built)), row.engine, row.shape);
  EXPECT_EQ(woods.trees.shape_refused(), "");
  std::vector<PortIdx> hosts = test::end_ports(*woods.fabric);
  std::erase_if(hosts,
                [&](PortIdx port) { return woods.fabric->is_switch(woods.fabric->node_of[port]); });
  Means out;
  Rng rng(7);
  for (unsigned group = 0; group < kGroups; ++group) {
    std::vector<PortIdx> drawn = hosts;
    for (std::size_t i = 0; i <= receivers; ++i)
      std::swap(drawn[i], drawn[i + rng.below(drawn.size() - i)]);
    std::vector<TreeMember> members{{drawn[0], false, true}};
    for (std::size_t i = 1; i <= receivers; ++i) members.push_back({drawn[i], true, false});
    std::ranges::sort(members, {}, &TreeMember::port);
    const TreeQuality tree = measure_tree(*woods.fabric, woods.masks(members), members);
    out.channels += tree.mean_channels() / kGroups;
    out.hops += tree.mean_hops() / kGroups;
    out.depth += static_cast<double>(tree.depth) / kGroups;
  }
  return out;
}

TEST(SenderTrees, WhatTheyAreWorth) {
  const auto print = [](const Row& row, const char* shape, const Means& means) {
    std::cout << fmt::format("{:<50} {:<12} {:<12} {:6.2f} {:6.2f} {:6.2f}\n",
                             row.fabric,
                             row.engine,
                             shape,
                             means.channels,
                             means.hops,
                             means.depth);
  };
  constexpr std::size_t kReceivers = 15;
  for (const char* fabric : {"fat-tree:k=8,levels=3",
                             "torus:dims=8.8",
                             "irregular:switches=64,links=4,hosts=2,seed=1"}) {
    const Row shared{fabric, "updn", TreeShape::UpDown};
    const Row by_sender{fabric, "updn", TreeShape::BySender};
    const Means before = measure(shared, kReceivers);
    const Means after = measure(by_sender, kReceivers);
    print(shared, "up-down", before);
    print(by_sender, "by-sender", after);
    EXPECT_LE(after.hops, before.hops);
    EXPECT_LE(after.depth, before.depth);
  }
  for (const char* fabric : {"torus:dims=8.8,mesh=1", "torus:dims=8.8"}) {
    const Row dual{fabric, "hamiltonian", TreeShape::DualPath};
    const Row multi{fabric, "hamiltonian", TreeShape::MultiPath};
    const Means before = measure(dual, kReceivers);
    const Means after = measure(multi, kReceivers);
    print(dual, "dual-path", before);
    print(multi, "multi-path", after);
    EXPECT_LT(after.hops, before.hops);
    EXPECT_LT(after.depth, before.depth);
  }
}

}  // namespace sender_trees_test
}  // namespace smd
