#include "smd/app/config_words.h"

#include <fmt/core.h>

#include <charconv>

namespace smd::config_words {

std::string_view trim(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> words;
  for (;;) {
    const std::size_t end = text.find(separator);
    words.push_back(trim(text.substr(0, end)));
    if (end == std::string_view::npos) return words;
    text.remove_prefix(end + 1);
  }
}

std::optional<std::uint64_t> parse_digits(std::string_view digits, int base) {
  std::uint64_t number = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number, base);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

std::optional<unsigned> parse_number(std::string_view text, unsigned max) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const auto number = hex ? parse_digits(text.substr(2), 16) : parse_digits(text, 10);
  if (!number || *number > max) return std::nullopt;
  return static_cast<unsigned>(*number);
}

std::optional<Guid> parse_guid(std::string_view text) {
  if (!text.starts_with("0x")) return std::nullopt;
  const auto bits = parse_digits(text.substr(2), 16);
  return bits && *bits != 0 ? std::optional(Guid{*bits}) : std::nullopt;
}

std::optional<std::uint64_t> as_number(const ConfigValue& value) {
  const auto* number = std::get_if<std::int64_t>(&value.value);
  if (number == nullptr || *number < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*number);
}

std::optional<std::uint64_t> as_hex64(const ConfigValue& value) {
  const auto* text = std::get_if<std::string>(&value.value);
  if (text == nullptr) return as_number(value);
  if (!text->starts_with("0x") && !text->starts_with("0X")) return std::nullopt;
  return parse_digits(std::string_view(*text).substr(2), 16);
}

std::optional<std::vector<std::string>> as_list(const ConfigValue& value) {
  const auto* list = std::get_if<ConfigList>(&value.value);
  if (list == nullptr) return std::nullopt;
  return parse_each<std::string>(*list, [](const ConfigValue& item) {
    const auto* text = std::get_if<std::string>(&item.value);
    return text == nullptr ? std::nullopt : std::optional(*text);
  });
}

std::optional<std::vector<std::string>> as_texts(const ConfigValue& value) {
  if (const auto* text = std::get_if<std::string>(&value.value)) return std::vector{*text};
  return as_list(value);
}

std::optional<std::vector<std::string>> as_words(const ConfigValue& value) {
  const auto* text = std::get_if<std::string>(&value.value);
  if (text == nullptr) return as_list(value);
  const std::vector<std::string_view> words = split(*text, ',');
  return std::vector<std::string>(words.begin(), words.end());
}

std::string print_texts(const std::vector<std::string>& texts) {
  std::string line;
  for (const std::string& each : texts)
    line += fmt::format("{}{}", line.empty() ? "" : ", ", quote_toml(each));
  return fmt::format("[{}]", line);
}

}  // namespace smd::config_words
