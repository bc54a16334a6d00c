// Writing the new tables under four ways to keep the network free of deadlock meanwhile.
#include "sim-backend/experiments/change/experiments.h"

#include <fmt/core.h>

#include <cmath>

#include "sim-backend/experiments/change/published.h"
#include "sim-backend/experiments/change/reconfiguration.h"
#include "sim-backend/lab/parallel.h"
#include "sim-backend/lab/statistics.h"

namespace smd::sim {
namespace {

constexpr ClaimSpec kClaims[] = {
    {.id = "T24-fig76",
     .text = "the distribution SMPs of the example are the published ones to the digit",
     .source = "thesis, Table 24, 8 switches",
     .must_hold = true},
    {.id = "T24",
     .text = "each mechanism takes the published number of SMPs",
     .source = "thesis, Table 24"},
    {.id = "T23", .text = "each mechanism takes the published time", .source = "thesis, Table 23"},
    {.id = "T23-rate",
     .text = "a SMP of the distribution costs two passages of the manager's own SMI, 150 us, and "
             "little more",
     .source = "thesis, Tables 23 and 24",
     .must_hold = true},
    {.id = "H16-ports",
     .text = "cut-node ports take the published share of the time of full deactivation",
     .source = "thesis, Table 23"},
    {.id = "H16-dependencies",
     .text = "cut-node dependencies take the published share of the time of full deactivation",
     .source = "thesis, Table 23"},
    {.id = "H16-none",
     .text = "cut-node dependencies take hardly longer than doing nothing",
     .source = "thesis, Table 23",
     .must_hold = true},
};

constexpr std::size_t kMechanisms = kMechanismNames.size();

struct Costs {
  Sample smps;
  Sample time;
};

/// By mechanism, activation and deactivation.
using AllCosts = std::array<std::array<Costs, 2>, kMechanisms>;

Result<AllCosts> measure(const std::string& fabric, const Preset& preset) {
  AllCosts costs;
  const Subnet subnet(fabric, {.preset = preset});
  for (const std::uint32_t node : subnet.other_switches()) {
    for (std::size_t m = 0; m < kMechanisms; ++m) {
      for (const bool comes : {true, false}) {
        const auto cost = measure_distribution(
            fabric, preset, node, comes, {.mechanism = static_cast<Mechanism>(m)});
        if (!cost) return tl::unexpected<Error>(cost.error());
        costs[m][comes ? 0 : 1].smps.add(cost->smps);
        costs[m][comes ? 0 : 1].time.add(cost->time);
      }
    }
  }
  return costs;
}

/// Rows of which the counts show that a run distributed twice.
bool is_outlier(const NetworkSize& size, std::size_t mechanism, std::size_t change) {
  if (size.switches == 16) return change == 1 && mechanism != 0;
  return size.switches == 32 && change == 0 && (mechanism == 1 || mechanism == 3);
}

/// A ratio with and without such rows. The judgement is about all.
struct Ratio {
  Farthest all, clean;

  void add(double ratio, bool outlier) {
    all.add(ratio);
    if (!outlier) clean.add(ratio);
  }

  [[nodiscard]] std::string print() const {
    return all.print() + ", " + clean.value() + " without the rows that distributed twice";
  }
};

double printed(const Published& published, std::size_t change) {
  return change == 0 ? published.activation : published.deactivation;
}

Result<Findings> run(const ExperimentOptions& options) {
  const std::size_t seeds = options.quick ? 1 : 2;
  const std::size_t sizes = options.quick ? 2 : kTables23And24.size();
  const std::size_t runs = kPresets.size() * sizes * seeds;
  const auto example = measure("example:name=fig76", kPresets[0]);
  if (!example) return tl::unexpected<Error>(example.error());
  const auto costs = collect<AllCosts>(options.jobs, runs, [&](std::size_t i) {
    return measure(irregular4(kTables23And24[i / seeds % sizes].size, 1 + i % seeds),
                   kPresets[i / (sizes * seeds)]);
  });
  if (!costs) return tl::unexpected<Error>(costs.error());

  Findings out{.columns = {"preset",
                           "switches",
                           "nodes",
                           "mechanism",
                           "change",
                           "runs",
                           "smps_mean",
                           "smps_stddev",
                           "time_mean_s",
                           "time_stddev_s",
                           "published_smps",
                           "published_time_s"},
               .plot = {.title = "Distribution time after one activation, thesis preset",
                        .x_label = "switches",
                        .y_label = "seconds"}};
  for (const auto name : kMechanismNames) out.plot.series.push_back({.name = std::string(name)});
  Ratio smps, time, ports, dependencies;
  Sample rate;
  double over_none = 0;
  for (std::size_t p = 0; p < kPresets.size(); ++p) {
    for (std::size_t s = 0; s < sizes; ++s) {
      const PublishedDistribution& published = kTables23And24[s];
      AllCosts sum;
      for (std::size_t m = 0; m < kMechanisms; ++m) {
        for (std::size_t change = 0; change < 2; ++change) {
          Costs& all = sum[m][change];
          for (std::size_t k = 0; k < seeds; ++k) {
            const Costs& one = (*costs)[(p * sizes + s) * seeds + k][m][change];
            all.smps.add(one.smps);
            all.time.add(one.time);
          }
          const double published_smps = printed(published.smps[m], change);
          const double published_time = printed(published.time[m], change);
          out.rows.push_back({std::string(kPresets[p].name),
                              double(published.size.switches),
                              double(published.size.nodes),
                              std::string(kMechanismNames[m]),
                              change == 0 ? "activation" : "deactivation",
                              double(all.smps.size()),
                              all.smps.mean(),
                              all.smps.deviation(),
                              all.time.mean(),
                              all.time.deviation(),
                              published_smps,
                              published_time});
          if (p > 0) continue;
          const bool outlier = is_outlier(published.size, m, change);
          smps.add(all.smps.mean() / published_smps, outlier);
          time.add(all.time.mean() / published_time, outlier);
          rate.add(1e6 * all.time.mean() / all.smps.mean());
          if (change == 0)
            out.plot.series[m].points.emplace_back(published.size.switches, all.time.mean());
        }
      }
      if (p > 0) continue;
      for (std::size_t change = 0; change < 2; ++change) {
        const auto share = [&](Mechanism mechanism) {
          const auto m = static_cast<std::size_t>(mechanism);
          return sum[m][change].time.mean() / sum[0][change].time.mean() /
                 (printed(published.time[m], change) / printed(published.time[0], change));
        };
        ports.add(share(Mechanism::Ports), is_outlier(published.size, 1, change));
        dependencies.add(share(Mechanism::Dependencies), is_outlier(published.size, 2, change));
        over_none = std::max(over_none, sum[2][change].time.mean() / sum[3][change].time.mean());
      }
    }
  }

  constexpr std::array<std::array<double, 2>, kMechanisms> kExact = {
      {{203.43, 157.71}, {156.00, 109.43}, {153.14, 107.71}, {153.14, 107.43}}};
  bool exact = true;
  std::string example_text;
  for (std::size_t change = 0; change < 2; ++change) {
    for (std::size_t m = 0; m < kMechanisms; ++m) {
      const double mean = (*example)[m][change].smps.mean();
      exact = exact && std::abs(mean - kExact[m][change]) < 0.005;
      example_text += fmt::format("{}{:.2f}", example_text.empty() ? "" : ", ", mean);
    }
  }
  out.judgements = {
      {.id = "T24-fig76",
       .measured = example_text,
       .expected = "203.43, 156.00, 153.14, 153.14, 157.71, 109.43, 107.71, 107.43",
       .holds = exact},
      {.id = "T24",
       .measured = smps.print(),
       .expected = "0.85 to 1.15 times",
       .holds = smps.all.within(0.15)},
      {.id = "T23",
       .measured = time.print(),
       .expected = "0.85 to 1.15 times",
       .holds = time.all.within(0.15)},
      {.id = "T23-rate",
       .measured = fmt::format("{:.1f} to {:.1f} us", rate.min(), rate.max()),
       .expected = "149.9 to 165 us",
       .holds = rate.min() > 149.9 && rate.max() <= 165},
      {.id = "H16-ports",
       .measured = ports.print(),
       .expected = "0.90 to 1.10 times the published share",
       .holds = ports.all.within(0.10)},
      {.id = "H16-dependencies",
       .measured = dependencies.print(),
       .expected = "0.90 to 1.10 times the published share",
       .holds = dependencies.all.within(0.10)},
      {.id = "H16-none",
       .measured = fmt::format("at most {:.3f} times as long", over_none),
       .expected = "at most 1.05 times",
       .holds = over_none <= 1.05},
  };
  return out;
}

}  // namespace

Experiment distribution() {
  return {.name = "003-distribution",
          .source = "thesis, Tables 23 and 24, Figure 94",
          .about = "SMPs and time of writing new tables, by how deadlocks are kept out meanwhile",
          .claims = kClaims,
          .run = run};
}

}  // namespace smd::sim
