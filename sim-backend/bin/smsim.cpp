// smsim: makes fabrics, serves them to other people's tools, sends packets through them.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "sim-backend/bin/cmd_cc_plan.h"
#include "sim-backend/bin/cmd_collect.h"
#include "sim-backend/bin/cmd_experiment.h"
#include "sim-backend/bin/cmd_gen.h"
#include "sim-backend/bin/cmd_run.h"
#include "sim-backend/bin/cmd_serve.h"
#include "sim-backend/bin/cmd_trace.h"
#include "smd/base/log.h"
#include "smd/base/program.h"

namespace {

int run_command_line(int argc, char** argv) {
  CLI::App app{"Simulated InfiniBand fabrics", "smsim"};
  app.set_version_flag("--version", std::string("smsim ") + SMD_VERSION);
  app.require_subcommand(1);
  app.fallthrough();
  int verbose = 0;
  bool quiet = false;
  app.add_flag("-v,--verbose", verbose, "More log lines; twice for one per SMP");
  app.add_flag("--quiet", quiet, "Errors only");
  app.parse_complete_callback([&app, &verbose, &quiet] {
    using smd::log::Level;
    if (quiet || verbose > 0) {
      smd::log::set_level(quiet ? Level::Error : verbose == 1 ? Level::Info : Level::Debug);
    } else if (app.got_subcommand("experiment")) {
      smd::log::set_level(Level::Warn);  // managers by the hundred would tell of each discovery
    }
  });

  int exit_code = 0;
  smd::sim::add_cc_plan_command(app, exit_code);
  smd::sim::add_collect_command(app, exit_code);
  smd::sim::add_experiment_command(app, exit_code);
  smd::sim::add_gen_command(app, exit_code);
  smd::sim::add_run_command(app, exit_code);
  smd::sim::add_serve_command(app, exit_code);
  smd::sim::add_trace_command(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    return app.exit(e);  // --help, --version
  } catch (const CLI::ParseError& e) {
    fmt::print(stderr, "smsim: {}; see smsim --help\n", e.what());
    return 2;
  }
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  return smd::run_program("smsim", [&] { return run_command_line(argc, argv); });
}
