// Ports by plain numbers.
#pragma once

#include <cstdint>

#include "smd/ib/types.h"

namespace smd::test {

[[nodiscard]] constexpr PortNum port_num(unsigned port) {
  return PortNum{static_cast<std::uint8_t>(port)};
}

}  // namespace smd::test
