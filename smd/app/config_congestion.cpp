// Keys that OpenSM has too are called as there, and take what its file says.
#include "smd/app/config_congestion.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "smd/app/config_kinds.h"
#include "smd/congestion/throttle.h"

namespace smd {
namespace {

using namespace config_kinds;
using cc::BySl;
using cc::CctEntry;
using cc::NodeOverride;
using cc::PortMask;

constexpr std::string_view kSection = "congestion";

template <class T>
Field<T> of(T cc::Options::*field) {
  return {[=](const Config& config) { return config.congestion.*field; },
          [=](Config& config, T value) { config.congestion.*field = std::move(value); }};
}

template <class T>
Field<Number> count(T cc::Options::*field) {
  return {[=](const Config& config) { return static_cast<Number>(config.congestion.*field); },
          [=](Config& config, Number value) { config.congestion.*field = static_cast<T>(value); }};
}

std::optional<unsigned> parse_number(std::string_view text, unsigned max) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (hex) text.remove_prefix(2);
  unsigned number = 0;
  const auto [stop, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, hex ? 16 : 10);
  const bool whole = error == std::errc{} && stop == text.data() + text.size();
  return whole && number <= max ? std::optional(number) : std::nullopt;
}

std::string_view trim(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

/// The words of `text` between separators, trimmed.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> words;
  for (;;) {
    const std::size_t end = text.find(separator);
    words.push_back(trim(text.substr(0, end)));
    if (end == std::string_view::npos) return words;
    text.remove_prefix(end + 1);
  }
}

/// A list of strings, or one string alone. Nothing for anything else.
std::optional<std::vector<std::string>> as_texts(const ConfigValue& value) {
  std::vector<std::string> texts;
  if (const auto* text = std::get_if<std::string>(&value.value)) return std::vector{*text};
  const auto* list = std::get_if<ConfigList>(&value.value);
  if (list == nullptr) return std::nullopt;
  for (const ConfigValue& item : *list) {
    const auto* text = std::get_if<std::string>(&item.value);
    if (text == nullptr) return std::nullopt;
    texts.push_back(*text);
  }
  return texts;
}

std::string print_texts(const std::vector<std::string>& texts) {
  std::string line;
  for (const std::string& each : texts)
    line += fmt::format("{}{}", line.empty() ? "" : ", ", quote_toml(each));
  return fmt::format("[{}]", line);
}

/// An option of any kind: `parse` gives nothing for what is not in range, `print` for what is not
/// set.
template <class T, class Parse, class Print>
ConfigOption made(std::string_view key,
                  std::string_view meaning,
                  std::string range,
                  std::string example,
                  T cc::Options::*field,
                  Parse parse,
                  Print print) {
  return {.section = kSection,
          .key = key,
          .meaning = meaning,
          .unit = "",
          .range = std::move(range),
          .needs_restart = false,
          .example = std::move(example),
          .apply =
              [=](const ConfigValue& value, Config& config) {
                std::optional<T> parsed = parse(value);
                if (!parsed) return false;
                config.congestion.*field = std::move(*parsed);
                return true;
              },
          .print = [=](const Config& config) -> std::optional<std::string> {
            return print(config.congestion.*field);
          }};
}

ConfigOption flag(std::string_view key, std::string_view meaning, bool cc::Options::*field) {
  return made(
      key,
      meaning,
      "true or false",
      "",
      field,
      [](const ConfigValue& value) -> std::optional<bool> {
        const auto* given = std::get_if<bool>(&value.value);
        return given == nullptr ? std::nullopt : std::optional(*given);
      },
      [](bool value) { return value ? "true" : "false"; });
}

ConfigOption optional_count(std::string_view key,
                            std::string_view meaning,
                            std::string_view unit,
                            std::optional<unsigned> cc::Options::*field,
                            Number max,
                            std::string example) {
  return optional_number({kSection, key, meaning, unit}, of(field), max, std::move(example));
}

std::optional<PortMask> parse_mask(std::string_view text) {
  if (!text.starts_with("0x") && !text.starts_with("0X")) return std::nullopt;
  text.remove_prefix(2);
  PortMask mask;
  if (text.empty() || text.size() > 2 * mask.bytes.size()) return std::nullopt;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto digit = parse_number(fmt::format("0x{}", text[text.size() - 1 - i]), 15);
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

ConfigOption port_mask(std::string_view key,
                       std::string_view meaning,
                       std::optional<PortMask> cc::Options::*field) {
  return made(
      key,
      meaning,
      "a mask of at most 256 bits as \"0x…\", bit n for port n",
      "\"0x1e\"",
      field,
      [](const ConfigValue& value) -> std::optional<std::optional<PortMask>> {
        const auto* text = std::get_if<std::string>(&value.value);
        const auto mask = text == nullptr ? std::nullopt : parse_mask(*text);
        if (!mask) return std::nullopt;
        return mask;
      },
      [](const std::optional<PortMask>& mask) -> std::optional<std::string> {
        if (!mask) return std::nullopt;
        return print_mask(*mask);
      });
}

std::optional<CctEntry> parse_entry(std::string_view text) {
  const auto parts = split(text, ':');
  if (parts.size() != 2) return std::nullopt;
  const auto shift = parse_number(parts[0], 3);
  const auto multiplier = parse_number(parts[1], cc::kMaxMultiplier);
  if (!shift || !multiplier) return std::nullopt;
  return CctEntry{static_cast<std::uint8_t>(*shift), static_cast<std::uint16_t>(*multiplier)};
}

std::string print_entry(const CctEntry& entry) {
  return fmt::format("{}:{}", entry.shift, entry.multiplier);
}

ConfigOption return_delay() {
  return made(
      "cc_sw_cong_setting_credit_starvation_return_delay",
      "How long a switch port that starved goes on as if it did, as an entry of cc_cct",
      "\"SHIFT:MULTIPLIER\", shift 0 to 3, multiplier 0 to 16383",
      "\"0:0\"",
      &cc::Options::cs_return_delay,
      [](const ConfigValue& value) -> std::optional<std::optional<CctEntry>> {
        const auto* text = std::get_if<std::string>(&value.value);
        const auto entry = text == nullptr ? std::nullopt : parse_entry(*text);
        if (!entry) return std::nullopt;
        return entry;
      },
      [](const std::optional<CctEntry>& entry) -> std::optional<std::string> {
        if (!entry) return std::nullopt;
        return quote_toml(print_entry(*entry));
      });
}

ConfigOption table() {
  constexpr std::size_t kMostEntries = 256 * cc::kCctBlockSize;
  using Table = std::vector<CctEntry>;
  return made(
      "cc_cct",
      "Congestion control table of adapters: waits between two packets, in packet times, as "
      "multiplier / 2^shift; by rate of the link where it is not set",
      "entries \"SHIFT:MULTIPLIER\", shift 0 to 3, multiplier 0 to 16383; also as \"0:0,1:1,…\"",
      "[\"0:0\", \"0:1\", \"0:4\"]",
      &cc::Options::cct,
      [](const ConfigValue& value) -> std::optional<std::optional<Table>> {
        const auto texts = as_texts(value);
        if (!texts) return std::nullopt;
        Table entries;
        for (const std::string& text : *texts) {
          for (const std::string_view word : split(text, ',')) {
            const auto entry = parse_entry(word);
            if (!entry || entries.size() == kMostEntries) return std::nullopt;
            entries.push_back(*entry);
          }
        }
        return entries;
      },
      [](const std::optional<Table>& entries) -> std::optional<std::string> {
        if (!entries) return std::nullopt;
        std::vector<std::string> texts;
        for (const CctEntry& entry : *entries) texts.push_back(print_entry(entry));
        return print_texts(texts);
      });
}

/// As OpenSM, "SL VALUE", once per SL; a number is that of every SL.
std::optional<BySl> parse_by_sl(const ConfigValue& value, unsigned max) {
  BySl out;
  if (const auto* number = std::get_if<std::int64_t>(&value.value)) {
    if (*number < 0 || static_cast<Number>(*number) > max) return std::nullopt;
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

ConfigOption by_sl(std::string_view key,
                   std::string_view meaning,
                   BySl cc::Options::*field,
                   unsigned max,
                   std::string example) {
  return made(
      key,
      meaning,
      fmt::format("a number from 0 to {}, for every SL, or a list of \"SL VALUE\"", max),
      std::move(example),
      field,
      [max](const ConfigValue& value) { return parse_by_sl(value, max); },
      [](const BySl& values) -> std::optional<std::string> {
        std::vector<std::string> texts;
        for (std::size_t sl = 0; sl < values.size(); ++sl) {
          if (values[sl]) texts.push_back(fmt::format("{} {}", sl, *values[sl]));
        }
        if (texts.empty()) return std::nullopt;
        return print_texts(texts);
      });
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

bool apply_node_word(std::string_view word, NodeOverride& node) {
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
  if (colon == std::string_view::npos || !text.starts_with("0x")) return std::nullopt;
  std::uint64_t guid = 0;
  const char* end = text.data() + colon;
  const auto [stop, error] = std::from_chars(text.data() + 2, end, guid, 16);
  if (error != std::errc{} || stop != end || guid == 0) return std::nullopt;
  NodeOverride node{.node = Guid{guid}};
  for (const std::string_view word : split(text.substr(colon + 1), ',')) {
    if (!apply_node_word(word, node)) return std::nullopt;
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

ConfigOption nodes() {
  using Nodes = std::vector<NodeOverride>;
  return made(
      "nodes",
      "What single nodes get instead, or `off` to leave one alone",
      "a list of \"GUID: KEY=VALUE, …\", each node once, the keys being threshold, packet_size and "
      "marking_rate of switches, ccti_timer, ccti_increase, trigger_threshold and ccti_min of "
      "adapters, or \"GUID: off\"",
      "",
      &cc::Options::nodes,
      [](const ConfigValue& value) -> std::optional<Nodes> {
        const auto texts = as_texts(value);
        if (!texts) return std::nullopt;
        Nodes out;
        for (const std::string& text : *texts) {
          const auto node = parse_node(text);
          if (!node) return std::nullopt;
          out.push_back(*node);
        }
        std::ranges::sort(out, {}, &NodeOverride::node);
        if (std::ranges::adjacent_find(out, {}, &NodeOverride::node) != out.end())
          return std::nullopt;
        return out;
      },
      [](const Nodes& given) {
        std::vector<std::string> texts;
        for (const NodeOverride& node : given) texts.push_back(print_node(node));
        return print_texts(texts);
      });
}

std::vector<ConfigOption> own_options() {
  using O = cc::Options;
  return {
      flag("enabled",
           "Whether congestion control is set up (OpenSM's congestion_control): "
           "docs/congestion-control.md",
           &O::enabled),
      hex64({kSection, "cc_key", "CC_Key of every MAD of congestion control; 0 is none"},
            Field<Number>{[](const Config& c) { return c.congestion.key.value(); },
                          [](Config& c, Number n) { c.congestion.key = cc::CcKey{n}; }},
            false),
      flag("protect",
           "Whether that key is written to every agent, which then obeys no other",
           &O::protect),
      number({kSection,
              "lease_s",
              "Time until an agent shows the CC_Key of a manager that is gone; 0 is never",
              "seconds"},
             count(&O::lease_s),
             0,
             65535),
      number({kSection,
              "cc_max_outstanding_mads",
              "MADs of congestion control on the wire; at most a quarter of what the port holds"},
             count(&O::max_outstanding),
             1,
             4096),
      number({kSection,
              "log_interval_s",
              "Time between two readings of the congestion logs; 0 is never",
              "seconds"},
             count(&O::log_interval_s),
             0,
             86400),
      number({kSection, "hop_ns", "Through a switch and its cable", "nanoseconds"},
             count(&O::hop_ns),
             1,
             100000),
      number({kSection,
              "occupancy_pct",
              "How full buffers are under even traffic near saturation: fuller ones are marked at",
              "percent"},
             count(&O::occupancy_pct),
             1,
             100),
      number({kSection,
              "floor_hosts",
              "No host is held below this fraction, one by so many, of the slowest host link; 0 "
              "counts the hosts of the fabric"},
             count(&O::floor_hosts),
             0,
             65535),
  };
}

std::vector<ConfigOption> switch_options() {
  using O = cc::Options;
  return {
      optional_count("cc_sw_cong_setting_control_map",
                     "Which of these a switch is told: 1 victim mask, 2 credit mask, 4 threshold "
                     "and packet size, 8 credit starvation, 16 marking rate",
                     "",
                     &O::sw_control_map,
                     31,
                     "0x15"),
      port_mask("cc_sw_cong_setting_victim_mask",
                "Switch ports that mark though they are victims; those before hosts where it is "
                "not set",
                &O::victim_mask),
      port_mask("cc_sw_cong_setting_credit_mask",
                "Switch ports that look for credit starvation",
                &O::credit_mask),
      optional_count("cc_sw_cong_setting_threshold",
                     "How eagerly a switch marks: 0 never, 15 most",
                     "",
                     &O::threshold,
                     15,
                     "11"),
      optional_count("cc_sw_cong_setting_packet_size",
                     "Shorter packets are not marked",
                     "64 bytes",
                     &O::packet_size,
                     255,
                     "8"),
      optional_count("cc_sw_cong_setting_credit_starvation_threshold",
                     "How eagerly a switch takes a port for starved: 0 never, 15 most",
                     "",
                     &O::cs_threshold,
                     15,
                     "0"),
      return_delay(),
      optional_count("cc_sw_cong_setting_marking_rate",
                     "Mean of packets between two marks",
                     "packets",
                     &O::marking_rate,
                     65535,
                     "3"),
  };
}

std::vector<ConfigOption> adapter_options() {
  using O = cc::Options;
  return {
      optional_count("cc_ca_cong_setting_port_control",
                     "Whether an adapter holds back queue pairs, 0, or whole SLs of the port, 1",
                     "",
                     &O::port_control,
                     1,
                     "0"),
      optional_count("cc_ca_cong_setting_control_map",
                     "SLs that adapters are told of, bit n for SL n",
                     "",
                     &O::ca_control_map,
                     0xffff,
                     "0xffff"),
      by_sl("cc_ca_cong_setting_ccti_timer",
            "Units of 1.024 us after which the index of a flow falls by one",
            &O::ccti_timer,
            65535,
            "[\"0 10\", \"1 10\"]"),
      by_sl("cc_ca_cong_setting_ccti_increase",
            "Steps that the index rises with a mark",
            &O::ccti_increase,
            255,
            "[\"0 1\", \"1 1\"]"),
      by_sl("cc_ca_cong_setting_trigger_threshold",
            "Index at which the adapter logs the flow",
            &O::trigger_threshold,
            255,
            "[\"0 2\", \"1 2\"]"),
      by_sl("cc_ca_cong_setting_ccti_min",
            "Index that no flow falls below",
            &O::ccti_min,
            255,
            "[\"0 0\", \"1 0\"]"),
      table(),
      nodes(),
  };
}

std::optional<std::string> find_throttle(const Config& config) {
  const cc::Options& options = config.congestion;
  if (!options.cct || options.floor_hosts == 0) return std::nullopt;
  const double longest = options.floor_hosts - 1;
  for (std::size_t i = 0; i < options.cct->size(); ++i) {
    const double delay = cc::delay_of((*options.cct)[i]);
    if (delay <= longest) continue;
    return fmt::format(
        "entry {} of congestion.cc_cct waits {:g} packet times: a host falls to {:.4g} % of its "
        "link, below its floor of {:.4g} %; at most {:g}, which is congestion.floor_hosts - 1",
        i,
        delay,
        100 / (1 + delay),
        100.0 / options.floor_hosts,
        longest);
  }
  return std::nullopt;
}

}  // namespace

std::vector<ConfigOption> congestion_options() {
  std::vector<ConfigOption> all;
  for (std::vector<ConfigOption> part : {own_options(), switch_options(), adapter_options()})
    std::ranges::move(part, std::back_inserter(all));
  return all;
}

std::vector<ConfigRule> congestion_rules() {
  return {
      {{"congestion.cc_cct", "congestion.floor_hosts"}, find_throttle},
      {{"congestion.protect", "congestion.cc_key"},
       [](const Config& c) -> std::optional<std::string> {
         if (!c.congestion.protect || c.congestion.key != cc::CcKey{}) return std::nullopt;
         return "congestion.protect is true; a congestion.cc_key that is not 0, to protect with";
       }},
      {{"congestion.cc_ca_cong_setting_ccti_min", "congestion.cc_cct"},
       [](const Config& c) -> std::optional<std::string> {
         if (!c.congestion.cct) return std::nullopt;
         const std::size_t size = std::max<std::size_t>(c.congestion.cct->size(), 1);
         for (std::size_t sl = 0; sl < cc::kSls; ++sl) {
           const unsigned min = c.congestion.ccti_min[sl].value_or(0);
           if (min >= size)
             return fmt::format(
                 "congestion.cc_ca_cong_setting_ccti_min of SL {} is {}; at most {}, the last "
                 "index of congestion.cc_cct",
                 sl,
                 min,
                 size - 1);
         }
         return std::nullopt;
       }},
  };
}

}  // namespace smd
