#include "smd/report/sa_query.h"

#include <utility>

#include "smd/sa/group_manager.h"
#include "smd/sa/node_records.h"
#include "smd/sa/path_finder.h"
#include "smd/sa/service_manager.h"
#include "smd/sa/subscriptions.h"

namespace smd {

namespace {

using Kind = FieldKind;

struct Named {
  std::uint8_t bit;
  std::string_view name;
  Kind kind = Kind::Number;
};

/// Where a component lies is the record's own business.
SaRecordText name_fields(std::string_view name,
                         std::string_view short_name,
                         const sa::RecordShape& shape,
                         std::initializer_list<Named> named) {
  SaRecordText out{name, short_name, shape.id, shape.size, {}};
  for (const Named& each : named) {
    for (const sa::Component& place : shape.components) {
      if (place.bit == each.bit) out.fields.push_back({each.name, place, each.kind});
    }
  }
  return out;
}

SaRecordText path_record() {
  return {"PathRecord",
          "PR",
          sa::RecordId::PathRecord,
          sa::kPathRecordSize,
          {{"service_id", {0, 0, 64}, Kind::Hex},
           {"dgid", {2, 64, 128}, Kind::Gid},
           {"sgid", {3, 192, 128}, Kind::Gid},
           {"dlid", {4, 320, 16}},
           {"slid", {5, 336, 16}},
           {"raw_traffic", {6, 352, 1}},
           {"flow_label", {8, 356, 20}},
           {"hop_limit", {9, 376, 8}},
           {"tclass", {10, 384, 8}},
           {"reversible", {11, 392, 1}},
           {"numb_path", {12, 393, 7}},
           {"p_key", {13, 400, 16}, Kind::Hex},
           {"qos_class", {14, 416, 12}},
           {"sl", {15, 428, 4}},
           {"mtu_selector", {16, 432, 2}},
           {"mtu", {17, 434, 6}},
           {"rate_selector", {18, 440, 2}},
           {"rate", {19, 442, 6}},
           {"life_time_selector", {20, 448, 2}},
           {"life_time", {21, 450, 6}},
           {"preference", {22, 456, 8}}}};
}

SaRecordText port_info_record() {
  return name_fields("PortInfoRecord",
                     "PIR",
                     sa::kPortInfoRecord,
                     {{0, "endport_lid"},
                      {1, "port"},
                      {4, "gid_prefix", Kind::Hex},
                      {5, "lid"},
                      {6, "master_sm_lid"},
                      {7, "capability_mask", Kind::Hex},
                      {8, "diag_code"},
                      {9, "m_key_lease_period"},
                      {10, "local_port"},
                      {11, "link_width_enabled"},
                      {12, "link_width_supported"},
                      {13, "link_width_active"},
                      {14, "link_speed_supported"},
                      {15, "port_state"},
                      {16, "port_physical_state"},
                      {17, "link_down_default_state"},
                      {18, "m_key_protect_bits"},
                      {20, "lmc"},
                      {21, "link_speed_active"},
                      {22, "link_speed_enabled"},
                      {23, "neighbor_mtu"},
                      {24, "master_sm_sl"},
                      {25, "vl_cap"},
                      {26, "init_type"},
                      {27, "vl_high_limit"},
                      {28, "vl_arbitration_high_cap"},
                      {29, "vl_arbitration_low_cap"},
                      {30, "init_type_reply"},
                      {31, "mtu_cap"},
                      {32, "vl_stall_count"},
                      {33, "hoq_life"},
                      {34, "operational_vls"},
                      {35, "partition_enforcement_inbound"},
                      {36, "partition_enforcement_outbound"},
                      {37, "filter_raw_inbound"},
                      {38, "filter_raw_outbound"},
                      {39, "m_key_violations"},
                      {40, "p_key_violations"},
                      {41, "q_key_violations"},
                      {42, "guid_cap"},
                      {43, "client_reregister"},
                      {45, "subnet_timeout"},
                      {47, "resp_time_value"},
                      {48, "local_phy_errors"},
                      {49, "overrun_errors"},
                      {50, "max_credit_hint"},
                      {52, "link_round_trip_latency"},
                      {53, "capability_mask2", Kind::Hex},
                      {54, "link_speed_ext_active"},
                      {55, "link_speed_ext_supported"},
                      {57, "link_speed_ext_enabled"}});
}

SaRecordText mc_member_record() {
  return name_fields("MCMemberRecord",
                     "MCMR",
                     sa::kMcMemberRecord,
                     {{0, "mgid", Kind::Gid},
                      {1, "port_gid", Kind::Gid},
                      {2, "q_key", Kind::Hex},
                      {3, "mlid", Kind::Hex},
                      {4, "mtu_selector"},
                      {5, "mtu"},
                      {6, "tclass"},
                      {7, "p_key", Kind::Hex},
                      {8, "rate_selector"},
                      {9, "rate"},
                      {10, "life_time_selector"},
                      {11, "life_time"},
                      {12, "sl"},
                      {13, "flow_label"},
                      {14, "hop_limit"},
                      {15, "scope"},
                      {16, "join_state"},
                      {17, "proxy_join"}});
}

SaRecordText service_record() {
  SaRecordText out = name_fields("ServiceRecord",
                                 "SR",
                                 sa::kServiceRecord,
                                 {{0, "id", Kind::Hex},
                                  {1, "gid", Kind::Gid},
                                  {2, "p_key", Kind::Hex},
                                  {4, "lease_s"},
                                  {6, "name", Kind::Text}});
  // ServiceData has 30 components; shown whole, asked for by the first of its bytes.
  out.fields.push_back({"data", {7, 896, 512}, Kind::Bytes});
  return out;
}

}  // namespace

std::vector<SaRecordText> make_sa_records() {
  return {
      name_fields("NodeRecord",
                  "NR",
                  sa::kNodeRecord,
                  {{0, "lid"},
                   {2, "base_version"},
                   {3, "class_version"},
                   {4, "node_type"},
                   {5, "num_ports"},
                   {6, "system_guid", Kind::Hex},
                   {7, "node_guid", Kind::Hex},
                   {8, "port_guid", Kind::Hex},
                   {9, "partition_cap"},
                   {10, "device_id", Kind::Hex},
                   {11, "revision", Kind::Hex},
                   {12, "local_port"},
                   {13, "vendor_id", Kind::Hex},
                   {14, "description", Kind::Text}}),
      port_info_record(),
      name_fields("SwitchInfoRecord",
                  "SWI",
                  sa::kSwitchInfoRecord,
                  {{0, "lid"},
                   {2, "linear_fdb_cap"},
                   {3, "random_fdb_cap"},
                   {4, "multicast_fdb_cap"},
                   {5, "linear_fdb_top"},
                   {6, "default_port"},
                   {7, "default_multicast_primary_port"},
                   {8, "default_multicast_not_primary_port"},
                   {9, "life_time_value"},
                   {10, "port_state_change"},
                   {11, "optimized_sl_to_vl"},
                   {12, "lids_per_port"},
                   {13, "partition_enforcement_cap"},
                   {14, "inbound_enforcement_cap"},
                   {15, "outbound_enforcement_cap"},
                   {16, "filter_raw_inbound_cap"},
                   {17, "filter_raw_outbound_cap"},
                   {18, "enhanced_port0"}}),
      name_fields(
          "SMInfoRecord",
          "SMIR",
          sa::kSmInfoRecord,
          {{0, "lid"}, {2, "guid", Kind::Hex}, {4, "act_count"}, {5, "priority"}, {6, "state"}}),
      name_fields("LinkRecord",
                  "LR",
                  sa::kLinkRecord,
                  {{0, "from_lid"}, {1, "from_port"}, {2, "to_port"}, {3, "to_lid"}}),
      name_fields("LFTRecord",
                  "LFTR",
                  sa::kLftRecord,
                  {{0, "lid"}, {1, "block"}, {3, "ports", Kind::Ports}}),
      name_fields("GUIDInfoRecord",
                  "GIR",
                  sa::kGuidInfoRecord,
                  {{0, "lid"},
                   {1, "block"},
                   {4, "guid0", Kind::Hex},
                   {5, "guid1", Kind::Hex},
                   {6, "guid2", Kind::Hex},
                   {7, "guid3", Kind::Hex},
                   {8, "guid4", Kind::Hex},
                   {9, "guid5", Kind::Hex},
                   {10, "guid6", Kind::Hex},
                   {11, "guid7", Kind::Hex}}),
      name_fields("MFTRecord",
                  "MFTR",
                  sa::kMftRecord,
                  {{0, "lid"}, {1, "position"}, {3, "block"}, {5, "masks", Kind::Bytes}}),
      mc_member_record(),
      path_record(),
      service_record(),
      name_fields("InformInfoRecord",
                  "IIR",
                  sa::kInformInfoRecord,
                  {{0, "subscriber", Kind::Gid},
                   {1, "number"},
                   {3, "gid", Kind::Gid},
                   {4, "lid_first"},
                   {5, "lid_last"},
                   {7, "is_generic"},
                   {8, "subscribe"},
                   {9, "type"},
                   {10, "trap"},
                   {11, "qp"},
                   {13, "resp_time"},
                   {15, "producer"}})};
}

}  // namespace smd
