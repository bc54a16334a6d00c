// Tables of options. A row states a key, the field that it sets, the values that it takes and what
// it means; reading, printing, messages and documentation follow from it. Values come from TOML
// files or command lines; nothing else sees the TOML library, which costs seconds to compile.
//
//   const auto sm = option_section<Config>("sm", &Config::sm);
//   sm("lmc", &SmConfig::lmc, number(0, 7)).means("Ports get 2^lmc LIDs")
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "smd/base/result.h"

namespace smd {

struct OptionValue;
struct OptionPair;

using OptionList = std::vector<OptionValue>;
using OptionTable = std::vector<OptionPair>;  // by key

struct OptionValue {
  /// Dates and times, which no option takes, are the last.
  std::variant<bool, std::int64_t, double, std::string, OptionList, OptionTable, std::monostate>
      value;
  int line = 0;    // where it stands in its file; 0 outside of files
  int base = 10;   // in which the file has a number: 8, 10 or 16
  int column = 0;  // in characters from 1; 0 where it has none
};

struct OptionPair {
  std::string key;
  int line = 0;  // of the key
  OptionValue value;
  int column = 0;  // of the key
};

/// Nothing when the value is of another type.
template <class T>
[[nodiscard]] const T* as(const OptionValue& value) {
  return std::get_if<T>(&value.value);
}

/// Null when the table has no such key.
[[nodiscard]] const OptionValue* find_value(const OptionTable& table, std::string_view key);

/// As the file would write it, for messages: strings quoted and escaped, long ones cut.
[[nodiscard]] std::string print_value(const OptionValue& value);

/// TOML basic string, quotes included.
[[nodiscard]] std::string quote_toml(std::string_view text);

/// The document, or the first fault of its syntax; `program` is who reads. At fault are also
/// characters beyond ASCII outside of double quotes and comments, bytes that are no UTF-8, and
/// strings of several lines, which no option takes.
[[nodiscard]] Parsed<OptionTable> parse_toml(std::string_view text,
                                             const std::string& file,
                                             std::string_view program);

/// The values that an option takes: text and check of a range come from the same numbers.
template <class T>
struct OptionKind {
  std::string range;  // "a number from 0 to 7": what would be right

  /// Nothing for what is not in range.
  std::function<std::optional<T>(const OptionValue&)> parse;

  /// Nothing for what is not set. Absent in tables that are only read.
  std::function<std::optional<std::string>(const T&)> print;

  std::string_view unit = "";  // "" when it has none
  std::string example = "";    // a value to show where the default is "not set"
};

template <class Target>
struct Option {
  std::string_view section;  // "" in a table without sections
  std::string key;
  std::string_view meaning;    // one sentence without the full stop
  bool needs_restart = false;  // a running daemon cannot adopt a new value
  std::string_view unit;       // as of the kind, likewise the next two
  std::string range;
  std::string example;

  /// Writes the value into the target; false, and nothing written, when it is not in range.
  std::function<bool(const OptionValue&, Target&)> apply;

  /// Nothing when it is not set.
  std::function<std::optional<std::string>(const Target&)> print;

  [[nodiscard]] std::string name() const {
    return section.empty() ? key : std::string(section) + "." + key;
  }

  [[nodiscard]] Option means(std::string_view text) && {
    meaning = text;
    return std::move(*this);
  }

  [[nodiscard]] Option restart() && {
    needs_restart = true;
    return std::move(*this);
  }
};

// A field may be of another type than the values of its kind: a number becomes an enum, a strong id
// or a duration, and any value one that may be absent.

template <class T>
concept IsAbsentable =
    requires { typename T::value_type; } && std::same_as<T, std::optional<typename T::value_type>>;

template <class Field, class T>
[[nodiscard]] Field to_field(T value) {
  if constexpr (std::same_as<Field, T>) {
    return value;
  } else if constexpr (IsAbsentable<Field>) {
    return to_field<typename Field::value_type>(std::move(value));
  } else if constexpr (requires { Field{}.value(); }) {
    return Field{static_cast<typename Field::rep>(value)};
  } else {
    return static_cast<Field>(value);
  }
}

/// Nothing for a field that is absent.
template <class T, class Field>
[[nodiscard]] std::optional<T> from_field(const Field& field) {
  if constexpr (std::same_as<Field, T>) {
    return field;
  } else if constexpr (IsAbsentable<Field>) {
    return field ? from_field<T>(*field) : std::nullopt;
  } else if constexpr (requires { field.value(); }) {
    return static_cast<T>(field.value());
  } else if constexpr (requires { field.count(); }) {
    return static_cast<T>(field.count());
  } else {
    return static_cast<T>(field);
  }
}

/// Rows of a section whose fields are in one struct: `Where` leads from the target to it, as a
/// pointer to a member does, or a function of a reference that may be const.
template <class Target, class Where>
class OptionSection {
 public:
  OptionSection(std::string_view name, Where where, bool needs_restart)
      : name_(name), where_(where), needs_restart_(needs_restart) {}

  template <class Field, class Struct, class T>
  [[nodiscard]] Option<Target> operator()(std::string_view key,
                                          Field Struct::*field,
                                          OptionKind<T> kind) const {
    const auto at = [where = where_, field](auto& target) -> auto& {
      return std::invoke(where, target).*field;
    };
    return {.section = name_,
            .key = std::string(key),
            .needs_restart = needs_restart_,
            .unit = kind.unit,
            .range = std::move(kind.range),
            .example = std::move(kind.example),
            .apply =
                [at, parse = std::move(kind.parse)](const OptionValue& value, Target& target) {
                  std::optional<T> parsed = parse(value);
                  if (parsed) at(target) = to_field<Field>(std::move(*parsed));
                  return parsed.has_value();
                },
            .print = [at, print = std::move(kind.print)](
                         const Target& target) -> std::optional<std::string> {
              const std::optional<T> value = from_field<T>(at(target));
              return value ? print(*value) : std::nullopt;
            }};
  }

 private:
  std::string_view name_;
  Where where_;
  bool needs_restart_;
};

template <class Target, class Where>
[[nodiscard]] OptionSection<Target, Where> option_section(std::string_view name,
                                                          Where where,
                                                          bool needs_restart = false) {
  return {name, where, needs_restart};
}

}  // namespace smd

namespace smd::option_kinds {

// Kinds and words that tables share; what one table alone words stands beside that table.

/// A TOML boolean.
[[nodiscard]] OptionKind<bool> flag();

template <class T>
struct Named {
  std::string_view name;
  T value;
};

/// "a, b or c", each in `quote`.
[[nodiscard]] std::string list_alternatives(const std::vector<std::string_view>& names,
                                            std::string_view quote);

/// A text that is one of the names; printed without quotes.
template <class T>
[[nodiscard]] OptionKind<T> choice_of(std::vector<Named<T>> choices, std::string_view quote = "") {
  std::vector<std::string_view> names;
  for (const Named<T>& choice : choices) names.push_back(choice.name);
  return {.range = list_alternatives(names, quote),
          .parse = [choices](const OptionValue& value) -> std::optional<T> {
            const auto* text = as<std::string>(value);
            for (const auto& [name, chosen] : choices) {
              if (text != nullptr && *text == name) return chosen;
            }
            return std::nullopt;
          },
          .print = [choices](const T& value) -> std::optional<std::string> {
            for (const auto& [name, chosen] : choices) {
              if (chosen == value) return std::string(name);
            }
            return std::nullopt;
          }};
}

/// The parts of `text` between separators; one where there is none.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

/// All of `digits`, or nothing.
[[nodiscard]] std::optional<std::uint64_t> parse_digits(std::string_view digits, int base = 10);

/// "0x…" or "0X…", at most 64 bits.
[[nodiscard]] std::optional<std::uint64_t> parse_hex(std::string_view text);

/// Every item by `parse`; nothing when one of them is wrong.
template <class T, class Items, class Parse>
[[nodiscard]] std::optional<std::vector<T>> parse_each(const Items& items, Parse parse) {
  std::vector<T> out;
  for (const auto& item : items) {
    const std::optional<T> parsed = parse(item);
    if (!parsed) return std::nullopt;
    out.push_back(*parsed);
  }
  return out;
}

}  // namespace smd::option_kinds
