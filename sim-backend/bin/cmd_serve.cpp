#include "sim-backend/bin/cmd_serve.h"

#include <fmt/core.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "sim-backend/serve/console_input.h"
#include "sim-backend/serve/socket_server.h"
#include "sim-backend/topology/network.h"
#include "smd/base/program.h"

namespace smd::sim {
namespace {

struct ServeOptions {
  std::string fabric;
  std::string name = "sim";
  std::string timing = "none";
  std::uint64_t seed = 1;
  double drop = 0;
  std::string extended_speeds = "on-demand";
};

ExtendedSpeeds speeds_named(const std::string& name) {
  if (name == "always") return ExtendedSpeeds::Always;
  return name == "unannounced" ? ExtendedSpeeds::Unannounced : ExtendedSpeeds::OnDemand;
}

Timing timing_named(const std::string& name) {
  if (name == "modern") return Timing::modern();
  if (name == "thesis") return Timing::thesis();
  return Timing::none();
}

int run_serve(const ServeOptions& options) {
  // A console that nobody reads any more must not end what is served.
  std::signal(SIGPIPE, SIG_IGN);
  Faults notes;
  Parsed<FabricSpec> spec = load_fabric(options.fabric, notes);
  if (!spec) return print_faults(spec.error());
  static_cast<void>(print_faults(notes));
  AsioRuntime runtime;
  SimFabric fabric(runtime,
                   std::move(*spec),
                   timing_named(options.timing),
                   options.seed,
                   {.extended_speeds = speeds_named(options.extended_speeds)});
  if (options.drop > 0) {
    WireFaults faults;
    faults.drop = options.drop;
    fabric.set_wire_faults(faults);
  }
  SwitchboardOptions board;
  if (options.timing != "none") board.agent_timeout = std::chrono::milliseconds(50);
  const auto server = SocketServer::open(runtime, fabric, options.name, board);
  if (!server) {
    const bool busy = server.error().code == Errc::Busy;
    fmt::print(stderr,
               "smsim: {}{}\n",
               server.error().context,
               busy ? "; choose another with --name" : "");
    return server.error().code == Errc::Invalid ? kExitBadInput : kExitFailed;
  }

  const FabricSpec& served = fabric.spec();
  fmt::print(
      "serving {} nodes as {}; then: SIM_HOST=\"{}\" IBSIM_SOCKNAME={} LD_PRELOAD=libumad2sim.so "
      "TOOL\n",
      served.nodes.size(),
      options.name,
      served.nodes[served.sm_node].description,
      options.name);
  std::fflush(stdout);

  Console console(fabric, (*server)->switchboard());
  bool quit = false;
  const auto stop = [&] {
    quit = true;
    runtime.stop();
  };
  runtime.on_signal(SIGTERM, stop);
  runtime.on_signal(SIGINT, stop);
  const ConsoleInput input(runtime, console, STDIN_FILENO, stop);
  if (!quit) runtime.run();
  return 0;
}

}  // namespace

void add_serve_command(Command& program, int& exit_code) {
  const auto options = std::make_shared<ServeOptions>();
  Command command = program.command(
      "serve", "Serve a simulated fabric on ibsim's socket; console commands on stdin");
  command.option("--fabric", options->fabric, "File or generator").required();
  command.option("--name", options->name, "Socket name, IBSIM_SOCKNAME of the tools")
      .show_default();
  command.option("--timing", options->timing, "Times of the fabric")
      .one_of({"none", "modern", "thesis"})
      .show_default();
  command.option("--seed", options->seed, "Of random losses").show_default();
  command.option("--drop", options->drop, "Probability that a cable loses a MAD")
      .check([](const std::string& text) { return check_number(text, 0, 1); })
      .show_default();
  command
      .option("--extended-speeds",
              options->extended_speeds,
              "Who is shown speeds above QDR in PortInfo: who asks with bit 31 of the attribute "
              "modifier (on-demand), everybody, or everybody while CapabilityMask is silent on it")
      .one_of({"on-demand", "always", "unannounced"})
      .show_default();
  command.on_run([options, &exit_code] { exit_code = run_serve(*options); });
}

}  // namespace smd::sim
