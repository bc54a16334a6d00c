#include "sim-backend/bin/cmd_experiment.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "sim-backend/bin/whole_file.h"
#include "sim-backend/experiments/registry.h"
#include "sim-backend/lab/findings_text.h"
#include "sim-backend/lab/svg_plot.h"
#include "smd/base/program.h"
#include "smd/base/progress.h"

namespace smd::sim {
namespace {

struct ExperimentLine {
  std::vector<std::string> names;
  std::string out;
  bool list = false;
  bool progress = false;
  ExperimentOptions options{.jobs = std::max(1u, std::thread::hardware_concurrency())};
};

std::string print_list() {
  std::string out;
  for (const Experiment& experiment : experiments()) {
    out += fmt::format("{:<24} {} ({})\n", experiment.name, experiment.about, experiment.source);
  }
  return out;
}

bool write_files(const std::filesystem::path& folder,
                 const Experiment& experiment,
                 const ExperimentOptions& options,
                 const Findings& findings) {
  return make_folder(folder) &&
         write_file(folder / "result.json", print_json(experiment, options, findings)) &&
         write_file(folder / "result.csv", print_csv(findings)) &&
         write_file(folder / fmt::format("{}.svg", experiment.name), print_svg(findings.plot));
}

int run_one(const Experiment& experiment, const ExperimentLine& line) {
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  if (terminal) fmt::print(stderr, "{}: {} …\n", experiment.name, experiment.about);
  const Result<Findings> findings = [&] {
    const progress::Display display(line.progress);
    progress::begin(experiment.name, "runs");
    return experiment.run(line.options);
  }();
  std::string fault = findings ? check_findings(experiment, *findings) : findings.error().context;
  if (!fault.empty()) {
    fmt::print(stderr, "smsim: {}: {}\n", experiment.name, fault);
    return kExitFailed;
  }
  if (!line.out.empty()) {
    const auto folder = std::filesystem::path(line.out) / std::string(experiment.name);
    if (!write_files(folder, experiment, line.options, *findings)) return kExitFailed;
  }
  std::string text;
  for (std::size_t i = 0; i < experiment.claims.size(); ++i) {
    text += print_claim(experiment, experiment.claims[i], findings->verdicts[i]);
  }
  fmt::print("{}", text);
  std::fflush(stdout);  // the next one takes its time
  return required_hold(experiment, *findings) ? 0 : kExitFailed;
}

int run_experiments(const ExperimentLine& line) {
  if (line.list) {
    fmt::print("{}", print_list());
    return 0;
  }
  if (line.names.empty()) {
    fmt::print(stderr, "smsim: experiment needs a NAME, or --list to see what there is\n");
    return kExitBadInput;
  }
  std::vector<const Experiment*> chosen;
  bool known = true;
  for (const std::string& name : line.names) {
    chosen.push_back(find_experiment(name));
    if (chosen.back() != nullptr) continue;
    known = false;
    fmt::print(stderr, "smsim: no experiment is called '{}'; smsim experiment --list\n", name);
  }
  if (!known) return kExitBadInput;
  int code = 0;
  for (const Experiment* experiment : chosen) code = std::max(code, run_one(*experiment, line));
  return code;
}

}  // namespace

void add_experiment_command(Command& program, int& exit_code) {
  const auto line = std::make_shared<ExperimentLine>();
  Command command =
      program.command("experiment", "Measure a published result again, claim by claim");
  command.option("NAME", line->names, "Which; see --list");
  command.flag("--list", line->list, "All experiments there are");
  command.option(
      "--out", line->out, "Folder for NAME/result.json, result.csv and the plot; none without it");
  command.flag("--quick", line->options.quick, "Fewer sizes and seeds");
  command.flag("--progress", line->progress, progress::kHelp);
  command.option("--jobs", line->options.jobs, "Threads").range(1u, 1024u).show_default();
  command.on_run([line, &exit_code] { exit_code = run_experiments(*line); });
}

}  // namespace smd::sim
