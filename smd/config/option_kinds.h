// The kinds of option that the table is written in, in the words of its messages.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "smd/base/options.h"
#include "smd/config/config.h"

namespace smd::config_kinds {

using namespace option_kinds;

using Number = std::uint64_t;

OptionKind<Number> number(Number min,
                          Number max,
                          std::string_view unit = "",
                          std::string example = "");
OptionKind<Number> one_of(std::vector<Number> allowed, std::string_view unit);

/// Written in octal: 0o660, or "0660".
OptionKind<Number> mode_bits();

/// 64 bits: "0x…", or a number that is not negative. `sixteen_digits` prints leading zeros.
OptionKind<Number> hex64(bool sixteen_digits = false);

/// By the name's index.
OptionKind<Number> choice(std::vector<std::string_view> names);

OptionKind<std::string> text(std::string range);

/// A text that `valid` accepts; `range` says which those are.
OptionKind<std::string> checked_text(std::string range,
                                     std::function<bool(const std::string&)> valid);

/// A list of texts, each of which `valid` accepts.
OptionKind<std::vector<std::string>> text_list(std::string range,
                                               std::function<bool(const std::string&)> valid);

/// One name, or a list of different ones that is not empty.
OptionKind<std::vector<std::string>> engine_list();

OptionKind<Guid> guid();
OptionKind<std::vector<Guid>> guid_list();

/// Sorted by GUID, each once.
OptionKind<std::vector<std::pair<Guid, std::uint32_t>>> guid_weights();

OptionKind<std::array<Vl, 16>> sl2vl();
OptionKind<std::vector<VlWeight>> vl_weights();

// The words that their values are made of.

/// The parts of `text` between separators, trimmed.
[[nodiscard]] std::vector<std::string_view> split_trimmed(std::string_view text, char separator);

/// "0x…", not 0.
[[nodiscard]] std::optional<Guid> parse_guid(std::string_view text);

/// A number that is not negative.
[[nodiscard]] std::optional<Number> as_number(const OptionValue& value);

/// A list of texts, or one text alone.
[[nodiscard]] std::optional<std::vector<std::string>> as_texts(const OptionValue& value);

/// As a list of TOML.
[[nodiscard]] std::string print_texts(const std::vector<std::string>& texts);

}  // namespace smd::config_kinds
