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
  ASSERT_TRUE(site.run_until([&] { return site.runtime.computing(); }, 10s));
  const std::shared_ptr<const ActiveSubnet> judged = site.manager.active().current();
  const std::uint64_t version = site.manager.active().version();
  const std::uint32_t named =
      site.sim_node(site.snapshot().node_guid[site.snapshot().switch_node[SwitchIdx{0}]]);
  const Guid guid = site.fabric.spec().nodes[named].guid;
  const std::string before = description_of(site.manager, guid);

  site.fabric.set_description(named, "another name");
  EXPECT_TRUE(
      site.run_until([&] { return description_of(site.manager, guid) == "another name"; }, 1s));
  EXPECT_TRUE(site.runtime.computing()) << "all of it while the job ran";
  EXPECT_GT(site.manager.active().version(), version);
  EXPECT_EQ(judged->fabric().description[*judged->fabric().find_node(guid)], before);
  EXPECT_TRUE(site.manager.active().current()->has_routes_of(*judged)) << "nothing was copied";

  site.run_for(kLongJob);
  EXPECT_FALSE(site.runtime.computing());
  EXPECT_EQ(site.manager.multicast().stats().acyclic, true);
}

TEST(Threads, AManagerThatGoesLeavesItsJobBehind) {
  std::shared_ptr<const ActiveSubnet> kept;
  {
    SimulatedSubnet subnet(spec_of("fat-tree:k=4,levels=2"));
    ASSERT_TRUE(subnet.bring_up());
    kept = subnet.manager.active().current();
    subnet.runtime.use_thread(kLongJob, 1);
    subnet.manager.request_sweep("test");
    ASSERT_TRUE(subnet.run_until([&] { return subnet.runtime.computing(); }, 10s));
  }
  EXPECT_EQ(check_invariants(kept->fabric()), "");
}

class ThreadedChanges : public testing::TestWithParam<std::uint64_t> {};

// Cables, switches and names change while routes, plans and statistics are computed.
TEST_P(ThreadedChanges, AreTakenInWhileJobsRun) {
  SimulatedSubnet subnet(spec_of("fat-tree:k=4,levels=3"), {.seed = GetParam()});
  subnet.runtime.use_thread(100ms, GetParam());
  ASSERT_TRUE(subnet.bring_up());
  Rng rng(GetParam());
  const std::vector<Cable> cables = cables_between_switches(subnet.fabric.spec());
  for (int change = 0; change < 30; ++change) {
    const Cable& cable = cables[rng.below(cables.size())];
    switch (rng.below(4)) {
      case 0:
        subnet.fabric.set_description(cable.node, fmt::format("name {}", change));
        break;
      case 1:
        subnet.fabric.reboot_node(cable.node, Duration{20ms});
        break;
      default:
        subnet.fabric.set_link(
            cable.node, cable.port, !subnet.fabric.link_up(cable.node, cable.port));
    }
    subnet.run_for(std::chrono::milliseconds(rng.below(400)));
  }
  for (const Cable& cable : cables) subnet.fabric.set_link(cable.node, cable.port, true);
  subnet.run_for(90s);
  EXPECT_TRUE(subnet.manager.at_rest());
  ASSERT_TRUE(subnet.manager.last_cycle()->up());
  EXPECT_EQ(find_inactive_port(subnet), "");
  EXPECT_EQ(find_broken_route(subnet), "");
}

INSTANTIATE_TEST_SUITE_P(Seeds, ThreadedChanges, testing::Values(1u, 2u, 3u));

/// The whole of what a daemon has on one device.
TEST(Threads, AllReadersOfTheActiveSubnetBesideTheWorker) {
  TimedFabric on(spec_of("fat-tree:k=4,levels=2"));
  sim::SimRuntime& runtime = on.runtime;
  sim::SimFabric& fabric = on.fabric;
  runtime.use_thread(200ms, 1);
  sim::SimTransport transport(fabric, fabric.spec().sm_node, fabric.spec().sm_port);
  Settings settings = default_settings();
  settings.congestion.enabled = true;
  settings.sweep_interval = 10s;
  StateStore store;
  Session session(runtime, transport, settings, {}, store, {});
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
               session.manager().last_cycle() != nullptr && session.manager().last_cycle()->up() &&
               session.manager().last_cycle()->counts.links == 16 && !runtime.computing();
      },
      runtime.now() + Duration{600s}));
  EXPECT_TRUE(session.manager().last_cycle()->up());
  EXPECT_EQ(session.congestion().count(CcAgentStatus::Managed), 14u);
}

}  // namespace
}  // namespace smd::test
