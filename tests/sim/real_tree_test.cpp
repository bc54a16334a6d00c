// A production cluster with all that is imperfect about it, and adapters that send no data, under a
// manager: cables that go and come back, and what is learned, said or seen of who sends.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "smd/routing/engine.h"
#include "smd/routing/verify/channel_load.h"
#include "tests/support/cables.h"
#include "tests/support/ndr_582.h"
#include "tests/support/subnet_oracles.h"

namespace smd::test {
namespace {

class RealCluster : public testing::TestWithParam<std::tuple<const char*, unsigned>> {
 protected:
  static SimulatedSubnetOptions options() {
    SimulatedSubnetOptions out;
    out.settings = quiet_settings();
    out.settings.engine = std::get<0>(GetParam());
    out.settings.lids.lmc = static_cast<std::uint8_t>(std::get<1>(GetParam()));
    return out;
  }
};

TEST_P(RealCluster, ChangesOfACableAreProvedAndVerified) {
  SimulatedSubnet subnet(ndr_582(), options());
  ASSERT_TRUE(subnet.start());
  ASSERT_TRUE(subnet.manager.last_cycle()->up());
  EXPECT_EQ(subnet.manager.last_cycle()->counts.no_data, (AdapterCounts{.aggregation_nodes = 40}));
  const Cable cable = cables_between_switches(subnet.fabric.spec())[100];
  for (const bool is_back : {false, true}) {
    subnet.fabric.set_link(cable.node, cable.port, is_back);
    ASSERT_TRUE(subnet.settle());
    const CycleReport& change = *subnet.manager.last_cycle();
    EXPECT_TRUE(change.up()) << is_back;
    EXPECT_TRUE(change.transition.kind == TransitionKind::Certified ||
                change.transition.kind == TransitionKind::Nothing)
        << print_transition_kind(change.transition.kind) << " " << change.transition.why;
    EXPECT_FALSE(change.check_differs);
    const ActiveSubnet& now = *subnet.manager.in_force();
    EXPECT_EQ(change.load, measure_load(now.fabric(), now.lids, now.routing->lft));
  }
  EXPECT_EQ(find_inactive_port(subnet), "");
  EXPECT_EQ(find_broken_route(subnet), "");
}

INSTANTIATE_TEST_SUITE_P(Engines,
                         RealCluster,
                         testing::Combine(testing::Values("updn", "ftree", "nue", "dfsssp"),
                                          testing::Values(0u, 2u)),
                         [](const auto& row) {
                           return std::string(std::get<0>(row.param)) + "Lmc" +
                                  std::to_string(std::get<1>(row.param));
                         });

/// One adapter is an aggregation node by its description alone, which is read after the first
/// cycle; the operator names another one later.
class WhoSendsData : public testing::Test {
 protected:
  static sim::FabricSpec spec() {
    sim::FabricSpec out = spec_of("fat-tree:k=4,levels=3");
    out.nodes[sim::find_node(out, "host-00005")].description = kAggregation;
    return out;
  }

  static Settings settings(std::vector<std::string> no_data) {
    Settings out = quiet_settings();
    if (!no_data.empty())
      out.site_nodes = std::make_shared<const SiteNodes>(SiteNodes{.no_data = std::move(no_data)});
    return out;
  }

  void SetUp() override {
    ASSERT_TRUE(subnet.start());
    ASSERT_TRUE(subnet.manager.last_cycle()->up());
  }

  /// Names of adapters that are linked and no hosts.
  [[nodiscard]] std::vector<std::string> idle() const {
    const Fabric& f = subnet.manager.in_force()->fabric();
    EXPECT_EQ(check_invariants(f), "");
    std::vector<std::string> out;
    for (const PortIdx port : f.peer.indices()) {
      if (f.is_end_port(port) && !f.is_switch(f.node_of[port]) && !f.is_host(port))
        out.push_back(f.description[f.node_of[port]]);
    }
    std::ranges::sort(out);
    return out;
  }

  void set_node(const char* name, bool is_on) {
    subnet.fabric.set_node(subnet.node(name), is_on);
    ASSERT_TRUE(subnet.settle());
    EXPECT_TRUE(subnet.manager.last_cycle()->up());
    const ActiveSubnet& now = *subnet.manager.in_force();
    EXPECT_EQ(subnet.manager.last_cycle()->load,
              measure_load(now.fabric(), now.lids, now.routing->lft));
    EXPECT_FALSE(subnet.manager.last_cycle()->check_differs);
  }

  static constexpr const char* kAggregation = "Mellanox Technologies Aggregation Node";
  using Names = std::vector<std::string>;

  SimulatedSubnet subnet{spec(), {.settings = settings({})}};
};

TEST_F(WhoSendsData, IsLearnedFromDescriptions) {
  EXPECT_EQ(subnet.manager.last_cycle()->counts.no_data, AdapterCounts{}) << "not yet read";
  EXPECT_EQ(idle(), Names{kAggregation});
  set_node("host-00003", false);
  EXPECT_EQ(subnet.manager.last_cycle()->counts.no_data, (AdapterCounts{.aggregation_nodes = 1}));
  EXPECT_EQ(idle(), Names{kAggregation});
}

// Two cables lead to the four hosts of a leaf, by turns. Two of those turn out to send no data, and
// the other two share a cable.
TEST_F(WhoSendsData, IsBalancedForAtRestOnceItIsKnown) {
  SimulatedSubnetOptions options{.settings = settings({"host-00000", "host-00002"})};
  options.settings.rebalance_delay = std::chrono::seconds(10);
  SimulatedSubnet learns(spec_of("pgft:down=4.4,up=1.2,parallel=1.1"), options);
  ASSERT_TRUE(learns.start());
  const auto peak = [&] {
    const ActiveSubnet& now = *learns.manager.in_force();
    return measure_load(now.fabric(), now.lids, now.routing->lft).max;
  };
  const auto least = [&] {
    const ActiveSubnet& now = *learns.manager.in_force();
    const auto fresh = find_engine(now.routing->engine)->compute(now.fabric(), now.lids, {});
    return measure_load(now.fabric(), now.lids, fresh->lft).max;
  };
  ASSERT_GT(20 * peak(), 21 * least());
  learns.run_for(std::chrono::seconds(11));
  EXPECT_LE(20 * peak(), 21 * least());
  EXPECT_EQ(learns.manager.last_cycle()->reason, "relief after a change");
  EXPECT_TRUE(learns.manager.last_cycle()->up());
}

TEST_F(WhoSendsData, ComesAndGoesWithItsNode) {
  set_node(kAggregation, false);
  EXPECT_EQ(idle(), Names{});
  EXPECT_EQ(subnet.manager.last_cycle()->counts.no_data, AdapterCounts{});
  set_node(kAggregation, true);
  EXPECT_EQ(idle(), Names{kAggregation});
  set_node("sw-0-2", false);
  set_node("sw-0-2", true);
  EXPECT_EQ(idle(), Names{kAggregation});
}

TEST_F(WhoSendsData, FollowsTheConfigurationThatIsReadAgain) {
  subnet.manager.adopt(settings({"host-0000[27]", "host-0000?9", "host-00007"}));
  set_node("host-00003", false);
  EXPECT_EQ(idle(), (Names{kAggregation, "host-00007"}));
  EXPECT_EQ(subnet.manager.last_cycle()->counts.no_data,
            (AdapterCounts{.aggregation_nodes = 1, .excepted = 1}));
  set_node("host-00003", true);
  EXPECT_EQ(idle(), (Names{kAggregation, "host-00007"})) << "the rules are kept";
  subnet.manager.adopt(settings({"host-0001*"}));
  set_node("host-00003", false);
  EXPECT_EQ(idle(),
            (Names{kAggregation,
                   "host-00010",
                   "host-00011",
                   "host-00012",
                   "host-00013",
                   "host-00014",
                   "host-00015"}));
  subnet.manager.adopt(settings({}));
  set_node("host-00003", true);
  EXPECT_EQ(idle(), Names{kAggregation});
}

}  // namespace
}  // namespace smd::test
