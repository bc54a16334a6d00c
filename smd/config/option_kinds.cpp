// How each kind of option is read, checked and printed.
#include "smd/config/option_kinds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "smd/config/config_text.h"

namespace smd::config_kinds {

using namespace config_words;

namespace {

std::string print_number(Number number) { return fmt::format("{}", number); }

std::string one_of_names(const std::vector<std::string_view>& names) {
  return fmt::format("one of \"{}\"", fmt::join(names, "\", \""));
}

using GuidWeight = std::pair<Guid, std::uint32_t>;

constexpr unsigned kVls = 16;
constexpr unsigned kDataVls = 15;
constexpr std::size_t kArbEntries = 64;

std::optional<VlWeight> parse_vl_weight(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto vl = parse_digits(text.substr(0, colon), 10);
  const auto weight = parse_digits(text.substr(colon + 1), 10);
  if (!vl || !weight || *vl >= kDataVls || *weight > 255) return std::nullopt;
  return VlWeight{Vl{static_cast<std::uint8_t>(*vl)}, static_cast<std::uint8_t>(*weight)};
}

std::optional<GuidWeight> parse_guid_weight(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto guid = parse_guid(text.substr(0, colon));
  const auto weight = parse_digits(text.substr(colon + 1), 10);
  if (!guid || !weight || *weight > 0xffff) return std::nullopt;
  return GuidWeight{*guid, static_cast<std::uint32_t>(*weight)};
}

/// A list of numbers, or "0,1,2", as OpenSM's options are written.
std::optional<std::vector<Number>> as_numbers(const ConfigValue& value) {
  if (const auto* text = std::get_if<std::string>(&value.value)) {
    return parse_each<Number>(split(*text, ','),
                              [](std::string_view word) { return parse_digits(word, 10); });
  }
  const auto* list = std::get_if<ConfigList>(&value.value);
  if (list == nullptr) return std::nullopt;
  return parse_each<Number>(*list, as_number);
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

ConfigOption text_list(const About& about,
                       Field<std::vector<std::string>> field,
                       std::string range,
                       std::function<bool(const std::string&)> valid) {
  return option(
      about,
      std::move(range),
      std::move(field),
      [valid = std::move(valid)](const ConfigValue& value) {
        auto texts = as_list(value);
        return texts && std::ranges::all_of(*texts, valid) ? texts : std::nullopt;
      },
      print_texts);
}

ConfigOption guid_list(const About& about, Field<std::vector<Guid>> field) {
  return option(
      about,
      "a list of GUIDs, each as \"0x0002c90300000001\"",
      std::move(field),
      [](const ConfigValue& value) -> std::optional<std::vector<Guid>> {
        const auto* list = std::get_if<ConfigList>(&value.value);
        if (list == nullptr) return std::nullopt;
        return parse_each<Guid>(*list, [](const ConfigValue& item) {
          const auto bits = as_hex64(item);
          return bits && *bits != 0 ? std::optional(Guid{*bits}) : std::nullopt;
        });
      },
      [](const std::vector<Guid>& guids) {
        return guids.empty() ? std::string("[]")
                             : fmt::format("[\"{}\"]", fmt::join(guids, "\", \""));
      });
}

ConfigOption guid_weights(const About& about, Field<std::vector<GuidWeight>> field) {
  using Weights = std::vector<GuidWeight>;
  return option(
      about,
      "a list of \"GUID:WEIGHT\", each port once, weight 0 to 65535, such as "
      "\"0x0002c90300000001:4\"",
      std::move(field),
      [](const ConfigValue& value) -> std::optional<Weights> {
        const auto texts = as_list(value);
        if (!texts) return std::nullopt;
        auto weights = parse_each<GuidWeight>(*texts, parse_guid_weight);
        if (!weights) return std::nullopt;
        std::ranges::sort(*weights);
        const bool twice =
            std::ranges::adjacent_find(*weights, {}, &GuidWeight::first) != weights->end();
        return twice ? std::nullopt : weights;
      },
      [](const Weights& weights) {
        std::vector<std::string> texts;
        for (const auto& [guid, weight] : weights)
          texts.push_back(fmt::format("{}:{}", guid, weight));
        return print_texts(texts);
      });
}

ConfigOption sl2vl(const About& about, Field<std::optional<std::array<Vl, 16>>> field) {
  return absent_option(
      about,
      "16 numbers from 0 to 15, one VL for each SL; also as \"0,1,2,…\"",
      "[0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]",
      std::move(field),
      [](const ConfigValue& value) -> std::optional<std::array<Vl, 16>> {
        const auto numbers = as_numbers(value);
        std::array<Vl, 16> vls;
        if (!numbers || numbers->size() != vls.size()) return std::nullopt;
        for (std::size_t sl = 0; sl < vls.size(); ++sl) {
          if ((*numbers)[sl] >= kVls) return std::nullopt;
          vls[sl] = Vl{static_cast<std::uint8_t>((*numbers)[sl])};
        }
        return vls;
      },
      [](const std::array<Vl, 16>& vls) { return fmt::format("[{}]", fmt::join(vls, ", ")); });
}

ConfigOption vl_weights(const About& about, Field<std::optional<std::vector<VlWeight>>> field) {
  return absent_option(
      about,
      "at most 64 entries \"VL:WEIGHT\", VL 0 to 14, weight 0 to 255 in units of 64 bytes; also as "
      "\"0:4,1:0,…\"",
      "[\"0:4\", \"1:4\"]",
      std::move(field),
      [](const ConfigValue& value) -> std::optional<std::vector<VlWeight>> {
        const auto words = as_words(value);
        if (!words || words->size() > kArbEntries) return std::nullopt;
        return parse_each<VlWeight>(*words, parse_vl_weight);
      },
      [](const std::vector<VlWeight>& entries) {
        std::vector<std::string> texts;
        for (const auto& [vl, weight] : entries) texts.push_back(fmt::format("{}:{}", vl, weight));
        return print_texts(texts);
      });
}

}  // namespace smd::config_kinds
