// Several switches at once: what partial discovery saves shrinks with what is left unchanged.
#include "sim-backend/experiments/change/experiments.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "sim-backend/experiments/change/discovery_cost.h"
#include "sim-backend/lab/parallel.h"
#include "smd/base/rng.h"

namespace smd::sim {
namespace {

constexpr ClaimSpec kClaims[] = {
    {.id = "H8",
     .text = "when everything but the manager's node is new, partial discovery costs what full "
             "discovery costs",
     .source = "thesis, Figure 74"},
    {.id = "H8-gain",
     .text = "the gain after activations grows with the share of switches that are unchanged",
     .source = "thesis, Figure 74",
     .must_hold = true},
    {.id = "H9-full",
     .text = "full discovery gets cheaper the more switches vanish",
     .source = "thesis, Figure 75",
     .must_hold = true},
    {.id = "H9-gain",
     .text = "the gain after deactivations shrinks with the share of switches that vanish",
     .source = "thesis, Figure 75",
     .must_hold = true},
};

constexpr NetworkSize kSize{32, 53};

struct Case {
  Preset preset;
  bool comes = false;
  unsigned switches = 1;
  std::uint64_t seed = 1;
};

struct Cost {
  DiscoveryCost full, partial;
};

Result<Cost> measure(const Case& which) {
  Subnet subnet(irregular4(kSize, which.seed), {.preset = which.preset});
  std::vector<std::uint32_t> chosen = subnet.other_switches();
  Rng rng(which.seed);
  for (std::size_t i = chosen.size(); i > 1; --i) std::swap(chosen[i - 1], chosen[rng.below(i)]);
  chosen.resize(std::min<std::size_t>(which.switches, chosen.size()));
  const auto turn = [&](bool on) {
    for (const std::uint32_t node : chosen) subnet.fabric.set_node(node, on);
  };
  if (which.comes) turn(false);
  if (auto up = subnet.bring_up(); !up) return tl::unexpected<Error>(up.error());
  if (auto calm = subnet.calm_down(); !calm) return tl::unexpected<Error>(calm.error());
  const std::uint64_t known = subnet.snapshot().switch_count();
  turn(which.comes);
  const auto partial = subnet.discover_partially();
  if (!partial) return tl::unexpected<Error>(partial.error());
  const auto full = subnet.discover_fully();
  if (!full) return tl::unexpected<Error>(full.error());
  return Cost{{full->smps + known, full->time}, *partial};
}

Result<Findings> run(const ExperimentOptions& options) {
  const std::vector<unsigned> counts =
      options.quick ? std::vector<unsigned>{1, 16, 31} : std::vector<unsigned>{1, 4, 8, 16, 24, 31};
  const std::size_t seeds = options.quick ? 3 : 10;
  std::vector<Case> cases;
  for (const Preset& preset : kPresets) {
    for (const bool comes : {true, false}) {
      for (const unsigned count : counts) {
        for (std::size_t k = 1; k <= seeds; ++k) cases.push_back({preset, comes, count, k});
      }
    }
  }
  const auto costs =
      collect<Cost>(options.jobs, cases.size(), [&](std::size_t i) { return measure(cases[i]); });
  if (!costs) return tl::unexpected<Error>(costs.error());

  Findings out{.columns = {"preset",
                           "change",
                           "switches",
                           "changed",
                           "runs",
                           "full_smps",
                           "partial_smps",
                           "full_s",
                           "partial_s"},
               .plot = {.title = "SMPs after several changes at once, 32 switches, thesis preset",
                        .x_label = "switches that changed",
                        .y_label = "SMPs"}};
  std::vector<double> gain_up, gain_down, full_down;
  double extreme = 0;
  std::size_t at = 0;
  for (std::size_t p = 0; p < kPresets.size(); ++p) {
    for (const bool comes : {true, false}) {
      const std::string change = comes ? "activation" : "deactivation";
      Series full_line{.name = "full, " + change};
      Series partial_line{.name = "partial, " + change};
      for (const unsigned count : counts) {
        ChangeCosts full, partial;
        for (std::size_t k = 0; k < seeds; ++k, ++at) {
          full.add((*costs)[at].full);
          partial.add((*costs)[at].partial);
        }
        out.rows.push_back({std::string(kPresets[p].name),
                            change,
                            double(kSize.switches),
                            double(count),
                            double(seeds),
                            full.smps.mean(),
                            partial.smps.mean(),
                            full.time.mean(),
                            partial.time.mean()});
        full_line.points.emplace_back(count, full.smps.mean());
        partial_line.points.emplace_back(count, partial.smps.mean());
        if (p > 0) continue;
        const double gain = full.smps.mean() / partial.smps.mean();
        (comes ? gain_up : gain_down).push_back(gain);
        if (!comes) full_down.push_back(full.smps.mean());
        if (comes) extreme = 1 / gain;
      }
      if (p > 0) continue;
      out.plot.series.push_back(std::move(full_line));
      out.plot.series.push_back(std::move(partial_line));
    }
  }
  const auto falls = [](const std::vector<double>& values) {
    return std::ranges::is_sorted(values, std::greater{});
  };
  const auto print = [](const std::vector<double>& values) {
    std::string text;
    for (const double value : values)
      text += fmt::format("{}{:.2f}", text.empty() ? "" : ", ", value);
    return text;
  };
  out.judgements = {
      {.id = "H8",
       .measured = fmt::format("{:.3f} times the SMPs", extreme),
       .expected = "0.9 to 1.1 times",
       .holds = std::abs(extreme - 1) <= 0.1},
      {.id = "H8-gain",
       .measured = "full over partial " + print(gain_up) + " as more switches are new",
       .expected = "falling",
       .holds = falls(gain_up)},
      {.id = "H9-full",
       .measured = print(full_down) + " SMPs as more switches vanish",
       .expected = "falling",
       .holds = falls(full_down)},
      {.id = "H9-gain",
       .measured = "full over partial " + print(gain_down) + " as more switches vanish",
       .expected = "falling",
       .holds = falls(gain_down)},
  };
  return out;
}

}  // namespace

Experiment multiple_changes() {
  return {.name = "003-multiple-changes",
          .source = "thesis, Figures 74 and 75",
          .about = "partial against full discovery when several switches come or go at once",
          .claims = kClaims,
          .run = run};
}

}  // namespace smd::sim
