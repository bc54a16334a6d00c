// Component masks of records beside somebody else's reading of the specification: the mask bits of
// OpenSM's ib_types.h, and the fields of its structs that they stand for.
#include <gtest/gtest.h>
#include <iba/ib_types.h>

#include <cstring>
#include <functional>

#include "smd/sa/group_manager.h"
#include "smd/sa/node_records.h"
#include "smd/sa/path_finder.h"
#include "smd/sa/port_tables.h"
#include "smd/sa/sa_mad.h"
#include "smd/sa/service_manager.h"
#include "smd/sa/subscriptions.h"

namespace smd::sa {
namespace record_components_test {

template <class Theirs>
std::span<const std::byte> bytes_of(const Theirs& theirs) {
  return std::as_bytes(std::span(&theirs, 1));
}

TEST(SaComponents, OfMcMemberRecordAreTheirBits) {
  using namespace member_component;
  EXPECT_EQ(kMgid, cl_ntoh64(IB_MCR_COMPMASK_MGID));
  EXPECT_EQ(kPortGid, cl_ntoh64(IB_MCR_COMPMASK_PORT_GID));
  EXPECT_EQ(kQKey, cl_ntoh64(IB_MCR_COMPMASK_QKEY));
  EXPECT_EQ(kMlid, cl_ntoh64(IB_MCR_COMPMASK_MLID));
  EXPECT_EQ(kMtuSelector, cl_ntoh64(IB_MCR_COMPMASK_MTU_SEL));
  EXPECT_EQ(kMtu, cl_ntoh64(IB_MCR_COMPMASK_MTU));
  EXPECT_EQ(kTclass, cl_ntoh64(IB_MCR_COMPMASK_TCLASS));
  EXPECT_EQ(kPKey, cl_ntoh64(IB_MCR_COMPMASK_PKEY));
  EXPECT_EQ(kRateSelector, cl_ntoh64(IB_MCR_COMPMASK_RATE_SEL));
  EXPECT_EQ(kRate, cl_ntoh64(IB_MCR_COMPMASK_RATE));
  EXPECT_EQ(kLifeTimeSelector, cl_ntoh64(IB_MCR_COMPMASK_LIFE_SEL));
  EXPECT_EQ(kLifeTime, cl_ntoh64(IB_MCR_COMPMASK_LIFE));
  EXPECT_EQ(kSl, cl_ntoh64(IB_MCR_COMPMASK_SL));
  EXPECT_EQ(kFlowLabel, cl_ntoh64(IB_MCR_COMPMASK_FLOW));
  EXPECT_EQ(kHopLimit, cl_ntoh64(IB_MCR_COMPMASK_HOP));
  EXPECT_EQ(kScope, cl_ntoh64(IB_MCR_COMPMASK_SCOPE));
  EXPECT_EQ(kJoinState, cl_ntoh64(IB_MCR_COMPMASK_JOIN_STATE));
  EXPECT_EQ(kProxyJoin, cl_ntoh64(IB_MCR_COMPMASK_PROXY));
}

TEST(SaComponents, OfPathRecordAreTheirBits) {
  using namespace path_component;
  EXPECT_EQ(kDgid, cl_ntoh64(IB_PR_COMPMASK_DGID));
  EXPECT_EQ(kSgid, cl_ntoh64(IB_PR_COMPMASK_SGID));
  EXPECT_EQ(kDlid, cl_ntoh64(IB_PR_COMPMASK_DLID));
  EXPECT_EQ(kSlid, cl_ntoh64(IB_PR_COMPMASK_SLID));
  EXPECT_EQ(kRawTraffic, cl_ntoh64(IB_PR_COMPMASK_RAWTRAFFIC));
  EXPECT_EQ(kReversible, cl_ntoh64(IB_PR_COMPMASK_REVERSIBLE));
  EXPECT_EQ(kNumbPath, cl_ntoh64(IB_PR_COMPMASK_NUMBPATH));
  EXPECT_EQ(kPKey, cl_ntoh64(IB_PR_COMPMASK_PKEY));
  EXPECT_EQ(kSl, cl_ntoh64(IB_PR_COMPMASK_SL));
  EXPECT_EQ(kMtuSelector, cl_ntoh64(IB_PR_COMPMASK_MTUSELEC));
  EXPECT_EQ(kMtu, cl_ntoh64(IB_PR_COMPMASK_MTU));
  EXPECT_EQ(kRateSelector, cl_ntoh64(IB_PR_COMPMASK_RATESELEC));
  EXPECT_EQ(kRate, cl_ntoh64(IB_PR_COMPMASK_RATE));
  EXPECT_EQ(kLifeTimeSelector, cl_ntoh64(IB_PR_COMPMASK_PKTLIFETIMESELEC));
  EXPECT_EQ(kLifeTime, cl_ntoh64(IB_PR_COMPMASK_PKTLIFETIME));
}

/// One component as they name it, and how to change nothing but it in their struct.
template <class Theirs>
struct TheirComponent {
  ib_net64_t mask;
  std::function<void(Theirs&)> change;
};

/// A changed component is noticed under its own bit, and under no other.
template <class Theirs>
void check_components(const RecordShape& shape,
                      std::initializer_list<TheirComponent<Theirs>> components) {
  for (const TheirComponent<Theirs>& each : components) {
    const std::uint64_t bit = cl_ntoh64(each.mask);
    SCOPED_TRACE(testing::Message() << "component 0x" << std::hex << bit);
    Theirs wanted{};
    Theirs other{};
    each.change(other);
    std::array<std::byte, kDataSize> data{};
    std::memcpy(data.data(), &wanted, sizeof wanted);
    EXPECT_FALSE(ComponentFilter(shape, bit, data).matches(bytes_of(other)));
    EXPECT_TRUE(ComponentFilter(shape, bit, data).matches(bytes_of(wanted)));
    EXPECT_TRUE(ComponentFilter(shape, ~bit, data).matches(bytes_of(other)));
  }
}

TEST(SaComponents, OfNodeRecordAreTheirs) {
  using R = ib_node_record_t;
  check_components<R>(
      kNodeRecord,
      {{IB_NR_COMPMASK_LID, [](R& r) { r.lid = 0xffff; }},
       {IB_NR_COMPMASK_BASEVERSION, [](R& r) { r.node_info.base_version = 0xff; }},
       {IB_NR_COMPMASK_CLASSVERSION, [](R& r) { r.node_info.class_version = 0xff; }},
       {IB_NR_COMPMASK_NODETYPE, [](R& r) { r.node_info.node_type = 0xff; }},
       {IB_NR_COMPMASK_NUMPORTS, [](R& r) { r.node_info.num_ports = 0xff; }},
       {IB_NR_COMPMASK_SYSIMAGEGUID, [](R& r) { r.node_info.sys_guid = ~0ull; }},
       {IB_NR_COMPMASK_NODEGUID, [](R& r) { r.node_info.node_guid = ~0ull; }},
       {IB_NR_COMPMASK_PORTGUID, [](R& r) { r.node_info.port_guid = ~0ull; }},
       {IB_NR_COMPMASK_PARTCAP, [](R& r) { r.node_info.partition_cap = 0xffff; }},
       {IB_NR_COMPMASK_DEVID, [](R& r) { r.node_info.device_id = 0xffff; }},
       {IB_NR_COMPMASK_REV, [](R& r) { r.node_info.revision = ~0u; }},
       {IB_NR_COMPMASK_PORTNUM,
        [](R& r) { r.node_info.port_num_vendor_id = IB_NODE_INFO_PORT_NUM_MASK; }},
       {IB_NR_COMPMASK_VENDID,
        [](R& r) { r.node_info.port_num_vendor_id = IB_NODE_INFO_VEND_ID_MASK; }},
       {IB_NR_COMPMASK_NODEDESC, [](R& r) { r.node_desc.description[63] = 1; }}});
}

TEST(SaComponents, OfPortInfoRecordAreTheirs) {
  using R = ib_portinfo_record_t;
  check_components<R>(
      kPortInfoRecord,
      {{IB_PIR_COMPMASK_LID, [](R& r) { r.lid = 0xffff; }},
       {IB_PIR_COMPMASK_PORTNUM, [](R& r) { r.port_num = 0xff; }},
       {IB_PIR_COMPMASK_OPTIONS, [](R& r) { r.options = 0xff; }},
       {IB_PIR_COMPMASK_MKEY, [](R& r) { r.port_info.m_key = ~0ull; }},
       {IB_PIR_COMPMASK_GIDPRE, [](R& r) { r.port_info.subnet_prefix = ~0ull; }},
       {IB_PIR_COMPMASK_BASELID, [](R& r) { r.port_info.base_lid = 0xffff; }},
       {IB_PIR_COMPMASK_SMLID, [](R& r) { r.port_info.master_sm_base_lid = 0xffff; }},
       {IB_PIR_COMPMASK_CAPMASK, [](R& r) { r.port_info.capability_mask = ~0u; }},
       {IB_PIR_COMPMASK_DIAGCODE, [](R& r) { r.port_info.diag_code = 0xffff; }},
       {IB_PIR_COMPMASK_MKEYLEASEPRD, [](R& r) { r.port_info.m_key_lease_period = 0xffff; }},
       {IB_PIR_COMPMASK_LOCALPORTNUM, [](R& r) { r.port_info.local_port_num = 0xff; }},
       {IB_PIR_COMPMASK_LINKWIDTHENABLED, [](R& r) { r.port_info.link_width_enabled = 0xff; }},
       {IB_PIR_COMPMASK_LNKWIDTHSUPPORT, [](R& r) { r.port_info.link_width_supported = 0xff; }},
       {IB_PIR_COMPMASK_LNKWIDTHACTIVE, [](R& r) { r.port_info.link_width_active = 0xff; }},
       {IB_PIR_COMPMASK_LNKSPEEDSUPPORT, [](R& r) { r.port_info.state_info1 = 0xf0; }},
       {IB_PIR_COMPMASK_PORTSTATE, [](R& r) { r.port_info.state_info1 = 0x0f; }},
       {IB_PIR_COMPMASK_PORTPHYSTATE, [](R& r) { r.port_info.state_info2 = 0xf0; }},
       {IB_PIR_COMPMASK_LINKDWNDFLTSTATE, [](R& r) { r.port_info.state_info2 = 0x0f; }},
       {IB_PIR_COMPMASK_MKEYPROTBITS, [](R& r) { r.port_info.mkey_lmc = 0xc0; }},
       {IB_PIR_COMPMASK_LMC, [](R& r) { r.port_info.mkey_lmc = 0x07; }},
       {IB_PIR_COMPMASK_LINKSPEEDACTIVE, [](R& r) { r.port_info.link_speed = 0xf0; }},
       {IB_PIR_COMPMASK_LINKSPEEDENABLE, [](R& r) { r.port_info.link_speed = 0x0f; }},
       {IB_PIR_COMPMASK_NEIGHBORMTU, [](R& r) { r.port_info.mtu_smsl = 0xf0; }},
       {IB_PIR_COMPMASK_MASTERSMSL, [](R& r) { r.port_info.mtu_smsl = 0x0f; }},
       {IB_PIR_COMPMASK_VLCAP, [](R& r) { r.port_info.vl_cap = 0xf0; }},
       {IB_PIR_COMPMASK_INITTYPE, [](R& r) { r.port_info.vl_cap = 0x0f; }},
       {IB_PIR_COMPMASK_VLHIGHLIMIT, [](R& r) { r.port_info.vl_high_limit = 0xff; }},
       {IB_PIR_COMPMASK_VLARBHIGHCAP, [](R& r) { r.port_info.vl_arb_high_cap = 0xff; }},
       {IB_PIR_COMPMASK_VLARBLOWCAP, [](R& r) { r.port_info.vl_arb_low_cap = 0xff; }},
       {IB_PIR_COMPMASK_INITTYPEREPLY, [](R& r) { r.port_info.mtu_cap = 0xf0; }},
       {IB_PIR_COMPMASK_MTUCAP, [](R& r) { r.port_info.mtu_cap = 0x0f; }},
       {IB_PIR_COMPMASK_VLSTALLCNT, [](R& r) { r.port_info.vl_stall_life = 0xe0; }},
       {IB_PIR_COMPMASK_HOQLIFE, [](R& r) { r.port_info.vl_stall_life = 0x1f; }},
       {IB_PIR_COMPMASK_OPVLS, [](R& r) { r.port_info.vl_enforce = 0xf0; }},
       {IB_PIR_COMPMASK_PARENFIN, [](R& r) { r.port_info.vl_enforce = 0x08; }},
       {IB_PIR_COMPMASK_PARENFOUT, [](R& r) { r.port_info.vl_enforce = 0x04; }},
       {IB_PIR_COMPMASK_FILTERRAWIN, [](R& r) { r.port_info.vl_enforce = 0x02; }},
       {IB_PIR_COMPMASK_FILTERRAWOUT, [](R& r) { r.port_info.vl_enforce = 0x01; }},
       {IB_PIR_COMPMASK_MKEYVIO, [](R& r) { r.port_info.m_key_violations = 0xffff; }},
       {IB_PIR_COMPMASK_PKEYVIO, [](R& r) { r.port_info.p_key_violations = 0xffff; }},
       {IB_PIR_COMPMASK_QKEYVIO, [](R& r) { r.port_info.q_key_violations = 0xffff; }},
       {IB_PIR_COMPMASK_GUIDCAP, [](R& r) { r.port_info.guid_cap = 0xff; }},
       {IB_PIR_COMPMASK_CLIENTREREG, [](R& r) { r.port_info.subnet_timeout = 0x80; }},
       {IB_PIR_COMPMASK_SUBNTO, [](R& r) { r.port_info.subnet_timeout = 0x1f; }},
       {IB_PIR_COMPMASK_RESPTIME, [](R& r) { r.port_info.resp_time_value = 0x1f; }},
       {IB_PIR_COMPMASK_LOCALPHYERR, [](R& r) { r.port_info.error_threshold = 0xf0; }},
       {IB_PIR_COMPMASK_OVERRUNERR, [](R& r) { r.port_info.error_threshold = 0x0f; }},
       {IB_PIR_COMPMASK_MAXCREDHINT, [](R& r) { r.port_info.max_credit_hint = 0xffff; }},
       {IB_PIR_COMPMASK_LINKRTLAT, [](R& r) { r.port_info.link_rt_latency = CL_HTON32(0xffffff); }},
       {IB_PIR_COMPMASK_CAPMASK2, [](R& r) { r.port_info.capability_mask2 = 0xffff; }},
       {IB_PIR_COMPMASK_LINKSPDEXTACT, [](R& r) { r.port_info.link_speed_ext = 0xf0; }},
       {IB_PIR_COMPMASK_LINKSPDEXTSUPP, [](R& r) { r.port_info.link_speed_ext = 0x0f; }},
       {IB_PIR_COMPMASK_LINKSPDEXTENAB, [](R& r) { r.port_info.link_speed_ext_enabled = 0x1f; }}});
}

TEST(SaComponents, OfTheOthersAreTheirs) {
  using Sm = ib_sminfo_record_t;
  check_components<Sm>(kSmInfoRecord,
                       {{IB_SMIR_COMPMASK_LID, [](Sm& r) { r.lid = 0xffff; }},
                        {IB_SMIR_COMPMASK_GUID, [](Sm& r) { r.sm_info.guid = ~0ull; }},
                        {IB_SMIR_COMPMASK_SMKEY, [](Sm& r) { r.sm_info.sm_key = ~0ull; }},
                        {IB_SMIR_COMPMASK_ACTCOUNT, [](Sm& r) { r.sm_info.act_count = ~0u; }},
                        {IB_SMIR_COMPMASK_PRIORITY, [](Sm& r) { r.sm_info.pri_state = 0xf0; }},
                        {IB_SMIR_COMPMASK_SMSTATE, [](Sm& r) { r.sm_info.pri_state = 0x0f; }}});
  using Link = ib_link_record_t;
  check_components<Link>(kLinkRecord,
                         {{IB_LR_COMPMASK_FROM_LID, [](Link& r) { r.from_lid = 0xffff; }},
                          {IB_LR_COMPMASK_FROM_PORT, [](Link& r) { r.from_port_num = 0xff; }},
                          {IB_LR_COMPMASK_TO_PORT, [](Link& r) { r.to_port_num = 0xff; }},
                          {IB_LR_COMPMASK_TO_LID, [](Link& r) { r.to_lid = 0xffff; }}});
  using Lft = ib_lft_record_t;
  check_components<Lft>(kLftRecord,
                        {{IB_LFTR_COMPMASK_LID, [](Lft& r) { r.lid = 0xffff; }},
                         {IB_LFTR_COMPMASK_BLOCK, [](Lft& r) { r.block_num = 0xffff; }}});
  using Keys = ib_pkey_table_record_t;
  check_components<Keys>(kPKeyTableRecord,
                         {{IB_PKEY_COMPMASK_LID, [](Keys& r) { r.lid = 0xffff; }},
                          {IB_PKEY_COMPMASK_BLOCK, [](Keys& r) { r.block_num = 0xffff; }},
                          {IB_PKEY_COMPMASK_PORT, [](Keys& r) { r.port_num = 0xff; }}});
  using Row = ib_slvl_table_record_t;
  check_components<Row>(kSlToVlTableRecord,
                        {{IB_SLVL_COMPMASK_LID, [](Row& r) { r.lid = 0xffff; }},
                         {IB_SLVL_COMPMASK_IN_PORT, [](Row& r) { r.in_port_num = 0xff; }},
                         {IB_SLVL_COMPMASK_OUT_PORT, [](Row& r) { r.out_port_num = 0xff; }}});
  using Part = ib_vl_arb_table_record_t;
  check_components<Part>(kVlArbTableRecord,
                         {{IB_VLA_COMPMASK_LID, [](Part& r) { r.lid = 0xffff; }},
                          {IB_VLA_COMPMASK_OUT_PORT, [](Part& r) { r.port_num = 0xff; }},
                          {IB_VLA_COMPMASK_BLOCK, [](Part& r) { r.block_num = 0xff; }}});
  using Sw = ib_switch_info_record_t;
  check_components<Sw>(kSwitchInfoRecord, {{IB_SWIR_COMPMASK_LID, [](Sw& r) { r.lid = 0xffff; }}});
  using Guids = ib_guidinfo_record_t;
  check_components<Guids>(kGuidInfoRecord,
                          {{IB_GIR_COMPMASK_LID, [](Guids& r) { r.lid = 0xffff; }},
                           {IB_GIR_COMPMASK_BLOCKNUM, [](Guids& r) { r.block_num = 0xff; }},
                           {IB_GIR_COMPMASK_GID0, [](Guids& r) { r.guid_info.guid[0] = ~0ull; }},
                           {IB_GIR_COMPMASK_GID7, [](Guids& r) { r.guid_info.guid[7] = ~0ull; }}});
}

TEST(SaComponents, OfInformInfoRecordAreTheirs) {
  using R = ib_inform_info_record_t;
  check_components<R>(
      kInformInfoRecord,
      {{IB_IIR_COMPMASK_SUBSCRIBERGID, [](R& r) { r.subscriber_gid.raw[15] = 1; }},
       {IB_IIR_COMPMASK_ENUM, [](R& r) { r.subscriber_enum = 0xffff; }},
       {IB_IIR_COMPMASK_GID, [](R& r) { r.inform_info.gid.raw[0] = 1; }},
       {IB_IIR_COMPMASK_LIDRANGEBEGIN, [](R& r) { r.inform_info.lid_range_begin = 0xffff; }},
       {IB_IIR_COMPMASK_LIDRANGEEND, [](R& r) { r.inform_info.lid_range_end = 0xffff; }},
       {IB_IIR_COMPMASK_ISGENERIC, [](R& r) { r.inform_info.is_generic = 0xff; }},
       {IB_IIR_COMPMASK_SUBSCRIBE, [](R& r) { r.inform_info.subscribe = 0xff; }},
       {IB_IIR_COMPMASK_TYPE, [](R& r) { r.inform_info.trap_type = 0xffff; }},
       {IB_IIR_COMPMASK_TRAPNUMB, [](R& r) { r.inform_info.g_or_v.generic.trap_num = 0xffff; }},
       {IB_IIR_COMPMASK_QPN,
        [](R& r) { r.inform_info.g_or_v.generic.qpn_resp_time_val = CL_HTON32(0xffffff00); }},
       {IB_IIR_COMPMASK_RESPTIME,
        [](R& r) { r.inform_info.g_or_v.generic.qpn_resp_time_val = CL_HTON32(0x1f); }},
       {IB_IIR_COMPMASK_PRODTYPE,
        [](R& r) { r.inform_info.g_or_v.generic.node_type_msb = 0xff; }}});
}

TEST(SaComponents, OfServiceRecordAreTheirs) {
  using R = ib_service_record_t;
  check_components<R>(kServiceRecord,
                      {{IB_SR_COMPMASK_SID, [](R& r) { r.service_id = ~0ull; }},
                       {IB_SR_COMPMASK_SGID, [](R& r) { r.service_gid.raw[3] = 1; }},
                       {IB_SR_COMPMASK_SPKEY, [](R& r) { r.service_pkey = 0xffff; }},
                       {IB_SR_COMPMASK_SLEASE, [](R& r) { r.service_lease = ~0u; }},
                       {IB_SR_COMPMASK_SKEY, [](R& r) { r.service_key[15] = 1; }},
                       {IB_SR_COMPMASK_SNAME, [](R& r) { r.service_name[63] = 1; }},
                       {IB_SR_COMPMASK_SDATA8_0, [](R& r) { r.service_data8[0] = 1; }},
                       {IB_SR_COMPMASK_SDATA8_15, [](R& r) { r.service_data8[15] = 1; }},
                       {IB_SR_COMPMASK_SDATA16_0, [](R& r) { r.service_data16[0] = 0xffff; }},
                       {IB_SR_COMPMASK_SDATA16_7, [](R& r) { r.service_data16[7] = 0xffff; }},
                       {IB_SR_COMPMASK_SDATA32_0, [](R& r) { r.service_data32[0] = ~0u; }},
                       {IB_SR_COMPMASK_SDATA32_3, [](R& r) { r.service_data32[3] = ~0u; }},
                       {IB_SR_COMPMASK_SDATA64_0, [](R& r) { r.service_data64[0] = ~0ull; }},
                       {IB_SR_COMPMASK_SDATA64_1, [](R& r) { r.service_data64[1] = ~0ull; }}});
}

}  // namespace record_components_test
}  // namespace smd::sa
