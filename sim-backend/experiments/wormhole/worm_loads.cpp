#include "sim-backend/experiments/wormhole/worm_loads.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "sim-backend/lab/parallel.h"

namespace smd::sim {
namespace {

constexpr double kFollows = 0.97;  // of what is offered: the network still takes it all

}  // namespace

WormSpec find_worm_system(std::string_view name) {
  WormSpec out;
  out.per_switch = true;
  const auto of_ud = [&](RouteChoiceKind kind) { out.choice.kind = kind; };
  const auto two = [&](std::string first, RouteChoiceKind kind, double margin = 0) {
    out.system = std::move(first);
    out.second = "UD_ITB";
    out.choice = {.kind = kind, .margin = margin};
  };
  if (name == "RSUD") {
    of_ud(RouteChoiceKind::Random);
  } else if (name == "RRSUD") {
    of_ud(RouteChoiceKind::Rotate);
  } else if (name == "DET") {
    of_ud(RouteChoiceKind::Contention);
  } else if (name == "UD_ITB_ML") {
    two("UD_MITB", RouteChoiceKind::Size);
  } else if (name == "UD_ITB_50") {
    two("UD", RouteChoiceKind::Share);
  } else if (name == "UD_ITB_DET1") {
    two("UD", RouteChoiceKind::Contention, 1);
  } else if (name == "UD_ITB_DET2") {
    two("UD", RouteChoiceKind::Contention, 2);
  } else {
    out.system = name;
  }
  return out;
}

std::string irregular_fabric(unsigned switches, unsigned topology, unsigned hosts) {
  return fmt::format(
      "irregular:switches={},ports=8,links=4,hosts={},seed={}", switches, hosts, topology);
}

Result<PreparedScenario> prepare_worms(const WormRun& run, const MessageCount& length) {
  Scenario s;
  s.file = run.system;
  s.fabric = run.fabric;
  s.model = NetModel::Worms;
  s.preset = "myrinet";
  s.worm = find_worm_system(run.system);
  s.worm.options = run.options;
  s.worm.routes.seed = run.seed;
  s.traffic.pattern = run.pattern;
  s.traffic.sizes = run.sizes;
  s.traffic.arrivals = {.kind = ArrivalKind::UniformGap};
  s.traffic.sl_choice = SlChoice::Fixed;
  s.measure.plan = {
      .interval = 50 * kMicro, .warm_up_messages = length.warm_up, .messages = length.measured};
  auto prepared = PreparedScenario::prepare(std::move(s));
  if (!prepared) return fail(Errc::Invalid, print_fault(prepared.error().at(0)));
  return std::move(*prepared);
}

Result<double> find_most_accepted(const WormRun& run, const MessageCount& length) {
  const auto prepared = prepare_worms(run, length);
  if (!prepared) return tl::unexpected<Error>(prepared.error());
  std::map<unsigned, double> accepted;  // by steps
  std::string why;
  const auto at = [&](unsigned steps) {
    const PointResult point = prepared->run(steps * kLoadStep, 1);
    if (!point.audit.empty()) why = point.audit;
    if (!point.steady.deadlock.empty()) why = "a deadlock";
    accepted[steps] = point.worms->accepted_per_switch;
    return accepted[steps] >= kFollows * steps * kLoadStep;
  };
  unsigned low = 0, high = 4;
  while (why.empty() && at(high)) {
    low = high;
    high *= 2;
  }
  while (why.empty() && high - low > 1) {
    const unsigned middle = (low + high) / 2;
    (at(middle) ? low : high) = middle;
  }
  for (unsigned beyond = 1; why.empty() && beyond <= 2; ++beyond) {
    if (!accepted.contains(high + beyond)) at(high + beyond);
  }
  if (!why.empty()) {
    return fail(Errc::Invalid, fmt::format("{} on {}: {}", run.system, run.fabric, why));
  }
  double most = 0;
  for (const auto& [steps, value] : accepted) most = std::max(most, value);
  return most;
}

Result<std::vector<Measured>> measure_ratios(const RatioRuns& runs, Findings& out) {
  struct Task {
    std::string_view system;
    unsigned switches, topology;

    auto operator<=>(const Task&) const = default;
  };

  std::map<Task, double> values;
  const auto for_each = [&](auto visit) {
    for (const RatioRow& row : runs.rows) {
      for (const PublishedRatio& published : row.published) {
        if (std::ranges::find(runs.sizes, published.switches) == runs.sizes.end()) continue;
        visit(row, published);
      }
    }
  };
  for_each([&](const RatioRow& row, const PublishedRatio& published) {
    for (unsigned topology = 1; topology <= runs.topologies; ++topology) {
      values[{row.above, published.switches, topology}] = 0;
      values[{row.below, published.switches, topology}] = 0;
    }
  });
  std::vector<Task> tasks;
  for (const auto& [task, value] : values) tasks.push_back(task);
  const auto results = collect<double>(runs.jobs, tasks.size(), [&](std::size_t i) {
    return runs.measure({.fabric = irregular_fabric(tasks[i].switches, tasks[i].topology),
                         .system = std::string(tasks[i].system),
                         .pattern = runs.pattern,
                         .seed = tasks[i].topology},
                        runs.length);
  });
  if (!results) return tl::unexpected<Error>(results.error());
  for (std::size_t i = 0; i < tasks.size(); ++i) values[tasks[i]] = (*results)[i];

  std::vector<std::pair<std::string, Range>> measured(runs.rows.size());
  for_each([&](const RatioRow& row, const PublishedRatio& published) {
    Range ratios;
    double sum = 0, above = 0, below = 0;
    for (unsigned topology = 1; topology <= runs.topologies; ++topology) {
      const double a = values[{row.above, published.switches, topology}];
      const double b = values[{row.below, published.switches, topology}];
      ratios.add(a / b);
      sum += a / b;
      above += a / runs.topologies;
      below += b / runs.topologies;
    }
    const double mean = sum / runs.topologies;
    out.add_row({{"claim", row.claim},
                 {"of", row.above},
                 {"to", row.below},
                 {"switches", published.switches},
                 {"ratio", mean},
                 {"least", ratios.least()},
                 {"most", ratios.most()},
                 {"published", published.mean},
                 {"published_least", published.least},
                 {"published_most", published.most},
                 {"value_of", above},
                 {"value_to", below}});
    out.plot.add_point(fmt::format("{} to {}", row.above, row.below), published.switches, mean);
    auto& [text, outside] = measured[static_cast<std::size_t>(&row - runs.rows.data())];
    text += fmt::format("{}{:.2f} ({:.2f})", text.empty() ? "" : ", ", mean, published.mean);
    outside.add(std::max({0.0, published.least - mean, mean - published.most}));
  });
  std::vector<Measured> verdicts;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const auto& [text, outside] = measured[i];
    verdicts.emplace_back(
        runs.rows[i].claim,
        fmt::format("{:.2f} outside where farthest; ours (published): {}", outside.most(), text),
        Range(outside.most()));
  }
  return verdicts;
}

}  // namespace smd::sim
