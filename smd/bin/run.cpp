#include "smd/bin/commands.h"
#include "smd/bin/version.h"

#include <fmt/core.h>

#include <csignal>
#include <cstdio>
#include <utility>
#include <vector>

#include "sim-backend/management/sim_fabric.h"
#include "sim-backend/management/sim_transport.h"
#include "smd/base/log.h"
#include "smd/base/program.h"
#include "smd/daemon/daemon.h"
#include "smd/state/state_directory.h"
#include "smd/transport/umad_ports.h"

namespace smd::bin {
namespace {

Result<std::unique_ptr<Transport>> open_umad(ChosenPort& kept,
                                             AsioRuntime& runtime,
                                             const Config& config) {
  const UmadSelection configured{.device = config.transport.device,
                                 .port = PortNum{static_cast<std::uint8_t>(config.transport.port)},
                                 .port_guid = config.transport.port_guid};
  auto transport = open_umad_transport(runtime, kept.select(configured));
  if (!transport) {
    Error error = transport.error();
    const std::string changed = kept.print_changed_guid(configured, list_ports());
    if (error.code == Errc::NoDevice && !changed.empty()) error.context += "; " + changed;
    return tl::unexpected(std::move(error));
  }
  const LocalPort taken = (*transport)->local_port();
  if (!kept.note(configured, taken)) return transport;
  const std::vector<UmadPort> ports = list_ports();
  if (count_choices(ports, list_pairs(), configured) > 1)
    log::warn("transport.choice",
              "taken=\"{} port {}\" guid={} of=\"{}\"; transport.port_guid, or device and port, "
              "would name one",
              taken.device,
              taken.port,
              taken.port_guid,
              print_ports(ports));
  return transport;
}

}  // namespace

int run(const Config& config,
        const RunOptions& options,
        std::function<void(Config&)> override_config) {
  // Until there is somebody to obey them; logrotate may not wait for that.
  for (const int order : {SIGUSR1, SIGHUP}) std::signal(order, SIG_IGN);
  // Who reads the log may go; the subnet stays.
  std::signal(SIGPIPE, SIG_IGN);
  auto runtime = std::make_unique<AsioRuntime>();
  std::unique_ptr<sim::SimFabric> fabric;
  Daemon::OpenTransport open = [kept = ChosenPort{}](AsioRuntime& on, const Config& now) mutable {
    return open_umad(kept, on, now);
  };
  if (config.transport.kind == TransportKind::Sim) {
    auto spec =
        sim::load_fabric(config.transport.fabric.empty() ? "fat-tree" : config.transport.fabric);
    if (!spec) return print_faults(spec.error());
    fabric = std::make_unique<sim::SimFabric>(*runtime, std::move(*spec), sim::Timing::none(), 1);
    open = [&fabric](AsioRuntime&, const Config&) -> Result<std::unique_ptr<Transport>> {
      return std::make_unique<sim::SimTransport>(
          *fabric, fabric->spec().sm_node, fabric->spec().sm_port);
    };
  }
  int exit_code = 0;
  try {
    Daemon daemon(*runtime,
                  {.config = config,
                   .config_path = options.config_path,
                   .override_config = std::move(override_config),
                   .overridden = options.overridden,
                   .log_trouble = options.log_trouble,
                   .version = std::string(version()),
                   .once = options.once,
                   .json = options.json},
                  std::move(open));
    exit_code = daemon.run();
  } catch (const UnreadableState& e) {  // not kExitBadInput, after which systemd starts nothing
    fmt::print(stderr, "smd: {}\n", e.what());
    exit_code = kExitFailed;
  }
  fabric.reset();
  // Destroying the runtime would wait for routes that are being computed; nobody needs them.
  [[gnu::used]] static AsioRuntime* left_running = nullptr;  // else it would count as a leak
  left_running = runtime.release();
  return exit_code;
}

}  // namespace smd::bin
