#include "smd/mad/switch_info.h"

#include <fmt/core.h>

#include "smd/mad/codec.h"

namespace smd {

using codec::bit;
using codec::bits;
using codec::join;
using codec::place;

Result<SwitchInfo> decode_switch_info(std::span<const std::byte> data) {
  ByteReader in(data);
  SwitchInfo info;
  info.linear_fdb_cap = in.u16();
  info.random_fdb_cap = in.u16();
  info.multicast_fdb_cap = in.u16();
  info.linear_fdb_top = in.u16();
  info.default_port = PortNum{in.u8()};
  info.default_mcast_primary_port = PortNum{in.u8()};
  info.default_mcast_not_primary_port = PortNum{in.u8()};
  const std::uint8_t life = in.u8();
  info.life_time_value = bits(life, 3, 5);
  info.port_state_change = bit(life, 2);
  info.optimized_sl_to_vl = bits(life, 0, 2);
  info.lids_per_port = in.u16();
  info.partition_enforcement_cap = in.u16();
  const std::uint8_t caps = in.u8();
  info.inbound_enforcement_cap = bit(caps, 7);
  info.outbound_enforcement_cap = bit(caps, 6);
  info.filter_raw_inbound_cap = bit(caps, 5);
  info.filter_raw_outbound_cap = bit(caps, 4);
  info.enhanced_port0 = bit(caps, 3);
  in.skip(1);
  info.multicast_fdb_top = in.u16();
  if (!in.ok()) return codec::too_short("SwitchInfo", data.size());
  return info;
}

void encode_switch_info(const SwitchInfo& info, std::span<std::byte, kSmpDataSize> data) {
  ByteWriter out(data);
  out.u16(info.linear_fdb_cap);
  out.u16(info.random_fdb_cap);
  out.u16(info.multicast_fdb_cap);
  out.u16(info.linear_fdb_top);
  out.u8(info.default_port.value());
  out.u8(info.default_mcast_primary_port.value());
  out.u8(info.default_mcast_not_primary_port.value());
  out.u8(join(place(info.life_time_value, 3, 5),
              place(info.port_state_change, 2, 1),
              place(info.optimized_sl_to_vl, 0, 2)));
  out.u16(info.lids_per_port);
  out.u16(info.partition_enforcement_cap);
  out.u8(join(place(info.inbound_enforcement_cap, 7, 1),
              place(info.outbound_enforcement_cap, 6, 1),
              place(info.filter_raw_inbound_cap, 5, 1),
              place(info.filter_raw_outbound_cap, 4, 1),
              place(info.enhanced_port0, 3, 1)));
  out.zeros(1);
  out.u16(info.multicast_fdb_top);
  codec::pad(out, data.size());
}

std::string print_switch_info(const SwitchInfo& info) {
  return fmt::format(
      "lft cap {} top {} rft cap {} mft cap {} top 0x{:04x} default port {} mcast {}/{} "
      "life {} change {} opt-sl2vl {} lids/port {} pkeys {} enforce in {} out {} "
      "raw filter in {} out {} enhanced port0 {}",
      info.linear_fdb_cap,
      info.linear_fdb_top,
      info.random_fdb_cap,
      info.multicast_fdb_cap,
      info.multicast_fdb_top,
      info.default_port,
      info.default_mcast_primary_port,
      info.default_mcast_not_primary_port,
      info.life_time_value,
      info.port_state_change,
      info.optimized_sl_to_vl,
      info.lids_per_port,
      info.partition_enforcement_cap,
      info.inbound_enforcement_cap,
      info.outbound_enforcement_cap,
      info.filter_raw_inbound_cap,
      info.filter_raw_outbound_cap,
      info.enhanced_port0);
}

}  // namespace smd
