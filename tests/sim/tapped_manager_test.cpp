// A manager whose SMPs are looked at on the way: what it sends by LID, and what it says of values
// that agents do not keep.
#include <gtest/gtest.h>

#include "smd/base/log.h"
#include "smd/mad/port_info.h"
#include "smd/routing/engine.h"
#include "tests/support/subnet_oracles.h"

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

}  // namespace
}  // namespace smd::test
