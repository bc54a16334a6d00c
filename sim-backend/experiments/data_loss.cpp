// What a change throws away: data packets lost from the moment of the change until its routes are
// in, in the hands of the basic manager, the improved one, and ours. Traffic is among the hosts in
// service before the change: those behind a switch that comes have none, those behind one that goes
// are sent to as before, in vain.
#include "sim-backend/experiments/data_loss.h"

#include <fmt/core.h>

#include "sim-backend/experiments/managed_change.h"
#include "sim-backend/experiments/parallel.h"
#include "sim-backend/experiments/published.h"
#include "sim-backend/experiments/statistics.h"
#include "sim-backend/packet/wiring.h"
#include "smd/base/check.h"

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
};

constexpr std::array<const char*, 3> kModes{"basic", "improved", "certified"};

struct Case {
  std::size_t group = 0;  // size and kind of change
  std::size_t mode = 0;
  ManagedChange change;
};

struct Sums {
  Sample discarded, packets, time, discovery, computing, distribution;
  std::array<double, kDiscards> causes{};
};

using Group = std::array<Sums, kModes.size()>;

/// The load at which all hosts together inject what the published ones did.
double load_of(const PublishedDiscards& row) {
  const double hosts = row.size.nodes - row.size.switches;
  const Picos packet = transfer_time(byte_time_of(LinkWidth::X1, LinkSpeed::Sdr), 256 + 26);
  return row.injected / hosts * static_cast<double>(packet) / double(kSecond);
}

std::vector<Case> cases_of(const ExperimentOptions& options, std::size_t sizes) {
  std::vector<Case> out;
  for (std::size_t size = 0; size < sizes; ++size) {
    const std::string fabric = irregular4(kTable29[size].size, 1);
    const std::vector<std::uint32_t> switches = Subnet(fabric, {}).other_switches();
    const std::size_t step = options.quick ? switches.size() / 2 : 1;
    for (const bool comes : {true, false}) {
      for (std::size_t i = 0; i < switches.size(); i += step) {
        for (std::size_t mode = 0; mode < kModes.size(); ++mode) {
          const auto how = parse_assimilation(kModes[mode]);
          SMD_CHECK(how.has_value(), "a mode that is no mode");
          out.push_back({2 * size + (comes ? 0 : 1),
                         mode,
                         {.fabric = fabric,
                          .preset = kPresets[0],
                          .how = *how,
                          .node = switches[i],
                          .comes = comes,
                          .load = load_of(kTable29[size])}});
        }
      }
    }
  }
  return out;
}

double share(const Group& group, std::size_t mode, std::size_t base) {
  const double of = group[base].discarded.mean();
  return of == 0 ? 0 : group[mode].discarded.mean() / of;
}

Result<Findings> run(const ExperimentOptions& options) {
  const std::size_t sizes = options.quick ? 1 : 2;
  const std::vector<Case> cases = cases_of(options, sizes);
  const auto costs = collect<AssimilationCost>(
      options.jobs, cases.size(), [&](std::size_t i) { return measure_change(cases[i].change); });
  if (!costs) return tl::unexpected<Error>(costs.error());
  std::vector<Group> groups(2 * sizes);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    Sums& sums = groups[cases[i].group][cases[i].mode];
    const AssimilationCost& cost = (*costs)[i];
    sums.discarded.add(cost.discarded);
    sums.packets.add(cost.packets);
    sums.time.add(cost.time());
    sums.discovery.add(cost.discovery);
    sums.computing.add(cost.computing);
    sums.distribution.add(cost.distribution);
    for (std::size_t c = 0; c < kDiscards; ++c) {
      sums.causes[c] += static_cast<double>(cost.causes[c]);
    }
  }

  Findings out{.columns = {"switches",
                           "nodes",
                           "change",
                           "mode",
                           "runs",
                           "packets_mean",
                           "discarded_mean",
                           "discarded_stddev",
                           "published_discarded",
                           "time_mean_s",
                           "discovery_s",
                           "computing_s",
                           "distribution_s"},
               .plot = {.title = "Packets thrown away for one switch, 25 % load",
                        .x_label = "switches",
                        .y_label = "packets",
                        .log_y = true}};
  for (std::size_t c = 0; c < kDiscards; ++c) {
    out.columns.emplace_back(print_discard(static_cast<Discard>(c)));
  }
  std::vector<Series> lines(2 * kModes.size());
  double most_activation = 0, most_deactivation = 0, certified_new = 0, most_certified = 0;
  Farthest basic;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const PublishedDiscards& row = kTable29[g / 2];
    const bool comes = g % 2 == 0;
    const Group& group = groups[g];
    for (std::size_t mode = 0; mode < kModes.size(); ++mode) {
      const Sums& sums = group[mode];
      const Published& published = mode == 0 ? row.basic : row.improved;
      std::vector<Cell> cells{double(row.size.switches),
                              double(row.size.nodes),
                              std::string(comes ? "activation" : "deactivation"),
                              std::string(kModes[mode]),
                              double(sums.discarded.size()),
                              sums.packets.mean(),
                              sums.discarded.mean(),
                              sums.discarded.deviation(),
                              mode == 2
                                  ? Cell(std::string())
                                  : Cell(comes ? published.activation : published.deactivation),
                              sums.time.mean(),
                              sums.discovery.mean(),
                              sums.computing.mean(),
                              sums.distribution.mean()};
      for (const double count : sums.causes) {
        cells.emplace_back(count / static_cast<double>(sums.discarded.size()));
      }
      out.rows.push_back(std::move(cells));
      Series& line = lines[2 * mode + g % 2];
      line.name = fmt::format("{}, {}", kModes[mode], comes ? "activation" : "deactivation");
      line.points.emplace_back(row.size.switches, sums.discarded.mean());
    }
    if (comes) {
      most_activation = std::max(most_activation, share(group, 1, 0));
      certified_new = std::max(certified_new, group[2].discarded.max());
      basic.add(group[0].discarded.mean() / row.basic.activation);
    } else {
      most_deactivation = std::max(most_deactivation, share(group, 1, 0));
      most_certified = std::max(most_certified, share(group, 2, 1));
    }
  }
  out.plot.series = std::move(lines);
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
