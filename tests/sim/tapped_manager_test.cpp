// A manager whose SMPs are looked at on the way: what it sends by LID, and what it says of values
// that agents do not keep.
#include <gtest/gtest.h>

#include "smd/base/log.h"
#include "smd/mad/port_info.h"
#include "smd/routing/engine.h"
#include "tests/support/smp_tap.h"
#include "tests/support/world.h"

namespace smd::test {
namespace {

struct TappedManager : testing::Test {
  void bring_up(const std::string& mode) {
    tap.on_send = [this](const Smp& smp) {
      if (smp.method == Method::Set && is_about(smp, AttributeId::PortInfo))
        ++(smp.directed ? directed : by_lid);
      return true;
    };
    Settings settings = WorldOptions::default_settings();
    settings.mode = parse_reconfiguration_mode(mode).value();
    manager = std::make_unique<SubnetManager>(
        runtime, tap, settings, PersistentState{}, SubnetManager::Observer{});
    manager->start();
    ASSERT_TRUE(settle(1));
  }

  bool settle(std::uint64_t cycles) {
    const std::uint64_t wanted = manager->cycles() + cycles;
    return runtime.run_while_not([&] { return manager->cycles() >= wanted && manager->at_rest(); },
                                 runtime.now() + Duration(std::chrono::minutes(1)));
  }

  sim::SimRuntime runtime;
  sim::SimFabric fabric{runtime, spec_of("example:name=fig76"), sim::Timing::modern(), 1};
  sim::SimTransport port{fabric, fabric.spec().sm_node, fabric.spec().sm_port};
  SmpTap tap{port};
  unsigned directed = 0;  // Sets of PortInfo
  unsigned by_lid = 0;
  std::unique_ptr<SubnetManager> manager;
};

TEST_F(TappedManager, ActivatesByLidWhereItIsAskedTo) {
  bring_up("full+engine+proved+whole+lid-routed");
  EXPECT_EQ(by_lid, 0u) << "nobody had its LID yet";
  const std::uint32_t node = sim::find_node(fabric.spec(), "node-5");
  fabric.set_link(node, PortNum{2}, false);
  ASSERT_TRUE(settle(1));
  fabric.set_link(node, PortNum{2}, true);
  ASSERT_TRUE(settle(1));
  EXPECT_GT(by_lid, 0u);
  EXPECT_EQ(manager->smp_stats().timeouts, 0u);
}

TEST_F(TappedManager, SendsEverythingDirectedOtherwise) {
  bring_up("certified");
  EXPECT_EQ(by_lid, 0u);
}

TEST_F(TappedManager, FollowsProvisionalRoutesWithFinalOnes) {
  bring_up("partial+pira-fera+proved+delta");
  EXPECT_EQ(manager->last_cycle()->engine, "fera");
  EXPECT_TRUE(manager->last_cycle()->provisional);
  const ActiveSubnet& now = *manager->in_force();
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
  manager->request_sweep("test");
  ASSERT_TRUE(settle(1));
  EXPECT_EQ(log::count(log::Level::Warn) - before, said) << "no news";
}

}  // namespace
}  // namespace smd::test
