// Class 0x21: what switches and adapters are told to do.
#include "smd/mad/codec.h"
#include "smd/mad/congestion.h"

namespace smd::cc {
namespace {

CctEntry read_entry(ByteReader& in) {
  const std::uint16_t word = in.u16();
  return {.shift = static_cast<std::uint8_t>(word >> 14),
          .multiplier = static_cast<std::uint16_t>(word & kMaxMultiplier)};
}

void write_entry(const CctEntry& entry, ByteWriter& out) {
  out.u16(
      static_cast<std::uint16_t>((entry.shift & 3u) << 14 | (entry.multiplier & kMaxMultiplier)));
}

std::string print_entry(const CctEntry& entry) {
  return fmt::format("{}:{}", entry.shift, entry.multiplier);
}

std::string print_mask(const PortMask& mask) {
  std::string text;
  for (const std::uint8_t byte : mask.bytes) {
    if (byte != 0 || !text.empty()) text += fmt::format("{:02x}", byte);
  }
  return "0x" + (text.empty() ? "0" : text);
}

}  // namespace

Result<SwitchSetting> decode_switch_setting(std::span<const std::byte> data) {
  ByteReader in(data);
  SwitchSetting setting;
  setting.control_map = in.u32();
  setting.victim_mask.bytes = in.bytes<32>();
  setting.credit_mask.bytes = in.bytes<32>();
  setting.threshold = codec::bits(in.u8(), 4, 4);
  setting.packet_size = in.u8();
  setting.cs_threshold = codec::bits(in.u8(), 4, 4);
  in.skip(1);
  setting.cs_return_delay = read_entry(in);
  setting.marking_rate = in.u16();
  if (!in.ok()) return codec::too_short("SwitchCongestionSetting", data.size());
  return setting;
}

void encode_switch_setting(const SwitchSetting& setting, Data data) {
  ByteWriter out(data);
  out.u32(setting.control_map);
  out.bytes(setting.victim_mask.bytes);
  out.bytes(setting.credit_mask.bytes);
  out.u8(codec::place(setting.threshold, 4, 4));
  out.u8(setting.packet_size);
  out.u8(codec::place(setting.cs_threshold, 4, 4));
  out.zeros(1);
  write_entry(setting.cs_return_delay, out);
  out.u16(setting.marking_rate);
  codec::pad(out, data.size());
}

std::string print_switch_setting(const SwitchSetting& setting) {
  return fmt::format(
      "map 0x{:x} victims {} credits {} threshold {} packet size {} starvation {} delay {} marking "
      "rate {}",
      setting.control_map,
      print_mask(setting.victim_mask),
      print_mask(setting.credit_mask),
      setting.threshold,
      setting.packet_size,
      setting.cs_threshold,
      print_entry(setting.cs_return_delay),
      setting.marking_rate);
}

Result<PortSettingBlock> decode_port_settings(std::span<const std::byte> data) {
  ByteReader in(data);
  PortSettingBlock block;
  for (PortSetting& port : block) {
    const std::uint8_t first = in.u8();
    port.valid = codec::bit(first, 7);
    port.starvation = codec::bit(first, 6);
    port.threshold = codec::bits(first, 0, 4);
    port.packet_size = in.u8();
    port.marking_rate = in.u16();
  }
  if (!in.ok()) return codec::too_short("SwitchPortCongestionSetting", data.size());
  return block;
}

void encode_port_settings(const PortSettingBlock& block, Data data) {
  ByteWriter out(data);
  for (const PortSetting& port : block) {
    out.u8(codec::join(codec::place(port.valid, 7, 1),
                       codec::place(port.starvation, 6, 1),
                       codec::place(port.threshold, 0, 4)));
    out.u8(port.packet_size);
    out.u16(port.marking_rate);
  }
  codec::pad(out, data.size());
}

std::string print_port_settings(const PortSettingBlock& block) {
  std::string line = "ports";
  for (std::size_t i = 0; i < block.size(); ++i) {
    const PortSetting& port = block[i];
    if (!port.valid) continue;
    line += fmt::format(" {}:{}{}/{}/{}",
                        i,
                        port.starvation ? "cs " : "",
                        port.threshold,
                        port.packet_size,
                        port.marking_rate);
  }
  return line;
}

Result<CaSetting> decode_ca_setting(std::span<const std::byte> data) {
  ByteReader in(data);
  CaSetting setting;
  setting.port_control = in.u16();
  setting.control_map = in.u16();
  for (CaEntry& entry : setting.entries) {
    entry.timer = in.u16();
    entry.increase = in.u8();
    entry.trigger = in.u8();
    entry.min = in.u8();
    in.skip(3);
  }
  if (!in.ok()) return codec::too_short("CACongestionSetting", data.size());
  return setting;
}

void encode_ca_setting(const CaSetting& setting, Data data) {
  ByteWriter out(data);
  out.u16(setting.port_control);
  out.u16(setting.control_map);
  for (const CaEntry& entry : setting.entries) {
    out.u16(entry.timer);
    out.u8(entry.increase);
    out.u8(entry.trigger);
    out.u8(entry.min);
    out.zeros(3);
  }
  codec::pad(out, data.size());
}

std::string print_ca_setting(const CaSetting& setting) {
  std::string line =
      fmt::format("control 0x{:x} map 0x{:04x}", setting.port_control, setting.control_map);
  for (std::size_t sl = 0; sl < kSls; ++sl) {
    const CaEntry& entry = setting.entries[sl];
    if (entry == CaEntry{}) continue;
    line +=
        fmt::format(" {}:{}/{}/{}/{}", sl, entry.timer, entry.increase, entry.trigger, entry.min);
  }
  return line;
}

Result<CctBlock> decode_cct_block(std::span<const std::byte> data) {
  ByteReader in(data);
  CctBlock block;
  block.limit = in.u16();
  in.skip(2);
  for (CctEntry& entry : block.entries) entry = read_entry(in);
  if (!in.ok()) return codec::too_short("CongestionControlTable", data.size());
  return block;
}

void encode_cct_block(const CctBlock& block, Data data) {
  ByteWriter out(data);
  out.u16(block.limit);
  out.zeros(2);
  for (const CctEntry& entry : block.entries) write_entry(entry, out);
  codec::pad(out, data.size());
}

std::string print_cct_block(const CctBlock& block) {
  std::string line = fmt::format("limit {}", block.limit);
  for (std::size_t i = 0; i < block.entries.size(); ++i) {
    if (block.entries[i] != CctEntry{})
      line += fmt::format(" {}={}", i, print_entry(block.entries[i]));
  }
  return line;
}

}  // namespace smd::cc
