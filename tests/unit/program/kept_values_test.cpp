// What agents do not keep of what they are set to: addresses are a fault, the rest is named once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "smd/program/port_setter.h"
#include "tests/unit/program/program_lab.h"

namespace smd::test {
namespace kept_values_test {

constexpr auto kPortInfo = static_cast<std::uint16_t>(AttributeId::PortInfo);
constexpr auto kSwitchInfo = static_cast<std::uint16_t>(AttributeId::SwitchInfo);

/// Agents that hold one thing and show another, in every answer.
struct Forgetful : testing::Test {
  template <class Edit>
  void ports_show(Edit edit) {
    lab.tap.on_receive = [edit](Smp& smp) {
      if (smp.attribute_id != kPortInfo) return true;
      auto info = decode_port_info(smp.data);
      edit(*info, smp.attribute_modifier & 0xff);
      encode_port_info(*info, smp.data);
      return true;
    };
  }

  template <class Edit>
  void switches_show(Edit edit) {
    lab.tap.on_receive = [edit](Smp& smp) {
      if (smp.attribute_id != kSwitchInfo) return true;
      auto info = decode_switch_info(smp.data);
      edit(*info);
      encode_switch_info(*info, smp.data);
      return true;
    };
  }

  unsigned sets_of_next_cycle() {
    unsigned sets = 0;
    lab.discover();
    lab.tap.on_send = [&](const Smp& smp) {
      sets += smp.method == Method::Set ? 1 : 0;
      return true;
    };
    last = lab.program(lab.input());
    lab.tap.on_send = nullptr;
    return sets;
  }

  ProgramLab lab{"fat-tree:k=4,levels=2"};
  ProgramReport last;
};

struct PortField {
  const char* name;
  void (*lose)(PortInfo&);
};

void PrintTo(const PortField& field, std::ostream* out) { *out << field.name; }

class LostField : public Forgetful, public testing::WithParamInterface<PortField> {};

TEST_P(LostField, IsNamedOnceIsNoFaultAndIsNotSetAgain) {
  ports_show([lose = GetParam().lose](PortInfo& info, std::uint32_t) { lose(info); });
  const ProgramReport first = lab.bring_up();
  EXPECT_EQ(first.fault_count, 0u);
  ASSERT_GT(first.not_kept_count, 0u);
  EXPECT_THAT(first.not_kept[0].what, testing::HasSubstr(GetParam().name));
  // Each port is set twice, to Armed and to Active, and named once.
  std::uint64_t ports = 0;
  for (const RefusedSetting& each : first.not_kept) ports += each.ports;
  EXPECT_EQ(ports, first.not_kept_count);
  EXPECT_LE(ports, lab.snapshot().port_count());
  EXPECT_EQ(sets_of_next_cycle(), 0u);
  EXPECT_EQ(last.not_kept_count, 0u);
  EXPECT_EQ(last.fault_count, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Ports,
    LostField,
    testing::Values(PortField{"NeighborMTU", [](PortInfo& i) { i.neighbor_mtu = 1; }},
                    PortField{"OperationalVLs", [](PortInfo& i) { i.operational_vls = 1; }},
                    PortField{"HOQLife", [](PortInfo& i) { i.hoq_life = 3; }},
                    PortField{"VLStallCount", [](PortInfo& i) { i.vl_stall_count = 1; }},
                    PortField{"LocalPhyErrors", [](PortInfo& i) { i.local_phy_errors = 1; }},
                    PortField{"OverrunErrors", [](PortInfo& i) { i.overrun_errors = 1; }},
                    PortField{"SubnetTimeout", [](PortInfo& i) { i.subnet_timeout = 1; }},
                    PortField{"GidPrefix", [](PortInfo& i) { i.gid_prefix = 5; }}),
    [](const auto& param) { return std::string(param.param.name); });

TEST_F(Forgetful, AnotherValueLostLaterIsNews) {
  ports_show([](PortInfo& info, std::uint32_t) { info.neighbor_mtu = 1; });
  lab.bring_up();
  ports_show([](PortInfo& info, std::uint32_t) { info.neighbor_mtu = 2; });
  EXPECT_GT(sets_of_next_cycle(), 0u);
  EXPECT_GT(last.not_kept_count, 0u);
}

TEST_F(Forgetful, LmcThatAnEndPortDoesNotKeepIsAFault) {
  ports_show([](PortInfo& info, std::uint32_t) { info.lmc = 2; });
  const ProgramReport report = lab.bring_up();
  EXPECT_GT(report.fault_count, 0u);
  ASSERT_FALSE(report.faults.empty());
  EXPECT_THAT(report.faults[0].what, testing::HasSubstr("LMC 0 was not kept: it answers 2"));
}

TEST_F(Forgetful, LmcOfPortsWithoutALidIsNobodysBusiness) {
  ports_show([](PortInfo& info, std::uint32_t modifier) {
    if (modifier > 1) info.lmc = 2;  // adapters have one port here
  });
  EXPECT_EQ(lab.bring_up().fault_count, 0u);
}

TEST_F(Forgetful, LidThatIsNotKeptIsAFault) {
  ports_show([](PortInfo& info, std::uint32_t) { info.lid = Lid{77}; });
  EXPECT_GT(lab.bring_up().fault_count, 0u);
}

TEST_F(Forgetful, MasterSmLidThatIsNotKeptIsAFault) {
  ports_show([](PortInfo& info, std::uint32_t) { info.master_sm_lid = Lid{77}; });
  const ProgramReport report = lab.bring_up();
  ASSERT_FALSE(report.faults.empty());
  EXPECT_THAT(report.faults[0].what, testing::HasSubstr("MasterSMLID"));
}

TEST_F(Forgetful, LifeTimeValueIsNamedOncePerSwitchAndNotSetAgain) {
  switches_show([](SwitchInfo& info) { info.life_time_value = 2; });
  const ProgramReport first = lab.bring_up();
  EXPECT_EQ(first.fault_count, 0u);
  EXPECT_EQ(first.not_kept_count, lab.snapshot().switch_count());
  EXPECT_THAT(first.not_kept[0].what, testing::HasSubstr("LifeTimeValue 18 set, 2 kept"));
  EXPECT_EQ(sets_of_next_cycle(), 0u);
  EXPECT_EQ(last.not_kept_count, 0u);
}

TEST_F(Forgetful, LifeTimeValueIsSetAgainWhenTheSiteWantsAnother) {
  switches_show([](SwitchInfo& info) { info.life_time_value = 2; });
  lab.bring_up();
  lab.policy.packet_life_time = 9;
  EXPECT_EQ(sets_of_next_cycle(), lab.snapshot().switch_count());
}

TEST_F(Forgetful, LinearFdbTopThatIsNotKeptIsAFaultAndIsSetAgain) {
  switches_show([](SwitchInfo& info) {
    if (info.linear_fdb_top != 0) info.linear_fdb_top = 1;
  });
  const ProgramReport first = lab.bring_up();
  EXPECT_EQ(first.fault_count, lab.snapshot().switch_count());
  EXPECT_GE(sets_of_next_cycle(), lab.snapshot().switch_count());
  EXPECT_EQ(last.fault_count, lab.snapshot().switch_count());
}

TEST(RefusedSetting, ShowsNoKeys) {
  PortInfo wanted;
  wanted.m_key = MKey{0x5ec7e7};
  EXPECT_EQ(find_not_kept(wanted, {}), "M_Key");
  EXPECT_EQ(find_not_kept(wanted, wanted), "");
}

TEST(RefusedSetting, ListsEveryField) {
  PortInfo wanted;
  wanted.neighbor_mtu = 4;
  wanted.vl_high_limit = 3;
  wanted.m_key_lease_period = 60;
  wanted.m_key_protect_bits = 2;
  wanted.master_sm_sl = 5;
  EXPECT_EQ(find_not_kept(wanted, {}),
            "NeighborMTU 4 set, 0 kept; VLHighLimit 3 set, 0 kept; MasterSMSL 5 set, 0 kept; "
            "M_KeyProtectBits 2 set, 0 kept; M_KeyLeasePeriod 60 set, 0 kept");
}

// However many there are: operators read a line for each.
TEST(RefusedSetting, IsOneEntryForEachKindOfDeviceAndValue) {
  ProgramLab lab("fat-tree:k=8,levels=2");
  lab.tap.on_receive = [](Smp& smp) {
    if (smp.attribute_id != kPortInfo) return true;
    auto info = decode_port_info(smp.data);
    info->overrun_errors = 1;
    encode_port_info(*info, smp.data);
    return true;
  };
  const ProgramReport report = lab.bring_up();
  ASSERT_EQ(report.not_kept.size(), 2u) << "switches and adapters";
  EXPECT_GT(report.not_kept_count, 100u);
  EXPECT_EQ(report.not_kept[0].ports + report.not_kept[1].ports, report.not_kept_count);
  EXPECT_NE(report.not_kept[0].device_id, report.not_kept[1].device_id);
  for (const RefusedSetting& each : report.not_kept) {
    EXPECT_THAT(each.what, testing::HasSubstr("OverrunErrors"));
    const auto node = lab.snapshot().find_node(each.node);
    ASSERT_TRUE(node);
    EXPECT_EQ(lab.snapshot().node_info[*node].device_id, each.device_id);
    EXPECT_EQ(lab.snapshot().node_info[*node].vendor_id, each.vendor_id);
    EXPECT_LE(each.port.value(), lab.snapshot().num_ports(*node));
  }
}

TEST(RefusedSetting, KeepsTheFirstHundredKindsAndCountsTheRest) {
  ProgramLab lab("fat-tree:k=8,levels=2");
  std::uint64_t prefix = 0;
  lab.tap.on_receive = [&prefix](Smp& smp) {
    if (smp.attribute_id != kPortInfo) return true;
    auto info = decode_port_info(smp.data);
    info->gid_prefix = ++prefix;  // another value each time
    encode_port_info(*info, smp.data);
    return true;
  };
  const ProgramReport report = lab.bring_up();
  EXPECT_EQ(report.not_kept.size(), 100u);
  EXPECT_GT(report.not_kept_count, 100u);
}

}  // namespace kept_values_test
}  // namespace smd::test
