// minhop after changes: always shortest paths, and nothing moved that could stay.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "smd/routing/engine.h"
#include "smd/routing/incremental/entries.h"
#include "smd/routing/incremental/rebalance_shortest.h"
#include "smd/routing/verify/channel_load.h"
#include "smd/routing/verify/check_routes.h"
#include "smd/routing/verify/hop_distance.h"
#include "tests/unit/routing/support/changing_fabric.h"
#include "tests/unit/routing/support/generated.h"
#include "tests/unit/routing/support/reshaped.h"

namespace smd::test {
namespace update_shortest_test {

using View = ChangingFabric::View;

RoutingTables compute_minhop(const Fabric& fabric,
                             const LidMap& lids,
                             const PreviousRoutes* in_force = nullptr,
                             const RoutingRequest& request = {}) {
  RoutingRequest with = request;
  with.in_force = in_force;
  return find_engine("minhop")->compute(fabric, lids, with).value();
}

RoutingTables compute_minhop(const View& now, const View& before, const RoutingTables& tables) {
  const PreviousRoutes in_force{&before.fabric, &before.lids, &tables};
  return compute_minhop(now.fabric, now.lids, &in_force);
}

ChangingFabric draw() {
  const int switches = pick(1, 14);
  return {switches, pick(0, 2 * switches), pick(0, 14), static_cast<unsigned>(pick(0, 1))};
}

// The switch that a port leads to; kNone where it leads to none.
SwitchIdx neighbour(const Fabric& f, SwitchIdx sw, PortNum port) {
  const NodeIdx node = f.switch_node[sw];
  if (port == PortNum{0} || port.value() > f.num_ports(node)) return kNone<SwitchIdx>;
  const PortIdx far = f.peer[f.port_of(node, port)];
  if (far == kNone<PortIdx> || !f.is_switch(f.node_of[far])) return kNone<SwitchIdx>;
  return f.switch_at(far);
}

SwitchIdx last_switch(const View& v, Lid lid) {
  const PortIdx owner = v.lids.owner_of(lid);
  if (owner == kNone<PortIdx>) return kNone<SwitchIdx>;
  if (v.fabric.is_switch(v.fabric.node_of[owner])) return v.fabric.switch_at(owner);
  const PortIdx far = v.fabric.peer[owner];
  if (far == kNone<PortIdx> || !v.fabric.is_switch(v.fabric.node_of[far])) return kNone<SwitchIdx>;
  return v.fabric.switch_at(far);
}

// What every switch that was there before had for a LID; kNoRoute where it was not there.
PortNum entry_before(
    const View& now, const View& before, const RoutingTables& tables, SwitchIdx sw, Lid lid) {
  const auto node = before.fabric.find_node(now.fabric.node_guid[now.fabric.switch_node[sw]]);
  if (!node || lid.value() >= tables.lft.blocks() * kLftBlockSize) return kNoRoute;
  return tables.lft.route(before.fabric.switch_of[*node], lid);
}

void require_shortest(const View& v, const RoutingTables& tables) {
  const RouteReport report = check_routes(v.fabric, v.lids, tables.lft);
  RC_ASSERT(report.first_faults == std::vector<std::string>{});
  RC_ASSERT(report.unreachable == 0u);
  RC_ASSERT(report.loops == 0u);
  RC_ASSERT(report.minimal == report.pairs);
}

template <class Visit>
void each_entry(const View& v, const RoutingTables& tables, Visit&& visit) {
  for (std::size_t value = 1; value < tables.lft.blocks() * kLftBlockSize; ++value) {
    for (const SwitchIdx sw : v.fabric.switch_node.indices())
      visit(sw, Lid{static_cast<std::uint16_t>(value)});
  }
}

// LIDs that nobody has any more are no excuse for packets that never end.
void require_no_rings(const View& v, const RoutingTables& tables) {
  each_entry(v, tables, [&](SwitchIdx sw, Lid lid) {
    for (std::size_t links = 0; sw != kNone<SwitchIdx>; ++links) {
      RC_ASSERT(links < v.fabric.switch_count());
      sw = neighbour(v.fabric, sw, tables.lft.route(sw, lid));
    }
  });
}

void require_recomputed_told(const View& now,
                             const RoutingTables& after,
                             const View& before,
                             const RoutingTables& tables) {
  if (!after.recomputed) return;
  std::vector<Lid> moved;
  each_entry(now, after, [&](SwitchIdx sw, Lid lid) {
    if (after.lft.route(sw, lid) != entry_before(now, before, tables, sw, lid))
      moved.push_back(lid);
  });
  moved.erase(std::unique(moved.begin(), moved.end()), moved.end());
  for (const Lid lid : moved) RC_ASSERT(std::ranges::count(*after.recomputed, lid) == 1);
}

// Entries that still led along a shortest path moved for the sake of balance only: with all of them
// put back the fullest channel carries no less.
void require_nothing_needless(const View& now,
                              const RoutingTables& after,
                              const View& before,
                              const RoutingTables& tables) {
  if (!after.recomputed) return;  // too much was gone
  HopDistance hops{now.fabric};
  ForwardingTables put_back = after.lft;
  std::size_t moved = 0, forced = 0;
  each_entry(now, after, [&](SwitchIdx sw, Lid lid) {
    const PortNum old = entry_before(now, before, tables, sw, lid);
    if (old == after.lft.route(sw, lid)) return;
    const SwitchIdx last = last_switch(now, lid);
    const SwitchIdx onward = neighbour(now.fabric, sw, old);
    if (last == kNone<SwitchIdx>) {
      RC_ASSERT(onward == kNone<SwitchIdx>);
      return;
    }
    const auto to = hops.to(last);
    const bool still_shortest = onward != kNone<SwitchIdx> && hops.joined(sw, last) &&
                                to[onward.value()] + 1 == to[sw.value()];
    if (still_shortest) put_back.set_route(sw, lid, old);
    ++(still_shortest ? moved : forced);
  });
  RC_CLASSIFY(moved != 0, "moved for balance");
  if (moved == 0) return;
  RC_ASSERT(measure_load(now.fabric, now.lids, after.lft).max <=
            measure_load(now.fabric, now.lids, put_back).max);
}

RC_GTEST_PROP(KeepShortest, WhateverChangesTheRoutesStayShortest, ()) {
  ChangingFabric network = draw();
  View before = network.view();
  RoutingTables tables = compute_minhop(before.fabric, before.lids);
  for (int step = 0; step < 5; ++step) {
    network.change(pick(1, 4));
    View now = network.view();
    RoutingTables after = compute_minhop(now, before, tables);
    RC_TAG(after.recomputed ? "kept" : "anew");
    require_shortest(now, after);
    require_no_rings(now, after);
    require_recomputed_told(now, after, before, tables);
    RC_ASSERT(compute_minhop(now, before, tables).lft == after.lft);
    before = std::move(now);
    tables = std::move(after);
  }
}

RC_GTEST_PROP(KeepShortest, AfterALossEntriesThatCouldStayMoveForBalanceOnly, ()) {
  ChangingFabric network = draw();
  View before = network.view();
  RoutingTables tables = compute_minhop(before.fabric, before.lids);
  for (int step = 0; step < 4; ++step) {
    network.lose(pick(1, 2));
    View now = network.view();
    RoutingTables after = compute_minhop(now, before, tables);
    require_shortest(now, after);
    require_nothing_needless(now, after, before, tables);
    before = std::move(now);
    tables = std::move(after);
  }
}

RC_GTEST_PROP(KeepShortest, NothingChangesWhenNothingDoes, ()) {
  const View v = draw().view();
  const RoutingTables tables = compute_minhop(v.fabric, v.lids);
  const RoutingTables again = compute_minhop(v, v, tables);
  RC_ASSERT(again.lft == tables.lft);
  if (again.recomputed) RC_ASSERT(again.recomputed->empty());
}

TEST(KeepShortest, RoutesOfOtherEnginesAreNotKept) {
  const Generated ring = generated("torus:dims=5,hosts=1");
  const RoutingTables foreign = compute("updn", ring.fabric, ring.lids);
  const PreviousRoutes in_force{&ring.fabric, &ring.lids, &foreign};
  const RoutingTables after = compute_minhop(ring.fabric, ring.lids, &in_force);
  EXPECT_EQ(after.recomputed, std::nullopt);
  EXPECT_EQ(after.lft, compute_minhop(ring.fabric, ring.lids).lft);
}

// S1 was cabled to S4 while no manager ran, and its packets went the long way round. The cable that
// they took goes: who has to turn back must not meet them.
TEST(KeepShortest, FoundRoutesThatAreNotTheShortestDoNotGoRound) {
  const Fabric f = fabric_from("S1:1-S4:1 S1:2-S2:1 S2:2-S3:1 S3:2-S4:2 H1-S1 H2-S2 H3-S3 H4-S4");
  const Fabric cut = fabric_from("S1:1-S4:1 S1:2-S2:1 S3:2-S4:2 H1-S1 H2-S2 H3-S3 H4-S4");
  const LidMap lids = lids_in_order(f);
  RoutingTables found = compute_minhop(f, lids);
  const Lid at_s4 = lids.base[end_port(f, "H4")];
  found.lft.set_route(switch_named(f, "S1"), at_s4, PortNum{2});
  found.lft.set_route(switch_named(f, "S2"), at_s4, PortNum{2});
  found.recomputed.reset();
  found.load = {};
  const LidMap same = lids_in_order(cut);
  const PreviousRoutes in_force{&f, &lids, &found};
  const RoutingTables after = compute_minhop(cut, same, &in_force);
  EXPECT_EQ(check_routes(cut, same, after.lft).first_faults, std::vector<std::string>{});
}

// LIDs of hosts that leave S1 by each port.
std::vector<unsigned> leaving(const Fabric& f, const LidMap& lids, const RoutingTables& tables) {
  std::vector<unsigned> by_port(8, 0);
  for (const PortIdx owner : lids.owner) {
    if (owner == kNone<PortIdx> || f.is_switch(f.node_of[owner])) continue;
    ++by_port.at(tables.lft.route(switch_named(f, "S1"), lids.base[owner]).value());
  }
  return by_port;
}

TEST(KeepShortest, ACableThatComesBackTakesItsShareAndNoMore) {
  //  S1 ═══ S2 by three cables, hosts H1 … H6 at S2 and H7 at S1.
  const char* const hosts = " H1-S2 H2-S2 H3-S2 H4-S2 H5-S2 H6-S2 H7-S1:7";
  const Fabric whole = fabric_from(std::string{"S1:1-S2:1 S1:2-S2:2 S1:3-S2:3"} + hosts);
  Fabric cut = whole;
  const PortIdx lost = cut.port_of(node(cut, "S1"), PortNum{3});
  cut.peer[cut.peer[lost]] = kNone<PortIdx>;
  cut.peer[lost] = kNone<PortIdx>;
  const LidMap lids = lids_in_order(whole);

  const RoutingTables first = compute_minhop(whole, lids);
  EXPECT_EQ(leaving(whole, lids, first), (std::vector{0u, 2u, 2u, 2u, 0u, 0u, 0u, 1u}));
  const PreviousRoutes before{&whole, &lids, &first};
  const RoutingTables meanwhile = compute_minhop(cut, lids, &before);
  EXPECT_EQ(leaving(cut, lids, meanwhile), (std::vector{0u, 3u, 3u, 0u, 0u, 0u, 0u, 1u}));
  const PreviousRoutes then{&cut, &lids, &meanwhile};
  const RoutingTables after = compute_minhop(whole, lids, &then);
  EXPECT_EQ(leaving(whole, lids, after), (std::vector{0u, 2u, 2u, 2u, 0u, 0u, 0u, 1u}));
  EXPECT_EQ(after.recomputed->size(), 2u);
}

void lose(Fabric& f, const char* name) {
  const PortIdx lost = port(f, name);
  f.peer[f.peer[lost]] = kNone<PortIdx>;
  f.peer[lost] = kNone<PortIdx>;
}

TEST(KeepShortest, ACableThatComesBackTakesItsShareOfDestinationsFarOff) {
  //  S1 ═══ S2 by two cables, and six switches with a host each behind S2.
  const Fabric whole = fabric_from(
      "S1:1-S2:1 S1:2-S2:2 S2-S3 S2-S4 S2-S5 S2-S6 S2-S7 S2-S8 "
      "H1-S3 H2-S4 H3-S5 H4-S6 H5-S7 H6-S8 H7-S1");
  Fabric cut = whole;
  lose(cut, "S1:2");
  const LidMap lids = lids_in_order(whole);
  const RoutingTables first = compute_minhop(whole, lids);
  const PreviousRoutes before{&whole, &lids, &first};
  const RoutingTables meanwhile = compute_minhop(cut, lids, &before);
  EXPECT_EQ(leaving(cut, lids, meanwhile)[1], 6u);
  const PreviousRoutes then{&cut, &lids, &meanwhile};
  const std::vector<unsigned> after = leaving(whole, lids, compute_minhop(whole, lids, &then));
  EXPECT_EQ(after[1], 3u);
  EXPECT_EQ(after[2], 3u);
}

TEST(KeepShortest, LidsOfOnePortPartAgainWhenTheirCableIsBack) {
  const Fabric whole = fabric_from("S1:1-S2:1 S1:2-S2:2 H1-S2 H2-S2 H3-S1");
  Fabric cut = whole;
  lose(cut, "S1:2");
  const LidMap lids = lids_in_order(whole, 1);
  const RoutingTables first = compute_minhop(whole, lids);
  const PreviousRoutes before{&whole, &lids, &first};
  const RoutingTables meanwhile = compute_minhop(cut, lids, &before);
  const PreviousRoutes then{&cut, &lids, &meanwhile};
  const RoutingTables after = compute_minhop(whole, lids, &then);
  for (const char* host : {"H1", "H2"}) {
    const Lid base = lids.base[end_port(whole, host)];
    const Lid other{static_cast<std::uint16_t>(base.value() + 1)};
    const SwitchIdx sw = switch_named(whole, "S1");
    EXPECT_NE(after.lft.route(sw, base), after.lft.route(sw, other)) << host;
  }
}

TEST(KeepShortest, HostsOfOneSwitchStayApartWhenTheirCableIsLost) {
  //  Behind three cables H1 … H3 at S2, H4 and H5 at S3. The first cable has one of each.
  const Fabric whole =
      fabric_from("S1:1-S2:1 S1:2-S2:2 S1:3-S2:3 S2-S3 H1-S2 H2-S2 H3-S2 H4-S3 H5-S3 H6-S1");
  Fabric cut = whole;
  lose(cut, "S1:1");
  const LidMap lids = lids_in_order(whole);
  const RoutingTables first = compute_minhop(whole, lids);
  ASSERT_EQ(egress_of(whole, lids, first.lft, "S1", "H4"), 1u);
  ASSERT_EQ(egress_of(whole, lids, first.lft, "S1", "H5"), 2u);
  const PreviousRoutes before{&whole, &lids, &first};
  const RoutingTables after = compute_minhop(cut, lids, &before);
  EXPECT_EQ(egress_of(cut, lids, after.lft, "S1", "H4"), 3u);
}

TEST(KeepShortest, WhoIsCutOffKeepsNoEntriesToTheRest) {
  const Fabric whole = fabric_from("S1-S2 S2-S3 S3-S4 S1-H1 S4-H4");
  Fabric cut = whole;
  lose(cut, "S2:2");
  const LidMap lids = lids_in_order(whole);
  const RoutingTables first = compute_minhop(whole, lids);
  const PreviousRoutes before{&whole, &lids, &first};
  const RoutingTables after = compute_minhop(cut, lids, &before);
  ASSERT_TRUE(after.recomputed);
  for (const char* sw : {"S3", "S4"})
    EXPECT_EQ(egress_of(cut, lids, after.lft, sw, "H1"), kNoRoute.value()) << sw;
  EXPECT_NE(egress_of(cut, lids, after.lft, "S2", "H1"), kNoRoute.value());
}

TEST(KeepShortest, EntriesToNobodyDoNotGoRoundWhenCablesAreMoved) {
  //  H1 at S3 has gone, and the cable that led S2 to S3 leads to S1 now.
  const Fabric was = fabric_from("S1:1-S2:1 S2:2-S3:2 S1:3-S3:3 H1-S3:4 H2-S1:5 H3-S2:5");
  const Fabric now = fabric_from("S1:1-S2:1 S2:2-S1:2 S1:3-S3:3 H2-S1:5 H3-S2:5");
  const LidMap lids_were = lids_in_order(was);
  LidMap lids = make_lid_map(now);
  for (const PortIdx owner : lids_were.owner) {
    if (owner == kNone<PortIdx>) continue;
    const auto node = now.find_node(was.node_guid[was.node_of[owner]]);
    if (!node) continue;
    const PortNum number = was.number_of(owner);
    set_lid(lids, now.port_of(*node, number), lids_were.base[owner], 0);
  }
  const RoutingTables first = compute_minhop(was, lids_were);
  const Lid gone = lids_were.base[end_port(was, "H1")];
  ASSERT_EQ(first.lft.route(switch_named(was, "S2"), gone), PortNum{2});
  const PreviousRoutes before{&was, &lids_were, &first};
  const RoutingTables after = compute_minhop(now, lids, &before);
  ASSERT_TRUE(after.recomputed);
  EXPECT_EQ(after.lft.route(switch_named(now, "S2"), gone), kNoRoute);
}

class OneCable : public ::testing::TestWithParam<const char*> {};

TEST_P(OneCable, LoadsStayEvenWhileItIsGoneAndAfterwards) {
  const Generated whole = generated(GetParam());
  const auto cables = Reshaped{GetParam()}.cables();
  const auto load = [&](const Fabric& f, const RoutingTables& tables) {
    return measure_load(f, whole.lids, tables.lft);
  };
  const RoutingTables first = compute_minhop(whole.fabric, whole.lids);
  const LoadReport at_first = load(whole.fabric, first);
  for (const std::size_t which : {cables.size() / 5, cables.size() / 2, cables.size() - 1}) {
    const auto& [a, b] = cables[which];
    const Fabric cut = Reshaped{GetParam()}.without_cable(a, b).build();
    const PreviousRoutes before{&whole.fabric, &whole.lids, &first};
    const RoutingTables meanwhile = compute_minhop(cut, whole.lids, &before);
    const LoadReport kept = load(cut, meanwhile);
    const LoadReport anew = load(cut, compute_minhop(cut, whole.lids));
    EXPECT_LE(static_cast<double>(kept.max), 1.05 * static_cast<double>(anew.max)) << a << b;
    EXPECT_LE(kept.stddev, std::max(1.05 * anew.stddev, 0.1 * kept.mean)) << a << b;

    // What was led elsewhere need not come back by itself, but others do in its place.
    const PreviousRoutes then{&cut, &whole.lids, &meanwhile};
    const LoadReport after = load(whole.fabric, compute_minhop(whole.fabric, whole.lids, &then));
    EXPECT_LE(static_cast<double>(after.max), 1.05 * static_cast<double>(at_first.max)) << a << b;
    EXPECT_LE(after.stddev, std::max(1.05 * at_first.stddev, 0.1 * after.mean)) << a << b;
  }
}

INSTANTIATE_TEST_SUITE_P(Fabrics,
                         OneCable,
                         ::testing::Values("fat-tree:k=8,levels=3",
                                           "torus:dims=6.6,hosts=2",
                                           "dragonfly:a=4,h=2,c=2",
                                           "irregular:switches=40,links=4,hosts=2,seed=3"));

TEST(KeepShortest, LinkSpeedsCountForWhatIsLedElsewhere) {
  //  S1 ═══ S2 by four cables, the first two four times as fast as the others. One slow cable goes:
  //  its LIDs fit best on the fast ones.
  Fabric whole = fabric_from(
      "S1:1-S2:1 S1:2-S2:2 S1:3-S2:3 S1:4-S2:4 "
      "H1-S2 H2-S2 H3-S2 H4-S2 H5-S2 H6-S2 H7-S2 H8-S2 H9-S2 H10-S2 H11-S1");
  for (const char* name : {"S1", "S2"}) {
    for (const unsigned port : {1u, 2u, 3u, 4u}) {
      PortInfo& info = whole.port_info[whole.port_of(node(whole, name),
                                                     PortNum{static_cast<std::uint8_t>(port)})];
      info.link_width_active = 2;
      info.link_speed_active = port <= 2 ? 4 : 1;
    }
  }
  Fabric cut = whole;
  const PortIdx lost = cut.port_of(node(cut, "S1"), PortNum{4});
  cut.peer[cut.peer[lost]] = kNone<PortIdx>;
  cut.peer[lost] = kNone<PortIdx>;
  const LidMap lids = lids_in_order(whole);
  const RoutingTables first = compute_minhop(whole, lids);
  ASSERT_EQ(leaving(whole, lids, first), (std::vector{0u, 4u, 4u, 1u, 1u, 1u, 0u, 0u}));
  const PreviousRoutes before{&whole, &lids, &first};
  const RoutingTables meanwhile = compute_minhop(cut, lids, &before);
  EXPECT_EQ(leaving(cut, lids, meanwhile)[3], 1u);
}

// Paths to and from switches without hosts may have been led apart, and be longer than need be.

// For the LID of the switch `to`: each switch hands over to the next of the path.
void lead(const Fabric& f,
          const LidMap& lids,
          const char* to,
          const std::vector<const char*>& path,
          RoutingTables& tables) {
  const Lid lid = lids.base[end_port(f, to)];
  for (std::size_t at = 0; at + 1 < path.size(); ++at) {
    const SwitchIdx sw = switch_named(f, path[at]), next = switch_named(f, path[at + 1]);
    const SwitchGraph graph{f};
    for (const SwitchEdge& edge : graph.edges(sw)) {
      if (edge.to == next) tables.lft.set_route(sw, lid, edge.port);
    }
  }
}

// What says that paths were led apart.
std::shared_ptr<const TurnRecord> some_turns(const Fabric& f, const LidMap& lids) {
  return compute("nue", f, lids, {.max_vls = 1}).turns;
}

TEST(KeepDetours, ARingBetweenChangedSwitchesIsNoticedBeforePathsAreCounted) {
  //  To S9, in force: S3 - S4 - S2 - S1 - S5 - S9, though S3 and S5 are next to it. S1 loses S5 and
  //  would take S3, the emptier of two: a ring, through S2, which has changed as well.
  const char* const text =
      "S1-S3 S1-S6 S2-S1 S2-S4 S3-S4 S3-S9 S5-S9 S6-S9 S7-S5 H1-S6 H2-S6 H3-S9";
  const Fabric whole = fabric_from(std::string{text} + " S1:9-S5:9 S2:9-S7:9");
  Fabric cut = whole;
  lose(cut, "S1:9");
  lose(cut, "S2:9");
  const LidMap lids = lids_in_order(whole);
  RoutingTables tables = compute_minhop(whole, lids);
  lead(whole, lids, "S9", {"S3", "S4", "S2", "S1", "S5", "S9"}, tables);
  tables.load = {};
  tables.turns = some_turns(whole, lids);
  ASSERT_EQ(check_routes(whole, lids, tables.lft).loops, 0u);
  const PreviousRoutes before{&whole, &lids, &tables};
  const RoutingTables after = compute_minhop(cut, lids, &before);
  ASSERT_TRUE(after.recomputed);
  const RouteReport report = check_routes(cut, lids, after.lft);
  EXPECT_EQ(report.loops, 0u);
  EXPECT_EQ(report.unreachable, 0u);
}

TEST(KeepDetours, AHostThatComesToASwitchWithoutTakesNone) {
  //  S1, without hosts, goes to H1 by S4 and S3, to H2 directly.
  const Fabric whole = fabric_from("S1-S2 S1-S4 S4-S3 S3-S2 H1-S2 H2-S2 H3-S3 H4-S4 H9-S1:9");
  Fabric less = whole;
  lose(less, "S1:9");
  const LidMap lids = lids_in_order(whole);
  LidMap fewer = make_lid_map(less);
  for (const PortIdx owner : lids.owner) {
    if (owner != kNone<PortIdx> && owner != end_port(whole, "H9"))
      set_lid(fewer, owner, lids.base[owner], 0);
  }
  RoutingTables tables = compute_minhop(less, fewer);
  lead(less, fewer, "H1", {"S1", "S4", "S3", "S2"}, tables);
  tables.load = {};
  tables.turns = some_turns(less, fewer);
  const PreviousRoutes before{&less, &fewer, &tables};
  const RoutingTables after = compute_minhop(whole, lids, &before);
  ASSERT_TRUE(after.recomputed);
  const RouteReport report = check_routes(whole, lids, after.lft);
  EXPECT_TRUE(report.unreachable == 0 && report.loops == 0);
  EXPECT_EQ(path(whole, lids, after.lft, "H9", "H1").size(), 2u);
}

TEST(CountShortestLoads, ADetourOfTheFirstLidTakesNothingFromTheOthers) {
  //  To S1: the host at S5 goes to H1 by S4 and to H2 by S2. S2, without hosts, goes to H1 by S3.
  const Fabric f = fabric_from("S1-S2 S1-S4 S2-S3 S3-S4 S2-S5 S4-S5 H1-S1 H2-S1 H5-S5");
  const LidMap lids = lids_in_order(f);
  RoutingTables tables = compute_minhop(f, lids);
  lead(f, lids, "H1", {"S2", "S3", "S4", "S1"}, tables);
  lead(f, lids, "H1", {"S5", "S4"}, tables);
  lead(f, lids, "H2", {"S5", "S2", "S1"}, tables);
  const SwitchGraph graph{f};
  const Targets targets = find_targets(f, lids);
  ASSERT_LT(lids.base[end_port(f, "H1")], lids.base[end_port(f, "H2")]);
  const std::vector<std::uint64_t> load = count_shortest_loads(graph,
                                                               targets,
                                                               targets.hosts,
                                                               find_link_costs(f, graph),
                                                               list_destinations(targets, lids.top),
                                                               tables.lft,
                                                               0);
  const auto between = [&](const char* from, const char* to) {
    const SwitchIdx sw = switch_named(f, from);
    std::uint32_t edge = graph.first_edge(sw);
    while (graph.edge(edge).to != switch_named(f, to)) ++edge;
    return load[edge];
  };
  EXPECT_EQ(between("S5", "S2"), 1u);
  EXPECT_EQ(between("S2", "S1"), 1u);
  EXPECT_EQ(between("S5", "S4"), 1u);
  EXPECT_EQ(between("S4", "S1"), 1u);
  EXPECT_EQ(between("S2", "S3"), 0u);
}

}  // namespace update_shortest_test
}  // namespace smd::test
