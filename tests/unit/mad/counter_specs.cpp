// PortCounters (IBA 16.1.3.5) and PortCountersExtended (16.1.4.11).
#include "tests/unit/mad/attribute_specs.h"

namespace smd::spec {
namespace {

template <class T>
auto into_perf_data(void (*encode)(const T&, std::span<std::byte, kPerfDataSize>)) {
  return [encode](const T& value, std::span<std::byte> out) {
    encode(value, out.first<kPerfDataSize>());
  };
}

}  // namespace

Attribute<PortCounters> port_counters() {
  using C = PortCounters;
  return {
      .name = "PortCounters",
      .size = kPerfDataSize,
      .extent = 44,
      .fields =
          {field("port", &C::port_select, 8, 8, IB_PC_PORT_SELECT_F),
           field("select", &C::counter_select, 16, 16, IB_PC_COUNTER_SELECT_F),
           field("symbol", &C::symbol_errors, 32, 16, IB_PC_ERR_SYM_F),
           field("recovery", &C::link_error_recovery, 48, 8, IB_PC_LINK_RECOVERS_F),
           field("downed", &C::link_downed, 56, 8, IB_PC_LINK_DOWNED_F),
           field("rcv", &C::rcv_errors, 64, 16, IB_PC_ERR_RCV_F),
           field("remote", &C::rcv_remote_physical_errors, 80, 16, IB_PC_ERR_PHYSRCV_F),
           field("relay", &C::rcv_switch_relay_errors, 96, 16, IB_PC_ERR_SWITCH_REL_F),
           field("discards", &C::xmit_discards, 112, 16, IB_PC_XMT_DISCARDS_F),
           field("xmit constraint", &C::xmit_constraint_errors, 128, 8, IB_PC_ERR_XMTCONSTR_F),
           field("rcv constraint", &C::rcv_constraint_errors, 136, 8, IB_PC_ERR_RCVCONSTR_F),
           field("select 2", &C::counter_select2, 144, 8, IB_PC_COUNTER_SELECT2_F),
           field("integrity", &C::local_link_integrity_errors, 152, 4, IB_PC_ERR_LOCALINTEG_F),
           field("overrun", &C::excessive_buffer_overrun_errors, 156, 4, IB_PC_ERR_EXCESS_OVR_F),
           // libibmad's table puts QP1Dropped on the bytes of VL15Dropped; the specification does
           // not.
           field("qp1", &C::qp1_dropped, 160, 16),
           field("vl15", &C::vl15_dropped, 176, 16, IB_PC_VL15_DROPPED_F),
           field("xmit data", &C::xmit_data, 192, 32, IB_PC_XMT_BYTES_F),
           field("rcv data", &C::rcv_data, 224, 32, IB_PC_RCV_BYTES_F),
           field("xmit packets", &C::xmit_packets, 256, 32, IB_PC_XMT_PKTS_F),
           field("rcv packets", &C::rcv_packets, 288, 32, IB_PC_RCV_PKTS_F),
           field("wait", &C::xmit_wait, 320, 32, IB_PC_XMT_WAIT_F)},
      .decode = decode_port_counters,
      .encode = into_perf_data(encode_port_counters),
      .print = print_port_counters,
  };
}

Attribute<PortCountersExtended> port_counters_extended() {
  using C = PortCountersExtended;
  return {
      .name = "PortCountersExtended",
      .size = kPerfDataSize,
      .extent = 184,
      .fields =
          {field("port", &C::port_select, 8, 8, IB_PC_EXT_PORT_SELECT_F),
           field("select", &C::counter_select, 16, 16, IB_PC_EXT_COUNTER_SELECT_F),
           field("select 2", &C::counter_select2, 32, 32, IB_PC_EXT_COUNTER_SELECT2_F),
           field("xmit data", &C::xmit_data, 64, 64, IB_PC_EXT_XMT_BYTES_F),
           field("rcv data", &C::rcv_data, 128, 64, IB_PC_EXT_RCV_BYTES_F),
           field("xmit packets", &C::xmit_packets, 192, 64, IB_PC_EXT_XMT_PKTS_F),
           field("rcv packets", &C::rcv_packets, 256, 64, IB_PC_EXT_RCV_PKTS_F),
           field("unicast xmit", &C::unicast_xmit_packets, 320, 64, IB_PC_EXT_XMT_UPKTS_F),
           field("unicast rcv", &C::unicast_rcv_packets, 384, 64, IB_PC_EXT_RCV_UPKTS_F),
           field("multicast xmit", &C::multicast_xmit_packets, 448, 64, IB_PC_EXT_XMT_MPKTS_F),
           field("multicast rcv", &C::multicast_rcv_packets, 512, 64, IB_PC_EXT_RCV_MPKTS_F),
           field("symbol", &C::symbol_errors, 576, 64, IB_PC_EXT_ERR_SYM_F),
           field("recovery", &C::link_error_recovery, 640, 64, IB_PC_EXT_LINK_RECOVERS_F),
           field("downed", &C::link_downed, 704, 64, IB_PC_EXT_LINK_DOWNED_F),
           field("rcv", &C::rcv_errors, 768, 64, IB_PC_EXT_ERR_RCV_F),
           field("remote", &C::rcv_remote_physical_errors, 832, 64, IB_PC_EXT_ERR_PHYSRCV_F),
           field("relay", &C::rcv_switch_relay_errors, 896, 64, IB_PC_EXT_ERR_SWITCH_REL_F),
           field("discards", &C::xmit_discards, 960, 64, IB_PC_EXT_XMT_DISCARDS_F),
           field(
               "xmit constraint", &C::xmit_constraint_errors, 1024, 64, IB_PC_EXT_ERR_XMTCONSTR_F),
           field("rcv constraint", &C::rcv_constraint_errors, 1088, 64, IB_PC_EXT_ERR_RCVCONSTR_F),
           field(
               "integrity", &C::local_link_integrity_errors, 1152, 64, IB_PC_EXT_ERR_LOCALINTEG_F),
           field("overrun",
                 &C::excessive_buffer_overrun_errors,
                 1216,
                 64,
                 IB_PC_EXT_ERR_EXCESS_OVR_F),
           field("vl15", &C::vl15_dropped, 1280, 64, IB_PC_EXT_VL15_DROPPED_F),
           field("wait", &C::xmit_wait, 1344, 64, IB_PC_EXT_XMT_WAIT_F),
           field("qp1", &C::qp1_dropped, 1408, 64, IB_PC_EXT_QP1_DROP_F)},
      .decode = decode_port_counters_extended,
      .encode = into_perf_data(encode_port_counters_extended),
      .print = print_port_counters_extended,
  };
}

}  // namespace smd::spec
