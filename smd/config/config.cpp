#include "smd/config/config.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <set>

#include "smd/base/fault_list.h"
#include "smd/base/read_file.h"
#include "smd/base/text.h"
#include "smd/config/option_kinds.h"
#include "smd/config/options.h"
#include "smd/policy/partition_file.h"

namespace smd {

namespace {

constexpr std::size_t kMostConfigFaults = 100;

/// Keys as messages show them: whatever is in the file, on one line.
std::string print_key(std::string_view key) {
  const bool bare = !key.empty() && std::ranges::all_of(key, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
  return bare && key.size() <= 60 ? std::string(key) : print_value({std::string(key)});
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

std::string nearest_option(std::string_view section, std::string_view key) {
  constexpr std::size_t kElsewhere = 2;
  const auto distance = [&](const ConfigOption& option) {
    return edit_distance(key, option.key) + (option.section == section ? 0 : kElsewhere);
  };
  return std::ranges::min_element(config_options(), {}, distance)->name();
}

std::string_view nearest_section(std::string_view section) {
  std::vector<std::string_view> names;
  for (const ConfigOption& option : config_options()) names.push_back(option.section);
  return find_nearest(section, names);
}

/// Applies a document to a config of its own and collects every fault on the way.
class Reader {
 public:
  Reader(std::string file, const OptionNames& overridden)
      : file_(std::move(file)), overridden_(overridden) {}

  Parsed<Config> read(const OptionTable& document, ConfigLines* lines) {
    for (const OptionPair& entry : document) read_section(entry);
    check_rules();
    if (lines != nullptr) {
      lines->clear();
      for (const auto& [name, place] : places_) lines->emplace(name, place.line);
    }
    if (faults_.empty()) return config_;
    // Tables have their keys by name; people read files from the top.
    std::ranges::stable_sort(
        faults_, {}, [](const Pending& each) { return std::pair(each.at.line, each.at.column); });
    FaultList first(file_, kMostConfigFaults);
    for (const Pending& each : faults_)
      first.add_lazily(each.at.line, each.at.column, each.message);
    return tl::unexpected<Faults>(first.take());
  }

 private:
  struct Place {
    int line = 0;  // of the file as a whole 0
    int column = 0;
  };

  /// Put into words only where it is among the first: finding what a name was meant to be takes a
  /// while, and a daemon reads its file again on the loop. The document outlives it.
  struct Pending {
    Place at;
    std::function<std::string()> message;
  };

  void read_section(const OptionPair& entry) {
    const std::string& name = entry.key;
    const Place place{entry.line, entry.column};
    const auto* section = as<OptionTable>(entry.value);
    if (is_section(name)) {
      if (section == nullptr) {
        return complain(place, fmt::format("{} is no section; write [{}]", name, name));
      }
      for (const OptionPair& option : *section) read_option(name, option);
      return;
    }
    if (section == nullptr) {
      return complain_lazily(place, [&name = entry.key] {
        return fmt::format("{} stands outside of every section; the nearest known key is {}",
                           print_key(name),
                           nearest_option("", name));
      });
    }
    complain_lazily(place, [&name = entry.key] {
      return fmt::format("unknown section [{}]; the nearest known one is [{}]",
                         print_key(name),
                         nearest_section(name));
    });
  }

  void read_option(std::string_view section, const OptionPair& entry) {
    const ConfigOption* option = find_option(section, entry.key);
    if (option == nullptr) {
      return complain_lazily({entry.line, entry.column}, [section, &name = entry.key] {
        return fmt::format("unknown key {}.{}; the nearest known one is {}",
                           section,
                           print_key(name),
                           nearest_option(section, name));
      });
    }
    const Place of_value{entry.value.line, entry.value.column};
    places_[option->name()] = of_value;
    if (option->apply(entry.value, config_)) return;
    faulty_.insert(option->name());
    complain(of_value,
             fmt::format("{} is {}; {}", option->name(), print_value(entry.value), option->range));
  }

  /// A rule is reported where the file sets its first option, else where it sets the other. It
  /// says nothing about options that are at fault themselves.
  void check_rules() {
    for (BrokenRule& broken : find_broken_rules(config_)) {
      const bool judged = std::ranges::none_of(broken.options, [this](const std::string& name) {
        return faulty_.contains(name) || std::ranges::count(overridden_, name) != 0;
      });
      if (!judged) continue;
      Place place;
      for (const std::string& name : broken.options) {
        const auto it = places_.find(name);
        if (place.line == 0 && it != places_.end()) place = it->second;
      }
      complain(place, std::move(broken.why));
    }
  }

  void complain(Place place, std::string message) {
    complain_lazily(place, [message = std::move(message)] { return message; });
  }

  void complain_lazily(Place place, std::function<std::string()> message) {
    faults_.push_back({place, std::move(message)});
  }

  std::string file_;
  const OptionNames& overridden_;
  Config config_;
  std::vector<Pending> faults_;
  std::map<std::string, Place> places_;  // of the values that the file sets, by option
  std::set<std::string> faulty_;
};

Parsed<std::string> read_settings(const std::string& path) {
  auto text = read_file(path, kLargestSettings);
  if (!text) return fault(path, 0, text.error().context);
  // Some editors begin a file with it; a name after it would be another one.
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text->starts_with(kByteOrderMark)) text->erase(0, kByteOrderMark.size());
  return std::move(*text);
}

/// Puts what a text says into the configuration; `file` names it in faults.
using ReadText = Faults (*)(const std::string& text, const std::string& file, Config& config);

Faults take_roots(const std::string& text, const std::string& file, Config& config) {
  const auto roots = parse_root_file(text, file);
  if (!roots) return roots.error();
  config.sm.roots.insert(config.sm.roots.end(), roots->begin(), roots->end());
  return {};
}

Faults take_node_names(const std::string& text, const std::string& file, Config& config) {
  auto names = parse_node_name_map(text, file);
  if (!names) return names.error();
  config.sm.node_names = std::move(*names);
  return {};
}

Faults take_m_keys(const std::string& text, const std::string& file, Config& config) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if ((fs::status(file, ignored).permissions() & fs::perms::others_read) != fs::perms::none &&
      fs::exists(file, ignored))
    return {{file, 0, "opens every port to whoever reads it, and others may; chmod 600"}};
  auto sources = parse_m_key_file(text, file);
  if (!sources) return sources.error();
  config.sm.m_keys = std::move(*sources);
  return {};
}

Faults take_partitions(const std::string& text, const std::string& file, Config& config) {
  auto reading = parse_partition_file(text, file);
  if (!reading) return reading.error();
  config.partitions.rules = std::move(reading->rules);
  config.partitions.remarks = std::move(reading->remarks);
  return {};
}

Faults take_qos(const std::string& text, const std::string& file, Config& config) {
  auto reading = parse_qos_file(text, file);
  if (!reading) return reading.error();
  config.qos.rules = std::move(reading->rules);
  config.qos.remarks = std::move(reading->remarks);
  return {};
}

/// `take` gets each line with its number, from 1.
template <class Take>
void for_each_line(std::string_view text, Take&& take) {
  for (int line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    take(line, text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::optional<std::string> parse_hex_bytes(std::string_view digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    unsigned byte = 0;
    const char* const end = digits.data() + i + 2;
    if (std::from_chars(digits.data() + i, end, byte, 16).ptr != end) return std::nullopt;
    bytes += static_cast<char>(byte);
  }
  if (digits.empty() || digits.size() % 2 != 0) return std::nullopt;
  return bytes;
}

/// Nothing of it is in `config` where there are faults.
Parsed<NamedFile> read_named_file(std::string_view kind,
                                  const std::string& file,
                                  ReadText take,
                                  Config& config,
                                  const FindPreviousText& find_previous) {
  NamedFile out{.kind = std::string(kind), .text = {}, .faults = {}, .at = {}};
  auto text = read_settings(file);
  out.faults = text ? take(*text, file, config) : text.error();
  if (out.faults.empty()) {
    out.text = std::move(*text);
    return out;
  }
  if (!find_previous) return tl::unexpected(std::move(out.faults));
  auto previous = find_previous(out.kind);
  Faults trouble;
  if (!previous) {
    trouble = std::move(previous.error());
  } else if (*previous) {
    out.text = std::move((*previous)->text);
    out.at = std::move((*previous)->at);
    trouble = take(out.text, out.at, config);
  }
  if (previous && *previous && trouble.empty()) return out;
  out.faults.insert(out.faults.end(), trouble.begin(), trouble.end());
  return tl::unexpected(std::move(out.faults));
}

}  // namespace

Parsed<std::vector<Guid>> parse_root_file(std::string_view text, const std::string& file) {
  std::vector<Guid> roots;
  FaultList faults(file);
  for_each_line(text, [&](int line, std::string_view whole) {
    const std::string_view word = trim(whole.substr(0, whole.find('#')));
    if (word.empty()) return;
    if (const auto guid = option_kinds::parse_hex(word); guid && *guid != 0) {
      roots.push_back(Guid{*guid});
    } else {
      faults.add(line, column_of(whole, word), "no GUID of a switch, such as 0x0002c90300000001");
    }
  });
  if (!faults.empty()) return tl::unexpected(faults.take());
  return roots;
}

std::optional<std::pair<std::uint64_t, Guid>> parse_prefix_route(std::string_view line) {
  const auto parse = [](std::string_view word) {
    return word == "*" ? std::optional<std::uint64_t>(0) : option_kinds::parse_hex(word);
  };
  line = trim(line);
  const std::size_t space = std::min(line.find_first_of(" \t"), line.size());
  const auto prefix = parse(line.substr(0, space)), guid = parse(trim(line.substr(space)));
  if (!prefix || !guid) return std::nullopt;
  return std::pair(*prefix, Guid{*guid});
}

Parsed<std::vector<std::pair<Guid, std::string>>> parse_node_name_map(std::string_view text,
                                                                      const std::string& file) {
  std::map<Guid, std::string> names;
  FaultList faults(file);
  for_each_line(text, [&](int line, std::string_view whole) {
    const std::size_t quote = std::min(whole.find('"'), whole.size());
    std::string_view word = whole.substr(0, quote);
    const bool remark = word.find('#') != std::string_view::npos;
    word = trim(word.substr(0, word.find('#')));
    if (word.empty() && (remark || quote == whole.size())) return;
    const auto guid = option_kinds::parse_hex(word);
    const std::string_view rest = whole.substr(std::min(quote + 1, whole.size()));
    // A remark ends a name as well, for OpenSM and infiniband-diags.
    const std::size_t end = rest.find_first_of("\"#");
    std::string_view behind;
    if (end != std::string_view::npos)
      behind = rest[end] == '#' ? rest.substr(end) : trim(rest.substr(end + 1));
    const bool unnamed = end == 0 && rest.front() == '"';
    if (!guid || *guid == 0 || remark || end == std::string_view::npos || unnamed ||
        !(behind.empty() || behind.front() == '#')) {
      return faults.add(line,
                        column_of(whole, trim(whole)),
                        "no node and its name, such as 0x0002c90300000001 \"leaf 7\"");
    }
    if (end == 0) return;  // the remark began with the name: the node keeps its own description
    if (!names.emplace(Guid{*guid}, std::string(rest.substr(0, end))).second)
      faults.add(line,
                 column_of(whole, word),
                 fmt::format("{} has a name already; one line for each node", Guid{*guid}));
  });
  if (!faults.empty()) return tl::unexpected(faults.take());
  return std::vector<std::pair<Guid, std::string>>(names.begin(), names.end());
}

Parsed<MKeySources> parse_m_key_file(std::string_view text, const std::string& file) {
  constexpr std::string_view kRight =
      "is no line of M_Keys; `seed` and 32 or more hexadecimal digits, or `key 0x...`";
  constexpr std::size_t kShortestSeed = 16;  // bytes
  constexpr std::size_t kMostSources = 4;    // each of which is tried at ports that answer no other
  MKeySources sources;
  FaultList faults(file);
  for_each_line(text, [&](int line, std::string_view whole) {
    const std::string_view words = trim(whole.substr(0, whole.find('#')));
    if (words.empty()) return;
    const std::size_t space = std::min(words.find_first_of(" \t"), words.size());
    const std::string_view kind = words.substr(0, space), value = trim(words.substr(space));
    MKeySource source;
    if (kind == "seed") {
      const auto bytes = parse_hex_bytes(value);
      if (!bytes) return faults.add(line, column_of(whole, words), std::string(kRight));
      if (bytes->size() < kShortestSeed)
        return faults.add(
            line,
            column_of(whole, value),
            fmt::format(
                "a seed of {} bytes can be guessed; {} or more", bytes->size(), kShortestSeed));
      source.seed = *bytes;
    } else {
      const auto key = option_kinds::parse_hex(value);
      if (kind != "key" || !key || *key == 0)
        return faults.add(line, column_of(whole, words), std::string(kRight));
      source.key = MKey{*key};
    }
    if (std::ranges::find(sources, source) != sources.end())
      return faults.add(
          line, column_of(whole, words), "stands here already; each once, the newest first");
    sources.push_back(std::move(source));
  });
  if (faults.empty() && sources.empty())
    faults.add(0, "has no M_Key; a line such as `seed 0123...`");
  if (sources.size() > kMostSources)
    faults.add(0, fmt::format("has {} lines; {} at most", sources.size(), kMostSources));
  if (!faults.empty()) return tl::unexpected(faults.take());
  return sources;
}

Parsed<Config> parse_config(std::string_view text,
                            const std::string& file,
                            ConfigLines* lines,
                            const OptionNames& overridden) {
  const auto document = parse_toml(text, file, "smd");
  if (!document) return tl::unexpected(document.error());
  return Reader(file, overridden).read(*document, lines);
}

Parsed<Config> load_options(const std::string& path,
                            ConfigLines* lines,
                            const OptionNames& overridden) {
  const auto text = read_settings(path);
  if (!text) return tl::unexpected(text.error());
  // Nobody means it: its options would all be the defaults, without a word.
  if (text->find_first_not_of(" \t\r\n") == std::string::npos) {
    return fault(path,
                 0,
                 "is empty; a write that broke off leaves such a file. One line, such as a remark "
                 "(#), makes it a configuration that sets nothing");
  }
  return parse_config(*text, path, lines, overridden);
}

Parsed<Config> load_config(const std::string& path,
                           ConfigLines* lines,
                           const OptionNames& overridden) {
  auto config = load_options(path, lines, overridden);
  if (!config) return config;
  if (auto files = read_named_files(*config); !files)
    return tl::unexpected(std::move(files.error()));
  return config;
}

Parsed<std::vector<NamedFile>> read_named_files(Config& config,
                                                const FindPreviousText& find_previous) {
  const std::pair<const std::string*, ReadText> named[] = {
      {&config.sm.roots_file, take_roots},
      {&config.partitions.file, take_partitions},
      {&config.qos.policy_file, take_qos},
      {&config.sm.node_name_map, take_node_names},
      {&config.sm.m_key_file, take_m_keys},
  };
  static_assert(std::size(named) == kNamedFileKinds.size());
  std::vector<NamedFile> files;
  Faults faults;
  for (std::size_t i = 0; i < kNamedFileKinds.size(); ++i) {
    const auto& [file, take] = named[i];
    if (file->empty()) continue;
    auto read = read_named_file(kNamedFileKinds[i], *file, take, config, find_previous);
    if (read) {
      files.push_back(std::move(*read));
    } else {
      faults.insert(faults.end(), read.error().begin(), read.error().end());
    }
  }
  if (!faults.empty()) return tl::unexpected(std::move(faults));
  return files;
}

bool is_instance_name(std::string_view name) {
  constexpr std::size_t kLongest = 64;
  const auto is_alphanumeric = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !name.empty() && name.size() <= kLongest && is_alphanumeric(name.front()) &&
         std::ranges::all_of(
             name, [&](char c) { return is_alphanumeric(c) || c == '.' || c == '_' || c == '-'; });
}

namespace {

/// HOST:PORT with a port of the instance's own, or a Unix socket called after it.
std::string own_address(const std::string& shared, std::string_view name) {
  if (shared.empty()) return shared;
  if (shared.starts_with('/')) {
    const std::size_t file = shared.rfind('/') + 1;
    return fmt::format("{}{}.{}", shared.substr(0, file), name, shared.substr(file));
  }
  const auto guid =
      name.starts_with("0x") ? config_kinds::parse_guid(std::string(name)) : std::nullopt;
  unsigned number = 0;
  if (guid) {
    number = static_cast<unsigned>(guid->value() & 0xff);
  } else {
    for (const char c : name) number += static_cast<unsigned char>(c);
  }
  const auto address = parse_host_port(shared);
  const unsigned long port = address ? std::stoul(address->port) : 0;
  if (port == 0) return shared;  // any that is free
  // By twos: of metrics and orders one may have an even port and the other an odd one.
  const unsigned long step = 2 * (number % 256 + 1);
  const std::string host = shared.substr(0, shared.rfind(':'));
  return fmt::format("{}:{}", host, port + step > 65535 ? port - step : port + step);
}

}  // namespace

void set_instance(std::string_view name, bool own_file, Config& config) {
  const Config initial;
  const auto may_change = [&](const std::string& value, const std::string& usual) {
    return !own_file || value == usual;
  };
  const auto folder = [](const std::string& path) { return path.substr(0, path.rfind('/') + 1); };
  if (may_change(config.sm.state_dir, initial.sm.state_dir))
    config.sm.state_dir += fmt::format("/{}", name);
  if (std::string& socket = config.admin.socket; may_change(socket, initial.admin.socket))
    socket = fmt::format("{}{}.sock", folder(socket), name);
  if (std::string& dumps = config.sm.dump_dir; !own_file && !dumps.empty())
    dumps += fmt::format("/{}", name);
  for (std::string* listen : {&config.metrics.listen, &config.rest.listen}) {
    if (!own_file) *listen = own_address(*listen, name);
  }
  if (std::string& sink = config.log.sink; !own_file && sink.starts_with('/'))
    sink = fmt::format("{}{}.{}", folder(sink), name, sink.substr(folder(sink).size()));
  TransportConfig& transport = config.transport;
  if (transport.device.empty() && transport.port == 0 && transport.port_guid == Guid{0} &&
      name.starts_with("0x"))
    transport.port_guid = config_kinds::parse_guid(name).value_or(Guid{0});
}

}  // namespace smd
