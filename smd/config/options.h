// The table of options: the one place that knows every key. Internal to config; include config.h.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "smd/config/config.h"
#include "smd/config/config_text.h"

namespace smd {

struct ConfigOption {
  std::string_view section;
  std::string_view key;
  std::string_view meaning;    // one sentence without the full stop
  std::string_view unit;       // "" when it has none
  std::string range;           // "a number from 0 to 7": what would be right
  bool needs_restart = false;  // a running daemon cannot adopt a new value
  std::string example;         // a value to show where the default is "not set"

  /// Writes the value into the config; false, and nothing written, when it is not in range.
  std::function<bool(const ConfigValue&, Config&)> apply;

  /// The value as TOML; nothing when it is not set.
  std::function<std::optional<std::string>(const Config&)> print;

  [[nodiscard]] std::string name() const;  // "sm.lmc"
};

/// A rule between options.
struct ConfigRule {
  std::vector<std::string_view> options;  // names; the first one is where the fault is reported

  /// What is wrong, and what would be right; nothing when the rule holds.
  std::function<std::optional<std::string>(const Config&)> broken;
};

/// In the order of the file: options of a section stand together.
[[nodiscard]] std::span<const ConfigOption> config_options();

[[nodiscard]] std::span<const ConfigRule> config_rules();

/// One line on each section, for the files generated from the table.
[[nodiscard]] std::string_view config_section_meaning(std::string_view section);

/// The full name of the known option nearest to `section.key` by edit distance.
[[nodiscard]] std::string find_nearest_option(std::string_view section, std::string_view key);

/// The known section nearest to `section`.
[[nodiscard]] std::string find_nearest_section(std::string_view section);

}  // namespace smd
