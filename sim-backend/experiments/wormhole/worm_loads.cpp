#include "sim-backend/experiments/wormhole/worm_loads.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

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

std::uint64_t count_warm_up(const WormSpec& worm,
                            const FabricSpec& fabric,
                            const MessageCount& length) {
  if (worm.choice.kind != RouteChoiceKind::Contention) return length.warm_up;
  const auto hosts =
      static_cast<std::uint64_t>(std::ranges::count(fabric.nodes, NodeType::Ca, &NodeSpec::type));
  return std::max(length.warm_up, length.of_pair * hosts * (hosts - 1));
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
  s.traffic.share = run.share;
  s.traffic.radius = run.radius;
  s.traffic.sizes = run.sizes;
  s.traffic.arrivals = {.kind = ArrivalKind::UniformGap};
  s.traffic.sl_choice = SlChoice::Fixed;
  const auto fabric = load_fabric(run.fabric);
  if (!fabric) return fail(Errc::Invalid, print_fault(fabric.error().at(0)));
  s.measure.plan = {.interval = 50 * kMicro,
                    .warm_up_messages = count_warm_up(s.worm, *fabric, length),
                    .messages = length.measured};
  auto prepared = PreparedScenario::prepare(std::move(s));
  if (!prepared) return fail(Errc::Invalid, print_fault(prepared.error().at(0)));
  return std::move(*prepared);
}

Result<double> find_peak(double step,
                         unsigned most,
                         const std::function<Result<LoadPoint>(unsigned)>& at) {
  std::map<unsigned, double> accepted;  // by steps
  std::optional<Error> fault;
  const auto follows = [&](unsigned steps) {
    const Result<LoadPoint> point = at(steps);
    if (!point) fault = point.error();
    accepted[steps] = point ? point->accepted : 0;
    return point && (point->accepted >= kFollows * steps * step || point->share >= kFollows);
  };
  unsigned low = 0, high = std::min(4u, most);
  while (!fault && low < most && follows(high)) {
    low = high;
    high = std::min(2 * high, most);
  }
  while (!fault && high - low > 1) {
    const unsigned middle = (low + high) / 2;
    (follows(middle) ? low : high) = middle;
  }
  for (unsigned beyond = 1; !fault && beyond <= 2 && high + beyond <= most; ++beyond) {
    if (!accepted.contains(high + beyond)) follows(high + beyond);
  }
  if (fault) return tl::unexpected<Error>(*fault);
  double peak = 0;
  for (const auto& [steps, value] : accepted) peak = std::max(peak, value);
  return peak;
}

Result<double> find_most_accepted(const WormRun& run, const MessageCount& length) {
  constexpr unsigned kMostSteps = 1000;  // beyond what the links of hosts carry
  const auto prepared = prepare_worms(run, length);
  if (!prepared) return tl::unexpected<Error>(prepared.error());
  return find_peak(kLoadStep, kMostSteps, [&](unsigned steps) -> Result<LoadPoint> {
    const PointResult point = prepared->run(steps * kLoadStep, run.traffic_seed);
    const std::string why = !point.steady.deadlock.empty() ? "a deadlock" : point.audit;
    const SteadyResult& steady = point.steady;
    if (why.empty()) {
      return LoadPoint{.accepted = point.worms->accepted_per_switch,
                       .share = steady.accepted_load / steady.offered_load};
    }
    return fail(Errc::Invalid, fmt::format("{} on {}: {}", run.system, run.fabric, why));
  });
}

Result<std::vector<Measured>> measure_ratios(const RatioRuns& runs, Findings& out) {
  struct Task {
    std::string_view system, pattern;
    std::vector<std::pair<std::uint32_t, double>> sizes;
    unsigned switches, topology;

    auto operator<=>(const Task&) const = default;
  };

  const auto task_of = [](const RatioRow& row, std::string_view system, unsigned switches) {
    Task task{.system = system, .pattern = row.pattern, .sizes = {}, .switches = switches};
    for (const SizeShare& size : row.sizes) task.sizes.emplace_back(size.bytes, size.weight);
    return task;
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
    for (const std::string_view system : {row.above, row.below}) {
      Task task = task_of(row, system, published.switches);
      for (task.topology = 1; task.topology <= runs.topologies; ++task.topology) values[task] = 0;
    }
  });
  std::vector<Task> tasks;
  for (const auto& [task, value] : values) tasks.push_back(task);
  const auto results = collect<double>(runs.jobs, tasks.size(), [&](std::size_t i) {
    const Task& task = tasks[i];
    WormRun run{.fabric = irregular_fabric(task.switches, task.topology),
                .system = std::string(task.system),
                .pattern = std::string(task.pattern),
                .sizes = {},
                .seed = task.topology};
    for (const auto& [bytes, weight] : task.sizes) run.sizes.push_back({bytes, weight});
    return runs.measure(run, runs.length);
  });
  if (!results) return tl::unexpected<Error>(results.error());
  for (std::size_t i = 0; i < tasks.size(); ++i) values[tasks[i]] = (*results)[i];

  struct ClaimText {
    std::string_view claim, pattern;
    std::string text;
    Range outside;
  };

  std::vector<ClaimText> measured;
  std::map<std::string_view, std::map<unsigned, double>> means;  // by claim and switches
  for_each([&](const RatioRow& row, const PublishedRatio& published) {
    Range ratios;
    double sum = 0, above = 0, below = 0;
    Task of = task_of(row, row.above, published.switches);
    Task to = task_of(row, row.below, published.switches);
    for (unsigned topology = 1; topology <= runs.topologies; ++topology) {
      of.topology = to.topology = topology;
      const double a = values[of], b = values[to];
      ratios.add(a / b);
      sum += a / b;
      above += a / runs.topologies;
      below += b / runs.topologies;
    }
    const double mean = sum / runs.topologies;
    means[row.claim][published.switches] = mean;
    out.add_row({{"claim", row.claim},
                 {"of", row.above},
                 {"to", row.below},
                 {"pattern", row.pattern},
                 {"switches", published.switches},
                 {"ratio", mean},
                 {"least", ratios.least()},
                 {"most", ratios.most()},
                 {"published", published.mean},
                 {"published_least", published.least},
                 {"published_most", published.most},
                 {"value_of", above},
                 {"value_to", below}});
    std::string line = fmt::format("{} to {}", row.above, row.below);
    if (row.pattern != "uniform") line += fmt::format(", {}", row.pattern);
    out.plot.add_point(line, published.switches, mean);
    if (measured.empty() || measured.back().claim != row.claim) measured.push_back({row.claim});
    ClaimText& at = measured.back();
    if (!at.text.empty()) at.text += at.pattern == row.pattern ? ", " : "; ";
    if (row.pattern != "uniform" && at.pattern != row.pattern)
      at.text += fmt::format("{} ", row.pattern);
    at.pattern = row.pattern;
    at.text += fmt::format("{:.2f} ({:.2f})", mean, published.mean);
    at.outside.add(
        std::isnan(mean) ? mean : std::max({0.0, published.least - mean, mean - published.most}));
  });
  std::vector<Measured> verdicts;
  for (const ClaimText& at : measured) {
    verdicts.emplace_back(
        at.claim,
        fmt::format(
            "{:.2f} outside where farthest; ours (published): {}", at.outside.most(), at.text),
        at.outside);
  }
  for (const RatioShape& shape : runs.shapes) {
    Range ratios;
    for (const std::string_view row : shape.rows) {
      const std::map<unsigned, double>& by_size = means[row];
      if (shape.falls && !by_size.empty()) {
        ratios.add(by_size.rbegin()->second / by_size.begin()->second);
        continue;
      }
      for (const auto& [switches, ratio] : by_size) ratios.add(ratio);
    }
    verdicts.emplace_back(shape.claim, ratios);
  }
  return verdicts;
}

Result<Findings> run_ratios(const RatioTable& table, const ExperimentOptions& options) {
  RatioRuns runs{.rows = table.rows,
                 .shapes = table.shapes,
                 .topologies = table.topologies,
                 .jobs = options.jobs};
  if (options.quick) {
    runs.length = {.warm_up = 2000, .measured = 6000, .of_pair = 1};
    runs.topologies = 1;
    runs.sizes = table.quick_sizes;
  }
  Findings out{.plot = {.title = std::string(table.about),
                        .x_label = "switches",
                        .y_label = "ratio of throughput"}};
  const auto measured = measure_ratios(runs, out);
  if (!measured) return tl::unexpected<Error>(measured.error());
  out.verdicts = decide(table.claims, *measured);
  return out;
}

std::vector<Experiment> list_experiments(std::span<const RatioTable> tables) {
  std::vector<Experiment> out;
  for (const RatioTable& table : tables) {
    out.push_back(
        {.name = table.name,
         .source = table.source,
         .about = table.about,
         .claims = table.claims,
         .run = [&table](const ExperimentOptions& options) { return run_ratios(table, options); }});
  }
  return out;
}

}  // namespace smd::sim
