#include "smd/bin/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "sim-backend/topology/network.h"
#include "smd/base/parallel.h"
#include "smd/base/program.h"
#include "smd/base/progress.h"
#include "smd/base/text.h"
#include "smd/bin/dry_run_world.h"
#include "smd/multicast/group_trees.h"
#include "smd/multicast/subnet_limits.h"
#include "smd/report/cycle_text.h"
#include "smd/report/dump.h"
#include "smd/routing/fat_tree/shape.h"
#include "smd/routing/verify/load_bound.h"
#include "smd/routing/verify/patterns.h"

namespace smd::bin {
namespace {

using Json = nlohmann::ordered_json;

Parsed<sim::Timing> parse_timing(const std::string& name) {
  if (name == "modern") return sim::Timing::modern();
  if (name == "thesis") return sim::Timing::thesis();
  if (name == "none") return sim::Timing::none();
  return fault("--timing", 0, fmt::format("'{}' is no preset; modern, thesis or none", name));
}

bool is_watched(const sim::FabricSpec& spec, const DryRunOptions& options) {
  const auto switches = std::ranges::count(spec.nodes, NodeType::Switch, &sim::NodeSpec::type);
  return options.timeline || static_cast<std::size_t>(switches) <= kWatchedSwitches;
}

/// The trees that the manager would lay for groups of all hosts.
struct GroupsOfAll {
  TreeQuality all_send;
  std::optional<TreeQuality> one_sends;  // its own port alone; where trees look at that
};

GroupsOfAll measure_groups_of_all(const ActiveSubnet& up, TreeShape shape) {
  const Fabric& fabric = up.fabric();
  std::vector<TreeMember> members;
  for (const PortIdx port : fabric.peer.indices()) {
    if (fabric.is_end_port(port) && !fabric.is_switch(fabric.node_of[port]))
      members.push_back({port});
  }
  GroupTrees trees;
  trees.adopt(up.sweep.fabric, up.lids, up.routing, shape);
  GroupsOfAll out;
  out.all_send = measure_tree(fabric, trees.lay(kFirstMlid, members).masks, members);
  for (TreeMember& member : members) {
    member.sends = member.port == fabric.sm_port;
    member.receives = !member.sends;
  }
  const std::vector<SwitchMask> masks = trees.lay(kFirstMlid, members).masks;
  if (trees.sender_of(kFirstMlid) != kNone<PortIdx>)
    out.one_sends = measure_tree(fabric, masks, members);
  return out;
}

std::string print_one_sends(const TreeQuality& quality) {
  return fmt::format(
      "multicast from the manager's port alone to all hosts: {:.1f} hops on average and {} at "
      "most, "
      "{:.1f} and {} by shortest ways; {:.0f} channels a packet\n",
      quality.mean_hops(),
      quality.depth,
      quality.mean_shortest_hops(),
      quality.shortest_depth,
      quality.mean_channels());
}

/// "sw-0-1, sw-0-2, host-3 and 12 more"
std::string list_some(const std::vector<std::string>& names) {
  constexpr std::size_t kNamed = 4;
  const auto shown = std::span(names).first(std::min(names.size(), kNamed));
  std::string out = printable(fmt::format("{}", fmt::join(shown, ", ")));
  if (names.size() > kNamed) out += fmt::format(" and {} more", names.size() - kNamed);
  return out;
}

/// Empty where the manager has all that it is cabled to.
std::string print_not_found(const std::vector<std::string>& names) {
  if (names.empty()) return {};
  return fmt::format("NOT ALL FOUND: cables that are up lead to {} more node{}: {}\n",
                     names.size(),
                     names.size() == 1 ? "" : "s",
                     list_some(names));
}

/// Whom no routes lead to is not to be told where an error kept all of them from being in force.
std::vector<std::string> list_not_found(const DryRunWorld& world, const CycleReport& cycle) {
  if (cycle.error && world.in_force() == nullptr) return {};
  return world.not_found();
}

std::string print_cut_off(const std::vector<std::string>& names) {
  if (names.empty()) return {};
  return fmt::format("  cut off    {} adapter{}: {}\n",
                     names.size(),
                     names.size() == 1 ? "" : "s",
                     list_some(names));
}

/// Of uniform traffic among the adapters of each rail, in shares of their full rate; nothing where
/// no host has several.
std::optional<double> measure_rails(const ActiveSubnet& up) {
  const Fabric& fabric = up.fabric();
  const std::vector<PortIdx> hosts = find_hosts(fabric, up.lids);
  const HostPorts ports = group_ports(fabric, hosts);
  if (ports.are_apart()) return std::nullopt;
  return measure_pattern(fabric, up.lids, up.routing->lft, hosts, rail_pattern(ports)).throughput;
}

}  // namespace

int dry_run(const Config& config, const DryRunOptions& options) {
  // Nothing is printed while it lives.
  std::optional<progress::Display> display(std::in_place, options.progress);
  progress::begin("fabric");
  Faults notes;
  auto spec = sim::load_fabric(options.fabric, notes);
  if (!spec) return report_faults(display, spec.error());
  auto timing = parse_timing(options.timing);
  if (!timing) return report_faults(display, timing.error());
  auto failures = parse_failures(*spec, options.fail);
  if (!failures) return report_faults(display, failures.error());

  Config simulated = config;
  simulated.transport.kind = TransportKind::Sim;
  Settings settings = make_settings(simulated);
  settings.engine_fallback = false;  // an architect asks about this engine, not about another
  const bool watched = is_watched(*spec, options) && !failures->empty();
  DryRunWorld world(std::move(*spec), *timing, settings, options);

  CycleReport first = world.bring_up();
  std::optional<TreeQuality> one_sends;
  std::optional<double> in_rails;
  if (first.routed && !first.error && world.in_force() != nullptr) {
    progress::begin("bound");
    const ActiveSubnet& up = *world.in_force();
    for_each_slice(2, 2, [&](std::size_t task, std::size_t /*begin*/, std::size_t /*end*/) {
      if (task == 0)
        first.measures = measure_routes(up.fabric(), up.lids, up.routing->lft, {.spread = true});
      if (task == 1) first.load_bound = find_load_bound(up.fabric(), up.lids).fullest;
    });
    // Who sends data is known once descriptions were read.
    first.load = first.measures->load;
    first.counts.no_data = count_no_data(up.fabric());
    first.counts.hosts = count_hosts(up.fabric());
    const GroupsOfAll groups = measure_groups_of_all(up, settings.multicast_trees);
    first.group_of_all = groups.all_send;
    one_sends = groups.one_sends;
    in_rails = measure_rails(up);
  }
  if (watched) {
    progress::begin("oracle");
    world.watch_service();
  }
  display.reset();
  static_cast<void>(print_faults(notes));
  const CcManager& congestion = world.congestion();
  const bool found_none = first.error && !first.routed;
  std::vector<std::string> not_found = list_not_found(world, first);
  // A fabric of one adapter is as it is wanted; one that came up larger and is gone is not.
  bool holds = (first.up() || (first.cut_off && !first.error)) &&
               congestion.plan().refusal.empty() && not_found.empty();
  Json json = run_json(first);
  json["not_found"] = not_found;
  const std::string shape =
      world.in_force() == nullptr ? std::string() : describe_shape(world.in_force()->fabric());
  json["shape"] = shape;
  if (one_sends) json["multicast_one_sender"] = tree_json(*one_sends);
  if (in_rails) json["traffic"]["uniform_rail"] = std::round(*in_rails * 1000) / 1000;
  const bool has_congestion = congestion.enabled() && !first.error;
  if (has_congestion) json["congestion"] = congestion_report(congestion, world.congestion_cost());
  if (!options.json) {
    fmt::print("{}{}", print_bring_up(first, shape), print_not_found(not_found));
    if (one_sends) fmt::print("{}", print_one_sends(*one_sends));
    if (in_rails) {
      fmt::print("uniform among the adapters of each rail: {:.1f} % of full rate\n",
                 100 * *in_rails);
    }
    if (has_congestion) fmt::print("{}", print_congestion(congestion, world.congestion_cost()));
  }
  CycleReport last = first;
  std::vector<Json> changes;
  std::vector<NamedText> tables;
  if (found_none) failures->clear();  // nothing is up that could fail
  for (const Failure& failure : *failures) {
    if (world.is_cut_off(failure)) {
      world.fail_unnoticed(failure);
      changes.push_back({{"what", failure.text}, {"kind", "down"}, {"cut_off_already", true}});
      if (!options.json) fmt::print("{} down: it was cut off already\n", failure.text);
      continue;
    }
    display.emplace(options.progress);
    last = world.fail(failure);
    display.reset();
    not_found = list_not_found(world, last);
    const std::vector<std::string> cut_off = world.cut_off();
    holds = holds && last.up() && congestion.plan().refusal.empty() && not_found.empty();
    changes.push_back(change_json(last, failure.text, "down"));
    changes.back()["adapters_cut_off"] = cut_off;
    changes.back()["not_found"] = not_found;
    if (congestion.enabled())
      changes.back()["congestion"] = congestion_report(congestion, world.congestion_cost());
    if (!options.json) {
      fmt::print("{}{}{}",
                 print_change(last, failure.text, "down"),
                 print_cut_off(cut_off),
                 print_not_found(not_found));
      if (congestion.enabled()) fmt::print("{}", print_congestion_cost(world.congestion_cost()));
    }
    if (!watched) continue;
    changes.back()["service"] = service_json(*world.service());
    tables.push_back({fmt::format("timeline-{}.csv", changes.size()), world.print_timeline()});
  }
  json["changes"] = Json::array();
  for (const Json& change : changes) json["changes"].push_back(change);
  json["rss_mb"] = peak_rss_mb();
  if (options.json) fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
  if (!options.dump.empty() && world.in_force() != nullptr) {
    display.emplace(options.progress);
    progress::begin("dumps");
    if (!changes.empty()) tables.push_back({"changes.csv", print_csv(changes)});
    if (congestion.enabled())
      tables.push_back({"congestion.txt", print_congestion_registers(world.fabric())});
    auto written = write_dumps(options.dump, world.dump_input(), last, world.plans());
    if (written) written = write_texts(options.dump, tables);
    display.reset();
    if (!written) {
      fmt::print(stderr, "{}\n", written.error().context);
      return 1;
    }
  }
  return holds ? 0 : 1;
}

}  // namespace smd::bin
