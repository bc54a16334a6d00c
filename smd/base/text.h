// Text of strangers (damaged files, node descriptions, names of clients) on its way into a log line
// or onto a terminal, where control characters would do things; and the known word that is nearest
// to a mistyped one. And HOST:PORT, as in configuration files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace smd {

struct Utf8 {
  std::uint32_t code_point = 0;
  std::size_t bytes = 0;
};

/// The character at the start of `text`, which is not ASCII; nothing when it is cut, overlong or
/// beyond Unicode. Surrogates pass.
[[nodiscard]] std::optional<Utf8> decode_utf8(std::string_view text);

/// Without blanks, tabs and carriage returns at its ends.
[[nodiscard]] std::string_view trim(std::string_view text);

/// On one line, whatever was in it: control characters, and bytes that are no UTF-8, as \xNN.
[[nodiscard]] std::string printable(std::string_view text);

/// Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`. Of each
/// only the first 80 characters count, which bounds the work on hostile input.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate with the smallest edit distance, the first of equals. Empty when there is none.
[[nodiscard]] std::string_view find_nearest(std::string_view word,
                                            std::span<const std::string_view> candidates);

struct HostPort {
  std::string host;  // a name, or an address without brackets
  std::string port;  // 0 to 65535
};

/// HOST:PORT or [ADDRESS]:PORT; nothing where the text is neither.
[[nodiscard]] std::optional<HostPort> parse_host_port(const std::string& text);

}  // namespace smd
