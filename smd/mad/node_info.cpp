#include "smd/mad/node_info.h"

#include <fmt/core.h>

#include "smd/mad/codec.h"

namespace smd {
namespace {

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// Where to cut `text` so that it fits and no character is torn. Text that is no UTF-8 has no
// boundary within reach and is cut at the limit.
std::size_t fitting_length(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return text.size();
  for (std::size_t cut = limit; cut + 3 >= limit; --cut) {
    if (!continues_character(text[cut])) return cut;
  }
  return limit;
}

}  // namespace

bool is_plausible(const NodeInfo& info) {
  return info.node_type >= 1 && info.node_type <= 3 && info.num_ports >= 1 &&
         info.num_ports <= 254 && info.local_port.value() <= info.num_ports &&
         (info.is_switch() || info.local_port.value() >= 1) && info.node_guid != Guid{};
}

Result<NodeInfo> decode_node_info(std::span<const std::byte> data) {
  ByteReader in(data);
  const NodeInfo info{
      .base_version = in.u8(),
      .class_version = in.u8(),
      .node_type = in.u8(),
      .num_ports = in.u8(),
      .system_guid = Guid{in.u64()},
      .node_guid = Guid{in.u64()},
      .port_guid = Guid{in.u64()},
      .partition_cap = in.u16(),
      .device_id = in.u16(),
      .revision = in.u32(),
      .local_port = PortNum{in.u8()},
      .vendor_id = in.u24(),
  };
  if (!in.ok()) return codec::too_short("NodeInfo", data.size());
  return info;
}

void encode_node_info(const NodeInfo& info, std::span<std::byte, kSmpDataSize> data) {
  ByteWriter out(data);
  out.u8(info.base_version);
  out.u8(info.class_version);
  out.u8(info.node_type);
  out.u8(info.num_ports);
  out.u64(info.system_guid.value());
  out.u64(info.node_guid.value());
  out.u64(info.port_guid.value());
  out.u16(info.partition_cap);
  out.u16(info.device_id);
  out.u32(info.revision);
  out.u8(info.local_port.value());
  out.u24(info.vendor_id);
  codec::pad(out, data.size());
}

std::string print_node_info(const NodeInfo& info) {
  return fmt::format(
      "{} node {} port {} (local {} of {}) system {} device 0x{:04x} vendor 0x{:06x} "
      "revision {} pkeys {}",
      print_node_type(static_cast<NodeType>(info.node_type)),
      info.node_guid,
      info.port_guid,
      info.local_port,
      info.num_ports,
      info.system_guid,
      info.device_id,
      info.vendor_id,
      info.revision,
      info.partition_cap);
}

Result<std::string> decode_node_description(std::span<const std::byte> data) {
  if (data.size() < kSmpDataSize) return codec::too_short("NodeDescription", data.size());
  std::string text;
  for (const std::byte b : data.first(kSmpDataSize)) {
    if (b == std::byte{0}) break;
    text.push_back(static_cast<char>(b));
  }
  return text;
}

std::string print_node_description(std::string_view text) {
  std::string shown;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f || c == '"' || c == '\\') {
      shown += fmt::format("\\x{:02x}", byte);
    } else {
      shown += c;
    }
  }
  return shown;
}

void encode_node_description(std::string_view text, std::span<std::byte, kSmpDataSize> data) {
  text = text.substr(0, text.find('\0'));
  text = text.substr(0, fitting_length(text, data.size()));
  ByteWriter out(data);
  for (const char c : text) out.u8(static_cast<std::uint8_t>(c));
  codec::pad(out, data.size());
}

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

Result<SmInfo> decode_sm_info(std::span<const std::byte> data) {
  ByteReader in(data);
  SmInfo info;
  info.guid = Guid{in.u64()};
  info.sm_key = SmKey{in.u64()};
  info.act_count = in.u32();
  const std::uint8_t priority_state = in.u8();
  info.priority = codec::bits(priority_state, 4, 4);
  info.sm_state = codec::bits(priority_state, 0, 4);
  if (!in.ok()) return codec::too_short("SMInfo", data.size());
  return info;
}

void encode_sm_info(const SmInfo& info, std::span<std::byte, kSmpDataSize> data) {
  ByteWriter out(data);
  out.u64(info.guid.value());
  out.u64(info.sm_key.value());
  out.u32(info.act_count);
  out.u8(codec::join(codec::place(info.priority, 4, 4), codec::place(info.sm_state, 0, 4)));
  codec::pad(out, data.size());
}

std::string_view print_sm_state(SmState state) {
  switch (state) {
    case SmState::NotActive:
      return "not-active";
    case SmState::Discovering:
      return "discovering";
    case SmState::Standby:
      return "standby";
    case SmState::Master:
      return "master";
  }
  return "unknown";
}

std::string print_sm_info(const SmInfo& info) {
  return fmt::format("sm {} {} priority {} activity {}",
                     info.guid,
                     print_sm_state(static_cast<SmState>(info.sm_state)),
                     info.priority,
                     info.act_count);
}

}  // namespace smd
