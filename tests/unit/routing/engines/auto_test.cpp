#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "smd/routing/verify/channel_load.h"
#include "smd/routing/verify/check_routes.h"
#include "smd/routing/verify/patterns.h"
#include "smd/routing/verify/route_measures.h"
#include "tests/unit/routing/support/generated.h"
#include "tests/unit/routing/support/random_fabric.h"

namespace smd::test {
namespace auto_test {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Choice {
  const char* call;
  const char* engine;
};

void PrintTo(const Choice& row, std::ostream* os) { *os << row.call; }

class AutoChooses : public ::testing::TestWithParam<Choice> {};

TEST_P(AutoChooses, TheEngineOfTheShape) {
  const Generated g = generated(GetParam().call);
  const RoutingTables tables = compute("auto", g.fabric, g.lids);
  EXPECT_EQ(tables.engine, GetParam().engine);
  EXPECT_EQ(tables.chosen_by, "auto");
  ASSERT_FALSE(tables.notes.empty());
  EXPECT_THAT(tables.notes[0], StartsWith("auto: " + tables.engine + ", "));
  EXPECT_TRUE(check_routes(g.fabric, g.lids, tables).ok());
  EXPECT_EQ(tables.lft, compute(GetParam().engine, g.fabric, g.lids).lft);
}

INSTANTIATE_TEST_SUITE_P(Shapes,
                         AutoChooses,
                         ::testing::Values(Choice{"fat-tree:k=8,levels=3", "updn"},
                                           Choice{"torus:dims=4.4", "dor"},
                                           Choice{"torus:dims=5.4,mesh=1", "dor"},
                                           Choice{"hamming:dims=4.4,hosts=4", "hamming"},
                                           Choice{"dragonfly", "dragonfly"},
                                           Choice{"irregular:switches=16,seed=1", "nue"}));

TEST(Auto, SaysWhoRefusedAndWhy) {
  const Generated g = irregular(16, 1, 1);
  const RoutingTables tables = compute("auto", g.fabric, g.lids, {.max_vls = 1});
  EXPECT_THAT(tables.notes[0], StartsWith("auto: " + tables.engine + ", "));
  EXPECT_THAT(tables.notes, Contains(StartsWith("auto: no shape of dor, hamming, dragonfly")));
  EXPECT_THAT(tables.candidates.front().refused, StartsWith("no mesh or torus"));
  EXPECT_THAT(tables.notes, Contains(StartsWith("auto: updn: worth ")));
  for (const EngineCandidate& each : tables.candidates) {
    EXPECT_NE(each.engine, "dfsssp") << "there is one VL";
    EXPECT_EQ(each.measured, each.refused.empty()) << each.engine;
    EXPECT_EQ(each.taken, each.engine == tables.engine);
  }
}

TEST(Auto, TakesUpDownWhereThereAreNoRings) {
  // A tree of switches with a doubled cable, and an island.
  const Fabric f = fabric_from("S1-S2 S1-S2 S2-S3 S2-S4 S4-S5 S5-S6 H1-S3 H2-S6 S7-S8 H3-S7");
  const RoutingTables tables = compute("auto", f, lids_in_order(f), {.max_vls = 4});
  EXPECT_EQ(tables.chosen_by, "auto");
  EXPECT_TRUE(check_routes(f, lids_in_order(f), tables).ok());
}

TEST(Auto, StaysWithTheEngineThatMadeTheRoutesInForce) {
  const Generated g = generated("torus:dims=4.4");
  const RoutingTables before = compute("updn", g.fabric, g.lids);
  const PreviousRoutes in_force{&g.fabric, &g.lids, &before};
  const RoutingTables after = compute("auto", g.fabric, g.lids, {.in_force = &in_force});
  EXPECT_EQ(after.engine, "updn");
  EXPECT_THAT(after.notes[0], HasSubstr("which made the routes in force"));
  EXPECT_EQ(after.lft, before.lft);
}

TEST(Auto, ChoosesAnewWhereMostSwitchesAre) {
  //  One switch first. Then a torus around it.
  const Generated g = generated("torus:dims=4.4");
  const Fabric first = fabric_from("S1-H1");
  const LidMap lids = lids_in_order(first);
  const RoutingTables before = compute("updn", first, lids);
  const PreviousRoutes in_force{&first, &lids, &before};
  const RoutingTables after = compute("auto", g.fabric, g.lids, {.in_force = &in_force});
  EXPECT_EQ(after.engine, "dor");
  EXPECT_THAT(after.notes[0], ::testing::Not(HasSubstr("in force")));
}

TEST(Auto, AsksOthersWhenTheEngineInForceRefuses) {
  // itb-vl has lanes enough for the torus at first, then one.
  const Generated g = generated("torus:dims=8.8");
  const RoutingTables before = compute("itb-vl", g.fabric, g.lids);
  ASSERT_EQ(before.engine, "itb-vl");
  const PreviousRoutes in_force{&g.fabric, &g.lids, &before};
  const RoutingTables after =
      compute("auto", g.fabric, g.lids, {.in_force = &in_force, .max_vls = 1});
  EXPECT_NE(after.engine, "itb-vl");
  EXPECT_THAT(after.notes[0], HasSubstr("there are 1"));
}

// updn, on one VL, has all that can be had of uniform traffic there and a tenth less of
// permutations.
TEST(Auto, WhatIsNearTheBestAtBothComesFirst) {
  const Generated g = generated("fat-tree:k=14,missing=6,seed=3,aggregation=1");
  const RoutingTables tables = compute("auto", g.fabric, g.lids);
  double uniform = 0, permutations = 0;
  for (const EngineCandidate& each : tables.candidates) {
    uniform = std::max(uniform, each.uniform);
    permutations = std::max(permutations, each.permutations);
  }
  const auto taken = std::ranges::find(tables.candidates, true, &EngineCandidate::taken);
  ASSERT_NE(taken, tables.candidates.end());
  EXPECT_GE(taken->uniform, 0.93 * uniform);
  EXPECT_GE(taken->permutations, 0.93 * permutations);
}

TEST(Auto, PassesOverEnginesWhoseMapsCannotBeWritten) {
  const Generated g = generated("torus:dims=5.5");
  const RoutingTables tables = compute("auto", g.fabric, g.lids, {.vl_changes = false});
  EXPECT_NE(tables.engine, "dor");
  EXPECT_TRUE(tables.sl_to_vl.empty());
  EXPECT_THAT(tables.notes, Contains(HasSubstr("dor: its routes change lanes")));
}

/// Two levels, more hosts than cables up, trunks of two with holes.
Fabric uneven_tree() {
  std::string text;
  for (unsigned leaf = 0; leaf < 9; ++leaf) {
    for (unsigned cable = 0; cable < 8; ++cable) {
      if ((leaf * 5 + cable * 3) % 11 < 3) continue;
      text += fmt::format("S{}-S{} ", leaf + 11, cable / 2 + 1);
    }
    for (unsigned host = 0; host < 6 + leaf % 4; ++host)
      text += fmt::format("H{}x{}-S{} ", leaf, host, leaf + 11);
  }
  return fabric_from(text);
}

/// What a candidate is worth, from its routes as they are computed without the others.
struct Worth {
  std::string engine;
  RouteMeasures measures;
};

std::vector<Worth> measure_each(const Fabric& fabric, const LidMap& lids) {
  std::vector<Worth> out;
  for (const char* const engine :
       {"ftree", "dor", "hamming", "dragonfly", "updn", "nue", "dfsssp", "itb-vl"}) {
    const auto tables = find_engine(engine)->compute(fabric, lids, {.max_vls = 8});
    if (tables) out.push_back({engine, measure_routes(fabric, lids, tables->lft)});
  }
  return out;
}

TEST(Auto, TakesWhatIsNearestToTheBestInBothMeasures) {
  for (const Fabric& f :
       {uneven_tree(), generated("irregular:switches=24,ports=16,links=4,hosts=6").fabric}) {
    const LidMap lids = lids_in_order(f);
    const std::vector<Worth> all = measure_each(f, lids);
    const auto best = [&](double RouteMeasures::*which) {
      double most = 0;
      for (const Worth& each : all) most = std::max(most, each.measures.*which);
      return most;
    };
    const auto shortfall = [&](const RouteMeasures& own, TrafficGoal goal) {
      const double uniform = own.uniform / best(&RouteMeasures::uniform);
      const double permutations = own.permutations / best(&RouteMeasures::permutations);
      return goal == TrafficGoal::Uniform        ? uniform
             : goal == TrafficGoal::Permutations ? permutations
                                                 : std::min(uniform, permutations);
    };
    for (const TrafficGoal goal :
         {TrafficGoal::Uniform, TrafficGoal::Permutations, TrafficGoal::Both}) {
      const RoutingTables tables =
          compute("auto", f, lids, {.options = {.auto_for = goal}, .max_vls = 8});
      const RouteMeasures taken = measure_routes(f, lids, tables.lft);
      double most = 0;
      for (const Worth& each : all) most = std::max(most, shortfall(each.measures, goal));
      // Shifts, hops and VLs weigh 0.12 together at most, and 0.02 are as good.
      EXPECT_GE(shortfall(taken, goal), most - 0.14) << tables.engine;
      EXPECT_TRUE(check_routes(f, lids, tables).ok());
      ASSERT_EQ(std::ranges::count(tables.candidates, "", &EngineCandidate::refused),
                static_cast<std::ptrdiff_t>(all.size()));
      for (const Worth& each : all) {
        const auto candidate =
            std::ranges::find(tables.candidates, each.engine, &EngineCandidate::engine);
        EXPECT_EQ(candidate->uniform, each.measures.uniform) << each.engine;
        EXPECT_EQ(candidate->permutations, each.measures.permutations) << each.engine;
        EXPECT_EQ(candidate->worst_shift, each.measures.worst_shift) << each.engine;
        EXPECT_EQ(candidate->fullest, each.measures.load.fullest) << each.engine;
        EXPECT_GE(candidate->against_bound, 1) << each.engine;
        EXPECT_LE(
            candidate->worth,
            std::ranges::find(tables.candidates, true, &EngineCandidate::taken)->worth + 0.02);
      }
    }
  }
}

TEST(Auto, GoalsThatDifferChooseOtherRoutes) {
  // itb-vl is more even here, dor keeps permutations apart.
  const Generated g = generated("torus:dims=8.8,hosts=2");
  const Fabric& f = g.fabric;
  const LidMap& lids = g.lids;
  const auto measured = [&](TrafficGoal goal) {
    return measure_routes(
        f, lids, compute("auto", f, lids, {.options = {.auto_for = goal}, .max_vls = 8}).lft);
  };
  const RouteMeasures uniform = measured(TrafficGoal::Uniform);
  const RouteMeasures permutations = measured(TrafficGoal::Permutations);
  EXPECT_GT(uniform.uniform, permutations.uniform);
  EXPECT_GT(permutations.permutations, uniform.permutations);
}

TEST(Auto, WithoutABudgetTakesTheFirstThatDoesNotRefuse) {
  const Generated g = generated("irregular:switches=16,ports=16,links=4,hosts=2");
  const RoutingTables tables =
      compute("auto", g.fabric, g.lids, {.options = {.auto_budget_ms = 0}, .max_vls = 8});
  EXPECT_EQ(tables.engine, "updn");
  EXPECT_THAT(tables.notes[0], StartsWith("auto: updn, as it suits every fabric"));
  EXPECT_THAT(tables.notes, Contains("auto: nue: not asked: it would exceed the budget"));
}

const EngineCandidate& candidate_of(const RoutingTables& tables, const std::string& engine) {
  return *std::ranges::find(tables.candidates, engine, &EngineCandidate::engine);
}

TEST(Auto, CountsWhatLeadingPathsApartTakes) {
  const Generated g = generated("slim-fly:q=5", 2);
  const auto least_budget = [&](NonMinimal ways) {
    std::uint32_t least = 1, most = 2000;  // ms; with the most it is asked
    while (least < most) {
      const std::uint32_t budget = (least + most) / 2;
      const RoutingTables tables =
          compute("auto",
                  g.fabric,
                  g.lids,
                  {.options = {.non_minimal = ways, .auto_budget_ms = budget}, .max_vls = 8});
      const bool asked = candidate_of(tables, "dfsssp").refused.empty();
      (asked ? most : least) = asked ? budget : budget + 1;
    }
    return least;
  };
  const std::uint32_t shortest = least_budget(NonMinimal::Off);
  ASSERT_LT(shortest, 1000u);
  // 50 switches, 850 LIDs: 78 steps more for each pair, 100,000 to a millisecond.
  EXPECT_GE(least_budget(NonMinimal::AlmostMinimal), shortest + 30);
}

// Two VLs are too few for dfsssp, which it says once it has computed its routes.
TEST(Auto, CountsWhatEnginesTakeThatRefuse) {
  const Generated g = generated("torus:dims=8.8,hosts=2");
  constexpr const char* kNotAsked = "not asked: it would exceed the budget";
  const auto weigh = [&](std::uint32_t budget) {
    return compute("auto",
                   g.fabric,
                   g.lids,
                   {.options = {.auto_budget_ms = budget, .auto_vls = 2}, .max_vls = 8});
  };
  const RoutingTables all = weigh(100'000);
  ASSERT_FALSE(candidate_of(all, "dfsssp").refused.empty());
  ASSERT_NE(candidate_of(all, "dfsssp").refused, kNotAsked);
  ASSERT_NE(candidate_of(all, "itb-vl").refused, kNotAsked);
  std::uint32_t least = 1, most = 100'000;  // ms; with the most it is asked
  while (least < most) {
    const std::uint32_t budget = (least + most) / 2;
    const bool asked = candidate_of(weigh(budget), "dfsssp").refused != kNotAsked;
    (asked ? most : least) = asked ? budget : budget + 1;
  }
  EXPECT_EQ(candidate_of(weigh(least), "itb-vl").refused, kNotAsked);
}

TEST(Auto, KeepsWhatItWeighedOverAChange) {
  const Generated g = generated("irregular:switches=16,ports=16,links=4,hosts=2");
  const RoutingTables before = compute("auto", g.fabric, g.lids, {.max_vls = 8});
  const PreviousRoutes in_force{&g.fabric, &g.lids, &before};
  const RoutingTables after =
      compute("auto", g.fabric, g.lids, {.in_force = &in_force, .max_vls = 8});
  EXPECT_EQ(after.engine, before.engine);
  EXPECT_EQ(after.candidates, before.candidates);
  EXPECT_FALSE(after.candidates.empty());
}

TEST(Auto, ATenthMoreIsWorthAChange) {
  const Generated g = generated("torus:dims=4.4,hosts=2");
  const RoutingTables dor = compute("dor", g.fabric, g.lids);
  const RoutingTables updn = compute("updn", g.fabric, g.lids);
  for (const TrafficGoal goal :
       {TrafficGoal::Uniform, TrafficGoal::Permutations, TrafficGoal::Both}) {
    EXPECT_TRUE(are_worth_a_change(g.fabric, g.lids, updn, dor, goal));
    EXPECT_FALSE(are_worth_a_change(g.fabric, g.lids, dor, updn, goal));
    EXPECT_FALSE(are_worth_a_change(g.fabric, g.lids, dor, dor, goal));
  }
}

/// One of three levels.
constexpr const char* kDamagedTree = "fat-tree:k=8,levels=3,missing=21,seed=7";

TEST(Auto, LessThanATenthMoreIsNot) {
  const Generated g = generated(kDamagedTree);
  const RoutingTables updn = compute("updn", g.fabric, g.lids);
  const RoutingTables ftree = compute("ftree", g.fabric, g.lids);
  EXPECT_FALSE(are_worth_a_change(g.fabric, g.lids, updn, ftree, TrafficGoal::Permutations));
  EXPECT_FALSE(are_worth_a_change(g.fabric, g.lids, ftree, ftree, TrafficGoal::Uniform));
}

/// With `auto_vls` of one out of eight.
RoutingTables compute_safely(const Generated& g) {
  return compute("auto", g.fabric, g.lids, {.options = {.auto_vls = 1}, .max_vls = 8});
}

class AutoOnOneVl : public ::testing::TestWithParam<const char*> {};

TEST_P(AutoOnOneVl, TakesDirectionsAndSaysWhoIsLeftOut) {
  const Generated g = generated(GetParam());
  const RoutingTables tables = compute_safely(g);
  EXPECT_EQ(tables.engine, "updn");
  EXPECT_EQ(tables.vls, 1u);
  EXPECT_TRUE(tables.sl_to_vl.empty());
  EXPECT_TRUE(tables.path_sls.empty());
  EXPECT_FALSE(tables.orientation.rank.empty());
  EXPECT_TRUE(check_routes(g.fabric, g.lids, tables).ok());
  const auto taken = std::ranges::find(tables.candidates, true, &EngineCandidate::taken);
  ASSERT_NE(taken, tables.candidates.end());
  EXPECT_THAT(tables.notes[0], StartsWith("auto: " + taken->engine + ", "));
  const OrientationSearch search = taken->engine == kDepthFirstCandidate
                                       ? OrientationSearch::DepthFirst
                                       : OrientationSearch::BreadthFirst;
  EXPECT_EQ(tables.lft,
            compute("updn", g.fabric, g.lids, {.options = {.orientation_search = search}}).lft);
  for (const char* const engine : {"nue", "dfsssp", "itb-vl"}) {
    EXPECT_THAT(candidate_of(tables, engine).refused, StartsWith("left out: "));
    EXPECT_THAT(
        tables.notes,
        Contains(::testing::AllOf(
            HasSubstr(engine), HasSubstr(": left out: "), HasSubstr("and sm.auto_vls is 1"))));
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes,
                         AutoOnOneVl,
                         ::testing::Values("fat-tree:k=8,levels=3",
                                           "torus:dims=4.4",
                                           "torus:dims=5.4,mesh=1",
                                           "torus:dims=8.8,hosts=2",
                                           "hamming:dims=4.4,hosts=4",
                                           "dragonfly",
                                           "irregular:switches=16,seed=1"));

TEST(Auto, WithFreeChangesAsksThoseWhoKeepTheirLanes) {
  const auto choose = [](const char* call, unsigned vls, unsigned there = 8) {
    const Generated g = generated(call);
    const RoutingTables tables = compute(
        "auto",
        g.fabric,
        g.lids,
        {.options = {.auto_vls = vls, .auto_changes = AutoChanges::Free}, .max_vls = there});
    EXPECT_LE(tables.vls, vls);
    EXPECT_TRUE(check_routes(g.fabric, g.lids, tables).ok()) << call;
    return tables;
  };
  EXPECT_EQ(choose("torus:dims=5.5,hosts=2", 8).engine, "nue");
  EXPECT_EQ(choose("hamming:dims=4.4,hosts=4", 8).engine, "hamming");
  EXPECT_EQ(choose("fat-tree:k=8,levels=3", 8).engine, "updn");
  EXPECT_EQ(choose("torus:dims=5.5,hosts=2", 1).engine, "updn");
  // One of two is left to groups, and on the other nue has to block turns.
  EXPECT_EQ(choose("torus:dims=5.5,hosts=2", 8, 2).engine, "updn");
  EXPECT_EQ(choose("torus:dims=5.5,hosts=2", 8, 3).engine, "nue");

  const RoutingTables torus = choose("torus:dims=8.8,hosts=2", 4);
  for (const char* const engine : {"dor", "dfsssp", "itb-vl"})
    EXPECT_THAT(candidate_of(torus, engine).refused, HasSubstr("sm.auto_changes is free"));
  EXPECT_EQ(candidate_of(torus, "nue").refused, "");
  EXPECT_THAT(choose("torus:dims=5.5,hosts=2", 1).notes, Contains(HasSubstr("sm.auto_vls allows")));
  EXPECT_THAT(choose("fat-tree:k=8,levels=3", 1).notes,
              ::testing::Not(Contains(HasSubstr("sm.auto_vls allows"))));
}

TEST(Auto, WithFreeChangesTakesNueWhereATreeHasLostSoMuchThatUpdnIsFarFromIt) {
  const auto choose = [](const char* call) {
    const Generated g = generated(call);
    return compute("auto",
                   g.fabric,
                   g.lids,
                   {.options = {.auto_vls = 8, .auto_changes = AutoChanges::Free}, .max_vls = 15});
  };
  const RoutingTables far = choose("fat-tree:k=8,levels=3,missing=39,seed=13");
  EXPECT_EQ(far.engine, "nue");
  EXPECT_LT(candidate_of(far, "updn").uniform, 0.93 * candidate_of(far, "nue").uniform);
  const RoutingTables near = choose("fat-tree:k=8,levels=3,missing=6,seed=2");
  EXPECT_EQ(near.engine, "updn");
  EXPECT_EQ(candidate_of(near, "nue").refused, "");
  EXPECT_THAT(candidate_of(choose("fat-tree:k=8,levels=3"), "nue").refused, HasSubstr("whole"));
}

// Whatever becomes of the routes: here most LIDs are new, and nue lays them anew.
TEST(Auto, WithFreeChangesLeavesGroupsTheirVlWhereItStays) {
  const Generated before = generated("torus:dims=8.8,hosts=1");
  const Generated now = generated("torus:dims=8.8,hosts=3");
  const EngineOptions options{.auto_vls = 15, .auto_changes = AutoChanges::Free};
  const RoutingTables routes =
      compute("auto", before.fabric, before.lids, {.options = options, .max_vls = 4});
  ASSERT_EQ(routes.engine, "nue");
  ASSERT_LE(routes.vls, 3u);
  const PreviousRoutes in_force{&before.fabric, &before.lids, &routes};
  const RoutingTables tables = compute(
      "auto", now.fabric, now.lids, {.options = options, .in_force = &in_force, .max_vls = 4});
  EXPECT_EQ(tables.engine, "nue");
  EXPECT_LE(tables.vls, 3u);
  EXPECT_EQ(count_auto_vls("nue", 4, options), 3u);
  EXPECT_EQ(count_auto_vls("dfsssp", 4, options), 4u);
  EXPECT_EQ(count_auto_vls("nue", 1, options), 1u);
}

// Whole, a mesh takes one VL; with a switch lost it may take two.
TEST(Auto, LeavesOutWhoKnowsTheShapeAndNeedsMore) {
  const auto say = [](const char* call, const char* engine, const std::string& note) {
    const Generated g = generated(call);
    EXPECT_TRUE(find_engine(engine)->compute(g.fabric, g.lids, {.max_vls = 8}));
    EXPECT_THAT(compute_safely(g).notes, Contains("auto: " + note + ", and sm.auto_vls is 1"));
  };
  const std::string vls = "left out: routes, or those after a loss, need more than one VL";
  say("torus:dims=5.4,mesh=1", "dor", "dor, dfsssp, itb-vl: " + vls);
  say("torus:dims=5.5", "dor", "dor, dfsssp, itb-vl: " + vls);
  say("hamming:dims=4.4,hosts=4", "hamming", "hamming, dragonfly, dfsssp, itb-vl: " + vls);
  say("dragonfly", "dragonfly", "dragonfly, dfsssp, itb-vl: " + vls);
  say("fat-tree:k=8,levels=3", "ftree", "ftree, nue: left out: changes may have to block turns");
  // Who does not know the shape is not left out for VLs.
  const RoutingTables tables = compute_safely(generated("fat-tree:k=8,levels=3"));
  EXPECT_THAT(candidate_of(tables, "dor").refused, StartsWith("no mesh or torus"));
}

// On the one VL of updn random permutations get what they get under ftree, within 7 %, and uniform
// traffic no less than under any engine.
TEST(Auto, OnOneVlTreesServeBothKindsOfTraffic) {
  for (const char* const call : {kDamagedTree,
                                 "fat-tree:k=8,levels=3,missing=3,seed=1",
                                 "fat-tree:k=16,missing=8,seed=4,aggregation=1",
                                 "pgft:down=12.16,up=1.6,parallel=1.2,uneven=11,missing=1,seed=1",
                                 "fat-tree:k=8,levels=3"}) {
    const Generated g = generated(call);
    const RoutingTables tables = compute_safely(g);
    EXPECT_EQ(tables.engine, "updn");
    const RouteMeasures own = measure_routes(g.fabric, g.lids, tables.lft);
    for (const char* const engine : {"ftree", "minhop"}) {
      const RouteMeasures other =
          measure_routes(g.fabric, g.lids, compute(engine, g.fabric, g.lids).lft);
      EXPECT_GE(own.permutations, 0.93 * other.permutations) << call << " " << engine;
      EXPECT_GE(own.uniform, 0.97 * other.uniform) << call << " " << engine;
    }
  }
}

TEST(Auto, WeighsBothKindsOfDirectionsOffTrees) {
  const auto asked = [](const RoutingTables& tables) {
    return std::ranges::count(tables.candidates, kDepthFirstCandidate, &EngineCandidate::engine);
  };
  const Generated torus = generated("torus:dims=8.8,hosts=2");
  const RoutingTables tables = compute_safely(torus);
  ASSERT_EQ(asked(tables), 1);
  const EngineCandidate& taken = candidate_of(tables, std::string(kDepthFirstCandidate));
  EXPECT_TRUE(taken.taken);
  EXPECT_GT(taken.uniform, 1.5 * candidate_of(tables, "updn").uniform);
  const auto measured = measure_routes(torus.fabric, torus.lids, tables.lft, {.permutations = 50});
  EXPECT_EQ(taken.uniform, measured.uniform);
  EXPECT_EQ(asked(compute_safely(generated("fat-tree:k=8,levels=3"))), 0) << "a bad one there";
  EXPECT_EQ(asked(compute("auto", torus.fabric, torus.lids, {.max_vls = 8})), 0);
  // Who names roots, or the search, gets what he asked for.
  RoutingRequest rooted_at{.options = {.auto_vls = 1}};
  rooted_at.options.roots = {torus.fabric.node_guid[torus.fabric.switch_node[SwitchIdx{3}]]};
  EXPECT_EQ(asked(compute("auto", torus.fabric, torus.lids, rooted_at)), 0);
  // Nobody by that name: no roots.
  rooted_at.options.roots = {Guid{0x99}};
  EXPECT_EQ(asked(compute("auto", torus.fabric, torus.lids, rooted_at)), 1);
  const RoutingRequest depth_first{
      .options = {.orientation_search = OrientationSearch::DepthFirst, .auto_vls = 1}};
  EXPECT_EQ(asked(compute("auto", torus.fabric, torus.lids, depth_first)), 0);
}

TEST(Auto, OneSlowAdapterDoesNotDecide) {
  const Generated g = generated("torus:dims=6.6,hosts=2,speed=NDR");
  Fabric one_slow = g.fabric;
  one_slow.port_info[find_hosts(one_slow, g.lids).front()].link_width_active = 1;
  const RoutingRequest request{.options = {.auto_vls = 4}, .max_vls = 8};
  EXPECT_EQ(compute("auto", one_slow, g.lids, request).engine,
            compute("auto", g.fabric, g.lids, request).engine);
}

// Unlike the paths of the load line: what the fullest channel carries counts for its speed.
TEST(Auto, NamesTheUnitOfLoadsWhereSpeedsDiffer) {
  const Generated g = generated("torus:dims=4.4,hosts=2,speed=NDR");
  const RoutingRequest request{.options = {.auto_vls = 4}, .max_vls = 8};
  EXPECT_THAT(compute("auto", g.fabric, g.lids, request).notes,
              Contains(HasSubstr(" paths on the fullest channel (")))
      << "all are alike";

  Fabric mixed = g.fabric;
  const PortIdx slow = find_channels(mixed).front();
  for (const PortIdx end : {slow, mixed.peer[slow]}) mixed.port_info[end].link_width_active = 1;
  const RoutingTables tables = compute("auto", mixed, g.lids, request);
  const auto taken = std::ranges::find(tables.candidates, true, &EngineCandidate::taken);
  const LoadReport load = measure_load(mixed, g.lids, tables.lft);
  ASSERT_TRUE(taken->measured);
  ASSERT_TRUE(load.mixed_speeds);
  ASSERT_DOUBLE_EQ(taken->fullest, load.fullest);
  EXPECT_THAT(
      tables.notes,
      Contains(testing::AllOf(
          StartsWith("auto: " + taken->engine + ": worth "),
          HasSubstr(fmt::format(", {:.2f} paths per Gb/s on the channel that is fullest for "
                                "its speed (",
                                load.per_gbps())))));
}

// The SLs of path records are all that its lanes hang on: also where nobody named nue.
TEST(Auto, SaysWhatNueSaysOfItsSls) {
  const Generated g = irregular(16, 1, 1);
  const RoutingTables tables = compute("auto", g.fabric, g.lids);
  ASSERT_EQ(tables.engine, "nue");
  ASSERT_GT(tables.vls, 1u);
  EXPECT_THAT(tables.notes, Contains(StartsWith("the two directions of a path may have ")));
}

TEST(Auto, KeepsItsDirectionsOverAChange) {
  const Generated g = generated("torus:dims=8.8,hosts=2");
  const RoutingTables before = compute_safely(g);
  const PreviousRoutes in_force{&g.fabric, &g.lids, &before};
  const RoutingTables after = compute("auto",
                                      g.fabric,
                                      g.lids,
                                      {.options = {.auto_vls = 1},
                                       .previous = &before.orientation,
                                       .in_force = &in_force,
                                       .max_vls = 8});
  EXPECT_EQ(after.lft, before.lft);
  EXPECT_EQ(after.orientation, before.orientation);
  EXPECT_EQ(after.candidates, before.candidates);
}

TEST(Auto, AFewVlsAreForWhoCanDoWithThem) {
  const Generated g = generated("torus:dims=8.8,hosts=2");
  const RoutingTables tables =
      compute("auto", g.fabric, g.lids, {.options = {.auto_vls = 2}, .max_vls = 8});
  EXPECT_EQ(candidate_of(tables, "dor").vls, 2u);
  EXPECT_LE(candidate_of(tables, "nue").vls, 2u);
  EXPECT_THAT(candidate_of(tables, "dfsssp").refused, HasSubstr("2 data VLs may be used"));
  EXPECT_LE(tables.vls, 2u);
}

TEST(Auto, LeavesAnEngineInForceThatNeedsMoreVlsThanItMayUse) {
  const Generated g = generated("torus:dims=8.8");
  const RoutingTables before = compute("dor", g.fabric, g.lids);
  const PreviousRoutes in_force{&g.fabric, &g.lids, &before};
  const auto after = [&](unsigned vls) {
    return compute("auto",
                   g.fabric,
                   g.lids,
                   {.options = {.auto_vls = vls}, .in_force = &in_force, .max_vls = 8});
  };
  EXPECT_EQ(after(2).engine, "dor");
  EXPECT_EQ(after(1).engine, "updn");
  EXPECT_THAT(after(1).notes[0], HasSubstr("; dor: "));
}

TEST(Auto, TakesTheEngineWhoseRoutesWereFound) {
  const Generated g = generated("torus:dims=6.6,hosts=2");
  const auto take = [&](const ForwardingTables& found, unsigned vls) {
    return compute(
        "auto", g.fabric, g.lids, {.options = {.auto_vls = vls}, .max_vls = 8, .found = &found});
  };
  const auto share = [](const std::string& engine) {
    return fmt::format("auto: {}: 100.0 % of its entries are in force; not weighed", engine);
  };
  const ForwardingTables other = compute("minhop", g.fabric, g.lids).lft;
  for (const std::string engine : {"updn", "dor", "nue", "itb-vl"}) {
    const unsigned vls = engine == "updn" ? 1 : 8;
    ForwardingTables found = compute(engine, g.fabric, g.lids, {.max_vls = 8}).lft;
    EXPECT_EQ(take(found, vls).engine, engine);
    EXPECT_THAT(take(found, vls).notes, Contains(share(engine)));
    // A third is as somebody else had it.
    for (unsigned lid = 1; lid <= found.top().value(); lid += 3) {
      for (std::uint32_t sw = 0; sw < found.switches(); ++sw) {
        const Lid of{static_cast<std::uint16_t>(lid)};
        found.set_route(SwitchIdx{sw}, of, other.route(SwitchIdx{sw}, of));
      }
    }
    const RoutingTables taken = take(found, vls);
    EXPECT_EQ(taken.engine, engine);
    EXPECT_EQ(taken.notes[0],
              fmt::format("auto: {}, whose routes are most like those in force", engine));
  }
  const RoutingTables best = compute_safely(g);
  ASSERT_EQ(best.notes[0], "auto: updn depth-first, worth most here");
  EXPECT_EQ(take(best.lft, 1).orientation, best.orientation);
  EXPECT_THAT(take(best.lft, 1).notes, Contains(share("updn depth-first")));
  EXPECT_EQ(take(ForwardingTables(g.fabric.switch_count(), g.lids.top), 1).lft, best.lft)
      << "empty";
  EXPECT_EQ(take(ForwardingTables(3, g.lids.top), 1).lft, best.lft) << "of another fabric";
}

RC_GTEST_PROP(Auto, ServesEveryFabric, ()) {
  const Fabric f = fabric_from(*random_fabric_text());
  const LidMap lids = lids_in_order(f, *rc::gen::inRange<std::uint8_t>(0, 3));
  const unsigned vls = *rc::gen::inRange(1u, 5u);
  const auto tables = find_engine("auto")->compute(
      f, lids, {.options = {.auto_vls = vls}, .max_vls = *rc::gen::inRange(1u, 5u)});
  RC_ASSERT(tables.has_value());
  RC_ASSERT(tables->vls <= vls);
  const RouteReport report = check_routes(f, lids, *tables);
  RC_ASSERT(report.first_faults == std::vector<std::string>{});
  RC_ASSERT(report.ok());
  RC_TAG(tables->engine);
}

}  // namespace auto_test
}  // namespace smd::test
