#include "smd/mad/port_info.h"

#include <fmt/core.h>

#include "smd/mad/codec.h"

namespace smd {
namespace {

LinkSpeed speed_of_code(std::uint8_t code) {
  switch (code) {
    case 1:
      return LinkSpeed::Sdr;
    case 2:
      return LinkSpeed::Ddr;
    case 4:
      return LinkSpeed::Qdr;
    default:
      return LinkSpeed::None;
  }
}

LinkSpeed speed_of_ext_code(std::uint8_t code) {
  switch (code) {
    case 1:
      return LinkSpeed::Fdr;
    case 2:
      return LinkSpeed::Edr;
    case 4:
      return LinkSpeed::Hdr;
    case 8:
      return LinkSpeed::Ndr;
    default:
      return LinkSpeed::None;
  }
}

}  // namespace

using codec::bit;
using codec::bits;
using codec::join;
using codec::place;

Result<PortInfo> decode_port_info(std::span<const std::byte> data) {
  ByteReader in(data);
  PortInfo info;
  info.m_key = MKey{in.u64()};
  info.gid_prefix = in.u64();
  info.lid = Lid{in.u16()};
  info.master_sm_lid = Lid{in.u16()};
  info.capability_mask = in.u32();
  info.diag_code = in.u16();
  info.m_key_lease_period = in.u16();
  info.local_port = PortNum{in.u8()};
  info.link_width_enabled = in.u8();
  info.link_width_supported = in.u8();
  info.link_width_active = in.u8();
  const std::uint8_t speed_state = in.u8();
  info.link_speed_supported = bits(speed_state, 4, 4);
  info.port_state = bits(speed_state, 0, 4);
  const std::uint8_t physical = in.u8();
  info.port_physical_state = bits(physical, 4, 4);
  info.link_down_default_state = bits(physical, 0, 4);
  const std::uint8_t protect_lmc = in.u8();
  info.m_key_protect_bits = bits(protect_lmc, 6, 2);
  info.lmc = bits(protect_lmc, 0, 3);
  const std::uint8_t speed = in.u8();
  info.link_speed_active = bits(speed, 4, 4);
  info.link_speed_enabled = bits(speed, 0, 4);
  const std::uint8_t mtu_sl = in.u8();
  info.neighbor_mtu = bits(mtu_sl, 4, 4);
  info.master_sm_sl = bits(mtu_sl, 0, 4);
  const std::uint8_t vl_init = in.u8();
  info.vl_cap = bits(vl_init, 4, 4);
  info.init_type = bits(vl_init, 0, 4);
  info.vl_high_limit = in.u8();
  info.vl_arb_high_cap = in.u8();
  info.vl_arb_low_cap = in.u8();
  const std::uint8_t reply_mtu = in.u8();
  info.init_type_reply = bits(reply_mtu, 4, 4);
  info.mtu_cap = bits(reply_mtu, 0, 4);
  const std::uint8_t stall_hoq = in.u8();
  info.vl_stall_count = bits(stall_hoq, 5, 3);
  info.hoq_life = bits(stall_hoq, 0, 5);
  const std::uint8_t vls_enforce = in.u8();
  info.operational_vls = bits(vls_enforce, 4, 4);
  info.partition_enforcement_inbound = bit(vls_enforce, 3);
  info.partition_enforcement_outbound = bit(vls_enforce, 2);
  info.filter_raw_inbound = bit(vls_enforce, 1);
  info.filter_raw_outbound = bit(vls_enforce, 0);
  info.m_key_violations = in.u16();
  info.p_key_violations = in.u16();
  info.q_key_violations = in.u16();
  info.guid_cap = in.u8();
  const std::uint8_t timeout = in.u8();
  info.client_reregister = bit(timeout, 7);
  info.multicast_pkey_trap_suppression = bits(timeout, 5, 2);
  info.subnet_timeout = bits(timeout, 0, 5);
  info.resp_time_value = bits(in.u8(), 0, 5);
  const std::uint8_t errors = in.u8();
  info.local_phy_errors = bits(errors, 4, 4);
  info.overrun_errors = bits(errors, 0, 4);
  info.max_credit_hint = in.u16();
  const std::uint8_t ext2 = in.u8();
  info.link_speed_ext2_active = bits(ext2, 5, 2);
  info.link_speed_ext2_supported = bits(ext2, 3, 2);
  info.link_speed_ext2_enabled = bits(ext2, 0, 3);
  info.link_round_trip_latency = in.u24();
  info.capability_mask2 = in.u16();
  const std::uint8_t ext = in.u8();
  info.link_speed_ext_active = bits(ext, 4, 4);
  info.link_speed_ext_supported = bits(ext, 0, 4);
  info.link_speed_ext_enabled = bits(in.u8(), 0, 5);
  if (!in.ok()) return codec::too_short("PortInfo", data.size());
  return info;
}

void encode_port_info(const PortInfo& info, std::span<std::byte, kSmpDataSize> data) {
  ByteWriter out(data);
  out.u64(info.m_key.value());
  out.u64(info.gid_prefix);
  out.u16(info.lid.value());
  out.u16(info.master_sm_lid.value());
  out.u32(info.capability_mask);
  out.u16(info.diag_code);
  out.u16(info.m_key_lease_period);
  out.u8(info.local_port.value());
  out.u8(info.link_width_enabled);
  out.u8(info.link_width_supported);
  out.u8(info.link_width_active);
  out.u8(join(place(info.link_speed_supported, 4, 4), place(info.port_state, 0, 4)));
  out.u8(join(place(info.port_physical_state, 4, 4), place(info.link_down_default_state, 0, 4)));
  out.u8(join(place(info.m_key_protect_bits, 6, 2), place(info.lmc, 0, 3)));
  out.u8(join(place(info.link_speed_active, 4, 4), place(info.link_speed_enabled, 0, 4)));
  out.u8(join(place(info.neighbor_mtu, 4, 4), place(info.master_sm_sl, 0, 4)));
  out.u8(join(place(info.vl_cap, 4, 4), place(info.init_type, 0, 4)));
  out.u8(info.vl_high_limit);
  out.u8(info.vl_arb_high_cap);
  out.u8(info.vl_arb_low_cap);
  out.u8(join(place(info.init_type_reply, 4, 4), place(info.mtu_cap, 0, 4)));
  out.u8(join(place(info.vl_stall_count, 5, 3), place(info.hoq_life, 0, 5)));
  out.u8(join(place(info.operational_vls, 4, 4),
              place(info.partition_enforcement_inbound, 3, 1),
              place(info.partition_enforcement_outbound, 2, 1),
              place(info.filter_raw_inbound, 1, 1),
              place(info.filter_raw_outbound, 0, 1)));
  out.u16(info.m_key_violations);
  out.u16(info.p_key_violations);
  out.u16(info.q_key_violations);
  out.u8(info.guid_cap);
  out.u8(join(place(info.client_reregister, 7, 1),
              place(info.multicast_pkey_trap_suppression, 5, 2),
              place(info.subnet_timeout, 0, 5)));
  out.u8(place(info.resp_time_value, 0, 5));
  out.u8(join(place(info.local_phy_errors, 4, 4), place(info.overrun_errors, 0, 4)));
  out.u16(info.max_credit_hint);
  out.u8(join(place(info.link_speed_ext2_active, 5, 2),
              place(info.link_speed_ext2_supported, 3, 2),
              place(info.link_speed_ext2_enabled, 0, 3)));
  out.u24(info.link_round_trip_latency);
  out.u16(info.capability_mask2);
  out.u8(join(place(info.link_speed_ext_active, 4, 4), place(info.link_speed_ext_supported, 0, 4)));
  out.u8(place(info.link_speed_ext_enabled, 0, 5));
}

std::string print_port_info(const PortInfo& info) {
  return fmt::format(
      "port {} lid {} lmc {} sm lid {} sl {} {}/{} {} {} mtu {} of {} vls {} of {} cap 0x{:08x} "
      "cap2 0x{:04x} mkey 0x{:016x} protect {} lease {} violations m {} p {} q {} timeout {} "
      "resp {} hoq {} stall {}",
      info.local_port,
      info.lid,
      info.lmc,
      info.master_sm_lid,
      info.master_sm_sl,
      print_port_state(info.state()),
      print_phys_state(static_cast<PhysState>(info.port_physical_state)),
      print_link_width(active_width(info)),
      print_link_speed(active_speed(info)),
      mtu_bytes(static_cast<Mtu>(info.neighbor_mtu)),
      mtu_bytes(static_cast<Mtu>(info.mtu_cap)),
      data_vls(info.operational_vls),
      data_vls(info.vl_cap),
      info.capability_mask,
      info.capability_mask2,
      info.m_key.value(),
      info.m_key_protect_bits,
      info.m_key_lease_period,
      info.m_key_violations,
      info.p_key_violations,
      info.q_key_violations,
      info.subnet_timeout,
      info.resp_time_value,
      info.hoq_life,
      info.vl_stall_count);
}

bool has_port_state_table(const PortInfo& port0) {
  return (port0.capability_mask & port_cap::kIsCapabilityMask2Supported) != 0 &&
         (port0.capability_mask2 & port_cap2::kIsSwitchPortStateTableSupported) != 0;
}

LinkWidth active_width(const PortInfo& info) {
  const auto width = static_cast<LinkWidth>(info.link_width_active);
  return lanes(width) == 0 ? LinkWidth::None : width;
}

LinkSpeed active_speed(const PortInfo& info) {
  if (info.link_speed_ext2_active != 0) {
    return info.link_speed_ext2_active == 1 ? LinkSpeed::Xdr : LinkSpeed::None;
  }
  if (info.link_speed_ext_active != 0) return speed_of_ext_code(info.link_speed_ext_active);
  return speed_of_code(info.link_speed_active);
}

SpeedCodes speed_codes(LinkSpeed speed) {
  switch (speed) {
    case LinkSpeed::Sdr:
      return {.base = 1};
    case LinkSpeed::Ddr:
      return {.base = 2};
    case LinkSpeed::Qdr:
    case LinkSpeed::Fdr10:
      return {.base = 4};
    case LinkSpeed::Fdr:
      return {.ext = 1};
    case LinkSpeed::Edr:
      return {.ext = 2};
    case LinkSpeed::Hdr:
      return {.ext = 4};
    case LinkSpeed::Ndr:
      return {.ext = 8};
    case LinkSpeed::Xdr:
      return {.ext2 = 1};
    case LinkSpeed::None:
      break;
  }
  return {};
}

void set_active_speed(PortInfo& info, LinkSpeed speed) {
  const SpeedCodes codes = speed_codes(speed);
  info.link_speed_active = codes.base;
  info.link_speed_ext_active = codes.ext;
  info.link_speed_ext2_active = codes.ext2;
}

void set_offered_speeds(PortInfo& info, LinkSpeed fastest) {
  SpeedCodes all;
  for (auto s = static_cast<std::uint8_t>(LinkSpeed::Sdr); s <= static_cast<std::uint8_t>(fastest);
       ++s) {
    const SpeedCodes codes = speed_codes(static_cast<LinkSpeed>(s));
    all.base |= codes.base;
    all.ext |= codes.ext;
    all.ext2 |= codes.ext2;
  }
  info.link_speed_supported = info.link_speed_enabled = all.base;
  info.link_speed_ext_supported = info.link_speed_ext_enabled = all.ext;
  info.link_speed_ext2_supported = info.link_speed_ext2_enabled = all.ext2;

  using namespace port_cap2;
  info.capability_mask &= ~port_cap::kIsExtendedSpeedsSupported;
  info.capability_mask2 &=
      static_cast<std::uint16_t>(~(kIsLinkSpeedHdrSupported | kIsLinkSpeedNdrSupported |
                                   kIsExtendedSpeeds2Supported | kIsLinkSpeedXdrSupported));
  if (all.ext != 0) info.capability_mask |= port_cap::kIsExtendedSpeedsSupported;
  if ((all.ext & 4) != 0) info.capability_mask2 |= kIsLinkSpeedHdrSupported;
  if ((all.ext & 8) != 0) info.capability_mask2 |= kIsLinkSpeedNdrSupported;
  if (all.ext2 != 0) {
    info.capability_mask2 |= kIsExtendedSpeeds2Supported | kIsLinkSpeedXdrSupported;
  }
  if (info.capability_mask2 != 0) info.capability_mask |= port_cap::kIsCapabilityMask2Supported;
}

unsigned data_vls(std::uint8_t code) {
  switch (code) {
    case 1:
      return 1;
    case 2:
      return 2;
    case 3:
      return 4;
    case 4:
      return 8;
    case 5:
      return 15;
    default:
      return 0;
  }
}

}  // namespace smd
