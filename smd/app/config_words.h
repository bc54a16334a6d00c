// The words that values of options are made of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "smd/app/config_value.h"
#include "smd/ib/types.h"

namespace smd::config_words {

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
