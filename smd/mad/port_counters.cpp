#include "smd/mad/port_counters.h"

#include <fmt/core.h>

#include "smd/mad/codec.h"

namespace smd {

Result<PortCounters> decode_port_counters(std::span<const std::byte> data) {
  ByteReader in(data);
  PortCounters counters;
  in.skip(1);
  counters.port_select = PortNum{in.u8()};
  counters.counter_select = in.u16();
  counters.symbol_errors = in.u16();
  counters.link_error_recovery = in.u8();
  counters.link_downed = in.u8();
  counters.rcv_errors = in.u16();
  counters.rcv_remote_physical_errors = in.u16();
  counters.rcv_switch_relay_errors = in.u16();
  counters.xmit_discards = in.u16();
  counters.xmit_constraint_errors = in.u8();
  counters.rcv_constraint_errors = in.u8();
  counters.counter_select2 = in.u8();
  const std::uint8_t integrity = in.u8();
  counters.local_link_integrity_errors = codec::bits(integrity, 4, 4);
  counters.excessive_buffer_overrun_errors = codec::bits(integrity, 0, 4);
  counters.qp1_dropped = in.u16();
  counters.vl15_dropped = in.u16();
  counters.xmit_data = in.u32();
  counters.rcv_data = in.u32();
  counters.xmit_packets = in.u32();
  counters.rcv_packets = in.u32();
  counters.xmit_wait = in.u32();
  if (!in.ok()) return codec::too_short("PortCounters", data.size());
  return counters;
}

void encode_port_counters(const PortCounters& counters, std::span<std::byte, kPerfDataSize> data) {
  ByteWriter out(data);
  out.zeros(1);
  out.u8(counters.port_select.value());
  out.u16(counters.counter_select);
  out.u16(counters.symbol_errors);
  out.u8(counters.link_error_recovery);
  out.u8(counters.link_downed);
  out.u16(counters.rcv_errors);
  out.u16(counters.rcv_remote_physical_errors);
  out.u16(counters.rcv_switch_relay_errors);
  out.u16(counters.xmit_discards);
  out.u8(counters.xmit_constraint_errors);
  out.u8(counters.rcv_constraint_errors);
  out.u8(counters.counter_select2);
  out.u8(codec::join(codec::place(counters.local_link_integrity_errors, 4, 4),
                     codec::place(counters.excessive_buffer_overrun_errors, 0, 4)));
  out.u16(counters.qp1_dropped);
  out.u16(counters.vl15_dropped);
  out.u32(counters.xmit_data);
  out.u32(counters.rcv_data);
  out.u32(counters.xmit_packets);
  out.u32(counters.rcv_packets);
  out.u32(counters.xmit_wait);
  codec::pad(out, data.size());
}

std::string print_port_counters(const PortCounters& counters) {
  return fmt::format(
      "port {} select 0x{:04x} symbol {} recovery {} downed {} rcv err {} remote {} relay {} "
      "discards {} constraint {}/{} integrity {} overrun {} vl15 {} data {}/{} packets {}/{} "
      "wait {}",
      counters.port_select,
      counters.counter_select,
      counters.symbol_errors,
      counters.link_error_recovery,
      counters.link_downed,
      counters.rcv_errors,
      counters.rcv_remote_physical_errors,
      counters.rcv_switch_relay_errors,
      counters.xmit_discards,
      counters.xmit_constraint_errors,
      counters.rcv_constraint_errors,
      counters.local_link_integrity_errors,
      counters.excessive_buffer_overrun_errors,
      counters.vl15_dropped,
      counters.xmit_data,
      counters.rcv_data,
      counters.xmit_packets,
      counters.rcv_packets,
      counters.xmit_wait);
}

Result<PortCountersExtended> decode_port_counters_extended(std::span<const std::byte> data) {
  ByteReader in(data);
  PortCountersExtended counters;
  in.skip(1);
  counters.port_select = PortNum{in.u8()};
  counters.counter_select = in.u16();
  counters.counter_select2 = in.u32();
  counters.xmit_data = in.u64();
  counters.rcv_data = in.u64();
  counters.xmit_packets = in.u64();
  counters.rcv_packets = in.u64();
  counters.unicast_xmit_packets = in.u64();
  counters.unicast_rcv_packets = in.u64();
  counters.multicast_xmit_packets = in.u64();
  counters.multicast_rcv_packets = in.u64();
  counters.symbol_errors = in.u64();
  counters.link_error_recovery = in.u64();
  counters.link_downed = in.u64();
  counters.rcv_errors = in.u64();
  counters.rcv_remote_physical_errors = in.u64();
  counters.rcv_switch_relay_errors = in.u64();
  counters.xmit_discards = in.u64();
  counters.xmit_constraint_errors = in.u64();
  counters.rcv_constraint_errors = in.u64();
  counters.local_link_integrity_errors = in.u64();
  counters.excessive_buffer_overrun_errors = in.u64();
  counters.vl15_dropped = in.u64();
  counters.xmit_wait = in.u64();
  counters.qp1_dropped = in.u64();
  if (!in.ok()) return codec::too_short("PortCountersExtended", data.size());
  return counters;
}

void encode_port_counters_extended(const PortCountersExtended& counters,
                                   std::span<std::byte, kPerfDataSize> data) {
  ByteWriter out(data);
  out.zeros(1);
  out.u8(counters.port_select.value());
  out.u16(counters.counter_select);
  out.u32(counters.counter_select2);
  out.u64(counters.xmit_data);
  out.u64(counters.rcv_data);
  out.u64(counters.xmit_packets);
  out.u64(counters.rcv_packets);
  out.u64(counters.unicast_xmit_packets);
  out.u64(counters.unicast_rcv_packets);
  out.u64(counters.multicast_xmit_packets);
  out.u64(counters.multicast_rcv_packets);
  out.u64(counters.symbol_errors);
  out.u64(counters.link_error_recovery);
  out.u64(counters.link_downed);
  out.u64(counters.rcv_errors);
  out.u64(counters.rcv_remote_physical_errors);
  out.u64(counters.rcv_switch_relay_errors);
  out.u64(counters.xmit_discards);
  out.u64(counters.xmit_constraint_errors);
  out.u64(counters.rcv_constraint_errors);
  out.u64(counters.local_link_integrity_errors);
  out.u64(counters.excessive_buffer_overrun_errors);
  out.u64(counters.vl15_dropped);
  out.u64(counters.xmit_wait);
  out.u64(counters.qp1_dropped);
  codec::pad(out, data.size());
}

std::string print_port_counters_extended(const PortCountersExtended& counters) {
  return fmt::format(
      "port {} select 0x{:04x} data {}/{} packets {}/{} unicast {}/{} multicast {}/{} symbol {} "
      "downed {} rcv err {} discards {} vl15 {} wait {}",
      counters.port_select,
      counters.counter_select,
      counters.xmit_data,
      counters.rcv_data,
      counters.xmit_packets,
      counters.rcv_packets,
      counters.unicast_xmit_packets,
      counters.unicast_rcv_packets,
      counters.multicast_xmit_packets,
      counters.multicast_rcv_packets,
      counters.symbol_errors,
      counters.link_downed,
      counters.rcv_errors,
      counters.xmit_discards,
      counters.vl15_dropped,
      counters.xmit_wait);
}

}  // namespace smd
