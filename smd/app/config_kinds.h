// The kinds of option that the table is written in: how a value becomes a field, and back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "smd/app/config_options.h"

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

}  // namespace smd::config_kinds
