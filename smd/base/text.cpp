#include "smd/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <numeric>

#include "smd/base/result.h"
#include "smd/base/strong_id.h"

namespace smd {
namespace {

bool is_plain(char c) { return c >= 0x20 && c < 0x7f; }

/// C1 controls, line and paragraph separators, and what turns the direction of text.
bool is_control(std::uint32_t code_point) {
  return code_point < 0xa0 || (code_point >= 0x200e && code_point <= 0x200f) ||
         (code_point >= 0x2028 && code_point <= 0x202e) ||
         (code_point >= 0x2066 && code_point <= 0x2069) ||
         (code_point >= 0xd800 && code_point <= 0xdfff);
}

}  // namespace

std::optional<Utf8> decode_utf8(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0xc2 || lead > 0xf4) return std::nullopt;
  const std::size_t bytes = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (text.size() < bytes) return std::nullopt;
  std::uint32_t code_point = lead & (0xffu >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0) != 0x80) return std::nullopt;
    code_point = code_point << 6 | (next & 0x3f);
  }
  static constexpr std::array<std::uint32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  if (code_point < kSmallest[bytes] || code_point > 0x10ffff) return std::nullopt;
  return Utf8{code_point, bytes};
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string printable(std::string_view text) {
  if (std::ranges::all_of(text, is_plain)) return std::string(text);
  std::string out;
  while (!text.empty()) {
    std::size_t bytes = 1;
    bool keep = is_plain(text[0]);
    if (const auto character = decode_utf8(text)) {
      bytes = character->bytes;
      keep = !is_control(character->code_point);
    }
    for (const char c : text.substr(0, bytes)) {
      if (keep)
        out += c;
      else
        fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(c));
    }
    text.remove_prefix(bytes);
  }
  return out;
}

namespace {

constexpr std::size_t kLongest = 80;

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  a = a.substr(0, kLongest);
  b = b.substr(0, kLongest);
  std::array<std::size_t, kLongest + 1> before{}, last{}, row{};
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::string_view find_nearest(std::string_view word, std::span<const std::string_view> candidates) {
  std::string_view best;
  std::size_t shortest = SIZE_MAX;
  for (const std::string_view candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance >= shortest) continue;
    best = candidate;
    shortest = distance;
  }
  return best;
}

std::optional<HostPort> parse_host_port(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return std::nullopt;
  HostPort out{.host = text.substr(0, colon), .port = text.substr(colon + 1)};
  if (out.port.empty() || out.port.size() > 5 ||
      out.port.find_first_not_of("0123456789") != std::string::npos || std::stoul(out.port) > 65535)
    return std::nullopt;
  if (out.host.front() == '[' && out.host.back() == ']' && out.host.size() > 2) {
    out.host = out.host.substr(1, out.host.size() - 2);
  } else if (out.host.find_first_of(":[] ") != std::string::npos) {
    return std::nullopt;
  }
  return out;
}

fmt::appender append_decimal(fmt::appender out, unsigned long long number) {
  return fmt::format_to(out, "{}", number);
}

fmt::appender append_hex64(fmt::appender out, unsigned long long number) {
  return fmt::format_to(out, "0x{:016x}", number);
}

std::string print_fault(const Fault& fault) {
  if (fault.where.empty()) return printable(fault.message);
  if (fault.line == 0) return printable(fmt::format("{}: {}", fault.where, fault.message));
  const std::string column = fault.column == 0 ? "" : fmt::format(":{}", fault.column);
  return printable(fmt::format("{}:{}{}: {}", fault.where, fault.line, column, fault.message));
}

}  // namespace smd
