#include "sim-backend/bin/cmd_trace.h"

#include <fmt/core.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "sim-backend/bin/whole_file.h"
#include "sim-backend/traffic/phases/phase_trace.h"
#include "smd/base/program.h"

namespace smd::sim {
namespace {

constexpr std::size_t kPiece = 1 << 16;
constexpr double kMostMessages = 1e12;

struct TraceOptions {
  std::vector<std::string> phases;
  PhaseTiming timing;
  std::string output;
  bool list = false;
};

std::string is_factor(const std::string& text) { return check_number(text, 0.001, 1000); }

/// Says of the trace what a reader wants to know of it, and which command made it.
std::string heading(const TraceOptions& line, const PhaseSum& sum) {
  std::string calls;
  for (const std::string& call : line.phases) calls += " " + call;
  return fmt::format("#{}\n# {} ranks, {:.0f} messages, {:.0f} bytes, {:.0f} ns; seed {}\n",
                     calls,
                     line.timing.ranks,
                     sum.messages,
                     sum.bytes,
                     sum.lasts_ns,
                     line.timing.seed);
}

int run_trace(const TraceOptions& line) {
  if (line.list) {
    fmt::print("{}", list_phases());
    return 0;
  }
  if (line.phases.empty()) {
    return wrong_line("smsim", "trace needs a PHASE or more, or --list to see what there is");
  }
  auto phases = parse_phases(line.phases, line.timing.ranks);
  if (!phases) return print_faults(phases.error());
  const PhaseSum sum = sum_phases(*phases, line.timing);
  if (sum.messages > kMostMessages) {
    return wrong_line(
        "smsim",
        fmt::format("trace: {:.3g} messages, {:.0g} at most", sum.messages, kMostMessages));
  }
  if (double(line.timing.start_ns) + double(line.timing.jitter_ns) + sum.lasts_ns >
      0.99 * double(kMostTraceNs)) {
    return wrong_line("smsim", "trace: it lasts longer than a trace can, which is 100 days");
  }
  PhaseTrace trace(std::move(*phases), line.timing);
  bool begun = false;
  const TextPieces pieces = [&](std::string& out) {
    if (!begun) out = heading(line, sum);
    begun = true;
    while (out.size() < kPiece) {
      const auto message = trace.next();
      if (!message) return false;
      out += print_trace_line(*message);
    }
    return true;
  };
  if (!line.output.empty()) return write_file(line.output, pieces) ? 0 : kExitFailed;
  print_to_stdout(pieces);
  return 0;
}

}  // namespace

void add_trace_command(Command& program, int& exit_code) {
  const auto line = std::make_shared<TraceOptions>();
  PhaseTiming& timing = line->timing;
  Command command =
      program.command("trace", "Print what a parallel program sends, for smsim run to replay");
  command.option("PHASE", line->phases, "NAME:key=value,… or a program, in turn");
  command.flag("--list", line->list, "All phases with their keys, and all programs");
  command.option("-o,--output", line->output, "File to write instead of standard output");
  command.option("--ranks", timing.ranks, "Of the program, a host each")
      .range(2u, 49151u)
      .show_default();
  command.option("--first-host", timing.first_host, "Of rank 0; the others follow")
      .range(0u, 49149u)
      .show_default();
  command.option("--repeat", timing.repeat, "All phases in turn, so often")
      .range(std::uint64_t{1}, std::uint64_t{1'000'000'000})
      .show_default();
  command.option("--start-ns", timing.start_ns, "When the first phase begins")
      .range(std::uint64_t{0}, kMostTraceNs)
      .show_default();
  command.option("--jitter-ns", timing.jitter_ns, "How late a rank may be in a phase, at most")
      .range(std::uint64_t{0}, std::uint64_t{1'000'000'000'000})
      .show_default();
  command
      .option(
          "--bytes-per-ns", timing.bytes_per_ns, "Of a link of the network that the program ran on")
      .check(is_factor)
      .show_default();
  command.option("--speed", timing.speed, "All times but the start are divided by it")
      .check(is_factor)
      .show_default();
  command.option("--sl", timing.sl, "Service level of all messages").range(0u, 15u).show_default();
  command.option("--seed", timing.seed, "Of the ranks' lateness").show_default();
  command.on_run([line, &exit_code] { exit_code = run_trace(*line); });
}

}  // namespace smd::sim
