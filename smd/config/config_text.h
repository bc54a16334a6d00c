// Configurations as text: the characters that the TOML library gets to see, values free of that
// library, and the words that values are made of.
#pragma once

#include <tl/expected.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "smd/ib/types.h"

namespace smd {

struct ConfigValue;

using ConfigList = std::vector<ConfigValue>;

/// Something that no option takes: a table, a date. Carries its text for the message.
struct ConfigOther {
  std::string text;
};

struct ConfigValue {
  std::variant<bool, std::int64_t, double, std::string, ConfigList, ConfigOther> value;
};

/// As the file would write it, for messages: strings quoted and escaped, long ones cut.
[[nodiscard]] std::string print_config_value(const ConfigValue& value);

/// TOML basic string, quotes included.
[[nodiscard]] std::string quote_toml(std::string_view text);

}  // namespace smd

namespace smd::config_words {

// The words that values of options are made of.

[[nodiscard]] std::string_view trim(std::string_view text);

/// The words of `text` between separators, trimmed; one where there is no separator.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

/// All of `digits`, or nothing.
[[nodiscard]] std::optional<std::uint64_t> parse_digits(std::string_view digits, int base);

/// Decimal, or "0x…", from 0 to `max`.
[[nodiscard]] std::optional<unsigned> parse_number(std::string_view text, unsigned max);

/// "0x…", not 0.
[[nodiscard]] std::optional<Guid> parse_guid(std::string_view text);

/// A number that is not negative.
[[nodiscard]] std::optional<std::uint64_t> as_number(const ConfigValue& value);

/// The same, or a text "0x…".
[[nodiscard]] std::optional<std::uint64_t> as_hex64(const ConfigValue& value);

/// A list of texts. Nothing for anything else, as below.
[[nodiscard]] std::optional<std::vector<std::string>> as_list(const ConfigValue& value);

/// A list of texts, or one text alone.
[[nodiscard]] std::optional<std::vector<std::string>> as_texts(const ConfigValue& value);

/// A list of texts, or the words of one text between commas, as OpenSM's options are written.
[[nodiscard]] std::optional<std::vector<std::string>> as_words(const ConfigValue& value);

/// Every item by `parse`; nothing when one of them is wrong.
template <class T, class Items, class Parse>
std::optional<std::vector<T>> parse_each(const Items& items, Parse parse) {
  std::vector<T> out;
  for (const auto& item : items) {
    const std::optional<T> parsed = parse(item);
    if (!parsed) return std::nullopt;
    out.push_back(*parsed);
  }
  return out;
}

/// As a list of TOML.
[[nodiscard]] std::string print_texts(const std::vector<std::string>& texts);

}  // namespace smd::config_words

namespace smd {

// The text that the TOML library gets to see: ASCII, whatever the file holds.

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
