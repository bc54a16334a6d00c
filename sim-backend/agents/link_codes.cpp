#include "sim-backend/agents/link_codes.h"

#include <array>

namespace smd::sim {
namespace {

constexpr std::uint8_t kExtendedDisabled = 30;  // LinkSpeedExtEnabled

constexpr std::uint8_t bit(LinkWidth width) { return static_cast<std::uint8_t>(width); }

std::uint8_t enabled_extended(const PortInfo& info) {
  return info.link_speed_ext_enabled == kExtendedDisabled ? 0 : info.link_speed_ext_enabled;
}

LinkWidth widest(unsigned mask) {
  for (const LinkWidth width :
       {LinkWidth::X12, LinkWidth::X8, LinkWidth::X4, LinkWidth::X2, LinkWidth::X1}) {
    if ((mask & bit(width)) != 0) return width;
  }
  return LinkWidth::None;
}

}  // namespace

std::uint8_t width_mask(LinkWidth width) {
  constexpr std::uint8_t kNarrow = bit(LinkWidth::X1);
  constexpr std::uint8_t kUsual = kNarrow | bit(LinkWidth::X4);
  switch (width) {
    case LinkWidth::X2:
      return kNarrow | bit(LinkWidth::X2);
    case LinkWidth::X4:
      return kUsual;
    case LinkWidth::X8:
      return kUsual | bit(LinkWidth::X8);
    case LinkWidth::X12:
      return kUsual | bit(LinkWidth::X12);
    case LinkWidth::X1:
    case LinkWidth::None:
      break;
  }
  return kNarrow;
}

LinkMode negotiate(const PortInfo& a, const PortInfo& b, bool both_fdr10) {
  const LinkWidth width = widest(a.link_width_enabled & b.link_width_enabled);
  const unsigned ext = enabled_extended(a) & enabled_extended(b);
  const unsigned ext2 = a.link_speed_ext2_enabled & b.link_speed_ext2_enabled;
  const unsigned base = a.link_speed_enabled & b.link_speed_enabled;
  for (const LinkSpeed speed : {LinkSpeed::Xdr,
                                LinkSpeed::Ndr,
                                LinkSpeed::Hdr,
                                LinkSpeed::Edr,
                                LinkSpeed::Fdr,
                                LinkSpeed::Fdr10,
                                LinkSpeed::Qdr,
                                LinkSpeed::Ddr,
                                LinkSpeed::Sdr}) {
    const SpeedCodes codes = speed_codes(speed);
    const bool offered =
        (codes.base & base) != 0 || (codes.ext & ext) != 0 || (codes.ext2 & ext2) != 0;
    if (offered && (speed != LinkSpeed::Fdr10 || both_fdr10)) return {width, speed};
  }
  return {width, LinkSpeed::None};
}

void set_active(PortInfo& info, LinkMode mode) {
  info.link_width_active = bit(mode.width);
  set_active_speed(info, mode.speed);
  if (mode.speed >= LinkSpeed::Fdr10) info.link_speed_active = speed_codes(LinkSpeed::Qdr).base;
}

}  // namespace smd::sim
