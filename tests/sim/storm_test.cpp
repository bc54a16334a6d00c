// A hundred cables flap for a minute, then all is quiet.
#include <gtest/gtest.h>

#include "smd/base/rng.h"
#include "tests/support/oracle_watch.h"

namespace smd::test {
namespace {

struct Cable {
  std::uint32_t node;
  PortNum port;
};

std::vector<Cable> switch_cables(const sim::FabricSpec& spec) {
  std::vector<Cable> out;
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    if (spec.nodes[n].type != NodeType::Switch) continue;
    for (unsigned p = 1; p <= spec.nodes[n].num_ports(); ++p) {
      const std::uint32_t peer = spec.nodes[n].ports[p].peer_node;
      if (peer != sim::kNoNode && peer > n && spec.nodes[peer].type == NodeType::Switch)
        out.push_back({n, PortNum{static_cast<std::uint8_t>(p)}});
    }
  }
  return out;
}

class Storm : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Storm, AHundredFlappingCablesLeaveAFabricThatWorks) {
  WorldOptions options{.seed = GetParam()};
  options.settings.sweep_interval = std::chrono::seconds(10);
  World world(spec_of("fat-tree:k=8,levels=3"), std::move(options));
  world.manager.start();
  ASSERT_TRUE(world.settle_up());
  OracleWatch watch(world);

  std::vector<Cable> cables = switch_cables(world.fabric.spec());
  Rng rng(GetParam());
  while (cables.size() > 100) cables.erase(cables.begin() + rng.below(cables.size()));
  std::size_t flaps = 0;
  const TimePoint end = world.runtime.now() + std::chrono::minutes(1);
  while (world.runtime.now() < end) {
    const Cable& cable = cables[rng.below(cables.size())];
    ++flaps;
    world.fabric.set_link(cable.node, cable.port, !world.fabric.link_up(cable.node, cable.port));
    world.run_for(std::chrono::milliseconds(5 + rng.below(60)));
  }
  for (const Cable& cable : cables) world.fabric.set_link(cable.node, cable.port, true);

  world.run_for(std::chrono::seconds(90));
  EXPECT_TRUE(world.manager.at_rest());
  EXPECT_TRUE(world.manager.last_cycle()->up());
  EXPECT_EQ(watch.never_allowed(), "");
  EXPECT_EQ(watch.present_loop(), "");
  EXPECT_TRUE(watch.connected());
  EXPECT_EQ(find_inactive_port(world), "");
  EXPECT_EQ(find_broken_route(world), "");
  // Changes were taken in together, not one cycle each.
  EXPECT_LT(world.reports.size(), flaps);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Storm, testing::Values(1u, 2u, 3u));

}  // namespace
}  // namespace smd::test
