#include "smd/app/config_kinds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "smd/app/config_option_of.h"
#include "smd/app/config_words.h"

namespace smd::config_kinds {

using namespace config_words;

namespace {

std::string print_number(Number number) { return fmt::format("{}", number); }

std::string one_of_names(const std::vector<std::string_view>& names) {
  return fmt::format("one of \"{}\"", fmt::join(names, "\", \""));
}

}  // namespace

ConfigOption flag(const About& about, Field<bool> field) {
  return option(
      about,
      "true or false",
      std::move(field),
      [](const ConfigValue& value) -> std::optional<bool> {
        const auto* given = std::get_if<bool>(&value.value);
        return given == nullptr ? std::nullopt : std::optional(*given);
      },
      [](bool value) { return value ? "true" : "false"; });
}

ConfigOption number(const About& about, Field<Number> field, Number min, Number max) {
  return option(
      about,
      fmt::format("a number from {} to {}", min, max),
      std::move(field),
      [min, max](const ConfigValue& value) {
        auto number = as_number(value);
        return number && *number >= min && *number <= max ? number : std::nullopt;
      },
      print_number);
}

ConfigOption one_of(const About& about, Field<Number> field, std::vector<Number> allowed) {
  std::string range = fmt::format("one of {}", fmt::join(allowed, ", "));
  return option(
      about,
      std::move(range),
      std::move(field),
      [allowed = std::move(allowed)](const ConfigValue& value) {
        auto number = as_number(value);
        const bool known = number && std::ranges::find(allowed, *number) != allowed.end();
        return known ? number : std::nullopt;
      },
      print_number);
}

ConfigOption mode_bits(const About& about, Field<Number> field) {
  return option(
      about,
      "an octal number from 0o000 to 0o777",
      std::move(field),
      [](const ConfigValue& value) {
        const auto* text = std::get_if<std::string>(&value.value);
        auto bits = text != nullptr ? parse_digits(*text, 8) : as_number(value);
        return bits && *bits <= 0777 ? bits : std::nullopt;
      },
      [](Number bits) { return fmt::format("0o{:03o}", bits); });
}

ConfigOption hex64(const About& about, Field<Number> field, bool sixteen_digits) {
  return option(about,
                "64 bits as \"0x...\", or 0",
                std::move(field),
                as_hex64,
                [sixteen_digits](Number bits) {
                  if (sixteen_digits) return fmt::format("\"0x{:016x}\"", bits);
                  return bits == 0 ? std::string("0") : fmt::format("\"0x{:x}\"", bits);
                });
}

ConfigOption word(const About& about,
                  Field<std::string> field,
                  std::vector<std::string_view> names) {
  std::string range = one_of_names(names);
  return checked_text(about,
                      std::move(field),
                      std::move(range),
                      [names = std::move(names)](const std::string& text) {
                        return std::ranges::find(names, text) != names.end();
                      });
}

ConfigOption choice(const About& about, Field<Number> field, std::vector<std::string_view> names) {
  return option(
      about,
      one_of_names(names),
      std::move(field),
      [names](const ConfigValue& value) -> std::optional<Number> {
        const auto* text = std::get_if<std::string>(&value.value);
        if (text == nullptr) return std::nullopt;
        const auto it = std::ranges::find(names, *text);
        if (it == names.end()) return std::nullopt;
        return static_cast<Number>(it - names.begin());
      },
      [names](Number index) { return quote_toml(names[index]); });
}

ConfigOption text(const About& about, Field<std::string> field, std::string range) {
  return checked_text(
      about, std::move(field), std::move(range), [](const std::string&) { return true; });
}

ConfigOption checked_text(const About& about,
                          Field<std::string> field,
                          std::string range,
                          std::function<bool(const std::string&)> valid) {
  return option(
      about,
      std::move(range),
      std::move(field),
      [valid = std::move(valid)](const ConfigValue& value) -> std::optional<std::string> {
        const auto* text = std::get_if<std::string>(&value.value);
        if (text == nullptr || !valid(*text)) return std::nullopt;
        const bool printable = std::ranges::none_of(
            *text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
        return printable ? std::optional(*text) : std::nullopt;
      },
      [](const std::string& text) { return quote_toml(text); });
}

ConfigOption guid(const About& about, Field<Guid> field) {
  return option(
      about,
      "a GUID as \"0x0002c90300000001\", or \"\"",
      std::move(field),
      [](const ConfigValue& value) -> std::optional<Guid> {
        const auto* text = std::get_if<std::string>(&value.value);
        if (text != nullptr && text->empty()) return Guid{};
        const auto bits = as_hex64(value);
        return bits ? std::optional(Guid{*bits}) : std::nullopt;
      },
      [](Guid guid) { return guid == Guid{} ? std::string("\"\"") : fmt::format("\"{}\"", guid); });
}

ConfigOption optional_number(const About& about,
                             Field<std::optional<unsigned>> field,
                             Number max,
                             std::string example) {
  return absent_option(
      about,
      fmt::format("a number from 0 to {}", max),
      std::move(example),
      std::move(field),
      [max](const ConfigValue& value) -> std::optional<unsigned> {
        const auto number = as_number(value);
        if (!number || *number > max) return std::nullopt;
        return static_cast<unsigned>(*number);
      },
      print_number);
}

}  // namespace smd::config_kinds
