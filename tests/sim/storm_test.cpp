// A hundred cables flap for a minute, then all is quiet.
#include <gtest/gtest.h>

#include "smd/base/rng.h"
#include "tests/support/cables.h"
#include "tests/support/oracle_watch.h"

namespace smd::test {
namespace storm_test {

class Storm : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Storm, AHundredFlappingCablesLeaveAFabricThatWorks) {
  SimulatedSubnetOptions options{.seed = GetParam()};
  options.settings.sweep_interval = std::chrono::seconds(10);
  SimulatedSubnet subnet(spec_of("fat-tree:k=8,levels=3"), std::move(options));
  ASSERT_TRUE(subnet.bring_up());
  OracleWatch watch(subnet);

  std::vector<Cable> cables = cables_between_switches(subnet.fabric.spec());
  Rng rng(GetParam());
  while (cables.size() > 100) cables.erase(cables.begin() + rng.below(cables.size()));
  std::size_t flaps = 0;
  const TimePoint end = subnet.runtime.now() + std::chrono::minutes(1);
  while (subnet.runtime.now() < end) {
    const Cable& cable = cables[rng.below(cables.size())];
    ++flaps;
    subnet.fabric.set_link(cable.node, cable.port, !subnet.fabric.link_up(cable.node, cable.port));
    subnet.run_for(std::chrono::milliseconds(5 + rng.below(60)));
  }
  for (const Cable& cable : cables) subnet.fabric.set_link(cable.node, cable.port, true);

  subnet.run_for(std::chrono::seconds(90));
  EXPECT_TRUE(subnet.manager.at_rest());
  EXPECT_TRUE(subnet.manager.last_cycle()->up());
  EXPECT_EQ(watch.never_allowed(), "");
  EXPECT_EQ(watch.present_loop(), "");
  EXPECT_TRUE(watch.connected());
  EXPECT_EQ(find_inactive_port(subnet), "");
  EXPECT_EQ(find_broken_route(subnet), "");
  // Changes were taken in together, not one cycle each.
  EXPECT_LT(subnet.reports.size(), flaps);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Storm, testing::Values(1u, 2u, 3u));

}  // namespace storm_test
}  // namespace smd::test
