// What a network of a thousand to a million hosts takes to simulate, and whether it carries what a
// small one of its kind does: no registers, no tables, hosts by number. Processor time is not seen
// here: tests/bench/bench_scale.cpp measures it.
#include <fmt/core.h>

#include <algorithm>

#include "sim-backend/experiments/tables.h"
#include "sim-backend/lab/parallel.h"
#include "sim-backend/scenario/run.h"

namespace smd::sim::scale {
namespace {

constexpr double kLoad = 0.3;
constexpr Picos kTime = 10 * kMicro;  // of the warm-up, and of what is measured
constexpr unsigned kMostWaiting = 8;  // packets at a source: under adverse traffic it only grows
constexpr std::uint32_t kLarge = 20'000;  // switches, from which on two partitions share the work

constexpr ClaimSpec kScaleClaims[] = {
    {.id = "E12-memory",
     .text =
         "a host of a network of any size takes at most 8 kB, with its share of switches, cables "
         "and packets, and with what arrays have to spare",
     .source = "ours, for Benito 2014, figure 2.2",
     .must_hold = true,
     .measured = "{most:.0f} bytes at most",
     .expected = "at most 8000 bytes"},
    {.id = "E12-growth",
     .text =
         "and what is in use of it, without events and what a net of any size has, is no more than "
         "of a host of the smallest network under the same rule and traffic: of a butterfly 5 / "
         "4.67 at most, as its ports",
     .source = "ours",
     .measured = "{most:.3f} times at most",
     .expected = "at most 1.1 times"},
    {.id = "E12-events",
     .text = "a packet-hop of uniform traffic takes as many events in a network of any size",
     .source = "ours",
     .must_hold = true,
     .measured = "{least:.3f} to {most:.3f} times those of the smallest",
     .expected = "0.95 to 1.05 times"},
    {.id = "E12-uniform",
     .text = "uniform traffic at a load of 0.3 arrives whole under every rule",
     .source = "counted limits of at least 0.5",
     .must_hold = true,
     .measured = "{least:.3f} to {most:.3f} times",
     .expected = "0.95 to 1.05 times"},
    {.id = "E12-adverse-min",
     .text = "adverse traffic gets one cable's share under minimal routes",
     .source = "Benito 2014, section 4.3: t/c, t/(a c)",
     .must_hold = true,
     .measured = "{least:.3f} to {most:.3f} times the limit",
     .expected = "0.9 to 1.05 times"},
    {.id = "E12-adverse",
     .text = "and all of it under Valiant's and UGAL's",
     .source = "counted limits of about 0.5 and more",
     .measured = "{least:.3f} to {most:.3f} times",
     .expected = "0.9 to 1.05 times"},
};

struct ScaleNetwork {
  std::string fabric;
  ShapeKeys shape;
  double adverse_limit;  // of minimal routes
  std::uint32_t switches;
};

/// a = 2 h routers in a group, h hosts of each; `routers` where the group has another number.
ScaleNetwork dragonfly_of(unsigned h, unsigned routers = 0) {
  const unsigned a = routers > 0 ? routers : 2 * h;
  return {.fabric = fmt::format("dragonfly:a={0},c={1},h={1},beyond=1", a, h),
          .shape = {.dims = {}, .group = a},
          .adverse_limit = 1.0 / (a * h),
          .switches = a * (a * h + 1)};
}

/// Three dimensions of k routers each, k hosts of each.
ScaleNetwork butterfly_of(unsigned k) {
  return {.fabric = fmt::format("hamming:dims={0}.{0}.{0},hosts={0},beyond=1", k),
          .shape = {.dims = {k, k, k}, .group = 0},
          .adverse_limit = 1.0 / k,
          .switches = k * k * k};
}

struct ScalePoint {
  ScaleNetwork network;
  RuleKind rule;
  bool is_adverse;
};

struct ScaleResult {
  std::size_t hosts = 0, ports = 0;
  unsigned vls = 0;
  PointResult point;

  [[nodiscard]] double bytes() const { return per_host(point.memory.total()); }

  /// Events left out: their chunks are one to a bucket at least, so fewer of a host the more hosts
  /// there are.
  [[nodiscard]] double grown_bytes() const {
    return per_host(point.memory.grown() - point.memory.events);
  }

  [[nodiscard]] double per_host(std::size_t bytes) const {
    return static_cast<double>(bytes) / static_cast<double>(hosts);
  }

  [[nodiscard]] double events_per_hop() const {
    return static_cast<double>(point.stats.events) / static_cast<double>(point.stats.hops);
  }
};

unsigned vls_of(const ScalePoint& of) {
  const bool butterfly = !of.network.shape.dims.empty();
  if (of.rule == RuleKind::Minimal) return butterfly ? 1 : 2;
  return butterfly ? 2 : 3;
}

Result<ScaleResult> run_point(const ScalePoint& of) {
  Scenario s;
  s.file = s.fabric = of.network.fabric;
  s.packet = PacketOptions::modern();
  s.packet.vls = vls_of(of);
  s.packet.adapters.most_waiting = kMostWaiting;
  if (of.network.switches >= kLarge) s.packet.partitions = 2;
  s.routes = {.rule = {.rule = of.rule}, .shape = of.network.shape};
  s.traffic.dims = of.network.shape.dims;
  s.traffic.switches_per_group = of.network.shape.group;
  if (of.is_adverse) s.traffic.pattern = s.traffic.dims.empty() ? "adv+1" : "mdn";
  s.measure.plan = {.warm_up = kTime,
                    .interval = kTime,
                    .least_intervals = 1,
                    .most_intervals = 1,
                    .stop_early = false};
  const auto prepared = PreparedScenario::prepare(std::move(s));
  if (!prepared) return fail(Errc::Invalid, print_fault(prepared.error().at(0)));
  ScaleResult out{.hosts = prepared->fabric().host_lids.size(),
                  .vls = vls_of(of),
                  .point = prepared->run(kLoad, 1)};
  for (const NodeSpec& node : prepared->spec().nodes) out.ports += node.num_ports();
  const PointResult& point = out.point;
  if (!point.audit.empty()) return fail(Errc::Invalid, of.network.fabric + ": " + point.audit);
  if (!point.steady.deadlock.empty() || point.stats.discards() > 0) {
    return fail(Errc::Invalid, of.network.fabric + ": packets are lost, or in a deadlock");
  }
  return out;
}

constexpr RuleKind kScaleRules[] = {RuleKind::Minimal, RuleKind::Valiant, RuleKind::UgalLocal};

/// Each network under each rule and pattern; of the largest one line alone.
std::vector<ScalePoint> list_points(bool quick) {
  std::vector<ScaleNetwork> networks{dragonfly_of(4), butterfly_of(6)};
  if (!quick) {
    for (const unsigned h : {7u, 13u}) networks.push_back(dragonfly_of(h));
    for (const unsigned k : {10u, 18u}) networks.push_back(butterfly_of(k));
  }
  std::vector<ScalePoint> out;
  for (const ScaleNetwork& network : networks) {
    for (const RuleKind rule : kScaleRules) {
      for (const bool adverse : {false, true}) out.push_back({network, rule, adverse});
    }
  }
  if (quick) {
    out.push_back({dragonfly_of(7), RuleKind::Minimal, false});
  } else {
    out.push_back({dragonfly_of(22, 45), RuleKind::Minimal, false});
  }
  return out;
}

Result<Findings> run_scale(const ExperimentOptions& options) {
  const std::vector<ScalePoint> points = list_points(options.quick);
  const auto results = collect<ScaleResult>(
      options.jobs, points.size(), [&](std::size_t i) { return run_point(points[i]); });
  if (!results) return tl::unexpected<Error>(results.error());
  Findings out{
      .plot = {.title = "State of a host", .x_label = "hosts", .y_label = "bytes", .log_x = true}};
  Range memory, growth, events, uniform, adverse_minimal, adverse;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const ScalePoint& of = points[i];
    const ScaleResult& found = (*results)[i];
    const NetMemory& bytes = found.point.memory;
    const bool butterfly = !of.network.shape.dims.empty();
    const std::string line = fmt::format("{}, {}, {}",
                                         butterfly ? "butterfly" : "dragonfly",
                                         of.is_adverse ? "adverse" : "uniform",
                                         rule_name(of.rule));
    const double accepted = found.point.steady.accepted_load;
    out.add_row({{"network", of.network.fabric},
                 {"traffic", of.is_adverse ? "adverse" : "uniform"},
                 {"rule", rule_name(of.rule)},
                 {"hosts", found.hosts},
                 {"ports", found.ports},
                 {"vls", found.vls},
                 {"bytes_per_host", found.bytes()},
                 {"in_use", found.grown_bytes()},
                 {"in_any_net", found.per_host(bytes.fixed)},
                 {"of_ports", found.per_host(bytes.ports)},
                 {"of_lanes", found.per_host(bytes.lanes)},
                 {"of_packets_and_events", found.per_host(bytes.packets + bytes.events)},
                 {"packet_hops", found.point.stats.hops},
                 {"events_per_hop", found.events_per_hop()},
                 {"hops", found.point.mean_hops},
                 {"accepted", accepted},
                 {"latency_ns", found.point.latency.mean / kNano}});
    out.plot.add_point(line, static_cast<double>(found.hosts), found.bytes());
    memory.add(found.bytes());
    if (!of.is_adverse) {
      uniform.add(accepted / kLoad);
    } else if (of.rule == RuleKind::Minimal) {
      adverse_minimal.add(accepted / std::min(kLoad, of.network.adverse_limit));
    } else {
      adverse.add(accepted / kLoad);
    }
    // The smallest of its kind comes first.
    const auto smallest = static_cast<std::size_t>(
        std::ranges::find_if(points,
                             [&](const ScalePoint& other) {
                               return other.network.shape.dims.empty() != butterfly &&
                                      other.rule == of.rule && other.is_adverse == of.is_adverse;
                             }) -
        points.begin());
    if (smallest == i) continue;
    growth.add(found.grown_bytes() / (*results)[smallest].grown_bytes());
    // Sources that are held back look again and again without a hop.
    if (of.is_adverse) continue;
    events.add(found.events_per_hop() / (*results)[smallest].events_per_hop());
  }
  out.verdicts = decide(kScaleClaims,
                        {{"E12-memory", memory},
                         {"E12-growth", growth},
                         {"E12-events", events},
                         {"E12-uniform", uniform},
                         {"E12-adverse-min", adverse_minimal},
                         {"E12-adverse", adverse}});
  return out;
}

}  // namespace
}  // namespace smd::sim::scale

namespace smd::sim {

std::vector<Experiment> scale_tables() {
  return {
      {.name = "002-scale",
       .source = "Benito 2014, figure 2.2",
       .about = "Dragonflies and butterflies of a thousand to a million hosts: memory and events",
       .claims = scale::kScaleClaims,
       .run = scale::run_scale}};
}

}  // namespace smd::sim
