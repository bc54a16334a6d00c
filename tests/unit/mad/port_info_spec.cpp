// PortInfo (IBA 14.2.5.6).
#include "tests/unit/mad/attribute_specs.h"

namespace smd::spec {
namespace {

using P = PortInfo;

std::vector<Field<P>> identity_fields() {
  return {
      field("m_key", &P::m_key, 0, 64, IB_PORT_MKEY_F),
      field("gid prefix", &P::gid_prefix, 64, 64, IB_PORT_GID_PREFIX_F),
      field("lid", &P::lid, 128, 16, IB_PORT_LID_F),
      field("sm lid", &P::master_sm_lid, 144, 16, IB_PORT_SMLID_F),
      field("cap mask", &P::capability_mask, 160, 32, IB_PORT_CAPMASK_F),
      field("diag", &P::diag_code, 192, 16, IB_PORT_DIAG_F),
      field("lease", &P::m_key_lease_period, 208, 16, IB_PORT_MKEY_LEASE_F),
      field("local port", &P::local_port, 224, 8, IB_PORT_LOCAL_PORT_F),
      field("protect", &P::m_key_protect_bits, 272, 2, IB_PORT_MKEY_PROT_BITS_F),
      field("lmc", &P::lmc, 277, 3, IB_PORT_LMC_F),
      field("sm sl", &P::master_sm_sl, 292, 4, IB_PORT_SMSL_F),
      field("guid cap", &P::guid_cap, 400, 8, IB_PORT_GUID_CAP_F),
      field("cap mask 2", &P::capability_mask2, 480, 16, IB_PORT_CAPMASK2_F),
  };
}

std::vector<Field<P>> link_fields() {
  return {
      field("width enabled", &P::link_width_enabled, 232, 8, IB_PORT_LINK_WIDTH_ENABLED_F),
      field("width supported", &P::link_width_supported, 240, 8, IB_PORT_LINK_WIDTH_SUPPORTED_F),
      field("width active", &P::link_width_active, 248, 8, IB_PORT_LINK_WIDTH_ACTIVE_F),
      field("speed supported", &P::link_speed_supported, 256, 4, IB_PORT_LINK_SPEED_SUPPORTED_F),
      field("state", &P::port_state, 260, 4, IB_PORT_STATE_F),
      field("physical", &P::port_physical_state, 264, 4, IB_PORT_PHYS_STATE_F),
      field("down default", &P::link_down_default_state, 268, 4, IB_PORT_LINK_DOWN_DEF_F),
      field("speed active", &P::link_speed_active, 280, 4, IB_PORT_LINK_SPEED_ACTIVE_F),
      field("speed enabled", &P::link_speed_enabled, 284, 4, IB_PORT_LINK_SPEED_ENABLED_F),
      field("neighbor mtu", &P::neighbor_mtu, 288, 4, IB_PORT_NEIGHBOR_MTU_F),
      field("mtu cap", &P::mtu_cap, 332, 4, IB_PORT_MTU_CAP_F),
      // Bit 448 is reserved; releases of libibmad before 45 do not know the next three.
      field("ext2 active", &P::link_speed_ext2_active, 449, 2),
      field("ext2 supported", &P::link_speed_ext2_supported, 451, 2),
      field("ext2 enabled", &P::link_speed_ext2_enabled, 453, 3),
      field("latency", &P::link_round_trip_latency, 456, 24, IB_PORT_LINK_ROUND_TRIP_F),
      field("ext active", &P::link_speed_ext_active, 496, 4, IB_PORT_LINK_SPEED_EXT_ACTIVE_F),
      field("ext supported",
            &P::link_speed_ext_supported,
            500,
            4,
            IB_PORT_LINK_SPEED_EXT_SUPPORTED_F),
      field("ext enabled", &P::link_speed_ext_enabled, 507, 5, IB_PORT_LINK_SPEED_EXT_ENABLED_F),
  };
}

std::vector<Field<P>> quality_fields() {
  return {
      field("vl cap", &P::vl_cap, 296, 4, IB_PORT_VL_CAP_F),
      field("init type", &P::init_type, 300, 4, IB_PORT_INIT_TYPE_F),
      field("high limit", &P::vl_high_limit, 304, 8, IB_PORT_VL_HIGH_LIMIT_F),
      field("arb high", &P::vl_arb_high_cap, 312, 8, IB_PORT_VL_ARBITRATION_HIGH_CAP_F),
      field("arb low", &P::vl_arb_low_cap, 320, 8, IB_PORT_VL_ARBITRATION_LOW_CAP_F),
      field("init reply", &P::init_type_reply, 328, 4, IB_PORT_INIT_TYPE_REPLY_F),
      field("stall", &P::vl_stall_count, 336, 3, IB_PORT_VL_STALL_COUNT_F),
      field("hoq", &P::hoq_life, 339, 5, IB_PORT_HOQ_LIFE_F),
      field("operational vls", &P::operational_vls, 344, 4, IB_PORT_OPER_VLS_F),
      field("enforce in", &P::partition_enforcement_inbound, 348, 1, IB_PORT_PART_EN_INB_F),
      field("enforce out", &P::partition_enforcement_outbound, 349, 1, IB_PORT_PART_EN_OUTB_F),
      field("raw in", &P::filter_raw_inbound, 350, 1, IB_PORT_FILTER_RAW_INB_F),
      field("raw out", &P::filter_raw_outbound, 351, 1, IB_PORT_FILTER_RAW_OUTB_F),
      field("m_key violations", &P::m_key_violations, 352, 16, IB_PORT_MKEY_VIOL_F),
      field("p_key violations", &P::p_key_violations, 368, 16, IB_PORT_PKEY_VIOL_F),
      field("q_key violations", &P::q_key_violations, 384, 16, IB_PORT_QKEY_VIOL_F),
      field("reregister", &P::client_reregister, 408, 1, IB_PORT_CLIENT_REREG_F),
      field("suppression",
            &P::multicast_pkey_trap_suppression,
            409,
            2,
            IB_PORT_MCAST_PKEY_SUPR_ENAB_F),
      field("subnet timeout", &P::subnet_timeout, 411, 5, IB_PORT_SUBN_TIMEOUT_F),
      field("resp time", &P::resp_time_value, 419, 5, IB_PORT_RESP_TIME_VAL_F),
      field("phy errors", &P::local_phy_errors, 424, 4, IB_PORT_LOCAL_PHYS_ERR_F),
      field("overruns", &P::overrun_errors, 428, 4, IB_PORT_OVERRUN_ERR_F),
      field("credit hint", &P::max_credit_hint, 432, 16, IB_PORT_MAX_CREDIT_HINT_F),
  };
}

}  // namespace

Attribute<PortInfo> port_info() {
  std::vector<Field<P>> fields = identity_fields();
  for (const Field<P>& f : link_fields()) fields.push_back(f);
  for (const Field<P>& f : quality_fields()) fields.push_back(f);
  return {
      .name = "PortInfo",
      .size = kSmpDataSize,
      .extent = 64,
      .fields = std::move(fields),
      .decode = decode_port_info,
      .encode = [](const P& info,
                   std::span<std::byte> out) { encode_port_info(info, out.first<kSmpDataSize>()); },
      .print = print_port_info,
  };
}

}  // namespace smd::spec
