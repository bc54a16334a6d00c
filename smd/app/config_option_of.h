// An option from a field, a parser and a printer: what every kind is made of.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "smd/app/config_kinds.h"

namespace smd::config_kinds {

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
