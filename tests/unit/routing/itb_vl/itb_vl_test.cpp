#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <set>
#include <tuple>

#include "smd/routing/graph/switch_graph.h"
#include "smd/routing/layered/balanced_trees.h"
#include "smd/routing/verify/channel_load.h"
#include "smd/routing/verify/check_routes.h"
#include "tests/unit/routing/support/changing_fabric.h"
#include "tests/unit/routing/support/generated.h"
#include "tests/unit/routing/support/random_fabric.h"
#include "tests/unit/routing/support/turn_model.h"

namespace smd::test {
namespace itb_vl_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

RoutingRequest with_vls(unsigned vls) { return {.max_vls = vls}; }

// A packet's way: the ports it comes and goes by at every switch, and the lane it leaves on.
struct Step {
  SwitchIdx sw;
  PortNum in;  // 0 at the first switch
  PortNum out;
  std::uint8_t vl;
};

std::uint8_t sl_of(const RoutingTables& t, SwitchIdx from, Lid lid) {
  return t.path_sls.empty() ? std::uint8_t{0} : t.path_sls.sl(from, lid);
}

std::vector<Step> travel(const Fabric& f, const RoutingTables& t, SwitchIdx from, Lid lid) {
  std::vector<Step> steps;
  const std::uint8_t sl = sl_of(t, from, lid);
  PortNum in{0};
  for (SwitchIdx at = from;;) {
    const PortNum out = t.lft.route(at, lid);
    if (out == PortNum{0} || out == kNoRoute || steps.size() > f.switch_count()) return steps;
    const PortIdx far = f.peer[f.port_of(f.switch_node[at], out)];
    if (far == kNone<PortIdx> || !f.is_switch(f.node_of[far])) return steps;
    const std::uint8_t vl = t.sl_to_vl.empty() ? static_cast<std::uint8_t>(sl % t.vls)
                                               : t.sl_to_vl.row(at, in, out)[sl].value();
    steps.push_back({at, in, out, vl});
    at = f.switch_at(far);
    in = f.number_of(far);
  }
}

std::vector<Lid> lids_of(const LidMap& lids) {
  std::vector<Lid> all;
  for (std::size_t value = 1; value < lids.owner.size(); ++value) {
    if (lids.owner[value] != kNone<PortIdx>) all.push_back(Lid{static_cast<std::uint16_t>(value)});
  }
  return all;
}

std::vector<unsigned> vls_on_the_path(
    const Fabric& f, const LidMap& lids, const RoutingTables& t, const char* from, const char* to) {
  std::vector<unsigned> vls;
  for (const Step& step : travel(f, t, switch_named(f, from), lids.base[end_port(f, to)]))
    vls.push_back(step.vl);
  return vls;
}

constexpr const char* kFlich =
    "S0-S2 S0-S4 S0-S5 S1-S2 S1-S5 S1-S6 S2-S7 S3-S5 S3-S6 S3-S7 S4-S6 S4-S7 "
    "S0-H0 S1-H1 S2-H2 S3-H3 S4-H4 S5-H5 S6-H6 S7-H7";

TEST(ItbVl, TakesTheShortRouteThatUpDownForbids) {
  // 4-6-1 goes down to switch 6 and up again: there it changes lanes. 4-0-2 and 4-7-2 are equally
  // short; the latter changes lanes too.
  const Fabric f = fabric_from(kFlich);
  const LidMap lids = lids_in_order(f);
  RoutingRequest request = rooted(f, "S0");
  request.max_vls = 2;
  const RoutingTables tables = compute("itb-vl", f, lids, request);
  EXPECT_THAT(path(f, lids, tables.lft, "S4", "H1"), ElementsAre("S4", "S6", "S1"));
  EXPECT_THAT(vls_on_the_path(f, lids, tables, "S4", "H1"), ElementsAre(0u, 1u));
  const auto to_2 = path(f, lids, tables.lft, "S4", "H2");
  ASSERT_EQ(to_2.size(), 3u);
  EXPECT_THAT(vls_on_the_path(f, lids, tables, "S4", "H2"),
              to_2[1] == "S0" ? ElementsAre(0u, 0u) : ElementsAre(0u, 1u));
  const RouteReport report = check_routes(f, lids, tables);
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.minimal, report.pairs);
  EXPECT_EQ(tables.vls, 2u);
}

TEST(ItbVl, NeedsNeitherSlsNorLanesWithoutCuts) {
  const Fabric f = fabric_from("S1-S2 S1-S3 S2-S4 S2-S5 H1-S4 H2-S5 H3-S3");
  const RoutingTables tables = compute("itb-vl", f, lids_in_order(f), with_vls(1));
  EXPECT_EQ(tables.engine, "itb-vl");
  EXPECT_EQ(tables.vls, 1u);
  EXPECT_TRUE(tables.path_sls.empty());
  EXPECT_TRUE(tables.sl_to_vl.empty());
}

TEST(ItbVl, RefusesWithTheNumbers) {
  const Generated g = generated("torus:dims=8.8");
  const auto tables = find_engine("itb-vl")->compute(g.fabric, g.lids, with_vls(1));
  ASSERT_FALSE(tables);
  EXPECT_EQ(tables.error().code, Errc::Unsupported);
  EXPECT_THAT(tables.error().context, HasSubstr("64 switches"));
  EXPECT_THAT(tables.error().context, HasSubstr("4 VLs; there are 1"));
}

TEST(ItbVl, UsesTheLanesThatCablesHaveUnlessToldOtherwise) {
  // Eight lanes on every cable of a generated fabric; one on those of a text.
  const Generated g = generated("torus:dims=6.6");
  EXPECT_GT(compute("itb-vl", g.fabric, g.lids).vls, 1u);
  const auto capped = find_engine("itb-vl")->compute(g.fabric, g.lids, with_vls(1));
  EXPECT_FALSE(capped);
}

TEST(ItbVl, DiscardsWhatNoPathNeeds) {
  const Generated g = irregular(16, 2, 1);
  const RoutingTables tables = compute("itb-vl", g.fabric, g.lids, with_vls(4));
  ASSERT_FALSE(tables.sl_to_vl.empty());
  using Entry = std::tuple<SwitchIdx, PortNum, PortNum, std::uint8_t>;
  std::set<Entry> needed;
  for (const Lid lid : lids_of(g.lids)) {
    for (const SwitchIdx from : g.fabric.switch_node.indices()) {
      const std::uint8_t sl = sl_of(tables, from, lid);
      for (const Step& step : travel(g.fabric, tables, from, lid))
        needed.insert({step.sw, step.in, step.out, sl});
    }
  }
  const auto leads_to_switch = [&](NodeIdx n, PortNum p) {
    const PortIdx far = g.fabric.peer[g.fabric.port_of(n, p)];
    return p != PortNum{0} && far != kNone<PortIdx> && g.fabric.is_switch(g.fabric.node_of[far]);
  };
  for (const SwitchIdx sw : g.fabric.switch_node.indices()) {
    const NodeIdx n = g.fabric.switch_node[sw];
    for (const PortIdx i : g.fabric.ports_of(n)) {
      for (const PortIdx o : g.fabric.ports_of(n)) {
        const PortNum in = g.fabric.number_of(i), out = g.fabric.number_of(o);
        for (std::uint8_t sl = 0; sl < 16; ++sl) {
          const std::uint8_t vl = tables.sl_to_vl.row(sw, in, out)[sl].value();
          if (!leads_to_switch(n, out)) {
            EXPECT_EQ(vl, 0u) << "to hosts every SL travels on VL 0";
          } else {
            const PortNum from = leads_to_switch(n, in) ? in : PortNum{0};
            EXPECT_EQ(vl != 15, needed.contains({sw, from, out, sl}));
          }
        }
      }
    }
  }
}

TEST(ItbVl, RepliesTravelWithTheSlOfWhatTheyAnswer) {
  const Generated g = irregular(32, 1, 1);
  const Fabric& f = g.fabric;
  const RoutingTables tables = compute("itb-vl", f, g.lids, with_vls(8));
  ASSERT_FALSE(tables.path_sls.empty());
  const auto all = lids_of(g.lids);
  const auto switch_at = [&](Lid lid) {
    const NodeIdx n = f.node_of[g.lids.owner_of(lid)];
    return f.is_switch(n) ? f.switch_of[n] : f.switch_at(f.peer[g.lids.owner_of(lid)]);
  };
  for (const Lid a : all) {
    for (const Lid b : all)
      EXPECT_EQ(sl_of(tables, switch_at(a), b), sl_of(tables, switch_at(b), a));
  }
}

TEST(ItbVl, LanesNeverFallAndRiseAtEveryCut) {
  for (const VlChangeRule cut : {VlChangeRule::UpDown, VlChangeRule::DepthFirst}) {
    const Generated g = irregular(32, 3);
    RoutingRequest request = with_vls(8);
    request.options.lane_cut = cut;
    const RoutingTables tables = compute("itb-vl", g.fabric, g.lids, request);
    ASSERT_EQ(tables.engine, "itb-vl");
    EXPECT_TRUE(tables.orientation.rank.empty()) << "routes do not obey it";
    // The directions that are kept for the next time, with ranks put back.
    Orientation o = tables.orientation;
    for (const NodeIdx n : g.fabric.switch_node) {
      for (const auto& [guid, rank] : o.by_guid) {
        if (guid == g.fabric.node_guid[n]) o.rank.push_back(rank);
      }
    }
    const TurnModel model{g.fabric, o};
    std::uint64_t cuts = 0;
    for (const Lid lid : lids_of(g.lids)) {
      for (const SwitchIdx from : g.fabric.switch_node.indices()) {
        const auto steps = travel(g.fabric, tables, from, lid);
        for (std::size_t i = 1; i < steps.size(); ++i) {
          EXPECT_GE(steps[i].vl, steps[i - 1].vl);
          const PortIdx far =
              g.fabric.peer[g.fabric.port_of(g.fabric.switch_node[steps[i].sw], steps[i].out)];
          const SwitchIdx onward = g.fabric.switch_at(far);
          if (!model.above(steps[i - 1].sw, steps[i].sw) || !model.above(onward, steps[i].sw))
            continue;
          ++cuts;
          EXPECT_GT(steps[i].vl, steps[i - 1].vl);
        }
      }
    }
    EXPECT_GT(cuts, 0u);
  }
}

TEST(ItbVl, UsesParallelCablesEvenly) {
  //  A ring of five with two cables each; three hosts on S3, seen from S2 over one edge.
  const Fabric f = fabric_from(
      "S1-S2 S1-S2 S2-S3 S2-S3 S3-S4 S3-S4 S4-S5 S4-S5 S5-S1 S5-S1 "
      "S1-H1 S2-H2 S3-H3 S3-H4 S3-H5 S3-H6 S4-H7 S5-H8");
  const LidMap lids = lids_in_order(f);
  const RoutingTables tables = compute("itb-vl", f, lids, with_vls(4));
  ASSERT_EQ(tables.engine, "itb-vl");
  EXPECT_TRUE(check_routes(f, lids, tables).ok());
  std::map<unsigned, unsigned> used;
  for (const char* host : {"H3", "H4", "H5", "H6"})
    ++used[egress_of(f, lids, tables.lft, "S2", host)];
  EXPECT_THAT(used, ElementsAre(std::pair{3u, 2u}, std::pair{4u, 2u}));
}

TEST(ItbVl, KeepsToOneLaneWhereMapsCannotBeWritten) {
  const Generated g = irregular(16, 2, 1);
  RoutingRequest request = with_vls(8);
  request.vl_changes = false;
  const RoutingTables tables = compute("itb-vl", g.fabric, g.lids, request);
  ASSERT_EQ(tables.engine, "itb-vl");
  EXPECT_TRUE(tables.sl_to_vl.empty());
  EXPECT_FALSE(tables.path_sls.empty());
  const RouteReport report = check_routes(g.fabric, g.lids, tables);
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.minimal, report.pairs);

  const Generated torus = generated("torus:dims=8.8");
  request.max_vls = 2;
  const auto refused = find_engine("itb-vl")->compute(torus.fabric, torus.lids, request);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().context, HasSubstr("more than 2 VLs"));
}

TEST(ItbVl, SaysHowManyLanesAndHowEvenly) {
  const Generated g = irregular(16, 1, 2);
  const RoutingTables tables = compute("itb-vl", g.fabric, g.lids, with_vls(8));
  ASSERT_GE(tables.notes.size(), 2u);
  EXPECT_THAT(tables.notes[0], HasSubstr(" VLs, "));
  EXPECT_THAT(tables.notes[1], HasSubstr("standard deviation"));
}

// The n-th cable from a switch to another one.
Fabric without_cable(Fabric f, SwitchIdx sw, std::size_t n) {
  const SwitchGraph graph{f};
  const PortIdx lost = f.port_of(f.switch_node[sw], graph.edges(sw)[n].port);
  f.peer[f.peer[lost]] = kNone<PortIdx>;
  f.peer[lost] = kNone<PortIdx>;
  return f;
}

TEST(ItbVl, KeepsWhatIsStillAShortestPath) {
  const Generated g = irregular(32, 5, 1);
  const RoutingTables before = compute("itb-vl", g.fabric, g.lids, with_vls(8));
  const PreviousRoutes in_force{&g.fabric, &g.lids, &before};
  RoutingRequest request = with_vls(8);
  request.in_force = &in_force;

  const RoutingTables same = compute("itb-vl", g.fabric, g.lids, request);
  EXPECT_EQ(same.lft, before.lft);
  EXPECT_EQ(same.path_sls, before.path_sls);
  ASSERT_TRUE(same.recomputed);
  EXPECT_THAT(*same.recomputed, IsEmpty());

  const Fabric cut = without_cable(g.fabric, SwitchIdx{3}, 0);
  const RoutingTables after = compute("itb-vl", cut, g.lids, request);
  ASSERT_EQ(after.engine, "itb-vl");
  const RouteReport report = check_routes(cut, g.lids, after);
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.minimal, report.pairs);
  const SwitchGraph graph_now{cut};
  std::set<Lid> changed;
  for (const Lid lid : lids_of(g.lids)) {
    const NodeIdx owner = cut.node_of[g.lids.owner_of(lid)];
    const SwitchIdx last =
        cut.switch_of[cut.is_switch(owner) ? owner : cut.node_of[cut.peer[g.lids.owner_of(lid)]]];
    const auto distance = compute_distances(graph_now, {&last, 1});
    for (const SwitchIdx sw : cut.switch_node.indices()) {
      const PortNum old = before.lft.route(sw, lid);
      if (old != after.lft.route(sw, lid)) changed.insert(lid);
      for (const SwitchEdge& edge : graph_now.edges(sw)) {
        if (edge.port == old && distance[edge.to] + 1 == distance[sw]) {
          EXPECT_EQ(after.lft.route(sw, lid), old) << "a shortest path before and after";
        }
      }
    }
  }
  EXPECT_THAT(*after.recomputed, ::testing::ElementsAreArray(changed));
  EXPECT_LT(changed.size(), lids_of(g.lids).size());
}

// Else every sweep would write lanes anew.
TEST(ItbVl, ChangesNothingWhereNothingHasChangedSinceTheLastChange) {
  unsigned judged = 0;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    const bool ring = seed % 2 == 0;
    const Generated g =
        ring ? generated(fmt::format("torus:dims=5.{}", 3 + seed / 4)) : irregular(24, seed, 1);
    RoutingRequest request = with_vls(1 + seed % 8);
    request.options.lane_cut = static_cast<VlChangeRule>(seed / 2 % 3);
    const auto before = find_engine("itb-vl")->compute(g.fabric, g.lids, request);
    if (!before) continue;
    const Fabric cut = without_cable(g.fabric, SwitchIdx{seed % 10}, seed % 3);
    const PreviousRoutes first{&g.fabric, &g.lids, &*before};
    request.in_force = &first;
    const auto once = find_engine("itb-vl")->compute(cut, g.lids, request);
    if (!once) continue;
    const PreviousRoutes second{&cut, &g.lids, &*once};
    request.in_force = &second;
    const auto twice = find_engine("itb-vl")->compute(cut, g.lids, request);
    ASSERT_TRUE(twice) << twice.error().context;
    ++judged;
    EXPECT_EQ(once->lft, twice->lft) << seed;
    EXPECT_EQ(once->path_sls, twice->path_sls) << seed;
    EXPECT_EQ(once->vls, twice->vls) << seed;
    ASSERT_EQ(once->sl_to_vl.empty(), twice->sl_to_vl.empty()) << seed;
    for (const SwitchIdx sw : cut.switch_node.indices()) {
      const unsigned ports = cut.num_ports(cut.switch_node[sw]);
      for (std::uint8_t in = 0; in <= ports && !once->sl_to_vl.empty(); ++in) {
        for (std::uint8_t out = 1; out <= ports; ++out)
          EXPECT_EQ(once->sl_to_vl.row(sw, PortNum{in}, PortNum{out}),
                    twice->sl_to_vl.row(sw, PortNum{in}, PortNum{out}))
              << seed << ": switch " << sw.value();
      }
    }
  }
  EXPECT_GE(judged, 30u) << "of 40";
}

TEST(ItbVl, KeepsTheSlsOfPathsThatStay) {
  const Generated g = irregular(32, 5, 1);
  const RoutingTables before = compute("itb-vl", g.fabric, g.lids, with_vls(8));
  const PreviousRoutes in_force{&g.fabric, &g.lids, &before};
  RoutingRequest request = with_vls(8);
  request.in_force = &in_force;
  const Fabric cut = without_cable(g.fabric, SwitchIdx{3}, 0);
  const RoutingTables after = compute("itb-vl", cut, g.lids, request);
  unsigned same = 0, other = 0;
  for (const Lid lid : lids_of(g.lids)) {
    for (const SwitchIdx from : cut.switch_node.indices()) {
      const auto is_as_before = [&](const Step& step) {
        return before.lft.route(step.sw, lid) == step.out;
      };
      if (!std::ranges::all_of(travel(cut, after, from, lid), is_as_before)) continue;
      ++(sl_of(after, from, lid) == sl_of(before, from, lid) ? same : other);
    }
  }
  EXPECT_LT(other, same / 80) << "those whose way back has changed";
}

TEST(ItbVl, FillsACableThatComesBack) {
  const Generated g = generated("torus:dims=6.6");
  const Fabric cut = without_cable(g.fabric, SwitchIdx{8}, 1);
  const RoutingTables before = compute("itb-vl", cut, g.lids, with_vls(8));
  const PreviousRoutes in_force{&cut, &g.lids, &before};
  RoutingRequest request = with_vls(8);
  request.in_force = &in_force;
  const RoutingTables after = compute("itb-vl", g.fabric, g.lids, request);
  const RouteReport report = check_routes(g.fabric, g.lids, after);
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.minimal, report.pairs);
  const LoadReport kept = measure_load(g.fabric, g.lids, after.lft);
  const LoadReport fresh =
      measure_load(g.fabric, g.lids, compute("itb-vl", g.fabric, g.lids, with_vls(8)).lft);
  EXPECT_DOUBLE_EQ(kept.mean, fresh.mean);
  EXPECT_LE(static_cast<double>(kept.max), 1.05 * static_cast<double>(fresh.max));
}

// Valid, or refused with a reason; and shortest unless it says otherwise. Whether there were any.
bool require_sound(const Fabric& f, const LidMap& lids, const RoutingRequest& request) {
  const auto tables = find_engine("itb-vl")->compute(f, lids, request);
  if (!tables) {
    RC_ASSERT(tables.error().code == Errc::Unsupported);
    RC_ASSERT(tables.error().context.find("there are") != std::string::npos ||
              tables.error().context.find("SLs do not suffice") != std::string::npos);
    RC_TAG("refused");
    return false;
  }
  const RouteReport report = check_routes(f, lids, *tables);
  RC_ASSERT(report.first_faults == std::vector<std::string>{});
  RC_ASSERT(report.ok());
  RC_ASSERT(tables->vls <= request.max_vls);
  bool detours = false;
  for (const std::string& note : tables->notes)
    detours = detours || note.starts_with("up*/down* to") || note == kDetoursNote;
  RC_ASSERT(detours || report.minimal == report.pairs);
  RC_TAG(detours ? "detours" : "minimal");
  return true;
}

TEST(ItbVl, IsSoundOrRefusesWithAReason) {
  unsigned asked = 0, judged = 0;
  EXPECT_TRUE(rc::check([&] {
    const Fabric f = fabric_from(*random_fabric_text());
    const LidMap lids = lids_in_order(f, *rc::gen::inRange<std::uint8_t>(0, 3));
    const unsigned max_vls = *rc::gen::inRange(1u, 5u);
    const auto cut = *rc::gen::element(
        VlChangeRule::UpDown, VlChangeRule::DepthFirst, VlChangeRule::MinimalCycles);
    ++asked;
    judged += require_sound(f, lids, {.options = {.lane_cut = cut}, .max_vls = max_vls}) ? 1 : 0;
  }));
  EXPECT_GT(2 * judged, asked) << judged;
}

TEST(ItbVl, IsSoundAfterChanges) {
  unsigned asked = 0, judged = 0;
  EXPECT_TRUE(rc::check([&] {
    ChangingFabric changing{
        pick(2, 12), pick(1, 16), pick(0, 8), static_cast<unsigned>(pick(0, 2))};
    const ChangingFabric::View before = changing.view();
    RoutingRequest request{.max_vls = static_cast<unsigned>(pick(1, 4))};
    request.options.lane_cut = *rc::gen::element(
        VlChangeRule::UpDown, VlChangeRule::DepthFirst, VlChangeRule::MinimalCycles);
    ++asked;
    const auto first = find_engine("itb-vl")->compute(before.fabric, before.lids, request);
    if (!first) return;
    changing.change(pick(1, 3));
    const ChangingFabric::View after = changing.view();
    const PreviousRoutes in_force{&before.fabric, &before.lids, &*first};
    request.in_force = &in_force;
    judged += require_sound(after.fabric, after.lids, request) ? 1 : 0;
  }));
  EXPECT_GT(2 * judged, asked) << judged;
}

}  // namespace itb_vl_test
}  // namespace smd::test
