// Every way of taking in a change ends in the same place: everything reachable, confirmed as
// wanted, no credit loop left behind. The proved way never passes through one either.
#include <gtest/gtest.h>

#include <set>

#include "smd/subnet/cycle_report.h"
#include "tests/support/cables.h"
#include "tests/support/oracle_watch.h"

namespace smd::test {
namespace {

SimulatedSubnetOptions with_mode(const std::string& mode, const std::string& engine = "updn") {
  SimulatedSubnetOptions out;
  out.settings.strategy = make_strategy(parse_reconfiguration_mode(mode).value());
  out.settings.engine = engine;
  out.settings.sweep_interval = std::chrono::seconds(10);
  return out;
}

class EveryMode : public testing::TestWithParam<std::tuple<const char*, const char*>> {
 protected:
  void expect_healthy(SimulatedSubnet& subnet, const char* when) {
    EXPECT_TRUE(subnet.manager.last_cycle()->up()) << when;
    EXPECT_EQ(find_inactive_port(subnet), "") << when;
    EXPECT_EQ(find_broken_route(subnet), "") << when;
  }
};

TEST_P(EveryMode, ACableAndASwitchGoAndComeBack) {
  const auto& [mode, fabric] = GetParam();
  SimulatedSubnet subnet(spec_of(fabric), with_mode(mode));
  ASSERT_TRUE(subnet.bring_up());
  const LidBook before = subnet.kept().lids;
  OracleWatch watch(subnet);

  const Cable cable = cables_between_switches(subnet.fabric.spec()).at(2);
  subnet.fabric.set_link(cable.node, cable.port, false);
  ASSERT_TRUE(subnet.settle());
  expect_healthy(subnet, "cable down");
  subnet.fabric.set_link(cable.node, cable.port, true);
  ASSERT_TRUE(subnet.settle());
  expect_healthy(subnet, "cable up");

  const std::uint32_t victim =
      subnet.fabric.spec().nodes[cable.node].ports[cable.port.value()].peer_node;
  subnet.fabric.set_node(victim, false);
  ASSERT_TRUE(subnet.settle());
  EXPECT_EQ(find_broken_route(subnet), "") << "switch down";
  subnet.fabric.set_node(victim, true);
  ASSERT_TRUE(subnet.settle());
  ASSERT_TRUE(subnet.settle_up());
  expect_healthy(subnet, "switch up");

  EXPECT_EQ(watch.present_loop(), "");
  EXPECT_TRUE(watch.connected());
  EXPECT_EQ(watch.timeline().now().find_cycle(), "");
  // What is done without proof or pause may pass through a credit loop; nothing else may.
  const ReconfigurationMode how = parse_reconfiguration_mode(mode).value();
  if (how.safety != Deactivation::None) {
    EXPECT_FALSE(watch.timeline().first_cycle()) << watch.never_allowed();
  }
  // The thesis numbers LIDs anew while it discovers, so some are held twice for a moment.
  const bool renumbers = how.literal && how.discovery == ReconfigurationMode::Discovery::Full;
  if (!renumbers) {
    EXPECT_FALSE(watch.timeline().first_shared_lid()) << watch.never_allowed();
  }
  if (!how.literal) {
    EXPECT_EQ(subnet.kept().lids, before);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Modes,
    EveryMode,
    testing::Combine(
        testing::Values("certified",
                        "basic",
                        "improved",
                        "improved+delta",
                        "full+fera+cut-ports+whole",
                        "partial+fera+cut-ports+delta",
                        "partial+pira+cut-dependencies+delta",
                        "partial+pira-fera+proved+delta",
                        "full+pira+deactivate-all+delta+lid-routed",
                        "partial+fera+none+delta",
                        "full+engine+proved+whole+lid-routed"),
        testing::Values("example:name=fig76", "fat-tree:k=4,levels=3", "torus:dims=4.4")),
    [](const auto& row) {
      std::string name = std::string(std::get<0>(row.param)) + "_" + std::get<1>(row.param);
      std::ranges::replace_if(
          name, [](char c) { return std::isalnum(c) == 0; }, '_');
      return name;
    });

/// In the default mode one cable costs what it touches.
TEST(Certified, ACableDownAsksOnlyItsTwoSwitches) {
  SimulatedSubnet subnet(spec_of("fat-tree:k=8,levels=3"), with_mode("certified"));
  ASSERT_TRUE(subnet.bring_up());
  subnet.reports.clear();
  OracleWatch watch(subnet);
  const Cable cable = cables_between_switches(subnet.fabric.spec()).at(5);
  subnet.fabric.set_link(cable.node, cable.port, false);
  ASSERT_TRUE(subnet.settle());
  ASSERT_EQ(subnet.reports.size(), 1u);
  const CycleReport& cycle = subnet.reports.front();
  EXPECT_TRUE(cycle.partial) << cycle.full_why;
  EXPECT_EQ(cycle.transition.kind, TransitionKind::Certified) << cycle.transition.why;
  EXPECT_TRUE(cycle.transition.certified);
  // The manager's own port; of two switches NodeInfo, SwitchInfo, read and cleared, the states of
  // all ports, and the port that changed.
  EXPECT_EQ(cycle.discovery.smps, 1 + 2u * (3 + 1 + 1));
  EXPECT_EQ(cycle.configure.smps + cycle.activate.smps, 0u);
  EXPECT_EQ(cycle.tables.smps, cycle.blocks_written);
  EXPECT_EQ(watch.never_allowed(), "");
  EXPECT_EQ(watch.passing_loop(), "");
  EXPECT_EQ(find_broken_route(subnet), "");
}

TEST(Certified, AHostThatReturnsTouchesItsPortsAndNoRoutes) {
  SimulatedSubnet subnet(spec_of("fat-tree:k=8,levels=3"), with_mode("certified"));
  ASSERT_TRUE(subnet.bring_up());
  const std::uint32_t host = subnet.node("host-00012");
  subnet.fabric.set_link(host, PortNum{1}, false);
  ASSERT_TRUE(subnet.settle());
  subnet.reports.clear();
  subnet.fabric.set_link(host, PortNum{1}, true);
  ASSERT_TRUE(subnet.settle());
  const CycleReport sum = sum_cycles(subnet.reports);
  EXPECT_TRUE(sum.partial) << sum.full_why;
  EXPECT_TRUE(sum.up());
  EXPECT_EQ(find_broken_route(subnet), "");
  // The manager's own port; its switch's NodeInfo, SwitchInfo, read and cleared, the states of all
  // ports, and the port that changed; NodeInfo and PortInfo of the host.
  EXPECT_EQ(sum.discovery.smps, 1u + 3 + 1 + 1 + 2);
}

TEST(Certified, AFlapBetweenTwoLooksIsTakenIn) {
  SimulatedSubnet subnet(spec_of("fat-tree:k=4,levels=3"), with_mode("certified"));
  ASSERT_TRUE(subnet.bring_up());
  const Cable cable = cables_between_switches(subnet.fabric.spec()).at(3);
  subnet.fabric.set_link(cable.node, cable.port, false);
  subnet.fabric.set_link(cable.node, cable.port, true);  // back before anybody looked
  ASSERT_TRUE(subnet.settle());
  ASSERT_TRUE(subnet.settle_up());
  EXPECT_EQ(find_inactive_port(subnet), "");
  EXPECT_EQ(find_broken_route(subnet), "");
}

TEST(Certified, ARestartedManagerWritesNothing) {
  TimedFabric on(spec_of("torus:dims=4.4"));
  SimulatedSubnetOptions options = with_mode("certified");
  for (int life = 0; life < 2; ++life) {
    SimulatedManager subnet(on, options);
    const SubnetManager& manager = subnet.manager;
    ASSERT_TRUE(subnet.start());
    ASSERT_TRUE(manager.last_cycle()->up());
    options.kept = subnet.kept();
    if (life == 0) continue;
    std::uint64_t sets = 0;
    for (const AttributeCount& count : manager.smp_stats().sent_by_attribute) sets += count.sets;
    EXPECT_EQ(sets, 0u);
    EXPECT_EQ(manager.last_cycle()->transition.kind, TransitionKind::Nothing);
  }
}

// Engine, fabric.
class RebootingHosts : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(RebootingHosts, CostNoBlockNorAnythingUnproved) {
  const auto& [engine, fabric] = GetParam();
  SimulatedSubnet subnet(spec_of(fabric), with_mode("certified", engine));
  ASSERT_TRUE(subnet.bring_up());
  ASSERT_EQ(subnet.manager.in_force()->routing->engine, engine);
  const std::vector<sim::NodeSpec>& nodes = subnet.fabric.spec().nodes;
  for (std::uint32_t node = 0; node < nodes.size(); ++node) {
    if (nodes[node].type != NodeType::Ca || node == subnet.fabric.spec().sm_node) continue;
    const Lid lid = subnet.fabric.port_info(node, PortNum{1}).lid;
    for (const bool up : {false, true}) {
      subnet.reports.clear();
      subnet.fabric.set_node(node, up);
      ASSERT_TRUE(subnet.settle());
      const std::string what = nodes[node].description + (up ? " up" : " down");
      ASSERT_FALSE(subnet.reports.empty()) << what;
      for (const CycleReport& cycle : subnet.reports) {
        EXPECT_EQ(cycle.blocks_written, 0u) << what;
        EXPECT_TRUE(cycle.transition.kind == TransitionKind::Nothing || cycle.transition.certified)
            << what << ": " << print_transition_kind(cycle.transition.kind) << " "
            << cycle.transition.why;
        EXPECT_EQ(cycle.transition.blocked, 0u) << what;
      }
      EXPECT_EQ(find_broken_route(subnet), "") << what;
      if (!up) continue;
      EXPECT_TRUE(subnet.manager.last_cycle()->up()) << what;
      EXPECT_EQ(find_inactive_port(subnet), "") << what;
      EXPECT_EQ(subnet.fabric.port_info(node, PortNum{1}).lid, lid) << what;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Engines,
                         RebootingHosts,
                         testing::Values(std::tuple{"updn", "torus:dims=4.4,hosts=1"},
                                         std::tuple{"minhop", "fat-tree:k=4,levels=3"},
                                         std::tuple{"ftree", "fat-tree:k=4,levels=3"},
                                         std::tuple{"dfsssp", "torus:dims=4.4,hosts=1"},
                                         std::tuple{"lash", "torus:dims=4.4,hosts=1"},
                                         std::tuple{"nue", "torus:dims=5.5,hosts=1"},
                                         std::tuple{"nue", "fat-tree:k=4,levels=3"}));

// After a power cut: no switch is between others here, all of them wait for their host. What is
// laid while few are up has to serve the others.
TEST(HostsThatComeUp, FindTheRoutesOfTheWholeTorus) {
  SimulatedSubnet subnet(spec_of("torus:dims=6.6,hosts=1"), with_mode("certified", "lash"));
  const sim::FabricSpec& spec = subnet.fabric.spec();
  std::vector<std::uint32_t> hosts;
  for (std::uint32_t node = 0; node < spec.nodes.size(); ++node) {
    if (spec.nodes[node].type == NodeType::Ca && node != spec.sm_node) hosts.push_back(node);
  }
  for (const std::uint32_t host : hosts) subnet.fabric.set_node(host, false);
  ASSERT_TRUE(subnet.bring_up());
  ASSERT_EQ(subnet.manager.in_force()->routing->engine, "lash");
  const unsigned vls = subnet.manager.in_force()->routing->vls;
  EXPECT_GT(vls, 1u);
  subnet.reports.clear();
  for (std::size_t at = 0; at < hosts.size(); ++at) {
    subnet.fabric.set_node(hosts[at], true);
    if (at % 5 != 4 && at + 1 != hosts.size()) continue;
    ASSERT_TRUE(subnet.settle());
    subnet.run_for(std::chrono::seconds(2));
    ASSERT_TRUE(subnet.settle_up());
    std::set<std::uint32_t> away(hosts.begin() + static_cast<std::ptrdiff_t>(at) + 1, hosts.end());
    EXPECT_EQ(find_broken_route(subnet, away), "") << at;
    EXPECT_EQ(subnet.manager.in_force()->routing->vls, vls) << at;
  }
  for (const CycleReport& cycle : subnet.reports)
    EXPECT_TRUE(cycle.transition.kind == TransitionKind::Nothing || cycle.transition.certified)
        << cycle.transition.why;
}

}  // namespace
}  // namespace smd::test
