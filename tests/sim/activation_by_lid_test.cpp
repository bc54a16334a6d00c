// Activation by LID: where the agent is known to have its LID and its routes, and nowhere else.
#include <gtest/gtest.h>

#include "tests/support/subnet_oracles.h"

namespace smd::test {
namespace {

class ActivationByLid : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(ActivationByLid, NothingWaitsInVainWhenASwitchComesBack) {
  const auto& [mode, fabric] = GetParam();
  SimulatedSubnetOptions options;
  options.settings.strategy = make_strategy(parse_reconfiguration_mode(mode).value());
  SimulatedSubnet subnet(spec_of(fabric), options);
  ASSERT_TRUE(subnet.bring_up());
  EXPECT_EQ(subnet.manager.smp_stats().timeouts, 0u) << "bring-up";
  const sim::FabricSpec& spec = subnet.fabric.spec();
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    if (spec.nodes[n].type != NodeType::Switch) continue;
    if (n == spec.sm_node || spec.nodes[spec.sm_node].ports[1].peer_node == n) continue;
    subnet.fabric.set_node(n, false);
    ASSERT_TRUE(subnet.settle());
    const std::uint64_t before = subnet.manager.smp_stats().timeouts;
    subnet.fabric.set_node(n, true);
    ASSERT_TRUE(subnet.settle());
    ASSERT_TRUE(subnet.settle_up());
    EXPECT_EQ(subnet.manager.smp_stats().timeouts, before) << spec.nodes[n].description;
  }
  EXPECT_EQ(find_inactive_port(subnet), "");
  EXPECT_EQ(find_broken_route(subnet), "");
}

INSTANTIATE_TEST_SUITE_P(
    Modes,
    ActivationByLid,
    testing::Combine(testing::Values("certified+lid-routed",
                                     "full+engine+proved+whole+lid-routed",
                                     "improved+lid-routed",
                                     "partial+fera+cut-ports+delta+lid-routed",
                                     "full+pira+deactivate-all+delta+lid-routed"),
                     testing::Values("example:name=fig76", "fat-tree:k=4,levels=3")),
    [](const auto& row) {
      std::string name = std::string(std::get<0>(row.param)) + "_" + std::get<1>(row.param);
      std::ranges::replace_if(
          name, [](char c) { return std::isalnum(c) == 0; }, '_');
      return name;
    });

}  // namespace
}  // namespace smd::test
