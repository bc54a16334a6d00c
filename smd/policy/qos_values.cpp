#include "smd/policy/qos_values.h"

#include <fmt/core.h>

#include <utility>

#include "smd/policy/partition_text.h"

namespace smd::qos_text {

using partition_text::read_number;
using partition_text::trim;

namespace {

constexpr std::size_t kMostFaults = 20;
constexpr std::uint64_t kKeyBits = 0x7fff;

}  // namespace

std::string lowered(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

std::string unquoted(std::string_view text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
    text = text.substr(1, text.size() - 2);
  return std::string(text);
}

std::vector<std::string_view> split(std::string_view text, char by) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(by);
    parts.push_back(trim(text.substr(0, at)));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::optional<std::uint8_t> Values::number(std::string_view what,
                                           std::string_view text,
                                           std::uint64_t min,
                                           std::uint64_t max) {
  const auto number = read_number(text);
  if (number && *number >= min && *number <= max) return static_cast<std::uint8_t>(*number);
  fault(fmt::format("{} is '{}'; a number from {} to {}", what, text, min, max));
  return std::nullopt;
}

void Values::ranges(std::string_view what,
                    std::string_view text,
                    std::uint64_t max,
                    std::vector<NumberRange>& to) {
  for (const std::string_view each : split(text, ',')) {
    const std::size_t dash = each.find('-');
    const auto low = read_number(trim(each.substr(0, dash)));
    const auto high =
        dash == std::string_view::npos ? low : read_number(trim(each.substr(dash + 1)));
    if (!low || !high || *low > *high || *high > max) {
      fault(fmt::format("{} has '{}'; numbers up to 0x{:x} and ranges of them, such as 0x10-0x1f",
                        what,
                        each,
                        max));
    } else {
      to.push_back({*low, *high});
    }
  }
}

void Values::keys(std::string_view what, std::string_view text, std::vector<NumberRange>& to) {
  const std::size_t before = to.size();
  ranges(what, text, 0xffff, to);
  for (std::size_t i = before; i < to.size(); ++i) {
    if ((to[i].low > kKeyBits) == (to[i].high > kKeyBits)) {
      to[i] = {to[i].low & kKeyBits, to[i].high & kKeyBits};
    } else {
      fault(fmt::format("{} has a range over 0x7fff; P_Keys from 0x0001 to 0x7fff", what));
    }
  }
}

void Values::fault_at(int line, std::string message) {
  if (faults_.size() < kMostFaults) faults_.push_back({file_, line, std::move(message)});
}

}  // namespace smd::qos_text
