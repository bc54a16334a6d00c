// Text of strangers (damaged files, node descriptions, names of clients) on its way into a log line
// or onto a terminal, where control characters would do things.
#pragma once

#include <cstdint>
#include <optional>
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

/// On one line, whatever was in it: control characters, and bytes that are no UTF-8, as \xNN.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace smd
