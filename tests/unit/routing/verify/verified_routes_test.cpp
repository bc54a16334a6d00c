// The check of what differs says what the full one says.
#include "smd/routing/verify/verified_routes.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "tests/unit/routing/support/generated.h"
#include "tests/unit/routing/support/verified_changes.h"

namespace smd::test {
namespace verified_routes_test {

RC_GTEST_PROP(VerifiedRoutes, SayWhatTheFullCheckSaysOfIrregularFabrics, ()) {
  RC_CLASSIFY(check_any_irregular(8, 3), "mostly by changes");
}

RC_GTEST_PROP(VerifiedRoutes, SayWhatTheFullCheckSaysOfTreesToriAndDragonflies, ()) {
  RC_CLASSIFY(check_any_regular(5, 2), "mostly by changes");
}

struct Network {
  explicit Network(const std::string& call, const char* engine)
      : whole(generated(call)),
        changed(whole.fabric),
        routing(compute(engine, whole.fabric, whole.lids)),
        verified(VerifiedRoutes::build(before())) {}

  [[nodiscard]] RoutesOnFabric before() const { return {&whole.fabric, &whole.lids, &routing}; }

  /// The n-th link between switches goes.
  void lose(std::size_t n) {
    for (const PortIdx port : find_channels(changed)) {
      if (port.value() > changed.peer[port].value() || n-- != 0) continue;
      changed.peer[changed.peer[port]] = kNone<PortIdx>;
      changed.peer[port] = kNone<PortIdx>;
      return;
    }
    FAIL() << "no such link";
  }

  [[nodiscard]] RoutingTables reroute() const {
    const PreviousRoutes in_force{&whole.fabric, &whole.lids, &routing};
    return find_engine(routing.engine)
        ->compute(changed, whole.lids, {.previous = &routing.orientation, .in_force = &in_force})
        .value();
  }

  Generated whole;
  Fabric changed;
  RoutingTables routing;
  std::shared_ptr<const VerifiedRoutes> verified;
};

class LostLink : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(LostLink, IsCheckedByWhatDiffers) {
  const auto [call, engine] = GetParam();
  Network net{call, engine};
  ASSERT_NE(net.verified, nullptr);
  EXPECT_EQ(net.verified->report().pairs,
            check_routes(net.whole.fabric, net.whole.lids, net.routing).pairs);
  for (const std::size_t link : {0, 7, 20}) {
    net.changed = net.whole.fabric;
    net.lose(link);
    const RoutingTables routing = net.reroute();
    const RoutesOnFabric now{&net.changed, &net.whole.lids, &routing};
    const auto next = net.verified->update(net.before(), now);
    ASSERT_NE(next, nullptr) << link;
    EXPECT_TRUE(next->counts_equal(*VerifiedRoutes::build(now))) << link;
    const auto back = next->update(now, net.before());
    ASSERT_NE(back, nullptr) << link;
    EXPECT_TRUE(back->counts_equal(*net.verified)) << link;
  }
}

INSTANTIATE_TEST_SUITE_P(Fabrics,
                         LostLink,
                         testing::Values(std::pair{"fat-tree:k=8,levels=3", "updn"},
                                         std::pair{"fat-tree:k=8,levels=3", "ftree"},
                                         std::pair{"torus:dims=5.5,hosts=2", "updn"},
                                         std::pair{"irregular:switches=24,links=4,hosts=2,seed=3",
                                                   "updn"}));

// Four switches in a ring.
TEST(VerifiedRoutes, ACreditLoopThatOneEntryClosesIsFound) {
  Network net{"torus:dims=4,hosts=4", "updn"};
  ASSERT_NE(net.verified, nullptr);
  int closed = 0, open = 0;
  for (const SwitchIdx sw : net.changed.switch_node.indices()) {
    for (std::size_t lid = 1; lid < net.whole.lids.owner.size(); ++lid) {
      const Lid destination{static_cast<std::uint16_t>(lid)};
      if (net.whole.lids.owner_of(destination) == kNone<PortIdx>) continue;
      for (const PortIdx out : find_channels(net.changed)) {
        if (net.changed.node_of[out] != net.changed.switch_node[sw]) continue;
        RoutingTables other = net.routing;
        other.lft.set_route(sw, destination, net.changed.number_of(out));
        const RoutesOnFabric now{&net.changed, &net.whole.lids, &other};
        const RouteReport full =
            check_routes(net.changed, net.whole.lids, other, {.minimality = false});
        EXPECT_EQ(net.verified->update(net.before(), now) != nullptr, full.ok());
        if (full.unreachable == 0 && full.loops == 0) ++(full.acyclic ? open : closed);
      }
    }
  }
  EXPECT_GT(closed, 0);
  EXPECT_GT(open, 0);
}

TEST(VerifiedRoutes, WhatTheMakersSayOfTheirRoutesIsNotHeeded) {
  Network net{"fat-tree:k=4,levels=3", "updn"};
  RoutingTables other = net.routing;
  other.recomputed.emplace();  // nothing, they say
  const Lid lid = net.whole.lids.top;
  other.lft.set_route(SwitchIdx{3}, lid, kNoRoute);
  const RoutesOnFabric now{&net.whole.fabric, &net.whole.lids, &other};
  EXPECT_EQ(net.verified->update(net.before(), now), nullptr);
  EXPECT_GT(check_route_changes(net.verified.get(), net.before(), now).routes.unreachable, 0u);
}

TEST(VerifiedRoutes, IslandsAndCreditLoopsAreNotKept) {
  const Fabric apart = fabric_from("S1-H1 S2-H2");
  const LidMap lids = lids_in_order(apart);
  const RoutingTables routing = compute("updn", apart, lids);
  EXPECT_TRUE(check_routes(apart, lids, routing).ok());
  EXPECT_EQ(VerifiedRoutes::build({&apart, &lids, &routing}), nullptr);
  const Generated ring = generated("torus:dims=5,hosts=1");
  const RoutingTables round = compute("minhop", ring.fabric, ring.lids);
  EXPECT_FALSE(check_routes(ring.fabric, ring.lids, round).acyclic);
  EXPECT_EQ(VerifiedRoutes::build({&ring.fabric, &ring.lids, &round}), nullptr);
}

}  // namespace verified_routes_test
}  // namespace smd::test
