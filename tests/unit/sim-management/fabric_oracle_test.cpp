// The oracles on tables made by hand.
#include "sim-backend/management/fabric_oracle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim-backend/management/fabric_timeline.h"
#include "smd/mad/tables.h"
#include "tests/unit/sim-management/rig.h"

namespace smd::sim {
namespace {

using test::along;
using test::Drawing;
using test::Hops;
using test::lid_of;
using test::port_num;
using test::request;
using test::Rig;

//   h0    h1        Switch i: port 1 to switch i+1, port 2 from switch i-1, port 3 to its host.
//   |      |        Hosts have LIDs 1 … 4. The client sits on h0.
//   s0 ---- s1
//   |       |
//   s3 ---- s2
//   |       |
//   h3     h2
FabricSpec ring(unsigned switches = 4) {
  Drawing drawing;
  for (unsigned i = 0; i < switches; ++i) drawing.ca("h" + std::to_string(i));
  for (unsigned i = 0; i < switches; ++i) drawing.sw("s" + std::to_string(i));
  for (unsigned i = 0; i < switches; ++i) {
    drawing.cable(switches + i, 3, i, 1);
    drawing.cable(switches + i, 1, switches + (i + 1) % switches, 2);
  }
  return drawing.spec();
}

/// Routes from h0 clockwise.
Hops path(unsigned sw) {
  static const std::initializer_list<unsigned> paths[] = {{1}, {1, 1}, {1, 1, 1}, {1, 1, 1, 1}};
  return paths[sw];
}

class Ring : public testing::Test {
 protected:
  /// Everything Active, every switch sends everything clockwise but to its own host.
  void bring_up() {
    static const std::initializer_list<unsigned> hosts[] = {
        {}, {1, 1, 3}, {1, 1, 1, 3}, {1, 1, 1, 1, 3}};
    for (unsigned h = 0; h < 4; ++h) rig.set_lid(hosts[h], 1, h + 1);
    for (unsigned s = 0; s < 4; ++s) {
      for (unsigned p = 1; p <= 3; ++p) rig.activate(path(s), p);
      route(s, 1, 1, 1, 1);
    }
    for (unsigned h = 0; h < 4; ++h) rig.activate(hosts[h], 1);
  }

  /// Where switch `s` sends the LIDs 1 … 4; the one of its own host goes there.
  void route(unsigned s, unsigned a, unsigned b, unsigned c, unsigned d) {
    unsigned ports[] = {a, b, c, d};
    ports[s] = 3;
    rig.set_routes(path(s), {{1, ports[0]}, {2, ports[1]}, {3, ports[2]}, {4, ports[3]}});
  }

  /// SLs 0 … 7 and 8 … 15 of one turn.
  void map(unsigned s, unsigned in, unsigned out, unsigned low, unsigned high) {
    SlToVl table;
    for (unsigned sl = 0; sl < 16; ++sl) {
      table[sl] = Vl{static_cast<std::uint8_t>(sl < 8 ? low : high)};
    }
    Smp set = along(path(s),
                    request(Method::Set,
                            AttributeId::SlToVlMappingTable,
                            encode_modifier(SlToVlModifier{port_num(in), port_num(out)})));
    encode_sl_to_vl(table, set.data);
    rig.ask(set);
  }

  /// When what was asked last was sent: each question takes a second.
  [[nodiscard]] TimePoint last_sent() const {
    return TimePoint{rig.runtime.now().since_epoch - std::chrono::seconds(1)};
  }

  Rig rig{ring()};
};

TEST_F(Ring, NobodyIsConnectedBeforeAManagerCame) {
  FabricOracle oracle(rig.fabric);
  EXPECT_EQ(oracle.connectivity(), (Connectivity{.connected = 0, .possible = 12, .total = 12}));
  EXPECT_EQ(oracle.deadlock(), (DeadlockLevel{.channels = 0, .on_cycle = 0}));
  EXPECT_EQ(oracle.find_loop(), "");
}

TEST_F(Ring, ClockwiseConnectsAllAndEveryClockwiseChannelWaits) {
  bring_up();
  FabricOracle oracle(rig.fabric);
  EXPECT_EQ(oracle.connectivity().connected, 12u);
  EXPECT_EQ(oracle.deadlock(), (DeadlockLevel{.channels = 8, .on_cycle = 4}));
  EXPECT_EQ(oracle.find_cycle(), "s0:1(VL0) -> s1:1(VL0) -> s2:1(VL0) -> s3:1(VL0) -> s0:1(VL0)");
  EXPECT_EQ(oracle.find_loop(), "");
}

TEST_F(Ring, ABrokenCircleIsNoCircle) {
  bring_up();
  // s3 reaches 2 and 3 the other way round, so that nothing comes over s3:1 that leaves by s0:1.
  route(3, 1, 2, 2, 1);
  route(2, 1, 2, 3, 1);
  FabricOracle oracle(rig.fabric);
  EXPECT_EQ(oracle.connectivity().connected, 12u);
  EXPECT_EQ(oracle.find_cycle(), "");
  EXPECT_EQ(oracle.deadlock().on_cycle, 0u);
}

TEST_F(Ring, ATurnThatIsBlockedForAllServiceLevelsIsNoDependency) {
  bring_up();
  map(0, 2, 1, 15, 15);
  FabricOracle oracle(rig.fabric);
  EXPECT_EQ(oracle.find_cycle(), "");
  // Through s0 went 4→2, 4→3, 3→2.
  EXPECT_EQ(oracle.connectivity().connected, 9u);
}

TEST_F(Ring, EachVirtualLaneIsAGraphOfItsOwn) {
  bring_up();
  const auto use_two_lanes = [&] {
    for (unsigned s = 0; s < 4; ++s) {
      for (unsigned p = 1; p <= 3; ++p) {
        rig.set_port(path(s), p, [](PortInfo& info) { info.operational_vls = 2; });
        for (unsigned in = 0; in <= 3; ++in) map(s, in, p, 0, 1);
      }
    }
  };
  use_two_lanes();
  EXPECT_NE(find_cycle(rig.fabric), "");
  map(0, 2, 1, 15, 1);
  EXPECT_EQ(find_cycle(rig.fabric),
            "s0:1(VL1) -> s1:1(VL1) -> s2:1(VL1) -> s3:1(VL1) -> s0:1(VL1)");
  EXPECT_DOUBLE_EQ(deadlock_level(rig.fabric), 0.5);
  map(0, 2, 1, 15, 15);
  EXPECT_EQ(find_cycle(rig.fabric), "");
  // A hop on the other lane does not open the circle.
  map(0, 2, 1, 1, 15);
  EXPECT_EQ(find_cycle(rig.fabric),
            "s0:1(VL1) -> s1:1(VL0) -> s2:1(VL0) -> s3:1(VL0) -> s0:1(VL1)");
}

TEST_F(Ring, AVlThatIsNotInUseDrops) {
  bring_up();
  map(0, 2, 1, 3, 3);
  FabricOracle oracle(rig.fabric);
  EXPECT_EQ(oracle.find_cycle(), "");
  EXPECT_EQ(oracle.connectivity().connected, 9u);
}

TEST_F(Ring, EntriesThatSendPacketsRoundAreALoop) {
  bring_up();
  route(1, 1, 1, 1, 1);
  rig.set_routes(path(2), {{1, 1}, {2, 1}, {3, 1}, {4, 1}});  // not to its own host
  FabricOracle oracle(rig.fabric);
  EXPECT_EQ(oracle.find_loop(), "lid 3: s1:1 -> s2:1 -> s3:1 -> s0:1 -> s1:1");
  EXPECT_EQ(oracle.connectivity().connected, 9u);
}

TEST_F(Ring, TwoSwitchesThatSendToEachOtherDiscardInsteadOfLooping) {
  bring_up();
  route(0, 3, 1, 1, 1);
  route(1, 1, 3, 2, 1);  // 3 goes back to s0: out of the port it came in by
  FabricOracle oracle(rig.fabric);
  EXPECT_EQ(oracle.find_loop(), "");
  EXPECT_EQ(oracle.connectivity().connected, 9u);  // 1, 2 and 4 do not reach 3
}

TEST_F(Ring, APortThatIsOnlyArmedTakesDataAndGivesNone) {
  bring_up();
  rig.set_port(path(1), 2, [](PortInfo& info) {
    info.port_state = static_cast<std::uint8_t>(PortState::Down);
  });
  EXPECT_EQ(deadlock_level(rig.fabric), 0);
  EXPECT_EQ(FabricOracle(rig.fabric).deadlock().channels, 6u);
  for (const unsigned s : {0u, 1u}) {
    rig.set_port(path(s), s == 0 ? 1 : 2, [](PortInfo& info) {
      info.port_state = static_cast<std::uint8_t>(PortState::Armed);
    });
  }
  EXPECT_EQ(FabricOracle(rig.fabric).deadlock().channels, 6u);
  rig.set_port(path(0), 1, [](PortInfo& info) {
    info.port_state = static_cast<std::uint8_t>(PortState::Active);
  });
  EXPECT_EQ(FabricOracle(rig.fabric).deadlock().channels, 7u);
  EXPECT_EQ(FabricOracle(rig.fabric).connectivity().connected, 12u);
}

TEST_F(Ring, WhatHasNoCablePathIsNotPossible) {
  bring_up();
  rig.fabric.set_link(4 + 1, PortNum{3}, false);
  FabricOracle oracle(rig.fabric);
  EXPECT_EQ(oracle.connectivity(), (Connectivity{.connected = 6, .possible = 6, .total = 12}));
  EXPECT_DOUBLE_EQ(oracle.connectivity().level(), 1.0);
}

TEST_F(Ring, ALidThatIsGivenTwiceIsFound) {
  bring_up();
  EXPECT_EQ(find_shared_lid(rig.fabric), "");
  rig.set_lid({1, 1, 3}, 1, 4);
  EXPECT_EQ(find_shared_lid(rig.fabric), "lid 4: h1 and h3");
}

TEST_F(Ring, TheTimelineSeesWhatPassed) {
  FabricTimeline timeline(rig.runtime, rig.fabric);
  bring_up();
  EXPECT_DOUBLE_EQ(timeline.lowest_connectivity(), 0.0);
  EXPECT_DOUBLE_EQ(timeline.samples().back().connectivity.level(), 1.0);
  ASSERT_TRUE(timeline.first_cycle().has_value());
  map(0, 2, 1, 15, 15);
  timeline.restart();
  EXPECT_FALSE(timeline.first_cycle().has_value());
  const TimePoint before = rig.runtime.now();
  map(0, 2, 1, 0, 0);
  map(0, 2, 1, 15, 15);
  ASSERT_TRUE(timeline.first_cycle().has_value());
  EXPECT_EQ(timeline.first_cycle()->at, before);
  EXPECT_DOUBLE_EQ(timeline.highest_deadlock(), 0.5);
  EXPECT_EQ(timeline.now().find_cycle(), "");
  EXPECT_EQ(timeline.changes(), 2u);

  EXPECT_FALSE(timeline.first_shared_lid().has_value());
  rig.set_lid({1, 1, 3}, 1, 4);
  const TimePoint shared_at = last_sent();
  rig.set_lid({1, 1, 3}, 1, 2);
  ASSERT_TRUE(timeline.first_shared_lid().has_value());
  EXPECT_EQ(timeline.first_shared_lid()->text, "lid 4: h1 and h3");
  EXPECT_EQ(timeline.first_shared_lid()->at, shared_at);

  map(0, 2, 1, 0, 0);  // or no packet goes all the way round
  EXPECT_FALSE(timeline.first_loop().has_value());
  const TimePoint looped_at = rig.runtime.now();
  rig.set_routes(path(2), {{1, 1}, {2, 1}, {3, 1}, {4, 1}});  // not to its own host
  route(2, 1, 1, 1, 1);
  ASSERT_TRUE(timeline.first_loop().has_value());
  EXPECT_EQ(timeline.first_loop()->text, "lid 3: s1:1 -> s2:1 -> s3:1 -> s0:1 -> s1:1");
  EXPECT_EQ(timeline.first_loop()->at, looped_at);
  EXPECT_EQ(timeline.now().find_loop(), "");
  EXPECT_EQ(find_shared_lid(rig.fabric), "");

  map(0, 2, 1, 15, 15);
  timeline.restart();
  EXPECT_FALSE(timeline.first_cycle().has_value());
  EXPECT_FALSE(timeline.first_shared_lid().has_value());
  EXPECT_FALSE(timeline.first_loop().has_value());
  EXPECT_EQ(timeline.changes(), 0u);
}

// Port 0 of a switch is what PortInfo with modifier 0 means there, by whichever port it came in.
TEST_F(Ring, TheTimelineSeesALidThatASwitchTook) {
  bring_up();
  FabricTimeline timeline(rig.runtime, rig.fabric);
  rig.set_lid(path(2), 0, 3);
  const TimePoint shared_at = last_sent();
  EXPECT_EQ(timeline.changes(), 1u);
  rig.set_lid({1, 1, 1, 3}, 1, 9);
  EXPECT_EQ(find_shared_lid(rig.fabric), "");
  ASSERT_TRUE(timeline.first_shared_lid().has_value());
  EXPECT_EQ(timeline.first_shared_lid()->text, "lid 3: h2 and s2");
  EXPECT_EQ(timeline.first_shared_lid()->at, shared_at);
}

TEST_F(Ring, AWriteThatChangesNothingIsNoChange) {
  bring_up();
  unsigned told = 0;
  rig.fabric.on_change([&](std::uint32_t, FabricChange) { ++told; });
  route(0, 3, 1, 1, 1);
  map(0, 2, 1, 0, 0);
  const unsigned for_the_row = told;
  map(0, 2, 1, 0, 0);
  rig.ask(test::get(path(0), AttributeId::LinearForwardingTable));
  EXPECT_EQ(told, for_the_row);
  route(0, 3, 2, 1, 1);
  EXPECT_EQ(told, for_the_row + 1);
}

// Packets go by more registers than the oracles read.
TEST_F(Ring, WhatPortsSendByIsAChange) {
  bring_up();
  std::vector<FabricChange> told;
  rig.fabric.on_change([&](std::uint32_t, FabricChange what) { told.push_back(what); });
  const auto set_port = [&](auto change) {
    told.clear();
    rig.set_port(path(0), 1, change);
    return told;
  };
  const auto ports = testing::ElementsAre(FabricChange::Ports);
  EXPECT_THAT(set_port([](PortInfo& info) { info.hoq_life = 7; }), ports);
  EXPECT_THAT(set_port([](PortInfo& info) { info.vl_high_limit = 3; }), ports);
  EXPECT_THAT(set_port([](PortInfo& info) { info.neighbor_mtu = 2; }), ports);
  EXPECT_THAT(set_port([](PortInfo& info) { info.hoq_life = 7; }), testing::IsEmpty());
  const auto set = [&](AttributeId attribute, std::uint32_t modifier, auto encode) {
    told.clear();
    Smp smp = along(path(0), request(Method::Set, attribute, modifier));
    encode(smp.data);
    EXPECT_EQ(rig.ask(smp)->status, 0u);
    return told;
  };
  for (const VlArbPart part : {VlArbPart::LowFirst, VlArbPart::HighFirst}) {
    const auto share = [](auto& data) { encode_vl_arb_block({{{.weight = 77}}}, data); };
    const VlArbModifier table{.part = part, .port = PortNum{1}};
    const auto arbitration = AttributeId::VlArbitrationTable;
    EXPECT_THAT(set(arbitration, encode_modifier(table), share), ports);
    EXPECT_THAT(set(arbitration, encode_modifier(table), share), testing::IsEmpty());
  }
  const auto live = [&](auto& data) {
    SwitchInfo info = rig.fabric.switch_info(4);
    info.life_time_value = 5;
    encode_switch_info(info, data);
  };
  EXPECT_THAT(set(AttributeId::SwitchInfo, 0, live), testing::ElementsAre(FabricChange::Routes));
}

TEST_F(Ring, BothEndsOfALinkAreTold) {
  std::vector<std::pair<std::uint32_t, FabricChange>> told;
  rig.fabric.on_change(
      [&](std::uint32_t node, FabricChange what) { told.emplace_back(node, what); });
  rig.fabric.set_link(4, PortNum{1}, false);
  EXPECT_THAT(told,
              testing::UnorderedElementsAre(std::pair(4u, FabricChange::Wiring),
                                            std::pair(5u, FabricChange::Wiring)));
}

TEST_F(Ring, WhoStopsObservingIsToldNothing) {
  unsigned told = 0;
  const ObserverId id = rig.fabric.on_change([&](std::uint32_t, FabricChange) { ++told; });
  rig.fabric.stop_observing(id);
  rig.fabric.set_link(4, PortNum{1}, false);
  EXPECT_EQ(told, 0u);
}

}  // namespace
}  // namespace smd::sim
