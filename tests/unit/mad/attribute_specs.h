// The table of every attribute; see attribute_spec.h.
#pragma once

#include "smd/mad/congestion.h"
#include "smd/mad/header.h"
#include "smd/mad/node_info.h"
#include "smd/mad/notice.h"
#include "smd/mad/port_counters.h"
#include "smd/mad/port_info.h"
#include "smd/mad/smp.h"
#include "smd/mad/tables.h"
#include "smd/mad/vendor.h"
#include "tests/unit/mad/attribute_spec.h"

namespace smd::spec {

Attribute<MadHeader> mad_header();
Attribute<Smp> directed_smp();
Attribute<Smp> lid_routed_smp();
Attribute<NodeInfo> node_info();
Attribute<SwitchInfo> switch_info();
Attribute<PortInfo> port_info();
Attribute<SmInfo> sm_info();
Attribute<Notice> notice();
Attribute<ExtendedPortInfo> extended_port_info();
Attribute<GeneralInfo> general_info();
Attribute<AdaptiveRoutingInfo> adaptive_routing_info();
Attribute<PrivateLftInfo> private_lft_info();
Attribute<PortCounters> port_counters();
Attribute<PortCountersExtended> port_counters_extended();
Attribute<LftBlock> lft_block();
Attribute<RftBlock> rft_block();
Attribute<MftBlock> mft_block();
Attribute<PKeyBlock> p_key_block();
Attribute<SlToVl> sl_to_vl();
Attribute<VlArbBlock> vl_arb_block();
Attribute<PortStateBlock> port_state_block();
Attribute<GuidBlock> guid_block();
Attribute<cc::ClassPortInfo> cc_class_port_info();
Attribute<cc::CongestionInfo> congestion_info();
Attribute<cc::KeyInfo> cc_key_info();
Attribute<cc::SwitchSetting> cc_switch_setting();
Attribute<cc::PortSettingBlock> cc_port_settings();
Attribute<cc::CaSetting> cc_ca_setting();
Attribute<cc::CctBlock> cct_block();
Attribute<cc::TimeStamp> cc_time_stamp();
Attribute<cc::SwitchLog> cc_switch_log();
Attribute<cc::CaLog> cc_ca_log();

/// Calls `use` with each of them.
template <class Use>
void for_each_attribute(Use use) {
  use(mad_header());
  use(directed_smp());
  use(lid_routed_smp());
  use(node_info());
  use(switch_info());
  use(port_info());
  use(sm_info());
  use(notice());
  use(extended_port_info());
  use(general_info());
  use(adaptive_routing_info());
  use(private_lft_info());
  use(port_counters());
  use(port_counters_extended());
  use(lft_block());
  use(rft_block());
  use(mft_block());
  use(p_key_block());
  use(sl_to_vl());
  use(vl_arb_block());
  use(port_state_block());
  use(guid_block());
  use(cc_class_port_info());
  use(congestion_info());
  use(cc_key_info());
  use(cc_switch_setting());
  use(cc_port_settings());
  use(cc_ca_setting());
  use(cct_block());
  use(cc_time_stamp());
  use(cc_switch_log());
  use(cc_ca_log());
}

}  // namespace smd::spec
