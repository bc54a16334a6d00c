#include "smd/bin/verify_report.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "smd/base/progress.h"
#include "smd/base/text.h"
#include "smd/report/cycle_text.h"
#include "smd/routing/fat_tree/shape.h"
#include "smd/routing/verify/hop_distance.h"
#include "smd/routing/verify/walk.h"

namespace smd::bin {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kSeed = 1;

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 100.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

/// Behind a share of full rate that is of those flows alone which have a route.
std::string print_arriving(const PatternLoad& load) {
  if (load.lost == 0) return {};
  return fmt::format(" (of the {:.1f} % that arrive)", percent(load.flows - load.lost, load.flows));
}

double rounded(double value) { return std::round(value * 1000.0) / 1000.0; }

std::vector<NamedLoad> measure_patterns(const VerifyInput& input,
                                        const std::vector<PortIdx>& hosts) {
  const Fabric& fabric = *input.fabric;
  const auto count = static_cast<HostNum>(hosts.size());
  const auto groups = group_by_switch(fabric, hosts);
  std::vector<std::pair<std::string, TrafficPattern>> patterns;
  patterns.emplace_back("uniform", uniform_pattern(count));
  patterns.emplace_back("shift-1", permutation_pattern(shift(count, 1)));
  patterns.emplace_back("shift-half", permutation_pattern(shift(count, count / 2)));
  patterns.emplace_back("bit-reversal", permutation_pattern(bit_reversal(count)));
  patterns.emplace_back("transpose", permutation_pattern(transpose(count)));
  patterns.emplace_back(
      "next-switch",
      group_pattern(groups, next_group(static_cast<std::uint32_t>(groups.size())), count));
  if (const HostPorts ports = group_ports(fabric, hosts); !ports.are_apart())
    patterns.emplace_back("uniform-rail", rail_pattern(ports));
  std::vector<NamedLoad> out;
  for (const auto& [name, pattern] : patterns)
    out.push_back({name, measure_pattern(fabric, input.lids, input.routing.lft, hosts, pattern)});
  return out;
}

// Many engines give up/down routes to hosts only; the tops of a tree do not reach each other then.
std::uint64_t count_between_switches(const VerifyInput& input) {
  const Fabric& fabric = *input.fabric;
  const HopDistance distance(fabric);
  Walk walk(fabric, input.routing.lft);
  std::uint64_t lost = 0;
  for (std::size_t value = 0; value < input.lids.owner.size(); ++value) {
    const PortIdx owner = input.lids.owner[value];
    if (owner == kNone<PortIdx> || !fabric.is_switch(fabric.node_of[owner])) continue;
    walk.follow(Lid{static_cast<std::uint16_t>(value)}, owner);
    const SwitchIdx destination = fabric.switch_at(owner);
    for (const SwitchIdx sw : fabric.switch_node.indices()) {
      const bool unreachable =
          walk.result(sw) != PathResult::Arrives && walk.result(sw) != PathResult::Loop;
      lost += unreachable && sw != destination && distance.joined(sw, destination);
    }
  }
  return lost;
}

/// Subnet managers give VLs to paths of hosts with care, and often to those of switches without.
bool is_loop_of_switches(const VerifyInput& input, const VerifyReport& report) {
  if (report.routes.acyclic || report.any_sl || !input.of_hosts) return false;
  return check_routes(*input.fabric,
                      input.lids,
                      input.routing,
                      {.minimality = false, .offered = &*input.of_hosts})
      .acyclic;
}

std::string deadlock_text(const VerifyReport& report) {
  const char* const whose = report.any_sl ? ", whatever SLs hosts use" : "";
  if (report.routes.acyclic) {
    return fmt::format(
        "none on {} VL{}{}", report.routes.vls, report.routes.vls == 1 ? "" : "s", whose);
  }
  return fmt::format("FOUND: {}", report.cycle);
}

}  // namespace

VerifyReport verify_tables(const VerifyInput& input, bool any_sl, unsigned permutations) {
  const Fabric& fabric = *input.fabric;
  progress::begin("routes");
  VerifyReport report{
      .counts = {.switches = fabric.switch_count(),
                 .cas = fabric.node_count() - fabric.switch_count(),
                 .links = fabric.link_count(),
                 .lids = 0,
                 .no_data = count_no_data(fabric),
                 .hosts = count_hosts(fabric)},
      .shape = describe_shape(fabric),
      .routes =
          check_routes(fabric,
                       input.lids,
                       input.routing,
                       {.any_sl = any_sl, .offered = input.offered ? &*input.offered : nullptr}),
      .cycle = {},
      .load = measure_load(fabric, input.lids, input.routing.lft),
      .bound = {},
      .path_sets = measure_path_sets(fabric, input.lids, input.routing.lft),
      .patterns = {},
      .bisection = {},
      .measures = {},
      .permutations = permutations,
      .any_sl = any_sl,
      .notes = input.notes,
      .multicast = {},
  };
  for (const PortIdx owner : input.lids.owner) report.counts.lids += owner != kNone<PortIdx>;
  report.cycle = print_cycle(fabric, report.routes.cycle);
  if (is_loop_of_switches(input, report)) {
    report.notes.emplace_back(
        "the credit loop takes packets that switches themselves send; those of hosts have none");
  }
  const bool given_sls = !input.routing.sl_to_vl.empty() && !any_sl;
  if (!report.routes.acyclic && given_sls && !input.offered) {
    report.notes.emplace_back(
        "every path was taken to use any SL; with the SLs of paths (--path-sl) there may be no "
        "credit loop");
  }
  if (report.routes.unreachable != 0) report.between_switches = count_between_switches(input);
  const std::vector<PortIdx> hosts = find_hosts(fabric, input.lids);
  if (hosts.empty()) return report;
  progress::begin("patterns");
  report.patterns = measure_patterns(input, hosts);
  progress::begin("bisection");
  report.bisection = measure_effective_bisection(
      fabric, input.lids, input.routing.lft, hosts, permutations, kSeed);
  progress::begin("shifts");
  report.measures = measure_routes(fabric, input.lids, input.routing.lft, {.permutations = 0});
  progress::begin("bound");
  report.bound = find_load_bound(fabric, input.lids);
  return report;
}

std::string print_verify(const VerifyReport& report) {
  const RouteReport& routes = report.routes;
  const std::uint64_t arriving = routes.pairs - routes.unreachable - routes.loops;
  std::string out =
      fmt::format("{} switches, {}, {} links, {} LIDs\n",
                  report.counts.switches,
                  print_adapters(report.counts.cas, report.counts.no_data, report.counts.hosts),
                  report.counts.links,
                  report.counts.lids);
  out += fmt::format("  fabric       {}\n", printable(report.shape));
  out +=
      fmt::format("  routes       {} pairs: {} unreachable, {} in loops, {} without a cable path\n",
                  routes.pairs,
                  routes.unreachable,
                  routes.loops,
                  routes.disconnected);
  out += fmt::format(
      "  hops         {:.2f} on average, {} at most, {:.1f} % of the pairs minimal\n",
      arriving == 0 ? 0.0 : static_cast<double>(routes.hops) / static_cast<double>(arriving),
      routes.max_hops,
      percent(routes.minimal, routes.pairs));
  out += fmt::format("  credit loops {}\n", deadlock_text(report));
  out += fmt::format(
      "  load         {} paths on the fullest channel, {:.1f} on average, deviation {:.1f}{}\n",
      report.load.max,
      report.load.mean,
      report.load.stddev,
      print_per_gbps(report.load));
  if (report.bound.fullest > 0)
    out += fmt::format("  bound        {}\n", print_load_bound(report.load, report.bound.fullest));
  out += fmt::format("  tables       {} entries for LIDs that nobody has",
                     report.path_sets.unused_entries);
  if (report.path_sets.paths != 0) {
    out += fmt::format("; {} of {} paths of ports with several LIDs are doubles",
                       report.path_sets.duplicate_paths,
                       report.path_sets.paths);
  }
  out += '\n';
  if (!report.patterns.empty() && report.measures.full_rate.others != 0)
    out += fmt::format("  full rate    {}\n", print_full_rate(report.measures.full_rate));
  for (const auto& [name, load] : report.patterns) {
    out += fmt::format(
        "  {:<12} {:.1f} % of full rate{}; channels carry {:.3f} hosts at most, {:.3f} "
        "on average\n",
        name,
        100 * load.throughput,
        print_arriving(load),
        load.max,
        load.mean);
  }
  if (!report.patterns.empty())
    out += fmt::format("  shifts       {}{}\n",
                       print_shifts(report.measures),
                       print_arriving(report.patterns.front().load));
  if (!report.patterns.empty() && report.permutations != 0) {
    out += fmt::format(
        "  bisection    {:.1f} % of full rate per flow, mean of {} random permutations; {:.1f} % "
        "in the worst{}\n",
        100 * report.bisection.mean,
        report.permutations,
        100 * report.bisection.worst,
        report.bisection.lost > 0 ? "; what does not arrive gets nothing" : "");
  }
  if (report.multicast) out += print_multicast(*report.multicast);
  if (report.between_switches != 0) {
    out += fmt::format(
        "  note         {} of the unreachable pairs are two switches: no host's data is lost\n",
        report.between_switches);
  }
  for (const std::string& fault : routes.first_faults)
    out += fmt::format("  fault        {}\n", printable(fault));
  for (const std::string& note : report.notes)
    out += fmt::format("  note         {}\n", printable(note));
  return out + (report.sound() ? "sound\n" : "NOT SOUND\n");
}

Json verify_json(const VerifyReport& report) {
  CycleReport cycle;
  cycle.routes = report.routes;
  cycle.cycle_text = report.cycle;
  Json routes = routes_json(report.routes);
  routes["disconnected"] = report.routes.disconnected;
  routes["unreachable_between_switches"] = report.between_switches;
  routes["first_faults"] = report.routes.first_faults;
  Json deadlock = deadlock_json(cycle);
  deadlock["any_sl"] = report.any_sl;
  Json patterns = Json::object();
  for (const auto& [name, load] : report.patterns) {
    patterns[name] = {{"flows", load.flows},
                      {"lost", load.lost},
                      {"max", rounded(load.max)},
                      {"mean", rounded(load.mean)},
                      {"stddev", rounded(load.stddev)},
                      {"max_host", rounded(load.max_host)},
                      {"throughput", rounded(load.throughput)}};
  }
  const bool drew = report.permutations != 0 && !report.patterns.empty();
  const auto drawn = [drew](double value) { return drew ? Json(rounded(value)) : Json(nullptr); };
  Json out = {
      {"ok", report.sound()},
      {"fabric", to_json(report.counts)},
      {"shape", report.shape},
      {"routes", routes},
      {"deadlock", deadlock},
      {"load", load_json(report.load, report.bound.fullest)},
      {"tables",
       {{"unused_entries", report.path_sets.unused_entries},
        {"paths", report.path_sets.paths},
        {"duplicate_paths", report.path_sets.duplicate_paths}}},
      {"patterns", patterns},
      {"effective_bisection",
       {{"permutations", report.permutations},
        {"mean", drawn(report.bisection.mean)},
        {"worst", drawn(report.bisection.worst)},
        {"lost", report.bisection.lost}}},
      {"full_rate_gbps", rounded(static_cast<double>(report.measures.full_rate.mbps) / 1000)},
      {"other_rates", report.measures.full_rate.others},
      {"shifts",
       {{"mean", rounded(report.measures.shifts)},
        {"worst", rounded(report.measures.worst_shift)}}},
      {"notes", report.notes}};
  if (report.multicast) out["multicast"] = multicast_json(*report.multicast);
  return out;
}

}  // namespace smd::bin
