// Passes over all trees, which even routes from scratch on large networks.
#include <gtest/gtest.h>

#include "smd/routing/verify/channel_load.h"
#include "smd/routing/verify/check_routes.h"
#include "tests/unit/routing/support/generated.h"

namespace smd::test {
namespace rebalance_test {

// 2,048 hosts; a path of a ring of eight is two hops long on the mean, so each of the 512 x 6
// channels carries 2,048 x 2,048 x 6 / (512 x 6) paths where all carry as many. What is within a
// thirty-second of that is even enough. One channel after the other does not get there within the
// steps that evening may take: 9,144.
TEST(Rebalance, PassesEvenALargeTorus) {
  const Generated g = generated("torus:dims=8.8.8,hosts=4");
  const RoutingTables tables = compute("minhop", g.fabric, g.lids);
  constexpr std::uint64_t kEach = 8192;
  EXPECT_LE(measure_load(g.fabric, g.lids, tables.lft).max, kEach + kEach / 32);
  const RouteReport report = check_routes(g.fabric, g.lids, tables.lft);
  EXPECT_EQ(report.minimal, report.pairs);
}

TEST(Rebalance, PassesKeepUpDownRoutesFreeOfCycles) {
  const Generated g = generated("torus:dims=16.16,hosts=1");
  const RoutingTables tables = compute("updn", g.fabric, g.lids);
  EXPECT_TRUE(check_routes(g.fabric, g.lids, tables.lft).ok());
  EXPECT_EQ(compute("updn", g.fabric, g.lids).lft, tables.lft);
}

}  // namespace rebalance_test
}  // namespace smd::test
