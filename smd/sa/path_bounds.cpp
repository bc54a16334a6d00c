#include <algorithm>

#include "smd/ib/rates.h"
#include "smd/sa/path_query.h"

namespace smd::sa {
std::optional<std::uint8_t> choose_mtu(const Bound& bound, std::uint8_t path) {
  switch (bound.selector) {
    case Selector::GreaterThan:
      return path > bound.value ? std::optional(path) : std::nullopt;
    case Selector::LessThan:
      if (bound.value <= 1) return std::nullopt;  // nothing is less than 256 bytes
      return std::min(path, static_cast<std::uint8_t>(bound.value - 1));
    case Selector::Exactly:
      return bound.value != 0 && path >= bound.value ? std::optional(bound.value) : std::nullopt;
    case Selector::Best:
      break;
  }
  return path;
}

std::optional<std::uint8_t> choose_rate(const Bound& bound, std::uint8_t path) {
  const unsigned wanted = rate_order(bound.value);
  if (bound.selector == Selector::Best) return path;
  if (wanted == 0) return std::nullopt;
  switch (bound.selector) {
    case Selector::GreaterThan:
      return rate_order(path) > wanted ? std::optional(path) : std::nullopt;
    case Selector::LessThan:
      if (rate_order(path) < wanted) return path;
      if (const std::uint8_t below = rate_below(bound.value); below != 0) return below;
      return std::nullopt;
    case Selector::Exactly:
      return rate_order(path) == wanted ? std::optional(path) : std::nullopt;
    case Selector::Best:
      break;
  }
  return path;
}

std::optional<std::uint8_t> choose_life_time(const Bound& bound, std::uint8_t path) {
  switch (bound.selector) {
    case Selector::GreaterThan:
      return path > bound.value ? std::optional(path) : std::nullopt;
    case Selector::LessThan:
      return path < bound.value ? std::optional(path) : std::nullopt;
    case Selector::Exactly:
      return path <= bound.value ? std::optional(bound.value) : std::nullopt;
    case Selector::Best:
      break;
  }
  return path;
}

}  // namespace smd::sa
