// One value of a configuration file, free of the library that read it.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

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
