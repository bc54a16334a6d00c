// Sweeps beside data: header latencies with and without them, the share of the manager's links that
// they take, and how soon a dead switch is noticed on a loaded network.
#include "sim-backend/experiments/change/experiments.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <vector>

#include "sim-backend/experiments/change/change_traffic.h"
#include "sim-backend/experiments/change/published.h"
#include "sim-backend/experiments/change/sweeping.h"
#include "sim-backend/lab/parallel.h"
#include "sim-backend/lab/statistics.h"

namespace smd::sim {
namespace {

constexpr ClaimSpec kClaims[] = {
    {.id = "H1",
     .text = "sweeps, even one after the other, hardly raise header latency at any load",
     .source = "thesis, Figure 63"},
    {.id = "H2",
     .text = "the links of the manager's node are almost idle under sweeps one after the other",
     .source = "thesis, Figure 64",
     .must_hold = true},
    {.id = "H3-sweep",
     .text = "under load the detection time of sweeps grows with the sweep factor",
     .source = "thesis, Figure 65"},
    {.id = "H3-order",
     .text = "under load traps detect sooner than sweeps at every factor",
     .source = "thesis, Figure 65"},
    {.id = "H34",
     .text = "data does not delay the detection of a change: management goes before it",
     .source = "thesis, chapter 5"},
};

constexpr std::array<double, 3> kLoads{0.25, 0.50, 0.75};  // of saturation

struct Case {
  NetworkSize size;
  unsigned factor = 0;  // 0: no sweeps
  double load = 0;
};

struct Beside {
  double latency = 0;     // ns, from generation to the first byte
  double link_share = 0;  // of the busiest link of the manager's node, data included
};

Result<Beside> measure_beside(const Case& which, Duration time) {
  SubnetOptions options;
  options.agents.vl_cap = 2;  // two data VLs
  Subnet subnet(irregular4(which.size, 1), options);
  if (auto up = subnet.bring_up(); !up) return tl::unexpected<Error>(up.error());
  if (auto calm = subnet.calm_down(); !calm) return tl::unexpected<Error>(calm.error());
  Sweeping sweeping(subnet);
  const auto duration = sweeping.measure();
  if (!duration) return tl::unexpected<Error>(duration.error());
  ChangeTraffic data(subnet.runtime, subnet.fabric, which.load);
  if (which.factor > 0) sweeping.start(*duration * which.factor);
  subnet.runtime.run_until(subnet.runtime.now() + time / 4);
  data.restart();
  const std::uint32_t node = subnet.fabric.spec().sm_node;
  const unsigned ports = subnet.fabric.spec().nodes[node].num_ports();
  const auto sent = [&](unsigned port) {
    return double(data.net().sent_bytes(node, PortNum{static_cast<std::uint8_t>(port)}));
  };
  std::vector<double> before{0};
  for (unsigned p = 1; p <= ports; ++p) before.push_back(sent(p));
  subnet.runtime.run_until(subnet.runtime.now() + time);
  if (const auto books = data.finish(); !books) return tl::unexpected<Error>(books.error());
  Beside out{.latency = data.meter().head_latency().mean() / double(kNano)};
  const double whole = seconds(time) * 2.5e8;  // bytes of a 1x SDR link
  for (unsigned p = 1; p <= ports; ++p) {
    out.link_share = std::max(out.link_share, (sent(p) - before[p]) / whole);
  }
  return out;
}

struct Plan {
  std::vector<NetworkSize> sizes;
  std::vector<unsigned> factors;
  std::vector<unsigned> detection_factors;
  std::size_t repeats = 1;
  Duration time;

  explicit Plan(bool quick) {
    for (std::size_t s = 0; s < (quick ? 1u : 3u); ++s) sizes.push_back(kTable29[s].size);
    factors = quick ? std::vector<unsigned>{0, 1} : std::vector<unsigned>{0, 1, 4, 16, 64, 256};
    detection_factors = quick ? std::vector<unsigned>{1, 8} : std::vector<unsigned>{1, 4, 16, 64};
    repeats = quick ? 4 : 20;
    time = std::chrono::milliseconds(quick ? 20 : 100);
  }

  /// The published quarter of saturation, times four, is all of it.
  [[nodiscard]] double load(std::size_t size, double share) const {
    return share * 4 * kTable29[size].load();
  }
};

void judge_beside(const Plan& plan,
                  const std::vector<Case>& cases,
                  const std::vector<Beside>& all,
                  Findings& out) {
  double most = 0, busiest = 0;
  std::size_t at = 0;
  for (const NetworkSize& size : plan.sizes) {
    for (std::size_t l = 0; l <= kLoads.size(); ++l) {
      Series line{.name = fmt::format(
                      "{} switches, {:.0f} %", size.switches, l == 0 ? 0 : 100 * kLoads[l - 1])};
      const double alone = all[at].latency;
      for (const unsigned factor : plan.factors) {
        const Beside& one = all[at];
        out.rows.push_back({std::string(l == 0 ? "links" : "latency"),
                            double(size.switches),
                            double(factor),
                            cases[at].load,
                            one.latency,
                            one.link_share,
                            0.0,
                            0.0});
        if (l > 0 && factor > 0) most = std::max(most, one.latency / alone);
        if (l > 0 && factor > 0) line.points.emplace_back(factor, one.latency);
        if (l == 0) busiest = std::max(busiest, one.link_share);
        ++at;
      }
      if (l > 0) out.plot.series.push_back(std::move(line));
    }
  }
  out.judgements = {{.id = "H1",
                     .measured = fmt::format("at most {:.4f} times that without sweeps", most),
                     .expected = "at most 1.02 times",
                     .holds = most <= 1.02},
                    {.id = "H2",
                     .measured = fmt::format("the busiest is in use for {:.2f} %", 100 * busiest),
                     .expected = "at most 2 %",
                     .holds = busiest <= 0.02}};
}

/// The smallest network, without data and at half of saturation.
Result<void> judge_detection(const Plan& plan, unsigned jobs, Findings& out) {
  const std::size_t factors = plan.detection_factors.size();
  std::vector<DetectionCase> cases;
  for (std::size_t f = 0; f < factors; ++f) {
    for (const double load : {0.0, plan.load(0, 0.5)}) {
      for (std::size_t k = 1; k <= plan.repeats; ++k) {
        cases.push_back({kPresets[0], plan.sizes[0], plan.detection_factors[f], k, load});
      }
    }
  }
  const auto all = collect<Detection>(
      jobs, cases.size(), [&](std::size_t i) { return measure_detection(cases[i]); });
  if (!all) return tl::unexpected<Error>(all.error());
  double before = 0, most_delay = 0, closest = 0, least_growth = 1e9;
  for (std::size_t f = 0; f < factors; ++f) {
    std::array<Sample, 2> sweep, trap;
    for (std::size_t i = 0; i < 2 * plan.repeats; ++i) {
      const Detection& one = (*all)[2 * f * plan.repeats + i];
      sweep[i / plan.repeats].add(one.by_sweep);
      trap[i / plan.repeats].add(one.by_trap);
    }
    for (std::size_t loaded = 0; loaded < 2; ++loaded) {
      out.rows.push_back({std::string("detection"),
                          double(plan.sizes[0].switches),
                          double(plan.detection_factors[f]),
                          loaded == 0 ? 0 : plan.load(0, 0.5),
                          0.0,
                          0.0,
                          sweep[loaded].mean(),
                          trap[loaded].mean()});
    }
    if (before > 0) least_growth = std::min(least_growth, sweep[1].mean() / before);
    before = sweep[1].mean();
    closest = std::max(closest, trap[1].mean() / sweep[1].mean());
    most_delay = std::max(
        {most_delay, sweep[1].mean() / sweep[0].mean() - 1, trap[1].mean() / trap[0].mean() - 1});
  }
  out.judgements.push_back(
      {.id = "H3-sweep",
       .measured = fmt::format("at least {:.2f} times as long at the next factor", least_growth),
       .expected = "longer at every next factor",
       .holds = least_growth > 1});
  out.judgements.push_back(
      {.id = "H3-order",
       .measured = fmt::format("at most {:.3f} of the time of sweeps", closest),
       .expected = "less than 1",
       .holds = closest < 1});
  out.judgements.push_back(
      {.id = "H34",
       .measured = fmt::format("at most {:.2f} % later on average", 100 * most_delay),
       .expected = "at most 5 %",
       .holds = most_delay <= 0.05});
  return {};
}

Result<Findings> run(const ExperimentOptions& options) {
  const Plan plan(options.quick);
  std::vector<Case> cases;
  for (std::size_t s = 0; s < plan.sizes.size(); ++s) {
    for (std::size_t l = 0; l <= kLoads.size(); ++l) {
      const double load = l == 0 ? 0 : plan.load(s, kLoads[l - 1]);
      for (const unsigned factor : plan.factors) cases.push_back({plan.sizes[s], factor, load});
    }
  }
  const auto all = collect<Beside>(options.jobs, cases.size(), [&](std::size_t i) {
    return measure_beside(cases[i], plan.time);
  });
  if (!all) return tl::unexpected<Error>(all.error());
  Findings out{.columns = {"what",
                           "switches",
                           "factor",
                           "load",
                           "head_latency_ns",
                           "busiest_link_share",
                           "by_sweep_s",
                           "by_trap_s"},
               .plot = {.title = "Header latency beside sweeps",
                        .x_label = "sweep factor",
                        .y_label = "nanoseconds",
                        .log_x = true}};
  judge_beside(plan, cases, *all, out);
  if (auto judged = judge_detection(plan, options.jobs, out); !judged) {
    return tl::unexpected<Error>(judged.error());
  }
  return out;
}

}  // namespace

Experiment sweeping_load() {
  return {.name = "003-sweeping-load",
          .source = "thesis, Figures 63 to 65",
          .about = "sweeps beside data: latencies, the manager's links, detection under load",
          .claims = kClaims,
          .run = run};
}

}  // namespace smd::sim
