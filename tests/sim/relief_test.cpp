// What a loss leaves uneven is seen to once all is at rest, without blocking anything.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

#include "smd/routing/engine.h"
#include "smd/routing/verify/channel_load.h"
#include "smd/routing/verify/check.h"
#include "tests/support/world.h"

namespace smd::test {
namespace {

constexpr Duration kDelay = std::chrono::seconds(10);
constexpr Duration kAfter = std::chrono::seconds(11);

class ReliefOfChannels : public testing::Test {
 protected:
  static WorldOptions options(Duration delay, const char* engine = "updn") {
    WorldOptions out;
    out.settings.engine = engine;

    out.settings.rebalance_delay = delay;
    return out;
  }

  void start(Duration delay,
             const char* fabric = "torus:dims=6.6,hosts=2",
             const char* engine = "updn") {
    world_.emplace(spec_of(fabric), options(delay, engine));
    world_->manager.start();
    ASSERT_TRUE(world_->settle());
    ASSERT_TRUE(world_->manager.last_cycle()->up());
  }

  [[nodiscard]] std::uint64_t find_peak() const {
    const ActiveSubnet& now = *world_->manager.in_force();
    return measure_load(now.fabric(), now.lids, now.routing->lft).max;
  }

  // Over 5 % more than routes from scratch would.
  [[nodiscard]] bool is_uneven() const {
    const ActiveSubnet& now = *world_->manager.in_force();
    const auto fresh = find_engine(now.routing->engine)->compute(now.fabric(), now.lids, {});
    EXPECT_TRUE(fresh);
    return 20 * find_peak() > 21 * measure_load(now.fabric(), now.lids, fresh->lft).max;
  }

  struct Cable {
    std::uint32_t node;
    PortNum port;
  };

  // Between switches, by node and port.
  [[nodiscard]] std::vector<Cable> list_cables() const {
    const auto& nodes = world_->fabric.spec().nodes;
    std::vector<Cable> out;
    for (std::uint32_t node = 0; node < nodes.size(); ++node) {
      for (unsigned p = 1; p <= nodes[node].num_ports(); ++p) {
        const std::uint32_t peer = nodes[node].ports[p].peer_node;
        if (nodes[node].type == NodeType::Switch && peer != sim::kNoNode && peer > node &&
            nodes[peer].type == NodeType::Switch)
          out.push_back({node, PortNum{static_cast<std::uint8_t>(p)}});
      }
    }
    return out;
  }

  // The first cable whose loss leaves loads uneven; it stays lost.
  std::optional<Cable> lose_an_unfortunate_cable() {
    for (const Cable& cable : list_cables()) {
      world_->fabric.set_link(cable.node, cable.port, false);
      EXPECT_TRUE(world_->settle());
      if (is_uneven()) return cable;
      world_->fabric.set_link(cable.node, cable.port, true);
      EXPECT_TRUE(world_->settle());
      EXPECT_FALSE(is_uneven());
    }
    return std::nullopt;
  }

  void expect_healthy() const {
    EXPECT_TRUE(world_->manager.last_cycle()->up());
    EXPECT_EQ(find_inactive_port(*world_), "");
    EXPECT_EQ(find_broken_route(*world_), "");
  }

  std::optional<World> world_;
};

TEST_F(ReliefOfChannels, FollowsALossOnceAndBlocksNothing) {
  start(kDelay);
  ASSERT_TRUE(lose_an_unfortunate_cable());
  const std::uint64_t meanwhile = find_peak();
  const std::uint64_t changes = world_->manager.change_count();
  world_->run_for(kAfter);
  ASSERT_EQ(world_->manager.change_count(), changes + 1);
  const CycleReport& relief = world_->manager.changes().front();
  EXPECT_EQ(relief.reason, "relief after a change");
  EXPECT_EQ(relief.transition.kind, TransitionKind::Certified);
  EXPECT_EQ(relief.transition.blocked, 0u);
  EXPECT_TRUE(relief.partial);
  EXPECT_LE(relief.discovery.smps, 1u);
  EXPECT_GE(relief.began - world_->manager.changes().at(1).ended, kDelay);
  EXPECT_LT(find_peak(), meanwhile);
  EXPECT_FALSE(is_uneven());
  expect_healthy();

  world_->run_for(std::chrono::minutes(10));
  EXPECT_EQ(world_->manager.change_count(), changes + 1) << "and there it ends";
}

TEST_F(ReliefOfChannels, IsLeftOutWhereTheDelayIsZero) {
  start(Duration{0});
  ASSERT_TRUE(lose_an_unfortunate_cable());
  const std::uint64_t changes = world_->manager.change_count();
  world_->run_for(std::chrono::minutes(10));
  EXPECT_EQ(world_->manager.change_count(), changes);
  EXPECT_TRUE(is_uneven());
}

TEST_F(ReliefOfChannels, ACableThatReturnsFirstMakesItNeedless) {
  start(kDelay);
  const auto cable = lose_an_unfortunate_cable();
  ASSERT_TRUE(cable);
  world_->run_for(kDelay / 2);
  world_->fabric.set_link(cable->node, cable->port, true);
  ASSERT_TRUE(world_->settle());
  EXPECT_FALSE(is_uneven());
  const std::uint64_t changes = world_->manager.change_count();
  world_->run_for(std::chrono::minutes(10));
  EXPECT_EQ(world_->manager.change_count(), changes);
  expect_healthy();
}

TEST_F(ReliefOfChannels, ALossInTheMidstOfItIsTakenIn) {
  start(kDelay);
  const auto cable = lose_an_unfortunate_cable();
  ASSERT_TRUE(cable);
  const std::uint64_t cycles = world_->manager.cycles();
  while (world_->manager.phase() != smd::Phase::Programming)
    world_->run_for(std::chrono::microseconds(10));
  EXPECT_EQ(world_->manager.cycles(), cycles);
  const std::uint32_t other = world_->node("sw-5-5");
  world_->fabric.set_link(other, PortNum{1}, false);
  ASSERT_TRUE(world_->settle(2));
  EXPECT_EQ(world_->manager.last_cycle()->reason.find("relief"), std::string::npos);
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
    for (const Cable& cable : list_cables()) {
      SCOPED_TRACE(fabric + fmt::format(" without {}:{}", cable.node, cable.port));
      for (const bool up : {false, true}) {
        world_->fabric.set_link(cable.node, cable.port, up);
        ASSERT_TRUE(world_->settle());
        uneven += is_uneven() ? 1u : 0u;
        world_->run_for(std::chrono::minutes(1));
        EXPECT_FALSE(is_uneven());
        EXPECT_EQ(world_->manager.last_cycle()->transition.blocked, 0u);
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
      if (nodes[node].type != NodeType::Switch || world_->fabric.spec().sm_node == node) continue;
      world_->fabric.set_node(node, false);
      ASSERT_TRUE(world_->settle());
      ASSERT_TRUE(world_->settle_up());
      const bool uneven = is_uneven();
      const RoutingTables before = world_->manager.in_force()->routing;
      world_->run_for(std::chrono::minutes(1));
      if (!uneven || !is_uneven()) continue;
      ++dropped;
      EXPECT_EQ(world_->manager.in_force()->routing->lft, before.lft);
      EXPECT_EQ(world_->manager.in_force()->routing->orientation.by_guid,
                before.orientation.by_guid);
      expect_healthy();
      world_->fabric.set_node(node, true);
      ASSERT_TRUE(world_->settle());
      ASSERT_TRUE(world_->settle_up());
      expect_healthy();
    }
  }
  EXPECT_GT(dropped, 5u);
}

// Tables of another engine would change everything: none of that is worth it.
TEST_F(ReliefOfChannels, IsDroppedWhereTheEngineIsToBeAnotherOne) {
  start(kDelay);
  ASSERT_TRUE(lose_an_unfortunate_cable());
  const ForwardingTables before = world_->manager.in_force()->routing->lft;
  Settings settings = options(kDelay).settings;
  settings.engine = "nue";
  world_->manager.adopt(settings);
  const std::uint64_t changes = world_->manager.change_count();
  world_->run_for(std::chrono::minutes(10));
  EXPECT_EQ(world_->manager.change_count(), changes);
  EXPECT_EQ(world_->manager.in_force()->routing->lft, before);
  world_->manager.request_sweep("command");
  ASSERT_TRUE(world_->settle());
  EXPECT_EQ(world_->manager.last_cycle()->engine, "nue");
  expect_healthy();
}

}  // namespace
}  // namespace smd::test
