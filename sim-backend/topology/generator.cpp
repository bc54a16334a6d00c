#include "sim-backend/topology/generator.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "smd/base/check.h"
#include "smd/base/options.h"
#include "smd/base/text.h"

namespace smd::sim {
namespace {

using option_kinds::parse_digits;
using option_kinds::split;

// Every generator has these two; their defaults stand in its row.
constexpr std::string_view kWidth = "width";
constexpr std::string_view kSpeed = "speed";
constexpr std::string_view kWidths = "1x, 2x, 4x, 8x or 12x";
constexpr std::string_view kSpeeds = "SDR, DDR, QDR, FDR10, FDR, EDR, HDR, NDR or XDR";
constexpr std::size_t kMaxListLength = 16;

/// Puts the value into `arguments`, or returns what would be right.
std::string take(const Key& key, std::string_view value, Arguments& arguments) {
  if (key.kind == KeyKind::Word) {
    const auto choices = split(key.words, '|');
    if (std::ranges::find(choices, value) == choices.end()) {
      return fmt::format("{}={} is unknown: one of {}", key.name, value, key.words);
    }
    arguments.set_word(key.name, std::string(value));
    return {};
  }
  const auto parts = key.kind == KeyKind::List ? split(value, '.') : std::vector{value};
  if (parts.size() > kMaxListLength) {
    return fmt::format("{} has {} numbers: at most {}", key.name, parts.size(), kMaxListLength);
  }
  std::vector<std::uint32_t> numbers;
  for (const std::string_view part : parts) {
    const auto number = parse_digits(part);
    if (!number || *number < key.min || *number > key.max) {
      return fmt::format("{}={} is not possible: {} from {} to {}",
                         key.name,
                         value,
                         key.kind == KeyKind::List ? "numbers joined by dots, each" : "a number",
                         key.min,
                         key.max);
    }
    numbers.push_back(static_cast<std::uint32_t>(*number));
  }
  arguments.set_number(key.name, std::move(numbers));
  return {};
}

std::string take_rate(std::string_view key, std::string_view value, Arguments& arguments) {
  if (key == kWidth) {
    arguments.width = parse_link_width(value);
    if (arguments.width != LinkWidth::None) return {};
    return fmt::format("width={} is unknown: one of {}", value, kWidths);
  }
  arguments.speed = parse_link_speed(value);
  if (arguments.speed != LinkSpeed::None) return {};
  return fmt::format("speed={} is unknown: one of {}", value, kSpeeds);
}

std::string unknown_key(const Generator& generator, std::string_view name) {
  std::vector<std::string_view> names;
  for (const Key& key : generator.keys) names.push_back(key.name);
  names.push_back(kWidth);
  names.push_back(kSpeed);
  return fmt::format("{} has no key \"{}\": did you mean \"{}\"?",
                     generator.name,
                     name,
                     find_nearest(name, names));
}

Arguments defaults(const Generator& generator) {
  Arguments arguments;
  for (const Key& key : generator.keys) {
    const std::string why = take(key, key.fallback, arguments);
    SMD_CHECK(why.empty(), "a generator's default lies outside its own range");
  }
  arguments.width = parse_link_width(generator.width);
  arguments.speed = parse_link_speed(generator.speed);
  return arguments;
}

/// One `key=value`; returns what is wrong with it.
std::string take_pair(const Generator& generator,
                      std::string_view pair,
                      std::vector<std::string_view>& seen,
                      Arguments& arguments) {
  const std::size_t equals = pair.find('=');
  const std::string_view name = pair.substr(0, equals);
  if (name.empty()) return "an empty argument: NAME:key=value,key=value";
  const auto key = std::ranges::find(generator.keys, name, &Key::name);
  const bool is_rate = name == kWidth || name == kSpeed;
  if (key == generator.keys.end() && !is_rate) return unknown_key(generator, name);
  if (equals == std::string_view::npos) return fmt::format("{} needs a value: {}=…", name, name);
  if (std::ranges::find(seen, name) != seen.end()) return fmt::format("{} is given twice", name);
  seen.push_back(name);
  const std::string_view value = pair.substr(equals + 1);
  return is_rate ? take_rate(name, value, arguments) : take(*key, value, arguments);
}

/// Hosts with several adapters: as many more ports of a switch.
void give_adapters(const Generator& generator, Arguments& arguments) {
  arguments.adapters = arguments.number(kAdaptersKey.name);
  if (arguments.adapters == 1 || generator.hosts_key.empty()) return;
  std::vector<std::uint32_t> numbers = arguments.list(generator.hosts_key);
  numbers.front() *= arguments.adapters;  // 65535 · 254 at most
  arguments.set_number(generator.hosts_key, std::move(numbers));
}

std::string range_text(const Key& key) {
  switch (key.kind) {
    case KeyKind::Word:
      return std::string(key.words);
    case KeyKind::List:
      return fmt::format("dot list of {}..{}", key.min, key.max);
    case KeyKind::Number:
      break;
  }
  return fmt::format("{}..{}", key.min, key.max);
}

}  // namespace

void Arguments::set_number(std::string_view key, std::vector<std::uint32_t> numbers) {
  numbers_.insert_or_assign(std::string(key), std::move(numbers));
}

void Arguments::set_word(std::string_view key, std::string word) {
  words_.insert_or_assign(std::string(key), std::move(word));
}

std::uint32_t Arguments::number(std::string_view key) const { return list(key).front(); }

const std::vector<std::uint32_t>& Arguments::list(std::string_view key) const {
  const auto found = numbers_.find(key);
  SMD_CHECK(found != numbers_.end(), "a generator reads a key that its row does not have");
  return found->second;
}

const std::string& Arguments::word(std::string_view key) const {
  const auto found = words_.find(key);
  SMD_CHECK(found != words_.end(), "a generator reads a key that its row does not have");
  return found->second;
}

const Generator* find_generator(std::string_view name) {
  const auto all = generators();
  const auto found = std::ranges::find(all, name, &Generator::name);
  return found == all.end() ? nullptr : &*found;
}

std::string_view nearest_generator(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Generator& generator : generators()) names.push_back(generator.name);
  return find_nearest(name, names);
}

Parsed<Network> generate(std::string_view call) {
  const std::string where(call);
  const std::size_t colon = call.find(':');
  const std::string_view name = call.substr(0, colon);
  const Generator* generator = find_generator(name);
  if (generator == nullptr) {
    return fault(
        where,
        0,
        fmt::format(
            "no generator is called \"{}\": did you mean \"{}\"?", name, nearest_generator(name)));
  }
  Arguments arguments = defaults(*generator);
  Faults faults;
  std::vector<std::string_view> seen;
  if (colon != std::string_view::npos && colon + 1 < call.size()) {
    for (const std::string_view pair : split(call.substr(colon + 1), ',')) {
      std::string why = take_pair(*generator, pair, seen, arguments);
      if (!why.empty()) faults.push_back({where, 0, std::move(why)});
    }
  }
  if (!faults.empty()) return tl::unexpected<Faults>(std::move(faults));
  if (std::ranges::find(generator->keys, kAdaptersKey.name, &Key::name) != generator->keys.end()) {
    give_adapters(*generator, arguments);
  }
  Result<FabricSpec> spec = generator->draw(arguments);
  if (!spec) return fault(where, 0, spec.error().context);
  spec->title = where;
  const bool may_be_beyond =
      std::ranges::find(generator->keys, kBeyondKey.name, &Key::name) != generator->keys.end();
  const bool is_subnet = !may_be_beyond || arguments.number(kBeyondKey.name) == 0;
  if (is_subnet) {
    if (std::string why = check_spec(*spec); !why.empty()) return fault(where, 0, std::move(why));
  }
  return Network{.spec = std::move(*spec), .is_subnet = is_subnet, .notes = {}};
}

std::string list_generators() {
  std::string text;
  for (const Generator& generator : generators()) {
    text += fmt::format("{}: {}\n", generator.name, generator.meaning);
    for (const Key& key : generator.keys) {
      text += fmt::format(
          "  {:<13} {:<12} {} [{}]\n", key.name, key.fallback, key.meaning, range_text(key));
    }
    text +=
        fmt::format("  {:<13} {:<12} lanes of every link [{}]\n", kWidth, generator.width, kWidths);
    text += fmt::format(
        "  {:<13} {:<12} signalling rate of every link [{}]\n\n", kSpeed, generator.speed, kSpeeds);
  }
  return text;
}

}  // namespace smd::sim
