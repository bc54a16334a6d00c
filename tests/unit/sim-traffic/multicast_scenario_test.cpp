// Scenarios of messages to several hosts: which keys go together, that every copy comes in as its
// algorithm says, and what locks.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "sim-backend/multicast/algorithm.h"
#include "sim-backend/scenario/result_text.h"
#include "sim-backend/scenario/run.h"
#include "smd/base/rng.h"
#include "tests/support/scenario_text.h"

namespace smd::sim {
namespace multicast_scenario_test {

using test::fault_of_text;
using test::prepare_text;

using testing::HasSubstr;

std::string scenario(const std::string& algorithm, const std::string& rest = "") {
  return fmt::format(R"([fabric]
preset = "unit"
model = "worms"
name = "torus:dims=4.4,hosts=1,mesh=1"
[routes]
algorithm = "{}"
{})",
                     algorithm,
                     rest);
}

constexpr const char* kTraffic = R"([nic]
channels = 8
header = true
[traffic]
arrivals = "bernoulli"
size = 16
destinations = 6
[measure]
interval_us = 2
warm_up_messages = 500
messages = 3000
)";

TEST(MulticastScenario, RefusesWhatDoesNotGoTogether) {
  EXPECT_EQ(fault_of_text(scenario("dual-path", "system = \"UD\"\n")),
            "s.toml:7: routes.system is of source routes, not of routes.algorithm; leave it out");
  EXPECT_THAT(fault_of_text(scenario("dual-paths")),
              HasSubstr("s.toml:6: routes.algorithm must be one of separate, "));
  EXPECT_EQ(
      fault_of_text("[fabric]\nname = \"torus:dims=3.3,hosts=1\"\nmodel = \"worms\"\n[traffic]\n"
                    "destinations = 3\n"),
      "s.toml:5: source routes lead to one host: several need routes.algorithm");
  EXPECT_EQ(
      fault_of_text("[fabric]\nname = \"torus:dims=3.3,hosts=1\"\n[traffic]\ndestinations = 3\n"),
      "s.toml:4: traffic.destinations is of fabric.model = \"worms\"; leave it out");
  EXPECT_EQ(fault_of_text(scenario("dual-path", "[traffic]\ndestinations = 16\n")),
            "s.toml:8: traffic.destinations is 16: a message of 16 hosts has 15 others");
  EXPECT_EQ(fault_of_text(scenario(
                "dual-path", "[[fault]]\nat_us = 1\nwhat = \"link-down\"\nwhere = \"sw-0-0:1\"\n")),
            "s.toml:6: routes.algorithm is of a network without [[fault]]; leave one of them out");
  EXPECT_THAT(
      fault_of_text("[fabric]\nname = \"torus:dims=3.3,hosts=1\"\nmodel = \"worms\"\n[routes]\n"
                    "algorithm = \"pm\"\n"),
      HasSubstr("s.toml:5: pm needs a mesh of two dimensions"));
  EXPECT_THAT(
      fault_of_text("[fabric]\nname = \"torus:dims=3.3,hosts=2\"\nmodel = \"worms\"\n[routes]\n"
                    "algorithm = \"dual-path\"\n"),
      HasSubstr("has 2 hosts: multicast algorithms need one at each switch"));
}

// Whoever is free of circles with a channel for each lane into a switch runs at any load.
TEST(MulticastScenario, EveryAlgorithmDeliversAndOnlyWhatMayLocksDoes) {
  std::vector<std::string> locked;
  for (const MulticastAlgorithm& row : multicast_algorithms()) {
    const auto made = prepare_text(scenario(row.name, kTraffic));
    ASSERT_TRUE(made) << row.name;
    EXPECT_EQ(made->worms()->can_deadlock().has_value(), !row.adaptive) << row.name;
    const bool may = made->worms()->can_deadlock().value_or(true);
    const PointResult low = made->run(0.02, 1), again = made->run(0.02, 1);
    EXPECT_EQ(low.audit, "") << row.name;
    EXPECT_EQ(low.stats.digest, again.stats.digest) << row.name;
    const PointResult high = made->run(0.9, 1);
    EXPECT_EQ(high.audit, "") << row.name;
    EXPECT_TRUE(may || high.steady.deadlock.empty()) << row.name;
    if (may && !low.steady.deadlock.empty()) {
      locked.emplace_back(row.name);
      continue;
    }
    EXPECT_GE(low.worms->multicast.multicasts, 400u) << row.name;
    EXPECT_EQ(low.worms->multicast.copies, 6 * low.worms->multicast.multicasts) << row.name;
    EXPECT_NEAR(low.steady.accepted_load, 0.02, 0.002) << row.name;
  }
  EXPECT_THAT(locked, testing::ElementsAre("tree-xy", "path-xy", "up-down-tree"))
      << "at so little load";
}

// Of two lanes the second is blocked from the beginning of what is measured on, the first was
// before.
TEST(MulticastScenario, BlockedTimesAreOfTheLaneThatIsBlockedThen) {
  const std::vector<PortUse> before{
      {.node = 1, .active = 5, .blocked = 100, .blocked_lanes = {100, 10}}};
  const std::vector<PortUse> now{
      {.node = 1, .active = 12, .blocked = 110, .blocked_lanes = {110, 90}}};
  const std::vector<PortUse> since = use_since(now, before);
  ASSERT_EQ(since.size(), 1u);
  EXPECT_EQ(since[0].active, 7);
  EXPECT_EQ(since[0].blocked, 80);
  EXPECT_THAT(since[0].blocked_lanes, testing::ElementsAre(10, 80));
  EXPECT_EQ(use_since(now, {})[0].blocked, 110);
}

TEST(MulticastScenario, WhatLanesAreBlockedAddsUp) {
  for (const auto& [algorithm, lanes] : {std::pair{"dual-path", 1}, {"dual-path-2", 2}}) {
    const auto made = prepare_text(scenario(algorithm, kTraffic));
    ASSERT_TRUE(made);
    const PointResult point = made->run(0.1, 1);
    double longest = 0, all = 0;
    for (const WormPortUse& port : point.worms->ports) {
      EXPECT_LE(port.blocked, port.blocked_lanes);
      longest += port.blocked;
      all += port.blocked_lanes;
    }
    EXPECT_GT(longest, 0);
    EXPECT_LE(all, lanes * longest);
    EXPECT_EQ(all > longest, lanes == 2);
  }
}

TEST(MulticastScenario, ATreeInLockStepLocksAndTheKnotIsNamed) {
  const auto made = prepare_text(scenario("tree-xy", kTraffic));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->worms()->can_deadlock(), true);
  const PointResult point = made->run(0.5, 1);
  EXPECT_EQ(point.steady.state, RunState::Deadlocked);
  ASSERT_GE(point.steady.deadlock.size(), 2u);
  EXPECT_THAT(print_deadlock(made->spec(), point.steady.deadlock),
              testing::MatchesRegex("sw-.*:[1-4]\\(VL0\\) held by worm [0-9]+ -> sw-.*"));
  for (const char* fixed : {"dual-path", "multi-path"}) {
    const auto other = prepare_text(scenario(fixed, kTraffic));
    EXPECT_TRUE(other->run(0.5, 1).steady.deadlock.empty()) << fixed;
  }
}

// Copies that go on by themselves need room for all of a message: else the branch that waits keeps
// the others.
TEST(MulticastScenario, ATreeWithCopiesThatGoOnNeedsBuffersForWholeMessages) {
  for (const unsigned buffer : {4, 64}) {
    const auto made = prepare_text(scenario(
        "tree-xy",
        fmt::format("[worm]\ncopies = \"asynchronous\"\nbuffer = {}\n{}", buffer, kTraffic)));
    ASSERT_TRUE(made);
    EXPECT_EQ(made->run(0.5, 1).steady.deadlock.empty(), buffer == 64) << buffer;
  }
}

// All that a node takes in goes through one channel: lists that hold it wait for lists that wait
// for it.
TEST(MulticastScenario, OneChannelToAHostLocksWhatIsFreeOfCirclesWithFour) {
  std::string three = kTraffic;
  three.replace(three.find("channels = 8"), 12, "channels = 3");
  EXPECT_FALSE(prepare_text(scenario("dual-path", three))->worms()->can_deadlock()) << "left open";
  for (const unsigned channels : {1, 4}) {
    std::string traffic = kTraffic;
    traffic.replace(traffic.find("channels = 8"), 12, fmt::format("channels = {}", channels));
    const auto made = prepare_text(scenario("dual-path", traffic));
    ASSERT_TRUE(made);
    EXPECT_EQ(made->worms()->can_deadlock(), channels == 1);
    bool locks = false;
    for (std::uint64_t seed = 1; seed <= 3; ++seed)
      locks = locks || !made->run(0.9, seed).steady.deadlock.empty();
    EXPECT_EQ(locks, channels == 1);
  }
}

// Escapes are a proof where a lane holds flits of one message at a time; here it has room for two.
TEST(MulticastScenario, AdaptiveListsLockUnlessALaneIsEmptyWhenItIsTaken) {
  const auto text = [](const char* side, const char* algorithm, const char* allocation) {
    std::string out =
        scenario(algorithm,
                 fmt::format("[worm]\nallocation = \"{}\"\nbuffer = 16\n{}", allocation, kTraffic));
    out.replace(out.find("4.4"), 3, side);
    out.replace(out.find("size = 16\ndestinations = 6"), 26, "size = 8");
    return out;
  };
  for (const char* algorithm : {"dual-path-adaptive", "xy-adaptive"}) {
    for (const bool atomic : {false, true}) {
      const char* const allocation = atomic ? "atomic" : "non-atomic";
      const auto small = prepare_text(text("4.4", algorithm, allocation));
      const auto large = prepare_text(text("8.8", algorithm, allocation));
      ASSERT_TRUE(small && large);
      EXPECT_EQ(small->worms()->can_deadlock(),
                atomic ? std::optional(false) : std::optional<bool>());
      for (std::uint64_t seed = 1; seed <= 2; ++seed) {
        const PointResult point = large->run(0.9, seed);
        EXPECT_EQ(point.audit, "");
        EXPECT_EQ(point.steady.deadlock.empty(), atomic) << algorithm << ", seed " << seed;
      }
    }
  }
}

TEST(MulticastScenario, AtomicAllocationNeedsCredits) {
  EXPECT_EQ(fault_of_text("[fabric]\nname = \"torus:dims=3.3,hosts=1\"\nmodel = \"worms\"\n[worm]\n"
                          "allocation = \"atomic\"\n"),
            "s.toml:5: atomic allocation needs credits: STOP and GO do not tell that a buffer is "
            "empty");
}

TEST(MulticastScenario, MixesCountCopies) {
  std::string traffic = kTraffic;
  traffic.replace(traffic.find("destinations"), 0, "multicast_share = 0.1\n");
  const auto mixed = prepare_text(scenario("dual-path", traffic));
  ASSERT_TRUE(mixed);
  const PointResult point = mixed->run(0.05, 1);
  const MulticastSums& sums = point.worms->multicast;
  const auto all = static_cast<double>(sums.multicasts + sums.unicasts);
  EXPECT_NEAR(static_cast<double>(sums.multicasts) / all, 0.1, 0.02);
  EXPECT_NEAR(point.steady.accepted_load, 0.05, 0.005);
  EXPECT_THAT(print_scenario_json(*mixed, {.points = {point}, .saturation = {}}),
              HasSubstr("\"to_one_ns\""));
}

// A message of its own in an empty network, from sw-2-3 on a mesh of 6 x 6 to nine hosts: three
// cycles a hop, a bubble at each stop but the last, 4 for the host's own cables.
TEST(MulticastScenario, ALoneMessageTakesTheTimeOfItsFarthestList) {
  auto spec = load_fabric("torus:dims=6.6,hosts=1,mesh=1");
  ASSERT_TRUE(spec);

  struct Row {
    const char* algorithm;
    Cycle expected;
  };

  for (const Row& row : {Row{"dual-path", 74 + 4}, Row{"multi-path", 3 * 6 + 2 + 16 + 4}}) {
    WormSpec what{.options = WormOptions::unit(), .algorithm = row.algorithm, .channels = 4};
    what.header = true;
    const auto worms = WormScenario::prepare(*spec, what);
    ASSERT_TRUE(worms);
    const auto labelled = LabelledNet::build(*spec);
    const auto net = worms->make_net(1);

    struct Once final : Workload {
      Picos first(HostNum) override { return kNever; }

      Picos emit(DataNet&, HostNum, Picos) override { return kNever; }

      void on_delivered(DataNet&, const Delivery& delivery) override { last = delivery.tail; }

      Picos last = 0;
    } workload;

    net->set_workload(&workload);
    const auto host_at = [&](int x, int y) {
      const auto& leaves = worms->leaves();
      return static_cast<HostNum>(std::ranges::find(leaves, labelled->at(x, y)) - leaves.begin());
    };
    std::vector<HostNum> to;
    for (const auto& [x, y] :
         {std::pair{0, 0}, {0, 2}, {0, 5}, {1, 3}, {4, 5}, {5, 0}, {5, 1}, {5, 3}, {5, 4}})
      to.push_back(host_at(x, y));
    net->send_to(host_at(3, 2), to, 16);
    net->run_until(kMicro);
    EXPECT_EQ(net->stats().delivered, 9u);
    EXPECT_EQ(workload.last, row.expected * 1000) << row.algorithm;
    EXPECT_EQ(net->figures().multicast.last, row.expected * 1000);
  }
}

}  // namespace multicast_scenario_test
}  // namespace smd::sim
