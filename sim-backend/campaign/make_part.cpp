#include "sim-backend/campaign/make_part.h"

#include <fmt/core.h>

#include <utility>

namespace smd::sim {
namespace {

template <class Y>
std::vector<std::pair<double, double>> over_time(const PointResult& point, Y y) {
  std::vector<std::pair<double, double>> out;
  for (const Interval& i : point.steady.intervals) {
    out.emplace_back(static_cast<double>(i.end) / double(kMicro), y(i));
  }
  return out;
}

/// Mean latency over load; of a network that changes, a collective or a trace, what was delivered
/// over time.
Plot draw(const Scenario& scenario, const PointResult& point) {
  const std::string seed = fmt::format("seed {}", point.seed);
  if (scenario.is_managed()) {
    const auto rate = [](const Interval& i) {
      return static_cast<double>(i.delivered_bytes) / static_cast<double>(i.end - i.begin) * 1e3;
    };
    return {.title = scenario.fabric,
            .x_label = "us",
            .y_label = "payload delivered, GB/s",
            .series = {{.name = fmt::format("load {}, {}", point.load, seed),
                        .points = over_time(point, rate)}}};
  }
  if (scenario.traffic.collective || !scenario.traffic.trace.empty()) {
    const auto packets = [](const Interval& i) { return static_cast<double>(i.delivered); };
    return {.title = scenario.fabric,
            .x_label = "us",
            .y_label = "packets delivered",
            .series = {{.name = seed, .points = over_time(point, packets)}}};
  }
  return {
      .title = fmt::format("{}, {}", scenario.fabric, scenario.traffic.pattern),
      .x_label = "accepted load",
      .y_label = "mean latency, ns",
      .log_y = true,
      .series = {{.name = seed,
                  .points = {{point.steady.accepted_load, point.latency.mean / double(kNano)}}}}};
}

std::string without_header(const std::string& csv) { return csv.substr(csv.find('\n') + 1); }

}  // namespace

Part make_part(const PreparedScenario& scenario,
               const std::string& digest,
               const CampaignPlan& plan,
               const RunKey& key,
               const RunControl& control) {
  Part out{.scenario = digest, .plan = plan, .key = key};
  ScenarioResult result;
  if (key.saturation) {
    const auto run = [&](double load) {
      PointResult point =
          scenario.run(load, key.seed, {.stop = control.stop, .processes = control.processes});
      if (out.audit.empty()) out.audit = point.audit;
      out.interrupted = point.steady.state == RunState::Interrupted;
      return std::move(point.steady);
    };
    result.saturation.push_back(
        {.seed = key.seed, .point = find_saturation(run, scenario.scenario().measure.tolerance)});
    const SaturationPoint& found = result.saturation.front().point;
    out.sound = out.audit.empty() && !found.ended_early_at && !found.deadlocked_at;
  } else {
    result.points.push_back(scenario.run(plan.loads.at(key.load), key.seed, control));
    const PointResult& point = result.points.front();
    out.audit = point.audit;
    out.interrupted = point.steady.state == RunState::Interrupted;
    out.sound = point.is_sound();
    out.row = without_header(print_points_csv(result));
    out.series = without_header(print_series_csv(result));
    if (point.managed) out.periods = without_header(print_periods_csv(result));
    out.plot = draw(scenario.scenario(), point);
  }
  out.result = print_scenario_json(scenario, result);
  out.lines = print_points(scenario, result);
  return out;
}

}  // namespace smd::sim
