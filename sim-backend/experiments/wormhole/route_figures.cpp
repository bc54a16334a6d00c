// 000-static: what follows from topology and rules alone.
#include <fmt/core.h>

#include <array>
#include <cmath>

#include "sim-backend/experiments/tables.h"
#include "sim-backend/experiments/wormhole/worm_loads.h"
#include "sim-backend/lab/parallel.h"
#include "sim-backend/sourceroute/systems.h"

namespace smd::sim::route_figures {
namespace {

constexpr ClaimSpec kClaims[] = {
    {.id = "H14",
     .text = "up*/down* leaves so many pairs their shortest routes: 100, 89, 71, 61 %",
     .source = "Flich 2001, section 5.2.2",
     .measured = "{most:.2f} points off where farthest",
     .expected = "at most 1.5 points"},
    {.id = "H15",
     .text = "depth-first it leaves 99, 94, 81, 70 %",
     .source = "Flich 2001, section 5.2.2",
     .measured = "{most:.2f} points off where farthest",
     .expected = "at most 1.5 points"},
    {.id = "H16",
     .text = "on the torus, with express channels and on CPLANT it leaves 80, 94, 100 %",
     .source = "Flich 2001, section 5.3",
     .measured = "{most:.2f} points off where farthest",
     .expected = "at most 1.5 points"},
    {.id = "H17",
     .text = "on the torus its routes have 4.57 links on average, shortest ones 4.06",
     .source = "Flich 2001, section 5.3.1",
     .must_hold = true,
     .measured = "{farthest:.4f} times",
     .expected = "0.997 to 1.003 times the published"},
    {.id = "H18-ud",
     .text = "on 64 switches UD_ITB takes 0.55 stops per message",
     .source = "Flich 2001, section 5.2.2",
     .must_hold = true,
     .measured = "{least:.3f}",
     .expected = "0.52 to 0.58"},
    {.id = "H18-dfs",
     .text = "on 64 switches DFS_ITB takes 0.3 stops per message",
     .source = "Flich 2001, section 5.2.2",
     .measured = "{least:.3f}",
     .expected = "0.27 to 0.33"},
    {.id = "deadlock",
     .text = "all systems but plain shortest routes are free of deadlock, and those are not",
     .source = "Flich 2001, chapter 3",
     .must_hold = true,
     .measured = "{most:.0f} networks otherwise",
     .expected = "none"},
};

constexpr unsigned kAllSystems = 5;  // topologies of a size: balancing takes its time

struct NetFigures {
  std::array<RouteFigures, 14> of;  // by system
  unsigned wrong = 0;
};

/// Where not `all`, only the systems that claims of shares speak of.
Result<NetFigures> measure_net(const std::string& fabric, std::uint64_t seed, bool all) {
  const auto spec = load_fabric(fabric);
  if (!spec) return fail(Errc::Invalid, print_fault(spec.error()[0]));
  const auto net = RouteNet::build(*spec);
  if (!net) return tl::unexpected<Error>(net.error());
  NetFigures out;
  std::size_t number = 0;
  for (const RouteSystem& system : route_systems()) {
    const bool plain = system.name == "SHORTEST";
    const bool up_down = system.name.starts_with("UD") || system.name.starts_with("DFS");
    if (!all && !up_down) {
      ++number;
      continue;
    }
    const auto set = system.build(*net, {.seed = seed, .keep = plain ? 10u : 1u});
    if (!set) return tl::unexpected<Error>(set.error());
    out.of[number++] = measure_routes(*net, *set);
    const bool free =
        check_relation(net->fabric(), RouteRelation(*net, *set), RelationMode::All).is_safe();
    if (free == plain) ++out.wrong;
  }
  return out;
}

Result<Findings> run(const ExperimentOptions& options) {
  struct Net {
    std::string name, fabric;
    unsigned topology;
    bool all = true;  // systems
  };

  const std::vector<unsigned> sizes =
      options.quick ? std::vector{8u, 16u, 32u} : std::vector{8u, 16u, 32u, 64u};
  const unsigned topologies = options.quick ? 3 : 40;
  std::vector<Net> nets;
  for (const unsigned switches : sizes) {
    for (unsigned t = 1; t <= topologies; ++t) {
      nets.push_back({fmt::format("irregular, {}", switches),
                      irregular_fabric(switches, t),
                      t,
                      t <= kAllSystems});
    }
  }
  if (options.quick) {
    // Of the largest a few: H18 is of 64 switches.
    for (unsigned t = 1; t <= 3; ++t)
      nets.push_back({"irregular, 64", irregular_fabric(64, t), t, false});
  }
  nets.push_back({"torus", "torus:dims=8.8,hosts=8", 1, false});
  nets.push_back({"express", "express-torus:dims=8.8,hosts=8", 1, false});
  nets.push_back({"CPLANT", "cplant:", 1, false});
  const auto results = collect<NetFigures>(options.jobs, nets.size(), [&](std::size_t i) {
    return measure_net(nets[i].fabric, nets[i].topology, nets[i].all);
  });
  if (!results) return tl::unexpected<Error>(results.error());

  Findings out{.plot = {.title = "Shares of shortest routes",
                        .x_label = "switches",
                        .y_label = "shortest routes, %"}};
  const auto number = [](std::string_view name) {
    return static_cast<std::size_t>(find_system(name) - route_systems().data());
  };
  const auto mean = [&](const std::string& name, std::string_view system, auto field) {
    double sum = 0;
    unsigned count = 0;
    for (std::size_t i = 0; i < nets.size(); ++i) {
      const RouteFigures& figures = (*results)[i].of[number(system)];
      if (nets[i].name != name || figures.routes == 0) continue;
      sum += figures.*field;
      ++count;
    }
    return count == 0 ? std::nan("") : sum / count;
  };
  std::vector<std::string> names;
  for (const Net& net : nets) {
    if (names.empty() || names.back() != net.name) names.push_back(net.name);
  }
  for (const std::string& name : names) {
    for (const RouteSystem& system : route_systems()) {
      const double share = mean(name, system.name, &RouteFigures::minimal_share);
      if (std::isnan(share)) continue;
      out.add_row({{"network", name},
                   {"system", system.name},
                   {"shortest_share", share},
                   {"mean_links", mean(name, system.name, &RouteFigures::mean_links)},
                   {"stops_per_route", mean(name, system.name, &RouteFigures::stops_per_route)},
                   {"stop_share", mean(name, system.name, &RouteFigures::stop_share)},
                   {"deviation", mean(name, system.name, &RouteFigures::deviation)},
                   {"most_load", mean(name, system.name, &RouteFigures::most_load)}});
    }
  }
  const auto shares = [&](std::string_view system, std::initializer_list<double> published) {
    Range points;
    std::size_t i = 0;
    for (const double each : published) {
      const unsigned switches = 8u << i++;
      const double share =
          100 * mean(fmt::format("irregular, {}", switches), system, &RouteFigures::minimal_share);
      if (std::isnan(share)) continue;
      points.add(std::abs(share - each));
      out.plot.add_point(system, switches, share);
    }
    return points;
  };
  Range regular, links, wrong;
  const auto share_on = [&](const char* name) {
    return 100 * mean(name, "UD", &RouteFigures::minimal_share);
  };
  for (const auto& [name, published] :
       {std::pair{"torus", 80.0}, {"express", 94.0}, {"CPLANT", 100.0}}) {
    regular.add(std::abs(share_on(name) - published));
  }
  links.add(mean("torus", "UD", &RouteFigures::mean_links) / 4.57);
  links.add(mean("torus", "UD_ITB", &RouteFigures::mean_links) / 4.06);
  double otherwise = 0;
  for (const NetFigures& figures : *results) otherwise += figures.wrong;
  wrong.add(otherwise);
  out.verdicts =
      decide(kClaims,
             {{"H14", shares("UD", {100, 89, 71, 61})},
              {"H15", shares("DFS", {99, 94, 81, 70})},
              {"H16", regular},
              {"H17", links},
              {"H18-ud", Range(mean("irregular, 64", "UD_ITB", &RouteFigures::stops_per_route))},
              {"H18-dfs", Range(mean("irregular, 64", "DFS_ITB", &RouteFigures::stops_per_route))},
              {"deadlock", wrong}});
  return out;
}

}  // namespace
}  // namespace smd::sim::route_figures

namespace smd::sim {

std::vector<Experiment> static_route_tables() {
  return {{.name = "000-static",
           .source = "Flich 2001, sections 5.2 and 5.3",
           .about = "Source routes: shares of shortest ones, lengths, stops, freedom from deadlock",
           .claims = route_figures::kClaims,
           .run = route_figures::run}};
}

}  // namespace smd::sim
