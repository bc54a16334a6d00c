// What routes are worth, against traffic patterns followed one by one.
#include "smd/routing/verify/route_measures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <numeric>

#include "smd/routing/verify/patterns.h"
#include "tests/unit/routing/support/generated.h"
#include "tests/unit/routing/support/random_fabric.h"

namespace smd::test {
namespace {

/// Every shift as a pattern of its own.
std::vector<double> list_shifts(const Fabric& fabric,
                                const LidMap& lids,
                                const ForwardingTables& tables) {
  const std::vector<PortIdx> hosts = find_hosts(fabric, lids);
  std::vector<HostNum> order;
  std::vector<std::size_t> first;
  for (const auto& group : group_by_switch(fabric, hosts)) {
    first.push_back(order.size());
    order.insert(order.end(), group.begin(), group.end());
  }
  std::vector<double> out;
  for (std::size_t group = 1; group < first.size(); ++group) {
    std::vector<HostNum> to(hosts.size());
    for (std::size_t at = 0; at < order.size(); ++at)
      to[order[at]] = order[(at + first[group]) % order.size()];
    out.push_back(measure_pattern(fabric, lids, tables, hosts, permutation_pattern(to)).throughput);
  }
  return out;
}

void expect_as_patterns(const Fabric& fabric, const LidMap& lids, const ForwardingTables& tables) {
  const std::vector<PortIdx> hosts = find_hosts(fabric, lids);
  const RouteMeasures found = measure_routes(fabric, lids, tables, {.permutations = 7, .seed = 3});
  const PatternLoad uniform = measure_pattern(
      fabric, lids, tables, hosts, uniform_pattern(static_cast<HostNum>(hosts.size())));
  EXPECT_NEAR(found.uniform, uniform.throughput, 1e-12);
  EXPECT_EQ(found.lost, uniform.lost);
  EXPECT_EQ(found.load, measure_load(fabric, lids, tables));
  EXPECT_EQ(found.permutations,
            measure_effective_bisection(fabric, lids, tables, hosts, 7, 3).mean);
  const std::vector<double> shifts = list_shifts(fabric, lids, tables);
  if (shifts.empty()) return;
  const double time = std::accumulate(
      shifts.begin(), shifts.end(), 0.0, [](double sum, double share) { return sum + 1 / share; });
  EXPECT_NEAR(found.shifts, static_cast<double>(shifts.size()) / time, 1e-12);
  EXPECT_NEAR(found.worst_shift, std::ranges::min(shifts), 1e-12);
}

TEST(RouteMeasures, AreThoseOfTheirPatterns) {
  for (const char* const call : {"fat-tree:k=4,levels=3", "torus:dims=4.3,hosts=2", "dragonfly"}) {
    const Generated g = generated(call);
    expect_as_patterns(g.fabric, g.lids, compute("updn", g.fabric, g.lids).lft);
  }
}

TEST(RouteMeasures, AreTheSameByAnyNumberOfThreads) {
  const Generated g = generated("torus:dims=4.3,hosts=2");
  const ForwardingTables tables = compute("updn", g.fabric, g.lids).lft;
  const RouteMeasures alone = measure_routes(g.fabric, g.lids, tables, {.threads = 1});
  EXPECT_LT(alone.worst_shift, alone.shifts);
  for (const unsigned threads : {2u, 3u, 8u, 40u})
    EXPECT_EQ(measure_routes(g.fabric, g.lids, tables, {.threads = threads}), alone);
}

TEST(RouteMeasures, CountBySpeed) {
  // Two cables, the second twice as fast; each leads one of two hosts each way.
  Fabric fabric = fabric_from("S1:1-S2:1 S1:2-S2:2 S1:3-H1 S1:4-H2 S2:3-H3 S2:4-H4");
  const LidMap lids = lids_in_order(fabric);
  for (PortInfo& info : fabric.port_info) {
    info.link_width_active = 2;
    info.link_speed_active = 1;
  }
  for (const PortIdx port : find_channels(fabric))
    if (fabric.number_of(port) == PortNum{2}) fabric.port_info[port].link_speed_active = 2;
  ForwardingTables tables = compute("updn", fabric, lids).lft;
  for (const char* const host : {"H1", "H2", "H3", "H4"}) {
    const SwitchIdx far = switch_named(fabric, host[1] <= '2' ? "S2" : "S1");
    tables.set_route(far, lids.base[end_port(fabric, host)], PortNum{2});
  }
  const RouteMeasures fast = measure_routes(fabric, lids, tables);
  EXPECT_EQ(fast.load.max, 4u);
  EXPECT_TRUE(fast.load.mixed_speeds);
  EXPECT_DOUBLE_EQ(fast.load.fullest, 2) << "4 paths on a cable twice as fast";
  EXPECT_DOUBLE_EQ(fast.load.slowest_gbps, 8);
  EXPECT_DOUBLE_EQ(fast.load.per_gbps(), 0.25);
  EXPECT_DOUBLE_EQ(fast.worst_shift, 1) << "two hosts on a cable of twice their speed";
  EXPECT_DOUBLE_EQ(fast.permutations, 1);
  expect_as_patterns(fabric, lids, tables);
  for (const char* const host : {"H1", "H2", "H3", "H4"}) {
    const SwitchIdx far = switch_named(fabric, host[1] <= '2' ? "S2" : "S1");
    tables.set_route(far, lids.base[end_port(fabric, host)], PortNum{1});
  }
  const RouteMeasures slow = measure_routes(fabric, lids, tables);
  EXPECT_DOUBLE_EQ(slow.load.fullest, 4);
  EXPECT_DOUBLE_EQ(slow.worst_shift, 0.5);
  EXPECT_LT(slow.permutations, 1);
}

TEST(RouteMeasures, AFewSlowHostsSayNothingOfTheOthers) {
  const Generated g = generated("pgft:down=4.4,up=1.2,parallel=1.1,speed=NDR");
  const ForwardingTables tables = compute("updn", g.fabric, g.lids).lft;
  const RouteMeasures even = measure_routes(g.fabric, g.lids, tables);
  EXPECT_EQ(even.full_rate, (FullRate{.mbps = 400'000, .others = 0}));
  EXPECT_LT(even.uniform, 1);
  Fabric fabric = g.fabric;
  // A bad cable: one lane of four.
  fabric.port_info[find_hosts(fabric, g.lids).front()].link_width_active = 1;
  RouteMeasures one_slow = measure_routes(fabric, g.lids, tables);
  EXPECT_EQ(one_slow.full_rate, (FullRate{.mbps = 400'000, .others = 1}));
  one_slow.full_rate = even.full_rate;
  EXPECT_EQ(one_slow, even);
}

TEST(RouteMeasures, FullRateIsTheHigherOfTwoThatAsManyHave) {
  const Generated g = generated("fat-tree:k=4,levels=2,speed=NDR");
  const std::vector<PortIdx> hosts = find_hosts(g.fabric, g.lids);
  Fabric fabric = g.fabric;
  for (std::size_t i = 0; i < hosts.size(); i += 2)
    fabric.port_info[hosts[i]].link_width_active = 1;
  EXPECT_EQ(find_full_rate(fabric, hosts), (FullRate{.mbps = 400'000, .others = hosts.size() / 2}));
}

TEST(RouteMeasures, OverAllLidsOfAPortCountEachWithItsShare) {
  // First LIDs take the first of two cables, the second ones the other.
  const Fabric fabric = fabric_from("S1:1-S2:1 S1:2-S2:2 S1:3-H1 S1:4-H2 S2:3-H3 S2:4-H4");
  const LidMap lids = lids_in_order(fabric, 1);
  ForwardingTables tables = compute("updn", fabric, lids).lft;
  const auto lead = [&](const char* host, unsigned offset, std::uint8_t cable) {
    tables.set_route(
        switch_named(fabric, host[1] <= '2' ? "S2" : "S1"),
        Lid{static_cast<std::uint16_t>(lids.base[end_port(fabric, host)].value() + offset)},
        PortNum{cable});
  };
  for (const char* const host : {"H1", "H2", "H3", "H4"}) {
    lead(host, 0, 1);
    lead(host, 1, 2);
  }
  RouteMeasures found = measure_routes(fabric, lids, tables, {.spread = true});
  EXPECT_DOUBLE_EQ(found.shifts, 0.5);
  EXPECT_DOUBLE_EQ(found.uniform, 1);
  ASSERT_TRUE(found.spread);
  EXPECT_EQ(*found.spread, SpreadMeasures{}) << "all of full rate";
  for (const char* const host : {"H1", "H2", "H3", "H4"}) lead(host, 1, 1);
  found = measure_routes(fabric, lids, tables, {.spread = true});
  EXPECT_DOUBLE_EQ(found.spread->shifts, 0.5);
  EXPECT_DOUBLE_EQ(found.spread->worst_shift, 0.5);
  lead("H1", 1, 2);  // three flows in four of the way back stay where they were
  found = measure_routes(fabric, lids, tables, {.spread = true});
  EXPECT_DOUBLE_EQ(found.spread->worst_shift, 0.5);
  EXPECT_FALSE(measure_routes(fabric, lids, tables).spread) << "not asked for";
  EXPECT_FALSE(measure_routes(fabric, lids_in_order(fabric), tables, {.spread = true}).spread);
}

TEST(RouteMeasures, MeanHopsAreThoseOfHosts) {
  const Fabric fabric = fabric_from("S1-S2 S2-S3 H1-S1 H2-S3 H3-S3");
  const LidMap lids = lids_in_order(fabric);
  // H1 to and from two hosts over 2 links, those two to each other over none.
  EXPECT_DOUBLE_EQ(measure_routes(fabric, lids, compute("updn", fabric, lids).lft).mean_hops,
                   4 * 2 / 6.0);
}

TEST(RouteMeasures, OfNothingAreHarmless) {
  const Fabric fabric = fabric_from("S1-S2");
  EXPECT_EQ(measure_routes(fabric, lids_in_order(fabric), {}), RouteMeasures{});
  const Fabric two = fabric_from("S1-S2 H1-S1 H2-S2");
  const RouteMeasures lost = measure_routes(two, lids_in_order(two), {});
  EXPECT_EQ(lost.lost, 4u);
  EXPECT_EQ(lost.load.max, 0u);
}

RC_GTEST_PROP(RouteMeasures, AreThoseOfTheirPatternsEverywhere, ()) {
  const Fabric fabric = fabric_from(*random_fabric_text());
  const LidMap lids = lids_in_order(fabric);
  if (find_hosts(fabric, lids).empty()) return;
  ForwardingTables tables = compute("updn", fabric, lids).lft;
  // Entries that lead nowhere, elsewhere and round.
  for (int times = *rc::gen::inRange(0, 4); times > 0; --times) {
    const auto sw = *rc::gen::inRange(0u, static_cast<unsigned>(fabric.switch_count()));
    const auto lid = *rc::gen::inRange<std::uint16_t>(1, lids.top.value() + 1);
    tables.set_route(SwitchIdx{sw}, Lid{lid}, PortNum{*rc::gen::inRange<std::uint8_t>(0, 6)});
  }
  if (measure_routes(fabric, lids, tables, {.permutations = 1}).lost != 0) return;
  expect_as_patterns(fabric, lids, tables);
  RC_ASSERT(!::testing::Test::HasFailure());
}

}  // namespace
}  // namespace smd::test
