// What must hold of a decoder for any bytes whatever.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "smd/base/result.h"

namespace smd::fuzz {

/// Unlike assert, also in optimised builds.
inline void require(bool condition) {
  if (!condition) std::abort();
}

/// Either refuses with a reason, or: the value survives encoding, what was encoded is stable, and
/// it can be printed on one line. `size` is what encoding fills.
template <class Decode, class Encode, class Print>
void check_codec(
    std::span<const std::byte> data, std::size_t size, Decode decode, Encode encode, Print print) {
  const auto value = decode(data);
  if (!value) {
    require(value.error().code == Errc::Malformed);
    require(!value.error().context.empty());
    return;
  }
  const std::string line = print(*value);
  require(!line.empty() && line.find('\n') == std::string::npos);

  std::vector<std::byte> first(size, std::byte{0xee});
  encode(*value, std::span(first));
  const auto again = decode(first);
  require(again.has_value() && *again == *value);
  std::vector<std::byte> second(size, std::byte{0x11});
  encode(*again, std::span(second));
  require(first == second);
}

inline std::span<const std::byte> as_bytes(const std::uint8_t* data, std::size_t size) {
  return std::as_bytes(std::span(data, size));
}

}  // namespace smd::fuzz
