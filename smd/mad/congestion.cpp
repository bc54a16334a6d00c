// Class 0x21: who an agent is, its key, its clock.

#include "smd/mad/congestion.h"

#include "smd/mad/codec.h"

namespace smd::cc {

std::string print_attribute(std::uint16_t id) {
  switch (static_cast<Attribute>(id)) {
    case Attribute::ClassPortInfo:
      return "ClassPortInfo";
    case Attribute::Notice:
      return "Notice";
    case Attribute::CongestionInfo:
      return "CongestionInfo";
    case Attribute::CongestionKeyInfo:
      return "CongestionKeyInfo";
    case Attribute::CongestionLog:
      return "CongestionLog";
    case Attribute::SwitchCongestionSetting:
      return "SwitchCongestionSetting";
    case Attribute::SwitchPortCongestionSetting:
      return "SwitchPortCongestionSetting";
    case Attribute::CaCongestionSetting:
      return "CACongestionSetting";
    case Attribute::CongestionControlTable:
      return "CongestionControlTable";
    case Attribute::TimeStamp:
      return "TimeStamp";
  }
  return fmt::format("0x{:04x}", id);
}

CcKey read_key(std::span<const std::byte> mad) {
  ByteReader in(mad.subspan(kKeyOffset));
  return CcKey{in.u64()};
}

void write_key(CcKey key, std::span<std::byte> mad) {
  ByteWriter out(mad.subspan(kKeyOffset));
  out.u64(key.value());
}

Result<ClassPortInfo> decode_class_port_info(std::span<const std::byte> data) {
  ByteReader in(data);
  ClassPortInfo info;
  info.base_version = in.u8();
  info.class_version = in.u8();
  info.capability_mask = in.u16();
  const std::uint32_t mask2_time = in.u32();
  info.capability_mask2 = mask2_time >> 5;
  info.resp_time_value = static_cast<std::uint8_t>(mask2_time & 31);
  in.skip(32);  // redirection
  info.trap_gid = codec::read_gid(in);
  info.trap_sl = Sl{static_cast<std::uint8_t>(in.u32() >> 20 & 15)};
  info.trap_lid = Lid{in.u16()};
  info.trap_p_key = PKey{in.u16()};
  in.skip(1);
  info.trap_qp = in.u24();
  info.trap_q_key = in.u32();
  if (!in.ok()) return codec::too_short("ClassPortInfo", data.size());
  return info;
}

void encode_class_port_info(const ClassPortInfo& info, Data data) {
  ByteWriter out(data);
  out.u8(info.base_version);
  out.u8(info.class_version);
  out.u16(info.capability_mask);
  out.u32(info.capability_mask2 << 5 | (info.resp_time_value & 31u));
  out.zeros(32);
  codec::write_gid(out, info.trap_gid);
  out.u32((info.trap_sl.value() & 15u) << 20);
  out.u16(info.trap_lid.value());
  out.u16(info.trap_p_key.value());
  out.zeros(1);
  out.u24(info.trap_qp);
  out.u32(info.trap_q_key);
  codec::pad(out, data.size());
}

std::string print_class_port_info(const ClassPortInfo& info) {
  return fmt::format(
      "class version {} capabilities 0x{:04x} 0x{:x} response time {} traps to lid {} qp {}",
      info.class_version,
      info.capability_mask,
      info.capability_mask2,
      info.resp_time_value,
      info.trap_lid,
      info.trap_qp);
}

Result<CongestionInfo> decode_congestion_info(std::span<const std::byte> data) {
  ByteReader in(data);
  const CongestionInfo info{.flags = in.u16(), .table_blocks = in.u8()};
  if (!in.ok()) return codec::too_short("CongestionInfo", data.size());
  return info;
}

void encode_congestion_info(const CongestionInfo& info, Data data) {
  ByteWriter out(data);
  out.u16(info.flags);
  out.u8(info.table_blocks);
  codec::pad(out, data.size());
}

std::string print_congestion_info(const CongestionInfo& info) {
  return fmt::format("flags 0x{:04x} table {} blocks", info.flags, info.table_blocks);
}

Result<KeyInfo> decode_key_info(std::span<const std::byte> data) {
  ByteReader in(data);
  KeyInfo info;
  info.key = CcKey{in.u64()};
  info.protect = codec::bit(in.u8(), 7);
  in.skip(1);
  info.lease_s = in.u16();
  info.violations = in.u16();
  if (!in.ok()) return codec::too_short("CongestionKeyInfo", data.size());
  return info;
}

void encode_key_info(const KeyInfo& info, Data data) {
  ByteWriter out(data);
  out.u64(info.key.value());
  out.u8(codec::place(info.protect, 7, 1));
  out.zeros(1);
  out.u16(info.lease_s);
  out.u16(info.violations);
  codec::pad(out, data.size());
}

std::string print_key_info(const KeyInfo& info) {
  return fmt::format("key 0x{:016x} protect {} lease {} s violations {}",
                     info.key.value(),
                     info.protect,
                     info.lease_s,
                     info.violations);
}

Result<TimeStamp> decode_time_stamp(std::span<const std::byte> data) {
  ByteReader in(data);
  const TimeStamp stamp{.value = in.u32()};
  if (!in.ok()) return codec::too_short("TimeStamp", data.size());
  return stamp;
}

void encode_time_stamp(const TimeStamp& stamp, Data data) {
  ByteWriter out(data);
  out.u32(stamp.value);
  codec::pad(out, data.size());
}

std::string print_time_stamp(const TimeStamp& stamp) { return fmt::format("time {}", stamp.value); }

// Notice details (table 508): slid, method, -, attribute, --, modifier, -, qp, CC_Key, GID.

Notice key_notice(const KeyViolation& violation, NodeType producer) {
  Notice notice{.type = static_cast<std::uint8_t>(NoticeType::Security),
                .producer_or_vendor = static_cast<std::uint32_t>(producer),
                .trap_or_device = kKeyTrap};
  ByteWriter out(std::as_writable_bytes(std::span(notice.details)));
  out.u16(violation.source.value());
  out.u8(violation.method);
  out.zeros(1);
  out.u16(violation.attribute);
  out.zeros(2);
  out.u32(violation.modifier);
  out.zeros(1);
  out.u24(violation.qp);
  out.u64(violation.key.value());
  codec::write_gid(out, violation.source_gid);
  return notice;
}

std::optional<KeyViolation> find_key_violation(const Notice& notice) {
  const bool ours = notice.is_generic && notice.trap_or_device == kKeyTrap &&
                    notice.type == static_cast<std::uint8_t>(NoticeType::Security);
  if (!ours) return std::nullopt;
  ByteReader in(std::as_bytes(std::span(notice.details)));
  KeyViolation out;
  out.source = Lid{in.u16()};
  out.method = in.u8();
  in.skip(1);
  out.attribute = in.u16();
  in.skip(2);
  out.modifier = in.u32();
  in.skip(1);
  out.qp = in.u24();
  out.key = CcKey{in.u64()};
  out.source_gid = codec::read_gid(in);
  return out;
}

// Class 0x21: what switches and adapters remember of congestion. Begins at byte 32 of the MAD.

std::uint8_t log_type_of(std::span<const std::byte> data) { return ByteReader(data).u8(); }

Result<SwitchLog> decode_switch_log(std::span<const std::byte> data) {
  ByteReader in(data);
  SwitchLog log;
  log.type = in.u8();
  log.flags = in.u8();
  log.events = in.u16();
  log.time = in.u32();
  log.ports.bytes = in.bytes<32>();
  for (SwitchLogEvent& event : log.entries) {
    event.source = Lid{in.u16()};
    event.destination = Lid{in.u16()};
    event.sl = Sl{codec::bits(in.u8(), 4, 4)};
    in.skip(3);
    event.time = in.u32();
  }
  if (!in.ok()) return codec::too_short("CongestionLog of a switch", data.size());
  return log;
}

void encode_switch_log(const SwitchLog& log, LogData data) {
  ByteWriter out(data);
  out.u8(log.type);
  out.u8(log.flags);
  out.u16(log.events);
  out.u32(log.time);
  out.bytes(log.ports.bytes);
  for (const SwitchLogEvent& event : log.entries) {
    out.u16(event.source.value());
    out.u16(event.destination.value());
    out.u8(codec::place(event.sl.value(), 4, 4));
    out.zeros(3);
    out.u32(event.time);
  }
  codec::pad(out, data.size());
}

std::string print_switch_log(const SwitchLog& log) {
  std::string line =
      fmt::format("type {} flags 0x{:02x} events {} ports", log.type, log.flags, log.events);
  for (unsigned port = 0; port < 255; ++port) {
    if (log.ports.test(PortNum{static_cast<std::uint8_t>(port)})) line += fmt::format(" {}", port);
  }
  return line;
}

Result<CaLog> decode_ca_log(std::span<const std::byte> data) {
  ByteReader in(data);
  CaLog log;
  log.type = in.u8();
  log.flags = in.u8();
  log.events = in.u16();
  log.sl_map = in.u16();
  in.skip(2);
  log.time = in.u32();
  for (CaLogEvent& event : log.entries) {
    event.local_qp = in.u24();
    const std::uint8_t sl_service = in.u8();
    event.sl = Sl{codec::bits(sl_service, 4, 4)};
    event.service = codec::bits(sl_service, 0, 4);
    event.remote_qp = in.u24();
    in.skip(1);
    event.local = Lid{in.u16()};
    event.remote = Lid{in.u16()};
    event.time = in.u32();
  }
  if (!in.ok()) return codec::too_short("CongestionLog of an adapter", data.size());
  return log;
}

void encode_ca_log(const CaLog& log, LogData data) {
  ByteWriter out(data);
  out.u8(log.type);
  out.u8(log.flags);
  out.u16(log.events);
  out.u16(log.sl_map);
  out.zeros(2);
  out.u32(log.time);
  for (const CaLogEvent& event : log.entries) {
    out.u24(event.local_qp);
    out.u8(codec::join(codec::place(event.sl.value(), 4, 4), codec::place(event.service, 0, 4)));
    out.u24(event.remote_qp);
    out.zeros(1);
    out.u16(event.local.value());
    out.u16(event.remote.value());
    out.u32(event.time);
  }
  codec::pad(out, data.size());
}

std::string print_ca_log(const CaLog& log) {
  return fmt::format(
      "type {} flags 0x{:02x} events {} sls 0x{:04x}", log.type, log.flags, log.events, log.sl_map);
}

}  // namespace smd::cc
