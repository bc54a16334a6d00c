#include "sim-backend/bin/cmd_routes.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "sim-backend/bin/whole_file.h"
#include "sim-backend/sourceroute/systems.h"
#include "smd/base/program.h"

namespace smd::sim {
namespace {

struct RoutesLine {
  std::string fabric, system = "UD", second, root, output;
  std::uint64_t seed = 1;
  unsigned per_pair = 10, keep = 1;
  bool json = false, list = false;
};

/// A line for each route: its ends, then every switch that it passes, hosts between in brackets.
std::string print_routes(const FabricSpec& spec, const RouteNet& net, const RouteSet& set) {
  std::string out;
  for (std::uint32_t from = 0; from < net.switches(); ++from) {
    for (std::uint32_t to = 0; to < net.switches(); ++to) {
      for (const SourceRoute& route : set.of(from, to)) {
        out += fmt::format("{} {}:", net.name(from), net.name(to));
        std::size_t stop = 0;
        for (std::uint32_t i = 0; i < route.path.size(); ++i) {
          if (stop < route.stops.size() && route.stops[stop].before == i) {
            out += fmt::format(" [{}]", spec.nodes[route.stops[stop++].host].description);
          }
          const Channel c = route.path[i];
          out += fmt::format(" {}:{}", net.name(net.from(c)), net.port(c).value());
        }
        out += fmt::format(" {}\n", net.name(to));
      }
    }
  }
  return out;
}

std::string print_figures(const RouteFigures& f) {
  return fmt::format(
      "routes {}, shortest {:.1f} %, mean links {:.3f}\n"
      "stops at hosts per route {:.3f}, of switches between {:.1f} %\n"
      "routes per channel: mean {:.2f}, deviation {:.2f}, most {:.0f}\n",
      f.routes,
      100 * f.minimal_share,
      f.mean_links,
      f.stops_per_route,
      100 * f.stop_share,
      f.mean_load,
      f.deviation,
      f.most_load);
}

std::string print_json(const RoutesLine& line, const RouteFigures& f, const std::string& circle) {
  nlohmann::ordered_json out;
  out["system"] = line.system;
  out["second"] = line.second;
  out["routes"] = f.routes;
  out["minimal_share"] = f.minimal_share;
  out["mean_links"] = f.mean_links;
  out["stops_per_route"] = f.stops_per_route;
  out["stop_share"] = f.stop_share;
  out["routes_per_channel"] = {
      {"mean", f.mean_load}, {"deviation", f.deviation}, {"most", f.most_load}};
  out["deadlock"] = circle;
  return out.dump(2) + "\n";
}

std::optional<std::uint32_t> find_switch(const RouteNet& net, const std::string& name) {
  for (std::uint32_t sw = 0; sw < net.switches(); ++sw) {
    if (net.name(sw) == name) return sw;
  }
  return {};
}

int run_routes(const RoutesLine& line) {
  if (line.list) {
    for (const RouteSystem& row : route_systems()) fmt::print("{:<12} {}\n", row.name, row.meaning);
    return 0;
  }
  if (line.fabric.empty())
    return wrong_line("smsim", "routes needs a FABRIC, or --list to see the systems");
  const Parsed<FabricSpec> spec = load_fabric(line.fabric);
  if (!spec) return print_faults(spec.error());
  const auto net = RouteNet::build(*spec);
  if (!net) return wrong_line("smsim", fmt::format("{}: {}", line.fabric, net.error().context));
  SystemOptions options{.seed = line.seed, .per_pair = line.per_pair, .keep = line.keep};
  if (!line.root.empty()) {
    const auto root = find_switch(*net, line.root);
    if (!root)
      return wrong_line("smsim", fmt::format("--root {}: no switch of that name", line.root));
    options.root = *root;
  }
  RouteSet all(*net);
  for (const std::string& name : {line.system, line.second}) {
    if (name.empty()) continue;
    const RouteSystem* system = find_system(name);
    if (system == nullptr) {
      return wrong_line("smsim",
                        fmt::format("{} is no system; known are {}", name, list_systems()));
    }
    const auto made = system->build(*net, options);
    if (!made) return wrong_line("smsim", made.error().context);
    all.add(*made);
  }
  if (const std::string why = check_routes(*net, all); !why.empty())
    return wrong_line("smsim", why);
  const RelationVerdict verdict =
      check_relation(net->fabric(), RouteRelation(*net, all), RelationMode::All);
  const std::string circle = verdict.is_safe() ? "" : print_circle(net->fabric(), verdict.cycle);
  if (!line.output.empty() && !write_file(line.output, print_routes(*spec, *net, all))) {
    return kExitFailed;
  }
  const RouteFigures figures = measure_routes(*net, all);
  if (line.json) {
    fmt::print("{}", print_json(line, figures, circle));
  } else {
    fmt::print("{}{}\n",
               print_figures(figures),
               circle.empty() ? "free of deadlock" : "can deadlock: " + circle);
  }
  return circle.empty() ? 0 : kExitFailed;
}

}  // namespace

void add_routes_command(Command& program, int& exit_code) {
  const auto line = std::make_shared<RoutesLine>();
  Command command = program.command("routes", "Make source routes and judge them");
  command.option("FABRIC", line->fabric, "Generator NAME:key=value,… or a file");
  command.option("--system", line->system, "How routes are made").show_default();
  command.option(
      "--with", line->second, "A second system, whose routes are used beside the first's");
  command.option(
      "--root", line->root, "Switch that breadth-first orders begin with; the first one");
  command.option("--seed", line->seed, "Of what is drawn").show_default();
  command.option("--per-pair", line->per_pair, "Candidates of a pair of switches, at most")
      .range(1u, 1000u)
      .show_default();
  command.option("--keep", line->keep, "Routes of a pair, of systems that draw them")
      .range(1u, 1000u)
      .show_default();
  command.flag("--json", line->json, "One JSON object");
  command.option("-o,--output", line->output, "File for the routes, a line each");
  command.flag("--list", line->list, "All systems");
  command.on_run([line, &exit_code] { exit_code = run_routes(*line); });
}

}  // namespace smd::sim
