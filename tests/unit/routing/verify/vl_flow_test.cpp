// Credit loops per lane, and what lanes discard.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>
#include <map>
#include <set>

#include "smd/routing/verify/check_routes.h"
#include "tests/support/port_num.h"
#include "tests/unit/routing/support/paths.h"
#include "tests/unit/routing/support/random_fabric.h"

namespace smd::test {
namespace vl_flow_test {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

SlToVl row_of(unsigned vl) {
  SlToVl row;
  row.fill(Vl{static_cast<std::uint8_t>(vl)});
  return row;
}

SlToVl row_except(unsigned vl, unsigned sl, unsigned other) {
  SlToVl row = row_of(vl);
  row[sl] = Vl{static_cast<std::uint8_t>(other)};
  return row;
}

/// Four switches in a ring with a host each: port 1 leads to the right, 2 to the left, 3 to the
/// host. Opposite corners are reached to the right, which closes a cycle on one lane.
struct Ring {
  Ring() : lids(lids_in_order(fabric)) {
    routing.lft = ForwardingTables{4, lids.top};
    for (unsigned at = 0; at < 4; ++at) {
      for (unsigned to = 0; to < 4; ++to) {
        const unsigned right = (to + 4 - at) % 4;
        for (const bool host : {false, true}) {
          routing.lft.set_route(SwitchIdx{at},
                                lid(to, host),
                                port_num(right == 0   ? (host ? 3 : 0)
                                         : right == 3 ? 2
                                                      : 1));
        }
      }
    }
  }

  Lid lid(unsigned number, bool host) const {
    return lids.base[end_port(fabric, (host ? "H" : "S") + std::to_string(number + 1))];
  }

  void give_sls() { routing.path_sls = PathSls{4, lids.top}; }

  void set_sl(unsigned from, unsigned to, unsigned sl) {
    for (const bool host : {false, true})
      routing.path_sls.set_sl(SwitchIdx{from}, lid(to, host), static_cast<std::uint8_t>(sl));
  }

  /// All packets that go on to the right at S1 change to lane 1 there.
  void cross_at_first_switch() {
    routing.sl_to_vl = SlToVlMaps{fabric};
    routing.sl_to_vl.add_row(row_of(0));
    routing.sl_to_vl.set_row(
        SwitchIdx{0}, port_num(2), port_num(1), routing.sl_to_vl.add_row(row_of(1)));
  }

  RouteReport check(const CheckOptions& options = {}) const {
    return check_routes(fabric, lids, routing, options);
  }

  Fabric fabric =
      fabric_from("S1:1-S2:2 S2:1-S3:2 S3:1-S4:2 S4:1-S1:2 H1-S1:3 H2-S2:3 H3-S3:3 H4-S4:3");
  LidMap lids;
  RoutingTables routing;
};

TEST(CheckLanes, OneLaneIsWhatTheTablesAloneSay) {
  const Ring ring;
  const RouteReport alone = check_routes(ring.fabric, ring.lids, ring.routing.lft);
  const RouteReport report = ring.check();
  EXPECT_EQ(report.pairs, alone.pairs);
  EXPECT_EQ(report.hops, alone.hops);
  EXPECT_EQ(report.cycle, alone.cycle);
  EXPECT_EQ(report.vls, 1u);
  EXPECT_FALSE(report.acyclic);
}

TEST(CheckLanes, MoreLanesDoNotHelpWhereEverySlMayTakeEveryPath) {
  Ring ring;
  ring.routing.vls = 4;
  const RouteReport report = ring.check();
  EXPECT_FALSE(report.acyclic);
  EXPECT_EQ(report.vls, 4u);
  EXPECT_EQ(report.cycle.size(), 4u);
}

TEST(CheckLanes, AnSlOfItsOwnTakesOnePathOutOfTheCycle) {
  Ring ring;
  ring.routing.vls = 2;
  ring.give_sls();
  EXPECT_FALSE(ring.check().acyclic) << "SL 0 everywhere";
  ring.set_sl(3, 1, 1);
  const RouteReport report = ring.check();
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.vls, 2u);
  EXPECT_THAT(report.cycle, IsEmpty());
}

TEST(CheckLanes, ATurnKeepsTheLanesOfEveryLid) {
  // Switches are reached on lane 0, which closes the cycle; hosts, whose LIDs come later and take
  // the same turns, on two others that do not.
  Ring ring;
  ring.routing.vls = 4;
  ring.give_sls();
  for (unsigned from = 0; from < 4; ++from) {
    for (unsigned to = 0; to < 4; ++to)
      ring.routing.path_sls.set_sl(
          SwitchIdx{from}, ring.lid(to, true), static_cast<std::uint8_t>(1 + from % 2));
  }
  const RouteReport report = ring.check();
  EXPECT_FALSE(report.acyclic);
  EXPECT_EQ(report.vls, 3u);
  EXPECT_EQ(print_cycle(ring.fabric, report.cycle),
            "S1:1(VL0) -> S2:1(VL0) -> S3:1(VL0) -> S4:1(VL0)");
}

TEST(CheckLanes, SlsThatShareALaneDoNotHelp) {
  Ring ring;
  ring.routing.vls = 2;
  ring.give_sls();
  ring.set_sl(3, 1, 2);
  EXPECT_FALSE(ring.check().acyclic) << "SL 2 is lane 0 of 2";
}

TEST(CheckLanes, StrictModeSendsWithEverySl) {
  Ring ring;
  ring.routing.vls = 2;
  ring.give_sls();
  ring.set_sl(3, 1, 1);
  const RouteReport report = ring.check({.any_sl = true});
  EXPECT_FALSE(report.acyclic) << "a host that ignores its SL closes the cycle";
  EXPECT_EQ(report.unreachable, 0u);
}

TEST(CheckLanes, ALaneThatChangesOnTheWayBreaksTheCycleForEverySl) {
  Ring ring;
  ring.cross_at_first_switch();
  const RouteReport report = ring.check({.any_sl = true});
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.vls, 2u);
}

TEST(CheckLanes, TheLaneOfAPacketIsWhatItsInputGaveItNotWhereItWas) {
  // S1 puts everything that goes on to the right on lane 1, and so does S2: what S1 sends off by
  // itself meets it there, and the cycle is closed again on other lanes.
  Ring ring;
  ring.cross_at_first_switch();
  for (unsigned sw = 0; sw < 4; ++sw) {
    ring.routing.sl_to_vl.set_row(SwitchIdx{sw}, port_num(2), port_num(1), 1);
    ring.routing.sl_to_vl.set_row(SwitchIdx{sw}, port_num(3), port_num(1), 1);
    ring.routing.sl_to_vl.set_row(SwitchIdx{sw}, port_num(0), port_num(1), 1);
  }
  const RouteReport report = ring.check();
  EXPECT_FALSE(report.acyclic);
  EXPECT_EQ(print_cycle(ring.fabric, report.cycle),
            "S1:1(VL1) -> S2:1(VL1) -> S3:1(VL1) -> S4:1(VL1)");
}

TEST(CheckLanes, ATurnThatDiscardsIsUnreachableAndBreaksTheCycle) {
  Ring ring;
  ring.routing.sl_to_vl = SlToVlMaps{ring.fabric};
  ring.routing.sl_to_vl.add_row(row_of(0));
  ring.routing.sl_to_vl.set_row(
      SwitchIdx{0}, port_num(2), port_num(1), ring.routing.sl_to_vl.add_row(row_of(15)));
  const RouteReport report = ring.check();
  EXPECT_TRUE(report.acyclic);
  EXPECT_EQ(report.unreachable, 4u) << "S4 and H4 to S2 and H2";
  EXPECT_THAT(report.first_faults.at(0),
              HasSubstr("H4:1 to lid 2: SL 0 is discarded at S1 from port 2 to port 1"));
  EXPECT_EQ(report.loops, 0u);
}

TEST(CheckLanes, OnlyTheSlOfThePathHasToArrive) {
  Ring ring;
  ring.give_sls();
  ring.routing.sl_to_vl = SlToVlMaps{ring.fabric};
  ring.routing.sl_to_vl.add_row(row_except(15, 3, 0));
  EXPECT_EQ(ring.check().unreachable, 8u * 7u);
  for (unsigned from = 0; from < 4; ++from) {
    for (unsigned to = 0; to < 4; ++to) ring.set_sl(from, to, 3);
  }
  EXPECT_EQ(ring.check().unreachable, 0u);
  EXPECT_EQ(ring.check({.any_sl = true}).unreachable, 0u) << "what discards strays is welcome";
  ring.set_sl(0, 1, 4);
  EXPECT_EQ(ring.check().unreachable, 4u);
}

TEST(CheckLanes, WithoutSlsOfPathsEverySlHasToArrive) {
  Ring ring;
  ring.cross_at_first_switch();
  ring.routing.sl_to_vl.set_row(
      SwitchIdx{1}, port_num(2), port_num(3), ring.routing.sl_to_vl.add_row(row_except(0, 9, 15)));
  const RouteReport report = ring.check();
  EXPECT_EQ(report.unreachable, 4u) << "from S1, H1, S4 and H4 to H2";
  EXPECT_THAT(report.first_faults.at(0),
              HasSubstr("SL 9 is discarded at S2 from port 2 to port 3"));
}

TEST(CheckLanes, DiscardsOfOneHostLeaveItsNeighbourAlone) {
  const Fabric fabric = fabric_from("S1-S2 H1-S1:2 H2-S1:3 H3-S2:2");
  const LidMap lids = lids_in_order(fabric);
  RoutingTables routing{.lft = compute("updn", fabric, lids).lft, .sl_to_vl = SlToVlMaps{fabric}};
  routing.sl_to_vl.add_row(row_of(0));
  const std::uint16_t poison = routing.sl_to_vl.add_row(row_of(15));
  routing.sl_to_vl.set_row(SwitchIdx{0}, port_num(2), port_num(1), poison);
  EXPECT_EQ(check_routes(fabric, lids, routing).unreachable, 2u) << "H1 to S2 and H3";
  routing.sl_to_vl.set_row(SwitchIdx{0}, port_num(2), port_num(2), poison);
  EXPECT_EQ(check_routes(fabric, lids, routing).unreachable, 2u) << "nobody goes from H1 to H1";
  routing.sl_to_vl.set_row(SwitchIdx{0}, port_num(2), port_num(0), poison);
  EXPECT_EQ(check_routes(fabric, lids, routing).unreachable, 3u);
}

TEST(CheckLanes, ALaneThatACableLacksDiscards) {
  Ring ring;
  ring.routing.vls = 2;
  ring.give_sls();
  ring.set_sl(3, 1, 1);
  ring.fabric.port_info[port(ring.fabric, "S2:2")].vl_cap = 1;
  const RouteReport report = ring.check();
  EXPECT_EQ(report.unreachable, 4u);
  EXPECT_THAT(report.first_faults.at(0),
              HasSubstr("SL 1 is discarded at S1 from port 2 to port 1"));
}

TEST(CheckLanes, ANumberThatIsNoSlIsNoSl) {
  Ring ring;
  ring.routing.vls = 2;
  ring.give_sls();
  ring.set_sl(3, 1, 16);
  EXPECT_EQ(ring.check().unreachable, 4u);
  ring.routing.path_sls = PathSls{4, Lid{3}};
  EXPECT_GT(ring.check().unreachable, 4u) << "no SL is said for the LIDs above";
}

TEST(CheckLanes, OfferedSetsStandInPlaceOfTheSlsOfPaths) {
  Ring ring;
  ring.routing.vls = 2;
  SlSets offered(4, ring.lids.top);
  for (unsigned from = 0; from < 4; ++from) {
    for (unsigned lid = 1; lid <= ring.lids.top.value(); ++lid)
      offered.add(SwitchIdx{from}, Lid{static_cast<std::uint16_t>(lid)}, 0);
  }
  EXPECT_FALSE(ring.check({.offered = &offered}).acyclic);
  SlSets crossing = SlSets(4, ring.lids.top);
  for (unsigned from = 0; from < 4; ++from) {
    for (unsigned to = 0; to < 4; ++to) {
      for (const bool host : {false, true})
        crossing.add(SwitchIdx{from}, ring.lid(to, host), from == 3 && to == 1 ? 1 : 0);
    }
  }
  EXPECT_TRUE(ring.check({.offered = &crossing}).ok());
  EXPECT_EQ(ring.check({.offered = &crossing}).vls, 2u);
  crossing.add(SwitchIdx{3}, ring.lid(1, true), 0);
  EXPECT_FALSE(ring.check({.offered = &crossing}).acyclic) << "one host may use either";
  const SlSets none(4, ring.lids.top);
  EXPECT_EQ(ring.check({.offered = &none}).unreachable, 8u * 7u);
}

TEST(CheckLanes, LanesOfAnotherFabricDiscardEverything) {
  Ring ring;
  const Fabric other = fabric_from("S1-S2");
  ring.routing.sl_to_vl = SlToVlMaps{other};
  ring.routing.sl_to_vl.add_row(row_of(0));
  EXPECT_EQ(ring.check().unreachable, 8u * 7u);
}

TEST(CheckLanes, LoopsAreFollowedAllTheWayRound) {
  Ring ring;
  ring.routing.vls = 2;
  for (unsigned sw = 0; sw < 4; ++sw)
    ring.routing.lft.set_route(SwitchIdx{sw}, ring.lid(0, true), port_num(1));
  const RouteReport report = ring.check();
  EXPECT_EQ(report.loops, 7u);
  EXPECT_FALSE(report.acyclic);
}

// The oracle: every packet by itself, and cycles by depth-first search.

using Channel = std::pair<std::uint32_t, unsigned>;  // port that it leaves by, lane

struct Verdict {
  std::uint64_t unreachable = 0;
  std::map<Channel, std::set<Channel>> waits;
  std::set<unsigned> vls;

  bool acyclic() const {
    std::map<Channel, int> state;
    std::function<bool(const Channel&)> closes = [&](const Channel& at) {
      if (state[at] != 0) return state[at] == 1;
      state[at] = 1;
      if (const auto found = waits.find(at); found != waits.end()) {
        for (const Channel& next : found->second) {
          if (closes(next)) return true;
        }
      }
      state[at] = 2;
      return false;
    };
    for (const auto& [channel, next] : waits) {
      if (closes(channel)) return false;
    }
    return true;
  }
};

unsigned vl_of(const RoutingTables& routing, SwitchIdx sw, PortNum in, PortNum out, unsigned sl) {
  return routing.sl_to_vl.empty() ? sl % routing.vls
                                  : routing.sl_to_vl.row(sw, in, out)[sl].value();
}

/// Whether it arrives.
bool send(const Fabric& f,
          const RoutingTables& routing,
          PortIdx source,
          PortIdx owner,
          Lid lid,
          unsigned sl,
          Verdict& verdict) {
  PortIdx in = f.is_switch(f.node_of[source]) ? source : f.peer[source];
  Channel held{0xffffffff, 0};
  for (std::size_t steps = 0; steps <= f.switch_count(); ++steps) {
    const NodeIdx node = f.node_of[in];
    const SwitchIdx sw = f.switch_of[node];
    const PortNum out = routing.lft.route(sw, lid);
    if (out == kNoRoute || out.value() > f.num_ports(node)) return false;
    const PortIdx egress = f.port_of(node, out);
    const PortIdx far = f.peer[egress];
    const bool onward = far != kNone<PortIdx> && f.is_switch(f.node_of[far]);
    const unsigned vl = vl_of(routing, sw, f.number_of(in), out, sl);
    if (vl == 15) return false;
    if (!onward) return (out == PortNum{0} ? egress : far) == owner;
    const Channel wanted{egress.value(), vl};
    verdict.vls.insert(vl);
    if (held.first != 0xffffffff) verdict.waits[held].insert(wanted);
    held = wanted;
    in = far;
  }
  return false;
}

Verdict judge(const Fabric& f, const LidMap& lids, const RoutingTables& routing, bool any_sl) {
  Verdict verdict;
  for (unsigned value = 1; value <= lids.top.value(); ++value) {
    const Lid lid{static_cast<std::uint16_t>(value)};
    const PortIdx owner = lids.owner_of(lid);
    if (owner == kNone<PortIdx>) continue;
    for (const PortIdx source : f.peer.indices()) {
      if (!f.is_end_port(source)) continue;
      const PortIdx first = f.is_switch(f.node_of[source]) ? source : f.peer[source];
      const SwitchIdx sw = f.switch_at(first);
      if (sw == kNone<SwitchIdx>) continue;
      bool arrives = true;
      for (unsigned sl = 0; sl < 16; ++sl) {
        const bool path = routing.path_sls.empty() || routing.path_sls.sl(sw, lid) == sl;
        if (!path && !any_sl) continue;
        // What the owner sends to itself waits like everybody's at its own switch: not at all.
        const bool arrived = send(f, routing, source, owner, lid, sl, verdict);
        if (path) arrives = arrives && arrived;
      }
      if (!arrives && source != owner) ++verdict.unreachable;
    }
  }
  return verdict;
}

RC_GTEST_PROP(CheckLanesProperty, AgreesWithFollowingEveryPacketByItself, ()) {
  const std::string text = *random_fabric_text();
  const Fabric f = fabric_from(text);
  const LidMap lids = lids_in_order(f, static_cast<std::uint8_t>(*rc::gen::inRange(0, 2)));
  RoutingTables routing = compute("minhop", f, lids);
  const unsigned vls = *rc::gen::inRange(2u, 5u);
  routing.vls = vls;
  const auto any_vl = [&] {
    return *rc::gen::weightedOneOf<unsigned>(
        {{12, rc::gen::inRange(0u, vls)}, {1, rc::gen::just(15u)}});
  };
  if (*rc::gen::inRange(0, 4) != 0) {
    routing.path_sls = PathSls{f.switch_count(), lids.top};
    const unsigned sls = *rc::gen::inRange(1u, 17u);
    for (const SwitchIdx sw : f.switch_node.indices()) {
      for (unsigned lid = 0; lid <= lids.top.value(); ++lid)
        routing.path_sls.set_sl(sw,
                                Lid{static_cast<std::uint16_t>(lid)},
                                static_cast<std::uint8_t>(*rc::gen::inRange(0u, sls)));
    }
  }
  if (*rc::gen::inRange(0, 3) != 0) {
    routing.sl_to_vl = SlToVlMaps{f};
    const unsigned rows = *rc::gen::inRange(1u, 5u);
    std::vector<std::uint16_t> numbers;
    for (unsigned r = 0; r < rows; ++r) {
      SlToVl row;
      for (Vl& vl : row) vl = Vl{static_cast<std::uint8_t>(any_vl())};
      numbers.push_back(routing.sl_to_vl.add_row(row));
    }
    for (const SwitchIdx sw : f.switch_node.indices()) {
      const unsigned ports = f.num_ports(f.switch_node[sw]);
      for (unsigned in = 0; in <= ports; ++in) {
        for (unsigned out = 0; out <= ports; ++out)
          routing.sl_to_vl.set_row(sw, port_num(in), port_num(out), *rc::gen::elementOf(numbers));
      }
    }
  }
  for (const bool any_sl : {false, true}) {
    const RouteReport report = check_routes(f, lids, routing, {.any_sl = any_sl});
    const Verdict verdict = judge(f, lids, routing, any_sl);
    RC_ASSERT(report.acyclic == verdict.acyclic());
    RC_ASSERT(report.vls == std::max<std::size_t>(1, verdict.vls.size()));
    const std::uint64_t apart =
        judge(f, lids, RoutingTables{.lft = routing.lft}, false).unreachable;
    RC_ASSERT(report.loops == 0u);
    RC_ASSERT(report.unreachable + apart == verdict.unreachable);
  }
}

}  // namespace vl_flow_test
}  // namespace smd::test
