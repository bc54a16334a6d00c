#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>

#include "smd/routing/engine.h"
#include "smd/routing/fat_tree/shape.h"
#include "smd/routing/updn/islands.h"
#include "smd/routing/verify/channel_load.h"
#include "smd/routing/verify/check_routes.h"
#include "tests/unit/routing/support/trees.h"

namespace smd::test {
namespace ftree_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

RoutingTables ftree(const Fabric& fabric, const LidMap& lids, const RoutingRequest& request = {}) {
  auto tables = find_engine("ftree")->compute(fabric, lids, request);
  EXPECT_TRUE(tables.has_value()) << (tables ? "" : tables.error().context);
  return tables ? std::move(*tables) : RoutingTables{};
}

RoutingTables ftree_after(const Fabric& fabric,
                          const LidMap& lids,
                          const Fabric& before,
                          const LidMap& lids_before,
                          const RoutingTables& tables) {
  const PreviousRoutes in_force{&before, &lids_before, &tables};
  return ftree(fabric, lids, {.previous = &tables.orientation, .in_force = &in_force});
}

void expect_sound(const Fabric& fabric, const LidMap& lids, const RoutingTables& tables) {
  const RouteReport report = check_routes(fabric, lids, tables.lft, {.minimality = false});
  EXPECT_THAT(report.first_faults, IsEmpty());
  EXPECT_TRUE(report.acyclic) << print_cycle(fabric, report.cycle);
  EXPECT_TRUE(report.ok());
}

/// The most flows that share a channel when host i sends to host i + shift, for the worst shift.
unsigned measure_shifts(const Fabric& fabric, const LidMap& lids, const ForwardingTables& tables) {
  const std::vector<PortIdx> hosts = list_hosts(fabric);
  unsigned worst = 0;
  for (std::size_t shift = 1; shift < hosts.size(); ++shift) {
    std::map<PortIdx, unsigned> flows;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      const auto exits = walk(fabric, lids, tables, hosts[i], hosts[(i + shift) % hosts.size()]);
      EXPECT_FALSE(exits.empty());
      for (const PortIdx egress : exits) worst = std::max(worst, ++flows[egress]);
    }
  }
  return worst;
}

/// Links between switches on the way between two hosts.
std::size_t hops(
    const Fabric& f, const LidMap& lids, const RoutingTables& t, PortIdx a, PortIdx b) {
  return walk(f, lids, t.lft, a, b).size() - 1;
}

class WholeTree : public ::testing::TestWithParam<const char*> {};

TEST_P(WholeTree, NoTwoFlowsOfAShiftPermutationShareAChannel) {
  const Fabric fabric = generated_fabric(GetParam());
  const LidMap lids = lids_in_order(fabric);
  EXPECT_EQ(measure_shifts(fabric, lids, ftree(fabric, lids).lft), 1u);
}

TEST_P(WholeTree, EveryRouteBetweenHostsIsAShortestOne) {
  const Fabric fabric = generated_fabric(GetParam());
  const LidMap lids = lids_in_order(fabric);
  const RoutingTables tables = ftree(fabric, lids);
  const SwitchGraph graph{fabric};
  for (const PortIdx to : list_hosts(fabric)) {
    const SwitchIdx last = fabric.switch_at(fabric.peer[to]);
    const auto distance = compute_distances(graph, {&last, 1});
    for (const PortIdx from : list_hosts(fabric)) {
      const SwitchIdx first = fabric.switch_at(fabric.peer[from]);
      if (from == to) continue;
      EXPECT_EQ(hops(fabric, lids, tables, from, to), distance[first]);
    }
  }
}

TEST_P(WholeTree, EverybodyReachesEverybodySwitchesIncluded) {
  const Fabric fabric = generated_fabric(GetParam());
  for (const std::uint8_t lmc : {std::uint8_t{0}, std::uint8_t{2}}) {
    const LidMap lids = lids_in_order(fabric, lmc);
    const RoutingTables tables = ftree(fabric, lids);
    expect_sound(fabric, lids, tables);
    EXPECT_EQ(tables.vls, 1u);
    EXPECT_THAT(tables.notes, IsEmpty());
  }
}

INSTANTIATE_TEST_SUITE_P(Specs,
                         WholeTree,
                         ::testing::Values("fat-tree:k=4,levels=2",
                                           "fat-tree:k=4,levels=3",
                                           "fat-tree:k=6,levels=3",
                                           "fat-tree:k=4,levels=4",
                                           "pgft:levels=2,down=6.4,up=1.3,parallel=1.2",
                                           "pgft:levels=3,down=4.4.4,up=1.2.4,parallel=1.2.2",
                                           "pgft:levels=3,down=4.3.5,up=1.4.3,parallel=1.1.1"));

TEST(Ftree, SpreadsParallelCablesWhereThereAreTooFewUp) {
  //  Six hosts per leaf, two spines with one cable each: three hosts per channel, no more.
  const Fabric fabric = generated_fabric("pgft:levels=2,down=6.4,up=1.2,parallel=1.1");
  const LidMap lids = lids_in_order(fabric);
  EXPECT_EQ(measure_shifts(fabric, lids, ftree(fabric, lids).lft), 3u);
}

TEST(Ftree, EachLidOfAPortTakesAnotherCableUp) {
  const Fabric fabric = generated_fabric("fat-tree:k=8,levels=3");
  const LidMap lids = lids_in_order(fabric, 2);
  const RoutingTables tables = ftree(fabric, lids);
  const SwitchIdx leaf = switch_named(fabric, "sw-0-9");
  for (const PortIdx host : list_hosts(fabric)) {
    const PortIdx at = fabric.peer[host];
    if (fabric.switch_at(at) == leaf) continue;
    std::set<PortNum> exits;
    for (std::uint16_t offset = 0; offset < 4; ++offset)
      exits.insert(tables.lft.route(
          leaf, Lid{static_cast<std::uint16_t>(lids.base[host].value() + offset)}));
    EXPECT_EQ(exits.size(), 4u);
  }
}

TEST(Ftree, CablingAtAnyPortsDoesNotMatterAsLongAsItIsTheSameEverywhere) {
  //  Hosts at ports 3 and 4, uplinks at 2 and 1, spines count leaves backwards.
  const Fabric fabric =
      fabric_from("S1:3-H1 S1:4-H2 S2:3-H3 S2:4-H4 S1:2-S3:7 S1:1-S4:7 S2:2-S3:5 S2:1-S4:5");
  const LidMap lids = lids_in_order(fabric);
  EXPECT_EQ(measure_shifts(fabric, lids, ftree(fabric, lids).lft), 1u);
}

TEST(Ftree, LeavesThatAreCabledEachInItsOwnWayUseTheSameSpineForOneHost) {
  //  S1 has the spines in one order, S2 and S5 in the other.
  const Fabric fabric = fabric_from(
      "S1:1-H1 S1:2-H2 S2:1-H3 S2:2-H4 S5:1-H5 S5:2-H6 S1:3-S3:1 S1:4-S4:1 S2:3-S4:2 S2:4-S3:2 "
      "S5:3-S4:3 S5:4-S3:3");
  const LidMap lids = lids_in_order(fabric);
  EXPECT_EQ(measure_shifts(fabric, lids, ftree(fabric, lids).lft), 1u);
}

TEST(Ftree, HostsAtSpinesAndCoresAreServed) {
  Fabric fabric = generated_fabric("fat-tree:k=4,levels=3,hosts=14");
  const LidMap lids = lids_in_order(fabric);
  expect_sound(fabric, lids, ftree(fabric, lids));
  const Fabric heads =
      fabric_from("S1-H1 S1-H2 S1-H5 S2-H3 S2-H4 S2-H6 S1-S3 S1-S4 S2-S3 S2-S4 S3-H8 S4-H9");
  const LidMap head_lids = lids_in_order(heads);
  const RoutingTables tables = ftree(heads, head_lids);
  expect_sound(heads, head_lids, tables);
  EXPECT_THAT(path(heads, head_lids, tables.lft, "H1", "H8"), ElementsAre("S1", "S3"));
  EXPECT_THAT(path(heads, head_lids, tables.lft, "H8", "H9"), ElementsAre("S3", "S1", "S4"));
}

TEST(Ftree, ASwitchThatIsCabledLikeNoOtherOfItsLevelIsServed) {
  //  S8 hangs by two cables at S7, where others of the level have one.
  const Fabric f = fabric_from(
      "S1/1 S2/1 S3/1 S4/1 S5/1 S6/1 S7/1 S8/1 S9/1 S10/1 S11/1 S12/1 S13/1 S14/1 S15/1 S3-S5 "
      "S2-S4 S6-S10 S5-S12 S4-S12 S7-S11 S7-S8 S4-S10 S7-S8 S4-S10 S9-S15 S10-S13 S9-S15 S9-S14 "
      "S10-S15 S11-S14 S3-H1 S2-H2 S2-H3 S3-H4 S1-H5 S3-H6 S2-H7 S13-H8");
  const LidMap lids = lids_in_order(f);
  const RouteReport report = check_routes(f, lids, compute("ftree", f, lids).lft);
  EXPECT_EQ(report.first_faults, std::vector<std::string>{});
  EXPECT_TRUE(report.ok());
}

TEST(Ftree, RefusesWhatIsNoTree) {
  const Fabric fabric = generated_fabric("torus:dims=4.4");
  const auto tables = find_engine("ftree")->compute(fabric, lids_in_order(fabric), {});
  ASSERT_FALSE(tables);
  EXPECT_EQ(tables.error().code, Errc::Unsupported);
  EXPECT_THAT(tables.error().context, HasSubstr("no fat tree: "));
}

TEST(Ftree, SaysWhatIsMissing) {
  const Fabric fabric = generated_fabric("fat-tree:k=4,levels=3");
  const Fabric damaged = without_cables(fabric, {cable(fabric, "sw-0-0", "sw-1-1")});
  EXPECT_THAT(ftree(damaged, lids_in_order(damaged)).notes,
              ElementsAre(HasSubstr("1 cables missing")));
}

struct Damage {
  const char* spec;
  unsigned percent;      // of the cables between switches
  std::size_t switches;  // besides
};

class DamagedTree : public ::testing::TestWithParam<Damage> {};

TEST_P(DamagedTree, EverybodyWhoIsConnectedReachesEverybody) {
  const auto& [spec, percent, switches] = GetParam();
  const Fabric fabric = generated_fabric(spec);
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    Rng rng{seed};
    const std::size_t cables = list_cables(fabric).size();
    Fabric damaged =
        without_cables(fabric, draw_cables(fabric, (cables * percent + 99) / 100, rng));
    std::set<NodeIdx> gone;
    while (gone.size() < switches)
      gone.insert(fabric.switch_node[SwitchIdx{
          static_cast<std::uint32_t>(rng.below(fabric.switch_count()))}]);
    if (!gone.empty()) damaged = without_nodes(damaged, gone);
    const LidMap lids = lids_in_order(damaged);
    const RoutingTables tables = ftree(damaged, lids);
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_sound(damaged, lids, tables);
  }
}

// Of the pairs that can climb, then descend by levels, all do, unless a link that was turned round
// is in the way: one in a hundred at most.
TEST_P(DamagedTree, NearlyNobodyTakesADetourWhoCouldClimbAndDescend) {
  const auto& [spec, percent, switches] = GetParam();
  const Fabric fabric = generated_fabric(spec);
  const FatTreeShape shape = recognise_fat_tree(fabric).value();
  Rng rng{7};
  const Fabric damaged =
      without_cables(fabric, draw_cables(fabric, list_cables(fabric).size() * percent / 100, rng));
  const LidMap lids = lids_in_order(damaged);
  const RoutingTables tables = ftree(damaged, lids);
  const SwitchGraph graph{damaged};
  std::size_t pairs = 0, longer = 0;
  for (const PortIdx to : list_hosts(damaged)) {
    const SwitchIdx last = damaged.switch_at(damaged.peer[to]);
    // Levels climbed from the destination, against the way down; then down from there.
    IndexVector<SwitchIdx, std::uint32_t> links(damaged.switch_count(), kUnreached);
    std::vector<SwitchIdx> queue{last};
    links[last] = 0;
    for (std::size_t at = 0; at < queue.size(); ++at) {
      for (const SwitchEdge& edge : graph.edges(queue[at])) {
        if (shape.level[edge.to] < shape.level[queue[at]] || links[edge.to] != kUnreached) continue;
        links[edge.to] = links[queue[at]] + 1;
        queue.push_back(edge.to);
      }
    }
    std::vector<SwitchIdx> order;
    for (const SwitchIdx sw : shape.level.indices()) order.push_back(sw);
    std::stable_sort(order.begin(), order.end(), [&](SwitchIdx a, SwitchIdx b) {
      return shape.level[a] > shape.level[b];
    });
    for (const SwitchIdx sw : order) {
      for (const SwitchEdge& edge : graph.edges(sw)) {
        if (shape.level[edge.to] > shape.level[sw] && links[edge.to] != kUnreached)
          links[sw] = std::min(links[sw], links[edge.to] + 1);
      }
    }
    for (const PortIdx from : list_hosts(damaged)) {
      const SwitchIdx first = damaged.switch_at(damaged.peer[from]);
      if (from == to || links[first] == kUnreached) continue;
      ++pairs;
      longer += hops(damaged, lids, tables, from, to) > links[first];
    }
  }
  EXPECT_LE(100 * longer, pairs) << longer << " of " << pairs;
}

INSTANTIATE_TEST_SUITE_P(
    Specs,
    DamagedTree,
    ::testing::Values(Damage{"fat-tree:k=8,levels=3", 1, 0},
                      Damage{"fat-tree:k=8,levels=3", 5, 0},
                      Damage{"fat-tree:k=8,levels=3", 20, 0},
                      Damage{"fat-tree:k=8,levels=3", 2, 6},
                      Damage{"fat-tree:k=4,levels=4", 20, 0},
                      Damage{"fat-tree:k=12,levels=2", 20, 3},
                      Damage{"pgft:levels=3,down=4.4.4,up=1.2.4,parallel=1.2.2", 20, 2},
                      Damage{"fat-tree:k=4,levels=3", 50, 0},
                      Damage{"pgft:levels=4,down=3.2.2.2,up=1.2.2.3,parallel=1.1.1.1", 10, 1}));

// What a change does: the same tables as from scratch, nothing moved that need not, and no trace
// when it is undone.
class Change : public ::testing::Test {
 protected:
  explicit Change(const std::string& spec = "fat-tree:k=8,levels=3")
      : whole_(generated_fabric(spec)),
        lids_(lids_in_order(whole_)),
        tables_(ftree(whole_, lids_)) {}

  /// Entries that differ, by switch name and LID.
  std::size_t count_changed(const Fabric& now, const RoutingTables& after) const {
    std::size_t changed = 0;
    for (const SwitchIdx sw : now.switch_node.indices()) {
      const SwitchIdx was = switch_named(whole_, now.description[now.switch_node[sw]]);
      for (unsigned lid = 1; lid <= lids_.top.value(); ++lid) {
        const Lid each{static_cast<std::uint16_t>(lid)};
        changed += after.lft.route(sw, each) != tables_.lft.route(was, each);
      }
    }
    return changed;
  }

  void lose_and_restore(const Fabric& now) {
    const LidMap lids = same_lids(whole_, lids_, now);
    const RoutingTables after = ftree_after(now, lids, whole_, lids_, tables_);
    expect_sound(now, lids, after);
    expect_as_from_scratch(now, lids, after);
    expect_said(now, lids, after);
    const RoutingTables back = ftree_after(whole_, lids_, now, lids, after);
    EXPECT_EQ(back.lft, tables_.lft);
    EXPECT_EQ(back.orientation, tables_.orientation);
  }

  void expect_as_from_scratch(const Fabric& now, const LidMap& lids, const RoutingTables& after) {
    const RoutingTables scratch = ftree(now, lids);
    EXPECT_EQ(after.orientation, scratch.orientation);
    for (const SwitchIdx sw : now.switch_node.indices()) {
      for (unsigned lid = 1; lid <= lids.top.value(); ++lid) {
        const Lid each{static_cast<std::uint16_t>(lid)};
        if (lids.owner_of(each) == kNone<PortIdx>) continue;
        ASSERT_EQ(after.lft.route(sw, each), scratch.lft.route(sw, each))
            << now.description[now.switch_node[sw]] << " lid " << lid;
      }
    }
  }

  void expect_said(const Fabric& now, const LidMap& lids, const RoutingTables& after) {
    ASSERT_TRUE(after.recomputed.has_value());
    std::vector<Lid> changed;
    for (unsigned lid = 1; lid <= lids.top.value(); ++lid) {
      const Lid each{static_cast<std::uint16_t>(lid)};
      for (const SwitchIdx sw : now.switch_node.indices()) {
        const SwitchIdx was = switch_named(whole_, now.description[now.switch_node[sw]]);
        if (lids.owner_of(each) == kNone<PortIdx> ||
            after.lft.route(sw, each) == tables_.lft.route(was, each))
          continue;
        changed.push_back(each);
        break;
      }
    }
    EXPECT_EQ(*after.recomputed, changed);
  }

  Fabric whole_;
  LidMap lids_;
  RoutingTables tables_;
};

TEST_F(Change, AnyOneCable) {
  for (const PortIdx lost : list_cables(whole_)) {
    SCOPED_TRACE(print_port(whole_, lost));
    lose_and_restore(without_cables(whole_, {lost}));
  }
}

TEST_F(Change, AnyOneSwitch) {
  for (const NodeIdx sw : whole_.switch_node) {
    SCOPED_TRACE(whole_.description[sw]);
    std::set<NodeIdx> gone{sw};
    for (const PortIdx port : whole_.external_ports(sw)) {
      const PortIdx far = whole_.peer[port];
      if (far != kNone<PortIdx> && !whole_.is_switch(whole_.node_of[far]))
        gone.insert(whole_.node_of[far]);
    }
    lose_and_restore(without_nodes(whole_, gone));
  }
}

TEST_F(Change, AHostThatIsAwayCostsNothing) {
  for (const std::size_t which : {0u, 5u, 127u}) {
    const Fabric now = without_nodes(whole_, {whole_.node_of[list_hosts(whole_)[which]]});
    const LidMap lids = same_lids(whole_, lids_, now);
    const RoutingTables after = ftree_after(now, lids, whole_, lids_, tables_);
    EXPECT_EQ(after.lft, tables_.lft);
    EXPECT_THAT(*after.recomputed, IsEmpty());
    lose_and_restore(now);
  }
}

TEST_F(Change, ManyCablesAtOnceAndMoreOnTop) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    Rng rng{seed};
    const Fabric some = without_cables(whole_, draw_cables(whole_, 12, rng));
    lose_and_restore(some);
    const RoutingTables first = ftree(some, lids_);
    const Fabric more = without_cables(some, draw_cables(some, 3, rng));
    const RoutingTables second = ftree_after(more, lids_, some, lids_, first);
    expect_sound(more, lids_, second);
    EXPECT_EQ(second.lft, ftree(more, lids_).lft);
    EXPECT_EQ(ftree_after(some, lids_, more, lids_, second).lft, first.lft);
  }
}

TEST_F(Change, MovesOnlyWhatTheCableCarriedAndWhatCannotStay) {
  for (const PortIdx lost : list_cables(whole_)) {
    const Fabric now = without_cables(whole_, {lost});
    const RoutingTables after = ftree_after(now, lids_, whole_, lids_, tables_);
    for (const SwitchIdx sw : now.switch_node.indices()) {
      const NodeIdx node = now.switch_node[sw];
      for (const PortIdx host : list_hosts(now)) {
        const Lid lid = lids_.base[host];
        const PortNum old = tables_.lft.route(sw, lid);
        if (after.lft.route(sw, lid) == old) continue;
        const PortIdx far = now.peer[now.port_of(node, old)];
        if (far == kNone<PortIdx>) continue;
        // The neighbour it went to is farther away now than the new way is long.
        const PortIdx self = now.port_of(node, PortNum{0});
        const PortIdx there = now.port_of(now.node_of[far], PortNum{0});
        ASSERT_GE(walk(now, lids_, after.lft, there, host).size() + 1,
                  walk(now, lids_, after.lft, self, host).size())
            << print_port(now, lost) << " lost: " << now.description[node] << " to "
            << print_port(now, host) << " over " << now.description[now.node_of[far]];
        ASSERT_GT(walk(now, lids_, after.lft, there, host).size() + 1,
                  walk(whole_, lids_, tables_.lft, self, host).size())
            << print_port(now, lost) << " lost: " << now.description[node] << " to "
            << print_port(now, host) << " over " << now.description[now.node_of[far]];
      }
    }
  }
}

// Whoever compares versions sees it without a look at the entries.
TEST_F(Change, RowsThatComeOutAsTheyWereAreTheSameOnes) {
  for (const PortIdx lost : list_cables(whole_)) {
    const Fabric now = without_cables(whole_, {lost});
    const RoutingTables after = ftree_after(now, lids_, whole_, lids_, tables_);
    for (const SwitchIdx sw : now.switch_node.indices()) {
      const NodeIdx node = now.switch_node[sw];
      if (node == whole_.node_of[lost] || node == whole_.node_of[whole_.peer[lost]]) continue;
      const bool same = std::ranges::equal(after.lft.row(sw), tables_.lft.row(sw));
      ASSERT_EQ(after.lft.shares_row(sw, tables_.lft, sw), same) << now.description[node];
    }
  }
}

TEST_F(Change, WhatALostCableCarriedIsSpreadOverAllOthers) {
  const Fabric now = without_cables(whole_, {cable(whole_, "sw-0-5", "sw-1-6")});
  const RoutingTables after = ftree(now, lids_);
  const SwitchIdx leaf = switch_named(now, "sw-0-5");
  std::map<PortNum, unsigned> uses;
  for (const PortIdx host : list_hosts(now)) ++uses[after.lft.route(leaf, lids_.base[host])];
  for (unsigned port = 5; port <= 8; ++port) {
    if (port == 7) {
      EXPECT_EQ(uses[PortNum{7}], 0u);
    } else {
      // 124 hosts elsewhere, 31 per cable before; a third of 31 more for each.
      EXPECT_NEAR(uses[PortNum{static_cast<std::uint8_t>(port)}], 31 + 31 / 3.0, 1.5);
    }
  }
}

class ParallelChange : public Change {
 protected:
  ParallelChange() : Change("pgft:levels=3,down=4.4.4,up=1.2.4,parallel=1.2.2") {}
};

TEST_F(ParallelChange, AnyOneCable) {
  for (const PortIdx lost : list_cables(whole_)) {
    SCOPED_TRACE(print_port(whole_, lost));
    lose_and_restore(without_cables(whole_, {lost}));
  }
}

TEST_F(ParallelChange, ManyCablesAtOnceAndMoreOnTop) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    Rng rng{seed};
    const Fabric some = without_cables(whole_, draw_cables(whole_, 10, rng));
    lose_and_restore(some);
    const RoutingTables first = ftree(some, lids_);
    const Fabric more = without_cables(some, draw_cables(some, 3, rng));
    const RoutingTables second = ftree_after(more, lids_, some, lids_, first);
    expect_sound(more, lids_, second);
    EXPECT_EQ(second.lft, ftree(more, lids_).lft);
    EXPECT_EQ(ftree_after(some, lids_, more, lids_, second).lft, first.lft);
  }
}

class TrunkChange : public Change {
 protected:
  TrunkChange() : Change("pgft:levels=2,down=6.6,up=1.3,parallel=1.2") {}
};

TEST_F(TrunkChange, AnyOneCable) {
  for (const PortIdx lost : list_cables(whole_)) {
    SCOPED_TRACE(print_port(whole_, lost));
    lose_and_restore(without_cables(whole_, {lost}));
  }
}

TEST_F(TrunkChange, AnyTwoCablesOfALeaf) {
  const std::vector<PortIdx> cables = list_cables(whole_);
  for (std::size_t a = 0; a < 6; ++a) {
    for (std::size_t b = a + 1; b < 12; ++b)
      lose_and_restore(without_cables(whole_, {cables[a], cables[b]}));
  }
}

// A number comes down from a spine by one cable, whoever sends: what came by a missing one comes by
// all others only if senders climb to different spines.
TEST(Ftree, WhatCameDownAMissingCableComesDownAllOthers) {
  struct Row {
    const char* spec;
    const char* leaf;  // that loses a cable to the spine; "": as it is
    const char* spine;
    std::uint64_t most;
  };

  for (const Row& row :
       {Row{"pgft:levels=2,down=12.24,up=1.12,parallel=1.1", "sw-0-0", "sw-1-0", 312},  // 552
        Row{"pgft:levels=2,down=12.12,up=1.3,parallel=1.4", "sw-0-0", "sw-1-0", 192},   // 264
        Row{"pgft:levels=2,down=6.6,up=1.3,parallel=1.2,missing=6", "", "", 78},        // 114
        Row{"fat-tree:k=8,levels=2,uneven=40", "", "", 56},                             // 96
        Row{"fat-tree:k=8,levels=3", "sw-0-0", "sw-1-0", 168}}) {                       // 248
    const Fabric whole = generated_fabric(row.spec);
    const Fabric fabric = *row.leaf == 0
                              ? generated_fabric(row.spec)
                              : without_cables(whole, {cable(whole, row.leaf, row.spine)});
    const LidMap lids = lids_in_order(fabric);
    EXPECT_LE(measure_load(fabric, lids, ftree(fabric, lids).lft).max, row.most) << row.spec;
  }
}

TEST_F(Change, TheOrderOfHandlesDoesNotMatter) {
  // The same fabric discovered in the opposite order.
  FabricBuilder builder;
  std::vector<NodeIdx> index(whole_.node_count());
  for (std::size_t i = whole_.node_count(); i-- > 0;) {
    const NodeIdx n{static_cast<std::uint32_t>(i)};
    index[i] = builder.add_node(whole_.node_info[n]);
    builder.set_description(index[i], whole_.description[n]);
  }
  for (const PortIdx port : whole_.peer.indices()) {
    const PortIdx peer = whole_.peer[port];
    if (peer == kNone<PortIdx> || peer < port) continue;
    builder.add_link(index[whole_.node_of[port].value()],
                     whole_.number_of(port),
                     index[whole_.node_of[peer].value()],
                     whole_.number_of(peer));
  }
  builder.set_sm_port(index[whole_.node_of[whole_.sm_port].value()],
                      whole_.number_of(whole_.sm_port));
  const Fabric turned = *builder.build(Epoch{1});
  const LidMap lids = same_lids(whole_, lids_, turned);
  EXPECT_EQ(count_changed(turned, ftree(turned, lids)), 0u);
  EXPECT_EQ(count_changed(turned, ftree_after(turned, lids, whole_, lids_, tables_)), 0u);
}

TEST_F(Change, RoutesOfOtherEnginesAreNotKept) {
  const RoutingTables foreign = find_engine("minhop")->compute(whole_, lids_, {}).value();
  const RoutingTables after = ftree_after(whole_, lids_, whole_, lids_, foreign);
  EXPECT_EQ(after.lft, tables_.lft);
  EXPECT_FALSE(after.recomputed.has_value());
}

TEST_F(Change, EntriesToALidThatNobodyHasGoWhereTheyMightTurn) {
  const NodeIdx host = whole_.node_of[list_hosts(whole_).back()];
  const Fabric away = without_nodes(whole_, {host});
  const LidMap lids = same_lids(whole_, lids_, away);
  const RoutingTables meanwhile = ftree_after(away, lids, whole_, lids_, tables_);
  // The cable below the first leaf's plane: links are turned round.
  const Fabric cut = without_cables(away, {cable(away, "sw-0-0", "sw-1-0")});
  const RoutingTables after = ftree_after(cut, lids, away, lids, meanwhile);
  EXPECT_FALSE(after.altered.empty());
  const Lid gone = lids_.base[list_hosts(whole_).back()];
  for (const SwitchIdx sw : cut.switch_node.indices())
    EXPECT_EQ(after.lft.route(sw, gone), kNoRoute);
}

// Behind a core a chain of doubled cables: its levels are not folded, and cables lead over several,
// for which slots, which lead to the next one, have no place.
TEST(Ftree, ParallelCablesThatLeadOverSeveralLevels) {
  std::string text =
      "S1-S5 S1-S6 S2-S5 S2-S6 S3-S7 S3-S8 S4-S7 S4-S8 S5-S9 S5-S10 S6-S9 S6-S10 S7-S9 S7-S10 "
      "S8-S9 S8-S10 S1-H1 S1-H2 S2-H3 S2-H4 S3-H5 S3-H6 S4-H7 S4-H8";
  for (int from = 9, to = 11; to <= 21; from = to++) {
    for (int cable = 0; cable < 2; ++cable)
      text += " S" + std::to_string(from) + "-S" + std::to_string(to);
  }
  const Fabric fabric = fabric_from(text);
  const LidMap lids = lids_in_order(fabric);
  expect_sound(fabric, lids, ftree(fabric, lids));
}

/// The level of a switch of a generated tree, 0 for leaves, by its name "sw-LEVEL-NUMBER".
char level_of(const Fabric& fabric, PortIdx port) {
  return fabric.description[fabric.node_of[port]].at(3);
}

TEST(Ftree, SaysThatItCountsCablesWhereTheyDifferInSpeed) {
  const Fabric even = generated_fabric("fat-tree:k=4,levels=3,speed=NDR");
  const LidMap lids = lids_in_order(even);
  const auto says_so = [&](auto&& is_slow) {
    Fabric fabric = even;
    for (const PortIdx port : fabric.peer.indices()) {
      if (fabric.peer[port] == kNone<PortIdx> || !is_slow(port)) continue;
      for (const PortIdx end : {port, fabric.peer[port]})
        fabric.port_info[end].link_width_active = 1;
    }
    return std::ranges::count(
        ftree(fabric, lids).notes,
        std::string("cables between two levels differ in speed: ftree counts cables, not Gb/s"));
  };
  const PortIdx one = find_channels(even).front();
  const NodeIdx core = node(even, "sw-2-0");
  EXPECT_EQ(says_so([](PortIdx) { return false; }), 0);
  EXPECT_EQ(says_so([&](PortIdx port) { return port == one; }), 1) << "one cable";
  EXPECT_EQ(says_so([&](PortIdx port) { return even.node_of[port] == core; }), 1) << "one core";
  // Nobody has a choice between cables that differ.
  EXPECT_EQ(says_so([&](PortIdx port) { return even.is_host(port); }), 0) << "hosts";
  EXPECT_EQ(says_so([&](PortIdx port) {
              return even.is_switch(even.node_of[port]) && level_of(even, port) == '2';
            }),
            0)
      << "all cables of one level";
}

}  // namespace ftree_test
}  // namespace smd::test
