// What single nodes get instead of what all get.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "smd/app/config_congestion_kinds.h"
#include "smd/app/config_option_of.h"
#include "smd/app/config_words.h"

namespace smd::config_kinds {

using namespace config_words;
using cc::NodeOverride;

namespace {

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
  const auto parts = split(word, '=');
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
  for (const std::string_view word : split(text.substr(colon + 1), ',')) {
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

ConfigOption node_overrides(const About& about, Field<std::vector<NodeOverride>> field) {
  using Nodes = std::vector<NodeOverride>;
  return option(
      about,
      "a list of \"GUID: KEY=VALUE, …\", each node once, the keys being threshold, packet_size and "
      "marking_rate of switches, ccti_timer, ccti_increase, trigger_threshold and ccti_min of "
      "adapters, or \"GUID: off\"",
      std::move(field),
      [](const ConfigValue& value) -> std::optional<Nodes> {
        const auto texts = as_texts(value);
        if (!texts) return std::nullopt;
        auto nodes = parse_each<NodeOverride>(*texts, parse_node);
        if (!nodes) return std::nullopt;
        std::ranges::sort(*nodes, {}, &NodeOverride::node);
        const bool twice =
            std::ranges::adjacent_find(*nodes, {}, &NodeOverride::node) != nodes->end();
        return twice ? std::nullopt : nodes;
      },
      [](const Nodes& nodes) {
        std::vector<std::string> texts;
        for (const NodeOverride& node : nodes) texts.push_back(print_node(node));
        return print_texts(texts);
      });
}

}  // namespace smd::config_kinds
