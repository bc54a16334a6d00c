// One row per generator: its keys, their defaults and ranges, and the function that draws it. The
// listing, the checking of arguments and the advice on a mistyped key all read the same rows.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim-backend/topology/network.h"

namespace smd::sim {

enum class KeyKind : std::uint8_t { Number, List, Word };

struct Key {
  std::string_view name;
  KeyKind kind;
  std::string_view fallback;  // what counts when the key is not given
  std::uint32_t min = 0;      // of a number, or of each number of a list
  std::uint32_t max = 0;      // of the same
  std::string_view words;     // the choices of a Word, separated by '|'
  std::string_view meaning;

  [[nodiscard]] constexpr Key means(std::string_view text) const {
    Key key = *this;
    key.meaning = text;
    return key;
  }
};

[[nodiscard]] constexpr Key number_key(std::string_view name,
                                       std::string_view fallback,
                                       std::uint32_t min,
                                       std::uint32_t max) {
  return {.name = name, .kind = KeyKind::Number, .fallback = fallback, .min = min, .max = max};
}

/// Numbers joined by dots.
[[nodiscard]] constexpr Key list_key(std::string_view name,
                                     std::string_view fallback,
                                     std::uint32_t min,
                                     std::uint32_t max) {
  return {.name = name, .kind = KeyKind::List, .fallback = fallback, .min = min, .max = max};
}

[[nodiscard]] constexpr Key word_key(std::string_view name,
                                     std::string_view fallback,
                                     std::string_view words) {
  return {.name = name, .kind = KeyKind::Word, .fallback = fallback, .words = words};
}

/// The values of one call, checked against the keys: every key has one.
class Arguments {
 public:
  void set_number(std::string_view key, std::vector<std::uint32_t> numbers);
  void set_word(std::string_view key, std::string word);

  /// Requires: the generator's row has this key.
  [[nodiscard]] std::uint32_t number(std::string_view key) const;
  [[nodiscard]] const std::vector<std::uint32_t>& list(std::string_view key) const;
  [[nodiscard]] const std::string& word(std::string_view key) const;

  LinkWidth width = LinkWidth::X4;
  LinkSpeed speed = LinkSpeed::Edr;
  std::uint32_t adapters = 1;  // of each host that is drawn

 private:
  std::map<std::string, std::vector<std::uint32_t>, std::less<>> numbers_;
  std::map<std::string, std::string, std::less<>> words_;
};

struct Generator {
  std::string_view name;
  std::string_view meaning;
  std::span<const Key> keys;
  Result<FabricSpec> (*draw)(const Arguments&);
  /// The key whose first number is the hosts of a switch: `draw` reads it as adapters, `adapters`
  /// times as many. Empty: `adapters` is no key of this generator, or it does that itself.
  std::string_view hosts_key = {};
  std::string_view width = "4x";  // defaults of the keys that all generators have
  std::string_view speed = "EDR";
};

/// In the order of the listing.
[[nodiscard]] std::span<const Generator> generators();

/// Null when there is none of that name.
[[nodiscard]] const Generator* find_generator(std::string_view name);

/// The generator's name nearest to a mistyped one.
[[nodiscard]] std::string_view nearest_generator(std::string_view name);

/// Of generators that draw networks beyond a subnet.
inline constexpr Key kBeyondKey =
    number_key("beyond", "0", 0, 1)
        .means("1: no subnet, of any size; for smsim run with routes.rule alone");

/// Of generators that hang hosts on one switch each.
inline constexpr Key kAdaptersKey =
    number_key("adapters", "1", 1, 254)
        .means("adapters of a host, of one port each, on the next ports of its switch");

/// `NAME` or `NAME:key=value,…`. Every fault of the call is reported, not just the first.
[[nodiscard]] Parsed<Network> generate(std::string_view call);

}  // namespace smd::sim
