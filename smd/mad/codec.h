// What every attribute codec shares: bits within a byte, and the one way to refuse short data.
#pragma once

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "smd/base/bytes.h"
#include "smd/base/result.h"
#include "smd/ib/types.h"

namespace smd::codec {

[[nodiscard]] inline tl::unexpected<Error> too_short(std::string_view what, std::size_t size) {
  return fail(Errc::Malformed, fmt::format("{}: only {} bytes", what, size));
}

/// Bits [low, low + width) of a byte; bit 0 is the least significant.
[[nodiscard]] constexpr std::uint8_t bits(std::uint8_t byte, unsigned low, unsigned width) {
  return static_cast<std::uint8_t>((byte >> low) & ((1u << width) - 1));
}

[[nodiscard]] constexpr bool bit(std::uint8_t byte, unsigned index) {
  return ((byte >> index) & 1u) != 0;
}

/// The inverse of `bits`: what does not fit the field is cut off, so that it cannot reach a
/// neighbour.
[[nodiscard]] constexpr std::uint8_t place(unsigned value, unsigned low, unsigned width) {
  return static_cast<std::uint8_t>((value & ((1u << width) - 1)) << low);
}

template <class... Parts>
[[nodiscard]] constexpr std::uint8_t join(Parts... parts) {
  return static_cast<std::uint8_t>((static_cast<unsigned>(parts) | ...));
}

/// Zeroes whatever of a buffer of `size` bytes no field has filled.
inline void pad(ByteWriter& out, std::size_t size) { out.zeros(size - out.written()); }

[[nodiscard]] inline Gid read_gid(ByteReader& in) {
  const std::uint64_t prefix = in.u64();
  return {prefix, Guid{in.u64()}};
}

inline void write_gid(ByteWriter& out, const Gid& gid) {
  out.u64(gid.prefix);
  out.u64(gid.guid.value());
}

}  // namespace smd::codec
