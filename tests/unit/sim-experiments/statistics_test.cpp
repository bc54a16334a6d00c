// Means, deviations and growth against values worked out by hand; the charge of computing against
// the published points.
#include "sim-backend/lab/statistics.h"

#include <gtest/gtest.h>

#include <atomic>

#include "sim-backend/experiments/change/compute_model.h"
#include "sim-backend/experiments/registry.h"
#include "sim-backend/lab/claim.h"
#include "sim-backend/lab/parallel.h"

namespace smd::sim {
namespace statistics_test {

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
  Range ratio;
  for (const double value : {1.05, 0.8, 1.1}) ratio.add(value);
  constexpr ClaimSpec kClaims[] = {
      {.id = "near", .measured = kFitsWorst, .expected = "0.79 to 1.21 times"},
      {.id = "nearer", .measured = kFitsWorst, .expected = "within 19 % of the published"}};
  const auto decided = decide(kClaims, {{"near", ratio}, {"nearer", ratio}});
  EXPECT_EQ(decided[0].measured, "0.800 times the published where it fits worst");
  EXPECT_TRUE(decided[0].holds);
  EXPECT_FALSE(decided[1].holds);
  ratio.add(1.3);
  EXPECT_EQ(ratio.farthest(), 1.3);
}

TEST(Range, HasTheEndsOfWhatIsANumber) {
  Range range;
  EXPECT_TRUE(range.empty());
  EXPECT_EQ(range.most(), 0);
  for (const double value : {std::nan(""), 3.0, -1.0, 2.0}) range.add_known(value);
  EXPECT_EQ(range.least(), -1);
  EXPECT_EQ(range.most(), 3);
  EXPECT_FALSE(range.has_other());
  range.add(std::nan(""));
  EXPECT_EQ(range.least(), -1);
  EXPECT_EQ(range.most(), 3);
  EXPECT_TRUE(range.has_other());
}

// A run that delivered nothing where nothing was expected: 0 of 0.
TEST(Claim, HoldsOfNothingThatIsNoNumber) {
  constexpr ClaimSpec kClaims[] = {
      {.id = "share", .measured = "{least:.1f} to {most:.1f} of it", .expected = "at most 0.5"}};
  for (const bool first : {false, true}) {
    Range range;
    if (first) range.add(0.0 / 0.0);
    range.add(0.2);
    EXPECT_EQ(decide(kClaims, {{"share", range}})[0].holds, !first);
    if (!first) range.add(0.0 / 0.0);
    const Verdict verdict = decide(kClaims, {{"share", range}})[0];
    EXPECT_FALSE(verdict.holds);
    EXPECT_EQ(verdict.measured, "0.2 to 0.2 of it; not all are numbers");
  }
}

TEST(Claim, IsJudgedByTheBoundThatItsTextHas) {
  struct Case {
    const char* text;
    double within, without;
  };

  for (const auto& [text, within, without] : {Case{"0.7 to 1.3 times", 0.7, 1.31},
                                              Case{"0.13 to 0.33, published 0.23", 0.33, 0.34},
                                              Case{"nodes^0.85 to nodes^1.15", 0.85, 1.16},
                                              Case{"at most 0.2", 0.2, 0.21},
                                              Case{"by at most 25 %", 25, 26},
                                              Case{"on average at least 0.85 times", 0.85, 0.84},
                                              Case{"less than 1 from 16 switches on", 0.99, 1},
                                              Case{"below nodes^0.8", 0.79, 0.8},
                                              Case{"more than 0.5", 0.51, 0.5},
                                              Case{"more than 0, at most 15 %", 15, 16},
                                              Case{"more than 0, at most 15 %", 0.1, 0},
                                              Case{"within 15 % of the published", 1.15, 1.16},
                                              Case{"none", 0, 1}}) {
    const auto bound = parse_bound(text);
    ASSERT_TRUE(bound) << text;
    EXPECT_TRUE(bound->holds(within)) << text;
    EXPECT_FALSE(bound->holds(without)) << text;
  }
  for (const char* text : {"", "falling", "rising with the size", "120 and 50"}) {
    EXPECT_FALSE(parse_bound(text)) << text;
  }
}

TEST(Claim, PrintsWhatItJudges) {
  constexpr ClaimSpec kClaims[] = {
      {.id = "share", .measured = "{least:.1f} to {most:.1f} of it", .expected = "at most 0.5"},
      {.id = "words", .expected = "falling"}};
  Range range(0.2);
  range.add(0.6);
  const auto decided = decide(kClaims,
                              {{"share", range},
                               {"share", "half", 0.5},
                               {"share", Range()},
                               {"words", "3, 2, 1", true},
                               {"words", "4", false, "rising"}});
  ASSERT_EQ(decided.size(), 5u);
  EXPECT_EQ(decided[0].measured, "0.2 to 0.6 of it");
  EXPECT_EQ(decided[0].expected, "at most 0.5");
  EXPECT_FALSE(decided[0].holds);
  EXPECT_EQ(decided[1].measured, "half");
  EXPECT_TRUE(decided[1].holds);
  EXPECT_FALSE(decided[2].holds);
  EXPECT_TRUE(decided[3].holds);
  EXPECT_EQ(decided[4].expected, "rising");
  EXPECT_FALSE(decided[4].holds);
}

TEST(Parallel, GroupsAreAddedUpOverSeeds) {
  using Both = std::array<double, 2>;
  const auto groups = collect_groups<std::array<Sample, 2>>(
      2, 3, 4, [](std::size_t group, std::size_t seed) -> Result<Both> {
        return Both{double(group), double(seed)};
      });
  ASSERT_TRUE(groups);
  ASSERT_EQ(groups->size(), 3u);
  EXPECT_EQ((*groups)[2][0].mean(), 2);
  EXPECT_EQ((*groups)[2][1].mean(), 2.5);
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

}  // namespace statistics_test
}  // namespace smd::sim
