// The daemon's command line: run, dry-run, verify, state, check-config, import-opensm.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "sim-backend/topology/network.h"
#include "sim-backend/topology/snapshot.h"
#include "smd/base/command_line.h"
#include "smd/base/log.h"
#include "smd/base/program.h"
#include "smd/base/progress.h"
#include "smd/bin/commands.h"
#include "smd/bin/version.h"
#include "smd/config/opensm_config.h"
#include "smd/config/option_kinds.h"
#include "smd/config/options.h"
#include "smd/config/reconfiguration_mode.h"
#include "smd/congestion/plan.h"
#include "smd/routing/engine.h"
#include "smd/state/state_files.h"

namespace smd::bin {
namespace {

constexpr const char* kDefaultConfig = "/etc/smd/smd.toml";

struct Options {
  std::string config;
  std::string engine;
  std::string mode;
  std::string fabric;  // that a configuration is judged against
  int verbose = 0;
  bool quiet = false;
  RunOptions run;
  DryRunOptions dry_run;
  VerifyOptions verify;
  StateOptions state;
  OpensmImportOptions opensm;
  bool print = false;  // the configuration that is checked
};

/// load_config(), or load_options().
using Load = Parsed<Config>(const std::string&, ConfigLines*, const OptionNames&);

/// The file that was named, or the default one when it exists, as `load` reads it.
Parsed<Config> read_config(std::string& path,
                           bool use_default,
                           Load* load,
                           ConfigLines* lines,
                           const OptionNames& overridden = {}) {
  std::error_code error;
  if (path.empty() && use_default && std::filesystem::exists(kDefaultConfig, error))
    path = kDefaultConfig;
  if (path.empty()) return Config{};
  return load(path, lines, overridden);
}

/// "ftree,updn"
std::vector<std::string> split_names(std::string_view list) {
  std::vector<std::string> names;
  for (const std::string_view name : config_kinds::split_trimmed(list, ','))
    names.emplace_back(name);
  return names;
}

/// What apply() sets.
OptionNames list_overridden(const Options& options) {
  OptionNames names;
  if (!options.engine.empty()) names.emplace_back("sm.engine");
  if (!options.mode.empty()) names.emplace_back("sm.mode");
  return names;
}

/// What the command line says on top of the file, whose options stand at `lines`.
Parsed<Config> apply(Config config, const Options& options, const ConfigLines& lines) {
  if (!options.engine.empty()) config.sm.engine = split_names(options.engine);
  for (const std::string& engine : config.sm.engine) {
    if (find_engine(engine) != nullptr) continue;
    std::string names;
    for (std::string_view name : engine_names())
      names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
    const auto at = lines.find("sm.engine");
    const bool in_file = options.engine.empty();
    return fault(in_file ? options.config : "--engine",
                 in_file && at != lines.end() ? at->second : 0,
                 fmt::format("no engine is called '{}'; one of {}", engine, names));
  }
  if (!options.mode.empty()) {
    if (!parse_reconfiguration_mode(options.mode)) {
      return fault(
          "--mode",
          0,
          fmt::format("'{}' is no mode; {}", options.mode, reconfiguration_mode_grammar()));
    }
    config.sm.mode = options.mode;
  }
  // The file went with what it says itself.
  const auto broken = find_broken_rules(config);
  if (broken.empty()) return config;
  const auto is_about = [&](const char* key) {
    return std::ranges::count(broken.front().options, key) != 0;
  };
  const bool by_engine = !options.engine.empty() && is_about("sm.engine");
  return fault(by_engine ? "--engine" : "--mode", 0, broken.front().why);
}

/// The level that the command line asks for; empty: none.
std::string asked_level(const Options& options) {
  if (options.quiet) return "error";
  if (options.verbose > 1) return "debug";
  return options.verbose == 1 ? "info" : "";
}

void set_log_level(const Options& options, log::Level usual) {
  const auto asked = log::parse_level(asked_level(options));
  log::set_level(asked ? *asked : usual);
}

/// Who comes from OpenSM may miss rules that it read unasked.
void warn_of_unnamed_files(const Config& config) {
  const auto exists = [](const std::string& path) {
    std::error_code error;
    return std::filesystem::exists(path, error);
  };
  for (const UnnamedFile& each : find_unnamed_files(config, exists)) {
    log::warn("config.not_named",
              "file={} option={} OpenSM reads it unasked, smd where the option names it",
              each.path,
              each.option);
  }
}

/// Who starts smd.service in place of smd.target has one manager, on whatever port is up.
void warn_of_configs_of_ports(const Config& config, const std::string& path) {
  const TransportConfig& transport = config.transport;
  if (!transport.device.empty() || transport.port != 0 || transport.port_guid != Guid{}) return;
  const std::filesystem::path folder =
      std::filesystem::path(path.empty() ? kDefaultConfig : path).parent_path();
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; it != end; it.increment(error)) {
    const std::string name = it->path().filename();
    if (name.starts_with("0x") && name.ends_with(".toml")) names.push_back(name);
  }
  if (names.empty()) return;
  std::ranges::sort(names);
  log::warn("config.ports",
            "files={} folder={} they are for one port each and not read by this manager, which "
            "takes the first port that is up; smd.target starts one for each",
            fmt::join(names, ","),
            folder.string());
}

/// What is wrong with the words that say which manager of the machine this is.
Faults check_place(const RunOptions& run) {
  if (!run.instance.empty() && !is_instance_name(run.instance)) {
    return {Fault{"--instance",
                  0,
                  fmt::format("'{}' is no name; the GUID of a port, such as 0x0002c9030002fb06, or "
                              "letters, digits, '.', '_' and '-'",
                              run.instance)}};
  }
  if (!run.port_guid.empty() && !config_kinds::parse_guid(run.port_guid)) {
    return {Fault{
        "--port-guid",
        0,
        fmt::format("'{}' is no GUID; 0x and up to 16 digits, as ibstat shows it", run.port_guid)}};
  }
  return {};
}

/// LIDs of simulated ports would be kept for ever among those of the adapter's subnet.
Faults check_simulated(const Config& config) {
  if (config.transport.kind != TransportKind::Sim || config.sm.state_dir != SmConfig{}.state_dir)
    return {};
  return {
      Fault{"sm.state_dir",
            0,
            fmt::format(
                "{} is for the subnet of an adapter, not for a simulated one: name another folder "
                "in a file (-c FILE), or use smd dry-run",
                config.sm.state_dir)}};
}

/// Whether the instance has a file for itself, where none is named: then it is the one that counts.
bool take_own_file(Options& options) {
  if (!options.config.empty() || options.run.instance.empty()) return false;
  const std::string own_file = fmt::format("/etc/smd/{}.toml", options.run.instance);
  std::error_code error;
  const bool has_own = std::filesystem::exists(own_file, error);
  if (has_own) options.config = own_file;
  return has_own;
}

/// As smd@.service has it in the journal.
std::string ident_of(const std::string& instance) { return "smd@" + instance; }

/// What is wrong with the files that the configuration names, as a start takes them: one with
/// faults gives way to its last good text.
int check_files(Config config) {
  const auto files = read_named_files(config, find_last_good(config.sm.state_dir));
  if (!files) return print_faults(files.error());
  for (const NamedFile& each : *files) {
    for (const Fault& fault : each.faults)
      fmt::print(stderr, "{} (in its place: {})\n", print_fault(fault), each.at);
  }
  return 0;
}

int do_run(Options& options) {
  if (const Faults faults = check_place(options.run); !faults.empty()) return print_faults(faults);
  const bool has_own = take_own_file(options);
  ConfigLines lines;
  options.run.overridden = list_overridden(options);
  auto config = read_config(options.config, true, load_options, &lines, options.run.overridden);
  if (!config) return print_faults(config.error());
  const auto override_config = [options, has_own](Config& target) {
    if (!options.run.port_guid.empty())
      target.transport.port_guid = *config_kinds::parse_guid(options.run.port_guid);
    if (!options.run.instance.empty()) set_instance(options.run.instance, has_own, target);
    if (!options.run.transport.empty()) {
      target.transport.kind =
          options.run.transport == "sim" ? TransportKind::Sim : TransportKind::Umad;
    }
    if (!options.run.ca.empty()) target.transport.device = options.run.ca;
    if (options.run.port != 0) target.transport.port = options.run.port;
    if (!options.run.fabric.empty()) {
      target.transport.fabric = options.run.fabric;
      target.transport.kind = TransportKind::Sim;
    }
    if (!options.engine.empty()) target.sm.engine = split_names(options.engine);
    if (!options.mode.empty()) target.sm.mode = options.mode;
    if (const std::string level = asked_level(options); !level.empty()) target.log.level = level;
  };
  auto applied = apply(*config, options, lines);
  if (!applied) return print_faults(applied.error());
  override_config(*applied);
  if (const Faults faults = check_simulated(*applied); !faults.empty()) return print_faults(faults);
  if (options.run.check) return check_files(std::move(*applied));
  if (const auto level = log::parse_level(applied->log.level)) log::set_level(*level);
  if (options.run.once && options.run.json && asked_level(options).empty())
    log::set_level(log::Level::Warn);
  if (!options.run.instance.empty()) log::set_ident(ident_of(options.run.instance));
  if (const auto opened = log::open_sink(applied->log.sink); !opened) {
    // A fabric with a log elsewhere is better than one without a manager.
    options.run.log_trouble = opened.error().context;
    log::error("log.open", "why=\"{}\" instead=stderr", options.run.log_trouble);
  }
  if (applied->transport.kind == TransportKind::Umad) {
    warn_of_unnamed_files(*applied);
    if (options.run.instance.empty()) warn_of_configs_of_ports(*applied, options.config);
  }
  options.run.config_path = options.config;
  return run(*applied, options.run, override_config);
}

int do_dry_run(Options& options) {
  ConfigLines lines;
  auto config = read_config(options.config, false, load_config, &lines, list_overridden(options));
  if (!config) return print_faults(config.error());
  auto applied = apply(*config, options, lines);
  if (!applied) return print_faults(applied.error());
  set_log_level(options, log::Level::Error);
  return dry_run(*applied, options.dry_run);
}

/// What a configuration asks for that this fabric does not allow.
Faults find_misfits(const Config& config, const Options& options) {
  Faults notes;
  const auto spec = sim::load_fabric(options.fabric, notes);
  if (!spec) return spec.error();
  static_cast<void>(print_faults(notes));
  const auto fabric = sim::build_snapshot(*spec);
  const cc::Facts facts = cc::read_facts(*fabric, {.mtu_max = config.port.mtu_max});
  const std::string refusal = cc::build_plan(facts, config.congestion).refusal;
  if (!config.congestion.enabled || refusal.empty()) return {};
  return {Fault{options.config, 0, fmt::format("[congestion] in {}: {}", options.fabric, refusal)}};
}

/// The file, and with --instance what `smd run` would make of it.
int do_check_config(Options& options) {
  const std::string& instance = options.run.instance;
  if (options.config.empty() && instance.empty()) {
    return print_faults(
        {Fault{"check-config", 0, "names no file; -c FILE, or --instance NAME for the one of it"}});
  }
  if (const Faults faults = check_place(options.run); !faults.empty()) return print_faults(faults);
  const bool has_own = take_own_file(options);
  ConfigLines lines;
  auto config = read_config(options.config, true, load_config, &lines);
  if (!config) return print_faults(config.error());
  auto applied = apply(*config, options, lines);
  if (!applied) return print_faults(applied.error());
  if (!options.fabric.empty()) {
    if (const Faults misfits = find_misfits(*applied, options); !misfits.empty())
      return print_faults(misfits);
  }
  static_cast<void>(log::parse_level(config->log.level));  // says so where the word is an old one
  for (const Fault& each : find_remarks(*config)) fmt::print(stderr, "{}\n", print_fault(each));
  for (const Faults& remarks : {config->partitions.remarks, config->qos.remarks}) {
    for (const Fault& each : remarks)
      fmt::print(stderr, "{} (taken as it is)\n", print_fault(each));
  }
  if (!instance.empty()) set_instance(instance, has_own, *applied);
  if (options.print) {
    if (!instance.empty())
      fmt::print(
          "# Instance {}; the journal and syslog call it {}.\n", instance, ident_of(instance));
    fmt::print(
        "{}",
        print_config_sources(*applied, lines, options.config, *config, "--instance " + instance));
  } else if (!options.quiet) {
    fmt::print("{}: good\n", options.config.empty() ? "defaults" : options.config);
  }
  return 0;
}

/// That of the manager which `smd run` would be with the same words.
int do_state(Options& options, bool is_export) {
  const std::string& instance = options.run.instance;
  if (const Faults faults = check_place(options.run); !faults.empty()) return print_faults(faults);
  const bool has_own = take_own_file(options);
  auto config = read_config(options.config, true, load_config, nullptr);
  if (!config) return print_faults(config.error());
  if (!instance.empty()) set_instance(instance, has_own, *config);
  return is_export ? export_state(*config, options.state) : import_state(*config, options.state);
}

int run_command_line(int argc, char** argv) {
  Options options;
  CommandLine line{"smd, an InfiniBand subnet manager"};
  line.show_version(fmt::format("smd {}", version()));
  line.require_command();
  line.let_options_follow_commands();
  line.flag("-v,--verbose", options.verbose, "More log lines; twice for one per SMP");
  line.flag("--quiet", options.quiet, "Errors only");

  Command run = line.command("run", "Manage the subnet behind an adapter");
  run.option(
      "-c,--config", options.config, "Configuration file (/etc/smd/smd.toml where there is one)");
  run.option("--transport", options.run.transport, "umad or sim").one_of({"umad", "sim"});
  run.option("--ca", options.run.ca, "Adapter, e.g. mlx5_0");
  run.option("--port", options.run.port, "Port of the adapter").range(0, 254);
  run.option("--port-guid", options.run.port_guid, "The port by its GUID, as ibstat shows it");
  run.option("--instance",
             options.run.instance,
             "One of several managers of this machine: a port's GUID or a name; reads "
             "/etc/smd/NAME.toml where there is one, has state, socket and log of its own");
  run.option(
      "--fabric", options.run.fabric, "Simulated fabric instead of an adapter: file or generator");
  run.option("--engine", options.engine, "Routing engine, or several in order: ftree,updn");
  run.option("--mode", options.mode, "certified, basic, improved, or words such as improved+delta");
  run.flag(
      "--once", options.run.once, "One bring-up, then exit: 0 when the subnet is up and verified");
  run.flag("--json", options.run.json, "With --once: the report as JSON");
  run.flag("--check",
           options.run.check,
           "Start nothing: judge the command line, the configuration and the files that it names "
           "as this start would; 0, or 2 with every fault");

  Command dry = line.command("dry-run", "Bring up a simulated fabric in virtual time");
  dry.option("-c,--config", options.config, "Configuration file");
  dry.option("--fabric", options.dry_run.fabric, "File or generator (smsim gen --list)").required();
  dry.option("--engine", options.engine, "Routing engine, or several in order: ftree,updn");
  dry.option("--mode", options.mode, "certified, basic, improved, or words such as improved+delta");
  dry.option(
      "--fail", options.dry_run.fail, "NODE:PORT takes a link down, NODE a node; repeatable");
  dry.option("--timing", options.dry_run.timing, "modern, thesis or none");
  dry.option("--seed", options.dry_run.seed, "Seed of the simulated faults");
  dry.option("--drop", options.dry_run.drop, "Probability that a hop loses a SMP")
      .check([](const std::string& text) { return check_number(text, 0, 0.9); });
  dry.option(
      "--dump", options.dry_run.dump, "Directory for tables, fabric, plan and CSV of the changes");
  dry.flag("--json", options.dry_run.json, "One JSON object on stdout");
  dry.flag("--progress", options.dry_run.progress, smd::progress::kHelp);
  dry.flag("--timeline",
           options.dry_run.timeline,
           "Watch connectivity and deadlocks through every change; up to 64 switches it is "
           "done anyway, beyond it takes time");

  Command verify = line.command("verify", "Check forwarding tables that another manager wrote");
  verify
      .option("--fabric",
              options.verify.fabric,
              "Output of ibnetdiscover, another fabric file, or a generator")
      .required();
  verify.option("--lft", options.verify.lft, "Output of dump_fts, or opensm-lfts.dump").required();
  verify.option("--sl2vl", options.verify.sl2vl, "opensm-sl2vl.dump; without it one VL is assumed");
  verify.option("--path-sl",
                options.verify.path_sl,
                "Output of saquery -p; without it every path may take every SL");
  verify.option("--mft",
                options.verify.mft,
                "opensm.mcfdbs: the multicast tables are judged with the unicast ones");
  verify.option(
      "--groups",
      options.verify.groups,
      "Output of saquery -m, or opensm-sa.dump; without it anybody may send to any group");
  verify.flag("--one-sender",
              options.verify.one_sender,
              "Of a group with one member that joined to send alone, nobody else sends "
              "(sm.multicast_trees by-sender and multi-path)");
  verify.flag("--any-sl",
              options.verify.any_sl,
              "Strict: hosts may use any SL, whatever their path was given");
  verify
      .option("--permutations",
              options.verify.permutations,
              "Random permutations for the effective bisection")
      .range(0, 100000);
  verify.flag("--json", options.verify.json, "One JSON object on stdout");
  verify.flag("--progress", options.verify.progress, smd::progress::kHelp);

  Command state = line.command("state", "What survives a restart, as one text");
  state.require_command();
  Command out = state.command("export", "Print all of it");
  const CommandOption file = out.option("-o,--out", options.state.out, "File instead of stdout");
  out.option("--as", options.state.format, "smd, or opensm: files for its cache directory")
      .one_of({"smd", "opensm"});
  out.option("DIR", options.state.opensm_dir, "Where files for OpenSM go").excludes(file);
  out.flag("--replace",
           options.state.replace,
           "With --as opensm: files of before are called NAME.before-smd from then on");
  out.flag("--leave-turns",
           options.state.leave_turns,
           "With --as opensm: although turns are blocked, as of switches that are gone");
  Command in =
      state.command("import", "Take over an export, or OpenSM's guid2lid and opensm-sa.dump");
  in.option("FILE", options.state.files, "Told apart by their content").required();
  in.flag("--replace", options.state.replace, "Also what is there already");
  for (Command each : {out, in}) {
    each.option("-c,--config", options.config, "Configuration file");
    each.option("--instance",
                options.run.instance,
                "As smd run with it: the instance's file, state directory and socket");
    each.option("--dir", options.state.dir, "State directory instead of the configuration's");
  }

  Command check = line.command("check-config", "Read a configuration and report every fault");
  check.option("-c,--config", options.config, "Configuration file");
  check.option(
      "--fabric",
      options.fabric,
      "File or generator: also whether [congestion] suits it; dry-run -c FILE tries the rest");
  check.option("--instance",
               options.run.instance,
               "As smd run with it: the instance's file, its state directory, socket, ports, log");
  check.flag("--print", options.print, "Every option with its value, and where that comes from");

  Command opensm =
      line.command("import-opensm", "Write OpenSM's configuration as smd's, with a report");
  opensm.option("FILE", options.opensm.file, "opensm.conf").required();
  opensm.option("--flags", options.opensm.flags, "Its command line, such as \"-p 5 -R ftree\"");
  opensm.option("--sysconfig",
                options.opensm.start_file,
                "Start file of the distribution: /etc/default/opensm, /etc/sysconfig/opensm");
  opensm.option("-o,--out", options.opensm.dir, "Directory for a configuration per port");
  opensm.flag("--force", options.opensm.force, "Also over files that are there");

  if (const auto code = line.parse(argc, argv)) return *code;
  if (opensm.was_given()) return import_opensm_config(options.opensm);
  if (run.was_given()) return do_run(options);
  if (dry.was_given()) return do_dry_run(options);
  if (verify.was_given()) return bin::verify(options.verify);
  if (state.was_given()) return do_state(options, out.was_given());
  return do_check_config(options);
}

}  // namespace
}  // namespace smd::bin

int main(int argc, char** argv) {
  return smd::run_program("smd", [&] { return smd::bin::run_command_line(argc, argv); });
}
