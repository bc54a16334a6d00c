// Reports of cycles as JSON, text and CSV.
#include "smd/report/cycle_text.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>

#include "smd/base/text.h"

namespace smd {

namespace {

using OrderedJson = nlohmann::ordered_json;

/// Three decimals are what a reader can use; more would only make diffs noisy.
double rounded(double value) { return std::round(value * 1000.0) / 1000.0; }

double ms(Duration d) { return rounded(std::chrono::duration<double, std::milli>(d).count()); }

using Part = std::pair<const char*, PhaseCost>;

double gbps(const FullRate& rate) { return rounded(static_cast<double>(rate.mbps) / 1000); }

OrderedJson traffic_json(const RouteMeasures& measures) {
  OrderedJson out{{"uniform", rounded(measures.uniform)},
                  {"permutations", rounded(measures.permutations)},
                  {"shifts", rounded(measures.shifts)},
                  {"worst_shift", rounded(measures.worst_shift)},
                  {"full_rate_gbps", gbps(measures.full_rate)},
                  {"other_rates", measures.full_rate.others}};
  if (measures.spread) {
    out["spread"] = {{"uniform", rounded(measures.spread->uniform)},
                     {"shifts", rounded(measures.spread->shifts)},
                     {"worst_shift", rounded(measures.spread->worst_shift)}};
  }
  return out;
}

OrderedJson costs(const std::vector<Part>& parts) {
  OrderedJson smps, virtual_ms, wall_ms;
  PhaseCost total;
  for (const auto& [name, cost] : parts) {
    smps[name] = cost.smps;
    virtual_ms[name] = ms(cost.time);
    wall_ms[name] = ms(cost.wall);
    total += cost;
  }
  smps["total"] = total.smps;
  virtual_ms["total"] = ms(total.time);
  wall_ms["total"] = ms(total.wall);
  return {{"smps", smps}, {"virtual_ms", virtual_ms}, {"wall_ms", wall_ms}};
}

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 100.0
                    : rounded(100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

/// The keys stay, without a value.
void clear(std::initializer_list<const char*> keys, OrderedJson& out) {
  for (const char* key : keys) out[key] = nullptr;
}

/// It ended before there was a plan: what was routed, if anything was, is nowhere in force.
bool has_no_plan(const CycleReport& cycle) {
  return cycle.error && (!cycle.routed || cycle.transition.kind == TransitionKind::Nothing);
}

double exact_ms(Duration d) { return std::chrono::duration<double, std::milli>(d).count(); }

std::string cost_line(const char* name, const PhaseCost& cost) {
  return fmt::format("  {:<10} {:>9} SMPs {:>11.3f} ms\n", name, cost.smps, exact_ms(cost.time));
}

std::string verdict(const CycleReport& cycle) {
  if (cycle.error && !cycle.routed && !cycle.engine.empty())
    return fmt::format("FAILED: engine {}: {}", cycle.engine, printable(cycle.error->context));
  if (cycle.error) return fmt::format("FAILED: {}", printable(cycle.error->context));
  if (cycle.cut_off) return "NOT UP: " + print_cut_off(cycle);
  if (const std::string far = print_out_of_reach(cycle); !far.empty()) return "NOT UP: " + far;
  if (!cycle.up()) {
    std::string out =
        fmt::format("NOT UP: {} unreachable pairs, {} loops, {} ports not active, {} faults",
                    cycle.routes.unreachable,
                    cycle.routes.loops,
                    cycle.ports_down_after,
                    cycle.fault_count);
    return cycle.lid_shortage.empty() ? out : out + "; " + cycle.lid_shortage;
  }
  return "up and verified";
}

std::string trouble(const CycleReport& cycle) {
  std::string out;
  for (const SilentPort& port : cycle.silent)
    out += fmt::format("  {:<10} {} port {}: {}\n",
                       port.out_of_reach ? "too far" : "silent",
                       port.node,
                       port.port,
                       port.why);
  for (const DuplicateGuid& twice : cycle.duplicates) {
    out += fmt::format("  duplicate  GUID {} at {} and {}\n",
                       twice.guid,
                       print_path(twice.first),
                       print_path(twice.second));
  }
  for (const ProgramFault& fault : cycle.faults)
    out +=
        fmt::format("  fault      {} port {}: {}\n", fault.node, fault.port, printable(fault.what));
  for (const std::string& fault : cycle.routes.first_faults)
    out += fmt::format("  route      {}\n", printable(fault));
  if (!cycle.cycle_text.empty()) out += fmt::format("  loop       {}\n", cycle.cycle_text);
  return out;
}

using Row = std::map<std::string, std::string>;  // by column

std::string print_scalar(const OrderedJson& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_null() ? "" : value.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

/// Columns that are new are appended to `columns`.
void flatten(const std::string& prefix,
             const OrderedJson& value,
             std::vector<std::string>& columns,
             Row& row) {
  if (value.is_object()) {
    for (const auto& [key, inner] : value.items())
      flatten(prefix.empty() ? key : prefix + "." + key, inner, columns, row);
    return;
  }
  std::string text;
  if (value.is_array()) {
    for (const OrderedJson& each : value) text += (text.empty() ? "" : "; ") + print_scalar(each);
  } else {
    text = print_scalar(value);
  }
  if (std::ranges::find(columns, prefix) == columns.end()) columns.push_back(prefix);
  row[prefix] = std::move(text);
}

template <class Cells>
void append_line(const Cells& cells, std::string& out) {
  bool first = true;
  for (const std::string& cell : cells) {
    if (!first) out += ',';
    out += quoted(cell);
    first = false;
  }
  out += '\n';
}

}  // namespace

OrderedJson to_json(const FabricCounts& counts) {
  return {{"switches", counts.switches},
          {"cas", counts.cas},
          {"aggregation_nodes", counts.no_data.aggregation_nodes},
          {"routers", counts.no_data.routers},
          {"without_data", counts.no_data.excepted},
          {"hosts", counts.hosts.hosts},
          {"least_adapters", counts.hosts.least},
          {"most_adapters", counts.hosts.most},
          {"links", counts.links},
          {"lids", counts.lids}};
}

OrderedJson routes_json(const RouteReport& routes) {
  const std::uint64_t arriving = routes.pairs - routes.unreachable - routes.loops;
  const double mean =
      arriving == 0 ? 0.0 : static_cast<double>(routes.hops) / static_cast<double>(arriving);
  return {{"pairs", routes.pairs},
          {"unreachable", routes.unreachable},
          {"loops", routes.loops},
          {"minimal_pct",
           routes.minimality ? OrderedJson(percent(routes.minimal, routes.pairs)) : OrderedJson()},
          {"mean_hops", rounded(mean)},
          {"max_hops", routes.max_hops}};
}

OrderedJson load_json(const LoadReport& load, double bound) {
  OrderedJson out = {{"max", load.max},
                     {"mean", rounded(load.mean)},
                     {"stddev", rounded(load.stddev)},
                     {"max_per_gbps", rounded(load.per_gbps())}};
  if (bound > 0) {
    out["bound"] = rounded(bound);
    out["ratio"] = rounded(load.fullest / bound);
  }
  return out;
}

OrderedJson candidates_json(const std::vector<EngineCandidate>& all) {
  OrderedJson out = OrderedJson::array();
  for (const EngineCandidate& each : all) {
    OrderedJson one = {{"engine", each.engine}, {"taken", each.taken}};
    if (!each.refused.empty()) one["refused"] = each.refused;
    if (each.measured) {
      one["worth"] = rounded(each.worth);
      one["max_load"] = rounded(each.fullest);
      one["against_bound"] = rounded(each.against_bound);
      one["uniform"] = rounded(each.uniform);
      one["permutations"] = rounded(each.permutations);
      one["shifts"] = rounded(each.shifts);
      one["worst_shift"] = rounded(each.worst_shift);
      one["mean_hops"] = rounded(each.mean_hops);
      one["vls"] = each.vls;
    }
    out.push_back(std::move(one));
  }
  return out;
}

OrderedJson deadlock_json(const CycleReport& cycle) {
  OrderedJson steps = OrderedJson::array();
  if (!cycle.cycle_text.empty()) steps.push_back(cycle.cycle_text);
  return {{"acyclic", cycle.routes.acyclic}, {"vls", cycle.routes.vls}, {"cycle", steps}};
}

OrderedJson bring_up_json(const CycleReport& cycle) {
  return costs({{"discovery", cycle.discovery},
                {"routing", cycle.routing},
                {"configure", cycle.configure},
                {"tables", cycle.tables},
                {"activate", cycle.activate}});
}

OrderedJson change_json(const CycleReport& cycle,
                        const std::string& what,
                        const std::string& kind) {
  OrderedJson out = {{"what", what}, {"kind", kind}, {"reason", cycle.reason}};
  out.update(costs({{"detection", cycle.detection},
                    {"discovery", cycle.discovery},
                    {"routing", cycle.routing},
                    {"configure", cycle.configure},
                    {"turns", cycle.turns},
                    {"deactivate", cycle.deactivate},
                    {"tables", cycle.tables},
                    {"activate", cycle.activate}}));
  out["lft_blocks_written"] = cycle.blocks_written;
  out["lft_entries_changed_pct"] = rounded(cycle.lft_entries_changed_pct);
  out["assimilation"] = {{"discovery", cycle.partial ? "partial" : "full"}};
  if (!cycle.full_why.empty()) out["assimilation"]["full_why"] = cycle.full_why;
  if (cycle.provisional) out["assimilation"]["provisional_ms"] = ms(*cycle.provisional);
  const TransitionReport& transition = cycle.transition;
  out["transition"] = {{"kind", print_transition_kind(transition.kind)},
                       {"phases", transition.phases},
                       {"certified", transition.certified},
                       {"blocked_turns", transition.blocked},
                       {"replans", transition.replans}};
  if (!transition.why.empty()) out["transition"]["why"] = transition.why;
  out["routes"] = routes_json(cycle.routes);
  out["deadlock"] = deadlock_json(cycle);
  out["ports_out_of_reach"] = cycle.out_of_reach();
  if (cycle.error) out["error"] = cycle.error->context;
  if (has_no_plan(cycle))
    clear({"lft_entries_changed_pct", "transition", "routes", "deadlock"}, out);
  return out;
}

OrderedJson service_json(const ServiceReport& service) {
  const auto share = [](double value) { return std::round(value * 1e6) / 1e6; };
  return {{"lowest_connectivity", share(service.lowest_connectivity)},
          {"below_possible_ms", ms(service.below_possible)},
          {"highest_deadlock", share(service.highest_deadlock)},
          {"forwarding_loop", service.forwarding_loop}};
}

OrderedJson run_json(const CycleReport& cycle) {
  OrderedJson out = {{"fabric", to_json(cycle.counts)},
                     {"engine", cycle.engine},
                     {"up", cycle.up()},
                     {"bring_up", bring_up_json(cycle)},
                     {"routes", routes_json(cycle.routes)},
                     {"deadlock", deadlock_json(cycle)},
                     {"load", load_json(cycle.load, cycle.load_bound)},
                     {"ports_out_of_reach", cycle.out_of_reach()}};
  if (cycle.measures) out["traffic"] = traffic_json(*cycle.measures);
  if (cycle.group_of_all) out["multicast"] = tree_json(*cycle.group_of_all);
  out["notes"] = cycle.notes;
  if (!cycle.engine_refused.empty()) out["engine_refused"] = cycle.engine_refused;
  if (!cycle.candidates.empty()) out["candidates"] = candidates_json(cycle.candidates);
  if (cycle.error) out["error"] = cycle.error->context;
  if (cycle.error && !cycle.routed) clear({"bring_up", "routes", "deadlock"}, out);
  if (cycle.error) clear({"load"}, out);  // nobody counts those of tables that are not in force
  return out;
}

nlohmann::ordered_json tree_json(const TreeQuality& quality) {
  return {{"cables", quality.cables},
          {"depth", quality.depth},
          {"mean_hops", rounded(quality.mean_hops())},
          {"mean_channels", rounded(quality.mean_channels())},
          {"shortest_depth", quality.shortest_depth},
          {"shortest_mean_hops", rounded(quality.mean_shortest_hops())},
          {"shortest_mean_channels", rounded(quality.mean_shortest_channels())},
          {"unicast_mean_channels", rounded(quality.mean_unicast_channels())},
          {"sampled", quality.sampled}};
}

double peak_rss_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return rounded(static_cast<double>(usage.ru_maxrss) / 1024.0);
}

std::string print_per_gbps(const LoadReport& load) {
  if (!load.mixed_speeds) return "";
  return fmt::format(", {:.2f} per Gb/s on the fullest for its speed", load.per_gbps());
}

std::string print_load_bound(const LoadReport& load, double bound) {
  const std::string least = load.mixed_speeds
                                ? fmt::format("{:.2f} paths per Gb/s", bound / load.slowest_gbps)
                                : fmt::format("{:.0f} paths", bound);
  return fmt::format(
      "{} must cross some channel whatever the routes; these have {:.2f} times as many on their "
      "fullest",
      least,
      load.fullest / bound);
}

std::string print_full_rate(const FullRate& rate) {
  return fmt::format("{:g} Gb/s, which most adapters have; {} {} another",
                     gbps(rate),
                     rate.others,
                     rate.others == 1 ? "has" : "have");
}

std::string print_shifts(const RouteMeasures& measures) {
  return fmt::format(
      "{:.1f} % of full rate, all shifts from switch to switch; {:.1f} % in the worst",
      100 * measures.shifts,
      100 * measures.worst_shift);
}

std::string print_spread(const SpreadMeasures& spread) {
  return fmt::format(
      "where flows take all LIDs of a port alike: uniform {:.1f} %, shifts {:.1f} %, {:.1f} % in "
      "the worst",
      100 * spread.uniform,
      100 * spread.shifts,
      100 * spread.worst_shift);
}

std::string print_group_of_all(const TreeQuality& quality) {
  return fmt::format(
      "to all hosts {:.1f} hops on average and {} at most, {:.1f} and {} by shortest ways; {:.0f} "
      "channels a packet, {:.0f} by unicasts",
      quality.mean_hops(),
      quality.depth,
      quality.mean_shortest_hops(),
      quality.shortest_depth,
      quality.mean_channels(),
      quality.mean_unicast_channels());
}

std::string print_bring_up(const CycleReport& cycle, std::string_view shape) {
  if (cycle.error && !cycle.routed) return trouble(cycle) + verdict(cycle) + "\n";
  const RouteReport& routes = cycle.routes;
  const auto arriving = static_cast<double>(routes.pairs - routes.unreachable - routes.loops);
  PhaseCost total = cycle.discovery;
  for (const PhaseCost& part : {cycle.routing, cycle.configure, cycle.tables, cycle.activate})
    total += part;
  std::string out =
      fmt::format("{} switches, {}, {} links, {} LIDs; engine {}\n",
                  cycle.counts.switches,
                  print_adapters(cycle.counts.cas, cycle.counts.no_data, cycle.counts.hosts),
                  cycle.counts.links,
                  cycle.counts.lids,
                  cycle.engine);
  if (!shape.empty()) out += fmt::format("  fabric     {}\n", printable(shape));
  if (!cycle.engine_refused.empty())
    out += fmt::format(
        "  refused    engine {}: {}\n", cycle.engine_asked, printable(cycle.engine_refused));
  out += cost_line("discovery", cycle.discovery);
  out += cost_line("routing", cycle.routing);
  out += cost_line("configure", cycle.configure);
  out += cost_line("tables", cycle.tables);
  out += cost_line("activate", cycle.activate);
  out += cost_line("total", total);
  std::string minimal;  // of routes that were refused nobody looked
  if (routes.minimality)
    minimal = fmt::format("{:.1f} % minimal, ",
                          routes.pairs == 0 ? 100.0
                                            : 100.0 * static_cast<double>(routes.minimal) /
                                                  static_cast<double>(routes.pairs));
  out += fmt::format(
      "  routes     {} pairs, {}{:.2f} hops on average, {} at most; deadlock-free on {} VL: {}\n",
      routes.pairs,
      minimal,
      arriving > 0 ? static_cast<double>(routes.hops) / arriving : 0.0,
      routes.max_hops,
      routes.vls,
      routes.acyclic ? "yes" : "NO");
  if (!cycle.error) {
    out += fmt::format(
        "  load       {} paths on the fullest link, {:.1f} on average, deviation {:.1f}{}\n",
        cycle.load.max,
        cycle.load.mean,
        cycle.load.stddev,
        print_per_gbps(cycle.load));
  }
  if (cycle.measures) {
    if (cycle.load_bound > 0)
      out += fmt::format("  bound      {}\n", print_load_bound(cycle.load, cycle.load_bound));
    if (cycle.measures->full_rate.others != 0)
      out += fmt::format("  full rate  {}\n", print_full_rate(cycle.measures->full_rate));
    out +=
        fmt::format("  uniform    {:.1f} % of full rate; random permutations {:.1f} % per flow\n",
                    100 * cycle.measures->uniform,
                    100 * cycle.measures->permutations);
    out += fmt::format("  shifts     {}\n", print_shifts(*cycle.measures));
    if (cycle.measures->spread)
      out += fmt::format("  spread     {}\n", print_spread(*cycle.measures->spread));
  }
  if (cycle.group_of_all && cycle.group_of_all->pairs > 0)
    out += fmt::format("  multicast  {}\n", print_group_of_all(*cycle.group_of_all));
  for (const std::string& note : cycle.notes)
    out += fmt::format("  note       {}\n", printable(note));
  return out + trouble(cycle) + verdict(cycle) + "\n";
}

std::string print_change(const CycleReport& cycle,
                         const std::string& what,
                         const std::string& kind) {
  if (has_no_plan(cycle))
    return fmt::format("{} {}: {}\n{}", what, kind, verdict(cycle), trouble(cycle));
  PhaseCost total = cycle.detection;
  for (const PhaseCost& part : {cycle.discovery,
                                cycle.routing,
                                cycle.configure,
                                cycle.turns,
                                cycle.deactivate,
                                cycle.tables,
                                cycle.activate})
    total += part;
  return fmt::format(
      "{} {}: {} SMPs, {:.3f} ms ({:.3f} ms to notice), {} discovery, {:.2f} % of table entries "
      "changed in {} phases ({}{}); {}\n{}",
      what,
      kind,
      total.smps,
      exact_ms(total.time),
      exact_ms(cycle.detection.time),
      cycle.partial ? "partial" : "full",
      cycle.lft_entries_changed_pct,
      cycle.transition.phases,
      print_transition_kind(cycle.transition.kind),
      cycle.transition.certified ? ", proved" : "",
      verdict(cycle),
      trouble(cycle));
}

std::string print_csv(const std::vector<OrderedJson>& objects) {
  std::vector<std::string> columns;
  std::vector<Row> rows;
  for (const OrderedJson& object : objects) flatten("", object, columns, rows.emplace_back());
  std::string out;
  append_line(columns, out);
  for (const Row& row : rows) {
    std::vector<std::string> cells;
    for (const std::string& column : columns) {
      const auto cell = row.find(column);
      cells.push_back(cell == row.end() ? "" : cell->second);
    }
    append_line(cells, out);
  }
  return out;
}

}  // namespace smd
