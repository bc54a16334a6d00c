// How the values of options that only [congestion] has are read and printed.
#include "smd/config/congestion_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "smd/congestion/throttle.h"

namespace smd::config_kinds {

using cc::BySl;
using cc::CctEntry;
using cc::NodeOverride;
using cc::PortMask;

namespace {

constexpr std::size_t kMostEntries = 256 * cc::kCctBlockSize;

/// Decimal, or "0x…", from 0 to `max`.
std::optional<unsigned> parse_number(std::string_view text, unsigned max) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const auto number = hex ? parse_hex(text) : parse_digits(text);
  if (!number || *number > max) return std::nullopt;
  return static_cast<unsigned>(*number);
}

std::optional<PortMask> parse_mask(std::string_view text) {
  if (!text.starts_with("0x") && !text.starts_with("0X")) return std::nullopt;
  text.remove_prefix(2);
  PortMask mask;
  if (text.empty() || text.size() > 2 * mask.bytes.size()) return std::nullopt;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto digit = parse_digits(text.substr(text.size() - 1 - i, 1), 16);
    if (!digit) return std::nullopt;
    std::uint8_t& byte = mask.bytes[mask.bytes.size() - 1 - i / 2];
    byte = static_cast<std::uint8_t>(byte | *digit << (4 * (i % 2)));
  }
  return mask;
}

std::string print_mask(const PortMask& mask) {
  std::string text;
  for (const std::uint8_t byte : mask.bytes) text += fmt::format("{:02x}", byte);
  const std::size_t first = std::min(text.find_first_not_of('0'), text.size() - 1);
  return quote_toml("0x" + text.substr(first));
}

std::optional<CctEntry> parse_entry(std::string_view text) {
  const auto parts = split_trimmed(text, ':');
  if (parts.size() != 2) return std::nullopt;
  const auto shift = parse_number(parts[0], 3);
  const auto multiplier = parse_number(parts[1], cc::kMaxMultiplier);
  if (!shift || !multiplier) return std::nullopt;
  return CctEntry{static_cast<std::uint8_t>(*shift), static_cast<std::uint16_t>(*multiplier)};
}

std::string print_entry(const CctEntry& entry) {
  return fmt::format("{}:{}", entry.shift, entry.multiplier);
}

std::optional<std::vector<CctEntry>> parse_entries(const OptionValue& value) {
  const auto texts = as_texts(value);
  if (!texts) return std::nullopt;
  std::vector<CctEntry> entries;
  for (const std::string& text : *texts) {
    for (const std::string_view word : split_trimmed(text, ',')) {
      const auto entry = parse_entry(word);
      if (!entry || entries.size() == kMostEntries) return std::nullopt;
      entries.push_back(*entry);
    }
  }
  return entries;
}

std::optional<BySl> parse_by_sl(const OptionValue& value, unsigned max) {
  BySl out;
  if (const auto number = as_number(value)) {
    if (*number > max) return std::nullopt;
    out.fill(static_cast<unsigned>(*number));
    return out;
  }
  const auto texts = as_texts(value);
  if (!texts) return std::nullopt;
  for (const std::string& text : *texts) {
    const std::string_view line = trim(text);
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) return std::nullopt;
    const auto sl = parse_number(line.substr(0, space), cc::kSls - 1);
    const auto number = parse_number(trim(line.substr(space)), max);
    if (!sl || !number) return std::nullopt;
    out[*sl] = *number;
  }
  return out;
}

struct NodeKey {
  std::string_view name;
  std::optional<unsigned> NodeOverride::*field;
  unsigned max;
};

constexpr NodeKey kNodeKeys[] = {
    {"threshold", &NodeOverride::threshold, 15},
    {"packet_size", &NodeOverride::packet_size, 255},
    {"marking_rate", &NodeOverride::marking_rate, 65535},
    {"ccti_timer", &NodeOverride::ccti_timer, 65535},
    {"ccti_increase", &NodeOverride::ccti_increase, 255},
    {"trigger_threshold", &NodeOverride::trigger_threshold, 255},
    {"ccti_min", &NodeOverride::ccti_min, 255},
};

bool apply_word(std::string_view word, NodeOverride& node) {
  if (word == "off") {
    node.off = true;
    return true;
  }
  const auto parts = split_trimmed(word, '=');
  if (parts.size() != 2) return false;
  const auto key = std::ranges::find(kNodeKeys, parts[0], &NodeKey::name);
  if (key == std::end(kNodeKeys)) return false;
  node.*key->field = parse_number(parts[1], key->max);
  return (node.*key->field).has_value();
}

std::optional<NodeOverride> parse_node(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto guid = parse_guid(text.substr(0, colon));
  if (!guid) return std::nullopt;
  NodeOverride node{.node = *guid};
  for (const std::string_view word : split_trimmed(text.substr(colon + 1), ',')) {
    if (!apply_word(word, node)) return std::nullopt;
  }
  return node;
}

std::string print_node(const NodeOverride& node) {
  std::string words = node.off ? " off" : "";
  for (const NodeKey& key : kNodeKeys) {
    if (const auto value = node.*key.field)
      words += fmt::format("{} {}={}", words.empty() ? "" : ",", key.name, *value);
  }
  return fmt::format("{}:{}", node.node, words);
}

}  // namespace

OptionKind<PortMask> port_mask() {
  return {.range = "a mask of at most 256 bits as \"0x…\", bit n for port n",
          .parse =
              [](const OptionValue& value) {
                const auto* text = as<std::string>(value);
                return text == nullptr ? std::nullopt : parse_mask(*text);
              },
          .print = print_mask,
          .example = "\"0x1e\""};
}

OptionKind<CctEntry> cct_entry() {
  return {.range = "\"SHIFT:MULTIPLIER\", shift 0 to 3, multiplier 0 to 16383",
          .parse =
              [](const OptionValue& value) {
                const auto* text = as<std::string>(value);
                return text == nullptr ? std::nullopt : parse_entry(*text);
              },
          .print = [](const CctEntry& entry) { return quote_toml(print_entry(entry)); },
          .example = "\"0:0\""};
}

OptionKind<std::vector<CctEntry>> cct_entries() {
  return {.range =
              "entries \"SHIFT:MULTIPLIER\", shift 0 to 3, multiplier 0 to 16383; also as "
              "\"0:0,1:1,…\"",
          .parse = parse_entries,
          .print =
              [](const std::vector<CctEntry>& entries) {
                std::vector<std::string> texts;
                for (const CctEntry& entry : entries) texts.push_back(print_entry(entry));
                return print_texts(texts);
              },
          .example = "[\"0:0\", \"0:1\", \"0:4\"]"};
}

OptionKind<BySl> by_sl(unsigned max, std::string example) {
  return {
      .range = fmt::format("a number from 0 to {}, for every SL, or a list of \"SL VALUE\"", max),
      .parse = [max](const OptionValue& value) { return parse_by_sl(value, max); },
      .print = [](const BySl& values) -> std::optional<std::string> {
        std::vector<std::string> texts;
        for (std::size_t sl = 0; sl < values.size(); ++sl) {
          if (values[sl]) texts.push_back(fmt::format("{} {}", sl, *values[sl]));
        }
        if (texts.empty()) return std::nullopt;
        return print_texts(texts);
      },
      .example = std::move(example)};
}

OptionKind<std::vector<NodeOverride>> node_overrides() {
  using Nodes = std::vector<NodeOverride>;
  return {
      .range =
          "a list of \"GUID: KEY=VALUE, …\", each node once, the keys being threshold, packet_size "
          "and "
          "marking_rate of switches, ccti_timer, ccti_increase, trigger_threshold and ccti_min of "
          "adapters, or \"GUID: off\"",
      .parse = [](const OptionValue& value) -> std::optional<Nodes> {
        const auto texts = as_texts(value);
        if (!texts) return std::nullopt;
        auto nodes = parse_each<NodeOverride>(*texts, parse_node);
        if (!nodes) return std::nullopt;
        std::ranges::sort(*nodes, {}, &NodeOverride::node);
        const bool twice =
            std::ranges::adjacent_find(*nodes, {}, &NodeOverride::node) != nodes->end();
        return twice ? std::nullopt : nodes;
      },
      .print =
          [](const Nodes& nodes) {
            std::vector<std::string> texts;
            for (const NodeOverride& node : nodes) texts.push_back(print_node(node));
            return print_texts(texts);
          }};
}

}  // namespace smd::config_kinds
