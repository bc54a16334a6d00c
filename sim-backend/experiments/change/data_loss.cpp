// What a change throws away: data packets lost from the moment of the change until its routes are
// in, in the hands of the basic manager, the improved one, and ours. Traffic is among the hosts in
// service before the change: those behind a switch that comes have none, those behind one that goes
// are sent to as before, in vain.
#include "sim-backend/experiments/change/experiments.h"

#include <fmt/core.h>

#include "sim-backend/experiments/change/loss_runs.h"
#include "sim-backend/experiments/change/published.h"

namespace smd::sim {
namespace {

constexpr ClaimSpec kClaims[] = {
    {.id = "H27-activation",
     .text = "for a new switch the improved manager throws away a fraction of what the basic one "
             "does",
     .source = "thesis, Table 29"},
    {.id = "H27-deactivation",
     .text = "for a dead switch it throws away less than half",
     .source = "thesis, Table 29"},
    {.id = "T29-basic",
     .text = "the basic manager throws away as many packets as published for a new switch",
     .source = "thesis, Table 29"},
    {.id = "certified-activation",
     .text = "with certified transitions a new switch costs no packet",
     .source = "proved transitions"},
    {.id = "certified-deactivation",
     .text = "with certified transitions a dead switch costs fewer packets than with the improved "
             "manager",
     .source = "proved transitions"},
    kCertifiedLoss,
};

double share(const LossGroup& group, LossMode mode, LossMode base) {
  const double of = group[base].published.mean();
  return of == 0 ? 0 : group[mode].published.mean() / of;
}

Result<Findings> run(const ExperimentOptions& options) {
  const std::size_t sizes = options.quick ? 1 : 2;
  std::vector<LossCase> cases;
  for (std::size_t size = 0; size < sizes; ++size) {
    const PublishedDiscards& row = kTable29[size];
    ManagedChange change{
        .fabric = irregular4(row.size, 1), .preset = kPresets[0], .load = row.load()};
    const std::vector<std::uint32_t> switches = choose_switches(change.fabric, options.quick);
    for (const bool comes : {true, false}) {
      change.comes = comes;
      add_cases(cases, 2 * size + (comes ? 0 : 1), change, switches, kLossModes);
    }
  }
  const auto run = run_losses(options.jobs, cases, 2 * sizes);
  if (!run) return tl::unexpected<Error>(run.error());
  const std::vector<LossGroup>& groups = *run;

  Findings out =
      begin_losses({"switches", "nodes", "change", "published_basic", "published_improved"},
                   "Packets thrown away for one switch, 25 % load");
  out.plot.log_y = true;
  double most_activation = 0, most_deactivation = 0, certified_new = 0, most_certified = 0;
  Farthest basic;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const PublishedDiscards& row = kTable29[g / 2];
    const bool comes = g % 2 == 0;
    const LossGroup& group = groups[g];
    const auto pick = [&](const Published& p) { return comes ? p.activation : p.deactivation; };
    append_rows(out,
                {double(row.size.switches),
                 double(row.size.nodes),
                 print_direction(comes),
                 pick(row.basic),
                 pick(row.improved)},
                group);
    for (std::size_t mode = 0; mode < kLossModes; ++mode) {
      add_point(out.plot,
                fmt::format("{}, {}", print_loss_mode(mode), print_direction(comes)),
                row.size.switches,
                group[mode].published.mean());
    }
    if (comes) {
      most_activation = std::max(most_activation, share(group, kImproved, kBasic));
      certified_new = std::max(certified_new, group[kCertified].discarded.max());
      basic.add(group[kBasic].published.mean() / row.basic.activation);
    } else {
      most_deactivation = std::max(most_deactivation, share(group, kImproved, kBasic));
      most_certified = std::max(most_certified, share(group, kCertified, kImproved));
    }
  }
  out.judgements = {
      {.id = "H27-activation",
       .measured = fmt::format("at most {:.3f} of what the basic one throws away", most_activation),
       .expected = "at most 0.2",
       .holds = most_activation <= 0.2},
      {.id = "H27-deactivation",
       .measured =
           fmt::format("at most {:.3f} of what the basic one throws away", most_deactivation),
       .expected = "at most 0.5",
       .holds = most_deactivation <= 0.5},
      {.id = "T29-basic",
       .measured = basic.print(),
       .expected = "0.7 to 1.3 times",
       .holds = basic.within(0.3)},
      {.id = "certified-activation",
       .measured = fmt::format("at most {:.0f} packets", certified_new),
       .expected = "none",
       .holds = certified_new == 0},
      {.id = "certified-deactivation",
       .measured =
           fmt::format("at most {:.3f} of what the improved one throws away", most_certified),
       .expected = "less than 1",
       .holds = most_certified < 1},
      judge_certified_loss(groups),
  };
  return out;
}

}  // namespace

Experiment data_loss() {
  return {.name = "003-data-loss",
          .source = "thesis, Table 29",
          .about = "data packets thrown away for one switch that comes or goes",
          .claims = kClaims,
          .run = run};
}

}  // namespace smd::sim
