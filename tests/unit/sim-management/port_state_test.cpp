// The port state machine, PortStateChange, and the fields of PortInfo that negotiate a link.
#include <gtest/gtest.h>

#include <algorithm>

#include "smd/mad/tables.h"
#include "tests/unit/sim-management/examples.h"

namespace smd::sim::test {
namespace port_state_test {

constexpr unsigned kBadField = 0x1c;

struct Transition {
  const char* name;
  PortState from;
  unsigned to;  // as written
  unsigned status;
  PortState after;
};

void PrintTo(const Transition& row, std::ostream* out) { *out << row.name; }

class PortStates : public ::testing::TestWithParam<Transition> {};

TEST_P(PortStates, FollowTheStateMachine) {
  const Transition& row = GetParam();
  Rig rig(line());
  // Port 2 of s1 leads to s2; port 4 is open.
  const unsigned port = row.from == PortState::Down ? 4 : 2;
  for (unsigned state = 3; state <= static_cast<unsigned>(row.from); ++state) {
    rig.set_port(
        {1}, port, [&](PortInfo& info) { info.port_state = static_cast<std::uint8_t>(state); });
  }
  ASSERT_EQ(rig.fabric.port_info(1, port_num(port)).state(), row.from);

  const auto answer = rig.set_port({1}, port, [&](PortInfo& info) {
    info.port_state = static_cast<std::uint8_t>(row.to);
    info.hoq_life = 7;
  });
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->status, row.status);
  const PortInfo after = rig.fabric.port_info(1, port_num(port));
  EXPECT_EQ(after.state(), row.after);
  EXPECT_EQ(after.hoq_life, row.status == 0 ? 7 : 0) << "a refused Set changes nothing";
  EXPECT_EQ(decode_port_info(answer->data).value().state(), row.after);
}

INSTANTIATE_TEST_SUITE_P(
    All,
    PortStates,
    ::testing::Values(
        Transition{"DownNop", PortState::Down, 0, 0, PortState::Down},
        Transition{"DownToDown", PortState::Down, 1, 0, PortState::Down},
        Transition{"DownToInitialize", PortState::Down, 2, kBadField, PortState::Down},
        Transition{"DownToArmed", PortState::Down, 3, kBadField, PortState::Down},
        Transition{"DownToActive", PortState::Down, 4, kBadField, PortState::Down},
        Transition{"InitNop", PortState::Initialize, 0, 0, PortState::Initialize},
        Transition{"InitToDown", PortState::Initialize, 1, 0, PortState::Initialize},
        Transition{"InitToInit", PortState::Initialize, 2, kBadField, PortState::Initialize},
        Transition{"InitToArmed", PortState::Initialize, 3, 0, PortState::Armed},
        Transition{"InitToActive", PortState::Initialize, 4, kBadField, PortState::Initialize},
        Transition{"ArmedNop", PortState::Armed, 0, 0, PortState::Armed},
        Transition{"ArmedToDown", PortState::Armed, 1, 0, PortState::Initialize},
        Transition{"ArmedToInit", PortState::Armed, 2, kBadField, PortState::Armed},
        Transition{"ArmedToArmed", PortState::Armed, 3, kBadField, PortState::Armed},
        Transition{"ArmedToActive", PortState::Armed, 4, 0, PortState::Active},
        Transition{"ActiveNop", PortState::Active, 0, 0, PortState::Active},
        Transition{"ActiveToDown", PortState::Active, 1, 0, PortState::Initialize},
        Transition{"ActiveToArmed", PortState::Active, 3, kBadField, PortState::Active},
        Transition{"ActiveToActive", PortState::Active, 4, kBadField, PortState::Active},
        Transition{"ActiveToNonsense", PortState::Active, 9, kBadField, PortState::Active}),
    [](const auto& test) { return test.param.name; });

class PortStateChange : public ::testing::Test {
 protected:
  PortStateChange() {
    configure_line(rig_);
    activate_line(rig_);
    // configure_line cleared the bit that power-on sets.
    EXPECT_FALSE(psc(1));
    EXPECT_FALSE(psc(2));
  }

  [[nodiscard]] bool psc(std::uint32_t node) const {
    return rig_.fabric.switch_info(node).port_state_change;
  }

  [[nodiscard]] PortState state(std::uint32_t node, unsigned port) const {
    return rig_.fabric.port_info(node, port_num(port)).state();
  }

  void clear(Hops path) {
    Smp set = along(path, request(Method::Set, AttributeId::SwitchInfo));
    SwitchInfo info = rig_.fabric.switch_info(path.size() == 1 ? 1 : 2);
    info.port_state_change = true;
    encode_switch_info(info, set.data);
    const auto answer = rig_.ask(set);
    ASSERT_TRUE(answer.has_value());
    EXPECT_FALSE(decode_switch_info(answer->data).value().port_state_change);
  }

  Rig rig_{line()};
};

TEST_F(PortStateChange, IsSetAtBothEndsOfALinkThatFailsAndClearedByWritingOne) {
  rig_.fabric.set_link(1, PortNum{2}, false);
  EXPECT_TRUE(psc(1));
  EXPECT_TRUE(psc(2));
  EXPECT_EQ(state(1, 2), PortState::Down);
  EXPECT_EQ(state(2, 1), PortState::Down);
  EXPECT_FALSE(rig_.fabric.link_up(1, PortNum{2}));
  clear({1});
  EXPECT_FALSE(psc(1));
  EXPECT_TRUE(psc(2));

  rig_.fabric.set_link(1, PortNum{2}, true);
  EXPECT_TRUE(psc(1));
  EXPECT_EQ(state(1, 2), PortState::Initialize);
  EXPECT_EQ(state(2, 1), PortState::Initialize);
}

// LinkDownDefaultState.
TEST_F(PortStateChange, APortThatSleepsWhenItsLinkIsLostComesBackWhenItIsWoken) {
  const auto set_default = [&](std::uint8_t phys, std::uint8_t down_default) {
    const auto answer = rig_.set_port({1}, 2, [&](PortInfo& info) {
      info.port_state = 0;
      info.port_physical_state = phys;
      info.link_down_default_state = down_default;
    });
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->status, 0);
  };
  set_default(0, 1);
  EXPECT_EQ(state(1, 2), PortState::Active);
  rig_.fabric.set_link(1, PortNum{2}, false);
  rig_.fabric.set_link(1, PortNum{2}, true);
  EXPECT_EQ(state(1, 2), PortState::Down);
  set_default(2, 2);
  EXPECT_EQ(state(1, 2), PortState::Initialize);
  rig_.fabric.set_link(1, PortNum{2}, false);
  rig_.fabric.set_link(1, PortNum{2}, true);
  EXPECT_EQ(state(1, 2), PortState::Initialize);
}

TEST_F(PortStateChange, WritingZeroKeepsIt) {
  rig_.fabric.set_link(1, PortNum{2}, false);
  Smp set = along({1}, request(Method::Set, AttributeId::SwitchInfo));
  encode_switch_info({.linear_fdb_top = 63}, set.data);
  ASSERT_TRUE(rig_.ask(set).has_value());
  EXPECT_TRUE(psc(1));
}

TEST_F(PortStateChange, ASetToDownReportsAtTheFarEndOnly) {
  rig_.set_port({1}, 2, [](PortInfo& info) { info.port_state = 1; });
  EXPECT_EQ(state(1, 2), PortState::Initialize);
  EXPECT_EQ(state(2, 1), PortState::Initialize);
  EXPECT_FALSE(psc(1));
  EXPECT_TRUE(psc(2));
}

TEST_F(PortStateChange, ArmingAndActivatingDoNotReport) {
  rig_.set_port({1}, 2, [](PortInfo& info) { info.port_state = 1; });
  clear({1, 2});
  rig_.activate({1}, 2);
  rig_.activate({1, 2}, 1);
  EXPECT_FALSE(psc(1));
  EXPECT_FALSE(psc(2));
}

TEST_F(PortStateChange, ADisabledPortStaysDownUntilItIsPolled) {
  rig_.set_port({1}, 2, [](PortInfo& info) {
    info.port_state = 1;
    info.port_physical_state = static_cast<std::uint8_t>(PhysState::Disabled);
  });
  EXPECT_EQ(state(1, 2), PortState::Down);
  EXPECT_EQ(state(2, 1), PortState::Down);
  EXPECT_TRUE(psc(2));
  rig_.set_port({1}, 2, [](PortInfo& info) { info.port_state = 1; });
  EXPECT_EQ(state(1, 2), PortState::Down) << "Down alone does not wake it";
  rig_.fabric.set_link(1, PortNum{2}, true);
  EXPECT_EQ(state(1, 2), PortState::Down);
  rig_.set_port({1}, 2, [](PortInfo& info) {
    info.port_physical_state = static_cast<std::uint8_t>(PhysState::Polling);
  });
  EXPECT_EQ(state(1, 2), PortState::Initialize);
  EXPECT_EQ(state(2, 1), PortState::Initialize);
}

TEST_F(PortStateChange, ALoopbackPlugSetDownReportsNothing) {
  Drawing draw;
  const auto h0 = draw.ca("h0");
  const auto s1 = draw.sw("s1");
  draw.cable(h0, 1, s1, 1);
  draw.cable(s1, 4, s1, 4);
  Rig rig(draw.spec());
  rig.set_routes({1}, {});
  rig.set_port({1}, 4, [](PortInfo& info) { info.port_state = 1; });
  EXPECT_EQ(rig.fabric.port_info(1, PortNum{4}).state(), PortState::Initialize);
  EXPECT_FALSE(rig.fabric.switch_info(1).port_state_change);
  rig.fabric.set_link(1, PortNum{4}, false);
  EXPECT_TRUE(rig.fabric.switch_info(1).port_state_change);
  EXPECT_EQ(rig.fabric.node_state(1).ports[4].counters.link_downed, 1);
}

struct Mode {
  LinkWidth width;
  LinkSpeed speed;
};

class LinkModes : public ::testing::TestWithParam<Mode> {};

TEST_P(LinkModes, ReadBackAsDrawn) {
  const Mode mode = GetParam();
  Rig rig(line(mode.width, mode.speed));
  const auto check = [&](Hops path, unsigned port) {
    for (const bool extended : {true, false}) {
      const PortInfoModifier asked{.port = port_num(port), .extended_speeds = extended};
      const auto answer = rig.ask(get(path, AttributeId::PortInfo, encode_modifier(asked)));
      ASSERT_TRUE(answer.has_value());
      const PortInfo info = decode_port_info(answer->data).value();
      EXPECT_EQ(active_width(info), mode.width);
      // FDR10 is not in PortInfo, and who does not ask for extended speeds is shown none.
      const bool is_plain = mode.speed == LinkSpeed::Fdr10 || !extended;
      EXPECT_EQ(active_speed(info), is_plain ? std::min(mode.speed, LinkSpeed::Qdr) : mode.speed);
    }
  };
  check({}, 1);
  check({1}, 2);
  check({1, 2}, 3);
}

INSTANTIATE_TEST_SUITE_P(Speeds,
                         LinkModes,
                         ::testing::Values(Mode{LinkWidth::X4, LinkSpeed::Sdr},
                                           Mode{LinkWidth::X4, LinkSpeed::Ddr},
                                           Mode{LinkWidth::X4, LinkSpeed::Qdr},
                                           Mode{LinkWidth::X4, LinkSpeed::Fdr10},
                                           Mode{LinkWidth::X4, LinkSpeed::Fdr},
                                           Mode{LinkWidth::X4, LinkSpeed::Edr},
                                           Mode{LinkWidth::X4, LinkSpeed::Hdr},
                                           Mode{LinkWidth::X4, LinkSpeed::Ndr},
                                           Mode{LinkWidth::X4, LinkSpeed::Xdr}));

INSTANTIATE_TEST_SUITE_P(Widths,
                         LinkModes,
                         ::testing::Values(Mode{LinkWidth::X1, LinkSpeed::Sdr},
                                           Mode{LinkWidth::X2, LinkSpeed::Hdr},
                                           Mode{LinkWidth::X8, LinkSpeed::Ddr},
                                           Mode{LinkWidth::X12, LinkSpeed::Qdr}));

TEST(Link, ANewSpeedTakesEffectWhenTheLinkTrainsAgain) {
  Rig rig(line());
  rig.set_port({1}, 2, [](PortInfo& info) { info.link_width_enabled = 1; });
  EXPECT_EQ(active_width(rig.fabric.port_info(1, PortNum{2})), LinkWidth::X4);
  rig.set_port({1}, 2, [](PortInfo& info) { info.port_state = 1; });
  EXPECT_EQ(active_width(rig.fabric.port_info(1, PortNum{2})), LinkWidth::X1);
  EXPECT_EQ(active_width(rig.fabric.port_info(2, PortNum{1})), LinkWidth::X1);

  // Without bit 31 of the modifier a Set leaves the extended speeds alone.
  const auto enable_fdr = [](PortInfo& info) { info.link_speed_ext_enabled = 1; };
  rig.set_port({1}, 2, enable_fdr);
  EXPECT_EQ(rig.fabric.port_info(1, PortNum{2}).link_speed_ext_enabled, 3);
  PortInfo info = rig.fabric.port_info(1, PortNum{2});
  enable_fdr(info);
  info.port_state = 1;
  info.port_physical_state = 0;
  Smp set = along({1}, request(Method::Set, AttributeId::PortInfo, 1u << 31 | 2));
  encode_port_info(info, set.data);
  ASSERT_TRUE(rig.ask(set).has_value());
  EXPECT_EQ(active_speed(rig.fabric.port_info(2, PortNum{1})), LinkSpeed::Fdr);
}

TEST(Link, EndsWithNothingInCommonStayDown) {
  FabricSpec spec = line(LinkWidth::X2, LinkSpeed::Hdr);
  Rig rig(spec);
  rig.set_port({1}, 2, [](PortInfo& info) { info.link_width_enabled = 16; });
  rig.set_port({1, 2}, 1, [](PortInfo& info) { info.link_width_enabled = 1; });
  rig.set_port({1}, 2, [](PortInfo& info) { info.port_state = 1; });
  EXPECT_EQ(rig.fabric.port_info(1, PortNum{2}).state(), PortState::Down);
  EXPECT_EQ(rig.fabric.port_info(2, PortNum{1}).state(), PortState::Down);
}

struct Field {
  const char* name;
  void (*change)(PortInfo&);
  bool allowed;
};

class PortInfoFields : public ::testing::TestWithParam<Field> {};

TEST_P(PortInfoFields, AreCheckedBeforeAnythingIsWritten) {
  Rig rig(line());
  rig.set_lid({}, 1, 1);
  const auto answer = rig.set_port({1, 2, 3}, 1, [&](PortInfo& info) {
    info.lid = Lid{8};
    info.master_sm_lid = Lid{1};
    GetParam().change(info);
  });
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->status, GetParam().allowed ? 0u : kBadField);
  EXPECT_EQ(rig.fabric.port_info(3, PortNum{1}).lid != kUnassignedLid, GetParam().allowed);
}

INSTANTIATE_TEST_SUITE_P(
    Set,
    PortInfoFields,
    ::testing::Values(
        Field{"Nothing", [](PortInfo&) {}, true},
        Field{"LidMulticast", [](PortInfo& i) { i.lid = Lid{0xc000}; }, false},
        Field{"SmLidMulticast", [](PortInfo& i) { i.master_sm_lid = Lid{0xffff}; }, false},
        Field{"LmcAligned", [](PortInfo& i) { i.lmc = 3; }, true},
        Field{"LmcMisaligned", [](PortInfo& i) { i.lmc = 4; }, false},
        Field{"MtuWithinCap", [](PortInfo& i) { i.neighbor_mtu = 5; }, true},
        Field{"MtuAboveCap", [](PortInfo& i) { i.neighbor_mtu = 6; }, false},
        Field{"VlsWithinCap", [](PortInfo& i) { i.operational_vls = 4; }, true},
        Field{"VlsAboveCap", [](PortInfo& i) { i.operational_vls = 5; }, false},
        Field{"WidthAll", [](PortInfo& i) { i.link_width_enabled = 255; }, true},
        Field{"WidthUnsupported", [](PortInfo& i) { i.link_width_enabled = 8; }, false},
        Field{"SpeedAll", [](PortInfo& i) { i.link_speed_enabled = 15; }, true},
        Field{"SpeedUnsupported", [](PortInfo& i) { i.link_speed_enabled = 8; }, false},
        Field{"PhysTraining", [](PortInfo& i) { i.port_physical_state = 4; }, false}),
    [](const auto& test) { return test.param.name; });

TEST(PortInfoSet, AgentsOfOneStepGoFromInitializeToActive) {
  Rig rig(line(), Timing::none(), 1, {.one_step_activation = true});
  const auto set_state = [&](PortState state) {
    return rig.set_port(
        {1}, 2, [&](PortInfo& info) { info.port_state = static_cast<std::uint8_t>(state); });
  };
  EXPECT_EQ(set_state(PortState::Active)->status, 0u);
  EXPECT_EQ(rig.fabric.port_info(1, port_num(2)).state(), PortState::Active);
  EXPECT_EQ(set_state(PortState::Initialize)->status, kBadField);
}

TEST(PortInfoSet, KeepsReadOnlyFieldsAndNops) {
  Rig rig(line());
  const PortInfo before = rig.fabric.port_info(3, PortNum{1});
  rig.set_port({1, 2, 3}, 1, [](PortInfo& info) {
    info.lid = Lid{8};
    info.master_sm_lid = Lid{1};
    info.capability_mask = ~0u;
    info.vl_cap = 1;
    info.mtu_cap = 1;
    info.guid_cap = 99;
    info.link_width_supported = 255;
    info.resp_time_value = 1;
    info.diag_code = 77;
    info.neighbor_mtu = 0;
    info.operational_vls = 0;
    info.client_reregister = true;
  });
  PortInfo after = rig.fabric.port_info(3, PortNum{1});
  EXPECT_EQ(after.lid, Lid{8});
  after.lid = before.lid;
  after.master_sm_lid = before.master_sm_lid;
  EXPECT_EQ(after, before);
}

TEST(PortInfoSet, ShowsClientReregisterOnlyInItsAnswer) {
  Rig rig(line());
  const auto answer = rig.set_port({1, 2, 3}, 1, [](PortInfo& info) {
    info.lid = info.master_sm_lid = Lid{8};
    info.client_reregister = true;
  });
  ASSERT_TRUE(answer.has_value());
  EXPECT_TRUE(decode_port_info(answer->data).value().client_reregister);
  const auto later = rig.ask(get({1, 2, 3}, AttributeId::PortInfo, 1));
  EXPECT_FALSE(decode_port_info(later->data).value().client_reregister);
}

TEST(PortInfoSet, BasePort0IsAlwaysActiveAndTakesNoLmc) {
  Rig rig(line());
  EXPECT_EQ(rig.fabric.port_info(1, PortNum{0}).state(), PortState::Active);
  const auto refused = rig.set_port({1}, 0, [](PortInfo& info) {
    info.lid = Lid{8};
    info.master_sm_lid = Lid{1};
    info.lmc = 1;
  });
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->status, kBadField);
}

TEST(PortInfoSet, EnhancedPort0HasStatesAndLmc) {
  FabricSpec spec = line();
  spec.nodes[1].enhanced_port0 = true;
  Rig rig(spec);
  EXPECT_TRUE(rig.fabric.switch_info(1).enhanced_port0);
  EXPECT_EQ(rig.fabric.port_info(1, PortNum{0}).state(), PortState::Initialize);
  const auto set = rig.set_port({1}, 0, [](PortInfo& info) {
    info.lid = Lid{8};
    info.master_sm_lid = Lid{1};
    info.lmc = 1;
    info.port_state = 3;
  });
  ASSERT_TRUE(set.has_value());
  EXPECT_EQ(set->status, 0);
  EXPECT_EQ(rig.fabric.port_info(1, PortNum{0}).state(), PortState::Armed);
  EXPECT_EQ(rig.fabric.port_info(1, PortNum{0}).lmc, 1);
}

}  // namespace port_state_test
}  // namespace smd::sim::test
