// 001-multicast, -unicast, -mixed and -other-networks: what algorithms accept, and what messages
// take, under load.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "sim-backend/experiments/multicast/multicast_loads.h"
#include "sim-backend/experiments/tables.h"
#include "sim-backend/lab/parallel.h"

namespace smd::sim::loads {
namespace {

constexpr std::string_view kSource = "Perez Malumbres, section 6";

constexpr ClaimSpec kMulticastClaims[] = {
    {.id = "M8",
     .text = "adaptive dual-path accepts what dual-path with two lanes does",
     .source = "Perez Malumbres, figure 13",
     .measured = "{least:.3f} times",
     .expected = "0.85 to 1.15 times"},
    {.id = "M9",
     .text = "dual-path with one lane accepts less than either",
     .source = "Perez Malumbres, figure 13",
     .measured = "{most:.3f} times at most",
     .expected = "less than 1"},
    {.id = "M10-latency",
     .text = "PM takes long at low load: at a tenth of what dual-path accepts",
     .source = "Perez Malumbres, figure 13",
     .measured = "{least:.3f} times dual-path's, to the last copy",
     .expected = "at least 1.2"},
    {.id = "M10-load",
     .text = "PM withstands far more load than dual-path with one lane",
     .source = "Perez Malumbres, figure 13",
     .measured = "{least:.3f} times",
     .expected = "at least 1.3"},
    {.id = "M14",
     .text = "lists block less than trees: multi-path against double-channel, at a tenth of what "
             "dual-path accepts; at more the trees lock",
     .source = "Perez Malumbres, section 2",
     .measured = "{least:.3f} times the blocked cycles of a message",
     .expected = "less than 1"},
    {.id = "M15-load",
     .text = "multi-path accepts more than dual-path",
     .source = "Perez Malumbres, section 4",
     .measured = "{least:.3f} times",
     .expected = "more than 1"},
};

constexpr ClaimSpec kUnicastClaims[] = {
    {.id = "M11",
     .text = "adaptive dual-path accepts half of what adaptive rows-first does",
     .source = "Perez Malumbres, figure 14",
     .measured = "{least:.3f} of it",
     .expected = "0.35 to 0.65"},
    {.id = "M11-latency",
     .text = "below saturation both take as long: at half of what adaptive dual-path accepts",
     .source = "Perez Malumbres, figure 14",
     .measured = "{least:.3f} times",
     .expected = "0.9 to 1.1 times"},
    {.id = "M12",
     .text = "PM accepts somewhat less than dual-path, adaptive or not",
     .source = "Perez Malumbres, figure 14",
     .measured = "{least:.3f} to {most:.3f} times",
     .expected = "less than 1"},
};

constexpr ClaimSpec kMixedClaims[] = {
    {.id = "M13",
     .text = "one algorithm serves messages to one host and to several: none of seven locks",
     .source = "Perez Malumbres, section 6",
     .measured = "{most:.0f} of them lock",
     .expected = "none"},
};

constexpr ClaimSpec kOtherClaims[] = {
    {.id = "M16",
     .text = "better connected networks gain more of adaptive dual-path than a mesh does",
     .source = "Perez Malumbres, section 7: a guess",
     .measured = "{least:.3f} to {most:.3f} times the mesh's gain",
     .expected = "more than 1"},
};

struct LoadPlan {
  unsigned side, destinations, seeds, jobs;
  MessageCount length;
  double step;

  explicit LoadPlan(const ExperimentOptions& options)
      : side(options.quick ? 6 : 32),
        destinations(options.quick ? 6 : 16),
        seeds(options.quick ? 1 : 3),
        jobs(options.jobs),
        length(options.quick ? MessageCount{.warm_up = 500, .measured = 3000}
                             : MessageCount{.warm_up = 20'000, .measured = 80'000}),
        step(options.quick ? 0.04 : 0.005) {}
};

/// A line of a figure: over seeds.
struct Curve {
  MulticastRun run;
  double most = 0;                      // that is accepted, on average
  unsigned deadlocks = 0;               // seeds under which it locked
  MulticastPoint low, middle;           // at a tenth and a half of what the first curve accepts:
                                        // means
  std::map<double, MulticastPoint> at;  // of the first seed
};

/// Channels to a host: four, as published; as many as lanes come into a switch where there are two.
MulticastRun run_of(const LoadPlan& plan, const char* algorithm, double share) {
  const unsigned lanes = find_multicast_algorithm(algorithm)->lanes;
  return {.algorithm = algorithm,
          .fabric = mesh_fabric(plan.side),
          .destinations = share > 0 ? plan.destinations : 1,
          .share = share > 0 ? share : 1,
          .channels = 4 * lanes};
}

Result<std::vector<Curve>> measure(const LoadPlan& plan, const std::vector<MulticastRun>& runs) {
  const auto sweeps =
      collect<MulticastSweep>(plan.jobs, runs.size() * plan.seeds, [&](std::size_t i) {
        MulticastRun run = runs[i / plan.seeds];
        run.seed = 1 + i % plan.seeds;
        return sweep(run, plan.length, plan.step);
      });
  if (!sweeps) return tl::unexpected<Error>(sweeps.error());
  std::vector<Curve> out;
  for (const MulticastRun& run : runs)
    out.push_back({.run = run, .low = {}, .middle = {}, .at = {}});
  for (std::size_t i = 0; i < sweeps->size(); ++i) {
    Curve& curve = out[i / plan.seeds];
    const MulticastSweep& one = (*sweeps)[i];
    curve.most += one.most / plan.seeds;
    curve.deadlocks += one.deadlocked ? 1 : 0;
    if (i % plan.seeds > 0) continue;
    for (const MulticastPoint& point : one.points) curve.at[point.load] = point;
  }
  std::vector<LoadPlace> places;
  for (const MulticastRun& run : runs) {
    for (const double share : {0.1, 0.5}) places.push_back({run, share * out[0].most});
  }
  const auto points = run_means(places, plan.seeds, plan.length, plan.jobs);
  if (!points) return tl::unexpected<Error>(points.error());
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i].low = (*points)[2 * i];
    out[i].middle = (*points)[2 * i + 1];
  }
  return out;
}

std::string label_of(const MulticastRun& run, const std::string& name) {
  return name.empty() ? run.algorithm : fmt::format("{} on {}", run.algorithm, name);
}

/// Every point of a curve, and what it accepts at most.
void add_curve(const Curve& curve, const std::string& network, Findings& out) {
  const std::string label = label_of(curve.run, network);
  const auto add = [&](std::string_view what, const MulticastPoint& point) {
    out.add_row({{"algorithm", curve.run.algorithm},
                 {"network", curve.run.fabric},
                 {"share_to_several", curve.run.destinations > 1 ? curve.run.share : 0},
                 {"what", what},
                 {"load", point.load},
                 {"accepted", point.accepted},
                 {"last_copy", point.last},
                 {"copy", point.copy},
                 {"to_one", point.unicast},
                 {"blocked_per_message", point.blocked},
                 {"locked", point.deadlocked ? "yes" : "no"}});
  };
  for (const auto& [load, point] : curve.at) {
    add("sweep, seed 1", point);
    if (!point.deadlocked)
      out.plot.add_point(label, load, curve.run.destinations > 1 ? point.last : point.unicast);
  }
  add("a tenth of the first row's most, mean of seeds", curve.low);
  add("half of it, mean of seeds", curve.middle);
  add("most, mean of seeds",
      {.load = curve.most, .accepted = curve.most, .deadlocked = curve.deadlocks > 0});
}

Findings empty_findings(const char* title) {
  return {.plot = {.title = title,
                   .x_label = "load: flits that each host takes in, per cycle",
                   .y_label = "cycles to the last copy",
                   .log_y = true}};
}

using ByName = std::map<std::string, const Curve*>;

/// Nothing is claimed of runs that locked.
double ratio(const MulticastPoint& of, const MulticastPoint& to, double MulticastPoint::*what) {
  return of.deadlocked || to.deadlocked ? std::nan("") : of.*what / (to.*what);
}

ByName by_name(const std::vector<Curve>& curves) {
  ByName out;
  for (const Curve& curve : curves) out[curve.run.algorithm] = &curve;
  return out;
}

Result<Findings> run_multicast(const ExperimentOptions& options) {
  const LoadPlan plan(options);
  std::vector<MulticastRun> runs;
  for (const char* name :
       {"dual-path", "dual-path-2", "dual-path-adaptive", "multi-path", "pm", "double-channel"})
    runs.push_back(run_of(plan, name, 1));
  const auto curves = measure(plan, runs);
  if (!curves) return tl::unexpected<Error>(curves.error());
  Findings out = empty_findings("Messages to several hosts");
  for (const Curve& curve : *curves) add_curve(curve, "", out);
  ByName of = by_name(*curves);
  const double dual = of["dual-path"]->most;
  Range one_lane(dual / of["dual-path-2"]->most);
  one_lane.add(dual / of["dual-path-adaptive"]->most);
  out.verdicts = decide(
      kMulticastClaims,
      {{"M8", Range(of["dual-path-adaptive"]->most / of["dual-path-2"]->most)},
       {"M9", one_lane},
       {"M10-latency", Range(ratio(of["pm"]->low, of["dual-path"]->low, &MulticastPoint::last))},
       {"M10-load", Range(of["pm"]->most / dual)},
       {"M14",
        Range(ratio(of["multi-path"]->low, of["double-channel"]->low, &MulticastPoint::blocked))},
       {"M15-load", Range(of["multi-path"]->most / dual)}});
  return out;
}

Result<Findings> run_unicast(const ExperimentOptions& options) {
  LoadPlan plan(options);
  // Twenty messages of each host are enough. In the other experiments one to 16 hosts counts 16
  // times.
  if (!options.quick) plan.length = {.warm_up = 5'000, .measured = 20'000};
  std::vector<MulticastRun> runs;
  for (const char* name :
       {"dual-path-adaptive", "dual-path", "dual-path-2", "xy-adaptive", "separate", "pm"})
    runs.push_back(run_of(plan, name, 0));
  const auto curves = measure(plan, runs);
  if (!curves) return tl::unexpected<Error>(curves.error());
  Findings out = empty_findings("Messages to one host");
  out.plot.y_label = "cycles";
  for (const Curve& curve : *curves) add_curve(curve, "", out);
  ByName of = by_name(*curves);
  const Curve &adaptive = *of["dual-path-adaptive"], &rows = *of["xy-adaptive"];
  Range pm(of["pm"]->most / of["dual-path"]->most);
  pm.add(of["pm"]->most / adaptive.most);
  out.verdicts =
      decide(kUnicastClaims,
             {{"M11", Range(adaptive.most / rows.most)},
              {"M11-latency", Range(ratio(adaptive.middle, rows.middle, &MulticastPoint::unicast))},
              {"M12", pm}});
  return out;
}

Result<Findings> run_mixed(const ExperimentOptions& options) {
  const LoadPlan plan(options);
  std::vector<MulticastRun> runs;
  for (const char* name : {"dual-path",
                           "dual-path-2",
                           "dual-path-adaptive",
                           "multi-path",
                           "pm",
                           "xy-adaptive",
                           "double-channel"})
    runs.push_back(run_of(plan, name, 0.1));
  const auto curves = measure(plan, runs);
  if (!curves) return tl::unexpected<Error>(curves.error());
  Findings out = empty_findings("One message in ten to several hosts");
  double locked = 0;
  for (const Curve& curve : *curves) {
    add_curve(curve, "", out);
    locked += curve.deadlocks > 0 ? 1 : 0;
  }
  out.verdicts = decide(kMixedClaims, {{"M13", Range(locked)}});
  return out;
}

Result<Findings> run_others(const ExperimentOptions& options) {
  LoadPlan plan(options);
  plan.seeds = 1;  // networks of up to 512 switches

  struct Network {
    std::string name, fabric;
  };

  const unsigned side = options.quick ? 6 : 16;
  std::vector<Network> networks{{"mesh", mesh_fabric(side)},
                                {"torus", fmt::format("torus:dims={}.{},hosts=1", side, side)}};
  if (options.quick) {
    networks.push_back({"cube", "torus:dims=3.3.3,hosts=1"});
  } else {
    networks.push_back({"cube", "torus:dims=8.8.8,hosts=1"});
    networks.push_back({"irregular", irregular_fabric(64, 1, 1)});
  }
  std::vector<MulticastRun> runs;
  for (const Network& network : networks) {
    for (const char* name : {"dual-path-2", "dual-path-adaptive"}) {
      runs.push_back(run_of(plan, name, 1));
      runs.back().fabric = network.fabric;
      runs.back().channels = 16;
    }
  }
  const auto curves = measure(plan, runs);
  if (!curves) return tl::unexpected<Error>(curves.error());
  Findings out = empty_findings("Adaptive and other dual-path, by network");
  Range gains;
  double mesh = 0;
  for (std::size_t i = 0; i < curves->size(); i += 2) {
    const Curve &fixed = (*curves)[i], &adaptive = (*curves)[i + 1];
    add_curve(fixed, networks[i / 2].name, out);
    add_curve(adaptive, networks[i / 2].name, out);
    const double gain = adaptive.most / fixed.most;
    if (i == 0) {
      mesh = gain;
    } else {
      gains.add(gain / mesh);
    }
  }
  out.verdicts = decide(kOtherClaims, {{"M16", gains}});
  return out;
}

}  // namespace
}  // namespace smd::sim::loads

namespace smd::sim {

std::vector<Experiment> multicast_load_tables() {
  return {{.name = "001-multicast",
           .source = loads::kSource,
           .about = "Messages to several hosts on a mesh: what algorithms accept and take",
           .claims = loads::kMulticastClaims,
           .run = loads::run_multicast},
          {.name = "001-unicast",
           .source = loads::kSource,
           .about = "The same algorithms with messages to one host",
           .claims = loads::kUnicastClaims,
           .run = loads::run_unicast},
          {.name = "001-mixed",
           .source = loads::kSource,
           .about = "Nine messages in ten to one host",
           .claims = loads::kMixedClaims,
           .run = loads::run_mixed},
          {.name = "001-other-networks",
           .source = loads::kSource,
           .about = "Adaptive dual-path where there is more to choose among",
           .claims = loads::kOtherClaims,
           .run = loads::run_others}};
}

}  // namespace smd::sim
