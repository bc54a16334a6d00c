#include "smd/routing/verify/channel_load.h"
#include "smd/routing/verify/check_routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smd/base/rng.h"
#include "tests/unit/routing/support/paths.h"

namespace smd::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

//      S1
//     /  \      H1 on S2, H2 and H3 on S3, a fourth switch below both.
//   S2    S3
//     \  /
//      S4
constexpr const char* kDiamond = "S1-S2 S1-S3 S2-S4 S3-S4 H1-S2 H2-S3 H3-S3";

struct Network {
  explicit Network(std::string_view text) : fabric(fabric_from(text)), lids(lids_in_order(fabric)) {
    tables = compute("updn", fabric, lids).lft;
  }

  void set(std::string_view sw, std::string_view to, unsigned port) {
    tables.set_route(switch_named(fabric, sw),
                     lids.base[end_port(fabric, to)],
                     PortNum{static_cast<std::uint8_t>(port)});
  }

  unsigned port_between(std::string_view a, std::string_view b) {
    for (const PortIdx p : fabric.external_ports(node(fabric, a))) {
      if (fabric.peer[p] != kNone<PortIdx> && fabric.node_of[fabric.peer[p]] == node(fabric, b))
        return fabric.number_of(p).value();
    }
    return 255;
  }

  void send(std::string_view sw, std::string_view to, std::string_view next) {
    set(sw, to, port_between(sw, next));
  }

  RouteReport check() const { return check_routes(fabric, lids, tables); }

  Fabric fabric;
  LidMap lids;
  ForwardingTables tables;
};

TEST(Check, CountsPairsHopsAndMinimalRoutes) {
  const Network net{kDiamond};
  const RouteReport report = net.check();
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.pairs, 7u * 6u);
  EXPECT_EQ(report.disconnected, 0u);
  EXPECT_EQ(report.vls, 1u);
  EXPECT_THAT(report.first_faults, IsEmpty());
  // S2 with H1, S3 with H2 and H3: 1 hop to S1 and S4 each way, 2 hops to each other, S1-S4 2 hops.
  EXPECT_EQ(report.hops, 2u * (2 + 2 + 3 + 3) + 2u * 2 * 2 * 3 + 2u * 2);
  EXPECT_EQ(report.max_hops, 2u);
}

TEST(Check, HostsOnOneSwitchAreZeroHopsApart) {
  const Network net{"S1-H1 S1-H2"};
  const RouteReport report = net.check();
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.pairs, 6u);
  EXPECT_EQ(report.hops, 0u);
  EXPECT_EQ(report.minimal, 6u);
}

TEST(Check, AMissingEntryIsUnreachable) {
  Network net{kDiamond};
  net.set("S2", "H2", 255);
  const RouteReport report = net.check();
  EXPECT_FALSE(report.ok());
  EXPECT_GE(report.unreachable, 2u) << "S2 itself and H1";
  EXPECT_EQ(report.loops, 0u);
  EXPECT_THAT(report.first_faults[0], HasSubstr("H1:1 to lid 6: no route at S2"));
}

TEST(Check, TablesThatEndBeforeTheLidHaveNoRoute) {
  Network net{kDiamond};
  net.tables = ForwardingTables{};
  EXPECT_EQ(net.check().unreachable, 7u * 6u);
  net.tables = ForwardingTables{net.fabric.switch_count(), Lid{63}};
  net.lids = make_lid_map(net.fabric);
  set_lid(net.lids, end_port(net.fabric, "H1"), Lid{64}, 0);
  EXPECT_EQ(net.check().unreachable, 6u);
}

TEST(Check, ALoopOfTwoIsFound) {
  Network net{kDiamond};
  net.send("S2", "H2", "S4");
  net.send("S4", "H2", "S2");
  const RouteReport report = net.check();
  EXPECT_GE(report.loops, 3u) << "H1, S2 and S4";
  EXPECT_EQ(report.unreachable, 0u);
  EXPECT_THAT(report.first_faults[0], HasSubstr("to lid 6: loop through S"));
  EXPECT_FALSE(report.acyclic) << "a loop is the shortest way to wait for oneself";
}

TEST(Check, ALoopOfThreeIsFound) {
  Network net{"S1-S2 S2-S3 S3-S1 S3-S4 H1-S4"};
  net.send("S1", "H1", "S2");
  net.send("S2", "H1", "S3");
  net.send("S3", "H1", "S1");
  const RouteReport report = net.check();
  EXPECT_EQ(report.loops, 3u);
  EXPECT_EQ(report.cycle.size(), 3u);
}

TEST(Check, ALoopBackCableIsALoop) {
  Network net{"S1-H1 S1-S2 S2:5-S2:5"};
  EXPECT_TRUE(net.check().ok());
  net.set("S2", "H1", 5);
  EXPECT_EQ(net.check().loops, 1u);
}

TEST(Check, AWrongHostPortIsUnreachable) {
  Network net{kDiamond};
  net.send("S3", "H2", "H3");
  const RouteReport report = net.check();
  EXPECT_EQ(report.unreachable, 6u);
  EXPECT_THAT(report.first_faults[0], HasSubstr("leads to another node"));
}

TEST(Check, TheOtherPortOfTheSameAdapterIsAWrongPort) {
  Network net{"S1-H1:1 S1-H1:2 S1-H2"};
  net.tables.set_route(SwitchIdx{0}, net.lids.base[port(net.fabric, "H1:1")], PortNum{2});
  EXPECT_EQ(net.check().unreachable, 3u);
}

TEST(Check, ASwitchMayNotKeepWhatIsForOthers) {
  Network net{kDiamond};
  net.set("S2", "H2", 0);
  EXPECT_THAT(net.check().first_faults[0], HasSubstr("port 0 of S2 leads to another node"));
}

TEST(Check, ADeadPortIsUnreachable) {
  Network net{"S1/6 S1-S2 H1-S1 H2-S2"};
  net.set("S1", "H2", 5);
  const RouteReport report = net.check();
  EXPECT_EQ(report.unreachable, 2u);
  EXPECT_THAT(report.first_faults[0], HasSubstr("H1:1 to lid 4: port 5 of S1 is down"));
}

TEST(Check, APortThatDoesNotExistIsUnreachable) {
  Network net{"S1-S2 H1-S1 H2-S2"};
  net.set("S1", "H2", 99);
  EXPECT_THAT(net.check().first_faults[0], HasSubstr("S1 has no port 99"));
}

TEST(Check, NamesAtMostTenFaults) {
  Network net{kDiamond};
  net.tables = ForwardingTables{net.fabric.switch_count(), net.lids.top};
  EXPECT_EQ(net.check().first_faults.size(), 10u);
}

TEST(Check, ALongerRouteIsNotMinimal) {
  Network net{kDiamond};
  const RouteReport before = net.check();
  net.send("S2", "S4", "S1");
  net.send("S1", "S4", "S3");
  net.send("S3", "S4", "S4");
  const RouteReport report = net.check();
  EXPECT_EQ(report.unreachable + report.loops, 0u);
  EXPECT_EQ(report.max_hops, 3u);
  EXPECT_EQ(report.minimal, before.minimal - 2) << "S2 and H1 go a long way round";
  EXPECT_EQ(check_routes(net.fabric, net.lids, net.tables, {.minimality = false}).minimal, 0u);
}

TEST(Check, IslandsAreDisconnectedNotUnreachable) {
  const Network net{"S1-H1 S2-H2"};
  const RouteReport report = net.check();
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.pairs, 4u);
  EXPECT_EQ(report.disconnected, 8u);
}

TEST(Check, ALoopOnAnotherIslandIsStillALoop) {
  Network net{"S1-H1 S2-S3 H2-S2"};
  net.send("S2", "H1", "S3");
  net.send("S3", "H1", "S2");
  EXPECT_EQ(net.check().loops, 3u);
}

TEST(Check, TwoHostsOnOneCableNeedNoTables) {
  const Network net{"H1-H2"};
  const RouteReport report = net.check();
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.pairs, 2u);
}

TEST(Check, AnEmptyFabricHasNoFaults) {
  const Fabric f = fabric_from("");
  EXPECT_TRUE(check_routes(f, make_lid_map(f), ForwardingTables{}).ok());
}

TEST(Check, ShortestRoutesOnARingWaitForEachOther) {
  //  S1-S2     Everybody goes round to the right to the opposite corner.
  //   |  |
  //  S4-S3
  Network net{"S1:1-S2:2 S2:1-S3:2 S3:1-S4:2 S4:1-S1:2 H1-S1 H2-S2 H3-S3 H4-S4"};
  ASSERT_TRUE(net.check().acyclic);
  const char* const hosts[] = {"H1", "H2", "H3", "H4"};
  const char* const switches[] = {"S1", "S2", "S3", "S4"};
  for (unsigned i = 0; i < 4; ++i) {
    net.set(switches[i], hosts[(i + 1) % 4], 1);
    net.set(switches[i], hosts[(i + 2) % 4], 1);
    net.set(switches[i], hosts[(i + 3) % 4], 2);
  }
  const RouteReport report = net.check();
  EXPECT_EQ(report.unreachable + report.loops, 0u);
  EXPECT_FALSE(report.acyclic);
  EXPECT_FALSE(report.ok());
  EXPECT_EQ(report.cycle.size(), 4u);
  EXPECT_EQ(print_cycle(net.fabric, report.cycle),
            "S1:1(VL0) -> S2:1(VL0) -> S3:1(VL0) -> S4:1(VL0)");
}

TEST(Check, SaysTheSameHoweverManyThreadsShareIt) {
  const Network whole{"S1:1-S2:2 S2:1-S3:2 S3:1-S4:2 S4:1-S1:2 S1:3-S3:3 H1-S1 H2-S2 H3-S3 H4-S4"};
  unsigned faulty = 0, cyclic = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng{seed};
    Network net = whole;
    for (std::uint64_t change = 0; change < seed % 25; ++change) {
      const SwitchIdx sw{static_cast<std::uint32_t>(rng.below(net.fabric.switch_count()))};
      const Lid lid{static_cast<std::uint16_t>(1 + rng.below(net.lids.top.value()))};
      net.tables.set_route(sw, lid, PortNum{static_cast<std::uint8_t>(rng.below(6))});
    }
    const RouteReport alone = net.check();
    faulty += alone.first_faults.empty() ? 0 : 1;
    cyclic += alone.acyclic ? 0 : 1;
    for (const unsigned threads : {2u, 3u, 8u}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << threads << " threads");
      EXPECT_EQ(check_routes(net.fabric, net.lids, net.tables, {.threads = threads}), alone);
    }
  }
  EXPECT_GE(faulty, 100u);
  EXPECT_GE(cyclic, 20u);
}

TEST(Check, PrintsNoCycleWhereThereIsNone) { EXPECT_EQ(print_cycle(fabric_from("S1-S2"), {}), ""); }

TEST(ChannelGraph, ALaneChangeBreaksACycle) {
  const Fabric f = fabric_from("S1:1-S2:2 S2:1-S3:2 S3:1-S1:2");
  ChannelGraph one{f, 1};
  ChannelGraph two{f, 2};
  for (const char* in : {"S1:2", "S2:2", "S3:2"}) {
    one.add(port(f, in), 0, 1, 0);
    const bool last = std::string_view{in} == "S1:2";
    two.add(port(f, in), 0, 1, last ? 1 : 0);
    two.add(port(f, in), 1, 1, 1);
  }
  EXPECT_EQ(one.find_cycle().size(), 3u);
  EXPECT_THAT(two.find_cycle(), Not(IsEmpty())) << "lane 1 still goes all the way round";

  ChannelGraph cut{f, 2};
  cut.add(port(f, "S2:2"), 0, 1, 0);
  cut.add(port(f, "S3:2"), 0, 1, 0);
  cut.add(port(f, "S1:2"), 0, 1, 1);
  cut.add(port(f, "S2:2"), 1, 1, 1);
  EXPECT_THAT(cut.find_cycle(), IsEmpty());
}

TEST(ChannelGraph, FindsAShortCycleBesideALongOne) {
  //  S1 - S2     The square, and back and forth between S1 and S2.
  //  |     |
  //  S4 - S3
  const Fabric f = fabric_from("S1:1-S2:2 S2:1-S3:2 S3:1-S4:2 S4:1-S1:2");
  ChannelGraph graph{f, 1};
  for (const char* in : {"S1:2", "S2:2", "S3:2", "S4:2"}) graph.add(port(f, in), 0, 1, 0);
  graph.add(port(f, "S2:2"), 0, 2, 0);
  graph.add(port(f, "S1:1"), 0, 1, 0);
  EXPECT_EQ(graph.find_cycle().size(), 2u);
}

TEST(MeasureLoad, CountsPathsOfHostPairsPerChannel) {
  //  H1, H2 - S1 - S2 - H3: two paths to the right, two to the left.
  const Network net{"S1-H1 S1-H2 S1-S2 S2-H3"};
  const LoadReport load = measure_load(net.fabric, net.lids, net.tables);
  EXPECT_EQ(load.max, 2u);
  EXPECT_DOUBLE_EQ(load.mean, 2.0);
  EXPECT_DOUBLE_EQ(load.stddev, 0.0);
}

TEST(MeasureLoad, SpreadIsThePopulationStandardDeviation) {
  //  H1 - S1 = S2 - H2 over two cables; the second carries nothing.
  Network net{"S1:1-S2:1 S1:2-S2:2 S1-H1 S2-H2"};
  net.set("S1", "H2", 1);
  net.set("S2", "H1", 1);
  const LoadReport load = measure_load(net.fabric, net.lids, net.tables);
  EXPECT_EQ(load.max, 1u);
  EXPECT_DOUBLE_EQ(load.mean, 0.5);
  EXPECT_DOUBLE_EQ(load.stddev, 0.5);
}

TEST(MeasureLoad, IsZeroWithoutChannels) {
  const Network net{"S1-H1 S1-H2"};
  EXPECT_EQ(measure_load(net.fabric, net.lids, net.tables).max, 0u);
}

}  // namespace
}  // namespace smd::test
