// Offloaded work on a real second thread, beside a loop in virtual time: who waits for whom is the
// same in every run, and whatever work and loop both touch without waiting, ThreadSanitizer sees.
#include <gtest/gtest.h>

#include "smd/base/rng.h"
#include "smd/daemon/session.h"
#include "tests/sim/multicast_site.h"
#include "tests/support/cables.h"

namespace smd::test {
namespace {

/// So long that the loop gets through whatever it does meanwhile.
constexpr Duration kLongJob = 60s;

std::string description_of(const SubnetManager& manager, Guid node) {
  const auto& now = manager.active().current();
  if (!now) return {};
  const auto at = now->fabric().find_node(node);
  return at ? now->fabric().description[*at] : std::string();
}

// The snapshot in force learns a name while the credit loops of multicast are looked for on it.
TEST(Threads, WhatIsLearnedMeanwhileIsANewVersion) {
  Site site("fat-tree:k=4,levels=2");
  site.bring_up();
  for (std::size_t host = 0; host < 4; ++host) site.join(host, 0x101);
  ASSERT_TRUE(site.settle());
  site.runtime.use_thread(kLongJob, 1);
  ASSERT_TRUE(site.runtime.run_while_not([&] { return site.runtime.computing(); },
                                         site.runtime.now() + Duration{10s}));
  const std::shared_ptr<const ActiveSubnet> judged = site.manager.active().current();
  const std::uint64_t version = site.manager.active().version();
  const std::uint32_t named =
      site.sim_node(site.snapshot().node_guid[site.snapshot().switch_node[SwitchIdx{0}]]);
  const Guid guid = site.fabric.spec().nodes[named].guid;
  const std::string before = description_of(site.manager, guid);

  site.fabric.set_description(named, "another name");
  EXPECT_TRUE(site.runtime.run_while_not(
      [&] { return description_of(site.manager, guid) == "another name"; },
      site.runtime.now() + Duration{1s}));
  EXPECT_TRUE(site.runtime.computing()) << "all of it while the job ran";
  EXPECT_GT(site.manager.active().version(), version);
  EXPECT_EQ(judged->fabric().description[*judged->fabric().find_node(guid)], before);
  EXPECT_TRUE(site.manager.active().current()->has_routes_of(*judged)) << "nothing was copied";

  site.runtime.run_until(site.runtime.now() + kLongJob);
  EXPECT_FALSE(site.runtime.computing());
  EXPECT_EQ(site.manager.multicast().stats().acyclic, true);
}

TEST(Threads, AManagerThatGoesLeavesItsJobBehind) {
  std::shared_ptr<const ActiveSubnet> kept;
  {
    World world(spec_of("fat-tree:k=4,levels=2"));
    world.manager.start();
    ASSERT_TRUE(world.settle_up());
    kept = world.manager.active().current();
    world.runtime.use_thread(kLongJob, 1);
    world.manager.request_sweep("test");
    ASSERT_TRUE(world.runtime.run_while_not([&] { return world.runtime.computing(); },
                                            world.runtime.now() + Duration{10s}));
  }
  EXPECT_EQ(check_invariants(kept->fabric()), "");
}

class ThreadedChanges : public testing::TestWithParam<std::uint64_t> {};

// Cables, switches and names change while routes, plans and statistics are computed.
TEST_P(ThreadedChanges, AreTakenInWhileJobsRun) {
  World world(spec_of("fat-tree:k=4,levels=3"), {.seed = GetParam()});
  world.runtime.use_thread(100ms, GetParam());
  world.manager.start();
  ASSERT_TRUE(world.settle_up());
  Rng rng(GetParam());
  const std::vector<Cable> cables = cables_between_switches(world.fabric.spec());
  for (int change = 0; change < 30; ++change) {
    const Cable& cable = cables[rng.below(cables.size())];
    switch (rng.below(4)) {
      case 0:
        world.fabric.set_description(cable.node, fmt::format("name {}", change));
        break;
      case 1:
        world.fabric.reboot_node(cable.node, Duration{20ms});
        break;
      default:
        world.fabric.set_link(
            cable.node, cable.port, !world.fabric.link_up(cable.node, cable.port));
    }
    world.run_for(Duration{std::chrono::milliseconds(rng.below(400))});
  }
  for (const Cable& cable : cables) world.fabric.set_link(cable.node, cable.port, true);
  world.run_for(90s);
  EXPECT_TRUE(world.manager.at_rest());
  ASSERT_TRUE(world.manager.last_cycle()->up());
  EXPECT_EQ(find_inactive_port(world), "");
  EXPECT_EQ(find_broken_route(world), "");
}

INSTANTIATE_TEST_SUITE_P(Seeds, ThreadedChanges, testing::Values(1u, 2u, 3u));

/// The whole of what a daemon has on one device.
TEST(Threads, AllReadersOfTheActiveSubnetBesideTheWorker) {
  sim::SimRuntime runtime;
  runtime.use_thread(200ms, 1);
  sim::SimFabric fabric(runtime, spec_of("fat-tree:k=4,levels=2"), sim::Timing::modern(), 1);
  sim::SimTransport transport(fabric, fabric.spec().sm_node, fabric.spec().sm_port);
  Settings settings = WorldOptions::default_settings();
  settings.congestion.enabled = true;
  settings.sweep_interval = 10s;
  Session session(runtime, transport, settings, {}, {}, {}, {.observer = {}, .on_records = [] {}});
  session.start();
  const std::vector<Cable> cables = cables_between_switches(fabric.spec());
  for (unsigned change = 0; change < 12; ++change) {
    runtime.run_until(runtime.now() + Duration{150ms});
    const Cable& cable = cables[change % cables.size()];
    fabric.set_description(cable.node, fmt::format("name {}", change));
    fabric.set_link(cable.node, cable.port, !fabric.link_up(cable.node, cable.port));
  }
  for (const Cable& cable : cables) fabric.set_link(cable.node, cable.port, true);
  ASSERT_TRUE(runtime.run_while_not(
      [&] {
        return session.manager().at_rest() && session.congestion().at_rest() &&
               session.manager().last_cycle() != nullptr &&
               session.manager().last_cycle()->counts.links == 16 && !runtime.computing();
      },
      runtime.now() + Duration{600s}));
  EXPECT_TRUE(session.manager().last_cycle()->up());
  EXPECT_EQ(session.congestion().count(CcAgentStatus::Managed), 14u);
}

}  // namespace
}  // namespace smd::test
