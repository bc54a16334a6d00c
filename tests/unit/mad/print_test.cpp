// The lines that people read in logs and tools.
#include <gtest/gtest.h>

#include "smd/mad/header.h"
#include "smd/mad/node_info.h"
#include "smd/mad/port_counters.h"
#include "smd/mad/port_info.h"
#include "smd/mad/tables.h"
#include "smd/mad/vendor.h"

namespace smd {
namespace {

TEST(Print, AttributeIdsByNameOrNumber) {
  EXPECT_EQ(print_attribute_id(0x0015), "PortInfo");
  EXPECT_EQ(print_attribute_id(0x001a), "RandomForwardingTable");
  EXPECT_EQ(print_attribute_id(0xff90), "ExtendedPortInfo");
  EXPECT_EQ(print_attribute_id(0x0033), "0x0033");
}

TEST(Print, SwitchInfo) {
  EXPECT_EQ(print_switch_info({.linear_fdb_cap = 49152,
                               .multicast_fdb_cap = 4096,
                               .linear_fdb_top = 12,
                               .default_port = PortNum{255},
                               .life_time_value = 18,
                               .port_state_change = true,
                               .optimized_sl_to_vl = 1,
                               .partition_enforcement_cap = 8,
                               .inbound_enforcement_cap = true,
                               .enhanced_port0 = true,
                               .multicast_fdb_top = 0xbfff}),
            "lft cap 49152 top 12 rft cap 0 mft cap 4096 top 0xbfff default port 255 mcast 0/0 "
            "life 18 change true opt-sl2vl 1 lids/port 0 pkeys 8 enforce in true out false raw "
            "filter in false out false enhanced port0 true");
}

TEST(Print, SmInfo) {
  EXPECT_EQ(print_sm_info({.guid = Guid{0xabc}, .act_count = 7, .priority = 15, .sm_state = 3}),
            "sm 0x0000000000000abc master priority 15 activity 7");
  EXPECT_EQ(print_sm_state(static_cast<SmState>(9)), "unknown");
}

TEST(Print, ForwardingTablesShowWhatIsSet) {
  LftBlock lft;
  lft.fill(kNoRoute);
  lft[1] = PortNum{0};
  lft[3] = PortNum{7};
  EXPECT_TRUE(print_lft_block(lft).starts_with("ports - 0 - 7 - -"));
  RftBlock rft{};
  rft[2] = {.lid = Lid{40}, .valid = true, .lmc = 3, .port = PortNum{5}};
  EXPECT_EQ(print_rft_block(rft), "entries 2:lid 40/3 port 5");
  MftBlock mft{};
  mft[31] = 0x8001;
  EXPECT_EQ(print_mft_block(mft), "masks 31:0x8001");
}

TEST(Print, OtherTablesShowWhatIsSet) {
  PKeyBlock keys{};
  keys[0] = kDefaultPKey;
  keys[4] = PKey{0x8002};
  EXPECT_EQ(print_p_key_block(keys), "pkeys 0:0xffff 4:0x8002");
  SlToVl map{};
  map[15] = kManagementVl;
  EXPECT_EQ(print_sl_to_vl(map), "vls 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 15");
  VlArbBlock arbitration{};
  arbitration[0] = {.vl = Vl{0}, .weight = 64};
  arbitration[1] = {.vl = Vl{3}, .weight = 255};
  EXPECT_EQ(print_vl_arb_block(arbitration), "vl:weight 0:64 3:255");
  GuidBlock guids{};
  guids[1] = Guid{0x10};
  EXPECT_EQ(print_guid_block(guids), "guids 1:0x0000000000000010");
}

TEST(Print, Counters) {
  EXPECT_EQ(print_port_counters({.port_select = PortNum{1},
                                 .counter_select = 0xffff,
                                 .symbol_errors = 3,
                                 .link_downed = 2,
                                 .xmit_data = 100,
                                 .rcv_data = 200}),
            "port 1 select 0xffff symbol 3 recovery 0 downed 2 rcv err 0 remote 0 relay 0 discards "
            "0 constraint 0/0 integrity 0 overrun 0 vl15 0 data 100/200 packets 0/0 wait 0");
  EXPECT_EQ(print_port_counters_extended({.port_select = PortNum{1}, .xmit_data = 1ull << 40}),
            "port 1 select 0x0000 data 1099511627776/0 packets 0/0 unicast 0/0 multicast 0/0 "
            "symbol 0 downed 0 rcv err 0 discards 0 vl15 0 wait 0");
}

TEST(Print, WhatAnotherManagerLeftOn) {
  EXPECT_EQ(print_general_info({.capability_mask = {3, 0, 0, 0x80000000}}),
            "capabilities 0x00000003 0x00000000 0x00000000 0x80000000");
  EXPECT_EQ(print_adaptive_routing_info({}), "nothing");
  EXPECT_EQ(print_adaptive_routing_info({.enabled = true, .hash_based_forwarding = true}),
            "adaptive routing, hash-based forwarding");
  EXPECT_EQ(print_private_lft_info({.active_mode = 2}), "mode 2");
}

TEST(GeneralInfo, HasABitOfAnyWord) {
  const GeneralInfo info{.capability_mask = {2, 0, 1u << 31, 0}};
  EXPECT_TRUE(info.has(general_cap::kAdaptiveRouting));
  EXPECT_FALSE(info.has(general_cap::kPrivateLft));
  EXPECT_TRUE(info.has(95));
  EXPECT_FALSE(info.has(127));
}

TEST(Print, ExtendedPortInfo) {
  EXPECT_EQ(print_extended_port_info({.link_speed_supported = 1, .link_speed_active = 1}),
            "fdr10 supported 0x01 enabled 0x00 active 0x01 state change 0x00");
}

}  // namespace
}  // namespace smd
