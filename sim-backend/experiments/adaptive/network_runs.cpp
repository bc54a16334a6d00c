#include "sim-backend/experiments/adaptive/network_runs.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "sim-backend/lab/parallel.h"

namespace smd::sim {
namespace {

constexpr Picos kCycle = 1024;
constexpr unsigned kIntervals = 10;
constexpr unsigned kMostWaiting = 64;  // packets at a source: beyond that it only grows

Result<PreparedScenario> prepare_curve(const Curve& curve, const RunSize& length) {
  Scenario s;
  s.file = curve.name;
  s.fabric = curve.fabric;
  s.packet = PacketOptions::booksim();
  s.packet.vls = s.program.vls = 4;
  s.packet.adapters.most_waiting = kMostWaiting;
  curve.change(s.packet);
  s.program.engine = "minhop";
  s.routes = curve.routes;
  s.traffic.pattern = curve.pattern;
  s.traffic.dims = curve.dims;
  s.traffic.switches_per_group = curve.group;
  s.traffic.arrivals = {.kind = ArrivalKind::Bernoulli, .slot = kCycle};
  s.traffic.sizes = {{64, 1}};
  s.measure.plan = {.warm_up = length.warm_up * kCycle,
                    .interval = length.measured / kIntervals * kCycle,
                    .least_intervals = kIntervals,
                    .most_intervals = kIntervals,
                    .stop_early = false};
  auto prepared = PreparedScenario::prepare(std::move(s));
  if (!prepared) return fail(Errc::Invalid, print_fault(prepared.error().at(0)));
  return std::move(*prepared);
}

}  // namespace

double MeasuredCurve::at(double load) const {
  const auto found = std::ranges::find(points, load, &CurvePoint::load);
  return found == points.end() ? std::nan("") : found->accepted;
}

double MeasuredCurve::peak() const {
  return std::ranges::max(points, {}, &CurvePoint::accepted).accepted;
}

Result<std::vector<MeasuredCurve>> run_curves(std::span<const Curve> curves,
                                              const RunSize& length,
                                              unsigned jobs) {
  struct CurveRun {
    std::size_t curve;
    double load;
    std::uint64_t seed;
  };

  std::vector<CurveRun> all;
  std::vector<PreparedScenario> prepared;
  for (std::size_t c = 0; c < curves.size(); ++c) {
    auto one = prepare_curve(curves[c], curves[c].length.value_or(length));
    if (!one) return tl::unexpected<Error>(one.error());
    prepared.push_back(std::move(*one));
    for (const double load : curves[c].loads) {
      for (std::uint64_t seed = 1; seed <= length.seeds; ++seed) all.push_back({c, load, seed});
    }
  }
  const auto results =
      collect<CurvePoint>(jobs, all.size(), [&](std::size_t i) -> Result<CurvePoint> {
        const CurveRun& one = all[i];
        const PointResult point = prepared[one.curve].run(one.load, one.seed);
        const std::string& name = curves[one.curve].name;
        if (!point.audit.empty()) return fail(Errc::Invalid, name + ": " + point.audit);
        if (!point.steady.deadlock.empty() || point.stats.discards() > 0) {
          return fail(Errc::Invalid,
                      fmt::format("{} at {}: {} packets lost, deadlock {}",
                                  name,
                                  one.load,
                                  point.stats.discards(),
                                  !point.steady.deadlock.empty()));
        }
        return CurvePoint{.load = one.load,
                          .accepted = point.steady.accepted_load,
                          .latency = point.latency.mean / kCycle,
                          .hops = point.mean_hops};
      });
  if (!results) return tl::unexpected<Error>(results.error());
  std::vector<MeasuredCurve> out(curves.size());
  const auto share = 1.0 / static_cast<double>(length.seeds);
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto& points = out[all[i].curve].points;
    if (all[i].seed == 1) points.push_back({.load = all[i].load});
    points.back().accepted += share * (*results)[i].accepted;
    points.back().latency += share * (*results)[i].latency;
    points.back().hops += share * (*results)[i].hops;
  }
  return out;
}

void add_curves(std::span<const Curve> curves,
                std::span<const MeasuredCurve> measured,
                Findings& out) {
  for (std::size_t c = 0; c < curves.size(); ++c) {
    for (const CurvePoint& point : measured[c].points) {
      out.add_row({{"curve", curves[c].name},
                   {"fabric", curves[c].fabric},
                   {"pattern", curves[c].pattern},
                   {"rule", rule_name(curves[c].routes.rule.rule)},
                   {"threshold", curves[c].routes.rule.threshold},
                   {"load", point.load},
                   {"accepted", point.accepted},
                   {"latency_cycles", point.latency},
                   {"routers", point.hops}});
      out.plot.add_point(curves[c].name, point.load, point.accepted);
    }
  }
}

}  // namespace smd::sim
