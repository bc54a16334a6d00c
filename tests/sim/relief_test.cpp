// What a loss leaves uneven is seen to once all is at rest, without blocking anything.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

#include "smd/routing/engine.h"
#include "smd/routing/verify/channel_load.h"
#include "smd/routing/verify/check_routes.h"
#include "tests/support/cables.h"
#include "tests/support/subnet_oracles.h"

namespace smd::test {
namespace {

constexpr Duration kDelay = std::chrono::seconds(10);
constexpr Duration kAfter = std::chrono::seconds(11);

class ReliefOfChannels : public testing::Test {
 protected:
  static SimulatedSubnetOptions options(Duration delay, const char* engine = "updn") {
    SimulatedSubnetOptions out;
    out.settings.engine = engine;

    out.settings.rebalance_delay = delay;
    return out;
  }

  void start(Duration delay,
             const char* fabric = "torus:dims=6.6,hosts=2",
             const char* engine = "updn") {
    subnet_.emplace(spec_of(fabric), options(delay, engine));
    ASSERT_TRUE(subnet_->start());
    ASSERT_TRUE(subnet_->manager.last_cycle()->up());
  }

  [[nodiscard]] std::uint64_t find_peak() const {
    const ActiveSubnet& now = *subnet_->manager.in_force();
    return measure_load(now.fabric(), now.lids, now.routing->lft).max;
  }

  // Over 5 % more than routes from scratch would.
  [[nodiscard]] bool is_uneven() const {
    const ActiveSubnet& now = *subnet_->manager.in_force();
    const auto fresh = find_engine(now.routing->engine)->compute(now.fabric(), now.lids, {});
    EXPECT_TRUE(fresh);
    return 20 * find_peak() > 21 * measure_load(now.fabric(), now.lids, fresh->lft).max;
  }

  // The first cable whose loss leaves loads uneven; it stays lost.
  std::optional<Cable> lose_an_unfortunate_cable() {
    for (const Cable& cable : cables_between_switches(subnet_->fabric.spec())) {
      subnet_->fabric.set_link(cable.node, cable.port, false);
      EXPECT_TRUE(subnet_->settle());
      if (is_uneven()) return cable;
      subnet_->fabric.set_link(cable.node, cable.port, true);
      EXPECT_TRUE(subnet_->settle());
      EXPECT_FALSE(is_uneven());
    }
    return std::nullopt;
  }

  void expect_healthy() const {
    EXPECT_TRUE(subnet_->manager.last_cycle()->up());
    EXPECT_EQ(find_inactive_port(*subnet_), "");
    EXPECT_EQ(find_broken_route(*subnet_), "");
  }

  std::optional<SimulatedSubnet> subnet_;
};

TEST_F(ReliefOfChannels, FollowsALossOnceAndBlocksNothing) {
  start(kDelay);
  ASSERT_TRUE(lose_an_unfortunate_cable());
  const std::uint64_t meanwhile = find_peak();
  const std::uint64_t changes = subnet_->manager.change_count();
  subnet_->run_for(kAfter);
  ASSERT_EQ(subnet_->manager.change_count(), changes + 1);
  const CycleReport& relief = subnet_->manager.changes().front();
  EXPECT_EQ(relief.reason, "relief after a change");
  EXPECT_EQ(relief.transition.kind, TransitionKind::Certified);
  EXPECT_EQ(relief.transition.blocked, 0u);
  EXPECT_TRUE(relief.partial);
  EXPECT_LE(relief.discovery.smps, 1u);
  EXPECT_GE(relief.began - subnet_->manager.changes().at(1).ended, kDelay);
  EXPECT_LT(find_peak(), meanwhile);
  EXPECT_FALSE(is_uneven());
  expect_healthy();

  subnet_->run_for(std::chrono::minutes(10));
  EXPECT_EQ(subnet_->manager.change_count(), changes + 1) << "and there it ends";
}

TEST_F(ReliefOfChannels, ComesThoughALinkFlapsAllTheTime) {
  start(kDelay);
  ASSERT_TRUE(lose_an_unfortunate_cable());
  const std::uint32_t host = sim::find_node(subnet_->fabric.spec(), "host-00005");
  for (Duration passed{0}; passed < 8 * kDelay; passed += kDelay / 2) {
    for (const bool up : {false, true}) {
      subnet_->fabric.set_link(host, PortNum{1}, up);
      subnet_->run_for(kDelay / 4);
    }
  }
  EXPECT_FALSE(is_uneven());
  EXPECT_GE(
      std::ranges::count(
          subnet_->manager.changes(), std::string("relief after a change"), &CycleReport::reason),
      1);
  expect_healthy();
}

TEST_F(ReliefOfChannels, IsLeftOutWhereTheDelayIsZero) {
  start(Duration{0});
  ASSERT_TRUE(lose_an_unfortunate_cable());
  const std::uint64_t changes = subnet_->manager.change_count();
  subnet_->run_for(std::chrono::minutes(10));
  EXPECT_EQ(subnet_->manager.change_count(), changes);
  EXPECT_TRUE(is_uneven());
}

TEST_F(ReliefOfChannels, ACableThatReturnsFirstMakesItNeedless) {
  start(kDelay);
  const auto cable = lose_an_unfortunate_cable();
  ASSERT_TRUE(cable);
  subnet_->run_for(kDelay / 2);
  subnet_->fabric.set_link(cable->node, cable->port, true);
  ASSERT_TRUE(subnet_->settle());
  EXPECT_FALSE(is_uneven());
  const std::uint64_t changes = subnet_->manager.change_count();
  subnet_->run_for(std::chrono::minutes(10));
  EXPECT_EQ(subnet_->manager.change_count(), changes);
  expect_healthy();
}

TEST_F(ReliefOfChannels, ALossInTheMidstOfItIsTakenIn) {
  start(kDelay);
  const auto cable = lose_an_unfortunate_cable();
  ASSERT_TRUE(cable);
  const std::uint64_t cycles = subnet_->manager.cycles();
  while (subnet_->manager.phase() != smd::Phase::Programming)
    subnet_->run_for(std::chrono::microseconds(10));
  EXPECT_EQ(subnet_->manager.cycles(), cycles);
  const std::uint32_t other = subnet_->node("sw-5-5");
  subnet_->fabric.set_link(other, PortNum{1}, false);
  ASSERT_TRUE(subnet_->settle(2));
  EXPECT_EQ(subnet_->manager.last_cycle()->reason.find("relief"), std::string::npos);
  expect_healthy();
}

// Routes are computed, and then the way to them, a second each at most.
TEST_F(ReliefOfChannels, ALossIsAnsweredBeforeItIsComputedAndWritten) {
  unsigned seen = 0;
  for (const Duration after : {std::chrono::milliseconds(1), std::chrono::milliseconds(900)}) {
    SCOPED_TRACE(after.count());
    start(kDelay);
    ASSERT_TRUE(lose_an_unfortunate_cable());
    subnet_->runtime.use_thread(std::chrono::seconds(1), 1);
    const auto computes = [&] { return subnet_->manager.phase() == smd::Phase::Routing; };
    ASSERT_TRUE(subnet_->run_until(computes, 2 * kDelay));
    subnet_->run_for(after);
    seen += computes() ? 1u : 0u;
    subnet_->reports.clear();
    const std::uint64_t changes = subnet_->manager.change_count();
    subnet_->fabric.set_link(subnet_->node("sw-5-5"), PortNum{1}, false);
    ASSERT_TRUE(subnet_->run_until([&] { return subnet_->manager.change_count() > changes; },
                                   std::chrono::minutes(1)));
    EXPECT_EQ(subnet_->manager.changes().front().reason.find("relief"), std::string::npos);
    subnet_->run_for(std::chrono::minutes(1));
    EXPECT_FALSE(is_uneven()) << "it comes back, where it is needed still";
    expect_healthy();
  }
  EXPECT_EQ(seen, 2u);
}

// Three of the four ways out of the manager's own leaf go while balance is written.
TEST_F(ReliefOfChannels, AFailureOnItsWayLeavesNoSwitchOut) {
  start(kDelay, "fat-tree:k=8,levels=3");
  ASSERT_TRUE(lose_an_unfortunate_cable());
  while (subnet_->manager.phase() != smd::Phase::Programming)
    subnet_->run_for(std::chrono::microseconds(10));
  subnet_->reports.clear();
  for (const PortNum port : {PortNum{5}, PortNum{6}, PortNum{7}})
    subnet_->fabric.set_link(subnet_->node("sw-0-0"), port, false);
  ASSERT_TRUE(subnet_->settle(2));
  for (const CycleReport& each : subnet_->reports) EXPECT_EQ(each.counts.switches, 80u);
  expect_healthy();
}

// Whatever cable is lost, and when it is back.
TEST_F(ReliefOfChannels, LeavesNothingUnevenAfterAnyCable) {
  unsigned uneven = 0;
  for (const char* fabric : {"fat-tree:k=4,levels=3",
                             "torus:dims=4.4,hosts=2",
                             "hamming:dims=4.3,hosts=2",
                             "dragonfly:a=4,h=1,c=2",
                             "irregular:switches=16,links=4,hosts=2,seed=3"}) {
    start(kDelay, fabric);
    for (const Cable& cable : cables_between_switches(subnet_->fabric.spec())) {
      SCOPED_TRACE(fabric + fmt::format(" without {}:{}", cable.node, cable.port));
      for (const bool up : {false, true}) {
        subnet_->fabric.set_link(cable.node, cable.port, up);
        ASSERT_TRUE(subnet_->settle());
        uneven += is_uneven() ? 1u : 0u;
        subnet_->run_for(std::chrono::minutes(1));
        EXPECT_FALSE(is_uneven());
        EXPECT_EQ(subnet_->manager.last_cycle()->transition.blocked, 0u);
      }
    }
    expect_healthy();
  }
  EXPECT_GT(uneven, 20u) << "else there was nothing to relieve";
}

// Routes from scratch use other lanes or directions; where no order of changes leads there without
// blocking turns, what is in force stays, and goes on being the base of what comes next.
TEST_F(ReliefOfChannels, IsDroppedWhereItWouldBlockTurns) {
  unsigned dropped = 0;
  for (const auto& [engine, fabric] : {std::pair{"updn", "dragonfly:a=4,h=1,c=2"},
                                       std::pair{"dfsssp", "torus:dims=4.4,hosts=2"}}) {
    const auto nodes = spec_of(fabric).nodes;
    for (std::uint32_t node = 1; node < nodes.size(); ++node) {
      start(kDelay, fabric, engine);
      // The manager's own switch leaves it with nobody.
      const std::uint32_t manager = subnet_->fabric.spec().sm_node;
      if (nodes[node].type != NodeType::Switch || nodes[manager].ports[1].peer_node == node)
        continue;
      subnet_->fabric.set_node(node, false);
      ASSERT_TRUE(subnet_->settle());
      ASSERT_TRUE(subnet_->settle_up());
      const bool uneven = is_uneven();
      const RoutingTables before = subnet_->manager.in_force()->routing;
      subnet_->run_for(std::chrono::minutes(1));
      if (!uneven || !is_uneven()) continue;
      ++dropped;
      EXPECT_EQ(subnet_->manager.in_force()->routing->lft, before.lft);
      EXPECT_EQ(subnet_->manager.in_force()->routing->orientation.by_guid,
                before.orientation.by_guid);
      expect_healthy();
      subnet_->fabric.set_node(node, true);
      ASSERT_TRUE(subnet_->settle());
      ASSERT_TRUE(subnet_->settle_up());
      expect_healthy();
    }
  }
  EXPECT_GT(dropped, 5u);
}

// On several VLs routes from scratch would take hosts their SLs; what can be evened without that
// is.
TEST_F(ReliefOfChannels, KeepsSlsWhereRoutesFromScratchWouldBlock) {
  unsigned eased = 0;
  for (const auto& [engine, fabric] : {std::pair{"dfsssp", "dragonfly:a=4,h=2,c=2"},
                                       std::pair{"lash", "torus:dims=4.4,hosts=2"}}) {
    start(kDelay, fabric, engine);
    ASSERT_GT(subnet_->manager.in_force()->routing->vls, 1u);
    for (const Cable& cable : cables_between_switches(subnet_->fabric.spec())) {
      SCOPED_TRACE(fabric + fmt::format(" without {}:{}", cable.node, cable.port));
      start(kDelay, fabric, engine);
      subnet_->fabric.set_link(cable.node, cable.port, false);
      ASSERT_TRUE(subnet_->settle());
      if (!is_uneven()) continue;
      const std::uint64_t meanwhile = find_peak();
      const RoutingTables before = subnet_->manager.in_force()->routing;
      subnet_->run_for(std::chrono::minutes(1));
      const RoutingTables after = subnet_->manager.in_force()->routing;
      if (after.lft == before.lft) continue;
      EXPECT_LT(find_peak(), meanwhile);
      EXPECT_EQ(subnet_->manager.changes().front().transition.kind, TransitionKind::Certified);
      if (!is_uneven()) continue;
      ++eased;
      EXPECT_EQ(after.path_sls, before.path_sls);
      expect_healthy();
    }
  }
  EXPECT_GT(eased, 0u);
}

TEST_F(ReliefOfChannels, FollowsALossAlsoUnderTheEngineThatStandsInForTheOneAskedFor) {
  SimulatedSubnetOptions stand_in = options(kDelay, "ftree");
  stand_in.settings.engine_fallback = true;
  subnet_.emplace(spec_of("torus:dims=6.6,hosts=2"), stand_in);
  ASSERT_TRUE(subnet_->start());
  ASSERT_TRUE(lose_an_unfortunate_cable());
  EXPECT_EQ(subnet_->manager.last_cycle()->engine, "updn");
  const std::string refused = subnet_->manager.last_cycle()->engine_refused;
  EXPECT_NE(refused, "");
  subnet_->run_for(kAfter);
  EXPECT_EQ(subnet_->manager.changes().front().reason, "relief after a change");
  EXPECT_EQ(subnet_->manager.changes().front().engine_refused, refused);
  EXPECT_FALSE(is_uneven());
  expect_healthy();
}

// Tables of another engine would change everything: none of that is worth it.
TEST_F(ReliefOfChannels, IsDroppedWhereTheEngineIsToBeAnotherOne) {
  start(kDelay);
  ASSERT_TRUE(lose_an_unfortunate_cable());
  const ForwardingTables before = subnet_->manager.in_force()->routing->lft;
  Settings settings = options(kDelay).settings;
  settings.engine = "nue";
  settings.engine_fallback = true;  // nobody has asked it yet
  subnet_->manager.adopt(settings);
  const std::uint64_t changes = subnet_->manager.change_count();
  subnet_->run_for(std::chrono::minutes(10));
  EXPECT_EQ(subnet_->manager.change_count(), changes);
  EXPECT_EQ(subnet_->manager.in_force()->routing->lft, before);
  subnet_->manager.request_sweep("command");
  ASSERT_TRUE(subnet_->settle());
  EXPECT_EQ(subnet_->manager.last_cycle()->engine, "nue");
  expect_healthy();
}

}  // namespace
}  // namespace smd::test
