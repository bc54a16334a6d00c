// The kinds of option that the table is written in: how a value becomes a field, and back. How the
// table reaches a field of a section, and how a kind is made of a parser and a printer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "smd/config/options.h"

namespace smd::config_kinds {

/// What every option states about itself.
struct About {
  std::string_view section;
  std::string_view key;
  std::string_view meaning;
  std::string_view unit = "";
  bool needs_restart = false;
};

using Number = std::uint64_t;

/// Field access, erased: the table makes these from member pointers.
template <class T>
struct Field {
  std::function<T(const Config&)> read;
  std::function<void(Config&, T)> write;
};

ConfigOption flag(const About& about, Field<bool> field);
ConfigOption number(const About& about, Field<Number> field, Number min, Number max);
ConfigOption one_of(const About& about, Field<Number> field, std::vector<Number> allowed);

/// Written in octal: 0o660, or "0660".
ConfigOption mode_bits(const About& about, Field<Number> field);

/// 64 bits: "0x…", or a number that is not negative. `sixteen_digits` prints leading zeros.
ConfigOption hex64(const About& about, Field<Number> field, bool sixteen_digits);

ConfigOption choice(const About& about, Field<Number> field, std::vector<std::string_view> names);

/// A choice whose field holds the name itself.
ConfigOption word(const About& about,
                  Field<std::string> field,
                  std::vector<std::string_view> names);

ConfigOption text(const About& about, Field<std::string> field, std::string range);

/// A text that `valid` accepts; `range` says which those are.
ConfigOption checked_text(const About& about,
                          Field<std::string> field,
                          std::string range,
                          std::function<bool(const std::string&)> valid);

/// A list of texts, each of which `valid` accepts.
ConfigOption text_list(const About& about,
                       Field<std::vector<std::string>> field,
                       std::string range,
                       std::function<bool(const std::string&)> valid);

ConfigOption guid(const About& about, Field<Guid> field);
ConfigOption guid_list(const About& about, Field<std::vector<Guid>> field);

/// Sorted by GUID, each once.
ConfigOption guid_weights(const About& about,
                          Field<std::vector<std::pair<Guid, std::uint32_t>>> field);

ConfigOption optional_number(const About& about,
                             Field<std::optional<unsigned>> field,
                             Number max,
                             std::string example);
ConfigOption sl2vl(const About& about, Field<std::optional<std::array<Vl, 16>>> field);
ConfigOption vl_weights(const About& about, Field<std::optional<std::vector<VlWeight>>> field);

// How the table of options reaches a field of a section.

template <class T>
concept IsStrongId = requires { typename T::rep; };

/// Any field that is a number inside: integers, enums, strong ids.
template <class Section, class T>
Field<Number> numeric(Section Config::*section, T Section::*field) {
  return {.read = [=](const Config& config) -> Number {
            if constexpr (IsStrongId<T>) {
              return (config.*section.*field).value();
            } else {
              return static_cast<Number>(config.*section.*field);
            }
          },
          .write =
              [=](Config& config, Number number) {
                if constexpr (IsStrongId<T>) {
                  config.*section.*field = T{static_cast<typename T::rep>(number)};
                } else {
                  config.*section.*field = static_cast<T>(number);
                }
              }};
}

template <class Section, class T>
Field<T> plain(Section Config::*section, T Section::*field) {
  return {[=](const Config& config) { return config.*section.*field; },
          [=](Config& config, T value) { config.*section.*field = std::move(value); }};
}

// An option from a field, a parser and a printer: what every kind is made of.

/// `parse` gives nothing for what is not in range, `print` nothing for what is not set.
template <class T, class Parse, class Print>
ConfigOption option(const About& about,
                    std::string range,
                    Field<T> field,
                    Parse parse,
                    Print print,
                    std::string example = "") {
  return {.section = about.section,
          .key = about.key,
          .meaning = about.meaning,
          .unit = about.unit,
          .range = std::move(range),
          .needs_restart = about.needs_restart,
          .example = std::move(example),
          .apply =
              [write = std::move(field.write), parse](const ConfigValue& value, Config& config) {
                std::optional<T> parsed = parse(value);
                if (!parsed) return false;
                write(config, std::move(*parsed));
                return true;
              },
          .print = [read = std::move(field.read), print](const Config& config)
              -> std::optional<std::string> { return print(read(config)); }};
}

/// The same for a field that may be absent: `print` gets what is there.
template <class T, class Parse, class Print>
ConfigOption absent_option(const About& about,
                           std::string range,
                           std::string example,
                           Field<std::optional<T>> field,
                           Parse parse,
                           Print print) {
  return option(
      about,
      std::move(range),
      std::move(field),
      [parse](const ConfigValue& value) -> std::optional<std::optional<T>> {
        std::optional<T> parsed = parse(value);
        if (!parsed) return std::nullopt;
        return parsed;
      },
      [print](const std::optional<T>& value) {
        return value ? std::optional<std::string>(print(*value)) : std::nullopt;
      },
      std::move(example));
}

}  // namespace smd::config_kinds
