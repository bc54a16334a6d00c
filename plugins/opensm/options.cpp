#include "plugins/opensm/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

namespace smd::opensm {
namespace {

constexpr std::string_view kSeparators = " \t\r\n;";

/// Empty when the value was taken, else what would be right.
using Complaint = std::string;

template <class Number>
std::optional<Number> parse_number(std::string_view text, int base = 10) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<Guid> parse_guid(std::string_view text) {
  if (!text.starts_with("0x") && !text.starts_with("0X")) return std::nullopt;
  const auto number = parse_number<std::uint64_t>(text.substr(2), 16);
  if (!number || *number == 0) return std::nullopt;
  return Guid{*number};
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

Complaint take_roots(std::string_view value, Options& options) {
  options.roots.clear();
  for (const std::string_view part : split(value, ',')) {
    const auto guid = parse_guid(part);
    if (!guid) return "GUIDs of switches, as roots=0x0002c90300000001,0x0002c90300000002";
    options.roots.push_back(*guid);
  }
  return {};
}

Complaint take_weights(std::string_view value, Options& options) {
  constexpr auto kRight = "GUIDs of ports with their weights, as weights=0x0002c90300000001:4";
  options.weights.clear();
  for (const std::string_view part : split(value, ',')) {
    const std::size_t colon = std::min(part.find(':'), part.size());
    const auto guid = parse_guid(part.substr(0, colon));
    const auto weight = parse_number<std::uint32_t>(part.substr(std::min(colon + 1, part.size())));
    if (!guid || !weight) return kRight;
    options.weights.emplace_back(*guid, *weight);
  }
  std::ranges::sort(options.weights);
  const auto same_port = [](const auto& a, const auto& b) { return a.first == b.first; };
  if (std::ranges::adjacent_find(options.weights, same_port) != options.weights.end())
    return "one weight for each port";
  return {};
}

Complaint take_vls(std::string_view value, Options& options) {
  const auto number = parse_number<unsigned>(value);
  if (!number || *number < 1 || *number > 15) return "a number from 1 to 15";
  options.vls = *number;
  return {};
}

Complaint take_seed(std::string_view value, Options& options) {
  const auto number = parse_number<std::uint64_t>(value);
  if (!number) return "a number of at most 64 bits";
  options.seed = *number;
  return {};
}

Complaint take_orientation(std::string_view value, Options& options) {
  if (value != "bfs" && value != "dfs") return "bfs or dfs";
  options.orientation_search =
      value == "bfs" ? OrientationSearch::BreadthFirst : OrientationSearch::DepthFirst;
  return {};
}

Complaint take_lane_cut(std::string_view value, Options& options) {
  if (value == "updown") {
    options.lane_cut = LaneCut::UpDown;
  } else if (value == "dfs") {
    options.lane_cut = LaneCut::DepthFirst;
  } else if (value == "cycles") {
    options.lane_cut = LaneCut::MinimalCycles;
  } else {
    return "updown, dfs or cycles";
  }
  return {};
}

Complaint take_gateways(std::string_view value, Options& options) {
  if (value == "own") {
    options.gateways = GatewayChoice::OwnFirst;
  } else if (value == "uniform") {
    options.gateways = GatewayChoice::Uniform;
  } else if (value == "least") {
    options.gateways = GatewayChoice::LeastLoaded;
  } else {
    return "own, uniform or least";
  }
  return {};
}

template <bool Options::*kField>
Complaint take_flag(std::string_view value, Options& options) {
  if (value != "yes" && value != "no") return "yes or no";
  options.*kField = value == "yes";
  return {};
}

struct Key {
  std::string_view name;
  Complaint (*take)(std::string_view, Options&);
};

constexpr Key kKeys[] = {{"any_sl", take_flag<&Options::any_sl>},
                         {"gateways", take_gateways},
                         {"keep", take_flag<&Options::keep>},
                         {"lane_cut", take_lane_cut},
                         {"orientation", take_orientation},
                         {"relieve", take_flag<&Options::relieve>},
                         {"roots", take_roots},
                         {"seed", take_seed},
                         {"shorten_detours", take_flag<&Options::shorten_detours>},
                         {"vls", take_vls},
                         {"weights", take_weights}};

std::string all_keys() {
  std::string names;
  for (const Key& key : kKeys) names += (names.empty() ? "" : ", ") + std::string(key.name);
  return names;
}

Complaint take_word(std::string_view word, Options& options) {
  const std::size_t equals = word.find('=');
  const auto* const key = std::ranges::find(kKeys, word.substr(0, equals), &Key::name);
  if (key == std::end(kKeys)) return "there is no such option; there are " + all_keys();
  if (equals == std::string_view::npos) return "an option has a value: KEY=VALUE";
  const Complaint right = key->take(word.substr(equals + 1), options);
  return right.empty() ? right : "wanted: " + right;
}

}  // namespace

Parsed<Options> parse_options(std::string_view text) {
  Options options;
  Faults faults;
  std::vector<std::string_view> seen;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(kSeparators), text.size()));
    if (text.empty()) break;
    const std::string_view word = text.substr(0, text.find_first_of(kSeparators));
    text.remove_prefix(word.size());
    const std::string_view key = word.substr(0, word.find('='));
    Complaint complaint = take_word(word, options);
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
  const Options defaults;
  std::string text;
  const auto add = [&](std::string word) { text += (text.empty() ? "" : " ") + word; };
  if (options.any_sl) add("any_sl=yes");
  if (options.gateways == GatewayChoice::Uniform) add("gateways=uniform");
  if (options.gateways == GatewayChoice::LeastLoaded) add("gateways=least");
  if (!options.keep) add("keep=no");
  if (options.lane_cut == LaneCut::DepthFirst) add("lane_cut=dfs");
  if (options.lane_cut == LaneCut::MinimalCycles) add("lane_cut=cycles");
  if (options.orientation_search == OrientationSearch::DepthFirst) add("orientation=dfs");
  if (options.relieve) add("relieve=yes");
  if (!options.roots.empty()) add(fmt::format("roots={}", fmt::join(options.roots, ",")));
  if (options.seed != defaults.seed) add(fmt::format("seed={}", options.seed));
  if (options.shorten_detours) add("shorten_detours=yes");
  if (options.vls != 0) add(fmt::format("vls={}", options.vls));
  if (!options.weights.empty()) {
    std::string list;
    for (const auto& [guid, weight] : options.weights)
      list += fmt::format("{}{}:{}", list.empty() ? "" : ",", guid, weight);
    add("weights=" + list);
  }
  return text;
}

}  // namespace smd::opensm
