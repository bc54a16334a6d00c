// Class 0x21: what switches and adapters remember of congestion. Begins at byte 32 of the MAD.
#include "smd/mad/codec.h"
#include "smd/mad/congestion.h"

namespace smd::cc {

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
