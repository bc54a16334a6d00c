// Which records a request asks for: those that agree with the request's record in every component
// whose bit is set in its ComponentMask (IBA 15.4.4). Compared as bytes, under a mask made once a
// request.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "smd/sa/sa_mad.h"

namespace smd::sa {

/// Bit `bit` of the mask stands for bits [first, first + width) of the record, the first being the
/// most significant bit of byte 0.
struct Component {
  std::uint8_t bit;
  std::uint16_t first;
  std::uint16_t width;
};

/// What a table of records looks like on the wire.
struct RecordShape {
  RecordId id;
  std::size_t size;  // a multiple of 8: the distance of records in a table; at most 200
  std::span<const Component> components;

  [[nodiscard]] std::uint16_t offset() const { return static_cast<std::uint16_t>(size / 8); }
};

inline constexpr std::uint64_t component_bit(unsigned bit) { return std::uint64_t{1} << bit; }

class ComponentFilter {
 public:
  /// Bits that no component has ask for nothing.
  ComponentFilter(const RecordShape& shape,
                  std::uint64_t mask,
                  std::span<const std::byte, kDataSize> wanted);

  /// Requires: record.size() == shape.size.
  [[nodiscard]] bool matches(std::span<const std::byte> record) const;

 private:
  std::size_t used_ = 0;  // bytes, up to the last that is compared
  std::array<std::byte, kDataSize> mask_{};
  std::array<std::byte, kDataSize> wanted_{};
};

}  // namespace smd::sa
