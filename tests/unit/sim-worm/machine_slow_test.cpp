// machine_test.cpp on 10,000 cases.
#include <gtest/gtest.h>

#include "tests/unit/sim-worm/random_cases.h"

namespace smd::sim::test {
namespace {

TEST(WormMachineSlow, AgreesOnTenThousandRandomCases) {
  for (std::uint64_t seed = 10'001; seed <= 20'000; ++seed) {
    const std::string why = compare(seed);
    ASSERT_EQ(why, "") << "seed " << seed;
  }
}

TEST(WormMachineSlow, AgreesOnTenThousandRandomCasesWithFaults) {
  for (std::uint64_t seed = 10'001; seed <= 20'000; ++seed) {
    const std::string why = compare(seed, CaseKind::Faults);
    ASSERT_EQ(why, "") << "seed " << seed;
  }
}

TEST(WormMachineSlow, AgreesOnTenThousandRandomCasesWithChoices) {
  for (std::uint64_t seed = 10'001; seed <= 20'000; ++seed) {
    const std::string why = compare(seed, CaseKind::Choices);
    ASSERT_EQ(why, "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace smd::sim::test
