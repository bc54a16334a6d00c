// Characters, values and words of a configuration, and the files that the table of options writes.
#include "smd/config/config_text.h"

#include <fmt/core.h>

#include <charconv>
#include <cstdint>
#include <string_view>

#include "smd/base/printable.h"
#include "smd/config/options.h"

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

  std::string operator()(const ConfigList& list) const {
    std::string text = "[";
    for (const ConfigValue& item : list) {
      if (text.size() > 1) text += ", ";
      text += print_config_value(item);
      if (text.size() > kShownList) return fmt::format("{}...]", cut(text, kShownList));
    }
    return text + "]";
  }

  std::string operator()(const ConfigOther& other) const { return other.text; }
};

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

constexpr bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  tl::expected<std::string, ScanFault> run() {
    while (at_ < text_.size()) {
      const auto wrong = is_ascii(text_[at_]) ? take_ascii() : take_wide();
      if (wrong) return tl::unexpected<ScanFault>({line_, *wrong});
    }
    return std::move(ascii_);
  }

 private:
  enum class State { Outside, Comment, Basic, Literal };
  using Wrong = std::optional<std::string_view>;

  void copy() { ascii_ += text_[at_++]; }

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
      ascii_ += '?';
    } else if (state_ == State::Basic) {
      ascii_ += fmt::format("\\U{:08X}", character->code_point);
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
  std::string ascii_;
};

constexpr std::size_t kCommentColumns = 100;

/// "# " lines of at most kCommentColumns.
std::string wrap_comment(std::string_view text) {
  std::string lines;
  std::string line = "#";
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (line.size() + 1 + word.size() > kCommentColumns) {
      lines += line + "\n";
      line = "#";
    }
    line += fmt::format(" {}", word);
  }
  return lines + line + "\n";
}

/// Of the defaults; "not set" where there is none.
std::string print_default(const ConfigOption& option) {
  return option.print(Config{}).value_or("not set");
}

std::string print_facts(const ConfigOption& option) {
  std::string facts = option.meaning.empty() ? "" : fmt::format("{}. ", option.meaning);
  if (!option.unit.empty()) facts += fmt::format("Unit: {}. ", option.unit);
  facts += fmt::format("Default: {}. Range: {}.", print_default(option), option.range);
  if (option.needs_restart) facts += " A new value needs a restart.";
  return facts;
}

/// Runs `visit(option, is_first_of_its_section)` over the table.
template <class Visit>
void for_each_option(Visit visit) {
  std::string_view section;
  for (const ConfigOption& option : config_options()) {
    visit(option, option.section != section);
    section = option.section;
  }
}

}  // namespace

std::string print_config_value(const ConfigValue& value) {
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

tl::expected<std::string, ScanFault> to_ascii_toml(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return Scanner(text).run();
}

std::string print_config(const Config& config) {
  std::string text;
  for_each_option([&](const ConfigOption& option, bool first) {
    if (first) text += fmt::format("{}[{}]\n", text.empty() ? "" : "\n", option.section);
    if (const auto value = option.print(config)) {
      text += fmt::format("{} = {}\n", option.key, *value);
    }
  });
  return text;
}

std::string print_default_config() {
  std::string text =
      "# Configuration of smd. Every option is shown at its default; remove the leading # to set\n"
      "# one. `smd check-config -c FILE` says whether a file is right, and SIGHUP makes a running\n"
      "# daemon read it again.\n";
  for_each_option([&](const ConfigOption& option, bool first) {
    if (first) {
      text += fmt::format("\n# {}\n[{}]\n", config_section_meaning(option.section), option.section);
    }
    const std::string value = option.print(Config{}).value_or(option.example);
    text += fmt::format("\n{}#{} = {}\n", wrap_comment(print_facts(option)), option.key, value);
  });
  return text;
}

std::string print_config_reference() {
  std::string text;
  for_each_option([&](const ConfigOption& option, bool first) {
    if (first) {
      text += fmt::format(
          "\n## [{}]\n\n{}\n\n"
          "| key | meaning | unit | default | range | restart |\n|---|---|---|---|---|---|\n",
          option.section,
          config_section_meaning(option.section));
    }
    text += fmt::format("| `{}` | {} | {} | `{}` | {} | {} |\n",
                        option.key,
                        option.meaning,
                        option.unit,
                        print_default(option),
                        option.range,
                        option.needs_restart ? "yes" : "");
  });
  return text;
}

std::vector<ConfigChange> diff_config(const Config& before, const Config& after) {
  std::vector<ConfigChange> changes;
  for (const ConfigOption& option : config_options()) {
    if (option.print(before) == option.print(after)) continue;
    changes.push_back({option.name(), option.needs_restart});
  }
  return changes;
}

}  // namespace smd

namespace smd::config_words {

std::string_view trim(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> words;
  for (;;) {
    const std::size_t end = text.find(separator);
    words.push_back(trim(text.substr(0, end)));
    if (end == std::string_view::npos) return words;
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

std::optional<unsigned> parse_number(std::string_view text, unsigned max) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const auto number = hex ? parse_digits(text.substr(2), 16) : parse_digits(text, 10);
  if (!number || *number > max) return std::nullopt;
  return static_cast<unsigned>(*number);
}

std::optional<Guid> parse_guid(std::string_view text) {
  if (!text.starts_with("0x")) return std::nullopt;
  const auto bits = parse_digits(text.substr(2), 16);
  return bits && *bits != 0 ? std::optional(Guid{*bits}) : std::nullopt;
}

std::optional<std::uint64_t> as_number(const ConfigValue& value) {
  const auto* number = std::get_if<std::int64_t>(&value.value);
  if (number == nullptr || *number < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*number);
}

std::optional<std::uint64_t> as_hex64(const ConfigValue& value) {
  const auto* text = std::get_if<std::string>(&value.value);
  if (text == nullptr) return as_number(value);
  if (!text->starts_with("0x") && !text->starts_with("0X")) return std::nullopt;
  return parse_digits(std::string_view(*text).substr(2), 16);
}

std::optional<std::vector<std::string>> as_list(const ConfigValue& value) {
  const auto* list = std::get_if<ConfigList>(&value.value);
  if (list == nullptr) return std::nullopt;
  return parse_each<std::string>(*list, [](const ConfigValue& item) {
    const auto* text = std::get_if<std::string>(&item.value);
    return text == nullptr ? std::nullopt : std::optional(*text);
  });
}

std::optional<std::vector<std::string>> as_texts(const ConfigValue& value) {
  if (const auto* text = std::get_if<std::string>(&value.value)) return std::vector{*text};
  return as_list(value);
}

std::optional<std::vector<std::string>> as_words(const ConfigValue& value) {
  const auto* text = std::get_if<std::string>(&value.value);
  if (text == nullptr) return as_list(value);
  const std::vector<std::string_view> words = split(*text, ',');
  return std::vector<std::string>(words.begin(), words.end());
}

std::string print_texts(const std::vector<std::string>& texts) {
  std::string line;
  for (const std::string& each : texts)
    line += fmt::format("{}{}", line.empty() ? "" : ", ", quote_toml(each));
  return fmt::format("[{}]", line);
}

}  // namespace smd::config_words
