// Ratios of systems over topologies and sizes, with values that are known in place of runs.
#include <gtest/gtest.h>

#include <cmath>

#include "sim-backend/experiments/multicast/multicast_loads.h"
#include "sim-backend/experiments/registry.h"
#include "sim-backend/experiments/wormhole/worm_loads.h"

namespace smd::sim {
namespace ratio_table_test {

/// A carries 3 and 5 times what B does on the two topologies of 8 switches, twice on those of 16; C
/// 2 and 3 times, whatever the topology.
Result<double> carried(const WormRun& run, const MessageCount&) {
  const bool large = run.fabric.find("switches=16,") != std::string::npos;
  const bool second = run.fabric.ends_with("seed=2");
  if (run.system == "B") return second ? 0.2 : 0.1;
  if (run.system == "C") return (large ? 3 : 2) * (second ? 0.2 : 0.1);
  return large ? (second ? 0.4 : 0.2) : (second ? 1.0 : 0.3);
}

RatioRuns runs() {
  return {.rows = {{"A", "A", "B", {{8, 3.5, 3, 3.75}, {16, 2, 1, 3}}},
                   {"C", "C", "B", {{8, 2, 1, 3}, {16, 3, 1, 4}}}},
          .shapes = {{"falls", {"A", "C"}, true}, {"least", {"A", "C"}}},
          .length = {},
          .topologies = 2,
          .sizes = {8, 16, 32},
          .measure = carried};
}

TEST(RatioTable, MeansAreHeldAgainstThePublishedRange) {
  Findings out;
  const auto measured = measure_ratios(runs(), out);
  ASSERT_TRUE(measured);
  ASSERT_EQ(measured->size(), 4u);
  EXPECT_EQ((*measured)[0].id, "A");
  EXPECT_EQ((*measured)[0].text,
            "0.25 outside where farthest; ours (published): 4.00 (3.50), 2.00 (2.00)");
  EXPECT_NEAR((*measured)[0].values.most(), 0.25, 1e-9);
  EXPECT_NEAR((*measured)[1].values.most(), 0, 1e-9);
  EXPECT_EQ(out.rows.size(), 4u) << "32 switches are published for none";
}

TEST(RatioTable, ShapesAreOfTheMeans) {
  Findings out;
  const auto measured = measure_ratios(runs(), out);
  ASSERT_TRUE(measured);
  const Measured& falls = (*measured)[2];
  EXPECT_EQ(falls.id, "falls");
  EXPECT_NEAR(falls.values.least(), 2.0 / 4, 1e-9);
  EXPECT_NEAR(falls.values.most(), 3.0 / 2, 1e-9);
  const Measured& all = (*measured)[3];
  EXPECT_NEAR(all.values.least(), 2, 1e-9);
  EXPECT_NEAR(all.values.most(), 4, 1e-9);
}

// Lanes that gain on local traffic what they lose on uniform traffic gain more there, not less.
TEST(RatioTable, NothingIsAShareOfALoss) {
  const Experiment* experiment = find_experiment("000-infiniband");
  ASSERT_NE(experiment, nullptr);
  const auto holds = [&](double local, double uniform) {
    const Measured measured("L5", Range(share_of_gain(local, uniform)));
    return decide(experiment->claims, {measured})[0].holds;
  };
  EXPECT_TRUE(holds(1.1, 1.3));
  EXPECT_FALSE(holds(1.2, 1.3));
  EXPECT_FALSE(holds(1.2, 0.95));
  EXPECT_FALSE(holds(0.9, 0.95));
  EXPECT_FALSE(holds(1.0, 1.0));
}

// Ten for each of the pairs of 32 hosts, where sources remember; else as many as for all.
TEST(RatioTable, AWarmUpIsLongerWhereSourcesRemember) {
  const auto fabric = load_fabric(irregular_fabric(8, 1));
  ASSERT_TRUE(fabric);
  const MessageCount length{.warm_up = 2000, .measured = 1};
  for (const char* system : {"DET", "UD_ITB_DET1", "UD_ITB_DET2"}) {
    EXPECT_EQ(count_warm_up(find_worm_system(system), *fabric, length), 10u * 32 * 31) << system;
  }
  for (const char* system : {"UD", "RSUD", "RRSUD", "UD_ITB_50"}) {
    EXPECT_EQ(count_warm_up(find_worm_system(system), *fabric, length), 2000u) << system;
  }
  EXPECT_EQ(count_warm_up(find_worm_system("DET"), *fabric, {.warm_up = 20'000}), 20'000u);
}

TEST(RatioTable, AShapeIsOfTheSizesThatWereRun) {
  RatioRuns few = runs();
  few.sizes = {16};
  Findings out;
  const auto measured = measure_ratios(few, out);
  ASSERT_TRUE(measured);
  EXPECT_NEAR((*measured)[2].values.most(), 1, 1e-9);
}

TEST(MulticastPoints, AreMeansOfTheSeeds) {
  const MulticastPoint points[] = {{.load = 0.5, .accepted = 0.4, .last = 10, .blocked = 1},
                                   {.load = 0.5, .accepted = 0.2, .last = 40, .blocked = 3}};
  const MulticastPoint mean = mean_of(points);
  EXPECT_EQ(mean.load, 0.5);
  EXPECT_NEAR(mean.accepted, 0.3, 1e-12);
  EXPECT_EQ(mean.last, 25);
  EXPECT_EQ(mean.blocked, 2);
  EXPECT_FALSE(mean.deadlocked);
  const MulticastPoint locked[] = {points[0], {.deadlocked = true}};
  EXPECT_TRUE(mean_of(locked).deadlocked);
}

TEST(MulticastPoints, AreOfAllSeedsAtEveryPlace) {
  const MessageCount length{.warm_up = 200, .measured = 500};
  const MulticastRun lists{.algorithm = "dual-path", .fabric = mesh_fabric(4), .destinations = 4};
  MulticastRun trees = lists;
  trees.algorithm = "multi-path";
  const auto means = run_means({{lists, 0.02}, {trees, 0.03}}, 3, length, 2);
  ASSERT_TRUE(means);
  ASSERT_EQ(means->size(), 2u);
  const auto prepared = prepare_multicast(trees, length);
  ASSERT_TRUE(prepared);
  double sum = 0, first = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const auto point = run_at(*prepared, 0.03, seed);
    ASSERT_TRUE(point);
    if (seed == 1) first = point->last;
    sum += point->last;
  }
  EXPECT_NEAR((*means)[1].last, sum / 3, 1e-9);
  EXPECT_GT(std::abs((*means)[1].last - first), 1e-3);
}

}  // namespace ratio_table_test
}  // namespace smd::sim
