#include "smd/mad/port_info.h"

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
