// Records beside somebody else's reading of the specification: the
// structs of OpenSM's ib_types.h.
#include <gtest/gtest.h>
#include <iba/ib_types.h>

#include <cstring>

#include "smd/sa/group_manager.h"
#include "smd/sa/node_records.h"
#include "smd/sa/path_finder.h"
#include "smd/sa/port_tables.h"
#include "smd/sa/sa_mad.h"
#include "smd/sa/service_manager.h"
#include "smd/sa/subscriptions.h"

namespace smd::sa {
namespace records_test {

template <class Theirs, class Ours>
Theirs as_theirs(const Ours& record) {
  std::array<std::byte, kDataSize> bytes{};
  encode_record(record, std::span(bytes).first(sizeof(Theirs)));
  Theirs theirs;
  std::memcpy(&theirs, bytes.data(), sizeof theirs);
  return theirs;
}

template <class Theirs>
std::span<const std::byte> bytes_of(const Theirs& theirs) {
  return std::as_bytes(std::span(&theirs, 1));
}

NodeRecord a_node() {
  return {.lid = Lid{0x1234},
          .info = {.base_version = 1,
                   .class_version = 1,
                   .node_type = 2,
                   .num_ports = 36,
                   .system_guid = Guid{0x1111},
                   .node_guid = Guid{0x2222},
                   .port_guid = Guid{0x3333},
                   .partition_cap = 8,
                   .device_id = 0xd2f0,
                   .revision = 0xa1,
                   .local_port = PortNum{7},
                   .vendor_id = 0x2c9},
          .description = "sw-0-3"};
}

TEST(SaRecords, NodeRecordHasTheirBytes) {
  const auto theirs = as_theirs<ib_node_record_t>(a_node());
  EXPECT_EQ(sizeof theirs, kNodeRecord.size);
  EXPECT_EQ(cl_ntoh16(theirs.lid), 0x1234);
  EXPECT_EQ(theirs.node_info.num_ports, 36);
  EXPECT_EQ(cl_ntoh64(theirs.node_info.node_guid), 0x2222u);
  EXPECT_EQ(cl_ntoh64(theirs.node_info.port_guid), 0x3333u);
  EXPECT_EQ(cl_ntoh32(ib_node_info_get_vendor_id(&theirs.node_info)), 0x2c9u);
  EXPECT_EQ(ib_node_info_get_local_port_num(&theirs.node_info), 7);
  EXPECT_STREQ(reinterpret_cast<const char*>(theirs.node_desc.description), "sw-0-3");
  EXPECT_EQ(decode_node_record(bytes_of(theirs)).value(), a_node());
}

TEST(SaRecords, PortInfoRecordHasTheirBytes) {
  PortInfoRecord ours{.lid = Lid{9}, .port = PortNum{3}};
  ours.info.m_key = MKey{0xabc};
  ours.info.lid = Lid{10};
  ours.info.mtu_cap = 5;
  ours.info.neighbor_mtu = 4;
  ours.info.subnet_timeout = 18;
  ours.info.capability_mask2 = 0x30;
  const auto theirs = as_theirs<ib_portinfo_record_t>(ours);
  EXPECT_EQ(sizeof theirs, kPortInfoRecord.size);
  EXPECT_EQ(cl_ntoh16(theirs.lid), 9);
  EXPECT_EQ(theirs.port_num, 3);
  EXPECT_EQ(cl_ntoh64(theirs.port_info.m_key), 0xabcu);
  EXPECT_EQ(cl_ntoh16(theirs.port_info.base_lid), 10);
  ib_port_info_t info = theirs.port_info;
  EXPECT_EQ(ib_port_info_get_mtu_cap(&info), 5);
  EXPECT_EQ(ib_port_info_get_neighbor_mtu(&info), 4);
  EXPECT_EQ(ib_port_info_get_timeout(&info), 18);
  EXPECT_EQ(decode_port_info_record(bytes_of(theirs)).value(), ours);
}

TEST(SaRecords, SwitchInfoRecordHasTheirBytes) {
  const SwitchInfoRecord ours{.lid = Lid{2},
                              .info = {.linear_fdb_cap = 0xc000,
                                       .linear_fdb_top = 77,
                                       .life_time_value = 18,
                                       .enhanced_port0 = true,
                                       .multicast_fdb_top = 0xbfff}};
  const auto theirs = as_theirs<ib_switch_info_record_t>(ours);
  EXPECT_EQ(sizeof theirs, kSwitchInfoRecord.size);
  EXPECT_EQ(cl_ntoh16(theirs.lid), 2);
  EXPECT_EQ(cl_ntoh16(theirs.switch_info.lin_cap), 0xc000);
  EXPECT_EQ(cl_ntoh16(theirs.switch_info.lin_top), 77);
  EXPECT_TRUE(ib_switch_info_is_enhanced_port0(&theirs.switch_info));
  EXPECT_EQ(cl_ntoh16(theirs.switch_info.mcast_top), 0xbfff);
  EXPECT_EQ(decode_switch_info_record(bytes_of(theirs)).value(), ours);
}

TEST(SaRecords, SmInfoRecordHasTheirBytes) {
  const SmInfoRecord ours{
      .lid = Lid{1},
      .info = {
          .guid = Guid{0x77}, .sm_key = SmKey{5}, .act_count = 12, .priority = 4, .sm_state = 3}};
  const auto theirs = as_theirs<ib_sminfo_record_t>(ours);
  EXPECT_EQ(sizeof theirs, kSmInfoRecord.size);
  EXPECT_EQ(cl_ntoh64(theirs.sm_info.guid), 0x77u);
  EXPECT_EQ(cl_ntoh32(theirs.sm_info.act_count), 12u);
  const ib_sm_info_t info = theirs.sm_info;
  EXPECT_EQ(ib_sminfo_get_priority(&info), 4);
  EXPECT_EQ(ib_sminfo_get_state(&info), 3);
  EXPECT_EQ(decode_sm_info_record(bytes_of(theirs)).value(), ours);
}

TEST(SaRecords, GuidInfoRecordHasTheirBytes) {
  GuidInfoRecord ours{.lid = Lid{3}, .block = 1};
  ours.guids[7] = Guid{0xfeed};
  const auto theirs = as_theirs<ib_guidinfo_record_t>(ours);
  EXPECT_EQ(sizeof theirs, kGuidInfoRecord.size);
  EXPECT_EQ(theirs.block_num, 1);
  EXPECT_EQ(cl_ntoh64(theirs.guid_info.guid[7]), 0xfeedu);
  EXPECT_EQ(decode_guid_info_record(bytes_of(theirs)).value(), ours);
}

TEST(SaRecords, LinkAndLftRecordsHaveTheirBytes) {
  const LinkRecord link{Lid{1}, PortNum{2}, PortNum{3}, Lid{4}};
  const auto their_link = as_theirs<ib_link_record_t>(link);
  EXPECT_EQ(sizeof their_link, kLinkRecord.size);
  EXPECT_EQ(cl_ntoh16(their_link.from_lid), 1);
  EXPECT_EQ(their_link.from_port_num, 2);
  EXPECT_EQ(their_link.to_port_num, 3);
  EXPECT_EQ(cl_ntoh16(their_link.to_lid), 4);
  EXPECT_EQ(decode_link_record(bytes_of(their_link)).value(), link);

  LftRecord lft{.lid = Lid{6}, .block = 2};
  lft.ports[63] = PortNum{11};
  const auto their_lft = as_theirs<ib_lft_record_t>(lft);
  EXPECT_EQ(sizeof their_lft, kLftRecord.size);
  EXPECT_EQ(cl_ntoh16(their_lft.block_num), 2);
  EXPECT_EQ(their_lft.lft[63], 11);
  EXPECT_EQ(decode_lft_record(bytes_of(their_lft)).value(), lft);
}

TEST(SaRecords, RecordsOfPortTablesHaveTheirBytes) {
  PKeyTableRecord keys{.lid = Lid{6}, .block = 0x102, .port = PortNum{3}};
  keys.keys[31] = PKey{0x8001};
  const auto their_keys = as_theirs<ib_pkey_table_record_t>(keys);
  EXPECT_EQ(sizeof their_keys, kPKeyTableRecord.size);
  EXPECT_EQ(cl_ntoh16(their_keys.lid), 6);
  EXPECT_EQ(cl_ntoh16(their_keys.block_num), 0x102);
  EXPECT_EQ(their_keys.port_num, 3);
  EXPECT_EQ(cl_ntoh16(their_keys.pkey_tbl.pkey_entry[31]), 0x8001);
  EXPECT_EQ(decode_p_key_table_record(bytes_of(their_keys)).value(), keys);

  SlToVlTableRecord row{.lid = Lid{7}, .in = PortNum{1}, .out = PortNum{2}};
  row.vls[5] = Vl{4};
  row.vls[15] = Vl{15};
  const auto their_row = as_theirs<ib_slvl_table_record_t>(row);
  EXPECT_EQ(sizeof their_row, kSlToVlTableRecord.size);
  EXPECT_EQ(their_row.in_port_num, 1);
  EXPECT_EQ(their_row.out_port_num, 2);
  EXPECT_EQ(ib_slvl_table_get(&their_row.slvl_tbl, 5), 4);
  EXPECT_EQ(ib_slvl_table_get(&their_row.slvl_tbl, 15), 15);
  EXPECT_EQ(decode_sl_to_vl_table_record(bytes_of(their_row)).value(), row);

  VlArbTableRecord part{.lid = Lid{8}, .out = PortNum{2}, .block = 3};
  part.entries[31] = {.vl = Vl{6}, .weight = 99};
  const auto their_part = as_theirs<ib_vl_arb_table_record_t>(part);
  EXPECT_EQ(sizeof their_part, kVlArbTableRecord.size);
  EXPECT_EQ(their_part.port_num, 2);
  EXPECT_EQ(their_part.block_num, 3);
  EXPECT_EQ(their_part.vl_arb_tbl.vl_entry[31].weight, 99);
  EXPECT_EQ(decode_vl_arb_table_record(bytes_of(their_part)).value(), part);
}

TEST(SaRecords, PathRecordHasTheirBytes) {
  const PathRecord ours{.service_id = 0x55,
                        .dgid = {0xfe80, Guid{1}},
                        .sgid = {0xfe81, Guid{2}},
                        .dlid = Lid{3},
                        .slid = Lid{4},
                        .raw_traffic = true,
                        .flow_label = 0xabcde,
                        .hop_limit = 6,
                        .tclass = 7,
                        .reversible = true,
                        .numb_path = 8,
                        .p_key = PKey{0x8001},
                        .qos_class = 0x123,
                        .sl = 9,
                        .mtu = {Selector::Exactly, 4},
                        .rate = {Selector::LessThan, 16},
                        .life_time = {Selector::Best, 18},
                        .preference = 2};
  const auto theirs = as_theirs<ib_path_rec_t>(ours);
  EXPECT_EQ(sizeof theirs, kPathRecordSize);
  EXPECT_EQ(cl_ntoh64(theirs.service_id), 0x55u);
  EXPECT_EQ(cl_ntoh64(theirs.dgid.unicast.interface_id), 1u);
  EXPECT_EQ(cl_ntoh64(theirs.sgid.unicast.prefix), 0xfe81u);
  EXPECT_EQ(cl_ntoh16(theirs.dlid), 3);
  EXPECT_EQ(cl_ntoh32(theirs.hop_flow_raw), 0x80000000u | 0xabcdeu << 8 | 6u);
  EXPECT_EQ(theirs.num_path, 0x88);
  EXPECT_EQ(cl_ntoh16(theirs.pkey), 0x8001);
  EXPECT_EQ(ib_path_rec_sl(&theirs), 9);
  EXPECT_EQ(ib_path_rec_qos_class(&theirs), 0x123);
  EXPECT_EQ(ib_path_rec_mtu(&theirs), 4);
  EXPECT_EQ(ib_path_rec_mtu_sel(&theirs), 2);
  EXPECT_EQ(ib_path_rec_rate(&theirs), 16);
  EXPECT_EQ(ib_path_rec_rate_sel(&theirs), 1);
  EXPECT_EQ(ib_path_rec_pkt_life(&theirs), 18);
  EXPECT_EQ(ib_path_rec_pkt_life_sel(&theirs), 3);
  EXPECT_EQ(theirs.preference, 2);
  EXPECT_EQ(decode_path_record(bytes_of(theirs)).value(), ours);
}

TEST(SaRecords, MulticastRecordsHaveTheirBytes) {
  const McMemberRecord ours{.mgid = {0xff12401bffff0000u, Guid{0xffffffff}},
                            .port_gid = {0xfe80, Guid{2}},
                            .q_key = 0xb1b,
                            .mlid = Lid{0xc001},
                            .mtu = {Selector::Exactly, 4},
                            .tclass = 5,
                            .p_key = PKey{0x8001},
                            .rate = {Selector::LessThan, 16},
                            .life_time = {Selector::Best, 18},
                            .sl = 9,
                            .flow_label = 0xabcde,
                            .hop_limit = 10,
                            .scope = 2,
                            .join_state = 5};
  const auto theirs = as_theirs<ib_member_rec_t>(ours);
  EXPECT_EQ(sizeof theirs, kMcMemberRecord.size);
  EXPECT_EQ(cl_ntoh64(theirs.mgid.unicast.interface_id), 0xffffffffu);
  EXPECT_EQ(cl_ntoh64(theirs.port_gid.unicast.prefix), 0xfe80u);
  EXPECT_EQ(cl_ntoh32(theirs.qkey), 0xb1bu);
  EXPECT_EQ(cl_ntoh16(theirs.mlid), 0xc001);
  EXPECT_EQ(theirs.mtu, 0x84);
  EXPECT_EQ(theirs.tclass, 5);
  EXPECT_EQ(cl_ntoh16(theirs.pkey), 0x8001);
  EXPECT_EQ(theirs.rate, 0x50);
  EXPECT_EQ(theirs.pkt_life, 0xd2);
  std::uint8_t sl = 0;
  std::uint32_t flow = 0;
  std::uint8_t hop = 0;
  ib_member_get_sl_flow_hop(theirs.sl_flow_hop, &sl, &flow, &hop);
  EXPECT_EQ(sl, 9);
  EXPECT_EQ(flow, 0xabcdeu);
  EXPECT_EQ(hop, 10);
  EXPECT_EQ(theirs.scope_state, 0x25);
  EXPECT_EQ(decode_mc_member_record(bytes_of(theirs)).value(), ours);

  const MftRecord mft{.lid = Lid{6}, .position = 3, .block = 0x101, .masks = {0x1234}};
  const auto their_mft = as_theirs<ib_mft_record_t>(mft);
  EXPECT_EQ(sizeof their_mft, kMftRecord.size);
  EXPECT_EQ(cl_ntoh16(their_mft.position_block_num), 0x3101);
  EXPECT_EQ(cl_ntoh16(their_mft.mft[0]), 0x1234);
  EXPECT_EQ(decode_mft_record(bytes_of(their_mft)).value(), mft);
}

TEST(SaRecords, InformInfoRecordHasTheirBytes) {
  const InformInfoRecord ours{.subscriber = {0xfe80, Guid{1}},
                              .number = 3,
                              .info = {.gid = {0xfe81, Guid{2}},
                                       .lid_first = Lid{4},
                                       .lid_last = Lid{5},
                                       .is_generic = 1,
                                       .subscribe = 1,
                                       .type = 2,
                                       .trap_or_device = 64,
                                       .qpn = 0xabcdef,
                                       .resp_time = 19,
                                       .producer_or_vendor = 0x123456}};
  const auto theirs = as_theirs<ib_inform_info_record_t>(ours);
  EXPECT_EQ(sizeof theirs, kInformInfoRecord.size);
  EXPECT_EQ(cl_ntoh64(theirs.subscriber_gid.unicast.interface_id), 1u);
  EXPECT_EQ(cl_ntoh16(theirs.subscriber_enum), 3);
  const ib_inform_info_t& info = theirs.inform_info;
  EXPECT_EQ(cl_ntoh64(info.gid.unicast.prefix), 0xfe81u);
  EXPECT_EQ(cl_ntoh16(info.lid_range_begin), 4);
  EXPECT_EQ(cl_ntoh16(info.lid_range_end), 5);
  EXPECT_EQ(info.is_generic, 1);
  EXPECT_EQ(info.subscribe, 1);
  EXPECT_EQ(cl_ntoh16(info.trap_type), 2);
  EXPECT_EQ(cl_ntoh16(info.g_or_v.generic.trap_num), 64);
  ib_net32_t qpn = 0;
  std::uint8_t time = 0;
  ib_inform_info_get_qpn_resp_time(info.g_or_v.generic.qpn_resp_time_val, &qpn, &time);
  EXPECT_EQ(cl_ntoh32(qpn), 0xabcdefu);
  EXPECT_EQ(time, 19);
  EXPECT_EQ(cl_ntoh32(ib_inform_info_get_prod_type(&info)), 0x123456u);
  EXPECT_EQ(decode_inform_info_record(bytes_of(theirs)).value(), ours);
  EXPECT_EQ(decode_inform_info(bytes_of(info)).value(), ours.info);
  EXPECT_EQ(sizeof info, kInformInfoSize);
}

TEST(SaRecords, ServiceRecordHasTheirBytes) {
  ServiceRecord ours{.id = 0x55, .gid = {0xfe80, Guid{1}}, .p_key = PKey{0x8001}, .lease_s = 77};
  ours.key[15] = 3;
  ours.name[0] = 'n';
  ours.data[1] = 4;
  ours.data[63] = 5;
  const auto theirs = as_theirs<ib_service_record_t>(ours);
  EXPECT_EQ(sizeof theirs, kServiceRecord.size);
  EXPECT_EQ(cl_ntoh64(theirs.service_id), 0x55u);
  EXPECT_EQ(cl_ntoh64(theirs.service_gid.unicast.interface_id), 1u);
  EXPECT_EQ(cl_ntoh16(theirs.service_pkey), 0x8001);
  EXPECT_EQ(cl_ntoh32(theirs.service_lease), 77u);
  EXPECT_EQ(theirs.service_key[15], 3);
  EXPECT_EQ(theirs.service_name[0], 'n');
  EXPECT_EQ(theirs.service_data8[1], 4);
  EXPECT_EQ(cl_ntoh64(theirs.service_data64[1]), 5u);
  EXPECT_EQ(decode_service_record(bytes_of(theirs)).value(), ours);
}

TEST(SaRecords, AReportHasTheirBytes) {
  ReportEvent event{.issuer = {0xfe80, Guid{9}}};
  event.notice.trap_or_device = 65;
  event.notice.producer_or_vendor = kClassManager;
  event.notice.details[6] = 0xfe;
  event.notice.details[21] = 7;
  ib_mad_notice_attr_t theirs;
  encode_report(event, std::as_writable_bytes(std::span(&theirs, 1)));
  EXPECT_EQ(sizeof theirs, kReportSize);
  EXPECT_EQ(cl_ntoh16(theirs.g_or_v.generic.trap_num), 65);
  EXPECT_EQ(cl_ntoh32(ib_notice_get_prod_type(&theirs)), 4u);
  EXPECT_EQ(cl_ntoh64(theirs.issuer_gid.unicast.interface_id), 9u);
  EXPECT_EQ(theirs.data_details.ntc_64_67.gid.raw[0], 0xfe);
  EXPECT_EQ(theirs.data_details.ntc_64_67.gid.raw[15], 7);
}

TEST(SaRecords, ClassPortInfoHasTheirBytes) {
  const ClassPortInfo ours{
      .capability_mask = 0x2000, .capability_mask2 = 0x1234, .resp_time_value = 16};
  auto theirs = as_theirs<ib_class_port_info_t>(ours);
  EXPECT_EQ(sizeof theirs, kClassPortInfoSize);
  EXPECT_EQ(theirs.class_ver, 2);
  EXPECT_EQ(cl_ntoh16(theirs.cap_mask), 0x2000);
  EXPECT_EQ(ib_class_cap_mask2(&theirs), 0x1234u);
  EXPECT_EQ(ib_class_resp_time_val(&theirs), 16);
  EXPECT_EQ(decode_class_port_info(bytes_of(theirs)).value(), ours);
}

TEST(SaRecords, TheHeaderHasTheirBytes) {
  const SaHeader ours{.mad = {.mgmt_class = 3,
                              .class_version = 2,
                              .method = 0x92,
                              .status = 0x0300,
                              .transaction_id = 0x1122334455667788,
                              .attribute_id = 0x35,
                              .attribute_modifier = 0x80000000},
                      .rmpp = {.version = 1,
                               .type = 1,
                               .response_time = 17,
                               .flags = 7,
                               .status = 120,
                               .segment = 3,
                               .length = 220},
                      .sm_key = SmKey{0x99},
                      .attribute_offset = 14,
                      .component_mask = 0x8001};
  MadBytes mad{};
  encode_sa_header(ours, mad);
  ib_sa_mad_t theirs;
  std::memcpy(&theirs, mad.data(), sizeof theirs);
  EXPECT_EQ(cl_ntoh16(theirs.status), 0x0300);
  EXPECT_EQ(theirs.rmpp_type, 1);
  EXPECT_EQ(theirs.rmpp_flags, 17 << 3 | 7);
  EXPECT_EQ(theirs.rmpp_status, 120);
  EXPECT_EQ(cl_ntoh32(theirs.seg_num), 3u);
  EXPECT_EQ(cl_ntoh32(theirs.paylen_newwin), 220u);
  EXPECT_EQ(cl_ntoh64(theirs.sm_key), 0x99u);
  EXPECT_EQ(cl_ntoh16(theirs.attr_offset), 14);
  EXPECT_EQ(cl_ntoh64(theirs.comp_mask), 0x8001u);
  EXPECT_EQ(reinterpret_cast<const char*>(theirs.data) - reinterpret_cast<const char*>(&theirs),
            static_cast<std::ptrdiff_t>(kHeaderSize));
  EXPECT_EQ(decode_sa_header(mad).value(), ours);
}

TEST(SaRecords, ShortBytesAreRefused) {
  const std::array<std::byte, 7> few{};
  EXPECT_FALSE(decode_node_record(few));
  EXPECT_FALSE(decode_port_info_record(few));
  EXPECT_FALSE(decode_switch_info_record(few));
  EXPECT_FALSE(decode_sm_info_record(few));
  EXPECT_FALSE(decode_guid_info_record(few));
  EXPECT_FALSE(decode_lft_record(few));
  EXPECT_FALSE(decode_p_key_table_record(few));
  EXPECT_FALSE(decode_sl_to_vl_table_record(few));
  EXPECT_FALSE(decode_vl_arb_table_record(few));
  EXPECT_FALSE(decode_path_record(few));
  EXPECT_FALSE(decode_class_port_info(few));
  EXPECT_FALSE(decode_link_record(std::span(few).first(5)));
  EXPECT_FALSE(decode_sa_header(few));
  EXPECT_FALSE(decode_inform_info(few));
  EXPECT_FALSE(decode_inform_info_record(few));
  EXPECT_FALSE(decode_service_record(few));
}

}  // namespace records_test
}  // namespace smd::sa
