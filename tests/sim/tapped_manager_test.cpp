// A manager whose SMPs are looked at on the way, or changed: what it sends by LID, what it says of
// values that agents do not keep, and what it makes of answers that are lies.
#include <gtest/gtest.h>

#include "smd/base/log.h"
#include "smd/base/rng.h"
#include "smd/mad/port_info.h"
#include "smd/routing/engine.h"
#include "tests/support/cables.h"
#include "tests/support/oracle_watch.h"

namespace smd::test {
namespace {

struct TappedManager : testing::Test, SimulatedSubnet {
  TappedManager() : SimulatedSubnet(spec_of("example:name=fig76")) {}

  void bring_up(const std::string& mode) {
    tap.on_send = [this](const Smp& smp) {
      if (smp.method == Method::Set && is_about(smp, AttributeId::PortInfo))
        ++(smp.directed ? directed : by_lid);
      return true;
    };
    Settings settings = default_settings();
    settings.strategy = make_strategy(parse_reconfiguration_mode(mode).value());
    manager.adopt(settings);
    ASSERT_TRUE(start());
  }

  unsigned directed = 0;  // Sets of PortInfo
  unsigned by_lid = 0;
};

TEST_F(TappedManager, ActivatesByLidWhereItIsAskedTo) {
  bring_up("full+engine+proved+whole+lid-routed");
  EXPECT_EQ(by_lid, 0u) << "nobody had its LID yet";
  const std::uint32_t end = node("node-5");
  fabric.set_link(end, PortNum{2}, false);
  ASSERT_TRUE(settle());
  fabric.set_link(end, PortNum{2}, true);
  ASSERT_TRUE(settle());
  EXPECT_GT(by_lid, 0u);
  EXPECT_EQ(manager.smp_stats().timeouts, 0u);
}

TEST_F(TappedManager, SendsEverythingDirectedOtherwise) {
  bring_up("certified");
  EXPECT_EQ(by_lid, 0u);
}

TEST_F(TappedManager, FollowsProvisionalRoutesWithFinalOnes) {
  bring_up("partial+pira-fera+proved+delta");
  EXPECT_EQ(manager.last_cycle()->engine, "fera");
  EXPECT_TRUE(manager.last_cycle()->provisional);
  const ActiveSubnet& now = *manager.in_force();
  EXPECT_EQ(now.routing->engine, "fera");
  const RoutingTables whole =
      find_engine("fera")
          ->compute(now.fabric(), now.lids, {.previous = &now.routing->orientation})
          .value();
  EXPECT_EQ(now.routing->lft, whole.lft) << "to the last LID";
}

TEST_F(TappedManager, NamesAValueThatAPortDoesNotKeepOnce) {
  const unsigned long before = log::count(log::Level::Warn);
  tap.on_receive = [](Smp& smp) {
    auto info = decode_port_info(smp.data);
    if (!info || !is_about(smp, AttributeId::PortInfo)) return true;
    info->hoq_life = 3;
    encode_port_info(*info, smp.data);
    return true;
  };
  bring_up("certified");
  const unsigned long said = log::count(log::Level::Warn) - before;
  EXPECT_GT(said, 0u);
  manager.request_sweep("test");
  ASSERT_TRUE(settle());
  EXPECT_EQ(log::count(log::Level::Warn) - before, said) << "no news";
}

/// Bytes of what agents answer, not those that say which question it is.
void corrupt(Smp& smp, Rng& rng) {
  for (std::uint64_t times = 1 + rng.below(6); times > 0; --times)
    smp.data[rng.below(smp.data.size())] = static_cast<std::byte>(rng.below(256));
}

// An agent may answer anything. While some do, nothing is promised but that the manager goes on;
// once they tell the truth, the subnet works again.
TEST(LyingAgents, AManagerOutlivesThemAndMendsWhatCameOfThem) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    Settings settings = default_settings();
    settings.sweep_interval = std::chrono::seconds(2);
    settings.engine = seed % 2 == 0 ? "auto" : "updn";
    SimulatedSubnet subnet(spec_of("fat-tree:k=4,levels=2"),
                           {.seed = seed, .settings = std::move(settings)});
    ASSERT_TRUE(subnet.start());
    OracleWatch watch(subnet);
    Rng rng(seed);
    subnet.tap.on_receive = [&](Smp& smp) {
      const bool by_itself = smp.directed && smp.hop_count == 0;
      if (!by_itself && smp.method == Method::GetResp && rng.below(100) < 5) corrupt(smp, rng);
      return true;
    };
    const std::vector<Cable> cables = cables_between_switches(subnet.fabric.spec());
    for (int change = 0; change < 20; ++change) {
      const Cable& cable = cables[rng.below(cables.size())];
      subnet.fabric.set_link(cable.node, cable.port, rng.below(2) == 0);
      if (change % 4 == 0) subnet.manager.request_sweep("test");
      subnet.run_for(std::chrono::seconds(3));
    }
    subnet.tap.on_receive = nullptr;
    for (const Cable& cable : cables) subnet.fabric.set_link(cable.node, cable.port, true);
    subnet.run_for(std::chrono::minutes(2));
    subnet.manager.request_sweep("test");
    ASSERT_TRUE(subnet.settle_up()) << "seed " << seed;
    EXPECT_EQ(find_inactive_port(subnet), "") << "seed " << seed;
    EXPECT_EQ(find_broken_route(subnet), "") << "seed " << seed;
    EXPECT_TRUE(watch.connected()) << "seed " << seed;
    EXPECT_EQ(watch.present_loop(), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace smd::test
