// A change from its detection until routes are in: the basic manager against the improved one, and
// what provisional routes are worth by themselves.
#include <fmt/format.h>

#include <algorithm>

#include "sim-backend/experiments/change/loss_runs.h"
#include "sim-backend/experiments/change/published.h"
#include "sim-backend/experiments/change/subnet.h"
#include "sim-backend/experiments/tables.h"

namespace smd::sim::assimilation {
namespace {

constexpr ClaimSpec kClaims[] = {
    {.id = "H13-provisional",
     .text = "provisional routes are in after the published share of the time without them",
     .source = "thesis, Table 21",
     .measured = "a share that is {farthest:.3f} times the published where it fits worst",
     .expected = "within 15 % of the published"},
    {.id = "H13-final",
     .text = "final routes after provisional ones take little longer than final ones alone",
     .source = "thesis, Table 21",
     .measured = "{least:.3f} to {most:.3f} times the time",
     .expected = "1.0 to 1.25 times"},
    {.id = "H24-activation",
     .text = "the improved manager takes in a new switch faster by the published factors",
     .source = "thesis, Table 28",
     .expected = "within 20 % of the published"},
    {.id = "H24-deactivation",
     .text = "the improved manager takes in a dead switch faster by the published factors",
     .source = "thesis, Table 28",
     .expected = "within 20 % of the published"},
    {.id = "H24-grows",
     .text = "the gain of the improved manager grows with the network",
     .source = "thesis, Table 28",
     .must_hold = true,
     .expected = "rising with the size"},
    {.id = "H25-gain",
     .text = "the largest share of the gain is computing routes",
     .source = "thesis, Figure 115",
     .measured = "{least:.3f} of the gain where it is least",
     .expected = "more than 0.5"},
    {.id = "H25-phase",
     .text = "computing routes is the longest phase of both managers",
     .source = "thesis, Figure 115",
     .measured = "{least:.2f} times the next phase where it is least",
     .expected = "more than 1 at every size"},
    {.id = "H26",
     .text = "the improved manager sends fewer SMPs",
     .source = "thesis, Figure 116",
     .expected = "fewer until routes are in"},
    {.id = "H26-discovery",
     .text = "it saves them mostly in discovery",
     .source = "thesis, Figure 116",
     .measured = "{least:.3f} of what is saved where it is least",
     .expected = "more than 0.5"},
};

/// Beside the two managers.
constexpr std::size_t kFeraAlone = 2, kProvisional = 3;

constexpr std::array<ChangeMode, 4> kManagers{{
    kLossModes[kBasic],
    kLossModes[kImproved],
    {"final-only", "partial+fera+deactivate-all+whole+literal"},
    {"provisional", "partial+pira-fera+deactivate-all+whole+literal"},
}};

Published published_time(std::size_t size, std::size_t mode) {
  const PublishedAssimilation& table28 = kTable28[size];
  const PublishedProvisional& table21 = kTable21[size];
  return std::array{table28.basic, table28.improved, table21.basic, table21.provisional}[mode];
}

Result<Findings> run(const ExperimentOptions& options) {
  const std::size_t sizes = options.quick ? 2 : kTable28.size();
  LossGrid grid{.modes = kManagers, .at_phases = false, .seeds = options.quick ? 1u : 3u};
  for (const Preset& preset : kPresets) {
    for (std::size_t size = 0; size < sizes; ++size) {
      for (std::size_t seed = 1; seed <= grid.seeds; ++seed) {
        const std::string fabric = irregular4(kTable28[size].size, seed);
        const std::vector<std::uint32_t> switches =
            Subnet(fabric, {.preset = preset}).other_switches();
        const std::size_t step = options.quick ? switches.size() / 3 : 1;
        std::vector<std::uint32_t> chosen;
        for (std::size_t i = 0; i < switches.size(); i += step) chosen.push_back(switches[i]);
        grid.places.push_back(
            {.change = {.fabric = fabric, .preset = preset}, .switches = std::move(chosen)});
      }
    }
  }
  const auto result = run_losses(options.jobs, std::move(grid));
  if (!result) return tl::unexpected<Error>(result.error());

  Findings out{.plot = {.title = "From detection until routes are in, thesis preset",
                        .x_label = "switches",
                        .y_label = "seconds",
                        .log_y = true}};
  Range provisional, final_routes, gain_share, dominance, smps, all_smps, discovery_share;
  std::array<Range, 2> fits;  // by direction: of a new switch, of a dead one
  std::array<std::vector<double>, 2> gains;
  result->each([&](std::size_t place, bool comes) {
    const std::size_t size = place % sizes;
    const Preset& preset = kPresets[place / sizes];
    const bool is_claimed = place < sizes;
    const LossGroup group = result->at(place, comes);
    const NetworkSize network = kTable28[size].size;
    const auto published = [&](std::size_t mode) { return published_time(size, mode).of(comes); };
    for (std::size_t mode = 0; mode < kManagers.size(); ++mode) {
      const LossSums& s = group[mode];
      out.add_row({{"preset", preset.name},
                   {"switches", network.switches},
                   {"nodes", network.nodes},
                   {"change", print_direction(comes)},
                   {"mode", kManagers[mode].name},
                   {"runs", s.time.size()},
                   {"time_mean_s", s.time.mean()},
                   {"time_stddev_s", s.time.deviation()},
                   {"until_final_mean_s", s.until_final.mean()},
                   {"discovery_s", s.discovery.mean()},
                   {"computing_s", s.computing.mean()},
                   {"distribution_s", s.distribution.mean()},
                   {"smps_mean", s.smps.mean()},
                   {"discovery_smps", s.discovery_smps.mean()},
                   {"distribution_smps", s.distribution_smps.mean()},
                   {"all_smps_mean", s.all_smps.mean()},
                   {"published_time_s", published(mode)}});
      if (!is_claimed || mode > kImproved) continue;
      out.plot.add_point(fmt::format("{}, {}", kManagers[mode].name, print_direction(comes)),
                         network.switches,
                         s.time.mean());
    }
    if (!is_claimed) return;
    const double alone = group[kFeraAlone].time.mean();
    const LossSums& first = group[kProvisional];
    provisional.add((first.time.mean() / alone) /
                    (published(kProvisional) / published(kFeraAlone)));
    final_routes.add(first.until_final.mean() / alone);

    const LossSums& basic = group[kBasic];
    const LossSums& improved = group[kImproved];
    const double gain = basic.time.mean() / improved.time.mean();
    gains[comes ? 0 : 1].push_back(gain);
    fits[comes ? 0 : 1].add(gain / (published(kBasic) / published(kImproved)));
    gain_share.add((basic.computing.mean() - improved.computing.mean()) /
                   (basic.time.mean() - improved.time.mean()));
    for (const LossSums* each : {&basic, &improved}) {
      dominance.add(each->computing.mean() /
                    std::max(each->discovery.mean(), each->distribution.mean()));
    }
    smps.add(improved.smps.mean() / basic.smps.mean());
    all_smps.add(improved.all_smps.mean() / basic.smps.mean());
    discovery_share.add((basic.discovery_smps.mean() - improved.discovery_smps.mean()) /
                        (basic.smps.mean() - improved.smps.mean()));
  });
  std::ranges::sort(out.plot.series, {}, &Series::name);
  const auto factors = [&](std::size_t k) {
    return fmt::format("factors {:.2f}; {:.3f} times the published where it fits worst",
                       fmt::join(gains[k], ", "),
                       fits[k].farthest());
  };
  const bool grows = std::ranges::is_sorted(gains[0]) && std::ranges::is_sorted(gains[1]);
  out.verdicts = decide(
      kClaims,
      {{"H13-provisional", provisional},
       {"H13-final", final_routes},
       {"H24-activation", factors(0), fits[0]},
       {"H24-deactivation", factors(1), fits[1]},
       {"H24-grows",
        fmt::format(
            "factors {:.2f} and {:.2f}", fmt::join(gains[0], ", "), fmt::join(gains[1], ", ")),
        grows},
       {"H25-gain", gain_share},
       {"H25-phase", dominance},
       {"H26",
        fmt::format("at most {:.3f} times the SMPs until routes are in; {:.3f} times until "
                    "they are final",
                    smps.most(),
                    all_smps.most()),
        smps.most() < 1},
       {"H26-discovery", discovery_share}});
  return out;
}

}  // namespace
}  // namespace smd::sim::assimilation

namespace smd::sim {

std::vector<Experiment> assimilation_tables() {
  return {{.name = "003-assimilation",
           .source = "thesis, Tables 21 and 28, Figures 115 and 116",
           .about = "from the detection of a change until routes are in, basic against improved",
           .claims = assimilation::kClaims,
           .run = assimilation::run}};
}

}  // namespace smd::sim
