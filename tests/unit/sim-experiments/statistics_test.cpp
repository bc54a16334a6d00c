// Means, deviations and growth against values worked out by hand; the charge of computing against
// the published points.
#include "sim-backend/lab/statistics.h"

#include <gtest/gtest.h>

#include <atomic>

#include "sim-backend/experiments/change/compute_model.h"
#include "sim-backend/experiments/registry.h"
#include "sim-backend/lab/parallel.h"

namespace smd::sim {
namespace {

TEST(Sample, HasTheDeviationOfThePopulation) {
  // Partial discovery of the example, as printed: 18.57 and 4.44.
  Sample sample;
  for (const double value : {26, 18, 19, 23, 13, 13, 18}) sample.add(value);
  EXPECT_NEAR(sample.mean(), 18.571, 0.001);
  EXPECT_NEAR(sample.deviation(), 4.436, 0.001);
  EXPECT_EQ(sample.min(), 13);
  EXPECT_EQ(sample.max(), 26);
  EXPECT_EQ(Sample().mean(), 0);
}

TEST(Growth, IsTheExponentOfThePower) {
  EXPECT_NEAR(growth_exponent({{1, 3}, {2, 12}, {4, 48}}), 2, 1e-12);
  EXPECT_NEAR(growth_exponent({{8, 1}, {16, 0.5}}), -1, 1e-12);
  EXPECT_EQ(growth_exponent({{8, 1}}), 0);
}

TEST(FarthestRatio, IsOnEitherSideOfOne) {
  Farthest ratio;
  for (const double value : {1.05, 0.8, 1.1}) ratio.add(value);
  EXPECT_EQ(ratio.print(), "0.800 times the published where it fits worst");
  EXPECT_TRUE(ratio.within(0.2001));
  EXPECT_FALSE(ratio.within(0.19));
}

TEST(ComputeModel, IsThePublishedCurve) {
  const auto ms = [](Duration time) {
    return std::chrono::duration<double, std::milli>(time).count();
  };
  // 8, 16, 24 and 32 switches; the fit leaves up to a sixth.
  const double fera[] = {30.7, 211.3, 669.3, 2236};
  const double pira[] = {5.7, 47.8, 148.8, 484.7};
  const std::size_t nodes[] = {15, 30, 46, 72};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(ms(kThesisFera.time(nodes[i])) / fera[i], 1, 0.17) << nodes[i];
    EXPECT_NEAR(ms(kThesisPira.time(nodes[i])) / pira[i], 1, 0.17) << nodes[i];
  }
}

TEST(Parallel, EveryRunHappensOnceWhateverTheThreads) {
  for (const unsigned jobs : {0u, 1u, 3u, 64u}) {
    std::vector<std::atomic<int>> runs(17);
    run_all(jobs, runs.size(), [&](std::size_t i) { ++runs[i]; });
    for (const auto& count : runs) EXPECT_EQ(count, 1) << jobs;
  }
}

TEST(Parallel, TheFirstErrorInOrderIsTheOneThatCounts) {
  const auto result = collect<int>(3, 10, [](std::size_t i) -> Result<int> {
    if (i == 4 || i == 7) return fail(Errc::Io, std::to_string(i));
    return static_cast<int>(i);
  });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().context, "4");
  const auto all = collect<int>(2, 5, [](std::size_t i) -> Result<int> { return int(i * i); });
  EXPECT_EQ(*all, (std::vector<int>{0, 1, 4, 9, 16}));
}

TEST(Registry, NamesAreSortedUniqueAndFound) {
  const auto all = experiments();
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(find_experiment(all[i].name), &all[i]);
    EXPECT_FALSE(all[i].claims.empty()) << all[i].name;
    EXPECT_TRUE(i == 0 || all[i - 1].name < all[i].name) << all[i].name;
  }
  EXPECT_EQ(find_experiment("003-nothing"), nullptr);
}

}  // namespace
}  // namespace smd::sim
