// smsim: makes fabrics, serves them to other people's tools, sends packets through them.
#include <fmt/core.h>

#include <cstdio>
#include <string>

#include "sim-backend/bin/cmd_cc_plan.h"
#include "sim-backend/bin/cmd_collect.h"
#include "sim-backend/bin/cmd_cost.h"
#include "sim-backend/bin/cmd_experiment.h"
#include "sim-backend/bin/cmd_gen.h"
#include "sim-backend/bin/cmd_multicast.h"
#include "sim-backend/bin/cmd_routes.h"
#include "sim-backend/bin/cmd_run.h"
#include "sim-backend/bin/cmd_serve.h"
#include "sim-backend/bin/cmd_trace.h"
#include "smd/base/command_line.h"
#include "smd/base/log.h"
#include "smd/base/program.h"

namespace {

int run_command_line(int argc, char** argv) {
  smd::CommandLine line{"Simulated InfiniBand fabrics", "smsim"};
  line.show_version(std::string("smsim ") + SMD_VERSION);
  line.require_command();
  line.let_options_follow_commands();
  int verbose = 0;
  bool quiet = false;
  line.flag("-v,--verbose", verbose, "More log lines; twice for one per SMP");
  line.flag("--quiet", quiet, "Errors only");
  line.on_parsed([&line, &verbose, &quiet] {
    using smd::log::Level;
    if (quiet || verbose > 0) {
      smd::log::set_level(quiet ? Level::Error : verbose == 1 ? Level::Info : Level::Debug);
    } else if (line.given_command() == "experiment") {
      smd::log::set_level(Level::Warn);  // managers by the hundred would tell of each discovery
    }
  });

  int exit_code = 0;
  smd::sim::add_cc_plan_command(line, exit_code);
  smd::sim::add_collect_command(line, exit_code);
  smd::sim::add_cost_command(line, exit_code);
  smd::sim::add_experiment_command(line, exit_code);
  smd::sim::add_gen_command(line, exit_code);
  smd::sim::add_multicast_commands(line, exit_code);
  smd::sim::add_routes_command(line, exit_code);
  smd::sim::add_run_command(line, exit_code);
  smd::sim::add_serve_command(line, exit_code);
  smd::sim::add_trace_command(line, exit_code);
  const auto end = line.parse(argc, argv, [](const char* what) {
    fmt::print(stderr, "smsim: {}; see smsim --help\n", what);
  });
  return end ? *end : exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  return smd::run_program("smsim", [&] { return run_command_line(argc, argv); });
}
