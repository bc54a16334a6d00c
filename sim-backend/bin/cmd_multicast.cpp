#include "sim-backend/bin/cmd_multicast.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "sim-backend/multicast/verdict.h"
#include "smd/base/program.h"

namespace smd::sim {
namespace {

/// Sets that are gone through in some seconds.
constexpr double kMostSets = 3e6;

struct MulticastLine {
  std::string fabric, algorithm, source, to, branches = "apart";
  unsigned random = 0, size = 16, destinations = 2, channels = 0;
  std::uint64_t seed = 1;
  bool json = false, list = false, escape = false;
};

int list_algorithms() {
  for (const MulticastAlgorithm& row : multicast_algorithms())
    fmt::print("{:<19} {}\n", row.name, row.meaning);
  return 0;
}

struct Chosen {
  LabelledNet net;
  const MulticastAlgorithm* algorithm;
};

/// Nothing, and an exit code, where there was a fault.
std::optional<Chosen> choose(const MulticastLine& line, const char* option, int& exit_code) {
  exit_code = kExitBadInput;
  const Parsed<FabricSpec> spec = load_fabric(line.fabric);
  if (!spec) {
    exit_code = print_faults(spec.error());
    return {};
  }
  auto net = LabelledNet::build(*spec);
  if (!net) {
    wrong_line("smsim", fmt::format("{}: {}", line.fabric, net.error().context));
    return {};
  }
  const MulticastAlgorithm* algorithm = find_multicast_algorithm(line.algorithm);
  if (algorithm == nullptr) {
    std::string known;
    for (const MulticastAlgorithm& row : multicast_algorithms()) known += " " + row.name;
    wrong_line("smsim",
               fmt::format("{} {}: there is none of that name; there are{}",
                           option,
                           line.algorithm.empty() ? "NAME" : line.algorithm,
                           known));
    return {};
  }
  if (const std::string why = refuse_multicast(*net, *algorithm); !why.empty()) {
    wrong_line("smsim", fmt::format("{}: {}", line.fabric, why));
    return {};
  }
  exit_code = 0;
  return Chosen{std::move(*net), algorithm};
}

nlohmann::ordered_json figures_json(const MulticastFigures& figures) {
  return {{"sets", figures.sets},
          {"mean_channels", figures.mean_channels()},
          {"mean_distance", figures.mean_distance()},
          {"mean_farthest", figures.mean_farthest()}};
}

void print_figures(const MulticastFigures& figures) {
  fmt::print("channels {:.2f}, distance {:.2f} on average, farthest {:.2f}{}\n",
             figures.mean_channels(),
             figures.mean_distance(),
             figures.mean_farthest(),
             figures.sets > 1 ? fmt::format(", means over {} sets", figures.sets) : "");
}

int print_trips(const MulticastLine& line,
                const Chosen& chosen,
                Node source,
                std::vector<Node> to) {
  const auto trips = trace_multicast(chosen.net, *chosen.algorithm, source, to);
  MulticastFigures figures;
  figures.add(trips);
  nlohmann::ordered_json out{{"algorithm", line.algorithm}, {"source", line.source}};
  for (const MulticastTrace& trip : trips) {
    std::string visits;
    nlohmann::ordered_json order = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < trip.message.order.size(); ++i) {
      const std::string name = chosen.net.name(trip.message.order[i]);
      visits += fmt::format(" {}({})", name, trip.distances[i]);
      order.push_back({{"to", name}, {"distance", trip.distances[i]}});
    }
    if (!line.json) fmt::print("message{}: {} channels\n", visits, trip.channels.size());
    out["messages"].push_back({{"channels", trip.channels.size()}, {"order", order}});
  }
  out["figures"] = figures_json(figures);
  if (line.json) {
    fmt::print("{}\n", out.dump(2));
  } else {
    print_figures(figures);
  }
  return 0;
}

int run_multicast(const MulticastLine& line) {
  if (line.list) return list_algorithms();
  int exit_code = 0;
  const auto chosen = choose(line, "--algorithm", exit_code);
  if (!chosen) return exit_code;
  const LabelledNet& net = chosen->net;
  if (line.random > 0) {
    if (line.size >= net.nodes())
      return wrong_line("smsim",
                        fmt::format("--size {}: the fabric has {} switches beside the source",
                                    line.size,
                                    net.nodes() - 1));
    const MulticastFigures figures =
        measure_random_sets(net, *chosen->algorithm, line.random, line.size, line.seed);
    if (line.json) {
      fmt::print("{}\n", figures_json(figures).dump(2));
    } else {
      print_figures(figures);
    }
    return 0;
  }
  const Node source = net.find(line.source);
  if (source == kNoWhere)
    return wrong_line("smsim", fmt::format("--source {}: no switch of that name", line.source));
  std::vector<Node> to;
  for (std::size_t at = 0; at <= line.to.size();) {
    const std::size_t end = std::min(line.to.find(',', at), line.to.size());
    const std::string name = line.to.substr(at, end - at);
    const Node node = net.find(name);
    if (node == kNoWhere || node == source || std::ranges::count(to, node) > 0) {
      return wrong_line("smsim",
                        fmt::format("--to {}: {}",
                                    name,
                                    node == kNoWhere ? "no switch of that name"
                                    : node == source ? "the source"
                                                     : "twice"));
    }
    to.push_back(node);
    at = end + 1;
  }
  return print_trips(line, *chosen, source, std::move(to));
}

int run_check(const MulticastLine& line) {
  if (line.list) return list_algorithms();
  int exit_code = 0;
  const auto chosen = choose(line, "--relation", exit_code);
  if (!chosen) return exit_code;
  const double sets = count_sets(chosen->net, line.destinations);
  if (sets > kMostSets) {
    return wrong_line(
        "smsim",
        fmt::format("--destinations {}: {:.0f} sets, and {:.0f} are looked at; take fewer, "
                    "or a smaller network",
                    line.destinations,
                    sets,
                    kMostSets));
  }
  if (line.escape && !chosen->algorithm->adaptive)
    return wrong_line("smsim",
                      fmt::format("--escape: {} has no channels to escape to", line.algorithm));
  const ForkModel branches = line.branches == "apart"  ? ForkModel::Apart
                             : line.branches == "next" ? ForkModel::Next
                                                       : ForkModel::Whole;
  const RelationVerdict verdict = check_multicast(chosen->net,
                                                  *chosen->algorithm,
                                                  line.destinations,
                                                  branches,
                                                  line.escape,
                                                  {.count = line.channels});
  const std::string circle = print_circle(chosen->net.fabric(), verdict.cycle);
  if (line.json) {
    const nlohmann::ordered_json out{{"relation", line.algorithm},
                                     {"sets", sets},
                                     {"lanes", verdict.vls},
                                     {"acyclic", verdict.acyclic},
                                     {"dead_ends", verdict.dead_ends},
                                     {"cycle", circle}};
    fmt::print("{}\n", out.dump(2));
  } else if (!verdict.acyclic) {
    fmt::print("a circle: {}\n", circle);
    if (line.channels > 1)
      fmt::print("where it passes a host's channels, it locks only if all of them are held\n");
  } else if (verdict.dead_ends > 0) {
    fmt::print("{} places without a way on\n", verdict.dead_ends);
  } else {
    fmt::print("free of circles: {:.0f} sets of destinations, {} lanes, {} dependencies\n",
               sets,
               verdict.vls,
               verdict.edges);
  }
  return verdict.is_safe() ? 0 : kExitFailed;
}

}  // namespace

void add_multicast_commands(Command& program, int& exit_code) {
  const auto line = std::make_shared<MulticastLine>();
  Command multicast = program.command("multicast", "How an algorithm visits destinations");
  multicast.option("FABRIC", line->fabric, "Generator NAME:key=value,… or a file");
  multicast.option("--algorithm", line->algorithm, "Its name");
  const CommandOption source = multicast.option("--source", line->source, "Switch that sends");
  const CommandOption to = multicast.option("--to", line->to, "Switches, with commas between them");
  multicast
      .option("--random", line->random, "Means over so many sets instead, of random senders too")
      .excludes(source)
      .excludes(to);
  multicast.option("--size", line->size, "Destinations of a random set").range(1u, 100000u);
  multicast.option("--seed", line->seed, "Of random sets").show_default();
  multicast.flag("--json", line->json, "One JSON object");
  multicast.flag("--list", line->list, "All algorithms");
  multicast.on_run([line, &exit_code] { exit_code = run_multicast(*line); });
  Command check = program.command("check", "Whether messages can wait for each other in a circle");
  check.option("FABRIC", line->fabric, "Generator NAME:key=value,… or a file");
  check.option("--relation", line->algorithm, "Name of a multicast algorithm");
  check.option("--destinations", line->destinations, "Sets of so many at most").range(1u, 8u);
  check
      .option("--branches",
              line->branches,
              "Of messages that fork, what a branch waits for: apart, next (behind the fork of the "
              "others) or whole (all of the others)")
      .one_of({"apart", "next", "whole"});
  check
      .option("--host-channels",
              line->channels,
              "Channels to each host and from it, a message each; 0: one from it, and to it one "
              "for each "
              "lane into its switch")
      .range(0u, 1000u);
  check.flag("--escape", line->escape, "Adaptive ones: by their escapes alone");
  check.flag("--json", line->json, "One JSON object");
  check.flag("--list", line->list, "All algorithms");
  check.on_run([line, &exit_code] { exit_code = run_check(*line); });
}

}  // namespace smd::sim
