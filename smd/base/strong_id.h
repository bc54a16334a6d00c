// A number that is only ever one thing. No arithmetic, no conversions: `Lid` and `PortNum` do not
// mix.
#pragma once

#include <fmt/core.h>

#include <compare>
#include <concepts>
#include <cstddef>
#include <functional>
#include <limits>

namespace smd {

template <class Tag, std::unsigned_integral Rep>
class StrongId {
 public:
  using rep = Rep;

  constexpr StrongId() = default;

  constexpr explicit StrongId(Rep value) : value_(value) {}

  [[nodiscard]] constexpr Rep value() const { return value_; }

  friend constexpr auto operator<=>(StrongId, StrongId) = default;

 private:
  Rep value_ = 0;
};

/// Append a number in decimal, or as 0x and 16 digits. Not in the formatters below: what fmt
/// expands to there costs each file that prints an id seconds to compile.
fmt::appender append_decimal(fmt::appender out, unsigned long long number);
fmt::appender append_hex64(fmt::appender out, unsigned long long number);

/// Dense handles use their largest value for "no such thing".
template <class Id>
inline constexpr Id kNone = Id{std::numeric_limits<typename Id::rep>::max()};

/// The next handle of a dense range. Only loops over dense ranges need it.
template <class Id>
constexpr Id next(Id id) {
  return Id{static_cast<typename Id::rep>(id.value() + 1)};
}

}  // namespace smd

template <class Tag, class Rep>
struct std::hash<smd::StrongId<Tag, Rep>> {
  std::size_t operator()(smd::StrongId<Tag, Rep> id) const noexcept {
    return std::hash<Rep>{}(id.value());
  }
};

/// Prints the plain number; types with a customary notation (Guid) specialise further.
template <class Tag, class Rep>
struct fmt::formatter<smd::StrongId<Tag, Rep>> : fmt::formatter<fmt::string_view> {
  auto format(smd::StrongId<Tag, Rep> id, fmt::format_context& ctx) const {
    return smd::append_decimal(ctx.out(), id.value());
  }
};
