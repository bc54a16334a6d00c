// A middle switch of the folded Clos network of three middle and four edge switches comes or goes.
// FERa and PIRa send everything over one of them.
#include "sim-backend/experiments/change/experiments.h"

#include <fmt/core.h>

#include <algorithm>

#include "sim-backend/experiments/change/loss_runs.h"
#include "sim-backend/experiments/change/subnet.h"

namespace smd::sim {
namespace {

constexpr ClaimSpec kClaims[] = {
    {.id = "H29-activation",
     .text = "for a new middle switch the improved manager throws nothing away",
     .source = "thesis, Figure 118"},
    {.id = "H29-free",
     .text = "with the improved manager it costs nearly nothing when any middle switch but the one "
             "that all routes use dies",
     .source = "thesis, Figure 118"},
    kCertifiedLoss,
};

constexpr const char* kFabric = "clos:m=3,n=1,r=4,width=1x,speed=SDR";
constexpr std::size_t kMiddle = 3;

/// A quarter of what the links carry.
constexpr double kLoad = 0.25;

Result<Findings> run(const ExperimentOptions& options) {
  const std::vector<std::uint32_t> switches = Subnet(kFabric, {}).other_switches();
  ManagedChange change{.fabric = kFabric, .preset = kPresets[0], .load = kLoad};
  std::vector<LossCase> cases;
  for (std::size_t i = 0; i < kMiddle; ++i) {
    const std::uint32_t middle[] = {switches[switches.size() - kMiddle + i]};
    for (const bool comes : {true, false}) {
      change.comes = comes;
      add_cases(cases, 2 * i + (comes ? 0 : 1), change, middle);
    }
  }
  const auto groups = run_losses(options.jobs, cases, 2 * kMiddle);
  if (!groups) return tl::unexpected<Error>(groups.error());

  Findings out =
      begin_losses({"middle_switch", "change"}, "Packets thrown away for one middle switch");
  out.plot.x_label = "middle switch";
  double new_one = 0;
  std::vector<double> dead;
  for (std::size_t g = 0; g < groups->size(); ++g) {
    const LossGroup& group = (*groups)[g];
    const bool comes = g % 2 == 0;
    append_rows(out, {double(g / 2), print_direction(comes)}, group);
    for (std::size_t mode = 0; mode < kAllCharged; ++mode)
      add_point(out.plot,
                fmt::format("{}, {}", print_loss_mode(mode), print_direction(comes)),
                double(g / 2),
                group[mode].published.mean());
    if (comes) {
      new_one = std::max(new_one, group[kImproved].discarded.max());
    } else {
      dead.push_back(group[kImproved].discarded.mean());
    }
  }
  std::ranges::sort(dead);
  const double others = dead[kMiddle - 2] / dead.back();
  out.judgements = {
      {.id = "H29-activation",
       .measured = fmt::format("at most {:.0f} packets", new_one),
       .expected = "none",
       .holds = new_one == 0},
      {.id = "H29-free",
       .measured = fmt::format("{:.0f}, {:.0f} and {:.0f} packets", dead[0], dead[1], dead[2]),
       .expected = "at most 0.05 of what the one that all use costs",
       .holds = others <= 0.05},
      judge_certified_loss(*groups),
  };
  return out;
}

}  // namespace

Experiment clos_change() {
  return {.name = "003-clos-change",
          .source = "thesis, Figures 117 and 118",
          .about = "what a middle switch of a Clos network costs that comes or goes",
          .claims = kClaims,
          .run = run};
}

}  // namespace smd::sim
