// Streams of flits against the machine that moves every flit: every delivery in the same cycle,
// every channel as long busy and blocked, the same worms stuck.
#include <gtest/gtest.h>

#include "tests/unit/sim-worm/random_cases.h"

namespace smd::sim::test {
namespace {

TEST(WormMachine, AgreesOnRandomCases) {
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    const std::string why = compare(seed);
    ASSERT_EQ(why, "") << "seed " << seed;
  }
}

TEST(WormMachine, AgreesOnRandomCasesWithFaults) {
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    const std::string why = compare(seed, CaseKind::Faults);
    ASSERT_EQ(why, "") << "seed " << seed;
  }
}

TEST(WormMachine, AgreesOnRandomCasesWithChoices) {
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    const std::string why = compare(seed, CaseKind::Choices);
    ASSERT_EQ(why, "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace smd::sim::test
