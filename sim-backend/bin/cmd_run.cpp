#include "sim-backend/bin/cmd_run.h"

#include <fmt/core.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sim-backend/bin/interrupt.h"
#include "sim-backend/bin/joined_processes.h"
#include "sim-backend/bin/result_files.h"
#include "sim-backend/bin/whole_file.h"
#include "sim-backend/campaign/make_part.h"
#include "sim-backend/campaign/task.h"
#include "sim-backend/lab/parallel.h"
#include "sim-backend/packet/partition_split.h"
#include "sim-backend/topology/fabric_spec.h"
#include "smd/base/log.h"
#include "smd/base/program.h"
#include "smd/base/progress.h"
#include "smd/base/read_file.h"

namespace smd::sim {
namespace {

struct RunLine {
  std::string file;
  std::string out;
  std::uint64_t seed = 1;
  unsigned seeds = 1;
  unsigned jobs = 0;
  unsigned partitions = 0;  // 0: not given
  Task task;
  bool resume = false;
  bool progress = false;
  bool json = false;
  bool list = false;
  bool verbose = false;
};

/// False: it cannot be read.
bool add_file(ScenarioDigest& digest, const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  std::vector<char> chunk(1 << 16);
  while (file.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) || file.gcount() > 0) {
    digest.add({chunk.data(), static_cast<std::size_t>(file.gcount())});
  }
  return file.eof();
}

/// What is run is known by its texts, whatever their files are called.
Parsed<std::string> digest(const std::string& text, const PreparedScenario& scenario) {
  ScenarioDigest digest;
  digest.add(text);
  digest.end_text();
  digest.add(print_fabric(scenario.spec()));
  digest.end_text();
  const std::string& file = scenario.scenario().traffic.trace;
  if (file.empty()) return digest.print();
  if (!add_file(digest, file)) return tl::unexpected(Faults{{file, 0, "cannot be read"}});
  return digest.print();
}

/// Of the program as it runs: another build may count otherwise.
std::string digest_of_program() {
  ScenarioDigest digest;
  return add_file(digest, "/proc/self/exe") ? digest.print() : "unknown";
}

/// Runs at a time: as many as there are cores for. What several processes share goes one by one.
unsigned jobs_of(const RunLine& line, const JoinedProcesses& joined) {
  if (joined.is_joint()) return 1;
  if (line.jobs > 0) return line.jobs;
  return std::max(1u, std::thread::hardware_concurrency() / line.partitions);
}

/// A part is in its file as soon as it is there. No value: a file could not be written. Of several
/// processes the first reads and writes; the others' parts are the same, or left out.
std::optional<std::vector<NamedPart>> run_parts(const PreparedScenario& scenario,
                                                const std::string& digest,
                                                const CampaignPlan& plan,
                                                const RunLine& line,
                                                const JoinedProcesses& joined) {
  const std::vector<RunKey> own = own_runs(plan, line.task);
  std::vector<std::optional<Part>> parts(own.size());
  std::atomic<bool> written{true};
  {
    std::optional<progress::Display> display;
    if (joined.is_first()) display.emplace(line.progress);
    progress::begin("simulation", "runs", static_cast<double>(own.size()));
    const auto stop = [&joined] { return joined.any(interrupted()); };
    run_all(jobs_of(line, joined), own.size(), [&](std::size_t i) {
      if (joined.any(!written || interrupted())) return;
      if (line.resume && joined.is_first()) {
        parts[i] = find_part(
            line.out, {.program = SMD_VERSION, .scenario = digest, .plan = plan, .key = own[i]});
      }
      if (!joined.as_first(parts[i].has_value())) {
        double told = 0;
        const RunControl control{
            .stop = stop,
            .progress = [&](double share) { progress::add(share - std::exchange(told, share)); },
            .processes = joined.processes()};
        parts[i] = make_part(scenario, digest, plan, own[i], control);
        parts[i]->program = SMD_VERSION;
        const bool keep = joined.is_first() && !line.out.empty() && !parts[i]->interrupted;
        if (keep && !write_part(line.out, *parts[i])) written = false;
        progress::add(1 - told);
      } else {
        progress::add(1);
      }
    });
  }
  if (joined.any(!written)) return std::nullopt;
  std::vector<NamedPart> out;
  for (std::size_t i = 0; i < own.size(); ++i) {
    // A search that was cut short has found nothing.
    const bool use = parts[i] && !(parts[i]->interrupted && own[i].saturation);
    if (use) out.push_back({print_run(plan, own[i]), std::move(*parts[i])});
  }
  return out;
}

int print_result(const JoinedResult& result, const RunLine& line, const char* program) {
  // What a task has is not the whole: `smsim collect` joins it.
  if (!line.out.empty() && line.task.of == 1 && !write_result(line.out, result)) return kExitFailed;
  for (const std::string& audit : result.audits) fmt::print(stderr, "{}: {}\n", program, audit);
  fmt::print("{}", line.json ? result.json : result.lines);
  return result.sound ? 0 : kExitFailed;
}

/// A scenario that can be run, and what it is known as.
struct PreparedRun {
  PreparedScenario scenario;
  std::string known_as;
};

Parsed<PreparedRun> prepare_run(const RunLine& line) {
  const Result<std::string> text = read_file(line.file, kLargestSettings);
  if (!text) return tl::unexpected(Faults{{line.file, 0, text.error().context}});
  auto scenario = parse_scenario(*text, line.file);
  if (!scenario) return tl::unexpected(std::move(scenario.error()));
  if (!scenario->traffic.trace.empty()) {
    // As the scenario says it: from where the scenario is.
    const std::filesystem::path trace(scenario->traffic.trace);
    scenario->traffic.trace = (std::filesystem::path(line.file).parent_path() / trace).string();
  }
  scenario->packet.partitions = line.partitions;
  auto prepared = PreparedScenario::prepare(std::move(*scenario));
  if (!prepared) return tl::unexpected(std::move(prepared.error()));
  Parsed<std::string> known_as = digest(*text, *prepared);
  if (!known_as) return tl::unexpected(std::move(known_as.error()));
  return PreparedRun{std::move(*prepared), std::move(*known_as)};
}

/// What is wrong with the command line by itself; empty when it can be run.
std::string fault_of(const RunLine& line, const JoinedProcesses& joined) {
  if (line.file.empty()) return "run needs a SCENARIO.toml, or --list to see what it may say";
  if (line.out.empty() && (line.task.of > 1 || line.resume)) {
    return "--task and --resume need --out DIR, where the runs are kept";
  }
  if (!joined.is_joint()) return {};
  if (line.jobs > 1) {
    return fmt::format("--jobs {}: what several processes share runs one by one; leave it out",
                       line.jobs);
  }
  if (line.partitions < joined.count()) {
    return fmt::format("--partitions {}: {} processes share {} or more",
                       line.partitions,
                       joined.count(),
                       joined.count());
  }
  return {};
}

int run_prepared(const PreparedRun& run, const RunLine& line, const JoinedProcesses& joined) {
  // Managers have much to say of networks that change; here that is the result.
  log::set_level(line.verbose ? log::Level::Info : log::Level::Error);
  catch_interrupts();
  if (joined.is_first()) {
    static_cast<void>(print_faults(run.scenario.notes()));
  }
  const Scenario& scenario = run.scenario.scenario();
  const CampaignPlan plan{.loads = scenario.traffic.loads,
                          .first_seed = line.seed,
                          .seeds = line.seeds,
                          .saturation = scenario.measure.saturation};
  const auto parts = run_parts(run.scenario, run.known_as, plan, line, joined);
  if (!parts) return kExitFailed;
  const bool stopped = joined.any(interrupted());
  if (!joined.is_first()) return 0;
  if (stopped) {
    fmt::print(
        stderr, "{}: interrupted: the results are those of what was run\n", joined.program());
  }
  if (parts->empty()) return stopped ? kExitFailed : 0;  // there may be more tasks than runs
  const Parsed<JoinedResult> result = join_parts(*parts);
  if (!result) return print_faults(result.error());
  const int code = print_result(*result, line, joined.program());
  return stopped ? kExitFailed : code;
}

int run_scenario(RunLine line, const JoinedProcesses& joined) {
  if (line.partitions == 0) line.partitions = joined.count();
  const std::string fault = line.list ? "" : fault_of(line, joined);
  std::optional<int> end;
  if (line.list) end = 0;
  if (!fault.empty()) end = kExitBadInput;
  // Where the command line of another ends its way, smsim_mpi.cpp answers this.
  end = joined.end_together(end, [&] { static_cast<void>(wrong_line(joined.program(), fault)); });
  if (end) {
    if (*end == 0 && joined.is_first()) fmt::print("{}", list_scenario_keys());
    return *end;
  }
  const Parsed<PreparedRun> run = prepare_run(line);
  if (!run) end = kExitBadInput;
  end = joined.end_together(end, [&] { static_cast<void>(print_faults(run.error())); });
  if (end) return *end;
  if (joined.is_joint()) {
    // All have to make the same calls.
    const std::string known_as = fmt::format("{} {} {} {} {} {}/{} {}",
                                             digest_of_program(),
                                             run->known_as,
                                             line.partitions,
                                             line.seed,
                                             line.seeds,
                                             line.task.number,
                                             line.task.of,
                                             line.resume);
    if (!joined.is_alike(known_as)) return joined.differ();
  }
  return joined.as_first(run_prepared(*run, line, joined));
}

}  // namespace

void add_run_command(Command& program, int& exit_code, Processes* processes) {
  const auto line = std::make_shared<RunLine>();
  Command command = program.command("run", "Send packets through a fabric and measure");
  command.option("SCENARIO", line->file, "What to run; see docs/formats/scenario.md");
  command.flag("--list", line->list, "All keys of a scenario, and all patterns");
  command.option("--seed", line->seed, "Of the first run").show_default();
  command.option("--seeds", line->seeds, "Runs with one seed after the other")
      .range(1u, 100000u)
      .show_default();
  command.option("--out",
                 line->out,
                 "Folder for parts/, result.json, result.csv, series.csv, plot.svg; with "
                 "faults also stretches.csv");
  command
      .text(
          "--task",
          [line](const std::string& text) { line->task = *parse_task(text); },
          "I/N: only every N-th run, from the I-th on; smsim collect joins what the tasks wrote")
      .check([](const std::string& text) {
        return parse_task(text) ? "" : "--task: '" + text + "' must be I/N, with I from 1 to N";
      });
  command.flag("--resume", line->resume, "Keep runs of this scenario that --out DIR has");
  command.flag("--progress", line->progress, progress::kHelp);
  command.flag("-v,--verbose", line->verbose, "The manager's log, where there is one");
  command.flag("--json", line->json, "One object instead of lines");
  command.option("--jobs", line->jobs, "Runs at a time; results do not depend on it")
      .range(1u, 1024u)
      .show_default("as many as there are cores for");
  command
      .option("--partitions",
              line->partitions,
              "Of the fabric in each run, a thread each; results do not depend on it")
      .range(1u, kMostPartitions)
      .show_default(processes == nullptr ? "1" : "one for each process");
  command.on_run([line, &exit_code, processes] {
    exit_code = run_scenario(*line, JoinedProcesses(processes));
  });
}

}  // namespace smd::sim
