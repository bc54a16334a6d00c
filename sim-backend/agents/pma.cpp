#include "sim-backend/agents/pma.h"

#include "smd/base/bytes.h"
#include "smd/mad/port_counters.h"

namespace smd::sim {
namespace {

constexpr std::uint8_t kAllPorts = 255;

using Data = std::span<std::byte, kPerfDataSize>;

PortCounters read_counters(const PortCounterRegs& regs) {
  PortCounters out;
  out.link_downed = regs.link_downed;
  out.rcv_errors = regs.rcv_errors;
  out.rcv_switch_relay_errors = regs.rcv_switch_relay_errors;
  out.xmit_discards = regs.xmit_discards;
  out.vl15_dropped = regs.vl15_dropped;
  out.xmit_data = regs.xmit_data;
  out.rcv_data = regs.rcv_data;
  out.xmit_packets = regs.xmit_packets;
  out.rcv_packets = regs.rcv_packets;
  out.xmit_wait = regs.xmit_wait;
  return out;
}

void reset_counters(PortCounterRegs& regs, std::uint16_t select, std::uint8_t select2) {
  using namespace counter_select;
  if ((select2 & kXmitWait) != 0) regs.xmit_wait = 0;
  if ((select & kLinkDowned) != 0) regs.link_downed = 0;
  if ((select & kRcvErrors) != 0) regs.rcv_errors = 0;
  if ((select & kRcvSwitchRelayErrors) != 0) regs.rcv_switch_relay_errors = 0;
  if ((select & kXmitDiscards) != 0) regs.xmit_discards = 0;
  if ((select & kVl15Dropped) != 0) regs.vl15_dropped = 0;
  if ((select & kXmitData) != 0) regs.xmit_data = 0;
  if ((select & kRcvData) != 0) regs.rcv_data = 0;
  if ((select & kXmitPackets) != 0) regs.xmit_packets = 0;
  if ((select & kRcvPackets) != 0) regs.rcv_packets = 0;
}

PortCountersExtended read_wide(const PortCounterRegs& regs) {
  PortCountersExtended out;
  out.xmit_data = regs.wide_xmit_data;
  out.rcv_data = regs.wide_rcv_data;
  out.xmit_packets = regs.wide_xmit_packets;
  out.rcv_packets = regs.wide_rcv_packets;
  out.unicast_xmit_packets = regs.wide_unicast_xmit;
  out.unicast_rcv_packets = regs.wide_unicast_rcv;
  // The additional ones: the agent has the narrow registers of errors alone.
  out.link_downed = regs.link_downed;
  out.rcv_errors = regs.rcv_errors;
  out.rcv_switch_relay_errors = regs.rcv_switch_relay_errors;
  out.xmit_discards = regs.xmit_discards;
  out.vl15_dropped = regs.vl15_dropped;
  out.xmit_wait = regs.wide_xmit_wait;
  return out;
}

void reset_wide(PortCounterRegs& regs, std::uint16_t select) {
  using namespace extended_counter_select;
  if ((select & kXmitData) != 0) regs.wide_xmit_data = 0;
  if ((select & kRcvData) != 0) regs.wide_rcv_data = 0;
  if ((select & kXmitPackets) != 0) regs.wide_xmit_packets = 0;
  if ((select & kRcvPackets) != 0) regs.wide_rcv_packets = 0;
  if ((select & kUnicastXmitPackets) != 0) regs.wide_unicast_xmit = 0;
  if ((select & kUnicastRcvPackets) != 0) regs.wide_unicast_rcv = 0;
}

/// Sums into `total`; like the counters themselves the sum sticks at its largest value.
void add_regs(PortCounterRegs& total, const PortCounterRegs& port) {
  add_sticky(total.wide_xmit_data, port.wide_xmit_data);
  add_sticky(total.wide_rcv_data, port.wide_rcv_data);
  add_sticky(total.wide_xmit_packets, port.wide_xmit_packets);
  add_sticky(total.wide_rcv_packets, port.wide_rcv_packets);
  add_sticky(total.wide_unicast_xmit, port.wide_unicast_xmit);
  add_sticky(total.wide_unicast_rcv, port.wide_unicast_rcv);
  add_sticky(total.wide_xmit_wait, port.wide_xmit_wait);
  add_sticky(total.xmit_wait, port.xmit_wait);
  add_sticky(total.xmit_data, port.xmit_data);
  add_sticky(total.rcv_data, port.rcv_data);
  add_sticky(total.xmit_packets, port.xmit_packets);
  add_sticky(total.rcv_packets, port.rcv_packets);
  add_sticky(total.rcv_errors, port.rcv_errors);
  add_sticky(total.rcv_switch_relay_errors, port.rcv_switch_relay_errors);
  add_sticky(total.xmit_discards, port.xmit_discards);
  add_sticky(total.vl15_dropped, port.vl15_dropped);
  add_sticky(total.link_downed, port.link_downed);
}

bool port_exists(const NodeState& node, PortNum arrival, PortNum selected) {
  if (!node.is_switch()) return selected == arrival;
  return selected.value() <= node.num_ports() || selected.value() == kAllPorts;
}

template <class Reset>
PortCounterRegs reset_and_read(NodeState& node, PortNum selected, Reset reset) {
  if (selected.value() != kAllPorts) {
    PortCounterRegs& regs = node.ports[selected.value()].counters;
    reset(regs);
    return regs;
  }
  PortCounterRegs total;
  for (PortRegs& port : node.ports) {
    reset(port.counters);
    add_regs(total, port.counters);
  }
  return total;
}

MadStatus answer_port_counters(NodeState& node, PortNum arrival, bool set, Data data) {
  const auto asked = decode_port_counters(data);
  if (!asked.has_value() || !port_exists(node, arrival, asked->port_select)) {
    return MadStatus::BadField;
  }
  const PortCounterRegs regs = reset_and_read(node, asked->port_select, [&](PortCounterRegs& port) {
    if (set) reset_counters(port, asked->counter_select, asked->counter_select2);
  });
  PortCounters out = read_counters(regs);
  if (node.options.wait_counters == WaitCounters::None) out.xmit_wait = 0;
  out.port_select = asked->port_select;
  out.counter_select = asked->counter_select;
  encode_port_counters(out, data);
  return MadStatus::Ok;
}

MadStatus answer_wide_counters(NodeState& node, PortNum arrival, bool set, Data data) {
  const auto asked = decode_port_counters_extended(data);
  if (!asked.has_value() || !port_exists(node, arrival, asked->port_select)) {
    return MadStatus::BadField;
  }
  const PortCounterRegs regs = reset_and_read(node, asked->port_select, [&](PortCounterRegs& port) {
    if (set) reset_wide(port, asked->counter_select);
  });
  PortCountersExtended out = read_wide(regs);
  if (node.options.wait_counters != WaitCounters::Wide) out.xmit_wait = 0;
  out.port_select = asked->port_select;
  out.counter_select = asked->counter_select;
  encode_port_counters_extended(out, data);
  return MadStatus::Ok;
}

MadStatus answer_class_port_info(const NodeState& node, PortNum arrival, bool set, Data data) {
  using namespace perf_capability;
  if (set) return MadStatus::BadMethodAttribute;  // no traps here, so nothing to configure
  ByteWriter out(data);
  out.u8(1);  // base version
  out.u8(1);  // class version
  const WaitCounters waits = node.options.wait_counters;
  out.u16(static_cast<std::uint16_t>(kExtendedWidth | (node.is_switch() ? kAllPortSelect : 0) |
                                     (waits == WaitCounters::None ? 0 : kHasXmitWait)));
  out.u32((waits == WaitCounters::Wide ? kAdditionalExtended << kRespTimeBits : 0) |
          node.management_port(arrival).info.resp_time_value);
  out.zeros(kPerfDataSize - out.written());
  return MadStatus::Ok;
}

MadStatus answer(NodeState& node, PortNum arrival, const MadHeader& header, Data data) {
  if (node.options.wait_counters == WaitCounters::Busy) return MadStatus::Busy;
  const bool set = header.method == static_cast<std::uint8_t>(Method::Set);
  if (!set && header.method != static_cast<std::uint8_t>(Method::Get)) {
    return MadStatus::BadMethod;
  }
  if (header.class_version != 1) return MadStatus::BadVersion;
  switch (header.attribute_id) {
    case perf_attribute::kClassPortInfo:
      return answer_class_port_info(node, arrival, set, data);
    case perf_attribute::kPortCounters:
      return answer_port_counters(node, arrival, set, data);
    case perf_attribute::kPortCountersExtended:
      return answer_wide_counters(node, arrival, set, data);
    default:
      return MadStatus::BadMethodAttribute;
  }
}

}  // namespace

void answer_performance(NodeState& node, PortNum arrival, MadBytes& mad) {
  auto header = decode_mad_header(mad);
  if (!header.has_value()) return;
  const Data data = std::span<std::byte, kMadSize>(mad).subspan<kPerfDataOffset>();
  header->status = static_cast<std::uint16_t>(answer(node, arrival, *header, data));
  header->method = static_cast<std::uint8_t>(Method::GetResp);
  encode_mad_header(*header, mad);
}

}  // namespace smd::sim
