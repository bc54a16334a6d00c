// How each kind of option is read, checked and printed.
#include "smd/config/option_kinds.h"
#include "smd/base/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

namespace smd::config_kinds {

namespace {

using TextList = std::vector<std::string>;
using GuidWeight = std::pair<Guid, std::uint32_t>;

constexpr unsigned kVls = 16;
constexpr unsigned kDataVls = 15;
constexpr std::size_t kArbEntries = 64;

std::string print_number(Number number) { return fmt::format("{}", number); }

std::optional<Number> as_hex64(const OptionValue& value) {
  const auto* text = as<std::string>(value);
  return text == nullptr ? as_number(value) : parse_hex(*text);
}

/// A list of texts. Nothing for anything else.
std::optional<TextList> as_list(const OptionValue& value) {
  const auto* list = as<OptionList>(value);
  if (list == nullptr) return std::nullopt;
  return parse_each<std::string>(*list, [](const OptionValue& item) {
    const auto* text = as<std::string>(item);
    return text == nullptr ? std::nullopt : std::optional(*text);
  });
}

/// A list of numbers, or "0,1,2", as OpenSM's options are written.
std::optional<std::vector<Number>> as_numbers(const OptionValue& value) {
  if (const auto* text = as<std::string>(value)) {
    return parse_each<Number>(split_trimmed(*text, ','),
                              [](std::string_view word) { return parse_digits(word); });
  }
  const auto* list = as<OptionList>(value);
  return list == nullptr ? std::nullopt : parse_each<Number>(*list, as_number);
}

std::optional<VlWeight> parse_vl_weight(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto vl = parse_digits(text.substr(0, colon));
  const auto weight = parse_digits(text.substr(colon + 1));
  if (!vl || !weight || *vl >= kDataVls || *weight > 255) return std::nullopt;
  return VlWeight{Vl{static_cast<std::uint8_t>(*vl)}, static_cast<std::uint8_t>(*weight)};
}

std::optional<GuidWeight> parse_guid_weight(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto guid = parse_guid(text.substr(0, colon));
  const auto weight = parse_digits(text.substr(colon + 1));
  if (!guid || !weight || *weight > 0xffff) return std::nullopt;
  return GuidWeight{*guid, static_cast<std::uint32_t>(*weight)};
}

}  // namespace

OptionKind<Number> number(Number min, Number max, std::string_view unit, std::string example) {
  return {.range = fmt::format("a number from {} to {}", min, max),
          .parse =
              [min, max](const OptionValue& value) {
                auto number = as_number(value);
                return number && *number >= min && *number <= max ? number : std::nullopt;
              },
          .print = print_number,
          .unit = unit,
          .example = std::move(example)};
}

OptionKind<Number> one_of(std::vector<Number> allowed, std::string_view unit) {
  std::string range = fmt::format("one of {}", fmt::join(allowed, ", "));
  return {.range = std::move(range),
          .parse =
              [allowed = std::move(allowed)](const OptionValue& value) {
                auto number = as_number(value);
                const bool known = number && std::ranges::find(allowed, *number) != allowed.end();
                return known ? number : std::nullopt;
              },
          .print = print_number,
          .unit = unit};
}

OptionKind<Number> mode_bits() {
  return {.range = "an octal number from 0o000 to 0o777",
          .parse =
              [](const OptionValue& value) {
                const auto* text = as<std::string>(value);
                auto bits = text != nullptr ? parse_digits(*text, 8) : as_number(value);
                // 400 would be 0o620.
                if (text == nullptr && value.base != 8 && bits != Number{0})
                  return std::optional<Number>();
                return bits && *bits <= 0777 ? bits : std::nullopt;
              },
          .print = [](Number bits) { return fmt::format("0o{:03o}", bits); }};
}

OptionKind<Number> hex64(bool sixteen_digits) {
  return {.range = "64 bits as \"0x...\", or 0",
          .parse = as_hex64,
          .print = [sixteen_digits](Number bits) {
            if (sixteen_digits) return fmt::format("\"0x{:016x}\"", bits);
            return bits == 0 ? std::string("0") : fmt::format("\"0x{:x}\"", bits);
          }};
}

OptionKind<Number> choice(std::vector<std::string_view> names) {
  std::vector<Named<Number>> choices;
  for (const std::string_view name : names) choices.push_back({name, choices.size()});
  OptionKind<Number> kind = choice_of(std::move(choices));
  kind.range = fmt::format("one of \"{}\"", fmt::join(names, "\", \""));
  kind.print = [names = std::move(names)](Number index) { return quote_toml(names[index]); };
  return kind;
}

OptionKind<std::string> text(std::string range) {
  return checked_text(std::move(range), [](const std::string&) { return true; });
}

OptionKind<std::string> checked_text(std::string range,
                                     std::function<bool(const std::string&)> valid) {
  return {
      .range = std::move(range),
      .parse = [valid = std::move(valid)](const OptionValue& value) -> std::optional<std::string> {
        const auto* text = as<std::string>(value);
        if (text == nullptr || !valid(*text)) return std::nullopt;
        const bool printable = std::ranges::none_of(
            *text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
        return printable ? std::optional(*text) : std::nullopt;
      },
      .print = quote_toml};
}

OptionKind<TextList> text_list(std::string range, std::function<bool(const std::string&)> valid) {
  return {.range = std::move(range),
          .parse =
              [valid = std::move(valid)](const OptionValue& value) {
                auto texts = as_list(value);
                return texts && std::ranges::all_of(*texts, valid) ? texts : std::nullopt;
              },
          .print = print_texts};
}

OptionKind<TextList> engine_list() {
  return {.range =
              "the name of an engine, such as \"updn\" or \"minhop\", or a list of different "
              "ones, such as [\"ftree\", \"updn\"]",
          .parse = [](const OptionValue& value) -> std::optional<TextList> {
            auto names = as_texts(value);
            if (!names || names->empty() || std::ranges::count(*names, "") != 0)
              return std::nullopt;
            const std::set<std::string> different(names->begin(), names->end());
            return different.size() == names->size() ? names : std::nullopt;
          },
          .print =
              [](const TextList& names) {
                return names.size() == 1 ? quote_toml(names.front()) : print_texts(names);
              }};
}

OptionKind<Guid> guid() {
  return {.range = "a GUID as \"0x0002c90300000001\", or \"\"",
          .parse = [](const OptionValue& value) -> std::optional<Guid> {
            const auto* text = as<std::string>(value);
            if (text != nullptr && text->empty()) return Guid{};
            const auto bits = as_hex64(value);
            return bits ? std::optional(Guid{*bits}) : std::nullopt;
          },
          .print =
              [](Guid guid) {
                return guid == Guid{} ? std::string("\"\"") : fmt::format("\"{}\"", guid);
              }};
}

OptionKind<std::vector<Guid>> guid_list() {
  return {.range = "a list of GUIDs, each as \"0x0002c90300000001\"",
          .parse = [](const OptionValue& value) -> std::optional<std::vector<Guid>> {
            const auto* list = as<OptionList>(value);
            if (list == nullptr) return std::nullopt;
            return parse_each<Guid>(*list, [](const OptionValue& item) {
              const auto bits = as_hex64(item);
              return bits && *bits != 0 ? std::optional(Guid{*bits}) : std::nullopt;
            });
          },
          .print =
              [](const std::vector<Guid>& guids) {
                return guids.empty() ? std::string("[]")
                                     : fmt::format("[\"{}\"]", fmt::join(guids, "\", \""));
              }};
}

OptionKind<std::vector<GuidWeight>> guid_weights() {
  using Weights = std::vector<GuidWeight>;
  return {.range =
              "a list of \"GUID:WEIGHT\", each port once, weight 0 to 65535, such as "
              "\"0x0002c90300000001:4\"",
          .parse = [](const OptionValue& value) -> std::optional<Weights> {
            const auto texts = as_list(value);
            if (!texts) return std::nullopt;
            auto weights = parse_each<GuidWeight>(*texts, parse_guid_weight);
            if (!weights) return std::nullopt;
            std::ranges::sort(*weights);
            const bool twice =
                std::ranges::adjacent_find(*weights, {}, &GuidWeight::first) != weights->end();
            return twice ? std::nullopt : weights;
          },
          .print =
              [](const Weights& weights) {
                TextList texts;
                for (const auto& [guid, weight] : weights)
                  texts.push_back(fmt::format("{}:{}", guid, weight));
                return print_texts(texts);
              }};
}

OptionKind<std::array<Vl, 16>> sl2vl() {
  using Vls = std::array<Vl, 16>;
  return {.range = "16 numbers from 0 to 15, one VL for each SL; also as \"0,1,2,…\"",
          .parse = [](const OptionValue& value) -> std::optional<Vls> {
            const auto numbers = as_numbers(value);
            Vls vls;
            if (!numbers || numbers->size() != vls.size()) return std::nullopt;
            for (std::size_t sl = 0; sl < vls.size(); ++sl) {
              if ((*numbers)[sl] >= kVls) return std::nullopt;
              vls[sl] = Vl{static_cast<std::uint8_t>((*numbers)[sl])};
            }
            return vls;
          },
          .print = [](const Vls& vls) { return fmt::format("[{}]", fmt::join(vls, ", ")); },
          .example = "[0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]"};
}

OptionKind<std::vector<VlWeight>> vl_weights() {
  using Weights = std::vector<VlWeight>;
  return {.range =
              "at most 64 entries \"VL:WEIGHT\", VL 0 to 14, weight 0 to 255 in units of 64 bytes; "
              "also as \"0:4,1:0,…\"",
          .parse = [](const OptionValue& value) -> std::optional<Weights> {
            // OpenSM has the entries in one text, between commas.
            const auto* text = as<std::string>(value);
            auto words = as_list(value);
            if (text != nullptr) {
              const auto parts = split_trimmed(*text, ',');
              words.emplace(parts.begin(), parts.end());
            }
            if (!words || words->size() > kArbEntries) return std::nullopt;
            return parse_each<VlWeight>(*words, parse_vl_weight);
          },
          .print =
              [](const Weights& entries) {
                TextList texts;
                for (const auto& [vl, weight] : entries)
                  texts.push_back(fmt::format("{}:{}", vl, weight));
                return print_texts(texts);
              },
          .example = "[\"0:4\", \"1:4\"]"};
}

std::vector<std::string_view> split_trimmed(std::string_view text, char separator) {
  auto parts = split(text, separator);
  for (std::string_view& part : parts) part = trim(part);
  return parts;
}

std::optional<Guid> parse_guid(std::string_view text) {
  const auto bits = text.starts_with("0x") ? parse_hex(text) : std::nullopt;
  return bits && *bits != 0 ? std::optional(Guid{*bits}) : std::nullopt;
}

std::optional<Number> as_number(const OptionValue& value) {
  const auto* number = as<std::int64_t>(value);
  if (number == nullptr || *number < 0) return std::nullopt;
  return static_cast<Number>(*number);
}

std::optional<TextList> as_texts(const OptionValue& value) {
  if (const auto* text = as<std::string>(value)) return std::vector{*text};
  return as_list(value);
}

std::string print_texts(const TextList& texts) {
  std::string line;
  for (const std::string& each : texts)
    line += fmt::format("{}{}", line.empty() ? "" : ", ", quote_toml(each));
  return fmt::format("[{}]", line);
}

}  // namespace smd::config_kinds
