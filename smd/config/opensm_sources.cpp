// How OpenSM reads its configuration file and its command line, and how distributions write down
// which ports it starts on. `opensm -F IN -c OUT` shows OpenSM's own reading: tests compare.
#include <fmt/core.h>

#include <algorithm>

#include "smd/base/fault_list.h"
#include "smd/base/options.h"
#include "smd/base/text.h"
#include "smd/config/opensm_config.h"

namespace smd {

namespace {

constexpr std::string_view kBlank = " \t\r\v\f";

/// OpenSM takes what is beyond for a line of its own.
constexpr std::size_t kLongestLine = 1022;

std::string_view trim_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

/// The place of a control character, or of a byte that is no UTF-8; npos where there is none.
std::size_t find_binary(std::string_view line) {
  for (std::size_t i = 0; i < line.size();) {
    const auto byte = static_cast<unsigned char>(line[i]);
    if (byte < 0x80) {
      if ((byte < 0x20 && kBlank.find(line[i]) == std::string_view::npos) || byte == 0x7f) return i;
      ++i;
      continue;
    }
    const auto character = decode_utf8(line.substr(i));
    if (!character) return i;
    i += character->bytes;
  }
  return std::string_view::npos;
}

/// Named as compilers do, FILE:LINE:COLUMN, so that the message is a FILE:LINE of print_fault().
std::string print_place(const std::string& file, int line) {
  return fmt::format("{}:{}", file, line);
}

std::string_view without_quotes(std::string_view value) {
  if (value.size() < 2 || value.front() != value.back()) return value;
  return value.front() == '"' || value.front() == '\'' ? value.substr(1, value.size() - 2) : value;
}

/// Checks a line and says what keeps it from being read.
bool is_readable(std::string_view line, int number, FaultList& faults) {
  if (const std::size_t at = find_binary(line); at != std::string_view::npos) {
    faults.add(number,
               static_cast<int>(at) + 1,
               fmt::format("byte 0x{:02x} is no text; is this the right file?",
                           static_cast<unsigned char>(line[at])));
    return false;
  }
  return true;
}

struct FlagWord {
  std::string text;
  int column = 0;
};

/// As a shell splits them, without expansions.
Parsed<std::vector<FlagWord>> split_words(std::string_view text, const std::string& where) {
  std::vector<FlagWord> words;
  std::string word;
  int column = 0;  // of `word`; 0 between words
  char quote = 0;
  const auto finish = [&] {
    if (column != 0) words.push_back({std::move(word), column});
    word.clear();
    column = 0;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const int here = static_cast<int>(i) + 1;
    if (quote == 0 && (kBlank.find(c) != std::string_view::npos || c == '\n')) {
      finish();
      continue;
    }
    if (column == 0) column = here;
    if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      word += text[++i];
    } else if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else if (c == '$' && quote != '\'') {
      return fault(where, here, "$ stands for what only a shell knows; write its value");
    } else {
      word += c;
    }
  }
  if (quote != 0) return fault(where, column, fmt::format("a {} without a second one", quote));
  finish();
  return words;
}

const OpensmFlag* find_by_letter(char letter) {
  const auto flags = opensm_flags();
  if (letter == '?') letter = 'h';
  const auto it = std::ranges::find(flags, letter, &OpensmFlag::letter);
  return it == flags.end() ? nullptr : &*it;
}

bool is_begin_of_name(std::string_view text) {
  return std::ranges::any_of(opensm_flags(),
                             [&](const OpensmFlag& flag) { return flag.name.starts_with(text); });
}

/// A name may be cut short as long as one flag alone begins so.
const OpensmFlag* find_by_name(std::string_view name) {
  const OpensmFlag* found = nullptr;
  for (const OpensmFlag& flag : opensm_flags()) {
    if (flag.name == name) return &flag;
    if (!flag.name.starts_with(name)) continue;
    if (found != nullptr) return nullptr;
    found = &flag;
  }
  return found;
}

std::string_view nearest_flag(std::string_view name) {
  std::vector<std::string_view> names;
  for (const OpensmFlag& flag : opensm_flags()) names.push_back(flag.name);
  return find_nearest(name, names);
}

/// Reads the command line of OpenSM as getopt_long_only of the GNU C library does.
class FlagReader {
 public:
  FlagReader(std::vector<FlagWord> words, std::string where)
      : words_(std::move(words)), where_(std::move(where)), faults_(where_) {}

  Parsed<OpensmFlags> read() {
    for (at_ = 0; at_ < words_.size(); ++at_) read_word(words_[at_]);
    if (!faults_.empty()) return tl::unexpected(faults_.take());
    return std::move(out_);
  }

 private:
  /// Behind one dash stands a name, or the beginning of one, where it can; else letters.
  void read_word(const FlagWord& word) {
    const std::string_view text = word.text;
    if (text.starts_with("--") && text.size() > 2) return read_long(word, 2);
    if (!text.starts_with("-") || text.size() == 1) {
      out_.remarks.emplace_back(printable(text), "OpenSM reads over it as well");
      return;
    }
    const bool is_letter = text.size() == 2 && find_by_letter(text[1]) != nullptr;
    const std::string_view name = text.substr(1, text.find('=') - 1);
    if (!is_letter && is_begin_of_name(name)) return read_long(word, 1);
    read_letters(word);
  }

  void read_long(const FlagWord& word, std::size_t dashes) {
    const std::string_view text = std::string_view(word.text).substr(dashes);
    const std::size_t equals = text.find('=');
    const std::string_view name = text.substr(0, equals);
    const OpensmFlag* flag = find_by_name(name);
    if (flag == nullptr && is_begin_of_name(name)) {
      return complain(word.column,
                      fmt::format("several options of OpenSM begin with {}{}",
                                  std::string_view(word.text).substr(0, dashes),
                                  printable(name)));
    }
    if (flag == nullptr) {
      return complain(word.column,
                      fmt::format("OpenSM has no option --{}; the nearest is --{}",
                                  printable(name),
                                  nearest_flag(name)));
    }
    if (!flag->takes_value && equals != std::string_view::npos)
      return complain(word.column, fmt::format("--{} takes no value", flag->name));
    if (!flag->takes_value) return apply(*flag, word, "", word.column);
    if (equals != std::string_view::npos) {
      return apply(*flag,
                   word,
                   std::string(text.substr(equals + 1)),
                   word.column + static_cast<int>(dashes + equals) + 1);
    }
    take_next(*flag, word);
  }

  void read_letters(const FlagWord& word) {
    for (std::size_t i = 1; i < word.text.size(); ++i) {
      const OpensmFlag* flag = find_by_letter(word.text[i]);
      const int column = word.column + static_cast<int>(i);
      if (flag == nullptr) {
        return complain(column,
                        fmt::format("OpenSM has no option -{}",
                                    printable(std::string_view(word.text).substr(i, 1))));
      }
      if (!flag->takes_value) {
        apply(*flag, word, "", column);
        continue;
      }
      const std::string rest = word.text.substr(i + 1);
      if (rest.empty()) return take_next(*flag, word);
      return apply(*flag, word, rest, column + 1);
    }
  }

  void take_next(const OpensmFlag& flag, const FlagWord& word) {
    if (at_ + 1 >= words_.size())
      return complain(word.column, fmt::format("--{} wants a value", flag.name));
    const FlagWord& value = words_[++at_];
    apply(flag, word, value.text, value.column);
  }

  void apply(const OpensmFlag& flag, const FlagWord& word, std::string value, int column) {
    if (flag.name == "config") {
      out_.config_file = std::move(value);
    } else if (flag.name == "debug") {
      apply_debug(word, value, column);
    } else if (flag.name == "verbose") {
      set_log_flags((log_flags_ << 1 | 1) & 0xff, column);
    } else if (flag.name == "D") {
      set("log_flags", value, column);
      if (const auto bits = read_number(value)) log_flags_ = static_cast<unsigned>(*bits & 0xff);
    } else if (flag.name == "V") {
      set_log_flags(0xff, column);
      set("force_log_flush", "TRUE", column);
    } else if (flag.name == "cc_key") {
      set("cc_key", swap_key(value), column);
    } else if (flag.option.empty()) {
      out_.remarks.emplace_back(printable(word.text), std::string(flag.reason));
    } else {
      set(flag.option, flag.takes_value ? std::move(value) : std::string(flag.value), column);
      // strtoull with base 16.
      out_.settings.back().in_hex =
          flag.name == "guid" || flag.name == "smkey" || flag.name == "subnet_prefix";
    }
  }

  void apply_debug(const FlagWord& word, const std::string& value, int column) {
    if (value == "0") return set("ignore_other_sm", "TRUE", column);
    if (value == "1") return set("single_thread", "TRUE", column);
    if (value == "2") return set("force_log_flush", "TRUE", column);
    if (value == "3") return set("disable_multicast", "TRUE", column);
    out_.remarks.emplace_back(printable(word.text + " " + value),
                              "it is none of OpenSM's debug options 0 to 3");
  }

  void set_log_flags(unsigned flags, int column) {
    log_flags_ = flags;
    set("log_flags", fmt::format("0x{:02x}", flags), column);
  }

  static std::optional<std::uint64_t> read_number(const std::string& text) {
    if (const auto hex = option_kinds::parse_hex(text)) return hex;
    return option_kinds::parse_digits(text);
  }

  /// OpenSM takes the key of its command line in the byte order of the host: on the wire, and in
  /// its file, the bytes stand the other way round.
  static std::string swap_key(const std::string& text) {
    const auto key = read_number(text);
    return key ? fmt::format("0x{:016x}", __builtin_bswap64(*key)) : text;
  }

  void set(std::string_view option, std::string value, int column) {
    out_.settings.push_back({std::string(option), std::move(value), where_, column});
  }

  void complain(int column, std::string message) { faults_.add(column, std::move(message)); }

  std::vector<FlagWord> words_;
  std::string where_;
  std::size_t at_ = 0;
  unsigned log_flags_ = 3;
  OpensmFlags out_;
  FaultList faults_;
};

bool is_variable(std::string_view name) {
  return !name.empty() && !(name[0] >= '0' && name[0] <= '9') &&
         std::ranges::all_of(name, [](char c) {
           return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                  c == '_';
         });
}

/// "0x0002…" or the digits alone, as `opensm -g` takes them.
std::optional<Guid> read_guid(std::string_view text) {
  const auto guid = option_kinds::parse_hex(text.starts_with("0x") || text.starts_with("0X")
                                                ? std::string(text)
                                                : "0x" + std::string(text));
  return guid && *guid != 0 ? std::optional(Guid{*guid}) : std::nullopt;
}

/// Reads the start file: assignments of a shell.
class StartReader {
 public:
  StartReader(std::string_view text, const std::string& file)
      : rest_(text), file_(file), faults_(file) {}

  Parsed<OpensmStart> read() {
    while (!rest_.empty()) {
      ++number_;
      const std::string_view line = take_line(rest_);
      if (is_readable(line, number_, faults_)) read_line(line);
    }
    if (!faults_.empty()) return tl::unexpected(faults_.take());
    return std::move(out_);
  }

 private:
  void read_line(std::string_view line) {
    std::string_view text = trim_blanks(line);
    if (text.empty() || text.front() == '#') return;
    if (text.starts_with("export ")) text = trim_blanks(text.substr(7));
    const std::size_t equals = text.find('=');
    const std::string_view name = text.substr(0, equals);
    if (equals == std::string_view::npos || !is_variable(name)) {
      return faults_.add(number_,
                         column_of(line, text),
                         "no assignment as NAME=\"value\", which is all that is read here");
    }
    const std::string place = print_place(file_, number_);
    auto words = split_words(value_of(text.substr(equals + 1)), place);
    if (!words) {
      for (const Fault& each : words.error())
        faults_.add(
            number_, each.line + column_of(line, text) + static_cast<int>(equals), each.message);
      return;
    }
    std::string value;
    for (const FlagWord& word : *words) value += (value.empty() ? "" : " ") + word.text;
    take(std::string(name), value, column_of(line, text), place);
  }

  /// Up to a remark, which begins behind a blank and outside of quotes.
  static std::string_view value_of(std::string_view text) {
    char quote = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (quote != 0) {
        if (c == quote) quote = 0;
      } else if (c == '"' || c == '\'') {
        quote = c;
      } else if (c == '#' && i > 0 && kBlank.find(text[i - 1]) != std::string_view::npos) {
        return text.substr(0, i);
      }
    }
    return text;
  }

  void take(const std::string& name,
            const std::string& value,
            int column,
            const std::string& place) {
    if (name == "PORTS" || name == "GUIDS") return take_ports(name, value, column, place);
    if (name == "PRIORITY" && !value.empty()) {
      out_.settings.push_back({"sm_priority", value, place, column});
    } else if (name == "OPTIONS" || name == "OPENSM_OPTIONS" || name == "OPENSM_OPTS") {
      auto flags = parse_opensm_flags(value, place);
      if (!flags) {
        for (const Fault& each : flags.error()) faults_.add(number_, column, each.message);
        return;
      }
      out_.flags = std::move(*flags);
    } else if (!value.empty()) {
      out_.remarks.emplace_back(
          place,
          fmt::format("{}: {}",
                      printable(name),
                      name == "OSM_HOSTS"
                          ? "not needed because [replica] copies LIDs and the rest "
                            "of the state between managers"
                          : "unknown; read are PORTS, GUIDS, PRIORITY and OPTIONS"));
    }
  }

  void take_ports(const std::string& name,
                  const std::string& value,
                  int column,
                  const std::string& place) {
    out_.all_ports = value == "ALL";
    out_.none = value == "NONE";
    out_.ports.clear();
    out_.ports_where = place;
    if (out_.all_ports || out_.none) return;
    std::string_view rest = value;
    while (!rest.empty()) {
      const std::string_view word = rest.substr(0, rest.find(' '));
      rest.remove_prefix(std::min(rest.size(), word.size() + 1));
      if (word.empty()) continue;
      const auto guid = read_guid(word);
      if (!guid) {
        return faults_.add(number_,
                           column,
                           fmt::format("{} has '{}'; GUIDs of ports as 0x0002c90300000001{}",
                                       name,
                                       printable(word),
                                       name == "PORTS" ? ", ALL or NONE" : ""));
      }
      if (std::ranges::find(out_.ports, *guid) == out_.ports.end()) out_.ports.push_back(*guid);
    }
  }

  std::string_view rest_;
  std::string file_;
  FaultList faults_;
  int number_ = 0;
  OpensmStart out_;
};

}  // namespace

Parsed<std::vector<OpensmSetting>> parse_opensm_conf(std::string_view text,
                                                     const std::string& file) {
  std::vector<OpensmSetting> out;
  FaultList faults(file);
  int number = 0;
  while (!text.empty()) {
    ++number;
    const std::string_view line = take_line(text);
    if (!is_readable(line, number, faults)) continue;
    if (line.size() > kLongestLine) {
      faults.add(
          number,
          static_cast<int>(kLongestLine) + 1,
          fmt::format(
              "the line has {} characters; OpenSM reads {} as a line", line.size(), kLongestLine));
      continue;
    }
    const std::string_view used = trim_blanks(line.substr(0, line.find('#')));
    if (used.empty()) continue;
    const std::string_view name = used.substr(0, used.find_first_of(kBlank));
    const std::string_view value = without_quotes(trim_blanks(used.substr(name.size())));
    OpensmSetting setting{std::string(name), std::nullopt, print_place(file, number)};
    setting.column = value.empty() ? column_of(line, name) : column_of(line, value);
    if (!value.empty() && value != "(null)") setting.value = std::string(value);
    out.push_back(std::move(setting));
  }
  if (!faults.empty()) return tl::unexpected(faults.take());
  return out;
}

Parsed<OpensmFlags> parse_opensm_flags(std::string_view text, const std::string& where) {
  if (const std::size_t at = find_binary(text); at != std::string_view::npos)
    return fault(where, static_cast<int>(at) + 1, "a byte that is no text");
  auto words = split_words(text, where);
  if (!words) return tl::unexpected(words.error());
  return FlagReader(std::move(*words), where).read();
}

Parsed<OpensmStart> parse_opensm_start(std::string_view text, const std::string& file) {
  return StartReader(text, file).read();
}

}  // namespace smd
