#include "sim-backend/scenario/result_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace smd::sim {
namespace {

using Json = nlohmann::ordered_json;

double nanos(double picos) { return picos / double(kNano); }

Json to_json(const LatencyFigures& figures) {
  return {{"mean_ns", nanos(figures.mean)},
          {"p50_ns", nanos(static_cast<double>(figures.p50))},
          {"p90_ns", nanos(static_cast<double>(figures.p90))},
          {"p99_ns", nanos(static_cast<double>(figures.p99))},
          {"p999_ns", nanos(static_cast<double>(figures.p999))},
          {"max_ns", nanos(static_cast<double>(figures.max))}};
}

Json discards_to_json(const DiscardCounts& counts) {
  Json out = Json::object();
  for (std::size_t i = 0; i < kDiscards; ++i) {
    out[std::string(print_discard(static_cast<Discard>(i)))] = counts[i];
  }
  return out;
}

bool is_closed(const Scenario& scenario) {
  return scenario.traffic.collective.has_value() || !scenario.traffic.trace.empty();
}

std::string print_discards(const DiscardCounts& counts) {
  std::string out;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kDiscards; ++i) {
    sum += counts[i];
    if (counts[i] == 0) continue;
    out += fmt::format(
        "{}{} {}", out.empty() ? ": " : ", ", print_discard(static_cast<Discard>(i)), counts[i]);
  }
  return fmt::format("{} discarded{}", sum, out);
}

Json to_json(const ChangeResult& change) {
  Json out;
  out["what"] = change.what;
  out["at_us"] = to_micros(change.at);
  out["noticed_us"] = change.noticed == kNever ? Json() : Json(to_micros(change.noticed));
  out["taken_in_us"] = change.taken_in == kNever ? Json() : Json(to_micros(change.taken_in));
  out["cycles"] = change.cycles;
  out["smps"] = change.smps;
  out["phases"] = change.phases;
  out["certified"] = change.certified;
  return out;
}

Json to_json(const Period& period) {
  Json out;
  out["when"] = print_period(period.kind);
  out["begin_us"] = to_micros(period.begin);
  out["end_us"] = to_micros(period.end);
  out["generated"] = period.generated;
  out["delivered"] = period.delivered;
  out["accepted_load"] = period.accepted_load;
  out["discarded"] = discards_to_json(period.discarded);
  out["unexplained"] = period.unexplained;
  out["latency"] = to_json(period.latency);
  out["network_latency"] = to_json(period.network_latency);
  return out;
}

Json to_json(const MulticastSums& sums) {
  const auto mean = [](Picos sum, std::uint64_t count) {
    return count == 0 ? Json() : Json(nanos(static_cast<double>(sum) / double(count)));
  };
  return {{"messages", sums.multicasts},
          {"last_copy_ns", mean(sums.last, sums.multicasts)},
          {"copy_ns", mean(sums.copy, sums.copies)},
          {"to_one", sums.unicasts},
          {"to_one_ns", mean(sums.unicast, sums.unicasts)}};
}

Json groups_to_json(const GroupTables& tables) {
  Json out = Json::array();
  for (const ProgrammedGroup& group : tables.groups) {
    out.push_back({{"mlid", fmt::format("0x{:04x}", group.mlid.value())},
                   {"members", group.members.size()},
                   {"sender", group.sender ? Json(*group.sender) : Json()},
                   {"sl", group.sl},
                   {"own_lane", tables.lane ? Json(tables.lane->vl.value()) : Json()},
                   {"can_deadlock", tables.acyclic ? Json(!*tables.acyclic) : Json()},
                   {"why", tables.cycle.empty() ? tables.lane_refused : tables.cycle},
                   {"cables", group.quality.cables},
                   {"hops", group.quality.mean_hops()},
                   {"depth", group.quality.depth},
                   {"channels", group.quality.mean_channels()},
                   {"channels_unicast", group.quality.mean_unicast_channels()}});
  }
  return out;
}

/// Parts of one point that only a network that changes has.
void add_changes(const PointResult& point, Json& out) {
  if (!point.failure.empty()) out["failure"] = point.failure;
  out["recovered"] = point.recovered();
  out["faults_never_came"] = point.never_came;
  out["changes"] = Json::array();
  for (const ChangeResult& change : point.changes) out["changes"].push_back(to_json(change));
  out["stretches"] = Json::array();
  for (const Period& period : point.periods) out["stretches"].push_back(to_json(period));
}

/// Of packets, and when the last of them came to its end.
std::string print_end(const PointResult& point) {
  std::string out = fmt::format("{} of {} packets delivered, {} discarded; ",
                                point.stats.delivered + point.stats.taken_in,
                                point.stats.generated + point.stats.replicated,
                                point.stats.discards());
  return out + (point.complete
                    ? fmt::format("all done after {:.3f} us", to_micros(point.completed_at))
                    : fmt::format("not done after {:.3f} us", to_micros(point.simulated)));
}

/// Faults that are the run's and not in it.
std::string print_never_came(const PointResult& point, std::size_t faults) {
  if (point.never_came == 0) return {};
  return fmt::format("  {} of the {} faults never came: the run ended after {:.3f} us\n",
                     point.never_came,
                     faults,
                     to_micros(point.simulated));
}

std::string summarize_changes(const PointResult& point) {
  const bool in = std::ranges::all_of(
      point.changes, [](const ChangeResult& change) { return change.taken_in != kNever; });
  if (point.changes.empty()) return "no change";
  return fmt::format(
      "{} changes, {}", point.changes.size(), in ? "all taken in" : "not all taken in");
}

/// What came of the plan, where nobody takes anything in.
std::string print_faults_of_worms(const FaultPlan& plan, const PointResult& point) {
  std::string out;
  for (std::size_t i = 0; i + point.never_came < plan.faults.size(); ++i) {
    out += fmt::format("  {:.3f} us: {}\n", to_micros(plan.faults[i].at), plan.faults[i].text);
  }
  return out + print_never_came(point, plan.faults.size());
}

std::string print_changes(const PointResult& point, std::size_t faults) {
  if (!point.failure.empty()) return fmt::format("  not run: {}\n", point.failure);
  std::string out = print_never_came(point, faults);
  for (const ChangeResult& change : point.changes) {
    out += fmt::format("  {:.3f} us: {}, ", to_micros(change.at), change.what);
    if (change.taken_in == kNever) {
      out += "not taken in\n";
      continue;
    }
    out += fmt::format("taken in after {:.3f} us, {} SMPs, {} phases{}\n",
                       to_micros(change.taken_in - change.at),
                       change.smps,
                       change.phases,
                       change.certified ? ", certified" : "");
  }
  for (const Period& period : point.periods) {
    out += fmt::format(
        "  {}, {:.3f} to {:.3f} us: accepted {:.4f}, latency {:.1f} ns, p99 {:.1f} ns, {}\n",
        print_period(period.kind),
        to_micros(period.begin),
        to_micros(period.end),
        period.accepted_load,
        nanos(period.latency.mean),
        nanos(static_cast<double>(period.latency.p99)),
        print_discards(period.discarded));
    if (period.unexplained > 0) {
      out.insert(out.size() - 1, fmt::format("; {} not for a fault", period.unexplained));
    }
  }
  return out;
}

Json to_json(const PreparedScenario& scenario, const PointResult& point) {
  const NetStats& stats = point.stats;
  Json out;
  out["seed"] = point.seed;
  if (point.managed) {
    out["load"] = point.load;
    add_changes(point, out);
  } else if (!is_closed(scenario.scenario())) {
    out["load"] = point.load;
    out["offered_load"] = point.steady.offered_load;
    out["accepted_load"] = point.steady.accepted_load;
    out["state"] = print_run_state(point.steady.state);
    out["held_back"] = {{"share", point.steady.held_back}, {"messages", stats.held_messages}};
    out["latency_half_width_ns"] = nanos(point.steady.latency.half_width);
    out["latency_lag1"] = point.steady.latency.lag1;
    out["transient_intervals"] = point.steady.transient;
    out["input_occupancy"] = {{"mean", point.steady.occupancy.mean_input},
                              {"max", point.steady.occupancy.max_input}};
    out["output_occupancy"] = {{"mean", point.steady.occupancy.mean_output},
                               {"max", point.steady.occupancy.max_output}};
  }
  if (is_closed(scenario.scenario())) {
    out["complete"] = point.complete;
    if (point.completed_at != kNever) out["completed_us"] = to_micros(point.completed_at);
  }
  if (point.worms) {
    if (!scenario.faults().empty()) out["faults_never_came"] = point.never_came;
    const WormRunFigures& worms = *point.worms;
    Json ports = Json::array();
    for (const WormPortUse& port : worms.ports) {
      ports.push_back({{"port", port.port}, {"active", port.active}, {"blocked", port.blocked}});
    }
    out["worms"] = {{"accepted_flits_per_ns_and_switch", worms.accepted_per_switch},
                    {"stops_per_message", worms.stops_per_message},
                    {"most_local_waiting", worms.most_local},
                    {"most_in_transit_waiting", worms.most_transit},
                    {"ports", ports}};
    if (!scenario.scenario().worm.algorithm.empty()) out["multicast"] = to_json(worms.multicast);
  }
  out["latency"] = to_json(point.latency);
  out["network_latency"] = to_json(point.network_latency);
  out["head_latency"] = to_json(point.head_latency);
  out["mean_hops"] = point.mean_hops;
  out["fairness"] = point.fairness;
  out["least_share"] = point.least_share;
  out["most_blocked"] = {{"port", point.blocked_port}, {"us", to_micros(point.blocked)}};
  out["simulated_us"] = to_micros(point.simulated);
  out["packets"] = {{"generated", stats.generated},
                    {"copied", stats.replicated},
                    {"delivered", stats.delivered},
                    {"taken_in", stats.taken_in},
                    {"discarded", discards_to_json(stats.discarded)},
                    {"in_flight", stats.in_flight}};
  out["congestion"] = {{"marked", stats.marked},
                       {"notices", stats.feedback.made},
                       {"notices_lost", stats.feedback.lost},
                       {"notice_bytes", stats.feedback.bytes}};
  out["packet_hops"] = stats.hops;
  out["events"] = stats.events;
  out["deadlock"] = print_deadlock(scenario.spec(), point.steady.deadlock);
  out["hash"] = fmt::format("{:016x}", stats.digest);
  return out;
}

std::string print_undelivered(const PointResult& point) {
  std::uint64_t generated = 0;
  for (const Interval& interval : point.steady.intervals) generated += interval.generated;
  const Interval& last = point.steady.intervals.back();
  return fmt::format(
      "  nothing arrived in the {:.3f} us that were measured: {} packets were made, {} are under "
      "way, {} of them at their sources\n",
      to_micros(last.end - point.steady.intervals.front().begin),
      generated,
      last.in_flight,
      last.waiting);
}

std::string print_saturation(const FabricSpec& spec,
                             std::uint64_t seed,
                             const SaturationPoint& point) {
  std::string out = point.load == 0
                        ? fmt::format("seed {}: no load is known to be stable", seed)
                        : fmt::format("seed {}: stable up to load {:.4f}, accepted {:.4f}",
                                      seed,
                                      point.load,
                                      point.accepted);
  if (point.unreachable > 0) {
    out += fmt::format(
        ", but not all arrives: {} of {} packets had no route", point.unreachable, point.generated);
  }
  if (point.ended_early_at) {
    out += point.ended_early_by == RunState::Undelivered
               ? fmt::format("; nothing arrived at load {:.4f}, which ended the search",
                             *point.ended_early_at)
               : fmt::format("; the run at load {:.4f} ended early, and the search with it",
                             *point.ended_early_at);
  }
  if (point.deadlocked_at) {
    out += fmt::format("; deadlocked at load {:.4f}, found after {:.3f} us: {}",
                       *point.deadlocked_at,
                       to_micros(point.deadlock_found),
                       print_deadlock(spec, point.deadlock));
  }
  return out + "\n";
}

/// For a column; of what has no steady state, whether it came to its end.
std::string_view print_state(const PointResult& point) {
  if (!point.failure.empty()) return "not_run";
  if (point.steady.state != RunState::Stable) return print_run_state(point.steady.state);
  if (point.closed) return point.complete ? "complete" : "incomplete";
  if (point.managed) return point.recovered() ? "recovered" : "not_recovered";
  return print_run_state(point.steady.state);
}

}  // namespace

std::string print_scenario_json(const PreparedScenario& scenario, const ScenarioResult& result) {
  const Scenario& s = scenario.scenario();
  std::size_t switches = 0;
  for (const NodeSpec& node : scenario.spec().nodes) switches += node.type == NodeType::Switch;
  Json out;
  out["fabric"] = {{"name", s.fabric},
                   {"switches", switches},
                   {"hosts", scenario.fabric().host_lids.size()},
                   {"engine", scenario.fabric().routing.engine},
                   {"vls", s.program.vls}};
  const HostPorts ports = scenario.pattern_input(1).ports;
  if (!ports.host.empty()) {
    out["fabric"]["systems"] = ports.hosts;
    out["fabric"]["rails"] = ports.rails;
  }
  if (const WormScenario* worms = scenario.worms()) {
    const std::optional<bool> can_deadlock = worms->can_deadlock();
    if (s.worm.algorithm.empty()) {
      out["routes"] = {{"system", s.worm.system},
                       {"second", s.worm.second},
                       {"minimal_share", worms->figures().minimal_share},
                       {"mean_links", worms->figures().mean_links},
                       {"stops_per_route", worms->figures().stops_per_route}};
    } else {
      out["routes"] = {{"algorithm", s.worm.algorithm}};
    }
    out["routes"]["can_deadlock"] = can_deadlock ? Json(*can_deadlock) : Json();
  }
  if (!scenario.groups().groups.empty()) out["groups"] = groups_to_json(scenario.groups());
  out["interrupted"] = result.interrupted;
  out["points"] = Json::array();
  for (const PointResult& point : result.points) out["points"].push_back(to_json(scenario, point));
  out["saturation"] = Json::array();
  for (const auto& [seed, point] : result.saturation) {
    out["saturation"].push_back(
        {{"seed", seed},
         {"load", point.load},
         {"accepted_load", point.accepted},
         {"runs", point.runs},
         {"ended_early_at", point.ended_early_at ? Json(*point.ended_early_at) : Json()},
         {"ended_early_by",
          point.ended_early_at ? Json(print_run_state(point.ended_early_by)) : Json()},
         {"unreachable", point.unreachable},
         {"deadlocked_at", point.deadlocked_at ? Json(*point.deadlocked_at) : Json()},
         {"deadlock", print_deadlock(scenario.spec(), point.deadlock)}});
  }
  return out.dump(2) + "\n";
}

std::string print_points_csv(const ScenarioResult& result) {
  std::string out =
      "load,seed,state,offered_load,accepted_load,latency_ns,half_width_ns,p50_ns,p99_ns,"
      "network_latency_ns,head_latency_ns,hops,fairness,generated,delivered,discarded,in_flight,"
      "hash\n";
  for (const PointResult& p : result.points) {
    // Of what has no steady state nobody works them out.
    const auto steady = [&p](double value, int decimals) {
      return p.managed || p.closed ? std::string() : fmt::format("{:.{}f}", value, decimals);
    };
    out += fmt::format(
        "{},{},{},{},{},{:.3f},{},{:.3f},{:.3f},{:.3f},{:.3f},{:.4f},{:.4f},{},{},{},{},{:016x}\n",
        p.load,
        p.seed,
        print_state(p),
        steady(p.steady.offered_load, 6),
        steady(p.steady.accepted_load, 6),
        nanos(p.latency.mean),
        steady(nanos(p.steady.latency.half_width), 3),
        nanos(static_cast<double>(p.latency.p50)),
        nanos(static_cast<double>(p.latency.p99)),
        nanos(p.network_latency.mean),
        nanos(p.head_latency.mean),
        p.mean_hops,
        p.fairness,
        p.stats.generated,
        p.stats.delivered,
        p.stats.discards(),
        p.stats.in_flight,
        p.stats.digest);
  }
  return out;
}

std::string print_periods_csv(const ScenarioResult& result) {
  std::string out =
      "load,seed,when,begin_us,end_us,generated,delivered,accepted_load,latency_ns,p50_ns,p99_ns,"
      "max_ns,discarded,unexplained";
  for (std::size_t i = 0; i < kDiscards; ++i) {
    out += fmt::format(",{}", print_discard(static_cast<Discard>(i)));
  }
  out += "\n";
  for (const PointResult& p : result.points) {
    for (const Period& s : p.periods) {
      std::uint64_t discarded = 0;
      for (const std::uint64_t count : s.discarded) discarded += count;
      out += fmt::format("{},{},{},{:.3f},{:.3f},{},{},{:.6f},{:.3f},{:.3f},{:.3f},{:.3f},{},{}",
                         p.load,
                         p.seed,
                         print_period(s.kind),
                         to_micros(s.begin),
                         to_micros(s.end),
                         s.generated,
                         s.delivered,
                         s.accepted_load,
                         nanos(s.latency.mean),
                         nanos(static_cast<double>(s.latency.p50)),
                         nanos(static_cast<double>(s.latency.p99)),
                         nanos(static_cast<double>(s.latency.max)),
                         discarded,
                         s.unexplained);
      for (const std::uint64_t count : s.discarded) out += fmt::format(",{}", count);
      out += "\n";
    }
  }
  return out;
}

std::string print_series_csv(const ScenarioResult& result) {
  std::string out =
      "load,seed,begin_us,end_us,generated,injected,delivered,delivered_bytes,latency_ns,"
      "network_latency_ns,in_flight,waiting,discarded\n";
  for (const PointResult& p : result.points) {
    for (const Interval& i : p.steady.intervals) {
      std::uint64_t discarded = 0;
      for (const std::uint64_t count : i.discarded) discarded += count;
      out += fmt::format("{},{},{:.3f},{:.3f},{},{},{},{},{:.3f},{:.3f},{},{},{}\n",
                         p.load,
                         p.seed,
                         to_micros(i.begin),
                         to_micros(i.end),
                         i.generated,
                         i.injected,
                         i.delivered,
                         i.delivered_bytes,
                         nanos(i.latency),
                         nanos(i.network_latency),
                         i.in_flight,
                         i.waiting,
                         discarded);
    }
  }
  return out;
}

std::string print_points(const PreparedScenario& scenario, const ScenarioResult& result) {
  std::string out;
  const bool closed = is_closed(scenario.scenario());
  for (const PointResult& p : result.points) {
    if (p.managed) {
      out += closed ? fmt::format("seed {}: {}, {}", p.seed, summarize_changes(p), print_end(p))
                    : fmt::format("load {:.3f} seed {}: {}", p.load, p.seed, summarize_changes(p));
    } else if (closed) {
      out += fmt::format("seed {}: {}", p.seed, print_end(p));
    } else {
      out += fmt::format(
          "load {:.3f} seed {}: {}, accepted {:.4f}, latency {:.1f} ns (+- {:.1f}), p99 {:.1f} ns, "
          "network {:.1f} ns, {} discarded",
          p.load,
          p.seed,
          print_run_state(p.steady.state),
          p.steady.accepted_load,
          nanos(p.latency.mean),
          nanos(p.steady.latency.half_width),
          nanos(static_cast<double>(p.latency.p99)),
          nanos(p.network_latency.mean),
          p.stats.discards());
      if (p.steady.held_back > 0) {
        out += fmt::format(", sources held back {:.1f} % of the time", 100 * p.steady.held_back);
      }
    }
    out += fmt::format(", hash {:016x}\n", p.stats.digest);
    const FaultPlan& plan = scenario.faults();
    out += p.managed ? print_changes(p, plan.faults.size()) : print_faults_of_worms(plan, p);
    if (!p.steady.deadlock.empty()) {
      out += fmt::format("deadlock, found after {:.3f} us: {}\n",
                         to_micros(p.steady.deadlock_at),
                         print_deadlock(scenario.spec(), p.steady.deadlock));
    }
    if (p.steady.state == RunState::Undelivered && !closed) out += print_undelivered(p);
    const std::uint64_t lost = plan.empty() ? count_unreachable(p.stats.discarded) : 0;
    if (lost > 0) {
      out +=
          fmt::format("  {} of {} packets had no route: not every pair that sends is connected\n",
                      lost,
                      p.stats.generated + p.stats.replicated);
    }
    for (std::size_t i = 0; i < kDiscards; ++i) {
      if (p.managed || p.stats.discarded[i] == 0) continue;
      out +=
          fmt::format("  {}: {}\n", print_discard(static_cast<Discard>(i)), p.stats.discarded[i]);
    }
  }
  for (const auto& [seed, point] : result.saturation) {
    out += print_saturation(scenario.spec(), seed, point);
  }
  return out;
}

}  // namespace smd::sim
