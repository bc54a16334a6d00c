#include "plugins/opensm/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>

#include "smd/base/options.h"

namespace smd::opensm {
namespace {

using namespace option_kinds;
using Row = Option<Options>;
using Weight = std::pair<Guid, std::uint32_t>;

constexpr std::string_view kSeparators = " \t\r\n;";

std::optional<Guid> parse_guid(std::string_view text) {
  const auto bits = parse_hex(text);
  return bits && *bits != 0 ? std::optional(Guid{*bits}) : std::nullopt;
}

std::optional<Weight> parse_weight(std::string_view text) {
  const auto parts = split(text, ':');
  if (parts.size() != 2) return std::nullopt;
  const auto guid = parse_guid(parts[0]);
  const auto weight = parse_digits(parts[1]);
  if (!guid || !weight || *weight > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  return Weight{*guid, static_cast<std::uint32_t>(*weight)};
}

OptionKind<std::uint64_t> number(std::uint64_t min, std::uint64_t max) {
  const bool any = max == std::numeric_limits<std::uint64_t>::max();
  return {.range =
              any ? "a number of at most 64 bits" : fmt::format("a number from {} to {}", min, max),
          .parse =
              [=](const OptionValue& value) {
                const auto number = parse_digits(*as<std::string>(value));
                return number && *number >= min && *number <= max ? number : std::nullopt;
              },
          .print = [](std::uint64_t number) { return fmt::format("{}", number); }};
}

OptionKind<std::vector<Guid>> guids() {
  return {
      .range = "GUIDs of switches, as roots=0x0002c90300000001,0x0002c90300000002",
      .parse =
          [](const OptionValue& value) {
            return parse_each<Guid>(split(*as<std::string>(value), ','), parse_guid);
          },
      .print =
          [](const std::vector<Guid>& guids) { return fmt::format("{}", fmt::join(guids, ",")); }};
}

/// Sorted by GUID.
OptionKind<std::vector<Weight>> weights() {
  return {.range = "GUIDs of ports with their weights, as weights=0x0002c90300000001:4",
          .parse =
              [](const OptionValue& value) {
                auto weights =
                    parse_each<Weight>(split(*as<std::string>(value), ','), parse_weight);
                if (weights) std::ranges::sort(*weights);
                return weights;
              },
          .print =
              [](const std::vector<Weight>& weights) {
                std::string list;
                for (const auto& [guid, weight] : weights)
                  list += fmt::format("{}{}:{}", list.empty() ? "" : ",", guid, weight);
                return list;
              }};
}

OptionKind<std::vector<std::string>> adapters() {
  return {.range =
              "GUIDs of adapters or of their ports, or descriptions with ? in place of each "
              "blank and * for any text, as no_data=0x0002c90300000001,ufm-*",
          .parse = [](const OptionValue& value) -> std::optional<std::vector<std::string>> {
            std::vector<std::string> all;
            for (const std::string_view each : split(*as<std::string>(value), ',')) {
              if (each.empty()) return std::nullopt;
              all.emplace_back(each);
            }
            return all;
          },
          .print =
              [](const std::vector<std::string>& all) {
                return fmt::format("{}", fmt::join(all, ","));
              }};
}

OptionKind<bool> yes_or_no() { return choice_of<bool>({{"yes", true}, {"no", false}}); }

const std::vector<Row>& rows() {
  const auto option = option_section<Options>("", std::identity{});
  static const std::vector<Row> all = {
      option("any_sl", &Options::any_sl, yes_or_no()),
      option("auto_for",
             &Options::auto_for,
             choice_of<TrafficGoal>({{"uniform", TrafficGoal::Uniform},
                                     {"permutations", TrafficGoal::Permutations},
                                     {"both", TrafficGoal::Both}})),
      option("gateways",
             &Options::gateways,
             choice_of<GatewayChoice>({{"own", GatewayChoice::OwnFirst},
                                       {"uniform", GatewayChoice::Uniform},
                                       {"least", GatewayChoice::LeastLoaded}})),
      option("keep", &Options::keep, yes_or_no()),
      option("lane_cut",
             &Options::lane_cut,
             choice_of<VlChangeRule>({{"updown", VlChangeRule::UpDown},
                                      {"dfs", VlChangeRule::DepthFirst},
                                      {"cycles", VlChangeRule::MinimalCycles}})),
      option("no_data", &Options::no_data, adapters()),
      option("orientation",
             &Options::orientation_search,
             choice_of<OrientationSearch>({{"bfs", OrientationSearch::BreadthFirst},
                                           {"dfs", OrientationSearch::DepthFirst}})),
      option("relieve", &Options::rebalance, yes_or_no()),
      option("roots", &Options::roots, guids()),
      option("seed", &Options::seed, number(0, std::numeric_limits<std::uint64_t>::max())),
      option("shorten_detours", &Options::shorten_detours, yes_or_no()),
      option("vls", &Options::vls, number(1, 15)),
      option("weights", &Options::weights, weights()),
  };
  return all;
}

std::string all_keys() {
  std::string names;
  for (const Row& row : rows()) names += (names.empty() ? "" : ", ") + row.key;
  return names;
}

/// What is wrong with the word, and what would be right; empty when it was taken.
std::string take_word(std::string_view word, Options& options) {
  const std::size_t equals = word.find('=');
  const auto row = std::ranges::find(rows(), word.substr(0, equals), &Row::key);
  if (row == rows().end()) return "there is no such option; there are " + all_keys();
  if (equals == std::string_view::npos) return "an option has a value: KEY=VALUE";
  if (!row->apply({std::string(word.substr(equals + 1))}, options)) return "wanted: " + row->range;
  const bool twice =
      std::ranges::adjacent_find(options.weights, {}, &Weight::first) != options.weights.end();
  return twice && row->key == "weights" ? "wanted: one weight for each port" : "";
}

/// OpenSM reads so many bytes of a line of its configuration, and the rest as another line.
constexpr std::size_t kLongestLine = 1022;
constexpr std::string_view kKeyword = "event_plugin_options ";

}  // namespace

Parsed<Options> parse_options(std::string_view text) {
  if (kKeyword.size() + text.size() >= kLongestLine) {
    return tl::unexpected(
        Faults{{.where = std::string(text.substr(0, 20)) + "…",
                .message = fmt::format("OpenSM cuts lines after {} bytes, and this one fills that: "
                                       "wanted: fewer words",
                                       kLongestLine)}});
  }
  Options options;
  Faults faults;
  std::vector<std::string_view> seen;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(kSeparators), text.size()));
    if (text.empty()) break;
    const std::string_view word = text.substr(0, text.find_first_of(kSeparators));
    text.remove_prefix(word.size());
    const std::string_view key = word.substr(0, word.find('='));
    std::string complaint = take_word(word, options);
    if (complaint.empty() && std::ranges::find(seen, key) != seen.end())
      complaint = "it stands there twice";
    seen.push_back(key);
    if (!complaint.empty())
      faults.push_back({.where = std::string(word), .message = std::move(complaint)});
  }
  if (!faults.empty()) return tl::unexpected(std::move(faults));
  return options;
}

std::string print_options(const Options& options) {
  std::string text;
  for (const Row& row : rows()) {
    const auto value = row.print(options);
    if (value != row.print({}))
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", row.key, *value);
  }
  return text;
}

}  // namespace smd::opensm
