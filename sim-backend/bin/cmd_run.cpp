#include "sim-backend/bin/cmd_run.h"

#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "sim-backend/bin/interrupt.h"
#include "sim-backend/bin/progress.h"
#include "sim-backend/experiments/parallel.h"
#include "sim-backend/experiments/svg_plot.h"
#include "sim-backend/scenario/result_text.h"
#include "sim-backend/topology/files/read_text.h"
#include "smd/base/log.h"

namespace smd::sim {
namespace {

constexpr int kFailed = 1;
constexpr int kBadInput = 2;
constexpr std::size_t kLargestScenario = 1 << 20;

struct CommandLine {
  std::string file;
  std::string out;
  std::uint64_t seed = 1;
  unsigned seeds = 1;
  unsigned jobs = std::max(1u, std::thread::hardware_concurrency());
  bool json = false;
  bool list = false;
  bool progress = false;
  bool verbose = false;
};

bool print_to_stdout(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) {
    return true;
  }
  std::perror("smsim: standard output");
  return false;
}

bool write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (file.good()) return true;
  fmt::print(stderr, "{}: cannot be written\n", path.string());
  return false;
}

int complain(const Faults& faults) {
  for (const Fault& fault : faults) fmt::print(stderr, "{}\n", print_fault(fault));
  return kBadInput;
}

/// Of a network that changes: what arrived over time.
Plot draw_series(const PreparedScenario& scenario, const ScenarioResult& result) {
  Plot plot{
      .title = scenario.scenario().fabric, .x_label = "us", .y_label = "payload delivered, GB/s"};
  for (const PointResult& point : result.points) {
    Series series{.name = fmt::format("load {}, seed {}", point.load, point.seed)};
    for (const Interval& interval : point.steady.intervals) {
      const auto time = static_cast<double>(interval.end - interval.begin);
      series.points.emplace_back(static_cast<double>(interval.end) / double(kMicro),
                                 static_cast<double>(interval.delivered_bytes) / time * 1e3);
    }
    plot.series.push_back(std::move(series));
  }
  return plot;
}

/// Mean latency over load; of a collective or a trace, what was delivered over time.
Plot draw(const PreparedScenario& scenario, const ScenarioResult& result) {
  if (scenario.scenario().is_managed()) return draw_series(scenario, result);
  const bool closed =
      scenario.scenario().traffic.collective || !scenario.scenario().traffic.trace.empty();
  if (closed) {
    Plot plot{.title = scenario.scenario().fabric, .x_label = "us", .y_label = "packets delivered"};
    for (const PointResult& point : result.points) {
      Series series{.name = fmt::format("seed {}", point.seed)};
      for (const Interval& interval : point.steady.intervals) {
        series.points.emplace_back(static_cast<double>(interval.end) / double(kMicro),
                                   static_cast<double>(interval.delivered));
      }
      plot.series.push_back(std::move(series));
    }
    return plot;
  }
  Plot plot{.title = fmt::format(
                "{}, {}", scenario.scenario().fabric, scenario.scenario().traffic.pattern),
            .x_label = "accepted load",
            .y_label = "mean latency, ns",
            .log_y = true};
  for (const PointResult& point : result.points) {
    const std::string name = fmt::format("seed {}", point.seed);
    auto series = std::ranges::find(plot.series, name, &Series::name);
    if (series == plot.series.end()) series = plot.series.insert(series, Series{.name = name});
    series->points.emplace_back(point.steady.accepted_load, point.latency.mean / double(kNano));
  }
  return plot;
}

bool write_files(const std::string& folder,
                 const PreparedScenario& scenario,
                 const ScenarioResult& result) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    fmt::print(stderr, "{}: cannot be made: {}\n", folder, error.message());
    return false;
  }
  const std::filesystem::path path(folder);
  return write_file(path / "result.json", print_scenario_json(scenario, result)) &&
         write_file(path / "result.csv", print_points_csv(result)) &&
         write_file(path / "series.csv", print_series_csv(result)) &&
         (!scenario.scenario().is_managed() ||
          write_file(path / "stretches.csv", print_stretches_csv(result))) &&
         write_file(path / "plot.svg", print_svg(draw(scenario, result)));
}

ScenarioResult run_points(const PreparedScenario& scenario, const CommandLine& line) {
  const std::vector<double>& loads = scenario.scenario().traffic.loads;
  const std::size_t runs = loads.size() * line.seeds;
  std::vector<std::optional<PointResult>> points(runs);
  ScenarioResult out;
  {
    Progress progress(runs, line.progress);
    run_all(line.jobs, runs, [&](std::size_t i) {
      if (interrupted()) return;
      const RunControl control{.stop = interrupted,
                               .progress = [&, i](double share) { progress.set(i, share); }};
      points[i] = scenario.run(loads[i / line.seeds], line.seed + i % line.seeds, control);
      progress.set(i, 1);
    });
  }
  for (std::optional<PointResult>& point : points) {
    out.interrupted |= !point || point->steady.state == RunState::Interrupted;
    if (point) out.points.push_back(std::move(*point));
  }
  if (!scenario.scenario().measure.saturation || out.interrupted) return out;
  out.saturation.resize(line.seeds);
  run_all(line.jobs, line.seeds, [&](std::size_t i) {
    const std::uint64_t seed = line.seed + i;
    out.saturation[i] = {
        .seed = seed,
        .point = find_saturation(
            [&](double load) { return scenario.run(load, seed, {.stop = interrupted}).steady; },
            scenario.scenario().measure.tolerance)};
  });
  // A search that was cut short has found nothing.
  out.interrupted = interrupted();
  if (out.interrupted) out.saturation.clear();
  return out;
}

/// A run whose counts do not add up, that ended in a deadlock or before its time, or in which a
/// change was not taken in, has failed.
bool is_sound(const ScenarioResult& result) {
  bool sound = true;
  for (const PointResult& point : result.points) {
    if (!point.audit.empty()) fmt::print(stderr, "smsim: {}\n", point.audit);
    sound = sound && point.audit.empty() && point.steady.deadlock.empty() && point.recovered();
  }
  if (result.interrupted) {
    fmt::print(stderr, "smsim: interrupted: the results are those of what was run\n");
  }
  return sound && !result.interrupted;
}

int run_scenario(const CommandLine& line) {
  if (line.list) return print_to_stdout(list_scenario_keys()) ? 0 : kFailed;
  if (line.file.empty()) {
    fmt::print(stderr, "smsim: run needs a SCENARIO.toml, or --list to see what it may say\n");
    return kBadInput;
  }
  const Result<std::string> text = read_text(line.file, kLargestScenario);
  if (!text) return complain({{line.file, 0, text.error().context}});
  auto scenario = parse_scenario(*text, line.file);
  if (!scenario) return complain(scenario.error());
  if (!scenario->traffic.trace.empty()) {
    // As the scenario says it: from where the scenario is.
    const std::filesystem::path trace(scenario->traffic.trace);
    scenario->traffic.trace = (std::filesystem::path(line.file).parent_path() / trace).string();
  }
  const auto prepared = PreparedScenario::prepare(std::move(*scenario));
  if (!prepared) return complain(prepared.error());
  // Managers have much to say of networks that change; here that is the result.
  log::set_level(line.verbose ? log::Level::Info : log::Level::Error);
  catch_interrupts();
  const ScenarioResult result = run_points(*prepared, line);
  if (!line.out.empty() && !write_files(line.out, *prepared, result)) return kFailed;
  if (!print_to_stdout(line.json ? print_scenario_json(*prepared, result)
                                 : print_points(*prepared, result))) {
    return kFailed;
  }
  return is_sound(result) ? 0 : kFailed;
}

}  // namespace

void add_run_command(CLI::App& app, int& exit_code) {
  const auto line = std::make_shared<CommandLine>();
  CLI::App* command = app.add_subcommand("run", "Send packets through a fabric and measure");
  command->add_option("SCENARIO", line->file, "What to run; see docs/formats/scenario.md");
  command->add_flag("--list", line->list, "All keys of a scenario, and all patterns");
  command->add_option("--seed", line->seed, "Of the first run")->capture_default_str();
  command->add_option("--seeds", line->seeds, "Runs with one seed after the other")
      ->check(CLI::Range(1u, 100000u))
      ->capture_default_str();
  command->add_option(
      "--out",
      line->out,
      "Folder for result.json, result.csv, series.csv, plot.svg; with faults also stretches.csv");
  command->add_flag("--json", line->json, "One object instead of lines");
  command->add_flag(
      "--progress", line->progress, "Say how far it is, on stderr, where that is no terminal too");
  command->add_flag("-v,--verbose", line->verbose, "The manager's log, where there is one");
  command->add_option("--jobs", line->jobs, "Threads; results do not depend on it")
      ->check(CLI::Range(1u, 1024u))
      ->capture_default_str();
  command->callback([line, &exit_code] { exit_code = run_scenario(*line); });
}

}  // namespace smd::sim
