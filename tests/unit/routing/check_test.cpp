#include "smd/routing/check.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>

#include "tests/unit/routing/paths.h"
#include "tests/unit/routing/random_fabric.h"

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

// Who sends data: hosts and enhanced ports 0 to everybody, and whoever they ask to them.

/// Leaves S1 … S24 with twelve hosts each below spines S101 … S112, whose cables are not in the
/// order of the leaves, as in a machine room.
Fabric tree(bool enhanced) {
  std::string text = "H1-S1 ";
  for (unsigned spine = 0; spine < 12; ++spine) {
    for (unsigned i = 0; i < 24; ++i)
      text += fmt::format("S{}-S{} ", (spine * 5 + i) % 24 + 1, 101 + spine);
  }
  for (unsigned host = 2; host <= 288; ++host) text += fmt::format("H{}-S{} ", host, host % 24 + 1);
  Fabric fabric = fabric_from(text);
  for (SwitchInfo& info : fabric.switch_info) info.enhanced_port0 = enhanced;
  return fabric;
}

RouteReport check_minhop(const Fabric& fabric, const LidMap& lids) {
  return check_routes(fabric, lids, compute("minhop", fabric, lids).lft);
}

TEST(CheckDataPairs, ShortestRoutesOfATreeAreSoundThoughSpinesWouldCloseACircle) {
  const Fabric fabric = tree(false);
  const RouteReport report = check_minhop(fabric, lids_in_order(fabric));
  EXPECT_TRUE(report.ok()) << print_cycle(fabric, report.cycle);
  EXPECT_TRUE(report.acyclic);
  EXPECT_FALSE(report.acyclic_with_switch_pairs);
  EXPECT_EQ(report.switch_pairs, 36u * 35u);
}

TEST(CheckDataPairs, EnhancedPortsZeroSendToEachOther) {
  const Fabric fabric = tree(true);
  const RouteReport report = check_minhop(fabric, lids_in_order(fabric));
  EXPECT_FALSE(report.acyclic);
  EXPECT_FALSE(report.acyclic_with_switch_pairs);
  EXPECT_EQ(report.switch_pairs, 0u);
  EXPECT_THAT(report.cycle, Not(IsEmpty()));
}

// It asks the other spines over some leaf, and one of them answers over another.
TEST(CheckDataPairs, OneEnhancedPortZeroIsEnough) {
  Fabric fabric = tree(false);
  const LidMap lids = lids_in_order(fabric);
  const ForwardingTables tables = compute("minhop", fabric, lids).lft;
  fabric.switch_info[switch_named(fabric, "S101")].enhanced_port0 = true;
  const RouteReport report = check_routes(fabric, lids, tables);
  EXPECT_FALSE(report.acyclic);
  EXPECT_EQ(report.switch_pairs, 35u * 34u);
}

//   S11  S12   spines, without hosts. Each leaf S1 … S4 has a cable to both but for what a test
//              takes away, and a host of its number.
constexpr const char* kSmallTree =
    "S1-S11 S1-S12 S2-S11 S2-S12 S3-S11 S3-S12 S4-S11 S4-S12 H1-S1 H2-S2 H3-S3 H4-S4";

TEST(CheckDataPairs, ACircleOfHostsIsRefused) {
  Network net{kSmallTree};
  net.tables = compute("minhop", net.fabric, net.lids).lft;
  ASSERT_TRUE(net.check().ok());
  // To H1 by way of S2, to H3 by way of S4: S11 S2 S12 S4 S11.
  net.send("S3", "H1", "S11");
  net.send("S4", "H1", "S11");
  net.send("S11", "H1", "S2");
  net.send("S2", "H1", "S12");
  net.send("S12", "H1", "S1");
  net.send("S1", "H3", "S12");
  net.send("S2", "H3", "S12");
  net.send("S12", "H3", "S4");
  net.send("S4", "H3", "S11");
  net.send("S11", "H3", "S3");
  const RouteReport report = net.check();
  EXPECT_EQ(report.unreachable + report.loops, 0u);
  EXPECT_FALSE(report.acyclic);
  EXPECT_THAT(report.cycle, testing::SizeIs(4));
}

// Without the cable from S1 to S11, H1 asks S11 over S12 and S3, and is answered over S4 and S12.
TEST(CheckDataPairs, ACircleOfQuestionsAndAnswersIsRefused) {
  Network net{"S1-S12 S2-S11 S2-S12 S3-S11 S3-S12 S4-S11 S4-S12 H1-S1 H2-S2 H3-S3 H4-S4"};
  net.tables = compute("minhop", net.fabric, net.lids).lft;
  net.send("S12", "S11", "S3");
  net.send("S11", "H1", "S4");
  net.send("S3", "H4", "S11");
  net.send("S4", "H3", "S12");
  EXPECT_FALSE(net.check().acyclic);

  LidMap only_hosts = net.lids;
  for (PortIdx& owner : only_hosts.owner) {
    if (owner != kNone<PortIdx> && net.fabric.is_switch(net.fabric.node_of[owner]))
      owner = kNone<PortIdx>;
  }
  EXPECT_TRUE(check_routes(net.fabric, only_hosts, net.tables).acyclic)
      << "no host's packet to a host is in it";
}

/// Every pair by itself, straight from the definition.
class PairByPair {
 public:
  PairByPair(const Fabric& fabric, const LidMap& lids, const ForwardingTables& tables)
      : fabric_(fabric), tables_(tables) {
    for (const PortIdx from : fabric.peer.indices()) {
      if (!fabric.is_end_port(from)) continue;
      for (std::size_t lid = 0; lid < lids.owner.size(); ++lid) {
        const PortIdx to = lids.owner[lid];
        if (to != kNone<PortIdx> && (asks(from) || asks(to)))
          walk(from, Lid{static_cast<std::uint16_t>(lid)});
      }
    }
  }

  [[nodiscard]] bool acyclic() {
    for (bool gone = true; gone;) {
      gone = std::erase_if(waits_, [&](const auto& channel) {
               return std::ranges::none_of(channel.second,
                                           [&](PortIdx next) { return waits_.contains(next); });
             }) != 0;
    }
    return waits_.empty();
  }

 private:
  [[nodiscard]] SwitchIdx switch_of(PortIdx port) const {
    return fabric_.switch_of[fabric_.node_of[port]];
  }

  [[nodiscard]] bool asks(PortIdx end) const {
    return switch_of(end) == kNone<SwitchIdx> || fabric_.switch_info[switch_of(end)].enhanced_port0;
  }

  void walk(PortIdx from, Lid lid) {
    SwitchIdx at = switch_of(from);
    if (at == kNone<SwitchIdx>) at = switch_of(fabric_.peer[from]);
    PortIdx before = kNone<PortIdx>;
    for (unsigned hop = 0; hop < 40 && at != kNone<SwitchIdx>; ++hop) {
      const NodeIdx node = fabric_.switch_node[at];
      const PortNum egress = tables_.route(at, lid);
      if (egress.value() == 0 || egress.value() > fabric_.num_ports(node)) return;
      const PortIdx out = fabric_.port_of(node, egress);
      if (fabric_.peer[out] == kNone<PortIdx>) return;
      at = switch_of(fabric_.peer[out]);
      if (at == kNone<SwitchIdx>) return;
      if (before != kNone<PortIdx>) waits_[before].insert(out);
      before = out;
    }
  }

  const Fabric& fabric_;
  const ForwardingTables& tables_;
  std::map<PortIdx, std::set<PortIdx>> waits_;
};

RC_GTEST_PROP(CheckDataPairs, AreThoseThatAskAndThoseThatAnswer, ()) {
  Fabric fabric = fabric_from(*random_fabric_text());
  const LidMap lids = lids_in_order(fabric);
  const int enhanced = *rc::gen::weightedElement<int>({{3, 0}, {2, 10}, {1, 50}});
  for (SwitchInfo& info : fabric.switch_info)
    info.enhanced_port0 = *rc::gen::inRange(0, 100) < enhanced;
  ForwardingTables tables = compute("minhop", fabric, lids).lft;
  for (int i = *rc::gen::weightedElement<int>({{2, 0}, {1, 1}, {1, 4}}); i > 0; --i) {
    const auto sw =
        *rc::gen::inRange<std::uint32_t>(0, static_cast<std::uint32_t>(fabric.switch_count()));
    const auto lid =
        *rc::gen::inRange<std::uint16_t>(1, static_cast<std::uint16_t>(lids.top.value() + 1));
    tables.set_route(SwitchIdx{sw}, Lid{lid}, PortNum{*rc::gen::inRange<std::uint8_t>(0, 6)});
  }
  const RouteReport report = check_routes(fabric, lids, tables);
  RC_CLASSIFY(!report.acyclic, "refused");
  RC_CLASSIFY(report.acyclic && !report.acyclic_with_switch_pairs, "a circle that no data takes");
  RC_ASSERT(report.acyclic == PairByPair(fabric, lids, tables).acyclic());

  // Lanes that do not differ change nothing.
  RoutingTables lanes{.engine = "test", .lft = tables, .vls = 2};
  RC_ASSERT(check_routes(fabric, lids, lanes).acyclic == report.acyclic);
}

}  // namespace
}  // namespace smd::test
