// docs/claims.md speaks of claims that there are, each once and with a reason. Whether its figures
// are those of full runs: full_experiments_test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "sim-backend/experiments/registry.h"
#include "tests/support/claims_page.h"

namespace smd::sim {
namespace {

TEST(ClaimsPage, NamesClaimsThatThereAreOnceAndWithAReason) {
  const auto rows = test::read_claims_page();
  ASSERT_FALSE(rows.empty());
  std::set<std::pair<std::string, std::string>> seen;
  for (const test::DocumentedClaim& row : rows) {
    SCOPED_TRACE(row.line);
    const Experiment* experiment = find_experiment(row.experiment);
    ASSERT_NE(experiment, nullptr) << row.experiment;
    const auto claim = std::ranges::find(experiment->claims, row.claim, &ClaimSpec::id);
    ASSERT_NE(claim, experiment->claims.end()) << row.claim;
    EXPECT_FALSE(claim->must_hold);
    EXPECT_TRUE(seen.emplace(row.experiment, row.claim).second) << row.claim << " twice";
    EXPECT_FALSE(row.measured.empty() || row.expected.empty() || row.why.empty());
  }
}

}  // namespace
}  // namespace smd::sim
