#include "smd/config/config.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <set>

#include "smd/base/fault_list.h"
#include "smd/base/printable.h"
#include "smd/base/read_file.h"
#include "smd/config/config_text.h"
#include "smd/config/options.h"
#include "smd/policy/partition_file.h"

// The only file that sees the TOML library: it costs seconds to compile.
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

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

bool parse_guid(std::string_view word, Guid& guid) {
  if (!word.starts_with("0x") && !word.starts_with("0X")) return false;
  word.remove_prefix(2);
  std::uint64_t bits = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), bits, 16);
  if (error != std::errc{} || end != word.data() + word.size() || bits == 0) return false;
  guid = Guid{bits};
  return true;
}

constexpr std::size_t kMostConfigFaults = 100;

int line_of(const toml::source_region& source) { return static_cast<int>(source.begin.line); }

ConfigValue to_value(const toml::node& node) {
  if (const auto* v = node.as_boolean()) return {v->get()};
  if (const auto* v = node.as_integer()) return {v->get()};
  if (const auto* v = node.as_floating_point()) return {v->get()};
  if (const auto* v = node.as_string()) return {v->get()};
  if (const auto* v = node.as_array()) {
    ConfigList list;
    for (const toml::node& item : *v) list.push_back(to_value(item));
    return {std::move(list)};
  }
  return {ConfigOther{node.is_table() ? "a table" : "a date or time"}};
}

/// A number in the base in which the file has it.
std::string print_given(const toml::node& node, const ConfigValue& value) {
  const auto* number = node.as_integer();
  if (number == nullptr) return print_config_value(value);
  // Bits of the hexadecimal mark are those of the others together.
  const toml::value_flags base = number->flags() & toml::value_flags::format_as_hexadecimal;
  if (base == toml::value_flags::format_as_octal) return fmt::format("0o{:o}", number->get());
  if (base == toml::value_flags::format_as_hexadecimal) return fmt::format("0x{:x}", number->get());
  return print_config_value(value);
}

/// Keys as messages show them: whatever is in the file, on one line.
std::string print_key(std::string_view key) {
  const bool bare = !key.empty() && std::ranges::all_of(key, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
  return bare && key.size() <= 60 ? std::string(key) : print_config_value({std::string(key)});
}

const ConfigOption* find_option(std::string_view section, std::string_view key) {
  const auto options = config_options();
  const auto it = std::ranges::find_if(options, [&](const ConfigOption& option) {
    return option.section == section && option.key == key;
  });
  return it == options.end() ? nullptr : &*it;
}

bool is_section(std::string_view name) {
  return std::ranges::any_of(config_options(),
                             [&](const ConfigOption& option) { return option.section == name; });
}

/// Applies a document to a config of its own and collects every fault on the way.
class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  Parsed<Config> read(const toml::table& document) {
    for (const auto& [key, node] : document) read_section(key, node);
    check_rules();
    if (faults_.empty()) return config_;
    // The library orders keys by name; people read files from the top.
    std::ranges::stable_sort(faults_, {}, &Pending::line);
    FaultList first(file_, kMostConfigFaults);
    for (const Pending& each : faults_) first.add_lazily(each.line, each.message);
    return tl::unexpected<Faults>(first.take());
  }

 private:
  /// Put into words only where it is among the first: finding what a name was meant to be takes a
  /// while, and a daemon reads its file again on the loop. The document outlives it.
  struct Pending {
    int line = 0;
    std::function<std::string()> message;
  };

  void read_section(const toml::key& key, const toml::node& node) {
    const std::string_view name = key.str();
    const int line = line_of(key.source());
    const toml::table* section = node.as_table();
    if (is_section(name)) {
      if (section == nullptr) {
        return complain(line, fmt::format("{} is no section; write [{}]", name, name));
      }
      for (const auto& [option, value] : *section) read_option(name, option, value);
      return;
    }
    if (section == nullptr) {
      return complain_lazily(line, [name] {
        return fmt::format("{} stands outside of every section; the nearest known key is {}",
                           print_key(name),
                           find_nearest_option("", name));
      });
    }
    complain_lazily(line, [name] {
      return fmt::format("unknown section [{}]; the nearest known one is [{}]",
                         print_key(name),
                         find_nearest_section(name));
    });
  }

  void read_option(std::string_view section, const toml::key& key, const toml::node& node) {
    const int line = line_of(key.source());
    const ConfigOption* option = find_option(section, key.str());
    if (option == nullptr) {
      return complain_lazily(line, [section, name = key.str()] {
        return fmt::format("unknown key {}.{}; the nearest known one is {}",
                           section,
                           print_key(name),
                           find_nearest_option(section, name));
      });
    }
    const ConfigValue value = to_value(node);
    lines_[option->name()] = line;
    if (option->apply(value, config_)) return;
    faulty_.insert(option->name());
    complain(line,
             fmt::format("{} is {}; {}", option->name(), print_given(node, value), option->range));
  }

  /// A rule is reported where the file sets its first option, else where it sets the other. It
  /// says nothing about options that are at fault themselves.
  void check_rules() {
    for (const ConfigRule& rule : config_rules()) {
      const bool judged = std::ranges::none_of(rule.options, [this](std::string_view name) {
        return faulty_.contains(std::string(name));
      });
      if (!judged) continue;
      const auto broken = rule.broken(config_);
      if (!broken) continue;
      int line = 0;
      for (const std::string_view name : rule.options) {
        const auto it = lines_.find(std::string(name));
        if (line == 0 && it != lines_.end()) line = it->second;
      }
      complain(line, *broken);
    }
  }

  void complain(int line, std::string message) {
    complain_lazily(line, [message = std::move(message)] { return message; });
  }

  void complain_lazily(int line, std::function<std::string()> message) {
    faults_.push_back({line, std::move(message)});
  }

  std::string file_;
  Config config_;
  std::vector<Pending> faults_;
  std::map<std::string, int> lines_;  // where the file sets an option
  std::set<std::string> faulty_;
};

Parsed<std::string> read_settings(const std::string& path) {
  auto text = read_file(path, kLargestSettings);
  if (!text) return fault(path, 0, text.error().context);
  return std::move(*text);
}

Faults read_roots(Config& config) {
  const std::string& file = config.sm.roots_file;
  if (file.empty()) return {};
  const auto list = read_settings(file);
  if (!list) return list.error();
  const auto roots = parse_root_file(*list, file);
  if (!roots) return roots.error();
  config.sm.roots.insert(config.sm.roots.end(), roots->begin(), roots->end());
  return {};
}

Faults read_partitions(Config& config) {
  const std::string& file = config.partitions.file;
  if (file.empty()) return {};
  const auto text = read_settings(file);
  if (!text) return text.error();
  auto reading = parse_partition_file(*text, file);
  if (!reading) return reading.error();
  config.partitions.rules = std::move(reading->rules);
  config.partitions.remarks = std::move(reading->remarks);
  return {};
}

Faults read_qos(Config& config) {
  const std::string& file = config.qos.policy_file;
  if (file.empty()) return {};
  const auto text = read_settings(file);
  if (!text) return text.error();
  auto reading = parse_qos_file(*text, file);
  if (!reading) return reading.error();
  config.qos.rules = std::move(reading->rules);
  config.qos.remarks = std::move(reading->remarks);
  return {};
}

}  // namespace

Parsed<std::vector<Guid>> parse_root_file(std::string_view text, const std::string& file) {
  std::vector<Guid> roots;
  FaultList faults(file);
  int line = 0;
  while (!text.empty()) {
    ++line;
    const std::size_t end = text.find('\n');
    const std::string_view whole = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const std::string_view word = trim(whole.substr(0, whole.find('#')));
    if (word.empty()) continue;
    Guid guid;
    if (parse_guid(word, guid)) {
      roots.push_back(guid);
    } else {
      faults.add(line, "no GUID of a switch, such as 0x0002c90300000001");
    }
  }
  if (!faults.empty()) return tl::unexpected(faults.take());
  return roots;
}

Parsed<Config> parse_config(std::string_view text, const std::string& file) {
  const auto ascii = to_ascii_toml(text);
  if (!ascii) {
    const auto& [line, message] = ascii.error();
    return fault(file, line, fmt::format("not TOML that smd reads: {}", message));
  }
  const toml::parse_result document = toml::parse(*ascii);
  if (!document) {
    const toml::parse_error& error = document.error();
    return fault(
        file, line_of(error.source()), fmt::format("not TOML: {}", printable(error.description())));
  }
  return Reader(file).read(document.table());
}

Parsed<Config> load_config(const std::string& path) {
  const auto text = read_settings(path);
  if (!text) return tl::unexpected(text.error());
  auto config = parse_config(*text, path);
  if (!config) return config;
  Faults faults;
  for (const auto read : {read_roots, read_partitions, read_qos}) {
    Faults found = read(*config);
    faults.insert(faults.end(), found.begin(), found.end());
  }
  if (!faults.empty()) return tl::unexpected(std::move(faults));
  return config;
}

}  // namespace smd
