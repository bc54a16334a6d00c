// The kinds of option whose value is a list.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "smd/app/config_kinds.h"
#include "smd/app/config_option_of.h"
#include "smd/app/config_words.h"

namespace smd::config_kinds {

using namespace config_words;

namespace {

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
