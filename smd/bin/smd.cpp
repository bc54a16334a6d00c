// The daemon's command line (cli.md): run, dry-run, verify, state, check-config.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "sim-backend/topology/snapshot.h"
#include "smd/app/assimilation.h"
#include "smd/base/log.h"
#include "smd/base/program.h"
#include "smd/base/progress.h"
#include "smd/bin/dry_run.h"
#include "smd/bin/run.h"
#include "smd/bin/state.h"
#include "smd/bin/verify.h"
#include "smd/congestion/plan.h"
#include "smd/routing/engine.h"

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
};

int report(const Faults& faults) {
  for (const Fault& each : faults) fmt::print(stderr, "{}\n", print_fault(each));
  return 2;
}

/// The file that was named, or the default one when it exists.
Parsed<Config> read_config(std::string& path, bool use_default) {
  std::error_code error;
  if (path.empty() && use_default && std::filesystem::exists(kDefaultConfig, error))
    path = kDefaultConfig;
  if (path.empty()) return Config{};
  return load_config(path);
}

/// What the command line says on top of the file.
Parsed<Config> apply(Config config, const Options& options) {
  if (!options.engine.empty()) config.sm.engine = options.engine;
  if (find_engine(config.sm.engine) == nullptr) {
    std::string names;
    for (std::string_view name : engine_names())
      names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
    return fault(options.engine.empty() ? options.config : "--engine",
                 0,
                 fmt::format("no engine is called '{}'; one of {}", config.sm.engine, names));
  }
  if (!options.mode.empty()) {
    if (!parse_assimilation(options.mode)) {
      return fault(
          "--mode", 0, fmt::format("'{}' is no mode; {}", options.mode, assimilation_grammar()));
    }
    config.sm.mode = options.mode;
  }
  return config;
}

void set_log_level(const Options& options, log::Level usual) {
  if (options.quiet) {
    log::set_level(log::Level::Error);
  } else if (options.verbose > 1) {
    log::set_level(log::Level::Debug);
  } else {
    log::set_level(options.verbose == 1 ? log::Level::Info : usual);
  }
}

int do_run(Options& options) {
  auto config = read_config(options.config, true);
  if (!config) return report(config.error());
  const auto override_config = [options](Config& target) {
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
    if (!options.engine.empty()) target.sm.engine = options.engine;
    if (!options.mode.empty()) target.sm.mode = options.mode;
  };
  auto applied = apply(*config, options);
  if (!applied) return report(applied.error());
  override_config(*applied);
  if (const auto level = log::parse_level(applied->log.level)) log::set_level(*level);
  if (options.quiet || options.verbose > 0) set_log_level(options, log::Level::Info);
  if (options.run.once && options.run.json && options.verbose == 0)
    log::set_level(log::Level::Warn);
  if (auto sink = log::open_sink(applied->log.sink); !sink) {
    fmt::print(stderr, "{}\n", sink.error().context);
    return 2;
  }
  options.run.config_path = options.config;
  return run(*applied, options.run, override_config);
}

int do_dry_run(Options& options) {
  auto config = read_config(options.config, false);
  if (!config) return report(config.error());
  auto applied = apply(*config, options);
  if (!applied) return report(applied.error());
  set_log_level(options, log::Level::Error);
  return dry_run(*applied, options.dry_run);
}

/// What a configuration asks for that this fabric does not allow.
Faults find_misfits(const Config& config, const Options& options) {
  const auto spec = sim::load_fabric(options.fabric);
  if (!spec) return spec.error();
  const auto fabric = sim::build_snapshot(*spec);
  const cc::Facts facts = cc::read_facts(*fabric, {.mtu_max = config.port.mtu_max});
  const std::string refusal = cc::build_plan(facts, config.congestion).refusal;
  if (!config.congestion.enabled || refusal.empty()) return {};
  return {Fault{options.config, 0, fmt::format("[congestion] in {}: {}", options.fabric, refusal)}};
}

int do_check_config(const Options& options) {
  auto config = load_config(options.config);
  if (!config) return report(config.error());
  auto applied = apply(*config, options);
  if (!applied) return report(applied.error());
  if (!options.fabric.empty()) {
    if (const Faults misfits = find_misfits(*applied, options); !misfits.empty())
      return report(misfits);
  }
  static_cast<void>(log::parse_level(config->log.level));  // says so where the word is an old one
  for (const Faults& remarks : {config->partitions.remarks, config->qos.remarks}) {
    for (const Fault& each : remarks)
      fmt::print(stderr, "{} (taken as it is)\n", print_fault(each));
  }
  if (!options.quiet) fmt::print("{}: good\n", options.config);
  return 0;
}

int do_state(Options& options, bool is_export) {
  auto config = read_config(options.config, true);
  if (!config) return report(config.error());
  return is_export ? export_state(*config, options.state) : import_state(*config, options.state);
}

int run_command_line(int argc, char** argv) {
  Options options;
  CLI::App app{"smd, an InfiniBand subnet manager"};
  app.set_version_flag("--version", std::string("smd ") + SMD_VERSION);
  app.require_subcommand(1);
  app.fallthrough();
  app.add_flag("-v,--verbose", options.verbose, "More log lines; twice for one per SMP");
  app.add_flag("--quiet", options.quiet, "Errors only");

  CLI::App* run = app.add_subcommand("run", "Manage the subnet behind an adapter");
  run->add_option(
      "-c,--config", options.config, "Configuration file (/etc/smd/smd.toml where there is one)");
  run->add_option("--transport", options.run.transport, "umad or sim")
      ->check(CLI::IsMember({"umad", "sim"}));
  run->add_option("--ca", options.run.ca, "Adapter, e.g. mlx5_0");
  run->add_option("--port", options.run.port, "Port of the adapter")->check(CLI::Range(0, 254));
  run->add_option(
      "--fabric", options.run.fabric, "Simulated fabric instead of an adapter: file or generator");
  run->add_option("--engine", options.engine, "Routing engine");
  run->add_option(
      "--mode", options.mode, "certified, basic, improved, or words such as improved+delta");
  run->add_flag(
      "--once", options.run.once, "One bring-up, then exit: 0 when the subnet is up and verified");
  run->add_flag("--json", options.run.json, "With --once: the report as JSON");

  CLI::App* dry = app.add_subcommand("dry-run", "Bring up a simulated fabric in virtual time");
  dry->add_option("-c,--config", options.config, "Configuration file");
  dry->add_option("--fabric", options.dry_run.fabric, "File or generator (smsim gen --list)")
      ->required();
  dry->add_option("--engine", options.engine, "Routing engine");
  dry->add_option(
      "--mode", options.mode, "certified, basic, improved, or words such as improved+delta");
  dry->add_option(
      "--fail", options.dry_run.fail, "NODE:PORT takes a link down, NODE a node; repeatable");
  dry->add_option("--timing", options.dry_run.timing, "modern, thesis or none");
  dry->add_option("--seed", options.dry_run.seed, "Seed of the simulated faults");
  dry->add_option("--drop", options.dry_run.drop, "Probability that a hop loses a SMP")
      ->check([](const std::string& text) { return check_number(text, 0, 0.9); });
  dry->add_option(
      "--dump", options.dry_run.dump, "Directory for tables, fabric, plan and CSV of the changes");
  dry->add_flag("--json", options.dry_run.json, "One JSON object on stdout");
  dry->add_flag("--progress", options.dry_run.progress, smd::progress::kHelp);
  dry->add_flag("--timeline",
                options.dry_run.timeline,
                "Watch connectivity and deadlocks through every change; up to 64 switches it is "
                "done anyway, beyond it takes time");

  CLI::App* verify =
      app.add_subcommand("verify", "Check forwarding tables that another manager wrote");
  verify
      ->add_option("--fabric",
                   options.verify.fabric,
                   "Output of ibnetdiscover, another fabric file, or a generator")
      ->required();
  verify->add_option("--lft", options.verify.lft, "Output of dump_fts, or opensm-lfts.dump")
      ->required();
  verify->add_option(
      "--sl2vl", options.verify.sl2vl, "opensm-sl2vl.dump; without it one VL is assumed");
  verify->add_option("--path-sl",
                     options.verify.path_sl,
                     "Output of saquery -p; without it every path may take every SL");
  verify->add_flag("--any-sl",
                   options.verify.any_sl,
                   "Strict: hosts may use any SL, whatever their path was given");
  verify
      ->add_option("--permutations",
                   options.verify.permutations,
                   "Random permutations for the effective bisection")
      ->check(CLI::Range(0, 100000));
  verify->add_flag("--json", options.verify.json, "One JSON object on stdout");
  verify->add_flag("--progress", options.verify.progress, smd::progress::kHelp);

  CLI::App* state = app.add_subcommand("state", "What survives a restart, as one text");
  state->require_subcommand(1);
  CLI::App* out = state->add_subcommand("export", "Print all of it");
  CLI::Option* file = out->add_option("-o,--out", options.state.out, "File instead of stdout");
  out->add_option("--as", options.state.format, "smd, or opensm: files for its cache directory")
      ->check(CLI::IsMember({"smd", "opensm"}));
  out->add_option("DIR", options.state.opensm_dir, "Where files for OpenSM go")->excludes(file);
  CLI::App* in = state->add_subcommand(
      "import", "Take over an export, or OpenSM's guid2lid and opensm-sa.dump");
  in->add_option("FILE", options.state.files, "Told apart by their content")->required();
  in->add_flag("--replace", options.state.replace, "Also what is there already");
  for (CLI::App* each : {out, in}) {
    each->add_option("-c,--config", options.config, "Configuration file");
    each->add_option("--dir", options.state.dir, "State directory instead of the configuration's");
  }

  CLI::App* check =
      app.add_subcommand("check-config", "Read a configuration and report every fault");
  check->add_option("-c,--config", options.config, "Configuration file")->required();
  check->add_option(
      "--fabric", options.fabric, "File or generator: also what this fabric does not allow");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  if (run->parsed()) return do_run(options);
  if (dry->parsed()) return do_dry_run(options);
  if (verify->parsed()) return bin::verify(options.verify);
  if (state->parsed()) return do_state(options, out->parsed());
  return do_check_config(options);
}

}  // namespace
}  // namespace smd::bin

int main(int argc, char** argv) {
  return smd::run_program("smd", [&] { return smd::bin::run_command_line(argc, argv); });
}
