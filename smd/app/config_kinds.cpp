#include "smd/app/config_kinds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace smd::config_kinds {
namespace {

constexpr unsigned kVls = 16;
constexpr unsigned kDataVls = 15;
constexpr std::size_t kArbEntries = 64;

std::optional<Number> as_number(const ConfigValue& value) {
  const auto* number = std::get_if<std::int64_t>(&value.value);
  if (number == nullptr || *number < 0) return std::nullopt;
  return static_cast<Number>(*number);
}

/// All of `digits`, or nothing.
std::optional<Number> parse_digits(std::string_view digits, int base) {
  Number number = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number, base);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

std::optional<Number> as_hex64(const ConfigValue& value) {
  const auto* text = std::get_if<std::string>(&value.value);
  if (text == nullptr) return as_number(value);
  if (!text->starts_with("0x") && !text->starts_with("0X")) return std::nullopt;
  return parse_digits(std::string_view(*text).substr(2), 16);
}

ConfigOption describe(const About& about, std::string range) {
  return {.section = about.section,
          .key = about.key,
          .meaning = about.meaning,
          .unit = about.unit,
          .range = std::move(range),
          .needs_restart = about.needs_restart};
}

/// An option whose value is read by `parse` (nothing: not in range) and written by `print`.
template <class T, class Parse, class Print>
ConfigOption option(
    const About& about, std::string range, Field<T> field, Parse parse, Print print) {
  ConfigOption option = describe(about, std::move(range));
  option.apply = [write = std::move(field.write), parse](const ConfigValue& value, Config& config) {
    std::optional<T> parsed = parse(value);
    if (!parsed) return false;
    write(config, std::move(*parsed));
    return true;
  };
  option.print = [read = std::move(field.read), print](const Config& config) {
    return std::optional<std::string>(print(read(config)));
  };
  return option;
}

/// The same for an option that may be absent.
template <class T, class Parse, class Print>
ConfigOption absent_option(const About& about,
                           std::string range,
                           std::string example,
                           Field<std::optional<T>> field,
                           Parse parse,
                           Print print) {
  ConfigOption option = describe(about, std::move(range));
  option.example = std::move(example);
  option.apply = [write = std::move(field.write), parse](const ConfigValue& value, Config& config) {
    std::optional<T> parsed = parse(value);
    if (!parsed) return false;
    write(config, std::move(parsed));
    return true;
  };
  option.print = [read = std::move(field.read), print](const Config& config) {
    const std::optional<T> value = read(config);
    return value ? std::optional<std::string>(print(*value)) : std::nullopt;
  };
  return option;
}

std::string print_number(Number number) { return fmt::format("{}", number); }

std::string one_of_names(const std::vector<std::string_view>& names) {
  return fmt::format("one of \"{}\"", fmt::join(names, "\", \""));
}

std::optional<VlWeight> parse_vl_weight(const ConfigValue& value) {
  const auto* text = std::get_if<std::string>(&value.value);
  if (text == nullptr) return std::nullopt;
  const std::size_t colon = text->find(':');
  if (colon == std::string::npos) return std::nullopt;
  const auto vl = parse_digits(std::string_view(*text).substr(0, colon), 10);
  const auto weight = parse_digits(std::string_view(*text).substr(colon + 1), 10);
  if (!vl || !weight || *vl >= kDataVls || *weight > 255) return std::nullopt;
  return VlWeight{Vl{static_cast<std::uint8_t>(*vl)}, static_cast<std::uint8_t>(*weight)};
}

std::optional<std::pair<Guid, std::uint32_t>> parse_guid_weight(const ConfigValue& value) {
  const auto* text = std::get_if<std::string>(&value.value);
  if (text == nullptr || !text->starts_with("0x")) return std::nullopt;
  const std::size_t colon = text->find(':');
  if (colon == std::string::npos) return std::nullopt;
  const auto guid = parse_digits(std::string_view(*text).substr(2, colon - 2), 16);
  const auto weight = parse_digits(std::string_view(*text).substr(colon + 1), 10);
  if (!guid || *guid == 0 || !weight || *weight > 0xffff) return std::nullopt;
  return std::pair{Guid{*guid}, static_cast<std::uint32_t>(*weight)};
}

}  // namespace

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

ConfigOption text_list(const About& about,
                       Field<std::vector<std::string>> field,
                       std::string range,
                       std::function<bool(const std::string&)> valid) {
  return option(
      about,
      std::move(range),
      std::move(field),
      [valid](const ConfigValue& value) -> std::optional<std::vector<std::string>> {
        const auto* list = std::get_if<ConfigList>(&value.value);
        if (list == nullptr) return std::nullopt;
        std::vector<std::string> texts;
        for (const ConfigValue& item : *list) {
          const auto* text = std::get_if<std::string>(&item.value);
          if (text == nullptr || !valid(*text)) return std::nullopt;
          texts.push_back(*text);
        }
        return texts;
      },
      [](const std::vector<std::string>& texts) {
        return texts.empty() ? std::string("[]")
                             : fmt::format("[\"{}\"]", fmt::join(texts, "\", \""));
      });
}

ConfigOption guid_list(const About& about, Field<std::vector<Guid>> field) {
  return option(
      about,
      "a list of GUIDs, each as \"0x0002c90300000001\"",
      std::move(field),
      [](const ConfigValue& value) -> std::optional<std::vector<Guid>> {
        const auto* list = std::get_if<ConfigList>(&value.value);
        if (list == nullptr) return std::nullopt;
        std::vector<Guid> guids;
        for (const ConfigValue& item : *list) {
          const auto bits = as_hex64(item);
          if (!bits || *bits == 0) return std::nullopt;
          guids.emplace_back(*bits);
        }
        return guids;
      },
      [](const std::vector<Guid>& guids) {
        return guids.empty() ? std::string("[]")
                             : fmt::format("[\"{}\"]", fmt::join(guids, "\", \""));
      });
}

ConfigOption guid_weights(const About& about,
                          Field<std::vector<std::pair<Guid, std::uint32_t>>> field) {
  using Weights = std::vector<std::pair<Guid, std::uint32_t>>;
  return option(
      about,
      "a list of \"GUID:WEIGHT\", each port once, weight 0 to 65535, such as "
      "\"0x0002c90300000001:4\"",
      std::move(field),
      [](const ConfigValue& value) -> std::optional<Weights> {
        const auto* list = std::get_if<ConfigList>(&value.value);
        if (list == nullptr) return std::nullopt;
        Weights weights;
        for (const ConfigValue& item : *list) {
          const auto weight = parse_guid_weight(item);
          if (!weight) return std::nullopt;
          weights.push_back(*weight);
        }
        std::ranges::sort(weights);
        const auto same_port = [](const auto& a, const auto& b) { return a.first == b.first; };
        if (std::ranges::adjacent_find(weights, same_port) != weights.end()) return std::nullopt;
        return weights;
      },
      [](const Weights& weights) {
        std::string text;
        for (const auto& [guid, weight] : weights)
          text += fmt::format("{}\"{}:{}\"", text.empty() ? "" : ", ", guid, weight);
        return fmt::format("[{}]", text);
      });
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

namespace {

/// The parts of "0:4,1:0" or "0,1,2", as OpenSM's options are written, as if they were a list.
std::optional<ConfigList> split_text(const ConfigValue& value, bool numbers) {
  const auto* text = std::get_if<std::string>(&value.value);
  if (text == nullptr) return std::nullopt;
  ConfigList list;
  std::string_view rest = *text;
  for (;;) {
    const std::size_t comma = rest.find(',');
    std::string_view part = rest.substr(0, comma);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    ConfigValue item;
    if (numbers) {
      const auto number = parse_digits(part, 10);
      if (!number || *number >= kVls) return std::nullopt;
      item.value = static_cast<std::int64_t>(*number);
    } else {
      item.value = std::string(part);
    }
    list.push_back(std::move(item));
    if (comma == std::string_view::npos) return list;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace

ConfigOption sl2vl(const About& about, Field<std::optional<std::array<Vl, 16>>> field) {
  return absent_option(
      about,
      "16 numbers from 0 to 15, one VL for each SL; also as \"0,1,2,…\"",
      "[0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]",
      std::move(field),
      [](const ConfigValue& value) -> std::optional<std::array<Vl, 16>> {
        const std::optional<ConfigList> split = split_text(value, true);
        const auto* list = split ? &*split : std::get_if<ConfigList>(&value.value);
        std::array<Vl, 16> vls;
        if (list == nullptr || list->size() != vls.size()) return std::nullopt;
        for (std::size_t sl = 0; sl < vls.size(); ++sl) {
          const auto vl = as_number((*list)[sl]);
          if (!vl || *vl >= kVls) return std::nullopt;
          vls[sl] = Vl{static_cast<std::uint8_t>(*vl)};
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
        const std::optional<ConfigList> split = split_text(value, false);
        const auto* list = split ? &*split : std::get_if<ConfigList>(&value.value);
        if (list == nullptr || list->size() > kArbEntries) return std::nullopt;
        std::vector<VlWeight> entries;
        for (const ConfigValue& item : *list) {
          const auto entry = parse_vl_weight(item);
          if (!entry) return std::nullopt;
          entries.push_back(*entry);
        }
        return entries;
      },
      [](const std::vector<VlWeight>& entries) {
        std::string text;
        for (const auto& [vl, weight] : entries) {
          text += fmt::format("{}\"{}:{}\"", text.empty() ? "" : ", ", vl, weight);
        }
        return fmt::format("[{}]", text);
      });
}

}  // namespace smd::config_kinds
