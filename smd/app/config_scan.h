// The text that the TOML library gets to see: ASCII, whatever the file holds.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace smd {

struct ScanFault {
  int line = 0;
  std::string_view message;

  friend bool operator==(const ScanFault&, const ScanFault&) = default;
};

/// The same document with every character beyond ASCII written as an escape, or as '?' in a
/// comment; lines keep their numbers. Version 3.3 of the library runs into undefined behaviour when
/// it meets such a character outside of a string, which a malformed file can always arrange.
///
/// At fault: such characters outside of double quotes and comments, bytes that are no UTF-8, and
/// strings of several lines, which no option takes. Other malformed text passes: the library
/// reports it.
[[nodiscard]] tl::expected<std::string, ScanFault> to_ascii_toml(std::string_view text);

}  // namespace smd
