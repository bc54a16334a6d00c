// What the sources of an import say: of each option the setting that counts, whether OpenSM takes
// its value, and whether it is OpenSM's default.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "smd/base/options.h"
#include "smd/base/text.h"
#include "smd/config/opensm_config.h"
#include "smd/config/option_kinds.h"
#include "smd/config/options.h"
#include "smd/policy/partition_file.h"

namespace smd {

namespace {

using enum OpensmOutcome;

constexpr std::size_t kMostFaults = 20;

std::optional<std::uint64_t> read_value(const OpensmSetting& setting) {
  if (!setting.value) return std::nullopt;
  const std::string& text = *setting.value;
  if (setting.in_hex && !text.starts_with("0x") && !text.starts_with("0X"))
    return option_kinds::parse_digits(text, 16);
  return read_opensm_number(text);
}

/// Whether `path` is where one or another build has its default.
bool is_default_place(std::string_view path, std::string_view initial) {
  if (path == initial) return true;
  const bool in_folder = std::ranges::any_of(kOpensmFolders, [&](std::string_view folder) {
    return path == fmt::format("{}/{}", folder, file_name(path));
  });
  return in_folder && file_name(path) == file_name(initial);
}

constexpr std::uint64_t kDiscard = 15;
constexpr std::size_t kArbEntries = 64;

/// OpenSM takes VLs modulo those of the port, and leaves 15.
std::uint64_t fit_vl(std::uint64_t vl, unsigned vls) {
  return vl == kDiscard || vls == kDiscard ? vl : vl & (vls - 1);
}

// Words of smd's own plugin.

struct PluginOption {
  std::string_view key;
  std::string_view ours = "";
  std::string_view reason = "";  // of what has no namesake
};

constexpr PluginOption kPluginOptions[] = {
    {"any_sl", "", "smd counts on the SLs of its PathRecords"},
    {"auto_for", "sm.auto_for"},
    {"gateways", "sm.gateways"},
    {"keep", "", "smd stays near the routes in force wherever it can"},
    {"lane_cut", "sm.lane_cut"},
    {"no_data", "sm.no_data"},
    {"orientation", "sm.orientation"},
    {"relieve", "", "smd does so under every engine, once all is at rest: sweep.relief_s"},
    {"roots", "sm.roots"},
    {"seed", "", "smd breaks ties in one way alone"},
    {"shorten_detours", "", "smd leads routes elsewhere that break, and no others"},
    {"vls",
     "",
     "smd has no limit for routes alone: ports get port.max_operational_vls, and engine auto takes "
     "sm.auto_vls"},
    {"weights", "sm.weights"},
};

/// What the plugin says in one word, and smd in another.
constexpr std::array<std::string_view, 3> kPluginValues[] = {
    {"gateways", "own", "own-first"},
    {"gateways", "least", "least-loaded"},
    {"lane_cut", "updown", "up-down"},
    {"lane_cut", "dfs", "depth-first"},
    {"orientation", "bfs", "breadth-first"},
    {"orientation", "dfs", "depth-first"},
};

OptionValue convert_plugin_value(std::string_view key, std::string_view text) {
  if (key == "roots" || key == "weights" || key == "no_data") {
    OptionList list;
    for (const std::string_view each : option_kinds::split(text, ','))
      list.push_back({std::string(each)});
    return {std::move(list)};
  }
  for (const auto& [of, theirs, ours] : kPluginValues)
    if (of == key && theirs == text) return {std::string(ours)};
  return {std::string(text)};
}

/// Requires: `word.text` is set.
void settle_plugin_word(OpensmPluginWord& word) {
  const std::string_view text = word.text;
  const std::size_t equals = text.find('=');
  const std::string_view key = text.substr(0, equals);
  const auto* row = std::ranges::find(kPluginOptions, key, &PluginOption::key);
  if (row == std::end(kPluginOptions)) {
    word.why = "the plugin has no such option";
  } else if (equals == std::string_view::npos) {
    word.why = "an option has a value: KEY=VALUE";
  } else if (row->ours.empty()) {
    word.why = row->reason;
  } else {
    const auto option = std::ranges::find(config_options(), row->ours, &ConfigOption::name);
    Config scratch;
    if (option->apply(convert_plugin_value(key, text.substr(equals + 1)), scratch)) {
      word.ours = row->ours;
      word.toml = option->print(scratch).value_or("");
    } else {
      word.why = fmt::format("{} takes {}", row->ours, option->range);
    }
  }
}

std::string show_setting(const std::string& name, const std::optional<std::string>& value) {
  return fmt::format("{} {}", printable(name), value ? printable(*value) : "(null)");
}

}  // namespace

std::string_view file_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::optional<std::uint64_t> read_opensm_number(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return std::nullopt;
  text = text.substr(first, text.find_last_not_of(" \t") - first + 1);
  if (text.starts_with("0x") || text.starts_with("0X")) return option_kinds::parse_hex(text);
  return option_kinds::parse_digits(text, text.size() > 1 && text.front() == '0' ? 8 : 10);
}

std::optional<std::string> convert_opensm_sl2vl(std::string_view text, unsigned vls) {
  std::vector<std::uint64_t> row;
  if (text.ends_with(',')) text.remove_suffix(1);
  for (const std::string_view word : option_kinds::split(text, ',')) {
    const auto vl = read_opensm_number(word);
    if (!vl || *vl > kDiscard || row.size() == kSls) return std::nullopt;
    row.push_back(fit_vl(*vl, vls));
  }
  row.resize(kSls, 0);  // as OpenSM does with a short list
  return fmt::format("[{}]", fmt::join(row, ", "));
}

std::optional<std::string> convert_opensm_arbitration(std::string_view text, unsigned vls) {
  std::vector<std::string> entries;
  if (text.ends_with(',')) text.remove_suffix(1);
  for (const std::string_view word : option_kinds::split(text, ',')) {
    const std::size_t colon = word.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    const auto vl = read_opensm_number(word.substr(0, colon));
    const auto weight = read_opensm_number(word.substr(colon + 1));
    if (!vl || !weight || *vl >= kDiscard || *weight > 255 || entries.size() == kArbEntries)
      return std::nullopt;
    entries.push_back(fmt::format("\"{}:{}\"", fit_vl(*vl, vls), *weight));
  }
  return fmt::format("[{}]", fmt::join(entries, ", "));
}

std::vector<OpensmPluginWord> read_plugin_words(std::string_view options) {
  constexpr std::string_view kSeparators = " \t\r\n;";
  std::vector<OpensmPluginWord> words;
  std::set<std::string_view> keys;
  while (true) {
    options.remove_prefix(std::min(options.find_first_not_of(kSeparators), options.size()));
    if (options.empty()) return words;
    const std::string_view text = options.substr(0, options.find_first_of(kSeparators));
    options.remove_prefix(text.size());
    OpensmPluginWord& word = words.emplace_back(OpensmPluginWord{.text = std::string(text)});
    if (keys.insert(text.substr(0, text.find('='))).second)
      settle_plugin_word(word);
    else
      word.why = "it stands there twice";
  }
}

std::vector<UnnamedFile> find_unnamed_files(const Config& config,
                                            const std::function<bool(const std::string&)>& exists) {
  struct Kind {
    const std::string& named;
    std::string_view file;
    std::string_view option;
  };

  const Kind kinds[] = {{config.partitions.file, "partitions.conf", "partitions.file"},
                        {config.qos.policy_file, "qos-policy.conf", "qos.policy_file"}};
  std::vector<UnnamedFile> out;
  for (const Kind& kind : kinds) {
    if (!kind.named.empty()) continue;
    for (const std::string_view folder : kOpensmFolders) {
      const std::string path = fmt::format("{}/{}", folder, kind.file);
      if (!exists(path)) continue;
      out.push_back({path, kind.option});
      break;
    }
  }
  return out;
}

std::string print_report_line(const OpensmReportLine& line) {
  return fmt::format("{}: {}: {}", line.where, line.option, line.text);
}

/// OpenSM goes without its file where there is none, as on a Debian where nobody made one.
void OpensmReading::report_missing_file() {
  constexpr std::string_view kName = "opensm.conf";
  const auto in = [&](std::string_view folder) { return fmt::format("{}/{}", folder, kName); };
  if (std::ranges::count(kOpensmFolders, sources_.file, in) == 0)
    return add_faults({{sources_.file, 0, "no such file"}});
  for (const std::string_view folder : kOpensmFolders) {
    if (sources_.read(in(folder)))
      add_faults({{sources_.file, 0, fmt::format("no such file; {} is there", in(folder))}});
  }
  report(0, sources_.file, std::string(kName), NotNeeded, "no such file: OpenSM's defaults");
}

void OpensmReading::read_sources() {
  if (!sources_.text)
    report_missing_file();
  else if (auto settings = parse_opensm_conf(*sources_.text, sources_.file))
    append(std::move(*settings));
  else
    add_faults(settings.error());
  if (auto flags = parse_opensm_flags(sources_.flags, "--flags"))
    append_flags(std::move(*flags), "--flags");
  else
    add_faults(flags.error());
  if (!sources_.start_file) return;
  auto start = parse_opensm_start(sources_.start_text, *sources_.start_file);
  if (!start) return add_faults(start.error());
  start_ = std::move(*start);
  append_flags(std::move(start_.flags), *sources_.start_file);
  append(std::move(start_.settings));
  for (const auto& [place, what] : start_.remarks)
    report(kAtEnd, place, what.substr(0, what.find(':')), Unknown, what.substr(what.find(':') + 2));
}

std::pair<std::string, std::string> OpensmReading::read_log_flags(std::uint64_t flags) {
  constexpr std::uint64_t kErrors = 0x01, kInfo = 0x02 | 0x04, kDebug = 0x08 | 0x10 | 0x20;
  constexpr std::uint64_t kAll = kErrors | kInfo | kDebug;
  std::string why = "smd has levels instead of bits, and what OpenSM calls errors begins at warn";
  if ((flags & kAll) == kAll) {
    why += "; lines of debug, other than those of info, are not limited in number";
    return {"debug", why};
  }
  if ((flags & kDebug) != 0)
    why += "; debug, whose lines are not limited in number, is taken for all of OpenSM's alone";
  if ((flags & (kInfo | kDebug)) != 0) return {"info", why};
  return {(flags & kErrors) != 0 ? "warn" : "off", why};
}

void OpensmReading::append(std::vector<OpensmSetting> settings) {
  for (OpensmSetting& each : settings) settings_.push_back(std::move(each));
}

void OpensmReading::append_flags(OpensmFlags flags, const std::string& where) {
  append(std::move(flags.settings));
  for (const auto& [flag, what] : flags.remarks) {
    report(kAtEnd, where, flag, NotCarried, fmt::format("not carried because {}", what));
  }
  if (!flags.config_file.empty() && flags.config_file != sources_.file) {
    add_faults({{where,
                 0,
                 fmt::format("-F names {}; import that file, or leave -F out",
                             printable(flags.config_file))}});
  }
}

void OpensmReading::settle() {
  std::map<std::string, std::size_t, std::less<>> last;
  for (std::size_t i = 0; i < settings_.size(); ++i) last[key_of(settings_[i])] = i;
  for (std::size_t i = 0; i < settings_.size(); ++i) {
    const OpensmSetting& setting = settings_[i];
    const OpensmOption* row = find_opensm_option(setting.name);
    if (row == nullptr) {
      report_stranger(setting, i);
      continue;
    }
    const std::size_t winner = last.find(key_of(setting))->second;
    if (winner != i) {
      report(i,
             setting.where,
             show_setting(setting.name, setting.value),
             Overruled,
             fmt::format("overruled by {}", settings_[winner].where));
      continue;
    }
    if (!check(*row, setting)) continue;
    if (row->kind == OpensmKind::BySl)
      by_sl_[setting.name].push_back({&setting, i});
    else
      in_force_[setting.name] = {&setting, i};
    report_odd_flag(*row, setting, i);
  }
}

std::string OpensmReading::key_of(const OpensmSetting& setting) {
  const OpensmOption* row = find_opensm_option(setting.name);
  if (row == nullptr || row->kind != OpensmKind::BySl || !setting.value) return setting.name;
  const std::string sl = setting.value->substr(0, setting.value->find_first_of(" \t"));
  const auto number = read_opensm_number(sl);
  return fmt::format("{} {}", setting.name, number ? fmt::format("{}", *number) : sl);
}

void OpensmReading::report_stranger(const OpensmSetting& setting, std::size_t place) {
  if (const auto what = find_nvidia_option(setting.name)) {
    return report(place,
                  setting.where,
                  show_setting(setting.name, setting.value),
                  Nvidia,
                  fmt::format("NVIDIA's, not carried: {}", *what));
  }
  std::vector<std::string_view> names;
  for (const OpensmOption& row : opensm_options()) names.push_back(row.name);
  report(place,
         setting.where,
         show_setting(setting.name, setting.value),
         Unknown,
         fmt::format("unknown, to OpenSM as well, which reads over it; the nearest option is {}",
                     find_nearest(setting.name, names)));
}

void OpensmReading::report_odd_flag(const OpensmOption& row,
                                    const OpensmSetting& setting,
                                    std::size_t place) {
  if (row.kind != OpensmKind::Flag || !setting.value) return;
  if (*setting.value == "TRUE" || *setting.value == "FALSE") return;
  report(place,
         setting.where,
         show_setting(setting.name, setting.value),
         Changed,
         "read as FALSE, as OpenSM does: only TRUE in capitals is true");
}

bool OpensmReading::check(const OpensmOption& row, const OpensmSetting& setting) {
  const auto wrong = [&](const std::string& right) {
    add_faults({{setting.where,
                 setting.column,
                 fmt::format("{} is {}; {}",
                             row.name,
                             setting.value ? print_value({*setting.value}) : "not set",
                             right)}});
    return false;
  };
  const std::string limits = fmt::format("a number from {} to {}", row.least, row.most);
  switch (row.kind) {
    case OpensmKind::Number: {
      const auto number = read_value(setting);
      return (number && *number >= row.least && *number <= row.most) || wrong(limits);
    }
    case OpensmKind::Limit: {
      if (setting.value && setting.value->starts_with("-") &&
          read_opensm_number(std::string_view(*setting.value).substr(1)))
        return true;
      const auto number = read_value(setting);
      return (number && *number <= row.most) || wrong(limits + ", or -1 for none");
    }
    case OpensmKind::Key:
      return read_value(setting) || wrong("64 bits, as 0x0002c90300000001");
    case OpensmKind::Mask: {
      const std::string digits = setting.value.value_or("");
      const std::string_view bits =
          std::string_view(digits).substr(digits.starts_with("0x") ? 2 : 0);
      const bool good = digits.starts_with("0x") && !bits.empty() && bits.size() <= 64 &&
                        bits.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
      return good || wrong("0x and at most 64 hexadecimal digits");
    }
    case OpensmKind::BySl:
      return read_by_sl(setting, row.most) ||
             wrong(fmt::format("an SL from 0 to 15 and a number from 0 to {}", row.most));
    case OpensmKind::Flag:
    case OpensmKind::Text:
      break;
  }
  return true;
}

std::optional<std::pair<std::uint64_t, std::uint64_t>> OpensmReading::read_by_sl(
    const OpensmSetting& setting, std::uint64_t most) {
  if (!setting.value) return std::nullopt;
  const std::string_view text = *setting.value;
  const std::size_t blank = text.find_first_of(" \t");
  if (blank == std::string_view::npos) return std::nullopt;
  const auto sl = read_opensm_number(text.substr(0, blank));
  const auto number = read_opensm_number(text.substr(blank));
  if (!sl || !number || *sl >= kSls || *number > most) return std::nullopt;
  return std::pair{*sl, *number};
}

const OpensmReading::InForce* OpensmReading::find(std::string_view name) const {
  const auto it = in_force_.find(name);
  return it == in_force_.end() ? nullptr : &it->second;
}

std::optional<std::string> OpensmReading::text_of(std::string_view name) const {
  if (const InForce* set = find(name)) return set->setting->value;
  const std::string_view initial = find_opensm_option(name)->initial;
  return initial == "(null)" ? std::nullopt : std::optional(std::string(initial));
}

bool OpensmReading::is_true(std::string_view name) const { return text_of(name) == "TRUE"; }

std::uint64_t OpensmReading::number_of(std::string_view name) const {
  if (const InForce* set = find(name)) return read_value(*set->setting).value_or(0);
  return read_opensm_number(find_opensm_option(name)->initial).value_or(0);
}

bool OpensmReading::is_initial(std::string_view name) const {
  const InForce* set = find(name);
  if (set == nullptr) return true;
  const OpensmOption& row = *find_opensm_option(name);
  const auto& value = set->setting->value;
  switch (row.kind) {
    case OpensmKind::Flag:
      return (value == "TRUE") == (row.initial == "TRUE");
    case OpensmKind::Number:
    case OpensmKind::Key:
      return read_value(*set->setting) == read_opensm_number(row.initial);
    case OpensmKind::Limit:
      return value && value->starts_with("-");
    case OpensmKind::Mask:
      return value && value->find_first_not_of("0x") == std::string::npos;
    case OpensmKind::BySl:
    case OpensmKind::Text:
      break;
  }
  if (!value) return row.initial == "(null)";
  return *value == row.initial ||
         (row.initial.starts_with("/") && is_default_place(*value, row.initial));
}

std::vector<std::string> OpensmReading::split_engines(std::string_view list) {
  std::vector<std::string> names;
  while (!list.empty()) {
    const std::string_view name = list.substr(0, list.find_first_of(", \t"));
    list.remove_prefix(std::min(list.size(), name.size() + 1));
    if (!name.empty()) names.emplace_back(name);
  }
  return names;
}

std::vector<Guid> OpensmReading::read_root_file(const std::string& path, std::string_view text) {
  std::vector<Guid> roots;
  for (int number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    line = line.substr(0, line.find('#'));
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) continue;
    const std::size_t end = line.find_first_of(" \t\r", first);
    const auto guid = read_opensm_number(line.substr(first, end - first));
    if (!guid || *guid == 0) {
      add_faults({{fmt::format("{}:{}", path, number),
                   static_cast<int>(first) + 1,
                   "no GUID of a switch, such as 0x0002c90300000001"}});
    } else if (std::ranges::find(roots, Guid{*guid}) == roots.end()) {
      roots.push_back(Guid{*guid});
    }
  }
  return roots;
}

std::string OpensmReading::show_of(const InForce& in_force) {
  return show_setting(in_force.setting->name, in_force.setting->value);
}

void OpensmReading::report(std::size_t place,
                           std::string where,
                           std::string option,
                           OpensmOutcome outcome,
                           std::string text) {
  // More on an option joins its line.
  const auto it = std::ranges::find_if(lines_, [&](const Placed& each) {
    return each.place == place && each.line.where == where && each.line.option == option;
  });
  if (it != lines_.end()) {
    it->line.outcome = outcome;
    it->line.text += "; " + text;
    return;
  }
  lines_.push_back({place, {std::move(where), std::move(option), outcome, std::move(text)}});
}

void OpensmReading::say(std::string_view name, OpensmOutcome outcome, std::string text) {
  const InForce* set = find(name);
  report(set == nullptr ? kAtEnd : set->place,
         set == nullptr ? "OpenSM's default" : set->setting->where,
         show_setting(std::string(name), text_of(name)),
         outcome,
         std::move(text));
}

void OpensmReading::say_not_carried(std::string_view name, std::string_view because) {
  say(name, NotCarried, fmt::format("not carried because {}", because));
}

void OpensmReading::say_not_needed(std::string_view name, std::string_view because) {
  say(name, NotNeeded, fmt::format("not needed because {}", because));
}

void OpensmReading::report_choice_of_key(const PartitionFile& rules) {
  if (rules.partitions.size() < 2) return;
  say("partition_config_file",
      Changed,
      "where no P_Key is asked for, the path of two ports that share several partitions is in "
      "the default one, else in the first of the file; OpenSM takes the one whose P_Key is the "
      "lowest with its bytes swapped");
}

void OpensmReading::report_levels(const PartitionFile& rules, const std::string& path) {
  for (const Partition& partition : rules.partitions) {
    if (partition.sl.value_or(0) == 0) continue;
    report(kAtEnd,
           path,
           fmt::format("sl={} of {}", *partition.sl, printable(partition.name)),
           Changed,
           "counts in smd, and not in OpenSM, where qos is FALSE; take it out of the file for "
           "SL 0");
  }
}

void OpensmReading::report_connected_tops(const std::vector<std::string>& engines) {
  const auto connects = [](const std::string& name) { return name == "updn" || name == "ftree"; };
  if (is_true("connect_roots") || std::ranges::none_of(engines, connects)) return;
  say("connect_roots",
      Changed,
      "switches of the top level have routes to each other all the same: engines updn and ftree "
      "connect every pair of switches");
}

void OpensmReading::add_faults(const Faults& faults) {
  for (const Fault& each : faults)
    if (faults_.size() < kMostFaults) faults_.push_back(each);
}

void OpensmReading::complain(std::string_view name, std::string message) {
  const InForce* set = find(name);
  if (set == nullptr) return add_faults({{std::string(name), 0, std::move(message)}});
  add_faults({{set->setting->where, set->setting->column, std::move(message)}});
}

}  // namespace smd
