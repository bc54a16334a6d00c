#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "smd/fabric/builder.h"
#include "smd/routing/graph/switch_graph.h"
#include "smd/routing/updn/islands.h"
#include "smd/routing/verify/check_routes.h"
#include "tests/unit/routing/support/fera_oracle.h"
#include "tests/unit/routing/support/paths.h"
#include "tests/unit/routing/support/pira_oracle.h"
#include "tests/unit/routing/support/random_fabric.h"

namespace smd::test {
namespace engines_property_test {

// Every switch's walk to every LID, judged by the orientation the engine states.
void require_legal(const Fabric& f, const LidMap& lids, const RoutingTables& tables) {
  for (std::size_t lid = 1; lid <= lids.top.value(); ++lid) {
    if (lids.owner[lid] == kNone<PortIdx>) continue;
    for (const NodeIdx start : f.switch_node) {
      const auto names = path(f, tables.lft, f.description[start], Lid(std::uint16_t(lid)));
      bool gone_down = false;
      for (std::size_t i = 1; i < names.size(); ++i) {
        const bool up = fera_above(
            f, tables.orientation, switch_named(f, names[i]), switch_named(f, names[i - 1]));
        RC_ASSERT(!(up && gone_down));
        gone_down = gone_down || !up;
      }
    }
  }
}

std::vector<std::vector<SwitchIdx>> islands_with_tops(const Fabric& f,
                                                      const Orientation& orientation) {
  IndexVector<SwitchIdx, Guid> guids;
  for (const NodeIdx n : f.switch_node) guids.push_back(f.node_guid[n]);
  const SwitchGraph graph{f};
  std::vector<std::vector<SwitchIdx>> tops;
  for (const auto& island : find_islands(graph))
    tops.push_back(find_tops(graph, guids, island, orientation.rank));
  return tops;
}

// The same nodes without some of the cables between switches.
Fabric without_cables(const Fabric& f, const std::vector<PortIdx>& cut) {
  Fabric g = f;
  for (const PortIdx p : cut) {
    if (g.peer[p] == kNone<PortIdx>) continue;
    g.peer[g.peer[p]] = kNone<PortIdx>;
    g.peer[p] = kNone<PortIdx>;
  }
  RC_ASSERT(check_invariants(g).empty());
  return g;
}

std::vector<PortIdx> random_cables(const Fabric& f) {
  std::vector<PortIdx> cables;
  for (const PortIdx p : f.peer.indices()) {
    if (f.peer[p] != kNone<PortIdx> && f.is_switch(f.node_of[p]) &&
        f.is_switch(f.node_of[f.peer[p]]))
      cables.push_back(p);
  }
  if (cables.empty()) return {};
  const int count = *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(1, 5));
  return *rc::gen::container<std::vector<PortIdx>>(static_cast<std::size_t>(count),
                                                   rc::gen::elementOf(cables));
}

RC_GTEST_PROP(Updn, IsCompleteLoopFreeAcyclicAndLegal, ()) {
  const Fabric f = fabric_from(*random_fabric_text());
  const LidMap lids = lids_in_order(f, *rc::gen::inRange<std::uint8_t>(0, 3));
  const RoutingTables tables = compute("updn", f, lids);
  const RouteReport report = check_routes(f, lids, tables.lft);
  RC_ASSERT(report.first_faults == std::vector<std::string>{});
  RC_ASSERT(report.ok());
  require_legal(f, lids, tables);
}

RC_GTEST_PROP(Updn, RoutesAreAsLongAsTheFloods, ()) {
  const Fabric f = fabric_from(*random_fabric_text());
  const LidMap lids = lids_in_order(f);
  const RoutingTables tables = compute("updn", f, lids);
  for (const PortIdx owner : lids.owner) {
    if (owner == kNone<PortIdx>) continue;
    if (!f.is_switch(f.node_of[owner]) && !f.is_switch(f.node_of[f.peer[owner]])) continue;
    // The flood takes an adapter for one node; with two ports it would enter by the nearer one.
    if (f.num_ports(f.node_of[owner]) > 1 && !f.is_switch(f.node_of[owner]) &&
        f.peer[f.port_of(f.node_of[owner], PortNum{2})] != kNone<PortIdx>)
      continue;
    const unsigned last = f.is_switch(f.node_of[owner]) ? 0 : 1;
    bool stale = false;
    const auto entries = fera_flood(f, lids, tables.orientation, lids.base[owner], &stale);
    if (stale) continue;
    for (const FeraEntry& e : entries) {
      const auto names = path(f, tables.lft, f.description[f.switch_node[e.sw]], lids.base[owner]);
      RC_ASSERT(names.size() - 1 + last == e.distance);
    }
  }
}

RC_GTEST_PROP(UpDownEngines, AreCompleteLoopFreeAcyclicAndLegal, ()) {
  const Fabric f = fabric_from(*random_fabric_text());
  const LidMap lids = lids_in_order(f, *rc::gen::inRange<std::uint8_t>(0, 3));
  for (const char* engine : {"fera", "fera-flood", "pira"}) {
    const RoutingTables tables = compute(engine, f, lids);
    const RouteReport report = check_routes(f, lids, tables.lft);
    RC_ASSERT(report.first_faults == std::vector<std::string>{});
    RC_ASSERT(report.ok());
    require_legal(f, lids, tables);
  }
}

// An adapter with two cables is two destinations to the engines and one node to the oracles.
bool is_single(const Fabric& f, PortIdx end) {
  const NodeIdx n = f.node_of[end];
  if (f.is_switch(n)) return true;
  unsigned cables = 0;
  for (const PortIdx p : f.external_ports(n)) cables += f.peer[p] != kNone<PortIdx>;
  return cables == 1 && f.is_switch(f.node_of[f.peer[end]]);
}

RC_GTEST_PROP(Fera, BothFormsFollowTheFloodOfTheText, ()) {
  const Fabric f = fabric_from(*random_fabric_text());
  const LidMap lids = lids_in_order(f);
  const RoutingTables literal = compute("fera-flood", f, lids);
  const RoutingTables two_phase = compute("fera", f, lids);
  RC_ASSERT(literal.orientation == two_phase.orientation);
  for (const PortIdx owner : lids.owner) {
    if (owner == kNone<PortIdx> || !is_single(f, owner)) continue;
    const Lid lid = lids.base[owner];
    bool replaced = false;
    const auto entries = fera_flood(f, lids, literal.orientation, lid, &replaced);
    std::size_t listed = 0;
    for (const ComputedEntry& e : literal.sequence) listed += e.lid == lid;
    RC_ASSERT((replaced ? listed > entries.size() : listed == entries.size()));
    for (const FeraEntry& e : entries) {
      RC_ASSERT(literal.lft.route(e.sw, lid) == e.port);
      if (!replaced) RC_ASSERT(two_phase.lft.route(e.sw, lid) == e.port);
      RC_ASSERT(two_phase.lft.route(e.sw, lid) != kNoRoute);
    }
  }
}

RC_GTEST_PROP(Fera, TheTwoPhaseFormIsNeverLonger, ()) {
  const Fabric f = fabric_from(*random_fabric_text());
  const LidMap lids = lids_in_order(f);
  RC_ASSERT(check_routes(f, lids, compute("fera", f, lids).lft).hops <=
            check_routes(f, lids, compute("fera-flood", f, lids).lft).hops);
}

RC_GTEST_PROP(Pira, MakesTheEntriesOfTheDefinition, ()) {
  const Fabric f = fabric_from(*random_fabric_text());
  const LidMap lids = lids_in_order(f);
  const RoutingTables tables = compute("pira", f, lids, {.default_ports = true});
  const PiraRoutes wanted = pira_by_definition(f, lids, tables.orientation);
  RC_ASSERT(tables.sequence.size() == wanted.explicit_entries.size());
  for (const auto& [at, port] : wanted.explicit_entries)
    RC_ASSERT(tables.lft.route(at.first, at.second) == port);
  for (const SwitchIdx sw : f.switch_node.indices()) {
    const auto found = wanted.default_port.find(sw);
    RC_ASSERT(tables.default_port[sw] ==
              (found == wanted.default_port.end() ? kNoRoute : found->second));
  }
}

RC_GTEST_PROP(Minhop, IsCompleteLoopFreeAndMinimal, ()) {
  const Fabric f = fabric_from(*random_fabric_text());
  const LidMap lids = lids_in_order(f, *rc::gen::inRange<std::uint8_t>(0, 3));
  const RouteReport report = check_routes(f, lids, compute("minhop", f, lids).lft);
  RC_ASSERT(report.unreachable == 0u);
  RC_ASSERT(report.loops == 0u);
  RC_ASSERT(report.minimal == report.pairs);
}

RC_GTEST_PROP(Engines, TheSameRequestGivesTheSameTables, ()) {
  const Fabric f = fabric_from(*random_fabric_text());
  const LidMap lids = lids_in_order(f);
  for (const std::string_view engine : engine_names()) {
    const RoutingTables a = compute(engine, f, lids);
    const RoutingTables b = compute(engine, f, lids);
    RC_ASSERT(a.lft == b.lft);
    RC_ASSERT(a.orientation == b.orientation);
  }
}

RC_GTEST_PROP(Orientation, EveryIslandHasOneTop, ()) {
  const Fabric f = fabric_from(*random_fabric_text());
  const Orientation orientation = compute("updn", f, lids_in_order(f)).orientation;
  for (const auto& tops : islands_with_tops(f, orientation)) RC_ASSERT(tops.size() == 1u);
}

RC_GTEST_PROP(Orientation, IsKeptWhenNothingChanges, ()) {
  const Fabric f = fabric_from(*random_fabric_text());
  const LidMap lids = lids_in_order(f);
  const RoutingTables first = compute("updn", f, lids);
  const RoutingTables second = compute("updn", f, lids, {.previous = &first.orientation});
  RC_ASSERT(second.orientation == first.orientation);
  RC_ASSERT(second.altered.empty());
  RC_ASSERT(second.lft == first.lft);
}

RC_GTEST_PROP(Orientation, IsAlteredOnlyWhereTopsAreLeft, ()) {
  const Fabric f = fabric_from(*random_fabric_text());
  const Orientation before = compute("updn", f, lids_in_order(f)).orientation;
  const Fabric g = without_cables(f, random_cables(f));
  const LidMap lids = lids_in_order(g);
  const RoutingTables after = compute("updn", g, lids, {.previous = &before});
  RC_ASSERT(check_routes(g, lids, after.lft).ok());
  require_legal(g, lids, after);

  bool forced = false;
  for (const auto& tops : islands_with_tops(g, before)) forced = forced || tops.size() > 1;
  RC_TAG(forced ? "forced" : "kept");
  if (!forced) {
    RC_ASSERT(after.orientation == before);
    RC_ASSERT(after.altered.empty());
  } else {
    RC_ASSERT(!after.altered.empty());
  }
}

TEST(Orientation, IsSaidToBeAlteredWhereTheRoutesAreThoseOfATree) {
  const Fabric f = fabric_from(
      "S1/2 S2/2 S3/2 S4/2 S4-S4 S4-S3 S2-S1 S2-S1 S1-S1 S2-S4 S1-S1 S3-S1 H1/2 S1-H1 H2/2 S2-H2 "
      "H3/2 S4-H3 S2-H3 H4/2 S4-H4 H5/2 S2-H5 H6/2 S3-H6 H7/2 S4-H7");
  const Orientation before = compute("updn", f, lids_in_order(f)).orientation;
  unsigned forced = 0;
  for (const PortIdx port : f.peer.indices()) {
    if (f.peer[port] == kNone<PortIdx> || f.switch_at(port) == kNone<SwitchIdx> ||
        f.switch_at(f.peer[port]) == kNone<SwitchIdx>)
      continue;
    const Fabric g = without_cables(f, {port});
    const auto tops = islands_with_tops(g, before);
    if (std::ranges::all_of(tops, [](const auto& of_island) { return of_island.size() == 1; }))
      continue;
    ++forced;
    const RoutingTables after = compute("updn", g, lids_in_order(g), {.previous = &before});
    EXPECT_FALSE(after.altered.empty()) << print_port(f, port);
  }
  EXPECT_GT(forced, 0u);
}

RC_GTEST_PROP(Orientation, NewSwitchesAndCablesJoinWithoutDisturbing, ()) {
  // Backwards: the fabric with fewer cables comes first, then the rest of them appears.
  const Fabric f = fabric_from(*random_fabric_text());
  const Fabric g = without_cables(f, random_cables(f));
  Orientation before = compute("updn", g, lids_in_order(g)).orientation;
  if (!before.by_guid.empty()) before.by_guid.pop_back();
  const LidMap lids = lids_in_order(f);
  const RoutingTables after = compute("updn", f, lids, {.previous = &before});
  RC_ASSERT(check_routes(f, lids, after.lft).ok());
  require_legal(f, lids, after);
}

}  // namespace engines_property_test
}  // namespace smd::test
