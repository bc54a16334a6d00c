#include "smd/app/report_text.h"

#include <fmt/format.h>

#include "smd/base/printable.h"

namespace smd::app {
namespace {

double ms(Duration d) { return std::chrono::duration<double, std::milli>(d).count(); }

std::string cost_line(const char* name, const PhaseCost& cost) {
  return fmt::format("  {:<10} {:>9} SMPs {:>11.3f} ms\n", name, cost.smps, ms(cost.time));
}

std::string verdict(const CycleReport& cycle) {
  if (cycle.error && !cycle.routed && !cycle.engine.empty())
    return fmt::format("FAILED: engine {}: {}", cycle.engine, printable(cycle.error->context));
  if (cycle.error) return fmt::format("FAILED: {}", printable(cycle.error->context));
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
  if (cycle.cut_off) return "the manager's own port has no link: it manages itself only";
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

}  // namespace

std::string print_bring_up(const CycleReport& cycle) {
  if (cycle.error && !cycle.routed) return trouble(cycle) + verdict(cycle) + "\n";
  const RouteReport& routes = cycle.routes;
  const auto arriving = static_cast<double>(routes.pairs - routes.unreachable - routes.loops);
  PhaseCost total = cycle.discovery;
  for (const PhaseCost& part : {cycle.routing, cycle.configure, cycle.tables, cycle.activate})
    total += part;
  std::string out = fmt::format("{} switches, {} adapters, {} links, {} LIDs; engine {}\n",
                                cycle.counts.switches,
                                cycle.counts.cas,
                                cycle.counts.links,
                                cycle.counts.lids,
                                cycle.engine);
  out += cost_line("discovery", cycle.discovery);
  out += cost_line("routing", cycle.routing);
  out += cost_line("configure", cycle.configure);
  out += cost_line("tables", cycle.tables);
  out += cost_line("activate", cycle.activate);
  out += cost_line("total", total);
  out += fmt::format(
      "  routes     {} pairs, {:.1f} % minimal, {:.2f} hops on average, {} at most; deadlock-free "
      "on {} VL: {}\n",
      routes.pairs,
      routes.pairs == 0
          ? 100.0
          : 100.0 * static_cast<double>(routes.minimal) / static_cast<double>(routes.pairs),
      arriving > 0 ? static_cast<double>(routes.hops) / arriving : 0.0,
      routes.max_hops,
      routes.vls,
      routes.acyclic ? "yes" : "NO");
  out += fmt::format(
      "  load       {} paths on the fullest link, {:.1f} on average, deviation {:.1f}\n",
      cycle.load.max,
      cycle.load.mean,
      cycle.load.stddev);
  return out + trouble(cycle) + verdict(cycle) + "\n";
}

std::string print_change(const CycleReport& cycle,
                         const std::string& what,
                         const std::string& kind) {
  if (cycle.error && !cycle.routed)
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
      ms(total.time),
      ms(cycle.detection.time),
      cycle.partial ? "partial" : "full",
      cycle.lft_entries_changed_pct,
      cycle.transition.phases,
      print_transition_kind(cycle.transition.kind),
      cycle.transition.certified ? ", proved" : "",
      verdict(cycle),
      trouble(cycle));
}

}  // namespace smd::app
