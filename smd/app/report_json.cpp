#include "smd/app/report_json.h"

#include <sys/resource.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace smd::app {
namespace {

using Json = nlohmann::ordered_json;

/// Three decimals are what a reader can use; more would only make diffs noisy.
double rounded(double value) { return std::round(value * 1000.0) / 1000.0; }

double ms(Duration d) { return rounded(std::chrono::duration<double, std::milli>(d).count()); }

using Part = std::pair<const char*, PhaseCost>;

Json costs(const std::vector<Part>& parts) {
  Json smps, virtual_ms, wall_ms;
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

/// Where no tables were made there is nothing to say of them: the keys stay, without a value.
void add_error(const CycleReport& cycle, std::initializer_list<const char*> of_tables, Json& out) {
  out["error"] = cycle.error->context;
  if (cycle.routed) return;
  for (const char* key : of_tables) out[key] = nullptr;
}

}  // namespace

Json to_json(const FabricCounts& counts) {
  return {{"switches", counts.switches},
          {"cas", counts.cas},
          {"links", counts.links},
          {"lids", counts.lids}};
}

Json routes_json(const RouteReport& routes) {
  const std::uint64_t arriving = routes.pairs - routes.unreachable - routes.loops;
  const double mean =
      arriving == 0 ? 0.0 : static_cast<double>(routes.hops) / static_cast<double>(arriving);
  return {{"pairs", routes.pairs},
          {"unreachable", routes.unreachable},
          {"loops", routes.loops},
          {"minimal_pct", percent(routes.minimal, routes.pairs)},
          {"mean_hops", rounded(mean)},
          {"max_hops", routes.max_hops}};
}

Json deadlock_json(const CycleReport& cycle) {
  Json steps = Json::array();
  if (!cycle.cycle_text.empty()) steps.push_back(cycle.cycle_text);
  return {{"acyclic", cycle.routes.acyclic}, {"vls", cycle.routes.vls}, {"cycle", steps}};
}

Json bring_up_json(const CycleReport& cycle) {
  return costs({{"discovery", cycle.discovery},
                {"routing", cycle.routing},
                {"configure", cycle.configure},
                {"tables", cycle.tables},
                {"activate", cycle.activate}});
}

Json change_json(const CycleReport& cycle, const std::string& what, const std::string& kind) {
  Json out = {{"what", what}, {"kind", kind}, {"reason", cycle.reason}};
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
  if (cycle.error)
    add_error(cycle, {"lft_entries_changed_pct", "transition", "routes", "deadlock"}, out);
  return out;
}

Json service_json(const ServiceReport& service) {
  const auto share = [](double value) { return std::round(value * 1e6) / 1e6; };
  return {{"lowest_connectivity", share(service.lowest_connectivity)},
          {"below_possible_ms", ms(service.below_possible)},
          {"highest_deadlock", share(service.highest_deadlock)},
          {"forwarding_loop", service.forwarding_loop}};
}

Json run_json(const CycleReport& cycle) {
  Json out = {{"fabric", to_json(cycle.counts)},
              {"engine", cycle.engine},
              {"up", cycle.up()},
              {"bring_up", bring_up_json(cycle)},
              {"routes", routes_json(cycle.routes)},
              {"deadlock", deadlock_json(cycle)},
              {"load",
               {{"max", cycle.load.max},
                {"mean", rounded(cycle.load.mean)},
                {"stddev", rounded(cycle.load.stddev)}}},
              {"ports_out_of_reach", cycle.out_of_reach()}};
  if (cycle.error) add_error(cycle, {"bring_up", "routes", "deadlock", "load"}, out);
  return out;
}

double peak_rss_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return rounded(static_cast<double>(usage.ru_maxrss) / 1024.0);
}

}  // namespace smd::app
