// Two sets of paths under LMC: the first LIDs by up*/down* on VL 0, the others by shortest paths on
// VLs of their own. Judged by the checker, set by set and as one; through changes, too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <memory>
#include <set>

#include "smd/routing/verify/channel_load.h"
#include "smd/routing/verify/check_routes.h"
#include "smd/routing/verify/verified_routes.h"
#include "tests/unit/routing/support/generated.h"
#include "tests/unit/routing/support/verified_changes.h"

namespace smd::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

RoutingRequest two_sets(unsigned vls = 8) {
  return {.options = {.path_sets = true}, .max_vls = vls};
}

/// The LIDs of one offset as if ports had no others.
LidMap only_offset(const Fabric& fabric, const LidMap& lids, unsigned offset) {
  LidMap out = make_lid_map(fabric);
  for (const PortIdx port : lids.base.indices()) {
    if (lids.base[port] == kUnassignedLid || offset >= 1u << lids.lmc[port]) continue;
    set_lid(out, port, Lid{static_cast<std::uint16_t>(lids.base[port].value() + offset)}, 0);
  }
  return out;
}

unsigned count_offsets(const LidMap& lids) {
  return 1u << *std::max_element(lids.lmc.begin(), lids.lmc.end());
}

/// VLs from switch to switch that paths with the SLs of one offset are led over.
std::set<unsigned> find_vls(const Fabric& fabric,
                            const LidMap& lids,
                            const RoutingTables& tables,
                            unsigned offset) {
  std::set<unsigned> vls;
  const LidMap own = only_offset(fabric, lids, offset);
  for (const SwitchIdx from : fabric.switch_node.indices()) {
    for (std::size_t value = 1; value < own.owner.size(); ++value) {
      if (own.owner[value] == kNone<PortIdx>) continue;
      const Lid lid{static_cast<std::uint16_t>(value)};
      const unsigned sl = tables.path_sls.sl(from, lid);
      PortNum in{0};
      SwitchIdx sw = from;
      for (std::size_t steps = 0; steps <= fabric.switch_count(); ++steps) {
        const NodeIdx node = fabric.switch_node[sw];
        const PortNum out = tables.lft.route(sw, lid);
        if (out == kNoRoute || out.value() == 0) break;
        const PortIdx peer = fabric.peer[fabric.port_of(node, out)];
        if (peer == kNone<PortIdx> || !fabric.is_switch(fabric.node_of[peer])) break;
        vls.insert(tables.sl_to_vl.empty() ? sl % tables.vls
                                           : tables.sl_to_vl.row(sw, in, out)[sl].value());
        in = fabric.number_of(peer);
        sw = fabric.switch_at(peer);
      }
    }
  }
  return vls;
}

/// What holds whatever was in force before. `shortest`: of the others, too.
void expect_two_sets(const Fabric& f,
                     const LidMap& lids,
                     const RoutingTables& tables,
                     bool shortest) {
  const RouteReport all = check_routes(f, lids, tables);
  EXPECT_EQ(all.first_faults, std::vector<std::string>{});
  EXPECT_TRUE(all.ok()) << print_cycle(f, all.cycle);
  EXPECT_LE(all.vls, tables.vls);

  const LidMap first = only_offset(f, lids, 0);
  const RouteReport up_down = check_routes(f, first, tables.lft);
  EXPECT_TRUE(up_down.ok()) << "on one VL: " << print_cycle(f, up_down.cycle);
  const std::set<unsigned> of_first = find_vls(f, lids, tables, 0);
  EXPECT_TRUE(of_first.empty() || of_first == std::set<unsigned>{0});
  for (unsigned offset = 1; offset < count_offsets(lids); ++offset) {
    const LidMap others = only_offset(f, lids, offset);
    const RouteReport report = check_routes(f, others, tables);
    EXPECT_TRUE(report.ok());
    if (shortest) {
      EXPECT_EQ(report.minimal, report.pairs - report.disconnected) << offset;
    }
    const std::set<unsigned> vls = find_vls(f, lids, tables, offset);
    EXPECT_EQ(vls.count(0), 0u) << "VL 0 is up*/down*'s";
    EXPECT_TRUE(vls.empty() || *vls.rbegin() < tables.vls);
  }
}

struct PathSetsRow {
  const char* engine;
  const char* call;
  std::uint8_t lmc;
};

void PrintTo(const PathSetsRow& row, std::ostream* os) {
  *os << row.engine << " on " << row.call << ", LMC " << int{row.lmc};
}

class PathSets : public ::testing::TestWithParam<PathSetsRow> {};

TEST_P(PathSets, AreUpDownAndShortestOnVlsOfTheirOwn) {
  const auto& [engine, call, lmc] = GetParam();
  const Generated g = generated(call, lmc);
  const RoutingTables tables = compute(engine, g.fabric, g.lids, two_sets());
  ASSERT_EQ(tables.engine, std::string("updn+") + engine);
  expect_two_sets(g.fabric, g.lids, tables, true);

  const LidMap first = only_offset(g.fabric, g.lids, 0);
  const RoutingTables up_down = compute("updn", g.fabric, first, {.max_vls = 8});
  for (const SwitchIdx sw : g.fabric.switch_node.indices()) {
    for (const Lid lid : first.base) {
      if (lid == kUnassignedLid) continue;
      EXPECT_EQ(tables.lft.route(sw, lid), up_down.lft.route(sw, lid)) << lid.value();
    }
  }
}

TEST_P(PathSets, HaveOneSlInBothDirectionsAtOneOffset) {
  const auto& [engine, call, lmc] = GetParam();
  const Generated g = generated(call, lmc);
  const RoutingTables tables = compute(engine, g.fabric, g.lids, two_sets());
  if (std::ranges::any_of(tables.notes,
                          [](const std::string& n) { return n.find("two directions") != n.npos; }))
    return;
  const auto hosts = [&] {
    std::vector<PortIdx> out;
    for (const PortIdx port : g.lids.base.indices()) {
      if (g.lids.lmc[port] > 0) out.push_back(port);
    }
    return out;
  }();
  for (const PortIdx a : hosts) {
    for (const PortIdx b : hosts) {
      for (unsigned o = 0; o < 1u << lmc && a != b; ++o) {
        const auto sl = [&](PortIdx from, PortIdx to) {
          return tables.path_sls.sl(g.fabric.switch_at(g.fabric.peer[from]),
                                    Lid{static_cast<std::uint16_t>(g.lids.base[to].value() + o)});
        };
        EXPECT_EQ(sl(a, b), sl(b, a));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Engines,
    PathSets,
    ::testing::Values(PathSetsRow{"itb-vl", "torus:dims=4.4,hosts=2", 1},
                      PathSetsRow{"itb-vl", "torus:dims=4.4,hosts=2", 2},
                      PathSetsRow{"itb-vl", "irregular:switches=16,links=4,hosts=2,seed=3", 1},
                      PathSetsRow{"itb-vl", "fat-tree:k=4", 2},
                      PathSetsRow{"dfsssp", "torus:dims=4.4,hosts=2", 1},
                      PathSetsRow{"dfsssp", "torus:dims=4.4,hosts=1", 2},
                      PathSetsRow{"dfsssp", "irregular:switches=16,links=4,hosts=2,seed=3", 1},
                      PathSetsRow{"dfsssp", "fat-tree:k=4", 1},
                      PathSetsRow{"lash", "torus:dims=4.4,hosts=2", 1},
                      PathSetsRow{"lash", "irregular:switches=16,links=4,hosts=2,seed=3", 2}));

TEST(PathSetsTogether, CloseCyclesWhereTheyShareAVl) {
  const Generated g = generated("torus:dims=4.4,hosts=2", 1);
  RoutingTables tables = compute("dfsssp", g.fabric, g.lids, two_sets());
  ASSERT_TRUE(check_routes(g.fabric, g.lids, tables).acyclic);
  tables.path_sls = PathSls{g.fabric.switch_count(), g.lids.top};  // all on SL 0
  EXPECT_FALSE(check_routes(g.fabric, g.lids, tables).acyclic);
}

TEST(PathSetsTogether, HaveOffsetsThatDifferWhereLmcGivesMore) {
  const Generated g = generated("torus:dims=4.4,hosts=2", 2);
  const RoutingTables tables = compute("itb-vl", g.fabric, g.lids, two_sets());
  std::size_t differ = 0;
  for (const SwitchIdx sw : g.fabric.switch_node.indices()) {
    for (const PortIdx port : g.lids.base.indices()) {
      if (g.lids.lmc[port] == 0) continue;
      const auto route = [&](unsigned o) {
        return tables.lft.route(sw, Lid{static_cast<std::uint16_t>(g.lids.base[port].value() + o)});
      };
      differ += route(1) != route(2) || route(2) != route(3);
    }
  }
  EXPECT_GT(differ, 0u);
}

/// Paths on the fullest channel with all traffic on one offset.
std::uint64_t fullest(const Generated& g, const RoutingTables& tables, unsigned offset) {
  return measure_load(g.fabric, only_offset(g.fabric, g.lids, offset), tables.lft).max;
}

TEST(PathSetsTogether, LeaveTheRootOfATorusToTheFirstSet) {
  const Generated g = generated("torus:dims=8.8,hosts=2", 1);
  const RoutingTables tables = compute("itb-vl", g.fabric, g.lids, two_sets());
  ASSERT_THAT(tables.engine, StartsWith("updn+"));
  const RoutingTables one = compute("updn", g.fabric, g.lids, {.max_vls = 8});
  EXPECT_EQ(fullest(g, tables, 0), measure_load(g.fabric, g.lids, one.lft).max);
  EXPECT_LE(2 * fullest(g, tables, 1), fullest(g, tables, 0));
}

TEST(PathSetsTogether, AreMadeOnAProductionCluster) {
  const Generated g = generated("ndr-582", 1);
  for (const char* const engine : {"itb-vl", "dfsssp"}) {
    const RoutingTables tables = compute(engine, g.fabric, g.lids, two_sets());
    ASSERT_EQ(tables.engine, std::string("updn+") + engine);
    expect_two_sets(g.fabric, g.lids, tables, true);
  }
}

TEST(PathSetsTogether, SayWhyThereAreNone) {
  const Generated g = generated("torus:dims=4.4,hosts=1", 1);
  for (const char* const engine : {"updn", "minhop", "auto", "nue", "ftree", "dor"}) {
    EXPECT_EQ(compute(engine, g.fabric, g.lids, two_sets()).engine,
              std::string(engine) +
                  ": makes no shortest paths on VLs of their own "
                  "(sm.path_sets); dfsssp, itb-vl and lash do");
  }
  EXPECT_EQ(compute("itb-vl", g.fabric, g.lids, two_sets(1)).engine,
            "itb-vl: two sets of paths (sm.path_sets) need 2 data VLs, and there is 1");
  EXPECT_THAT(compute("dfsssp", g.fabric, g.lids, two_sets(2)).engine,
              ::testing::AllOf(HasSubstr("1 data VL may be used"),
                               HasSubstr("of 2 data VLs one is that of up*/down* paths")));
}

TEST(PathSetsTogether, WithoutFurtherLidsAreUpDown) {
  const Generated g = generated("torus:dims=4.4,hosts=1");
  const RoutingTables tables = compute("itb-vl", g.fabric, g.lids, two_sets());
  EXPECT_EQ(tables.vls, 1u);
  EXPECT_TRUE(check_routes(g.fabric, g.lids, tables).ok());
  EXPECT_THAT(tables.notes, Contains(HasSubstr("every port has one LID")));
}

struct ChangeRow {
  const char* engine;
  const char* call;
};

void PrintTo(const ChangeRow& row, std::ostream* os) { *os << row.engine << " on " << row.call; }

class PathSetsThroughChanges : public ::testing::TestWithParam<ChangeRow> {};

/// LIDs in use whose entries or SLs are others than before, switches that are new aside.
std::vector<Lid> find_changed(const ChangingFabric::View& before,
                              const RoutingTables& then,
                              const ChangingFabric::View& after,
                              const RoutingTables& now) {
  std::vector<Lid> out;
  for (std::size_t value = 1; value < after.lids.owner.size(); ++value) {
    if (after.lids.owner[value] == kNone<PortIdx>) continue;
    const Lid lid{static_cast<std::uint16_t>(value)};
    bool differs = false;
    for (const SwitchIdx sw : after.fabric.switch_node.indices()) {
      const auto was =
          before.fabric.find_node(after.fabric.node_guid[after.fabric.switch_node[sw]]);
      if (!was || lid > then.lft.top()) {
        differs |= now.lft.route(sw, lid) != kNoRoute;
        continue;
      }
      const SwitchIdx row = before.fabric.switch_of[*was];
      differs |= now.lft.route(sw, lid) != then.lft.route(row, lid);
      if (now.lft.route(sw, lid) != kNoRoute && !now.path_sls.empty() && !then.path_sls.empty())
        differs |= now.path_sls.sl(sw, lid) != then.path_sls.sl(row, lid);
    }
    if (differs) out.push_back(lid);
  }
  return out;
}

TEST_P(PathSetsThroughChanges, StayTwoSetsAndSayWhatChanged) {
  const auto& [engine, call] = GetParam();
  const bool ok = rc::check([&, engine = std::string(engine), call = std::string(call)] {
    ChangingNetwork network{call, static_cast<std::uint8_t>(pick(1, 2))};
    auto before = std::make_unique<ChangingFabric::View>(network.view());
    RoutingTables then = compute(engine, before->fabric, before->lids, two_sets());
    for (int step = 0; step < 6; ++step) {
      network.change(pick(0, 2));
      auto after = std::make_unique<ChangingFabric::View>(network.view());
      RoutingRequest request = two_sets();
      PreviousRoutes in_force{&before->fabric, &before->lids, &then};
      request.previous = &then.orientation;
      request.in_force = &in_force;
      RoutingTables now = compute(engine, after->fabric, after->lids, request);
      RC_ASSERT(now.engine == "updn+" + engine);
      const RouteReport all = check_routes(after->fabric, after->lids, now, {.minimality = false});
      RC_ASSERT(all.ok());
      const LidMap first = only_offset(after->fabric, after->lids, 0);
      RC_ASSERT(check_routes(after->fabric, first, now.lft, {.minimality = false}).acyclic);
      const std::vector<Lid> changed = find_changed(*before, then, *after, now);
      if (now.recomputed) RC_ASSERT(std::ranges::includes(*now.recomputed, changed));
      before = std::move(after);
      then = std::move(now);
    }
  });
  EXPECT_TRUE(ok);
}

TEST_P(PathSetsThroughChanges, StayAsTheyAreWhereNothingChanged) {
  const auto& [engine, call] = GetParam();
  const Generated g = generated(call, 2);
  const RoutingTables once = compute(engine, g.fabric, g.lids, two_sets());
  const PreviousRoutes in_force{&g.fabric, &g.lids, &once};
  RoutingRequest request = two_sets();
  request.previous = &once.orientation;
  request.in_force = &in_force;
  const RoutingTables twice = compute(engine, g.fabric, g.lids, request);
  EXPECT_EQ(twice.lft, once.lft);
  EXPECT_EQ(twice.path_sls, once.path_sls);
  EXPECT_EQ(twice.vls, once.vls);
  ASSERT_TRUE(twice.recomputed.has_value());
  EXPECT_EQ(*twice.recomputed, std::vector<Lid>{});
}

INSTANTIATE_TEST_SUITE_P(Engines,
                         PathSetsThroughChanges,
                         ::testing::Values(ChangeRow{"itb-vl", "torus:dims=3.3,hosts=1"},
                                           ChangeRow{"dfsssp", "torus:dims=3.3,hosts=1"},
                                           ChangeRow{"lash",
                                                     "irregular:switches=9,links=4,"
                                                     "hosts=1,seed=2"}));

}  // namespace
}  // namespace smd::test
