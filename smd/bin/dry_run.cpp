#include "smd/bin/dry_run.h"

#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "sim-backend/kernel/sim_runtime.h"
#include "sim-backend/management/sim_fabric.h"
#include "sim-backend/management/sim_transport.h"
#include "smd/app/cycle_sum.h"
#include "smd/app/dump.h"
#include "smd/app/report_json.h"
#include "smd/app/report_text.h"
#include "smd/app/subnet_manager.h"
#include "smd/base/log.h"

namespace smd::bin {
namespace {

/// Virtual time after which something that does not settle is reported as such.
constexpr Duration kPatience = std::chrono::minutes(30);

struct Failure {
  std::string text;
  std::uint32_t node = sim::kNoNode;
  std::optional<PortNum> port;  // none: the whole node
};

/// "sw-0-3:5" is a link when 5 is a port of a node called sw-0-3, otherwise the whole text names a
/// node.
Parsed<Failure> parse_failure(const sim::FabricSpec& spec, const std::string& text) {
  if (const auto node = sim::find_node(spec, text); node != sim::kNoNode)
    return Failure{text, node, std::nullopt};
  const auto colon = text.rfind(':');
  const std::string digits = colon == std::string::npos ? "" : text.substr(colon + 1);
  const bool number = !digits.empty() && digits.size() <= 3 &&
                      digits.find_first_not_of("0123456789") == std::string::npos;
  const std::string name = number ? text.substr(0, colon) : text;
  const auto node = sim::find_node(spec, name);
  if (node == sim::kNoNode) {
    return fault(
        "--fail " + text,
        0,
        fmt::format(
            "no single node is called '{}'; a node description, id or GUID of the fabric would be",
            name));
  }
  const auto port = static_cast<unsigned>(std::stoul(digits));
  const sim::NodeSpec& at = spec.nodes[node];
  if (port < 1 || port > at.num_ports()) {
    return fault("--fail " + text, 0, fmt::format("'{}' has ports 1 to {}", name, at.num_ports()));
  }
  if (at.ports[port].peer_node == sim::kNoNode) {
    return fault("--fail " + text, 0, fmt::format("port {} of '{}' has no cable", port, name));
  }
  return Failure{text, node, PortNum{static_cast<std::uint8_t>(port)}};
}

Parsed<sim::Timing> parse_timing(const std::string& name) {
  if (name == "modern") return sim::Timing::modern();
  if (name == "thesis") return sim::Timing::thesis();
  if (name == "none") return sim::Timing::none();
  return fault("--timing", 0, fmt::format("'{}' is no preset; modern, thesis or none", name));
}

/// One simulated world with the manager in it.
class World {
 public:
  World(sim::FabricSpec spec,
        const sim::Timing& timing,
        const app::Settings& settings,
        const DryRunOptions& options)
      : fabric_(runtime_, std::move(spec), timing, options.seed),
        transport_(fabric_, fabric_.spec().sm_node, fabric_.spec().sm_port),
        manager_(runtime_, transport_, settings, {}, observer()) {
    fabric_.set_wire_faults({.drop = options.drop});
  }

  [[nodiscard]] const app::CycleReport& bring_up() {
    manager_.start();
    settle(0);
    return *manager_.last_cycle();
  }

  [[nodiscard]] app::CycleReport fail(const Failure& failure) {
    cycles_.clear();
    const std::uint64_t before = manager_.cycles();
    const TimePoint when = runtime_.now();
    if (failure.port) {
      fabric_.set_link(failure.node, *failure.port, false);
    } else {
      fabric_.set_node(failure.node, false);
    }
    settle(before);
    if (cycles_.empty()) {
      app::CycleReport nothing = *manager_.last_cycle();
      nothing.error = Error{Errc::Timeout, "the change was not noticed"};
      return nothing;
    }
    app::CycleReport change = app::sum_cycles(cycles_);
    change.detection.time = change.began - when;
    return change;
  }

  [[nodiscard]] const app::InForce* in_force() const { return manager_.in_force(); }

 private:
  app::SubnetManager::Observer observer() {
    app::SubnetManager::Observer out;
    out.wall = [] {
      return std::chrono::duration_cast<Duration>(
          std::chrono::steady_clock::now().time_since_epoch());
    };
    const bool terminal = isatty(STDERR_FILENO) != 0;
    if (terminal) {
      out.on_phase = [](app::Phase phase) {
        fmt::print(stderr, "\r\033[K{} …", app::print_phase(phase));
      };
    }
    out.on_cycle = [this, terminal](const app::CycleReport& cycle) {
      cycles_.push_back(cycle);
      if (terminal) fmt::print(stderr, "\r\033[K");
    };
    return out;
  }

  /// Until a cycle after the first `cycles` has ended and nothing more is asked for.
  void settle(std::uint64_t cycles) {
    runtime_.run_while_not([&] { return manager_.cycles() > cycles && manager_.at_rest(); },
                           runtime_.now() + kPatience);
  }

  sim::SimRuntime runtime_;
  sim::SimFabric fabric_;
  sim::SimTransport transport_;
  std::vector<app::CycleReport> cycles_;  // of the change under way
  app::SubnetManager manager_;
};

int report_faults(const Faults& faults) {
  for (const Fault& each : faults) fmt::print(stderr, "{}\n", print_fault(each));
  return 2;
}

}  // namespace

int dry_run(const Config& config, const DryRunOptions& options) {
  auto spec = sim::load_fabric(options.fabric);
  if (!spec) return report_faults(spec.error());
  auto timing = parse_timing(options.timing);
  if (!timing) return report_faults(timing.error());
  std::vector<Failure> failures;
  for (const std::string& text : options.fail) {
    auto failure = parse_failure(*spec, text);
    if (!failure) return report_faults(failure.error());
    failures.push_back(std::move(*failure));
  }

  app::Settings settings = app::make_settings(config);
  settings.engine_fallback = false;  // an architect asks about this engine, not about another
  World world(std::move(*spec), *timing, settings, options);

  const app::CycleReport& first = world.bring_up();
  bool holds = first.up();
  nlohmann::ordered_json json = app::run_json(first);
  json["changes"] = nlohmann::ordered_json::array();
  if (!options.json) fmt::print("{}", app::print_bring_up(first));
  app::CycleReport last = first;
  // A fabric of one adapter is up; one that came up larger and is gone is not.
  for (const Failure& failure : failures) {
    last = world.fail(failure);
    holds = holds && last.up() && !last.cut_off;
    json["changes"].push_back(app::change_json(last, failure.text, "down"));
    if (!options.json) fmt::print("{}", app::print_change(last, failure.text, "down"));
  }
  json["rss_mb"] = app::peak_rss_mb();
  if (options.json)
    fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  if (!options.dump.empty() && world.in_force() != nullptr) {
    if (auto written = app::write_dumps(options.dump, *world.in_force(), last); !written) {
      fmt::print(stderr, "{}\n", written.error().context);
      return 1;
    }
  }
  return holds ? 0 : 1;
}

}  // namespace smd::bin
