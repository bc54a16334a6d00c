// Words that several records have: bounds with their selector, GIDs, flow labels.
#pragma once

#include "smd/ib/bound.h"
#include "smd/mad/codec.h"

namespace smd::sa {

using codec::read_gid;
using codec::write_gid;

inline constexpr std::uint32_t kFlowLabelMask = 0xfffff;

/// Selector in the upper two bits (IBA 15.2.5.16).
[[nodiscard]] inline Bound read_bound(std::uint8_t byte) {
  return {static_cast<Selector>(codec::bits(byte, 6, 2)), codec::bits(byte, 0, 6)};
}

[[nodiscard]] inline std::uint8_t write_bound(const Bound& bound) {
  return codec::join(codec::place(static_cast<unsigned>(bound.selector), 6, 2),
                     codec::place(bound.value, 0, 6));
}

}  // namespace smd::sa
