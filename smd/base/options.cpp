#include "smd/base/options.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "smd/base/fault_list.h"
#include "smd/base/text.h"

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
// Version 3.3 asserts, and under NDEBUG assumes, what a malformed header such as "[=" breaks,
// though the code after it reports that very fault. Without NDEBUG an assumption is an assertion,
// and this one checks nothing.
#undef NDEBUG
#define TOML_ASSERT(expression) static_assert(true)
#include <toml++/toml.h>

namespace smd {

namespace {

/// Longer values are cut in messages, which are one line each.
constexpr std::size_t kShown = 60;
constexpr std::size_t kShownList = 120;

/// The first `bytes` of `text`, less the character that would be split.
std::string_view cut(std::string_view text, std::size_t bytes) {
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xc0) == 0x80) --bytes;
  return text.substr(0, bytes);
}

struct Printer {
  std::string operator()(bool value) const { return value ? "true" : "false"; }

  std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }

  std::string operator()(double value) const { return fmt::format("{}", value); }

  std::string operator()(const std::string& value) const {
    if (value.size() <= kShown) return quote_toml(value);
    return quote_toml(cut(value, kShown)) + "...";
  }

  std::string operator()(const OptionList& list) const {
    std::string text = "[";
    for (const OptionValue& item : list) {
      if (text.size() > 1) text += ", ";
      text += std::visit(*this, item.value);
      if (text.size() > kShownList) return fmt::format("{}...]", cut(text, kShownList));
    }
    return text + "]";
  }

  std::string operator()(const OptionTable&) const { return "a table"; }

  std::string operator()(std::monostate) const { return "a date or time"; }
};

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

constexpr bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

struct ScanFault {
  int line = 0;
  int column = 0;
  std::string_view message;
};

/// What the library reads, and where its columns are not those of the file.
struct AsciiText {
  std::string ascii;
  std::vector<std::size_t> escapes;  // offsets of those that stand for one character each

  /// Of the file, for one of the library's; both count characters from 1.
  [[nodiscard]] int column_of(int line, int column) const {
    if (escapes.empty()) return column;
    std::size_t from = 0;
    for (int i = 1; i < line && from < ascii.size(); ++i) from = ascii.find('\n', from) + 1;
    const std::size_t to = from + static_cast<std::size_t>(column) - 1;
    const auto before = std::ranges::count_if(
        escapes, [&](std::size_t offset) { return offset >= from && offset < to; });
    return column - static_cast<int>(before) * (kEscape - 1);
  }

  static constexpr int kEscape = 10;  // characters of \U0001F600
};

/// The same document with every character beyond ASCII written as an escape, or as '?' in a
/// comment; lines keep their numbers. Version 3.3 of the library runs into undefined behaviour when
/// it meets such a character outside of a string, which a malformed file can always arrange.
/// Malformed text that is no fault here passes: the library reports it.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {
    if (text_.starts_with(kByteOrderMark)) text_.remove_prefix(kByteOrderMark.size());
  }

  tl::expected<AsciiText, ScanFault> run() {
    while (at_ < text_.size()) {
      const auto wrong = is_ascii(text_[at_]) ? take_ascii() : take_wide();
      if (wrong) return tl::unexpected<ScanFault>({line_, column(), *wrong});
    }
    return std::move(out_);
  }

 private:
  enum class State { Outside, Comment, Basic, Literal };
  using Wrong = std::optional<std::string_view>;

  void copy() { out_.ascii += text_[at_++]; }

  /// Of the character at hand.
  [[nodiscard]] int column() const {
    const std::size_t line_end = text_.rfind('\n', at_ == 0 ? 0 : at_ - 1);
    const std::size_t from = at_ == 0 || line_end == std::string_view::npos ? 0 : line_end + 1;
    return 1 + static_cast<int>(std::ranges::count_if(text_.substr(from, at_ - from), [](char c) {
             return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
           }));
  }

  Wrong take_ascii() {
    const char c = text_[at_];
    if (c == '\n') {
      // A string still open here is malformed, and the library stops at this line.
      state_ = State::Outside;
      ++line_;
    } else if (state_ == State::Outside) {
      const std::string_view here = text_.substr(at_, 3);
      if (here == "\"\"\"" || here == "'''") return "a string of several lines; no option takes it";
      if (c == '#') state_ = State::Comment;
      if (c == '"') state_ = State::Basic;
      if (c == '\'') state_ = State::Literal;
    } else if (state_ == State::Basic && c == '\\') {
      return take_escape();
    } else if ((state_ == State::Basic && c == '"') || (state_ == State::Literal && c == '\'')) {
      state_ = State::Outside;
    }
    copy();
    return std::nullopt;
  }

  Wrong take_escape() {
    copy();
    if (at_ == text_.size() || text_[at_] == '\n') return std::nullopt;
    if (!is_ascii(text_[at_])) return "a backslash before a character beyond ASCII";
    copy();
    return std::nullopt;
  }

  Wrong take_wide() {
    const auto character = decode_utf8(text_.substr(at_));
    if (!character) return "bytes that are no UTF-8";
    if (state_ == State::Comment) {
      out_.ascii += '?';
    } else if (state_ == State::Basic) {
      out_.escapes.push_back(out_.ascii.size());
      out_.ascii += fmt::format("\\U{:08X}", character->code_point);
    } else {
      return "a character beyond ASCII outside of double quotes and comments";
    }
    at_ += character->bytes;
    return std::nullopt;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  State state_ = State::Outside;
  AsciiText out_;
};

int line_of(const toml::source_region& source) { return static_cast<int>(source.begin.line); }

int base_of(toml::value_flags flags) {
  // Bits of the hexadecimal mark are those of the others together.
  const toml::value_flags base = flags & toml::value_flags::format_as_hexadecimal;
  if (base == toml::value_flags::format_as_octal) return 8;
  return base == toml::value_flags::format_as_hexadecimal ? 16 : 10;
}

/// Nobody reads tables within tables beyond this, and dotted keys nest them without bound.
constexpr int kDeepest = 16;

/// The library's tree as options see it.
class TreeReader {
 public:
  explicit TreeReader(const AsciiText& text) : text_(text) {}

  [[nodiscard]] OptionTable table(const toml::table& table, int depth) const {
    OptionTable pairs;
    if (depth > kDeepest) return pairs;
    for (const auto& [key, node] : table) {
      pairs.push_back({.key = std::string(key.str()),
                       .line = line_of(key.source()),
                       .value = value(node, depth),
                       .column = column_of(key.source())});
    }
    return pairs;
  }

 private:
  [[nodiscard]] OptionValue value(const toml::node& node, int depth) const {
    OptionValue out{.value = plain(node, depth),
                    .line = line_of(node.source()),
                    .column = column_of(node.source())};
    if (const auto* number = node.as_integer()) out.base = base_of(number->flags());
    return out;
  }

  [[nodiscard]] decltype(OptionValue::value) plain(const toml::node& node, int depth) const {
    if (const auto* v = node.as_boolean()) return v->get();
    if (const auto* v = node.as_integer()) return v->get();
    if (const auto* v = node.as_floating_point()) return v->get();
    if (const auto* v = node.as_string()) return v->get();
    if (const auto* v = node.as_table()) return table(*v, depth + 1);
    if (const auto* v = node.as_array()) {
      OptionList list;
      for (const toml::node& item : *v) list.push_back(value(item, depth));
      return list;
    }
    return std::monostate{};
  }

  [[nodiscard]] int column_of(const toml::source_region& source) const {
    return text_.column_of(line_of(source), static_cast<int>(source.begin.column));
  }

  const AsciiText& text_;
};

}  // namespace

const OptionValue* find_value(const OptionTable& table, std::string_view key) {
  const auto found = std::ranges::find(table, key, &OptionPair::key);
  return found == table.end() ? nullptr : &found->value;
}

std::string print_value(const OptionValue& value) {
  const auto* number = as<std::int64_t>(value);
  if (number != nullptr && value.base == 8) return fmt::format("0o{:o}", *number);
  if (number != nullptr && value.base == 16) return fmt::format("0x{:x}", *number);
  return std::visit(Printer{}, value.value);
}

std::string quote_toml(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      quoted += fmt::format("\\u{:04X}", static_cast<unsigned>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

Parsed<OptionTable> parse_toml(std::string_view text,
                               const std::string& file,
                               std::string_view program) {
  FaultList faults(file);
  const auto scanned = Scanner(text).run();
  if (!scanned) {
    const auto& [line, column, message] = scanned.error();
    faults.add(line, column, fmt::format("not TOML that {} reads: {}", program, message));
    return tl::unexpected(faults.take());
  }
  const toml::parse_result document = toml::parse(scanned->ascii);
  if (!document) {
    const toml::parse_error& error = document.error();
    const int line = line_of(error.source());
    faults.add(line,
               scanned->column_of(line, static_cast<int>(error.source().begin.column)),
               fmt::format("not TOML: {}", printable(error.description())));
    return tl::unexpected(faults.take());
  }
  return TreeReader(*scanned).table(document.table(), 0);
}

}  // namespace smd

namespace smd::option_kinds {

OptionKind<bool> flag() {
  return {.range = "true or false",
          .parse = [](const OptionValue& value) -> std::optional<bool> {
            const auto* given = as<bool>(value);
            return given == nullptr ? std::nullopt : std::optional(*given);
          },
          .print = [](bool value) { return value ? "true" : "false"; }};
}

std::string list_alternatives(const std::vector<std::string_view>& names, std::string_view quote) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text.append(quote).append(names[i]).append(quote);
  }
  return text;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<std::uint64_t> parse_digits(std::string_view digits, int base) {
  std::uint64_t number = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number, base);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

std::optional<std::uint64_t> parse_hex(std::string_view text) {
  if (!text.starts_with("0x") && !text.starts_with("0X")) return std::nullopt;
  return parse_digits(text.substr(2), 16);
}

}  // namespace smd::option_kinds
