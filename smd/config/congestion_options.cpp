// The rows of [congestion], the rules between them, and how the values are read and printed that
// options of this section alone have.
#include "smd/config/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "smd/base/text.h"
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

namespace smd {

namespace {

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
  using namespace config_kinds;
  using O = cc::Options;
  const auto congestion = option_section<Config>("congestion", &Config::congestion);
  return {
      congestion("enabled", &O::enabled, flag())
          .means("Whether congestion control is set up (OpenSM's congestion_control): "
                 "docs/congestion-control.md"),
      congestion("cc_key", &O::key, hex64())
          .means("CC_Key of every MAD of congestion control; 0 is none"),
      congestion("protect", &O::protect, flag())
          .means("Whether that key is written to every agent, which then obeys no other"),
      congestion("lease_s", &O::lease_s, number(0, 65535, "seconds"))
          .means("Time until an agent shows the CC_Key of a manager that is gone; 0 is never"),
      congestion("cc_max_outstanding_mads", &O::max_outstanding, number(1, 4096))
          .means(
              "MADs of congestion control on the wire; at most a quarter of what the port holds"),
      congestion("log_interval_s", &O::log_interval_s, number(0, 86400, "seconds"))
          .means("Time between two readings of the congestion logs; 0 is never"),
      congestion("hop_ns", &O::hop_ns, number(1, 100000, "nanoseconds"))
          .means("Through a switch and its cable"),
      congestion("occupancy_pct", &O::occupancy_pct, number(1, 100, "percent"))
          .means(
              "How full buffers are under even traffic near saturation: fuller ones are marked at"),
      congestion("floor_hosts", &O::floor_hosts, number(0, 65535))
          .means("No host is held below this fraction, one by so many, of the slowest host link; 0 "
                 "counts the hosts of the fabric"),
      congestion("host_threshold", &O::host_threshold, number(0, 15, "", "8"))
          .means("How eagerly switch ports before hosts mark, where they differ from those between "
                 "switches; as cc_sw_cong_setting_threshold"),
      congestion("host_marking_rate", &O::host_marking_rate, number(0, 65535, "", "3"))
          .means("Likewise the packets between two marks; as cc_sw_cong_setting_marking_rate"),
      // Those that OpenSM has under the same names.
      congestion("cc_sw_cong_setting_control_map", &O::sw_control_map, number(0, 31, "", "0x15"))
          .means("Which of these a switch is told: 1 victim mask, 2 credit mask, 4 threshold and "
                 "packet size, 8 credit starvation, 16 marking rate"),
      congestion("cc_sw_cong_setting_victim_mask", &O::victim_mask, port_mask())
          .means("Switch ports that mark though they are victims; those before hosts where it is "
                 "not set"),
      congestion("cc_sw_cong_setting_credit_mask", &O::credit_mask, port_mask())
          .means("Switch ports that look for credit starvation"),
      congestion("cc_sw_cong_setting_threshold", &O::threshold, number(0, 15, "", "11"))
          .means("How eagerly a switch marks: 0 never, 15 most"),
      congestion("cc_sw_cong_setting_packet_size", &O::packet_size, number(0, 255, "64 bytes", "8"))
          .means("Shorter packets are not marked"),
      congestion("cc_sw_cong_setting_credit_starvation_threshold",
                 &O::cs_threshold,
                 number(0, 15, "", "0"))
          .means("How eagerly a switch takes a port for starved: 0 never, 15 most"),
      congestion(
          "cc_sw_cong_setting_credit_starvation_return_delay", &O::cs_return_delay, cct_entry())
          .means("How long a switch port that starved goes on as if it did, as an entry of cc_cct"),
      congestion(
          "cc_sw_cong_setting_marking_rate", &O::marking_rate, number(0, 65535, "packets", "3"))
          .means("Mean of packets between two marks"),
      congestion("cc_ca_cong_setting_port_control", &O::port_control, number(0, 1, "", "0"))
          .means("Whether an adapter holds back queue pairs, 0, or whole SLs of the port, 1"),
      congestion(
          "cc_ca_cong_setting_control_map", &O::ca_control_map, number(0, 0xffff, "", "0xffff"))
          .means("SLs that adapters are told of, bit n for SL n"),
      congestion(
          "cc_ca_cong_setting_ccti_timer", &O::ccti_timer, by_sl(65535, "[\"0 10\", \"1 10\"]"))
          .means("Units of 1.024 us after which the index of a flow falls by one"),
      congestion(
          "cc_ca_cong_setting_ccti_increase", &O::ccti_increase, by_sl(255, "[\"0 1\", \"1 1\"]"))
          .means("Steps that the index rises with a mark"),
      congestion("cc_ca_cong_setting_trigger_threshold",
                 &O::trigger_threshold,
                 by_sl(255, "[\"0 2\", \"1 2\"]"))
          .means("Index at which the adapter logs the flow"),
      congestion("cc_ca_cong_setting_ccti_min", &O::ccti_min, by_sl(255, "[\"0 0\", \"1 0\"]"))
          .means("Index that no flow falls below"),
      congestion("cc_cct", &O::cct, cct_entries())
          .means("Congestion control table of adapters: waits between two packets, in packet "
                 "times, as multiplier / 2^shift; by rate of the link where it is not set"),
      congestion("nodes", &O::nodes, node_overrides())
          .means("What single nodes get instead, or `off` to leave one alone"),
  };
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
