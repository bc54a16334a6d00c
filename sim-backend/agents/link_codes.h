// Between a cable's width and speed and the codes of PortInfo: what a port supports and what two
// ends agree on.
#pragma once

#include "smd/ib/types.h"
#include "smd/mad/port_info.h"

namespace smd::sim {

/// LinkWidthSupported of a port of this width: what it can fall back to, and itself.
[[nodiscard]] std::uint8_t width_mask(LinkWidth width);

struct LinkMode {
  LinkWidth width = LinkWidth::None;
  LinkSpeed speed = LinkSpeed::None;

  friend bool operator==(const LinkMode&, const LinkMode&) = default;
};

/// The fastest that both ends have enabled; None where they have nothing in common. FDR10 is not
/// in PortInfo, so it is passed beside it.
[[nodiscard]] LinkMode negotiate(const PortInfo& a, const PortInfo& b, bool both_fdr10);

/// Writes the active fields. FDR10 shows as QDR here, and so does the old speed field of a link
/// that runs at an extended speed (IBA 14.2.5.6).
void set_active(PortInfo& info, LinkMode mode);

}  // namespace smd::sim
