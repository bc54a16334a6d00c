#include "sim-backend/experiments/multicast/multicast_loads.h"

#include <fmt/core.h>

#include <algorithm>

#include "sim-backend/lab/parallel.h"

namespace smd::sim {

std::string mesh_fabric(unsigned side) {
  return fmt::format("torus:dims={}.{},hosts=1,mesh=1", side, side);
}

Result<PreparedScenario> prepare_multicast(const MulticastRun& run, const MessageCount& length) {
  constexpr std::uint32_t kFlits = 16;
  Scenario s;
  s.file = run.algorithm;
  s.fabric = run.fabric;
  s.model = NetModel::Worms;
  s.preset = "unit";
  s.worm.options = WormOptions::unit();
  s.worm.options.buffer = run.buffer;
  // The theory of escapes asks for it: without it the adaptive ones lock beyond saturation.
  s.worm.options.allocation = WormAllocation::Atomic;
  s.worm.algorithm = run.algorithm;
  s.worm.channels = run.channels;
  s.worm.header = true;
  s.traffic.destinations = run.destinations;
  s.traffic.multicast_share = run.share;
  s.traffic.sizes = {{kFlits, 1}};
  s.traffic.arrivals = {.kind = ArrivalKind::Bernoulli, .slot = s.worm.options.cycle};
  s.traffic.sl_choice = SlChoice::Fixed;
  s.measure.plan = {
      .interval = 500 * kNano, .warm_up_messages = length.warm_up, .messages = length.measured};
  auto prepared = PreparedScenario::prepare(std::move(s));
  if (!prepared) return fail(Errc::Invalid, print_fault(prepared.error().at(0)));
  return std::move(*prepared);
}

Result<MulticastPoint> run_at(const PreparedScenario& prepared, double load, std::uint64_t seed) {
  const PointResult point = prepared.run(load, seed);
  if (!point.audit.empty()) return fail(Errc::Invalid, point.audit);
  const double cycle = static_cast<double>(prepared.scenario().worm.options.cycle);
  const auto mean = [&](Picos sum, std::uint64_t count) {
    return count == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(count) / cycle;
  };
  const MulticastSums& sums = point.worms->multicast;
  MulticastPoint out{.load = load,
                     .accepted = point.steady.accepted_load,
                     .offered = point.steady.offered_load,
                     .last = mean(sums.last, sums.multicasts),
                     .copy = mean(sums.copy, sums.copies),
                     .unicast = mean(sums.unicast, sums.unicasts),
                     .deadlocked = !point.steady.deadlock.empty()};
  double shares = 0;
  for (const WormPortUse& port : point.worms->ports) shares += port.blocked_lanes;
  const auto& intervals = point.steady.intervals;
  const double cycles = static_cast<double>(intervals.back().end - intervals.front().begin) / cycle;
  const auto messages =
      static_cast<double>(std::max<std::uint64_t>(1, sums.multicasts + sums.unicasts));
  out.blocked = shares * cycles / messages;
  return out;
}

MulticastPoint mean_of(std::span<const MulticastPoint> points) {
  MulticastPoint out;
  const auto count = static_cast<double>(points.size());
  for (const MulticastPoint& point : points) {
    out.load += point.load / count;
    out.accepted += point.accepted / count;
    out.offered += point.offered / count;
    out.last += point.last / count;
    out.copy += point.copy / count;
    out.unicast += point.unicast / count;
    out.blocked += point.blocked / count;
    out.deadlocked = out.deadlocked || point.deadlocked;
  }
  return out;
}

Result<std::vector<MulticastPoint>> run_means(const std::vector<LoadPlace>& places,
                                              unsigned seeds,
                                              const MessageCount& length,
                                              unsigned jobs) {
  const auto points = collect<MulticastPoint>(
      jobs, places.size() * seeds, [&](std::size_t i) -> Result<MulticastPoint> {
        const LoadPlace& place = places[i / seeds];
        const auto prepared = prepare_multicast(place.run, length);
        if (!prepared) return tl::unexpected<Error>(prepared.error());
        return run_at(*prepared, place.load, 1 + i % seeds);
      });
  if (!points) return tl::unexpected<Error>(points.error());
  std::vector<MulticastPoint> out;
  for (std::size_t i = 0; i < places.size(); ++i) {
    out.push_back(mean_of(std::span(*points).subspan(i * seeds, seeds)));
  }
  return out;
}

Result<MulticastSweep> sweep(const MulticastRun& run, const MessageCount& length, double step) {
  constexpr unsigned kMostSteps = 1000;
  const auto prepared = prepare_multicast(run, length);
  if (!prepared) return tl::unexpected<Error>(prepared.error());
  MulticastSweep out;
  const auto most = find_peak(step, kMostSteps, [&](unsigned steps) -> Result<LoadPoint> {
    const auto point = run_at(*prepared, steps * step, run.seed);
    if (!point) return tl::unexpected<Error>(point.error());
    out.points.push_back(*point);
    out.deadlocked = out.deadlocked || point->deadlocked;
    const double accepted = point->deadlocked ? 0 : point->accepted;
    return LoadPoint{.accepted = accepted, .share = accepted / point->offered};
  });
  if (!most) return tl::unexpected<Error>(most.error());
  out.most = *most;
  std::ranges::sort(out.points, {}, &MulticastPoint::load);
  return out;
}

}  // namespace smd::sim
