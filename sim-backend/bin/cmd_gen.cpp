#include "sim-backend/bin/cmd_gen.h"

#include <fmt/core.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "sim-backend/bin/whole_file.h"
#include "sim-backend/topology/network.h"
#include "smd/base/program.h"
#include "smd/base/progress.h"

namespace smd::sim {
namespace {

struct GenOptions {
  std::string fabric;
  std::string output;
  bool list = false;
  bool progress = false;
};

int run_gen(const GenOptions& options) {
  if (options.list) {
    fmt::print("{}", list_generators());
    return 0;
  }
  if (options.fabric.empty()) {
    fmt::print(stderr, "smsim: gen needs a FABRIC, or --list to see what there is\n");
    return kExitBadInput;
  }
  std::optional<progress::Display> display(std::in_place, options.progress);
  progress::begin("fabric");
  Faults notes;
  const Parsed<FabricSpec> spec = load_fabric(options.fabric, notes);
  if (!spec) {
    display.reset();
    return print_faults(spec.error());
  }
  const std::string text = print_fabric(*spec);
  display.reset();
  static_cast<void>(print_faults(notes));
  if (!options.output.empty()) return write_file(options.output, text) ? 0 : kExitFailed;
  fmt::print("{}", text);
  return 0;
}

}  // namespace

void add_gen_command(Command& program, int& exit_code) {
  const auto options = std::make_shared<GenOptions>();
  Command command = program.command("gen", "Print a fabric that ibsim and smd can read");
  command.option("FABRIC", options->fabric, "Generator NAME:key=value,… or a file to convert");
  command.option("-o,--output", options->output, "File to write instead of standard output");
  command.flag("--list", options->list, "All generators with their keys and defaults");
  command.flag("--progress", options->progress, progress::kHelp);
  command.on_run([options, &exit_code] { exit_code = run_gen(*options); });
}

}  // namespace smd::sim
