// Attributes of a node and its ports (IBA 14.2.5).
#include <algorithm>

#include "tests/unit/mad/attribute_specs.h"

namespace smd::spec {
namespace {

/// Adapts an encoder of a fixed span to one of any span.
template <class T>
auto into_smp_data(void (*encode)(const T&, std::span<std::byte, kSmpDataSize>)) {
  return [encode](const T& value, std::span<std::byte> out) {
    encode(value, out.first<kSmpDataSize>());
  };
}

}  // namespace

Attribute<NodeInfo> node_info() {
  using N = NodeInfo;
  return {
      .name = "NodeInfo",
      .size = kSmpDataSize,
      .extent = 40,
      .fields = {field("base version", &N::base_version, 0, 8, IB_NODE_BASE_VERS_F),
                 field("class version", &N::class_version, 8, 8, IB_NODE_CLASS_VERS_F),
                 field("type", &N::node_type, 16, 8, IB_NODE_TYPE_F),
                 field("ports", &N::num_ports, 24, 8, IB_NODE_NPORTS_F),
                 field("system guid", &N::system_guid, 32, 64, IB_NODE_SYSTEM_GUID_F),
                 field("node guid", &N::node_guid, 96, 64, IB_NODE_GUID_F),
                 field("port guid", &N::port_guid, 160, 64, IB_NODE_PORT_GUID_F),
                 field("partition cap", &N::partition_cap, 224, 16, IB_NODE_PARTITION_CAP_F),
                 field("device", &N::device_id, 240, 16, IB_NODE_DEVID_F),
                 field("revision", &N::revision, 256, 32, IB_NODE_REVISION_F),
                 field("local port", &N::local_port, 288, 8, IB_NODE_LOCAL_PORT_F),
                 field("vendor", &N::vendor_id, 296, 24, IB_NODE_VENDORID_F)},
      .decode = decode_node_info,
      .encode = into_smp_data(encode_node_info),
      .print = print_node_info,
  };
}

Attribute<SwitchInfo> switch_info() {
  using S = SwitchInfo;
  return {
      .name = "SwitchInfo",
      .size = kSmpDataSize,
      .extent = 20,
      .fields = {field("lft cap", &S::linear_fdb_cap, 0, 16, IB_SW_LINEAR_FDB_CAP_F),
                 field("rft cap", &S::random_fdb_cap, 16, 16, IB_SW_RANDOM_FDB_CAP_F),
                 field("mft cap", &S::multicast_fdb_cap, 32, 16, IB_SW_MCAST_FDB_CAP_F),
                 field("lft top", &S::linear_fdb_top, 48, 16, IB_SW_LINEAR_FDB_TOP_F),
                 field("default port", &S::default_port, 64, 8, IB_SW_DEF_PORT_F),
                 field("primary", &S::default_mcast_primary_port, 72, 8, IB_SW_DEF_MCAST_PRIM_F),
                 field("not primary",
                       &S::default_mcast_not_primary_port,
                       80,
                       8,
                       IB_SW_DEF_MCAST_NOT_PRIM_F),
                 field("life time", &S::life_time_value, 88, 5, IB_SW_LIFE_TIME_F),
                 field("state change", &S::port_state_change, 93, 1, IB_SW_STATE_CHANGE_F),
                 field("opt sl2vl", &S::optimized_sl_to_vl, 94, 2, IB_SW_OPT_SLTOVL_MAPPING_F),
                 field("lids per port", &S::lids_per_port, 96, 16, IB_SW_LIDS_PER_PORT_F),
                 field("partition cap",
                       &S::partition_enforcement_cap,
                       112,
                       16,
                       IB_SW_PARTITION_ENFORCE_CAP_F),
                 field("inbound", &S::inbound_enforcement_cap, 128, 1, IB_SW_PARTITION_ENF_INB_F),
                 field(
                     "outbound", &S::outbound_enforcement_cap, 129, 1, IB_SW_PARTITION_ENF_OUTB_F),
                 field("raw in", &S::filter_raw_inbound_cap, 130, 1, IB_SW_FILTER_RAW_INB_F),
                 field("raw out", &S::filter_raw_outbound_cap, 131, 1, IB_SW_FILTER_RAW_OUTB_F),
                 field("enhanced port 0", &S::enhanced_port0, 132, 1, IB_SW_ENHANCED_PORT0_F),
                 field("mft top", &S::multicast_fdb_top, 144, 16, IB_SW_MCAST_FDB_TOP_F)},
      .decode = decode_switch_info,
      .encode = into_smp_data(encode_switch_info),
      .print = print_switch_info,
  };
}

Attribute<SmInfo> sm_info() {
  using S = SmInfo;
  return {
      .name = "SMInfo",
      .size = kSmpDataSize,
      .extent = 21,
      .fields = {field("guid", &S::guid, 0, 64, IB_SMINFO_GUID_F),
                 field("sm key", &S::sm_key, 64, 64, IB_SMINFO_KEY_F),
                 field("activity", &S::act_count, 128, 32, IB_SMINFO_ACT_F),
                 field("priority", &S::priority, 160, 4, IB_SMINFO_PRIO_F),
                 field("state", &S::sm_state, 164, 4, IB_SMINFO_STATE_F)},
      .decode = decode_sm_info,
      .encode = into_smp_data(encode_sm_info),
      .print = print_sm_info,
  };
}

Attribute<Notice> notice() {
  using N = Notice;
  std::vector<Field<N>> fields{
      field("generic", &N::is_generic, 0, 1, IB_NOTICE_IS_GENERIC_F),
      field("type", &N::type, 1, 7, IB_NOTICE_TYPE_F),
      field("producer", &N::producer_or_vendor, 8, 24, IB_NOTICE_PRODUCER_F),
      field("trap", &N::trap_or_device, 32, 16, IB_NOTICE_TRAP_NUMBER_F),
      field("issuer", &N::issuer_lid, 48, 16, IB_NOTICE_ISSUER_LID_F),
      field("toggle", &N::toggle, 64, 1, IB_NOTICE_TOGGLE_F),
      field("count", &N::count, 65, 15, IB_NOTICE_COUNT_F)};
  for (std::size_t i = 0; i < 54; ++i) {
    fields.push_back(field_by<N>(
        "detail " + std::to_string(i), 80 + i * 8, 8, IB_NO_FIELD, [i](auto& n) -> auto& {
          return n.details[i];
        }));
  }
  return {
      .name = "Notice",
      .size = kSmpDataSize,
      .extent = 64,
      .fields = std::move(fields),
      .decode = decode_notice,
      .encode = into_smp_data(encode_notice),
      .print = print_notice,
  };
}

Attribute<GeneralInfo> general_info() {
  std::vector<Field<GeneralInfo>> fields;
  for (std::size_t word = 0; word < 4; ++word) {
    fields.push_back(
        field_by<GeneralInfo>("word", 32 * word, 32, IB_NO_FIELD, [word](auto& info) -> auto& {
          return info.capability_mask[word];
        }));
  }
  return {
      .name = "GeneralInfo",
      .size = kSmpDataSize,
      .extent = 16,
      .fields = std::move(fields),
      .decode = decode_general_info,
      .encode = into_smp_data(encode_general_info),
      .print = print_general_info,
  };
}

/// What is read, kept and written back without a name, in pieces of at most 64 bits.
template <class T>
void add_rest(std::vector<Field<T>>& fields, std::size_t from, std::size_t to) {
  for (std::size_t at = from; at < to; at += 64) {
    const std::size_t width = std::min<std::size_t>(64, to - at);
    fields.push_back({.name = "rest",
                      .offset = at,
                      .width = width,
                      .libibmad = IB_NO_FIELD,
                      .get =
                          [at, width](const T& info) {
                            return read_bits({info.rest.begin(), info.rest.end()}, at, width);
                          },
                      .set =
                          [at, width](T& info, std::uint64_t value) {
                            Bytes bytes(info.rest.begin(), info.rest.end());
                            write_bits(bytes, at, width, value);
                            std::ranges::copy(bytes, info.rest.begin());
                          }});
  }
}

Attribute<AdaptiveRoutingInfo> adaptive_routing_info() {
  using A = AdaptiveRoutingInfo;
  std::vector<Field<A>> fields = {
      field("fast recovery", &A::fast_recovery, 27, 1),
      field("adaptive routing", &A::enabled, 31, 1),
      field("hash-based forwarding", &A::hash_based_forwarding, 176, 1),
      field("weighted hash-based forwarding", &A::weighted_hash_based_forwarding, 177, 1),
      field("notifications", &A::fast_recovery_notifications, 179, 1)};
  add_rest(fields, 0, 27);
  add_rest(fields, 28, 31);
  add_rest(fields, 32, 176);
  add_rest(fields, 178, 179);
  add_rest(fields, 180, 512);
  return {
      .name = "AdaptiveRoutingInfo",
      .size = kSmpDataSize,
      .extent = kSmpDataSize,
      .fields = std::move(fields),
      .decode = decode_adaptive_routing_info,
      .encode = into_smp_data(encode_adaptive_routing_info),
      .print = print_adaptive_routing_info,
  };
}

Attribute<PrivateLftInfo> private_lft_info() {
  std::vector<Field<PrivateLftInfo>> fields = {
      field("active mode", &PrivateLftInfo::active_mode, 24, 8)};
  add_rest(fields, 0, 24);
  add_rest(fields, 32, 512);
  return {
      .name = "PrivateLFTInfo",
      .size = kSmpDataSize,
      .extent = kSmpDataSize,
      .fields = std::move(fields),
      .decode = decode_private_lft_info,
      .encode = into_smp_data(encode_private_lft_info),
      .print = print_private_lft_info,
  };
}

Attribute<ExtendedPortInfo> extended_port_info() {
  using E = ExtendedPortInfo;
  return {
      .name = "ExtendedPortInfo",
      .size = kSmpDataSize,
      .extent = 16,
      .fields =
          {field(
               "state change", &E::state_change_enable, 24, 8, IB_MLNX_EXT_PORT_STATE_CHG_ENABLE_F),
           field("supported",
                 &E::link_speed_supported,
                 56,
                 8,
                 IB_MLNX_EXT_PORT_LINK_SPEED_SUPPORTED_F),
           field("enabled", &E::link_speed_enabled, 88, 8, IB_MLNX_EXT_PORT_LINK_SPEED_ENABLED_F),
           field("active", &E::link_speed_active, 120, 8, IB_MLNX_EXT_PORT_LINK_SPEED_ACTIVE_F)},
      .decode = decode_extended_port_info,
      .encode = into_smp_data(encode_extended_port_info),
      .print = print_extended_port_info,
  };
}

}  // namespace smd::spec
