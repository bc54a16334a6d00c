// What becomes of each option: the value that smd gets, and the line that says so.
#include "smd/config/opensm_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "smd/base/fault_list.h"
#include "smd/base/options.h"
#include "smd/base/text.h"
#include "smd/config/option_kinds.h"
#include "smd/config/options.h"
#include "smd/policy/partition_file.h"
#include "smd/routing/engine.h"

namespace smd {

namespace {

using enum OpensmOutcome;

/// What systemd lets the daemon write (smd.service).
constexpr std::string_view kLogFolder = "/var/log/smd";

/// smd's own, as event_plugin_name has it, and what its engines begin with there.
constexpr std::string_view kPlugin = "smd_opensm";
constexpr std::string_view kPluginPrefix = "smd-";
constexpr std::string_view kTakesVls[] = {"nue", "dfsssp", "dor", "dragonfly", "itb-vl", "lash"};

std::string print_key(std::uint64_t key) { return fmt::format("\"0x{:016x}\"", key); }

// Tables of virtual lanes.

constexpr std::string_view kInitialSl2Vl = "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,7";
constexpr std::string_view kInitialArbHigh =
    "0:4,1:0,2:0,3:0,4:0,5:0,6:0,7:0,8:0,9:0,10:0,11:0,12:0,13:0,14:0";
constexpr std::string_view kInitialArbLow =
    "0:0,1:4,2:4,3:4,4:4,5:4,6:4,7:4,8:4,9:4,10:4,11:4,12:4,13:4,14:4";

// What smd takes of numbers that OpenSM takes in other ranges.

struct Limits {
  std::string_view ours;
  std::uint64_t least;
  std::uint64_t most;
};

constexpr Limits kLimits[] = {
    {"sweep.interval_s", 0, 86400},
    {"sm.poll_interval_ms", 100, 60000},
    {"sm.poll_retries", 1, 100},
    {"smp.timeout_ms", 1, 60000},
    {"smp.retries", 0, 20},
    {"congestion.cc_max_outstanding_mads", 1, 4096},
};

class Importer : private OpensmReading {
 public:
  explicit Importer(const OpensmSources& sources) : OpensmReading(sources) {}

  Parsed<OpensmImport> run() {
    read_sources();
    settle();
    for (const OpensmOption& row : opensm_options())
      if (!row.derived) carry_plain(row);
    if (faults_.empty()) carry_derived();
    if (!faults_.empty()) return tl::unexpected(std::move(faults_));
    OpensmImport out;
    write_configs(out);
    if (!faults_.empty()) return tl::unexpected(std::move(faults_));
    std::ranges::stable_sort(lines_, {}, &Placed::place);
    for (Placed& each : lines_) out.report.push_back(std::move(each.line));
    return out;
  }

 private:
  struct Value {
    std::string toml;
    std::string remark;  // where it comes from
  };

  void put(std::string_view ours, std::string toml, std::string_view name) {
    const InForce* set = find(name);
    values_[std::string(ours)] = {std::move(toml),
                                  set == nullptr
                                      ? fmt::format("OpenSM's default of {}", name)
                                      : fmt::format("{}: {}", set->setting->where, name)};
  }

  void carry(std::string_view name, std::string_view ours, const std::string& toml) {
    put(ours, toml, name);
    say(name, Carried, fmt::format("carried as {} = {}", ours, toml));
  }

  void carry_changed(std::string_view name,
                     std::string_view ours,
                     const std::string& toml,
                     std::string_view because) {
    put(ours, toml, name);
    say(name,
        Changed,
        fmt::format("carried with another value, {} = {}, because {}", ours, toml, because));
  }

  // What the table alone says.

  void carry_plain(const OpensmOption& row) {
    if (row.outcome == Carried) return carry_number(row);
    if (is_initial(row.name)) return report_file_in_use(row);
    if (row.outcome == NotNeeded) return say_not_needed(row.name, row.reason);
    say_not_carried(row.name, row.reason);
  }

  /// Files that OpenSM reads unasked, and smd does not.
  void report_file_in_use(const OpensmOption& row) {
    if (row.outcome != NotCarried || !row.initial.starts_with("/etc/")) return;
    const auto path = text_of(row.name);
    if (path && sources_.read(*path)) {
      say_not_carried(row.name,
                      fmt::format("{} (the file is there, and OpenSM reads it)", row.reason));
    }
  }

  /// A number that both have. Where smd's default is another one, OpenSM's is written.
  void carry_number(const OpensmOption& row) {
    std::uint64_t number = number_of(row.name);
    const auto* limits = std::ranges::find(kLimits, row.ours, &Limits::ours);
    const std::uint64_t wanted = number;
    if (limits != std::end(kLimits)) number = std::clamp(number, limits->least, limits->most);
    const auto toml = row.kind == OpensmKind::Key ? print_key(number) : fmt::format("{}", number);
    if (is_initial(row.name) && is_default_of(row.ours, toml)) return;
    if (row.ours == "sm.m_key_protect" && number_of("m_key") == 0)
      return say_not_needed(row.name, "m_key is 0, with which nothing is protected");
    if (number != wanted) {
      return carry_changed(
          row.name, row.ours, toml, fmt::format("smd takes {} to {}", limits->least, limits->most));
    }
    carry(row.name, row.ours, toml);
  }

  static bool is_default_of(std::string_view ours, std::string_view toml) {
    const auto option = std::ranges::find(config_options(), ours, &ConfigOption::name);
    const auto value = option->print(Config{});
    if (!value) return false;
    const auto number = [](std::string_view text) {
      if (text.starts_with('"')) text = text.substr(1, text.size() - 2);
      return read_opensm_number(text);
    };
    return *value == toml || (number(toml) && number(*value) == number(toml));
  }

  // What takes more than a row.

  void carry_derived() {
    carry_port();
    carry_sm_key();
    carry_lmc();
    carry_vls();
    carry_partitions();
    carry_mode();
    carry_engine();
    carry_plugin();
    carry_log();
    carry_qos();
    carry_congestion();
    carry_node_names();
    carry_max_rate();
    carry_prefix_routes();
  }

  void carry_port() {
    const std::uint64_t guid = number_of("guid");
    if (!start_.ports.empty() || start_.all_ports) {
      if (guid != 0) say("guid", Overruled, fmt::format("overruled by {}", start_.ports_where));
    } else if (guid != 0) {
      carry("guid", "transport.port_guid", print_key(guid));
    } else if (find("guid") != nullptr && !is_from_file(*find("guid")->setting)) {
      say_not_carried("guid", "nobody is asked on a terminal; the first port that is up is taken");
    }
    ports_ = start_.all_ports ? sources_.local_ports : start_.ports;
    if (start_.none) {
      report(kAtEnd,
             start_.ports_where,
             "PORTS NONE",
             NotCarried,
             "OpenSM is not started on this machine; do not enable smd.service either");
    } else if (start_.all_ports && ports_.empty()) {
      report(kAtEnd,
             start_.ports_where,
             "PORTS ALL",
             NotCarried,
             "not carried because this machine shows no InfiniBand port: smd takes the first that "
             "is up, and for more of them name their GUIDs in PORTS");
    } else if (!ports_.empty()) {
      std::vector<std::string> names;
      for (const Guid port : ports_) names.push_back(fmt::format("0x{:016x}", port.value()));
      report(kAtEnd,
             start_.ports_where,
             fmt::format("ports {}", fmt::join(names, " ")),
             Carried,
             "carried as transport.port_guid, in a configuration for each port");
      if (ports_.size() > 1 && find("subnet_prefix") == nullptr) {
        report(kAtEnd,
               start_.ports_where,
               "subnet_prefix",
               Carried,
               "the same on every port; where a launcher gave each its own (--subnet_prefix in the "
               "list of processes), set sm.subnet_prefix in each file");
      }
    }
  }

  [[nodiscard]] bool is_from_file(const OpensmSetting& setting) const {
    return setting.where.starts_with(sources_.file + ":");
  }

  void carry_sm_key() {
    const std::uint64_t key = number_of("sm_key");
    if (key == 1) {
      say("sm_key",
          NotNeeded,
          "not needed because smd shows 1 where sm.sm_key is not set, and with it set nothing "
          "could be handed over between smd and OpenSM");
    } else if (key == 0) {
      say_not_carried("sm_key", "smd has no key 0: it shows 1 where sm.sm_key is not set");
    } else {
      carry("sm_key", "sm.sm_key", print_key(key));
      say("sm_key",
          Changed,
          "for as long as OpenSM runs beside smd leave sm.sm_key out, and set sm_key to 1 there: "
          "it "
          "disregards a manager with another key, and sends none when it hands over");
    }
    if (const std::uint64_t sa_key = number_of("sa_key"); sa_key != 0) {
      carry("sa_key", "sm.sa_key", print_key(sa_key));
    } else {
      say_not_carried("sa_key", "smd trusts no request by key 0");
    }
  }

  void carry_lmc() {
    if (!is_true("lmc_esp0")) return;
    const std::uint64_t lmc = number_of("lmc");
    if (lmc == 0) return say_not_needed("lmc_esp0", "lmc is 0");
    carry_changed("lmc_esp0",
                  "sm.lmc_enhanced_port0",
                  fmt::format("{}", lmc),
                  "smd takes a number there, and TRUE means that of lmc");
  }

  void carry_vls() {
    static constexpr unsigned kCounts[] = {15, 1, 2, 4, 8, 15};
    const std::uint64_t code = number_of("max_op_vls");
    vls_ = kCounts[code];
    if (code == 0) {
      say_not_carried("max_op_vls",
                      "smd always sets a number of VLs, here the most that both ends have");
    } else if (!is_initial("max_op_vls")) {
      carry_changed(
          "max_op_vls",
          "port.max_operational_vls",
          fmt::format("{}", vls_),
          fmt::format(
              "OpenSM has a code, of which {} is {} VLs, and smd their number", code, vls_));
    }
    if (!is_initial("nue_max_num_vls")) {
      say_not_carried("nue_max_num_vls",
                      "engine nue takes as many VLs as it needs, of port.max_operational_vls");
    }
  }

  struct NamedFile {
    std::string path;
    std::string text;
  };

  /// A file that OpenSM reads: the one that is named, or where nobody named one that of its build.
  /// Nothing, with a line on it, where there is none.
  std::optional<NamedFile> open(std::string_view name, std::string_view consequence) {
    std::vector<std::string> paths;
    const auto named = text_of(name);
    if (!named) return std::nullopt;
    if (find(name) != nullptr) {
      paths = {*named};
    } else {
      for (const std::string_view folder : kOpensmFolders)
        paths.push_back(fmt::format("{}/{}", folder, file_name(*named)));
    }
    for (const std::string& path : paths) {
      if (!path.starts_with('/')) {
        complain(name,
                 fmt::format("{} is {}; an absolute path, since smd has another working directory",
                             name,
                             print_value({path})));
        return std::nullopt;
      }
      auto text = sources_.read(path);
      if (!text) continue;
      if (!*text) {
        add_faults(text->error());
        return std::nullopt;
      }
      return NamedFile{path, std::move(**text)};
    }
    if (find(name) != nullptr || !consequence.empty()) {
      say_not_carried(
          name,
          fmt::format("there is no such file on this machine{}; if it is elsewhere, name it in {}",
                      consequence,
                      find_opensm_option(name)->ours));
    }
    return std::nullopt;
  }

  void carry_partitions() {
    if (const auto file = open("partition_config_file",
                               ": every port is a full member of the default partition, in OpenSM "
                               "and in smd")) {
      const auto reading = parse_partition_file(file->text, file->path);
      if (!reading) {
        add_faults(reading.error());
        add_faults({{file->path,
                     0,
                     "OpenSM shrugs such a fault off and makes everybody a full member; smd would "
                     "not start: correct it first"}});
      } else {
        carry("partition_config_file", "partitions.file", quote_toml(file->path));
        report_choice_of_key(reading->rules);
        if (!is_true("qos")) report_levels(reading->rules, file->path);
      }
    }
    std::string enforcement = text_of("part_enforce").value_or("");
    static constexpr std::string_view kKinds[] = {"both", "in", "out", "off"};
    if (std::ranges::find(kKinds, enforcement) == std::end(kKinds)) {
      return complain(
          "part_enforce",
          fmt::format("part_enforce is {}; one of both, in, out, off", print_value({enforcement})));
    }
    if (is_true("no_partition_enforcement")) {
      carry("no_partition_enforcement", "partitions.enforcement", "\"off\"");
      if (!is_initial("part_enforce"))
        say("part_enforce", Overruled, "overruled by no_partition_enforcement");
    } else if (!is_initial("part_enforce")) {
      carry("part_enforce", "partitions.enforcement", quote_toml(enforcement));
    }
    if (is_true("allow_both_pkeys")) carry("allow_both_pkeys", "partitions.allow_both", "\"yes\"");
  }

  void carry_mode() {
    if (!is_true("force_heavy_sweep")) return;
    carry_changed("force_heavy_sweep",
                  "sm.mode",
                  "\"full\"",
                  "changes are answered by a full discovery so; the sweep between changes stays a "
                  "question to every switch");
  }

  void carry_engine() {
    const std::string list = text_of("routing_engine").value_or("");
    const std::vector<std::string> names = split_engines(list);
    std::vector<std::string> engines;
    std::vector<std::string> why;
    for (const std::string& name : names) {
      if (name == "no_fallback") {
        why.emplace_back("smd falls back on updn all the same");
        continue;
      }
      const OpensmEngine* row = find_opensm_engine(name);
      const bool plugin = name.starts_with(kPluginPrefix);
      std::string engine = plugin           ? name.substr(kPluginPrefix.size())
                           : row != nullptr ? std::string(row->ours)
                                            : "";
      if (find_engine(engine) == nullptr) {
        std::vector<std::string_view> known;
        for (const OpensmEngine& each : opensm_engines()) known.push_back(each.name);
        const std::string nearest = row == nullptr ? name_nearest(name, known) : "";
        why.push_back(fmt::format("{}smd has nothing like {}", nearest, printable(name)));
        engine.clear();
      } else if (plugin) {
        why.emplace_back("the plugin's engines have no prefix in smd");
      } else if (!row->difference.empty()) {
        why.emplace_back(row->difference);
      }
      const bool had_one_vl = plugin ? !is_true("qos") : number_of("nue_max_num_vls") == 1;
      if (had_one_vl && (plugin ? std::ranges::count(kTakesVls, engine) != 0 : engine == "nue"))
        why.push_back(fmt::format("{} had one VL, and takes what it needs here", printable(name)));
      if (!engine.empty() && std::ranges::find(engines, engine) == engines.end())
        engines.push_back(engine);
    }
    if (names.empty()) {
      engines = {"minhop"};
      put("sm.engine", "\"minhop\"", "routing_engine");
      say("routing_engine",
          Carried,
          "carried as sm.engine = \"minhop\", which OpenSM takes where none is named; where its "
          "routes could block each other in a circle smd falls back on updn, with an alarm");
    } else {
      if (engines.empty()) engines = {"auto"};
      const std::string value =
          engines.size() == 1 ? quote_toml(engines.front()) : config_kinds::print_texts(engines);
      if (why.empty()) {
        carry("routing_engine", "sm.engine", value);
      } else {
        carry_changed(
            "routing_engine", "sm.engine", value, fmt::format("{}", fmt::join(why, "; ")));
      }
    }
    const bool ours_first = !names.empty() && names.front().starts_with(kPluginPrefix);
    const auto words = ours_first ? plugin_words() : std::vector<OpensmPluginWord>{};
    if (text_of("root_guid_file") && std::ranges::count(words, "sm.roots", &OpensmPluginWord::ours))
      say("root_guid_file",
          Overruled,
          "overruled by roots= of event_plugin_options, which the first engine reads");
    else
      carry_roots(engines);
    report_connected_tops(engines);
  }

  void carry_roots(const std::vector<std::string>& engines) {
    const auto file = open("root_guid_file", "");
    if (!file) return;
    const std::vector<Guid> roots = read_root_file(file->path, file->text);
    if (roots.empty()) {
      return say_not_carried("root_guid_file", "the file names no switch");
    }
    std::vector<std::string> words;
    for (const Guid root : roots) words.push_back(fmt::format("\"0x{:016x}\"", root.value()));
    const std::string toml = fmt::format("[{}]", fmt::join(words, ", "));
    if (std::ranges::find(engines, "updn") == engines.end()) {
      return say_not_carried(
          "root_guid_file",
          fmt::format("engine {} takes no roots, updn alone does", fmt::join(engines, ", ")));
    }
    carry_changed("root_guid_file",
                  "sm.roots",
                  toml,
                  roots.size() == 1
                      ? "GUIDs stand in the configuration itself, in the only form that smd takes; "
                        "smd says in its log where one is no switch"
                      : "GUIDs stand in the configuration itself, in the only form that smd takes; "
                        "all stand on the top level, as with OpenSM, but where traffic would flow "
                        "less evenly so than from one switch, chosen by trial, that one is taken, "
                        "and a note of the routes says so");
  }

  void carry_max_rate() {
    constexpr const char* kOriginal = "use_original_extended_sa_rates_only";
    const bool original = is_true(kOriginal);
    if (original)
      carry_changed(kOriginal, "sa.max_rate", "18", "it leaves rates with codes up to 18");
    const std::uint64_t code = number_of("max_rate_enum");
    if (code == 0 || (original && code > 18)) return;
    if (code < 2 || code > 63) return say_not_carried("max_rate_enum", "codes are 2 to 63");
    carry("max_rate_enum", "sa.max_rate", fmt::format("{}", code));
  }

  void carry_prefix_routes() {
    constexpr const char* kName = "prefix_routes_file";
    const bool named = find(kName) != nullptr;
    if (named && is_initial(kName) && !sources_.read(text_of(kName).value_or(""))) return;
    const auto file = open(kName, "");
    if (!file) return;
    std::vector<std::string> lines;
    for (const std::string_view line : option_kinds::split(file->text, '\n')) {
      const std::string_view text = trim(line.substr(0, line.find('#')));
      if (text.empty()) continue;
      if (!parse_prefix_route(text))
        return say_not_carried(
            kName, fmt::format("{}: '{}' is no prefix and GUID", file->path, printable(text)));
      lines.push_back(quote_toml(text));
    }
    const std::string list = fmt::format("[{}]", fmt::join(lines, ", "));
    carry_changed(kName, "sa.prefix_routes", list, "lines stand in the configuration itself");
  }

  /// OpenSM passes over lines that are no GUID and name, smd does not.
  void carry_node_names() {
    const auto file = open("node_name_map_name", "");
    if (!file) return;
    if (const auto names = parse_node_name_map(file->text, file->path); !names)
      return say_not_carried("node_name_map_name", print_fault(names.error().front()));
    carry("node_name_map_name", "sm.node_name_map", quote_toml(file->path));
  }

  void carry_plugin() {
    const std::string names = text_of("event_plugin_name").value_or("");
    const bool has_ours = names.find(kPlugin) != std::string::npos;
    for (const char* name : {"event_plugin_name", "event_plugin_options"}) {
      if (is_initial(name)) continue;
      if (has_ours && std::string_view(name) == "event_plugin_options") {
        carry_plugin_words();
      } else if (has_ours && names == kPlugin) {
        say_not_needed(name, "the engines of that plugin are smd's own");
      } else {
        say_not_carried(name,
                        "nothing is loaded into smd; `smctl watch` prints events, and "
                        "log.event_program is run for each");
      }
    }
  }

  [[nodiscard]] std::vector<OpensmPluginWord> plugin_words() const {
    const bool has_ours =
        text_of("event_plugin_name").value_or("").find(kPlugin) != std::string::npos;
    return read_plugin_words(has_ours ? text_of("event_plugin_options").value_or("") : "");
  }

  void carry_plugin_words() {
    std::vector<std::string> said;
    bool all = true;
    for (OpensmPluginWord& word : plugin_words()) {
      if (word.ours == "sm.roots" && values_.contains(word.ours)) {
        word.ours.clear();
        word.why = "the first engine reads root_guid_file";
      }
      if (word.ours.empty()) {
        all = false;
        said.push_back(fmt::format("{} not carried because {}", printable(word.text), word.why));
      } else {
        put(word.ours, word.toml, "event_plugin_options");
        said.push_back(
            fmt::format("{} carried as {} = {}", printable(word.text), word.ours, word.toml));
      }
    }
    if (said.empty()) return say_not_needed("event_plugin_options", "it has no words");
    say("event_plugin_options",
        all ? Carried : NotCarried,
        fmt::format("{}", fmt::join(said, "; ")));
  }

  void carry_log() {
    if (!is_initial("log_flags")) {
      const auto [level, why] = read_log_flags(number_of("log_flags"));
      carry_changed("log_flags", "log.level", quote_toml(level), why);
    }
    const auto file = text_of("log_file");
    if (is_initial("log_file") || !file) return;
    if (*file == "stdout" || *file == "stderr" || *file == "-") {
      return carry_changed(
          "log_file", "log.sink", "\"stderr\"", "that is where journald reads a service");
    }
    if (!file->starts_with('/')) {
      return complain("log_file",
                      fmt::format("log_file is {}; an absolute path", print_value({*file})));
    }
    log_name_ = std::string(file_name(*file));
    if (log_name_.empty()) log_name_ = "smd";
    if (!log_name_.ends_with(".log")) log_name_ += ".log";  // of those /etc/logrotate.d/smd knows
    carry_changed("log_file",
                  "log.sink",
                  quote_toml(fmt::format("{}/{}", kLogFolder, log_name_)),
                  ports_.size() > 1 ? "smd.service may write below /var/log/smd alone; each port "
                                      "has a file with its GUID in the name"
                                    : "smd.service may write below /var/log/smd alone");
  }

  // QoS.

  void carry_qos() {
    if (is_true("use_optimized_slvl"))
      carry("use_optimized_slvl", "qos.optimized_sl2vl", "\"yes\"");
    static constexpr std::string_view kPrefixes[] = {"", "ca_", "sw0_", "swe_", "rtr_"};
    const bool on = is_true("qos");
    if (on && find("qos") != nullptr)
      say("qos", NotNeeded, "not needed because smd sets the tables that its file has");
    for (const std::string_view prefix : kPrefixes) {
      const auto name = [&](std::string_view what) {
        return fmt::format("qos_{}{}", prefix, what);
      };
      if (!is_initial(name("max_vls"))) {
        say_not_needed(name("max_vls"),
                       "it changes nothing in OpenSM either: VLs are those of max_op_vls");
      }
      carry_table(name("sl2vl"), prefix, kInitialSl2Vl, convert_opensm_sl2vl);
      carry_table(name("vlarb_high"), prefix, kInitialArbHigh, convert_opensm_arbitration);
      carry_table(name("vlarb_low"), prefix, kInitialArbLow, convert_opensm_arbitration);
      carry_high_limit(name("high_limit"), prefix);
      if (on && prefix.starts_with("sw") && text_of(name("sl2vl"))) {
        say(name("sl2vl"),
            Changed,
            "packets to an enhanced port 0 are mapped by its own row in smd, in OpenSM by that of "
            "external ports");
      }
    }
    if (on) {
      if (const auto file = open("qos_policy_file", "")) {
        const auto reading = parse_qos_file(file->text, file->path);
        if (!reading) return add_faults(reading.error());
        carry("qos_policy_file", "qos.policy_file", quote_toml(file->path));
      }
    } else if (!is_initial("qos_policy_file")) {
      say_not_needed("qos_policy_file", "qos is FALSE, and OpenSM reads no policy then");
    }
  }

  /// OpenSM has a table of its own where QoS is on and none is given; smd would leave the port's.
  template <class Convert>
  void carry_table(const std::string& name,
                   std::string_view prefix,
                   std::string_view initial,
                   Convert convert) {
    const auto given = text_of(name);
    const std::string_view ours = find_opensm_option(name)->ours;
    if (!is_true("qos")) {
      if (given) say_not_needed(name, "qos is FALSE, and OpenSM sets no such table then");
      return;
    }
    if (!given && !prefix.empty()) return;
    const std::string text = given ? *given : std::string(initial);
    const auto toml = convert(text, vls_);
    if (!toml) {
      return complain(name,
                      fmt::format("{} is {}; {}",
                                  name,
                                  print_value({text}),
                                  name.ends_with("sl2vl")
                                      ? "16 VLs from 0 to 15, with commas between them"
                                      : "at most 64 entries VL:WEIGHT with commas between them, VL "
                                        "0 to 14, weight 0 to 255"));
    }
    const auto plain = convert(text, 15);
    if (!given) {
      put(ours, *toml, name);
      say(name,
          Carried,
          fmt::format("carried as {} = {}, which OpenSM sets where qos is TRUE and none is given",
                      ours,
                      *toml));
    } else if (*toml != *plain) {
      carry_changed(name,
                    ours,
                    *toml,
                    fmt::format("of {} VLs OpenSM takes these, modulo their number", vls_));
    } else if (name.ends_with("sl2vl") && std::ranges::count(text, ',') + 1 < 16) {
      carry_changed(name, ours, *toml, "OpenSM gives VL 0 to the SLs that a short list leaves out");
    } else {
      carry(name, ours, *toml);
    }
  }

  void carry_high_limit(const std::string& name, std::string_view prefix) {
    const std::string_view ours = find_opensm_option(name)->ours;
    if (!is_true("qos")) {
      if (!is_initial(name)) say_not_needed(name, "qos is FALSE, and OpenSM sets no limit then");
    } else if (!is_initial(name)) {
      carry(name, ours, fmt::format("{}", number_of(name)));
    } else if (prefix.empty()) {
      put(ours, "0", name);
      say(name,
          Carried,
          fmt::format("carried as {} = 0, which OpenSM sets where qos is TRUE and none is given",
                      ours));
    }
  }

  // Congestion control: what is set in OpenSM's file is written as it is, its zeros too; what smd
  // finds no value for it would compute.

  void carry_congestion() {
    const bool on = is_true("congestion_control");
    if (on) carry("congestion_control", "congestion.enabled", "true");
    for (const OpensmOption& row : opensm_options()) {
      if (!row.name.starts_with("cc_")) continue;
      if (!on) {
        if (row.kind == OpensmKind::BySl ? by_sl_is_set(row) : !is_initial(row.name))
          say_unused(row);
        continue;
      }
      carry_congestion(row);
    }
  }

  [[nodiscard]] bool by_sl_is_set(const OpensmOption& row) const {
    const auto it = by_sl_.find(row.name);
    return it != by_sl_.end() && std::ranges::any_of(it->second, [&](const InForce& each) {
             return read_by_sl(*each.setting, row.most)->second != 0;
           });
  }

  void say_unused(const OpensmOption& row) {
    constexpr std::string_view kWhy = "congestion_control is FALSE, and OpenSM does nothing then";
    if (row.kind != OpensmKind::BySl) return say_not_needed(row.name, kWhy);
    for (const InForce& each : by_sl_.find(row.name)->second) {
      report(each.place,
             each.setting->where,
             show_of(each),
             NotNeeded,
             fmt::format("not needed because {}", kWhy));
    }
  }

  void carry_congestion(const OpensmOption& row) {
    switch (row.kind) {
      case OpensmKind::Key:
        if (number_of(row.name) != 0) carry(row.name, row.ours, print_key(number_of(row.name)));
        return;
      case OpensmKind::Number:
        return carry_number(row);
      case OpensmKind::Mask:
        return carry(row.name, row.ours, quote_toml(text_of(row.name).value_or("0x0")));
      case OpensmKind::BySl:
        return carry_by_sl(row);
      default:
        break;
    }
    const auto text = text_of(row.name);
    if (!text) {
      return say_not_carried(row.name, "it is not set, and smd computes one by the link's rate");
    }
    const auto option = std::ranges::find(config_options(), row.ours, &ConfigOption::name);
    Config scratch;
    if (!option->apply({*text}, scratch)) {
      return complain(row.name,
                      fmt::format("{} is {}; {}", row.name, print_value({*text}), option->range));
    }
    carry(row.name, row.ours, quote_toml(*text));
  }

  void carry_by_sl(const OpensmOption& row) {
    std::map<std::uint64_t, std::uint64_t> values = {{0, 0}};  // as `opensm -c` has it
    const auto it = by_sl_.find(row.name);
    if (it != by_sl_.end()) {
      values.clear();
      for (const InForce& each : it->second) {
        const auto [sl, number] = *read_by_sl(*each.setting, row.most);
        values[sl] = number;
      }
    }
    std::vector<std::string> words;
    for (const auto& [sl, number] : values) words.push_back(fmt::format("\"{} {}\"", sl, number));
    const std::string toml = fmt::format("[{}]", fmt::join(words, ", "));
    values_[std::string(row.ours)] = {toml, std::string(row.name)};
    if (it == by_sl_.end()) {
      return say(row.name, Carried, fmt::format("carried as {} = {}", row.ours, toml));
    }
    for (const InForce& each : it->second) {
      report(each.place,
             each.setting->where,
             show_of(each),
             Carried,
             fmt::format("carried in {} = {}", row.ours, toml));
    }
  }

  // Writing.

  void write_configs(OpensmImport& out) {
    if (ports_.size() <= 1) {
      if (!ports_.empty())
        values_["transport.port_guid"] = {print_key(ports_.front().value()), start_.ports_where};
      out.configs.push_back({"smd.toml", print()});
    }
    for (std::size_t i = 0; ports_.size() > 1 && i < ports_.size(); ++i) {
      const std::string instance = fmt::format("0x{:016x}", ports_[i].value());
      const auto own = [&](std::string_view ours, const std::string& text) {
        values_[std::string(ours)] = {quote_toml(text), "of this port alone"};
      };
      own("transport.port_guid", instance);
      own("sm.state_dir", "/var/lib/smd/" + instance);
      own("admin.socket", fmt::format("/run/smd/{}.sock", instance));
      if (!log_name_.empty())
        own("log.sink", fmt::format("{}/{}.{}", kLogFolder, instance, log_name_));
      out.configs.push_back({instance + ".toml", print()});
    }
    for (const ImportedConfig& each : out.configs) {
      // Rules between options: what each source says alone may not go together.
      if (const auto config = parse_config(each.text, each.name); !config)
        add_faults(config.error());
    }
  }

  [[nodiscard]] std::string print() const {
    std::string text = fmt::format("# From {}, by smd import-opensm.\n",
                                   sources_.text ? printable(sources_.file) : "OpenSM's defaults");
    std::string_view section;
    for (const ConfigOption& option : config_options()) {
      const auto it = values_.find(option.name());
      if (it == values_.end()) continue;
      if (option.section != section) text += fmt::format("\n[{}]\n", option.section);
      section = option.section;
      text +=
          fmt::format("{} = {}  # {}\n", option.key, it->second.toml, printable(it->second.remark));
    }
    return text;
  }

  std::vector<Guid> ports_;
  unsigned vls_ = 15;
  std::string log_name_;
  std::map<std::string, Value> values_;
};

}  // namespace

Parsed<OpensmImport> import_opensm(const OpensmSources& sources) { return Importer(sources).run(); }

}  // namespace smd
