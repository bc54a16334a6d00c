// Only what changed is asked, against everything asked again.
#include "sim-backend/experiments/change/experiments.h"

#include <fmt/core.h>

#include <cmath>

#include "sim-backend/experiments/change/discovery_cost.h"
#include "sim-backend/experiments/change/published.h"
#include "sim-backend/lab/parallel.h"

namespace smd::sim {
namespace {

constexpr ClaimSpec kClaims[] = {
    {.id = "T17-fig76",
     .text = "partial discovery after the death of each switch of the example takes the published "
             "number of SMPs to the digit",
     .source = "thesis, Table 17, 8 switches",
     .must_hold = true},
    {.id = "H4",
     .text = "partial discovery saves the published factor of SMPs",
     .source = "thesis, Table 17"},
    {.id = "H4-grows",
     .text = "the factor of SMPs grows with the network, for both kinds of change",
     .source = "thesis, Table 17",
     .must_hold = true},
    {.id = "H5",
     .text = "partial discovery saves the published factor of time",
     .source = "thesis, Table 16"},
    {.id = "H5-grows",
     .text = "the factor of time grows with the network, for both kinds of change",
     .source = "thesis, Figure 73",
     .must_hold = true},
    {.id = "H6-partial",
     .text = "the SMPs of partial discovery grow more slowly than the network",
     .source = "thesis, Table 17",
     .must_hold = true},
};

struct Costs {
  ChangeCosts full_up, full_down, partial_up, partial_down;

  void add(const Costs& other) {
    full_up.add(other.full_up);
    full_down.add(other.full_down);
    partial_up.add(other.partial_up);
    partial_down.add(other.partial_down);
  }
};

Result<DiscoveryCost> partial_cost(const std::string& fabric,
                                   const Preset& preset,
                                   std::uint32_t node,
                                   bool comes) {
  Subnet subnet(fabric, {.preset = preset});
  if (comes) subnet.fabric.set_node(node, false);
  if (auto up = subnet.bring_up(); !up) return tl::unexpected<Error>(up.error());
  if (auto calm = subnet.calm_down(); !calm) return tl::unexpected<Error>(calm.error());
  subnet.fabric.set_node(node, comes);
  return subnet.discover_partially();
}

Result<Costs> measure(const std::string& fabric, const Preset& preset) {
  Costs costs;
  Subnet whole(fabric, {.preset = preset});
  const auto all = whole.discover_fully();
  if (!all) return tl::unexpected<Error>(all.error());
  const std::uint64_t switches = whole.snapshot().switch_count();
  for (const std::uint32_t node : whole.other_switches()) {
    Subnet without(fabric, {.preset = preset});
    without.fabric.set_node(node, false);
    const auto rest = without.discover_fully();
    if (!rest) return tl::unexpected<Error>(rest.error());
    // The sweep that notices asks every switch known before.
    const std::uint64_t known = without.snapshot().switch_count();
    costs.full_up.add({all->smps + known, all->time});
    costs.full_down.add({rest->smps + switches, rest->time});
    const auto up = partial_cost(fabric, preset, node, true);
    if (!up) return tl::unexpected<Error>(up.error());
    costs.partial_up.add(*up);
    const auto down = partial_cost(fabric, preset, node, false);
    if (!down) return tl::unexpected<Error>(down.error());
    costs.partial_down.add(*down);
  }
  return costs;
}

using Curve = std::vector<std::pair<double, double>>;

Result<Findings> run(const ExperimentOptions& options) {
  const unsigned seeds = options.quick ? 1 : 3;
  const std::size_t sizes = options.quick ? 3 : kTables16And17.size();
  const auto example = measure("example:name=fig76", kPresets[0]);
  if (!example) return tl::unexpected<Error>(example.error());
  const auto costs =
      collect<Costs>(options.jobs, kPresets.size() * sizes * seeds, [&](std::size_t i) {
        return measure(irregular4(kTables16And17[i / seeds % sizes].size, 1 + i % seeds),
                       kPresets[i / (sizes * seeds)]);
      });
  if (!costs) return tl::unexpected<Error>(costs.error());

  Findings out{.columns = kDiscoveryColumns,
               .plot = {.title = "SMPs of discovery after one change, thesis preset",
                        .x_label = "switches",
                        .y_label = "SMPs",
                        .log_x = true,
                        .log_y = true,
                        .series = {{.name = "full, activation"},
                                   {.name = "full, deactivation"},
                                   {.name = "partial, activation"},
                                   {.name = "partial, deactivation"}}}};
  Farthest smps, time;
  Curve smps_up, smps_down, time_up, time_down, partial_up, partial_down;
  for (std::size_t p = 0; p < kPresets.size(); ++p) {
    for (std::size_t s = 0; s < sizes; ++s) {
      Costs sum;
      for (std::size_t k = 0; k < seeds; ++k) sum.add((*costs)[(p * sizes + s) * seeds + k]);
      const PublishedDiscovery& published = kTables16And17[s];
      const auto row = [&](const char* mechanism,
                           const char* change,
                           const ChangeCosts& mine,
                           double published_smps,
                           double published_time) {
        out.rows.push_back(discovery_row(
            kPresets[p], published.size, mechanism, change, mine, published_smps, published_time));
      };
      row("full",
          "activation",
          sum.full_up,
          published.full_smps.activation,
          published.full_time.activation);
      row("full",
          "deactivation",
          sum.full_down,
          published.full_smps.deactivation,
          published.full_time.deactivation);
      row("partial",
          "activation",
          sum.partial_up,
          published.partial_smps.activation,
          published.partial_time.activation);
      row("partial",
          "deactivation",
          sum.partial_down,
          published.partial_smps.deactivation,
          published.partial_time.deactivation);
      if (p > 0) continue;
      const double x = published.size.switches;
      out.plot.series[0].points.emplace_back(x, sum.full_up.smps.mean());
      out.plot.series[1].points.emplace_back(x, sum.full_down.smps.mean());
      out.plot.series[2].points.emplace_back(x, sum.partial_up.smps.mean());
      out.plot.series[3].points.emplace_back(x, sum.partial_down.smps.mean());
      const double nodes = published.size.nodes;
      partial_up.emplace_back(nodes, sum.partial_up.smps.mean());
      partial_down.emplace_back(nodes, sum.partial_down.smps.mean());
      smps_up.emplace_back(nodes, sum.full_up.smps.mean() / sum.partial_up.smps.mean());
      smps_down.emplace_back(nodes, sum.full_down.smps.mean() / sum.partial_down.smps.mean());
      time_up.emplace_back(nodes, sum.full_up.time.mean() / sum.partial_up.time.mean());
      time_down.emplace_back(nodes, sum.full_down.time.mean() / sum.partial_down.time.mean());
      const auto factor = [](const Published& full, const Published& partial, bool up) {
        return up ? full.activation / partial.activation : full.deactivation / partial.deactivation;
      };
      smps.add(smps_up.back().second / factor(published.full_smps, published.partial_smps, true));
      smps.add(smps_down.back().second /
               factor(published.full_smps, published.partial_smps, false));
      time.add(time_up.back().second / factor(published.full_time, published.partial_time, true));
      time.add(time_down.back().second /
               factor(published.full_time, published.partial_time, false));
    }
  }
  const auto range = [](const Curve& up, const Curve& down) {
    return fmt::format("{:.2f} to {:.2f} times fewer (activation), {:.2f} to {:.2f} (deactivation)",
                       up.front().second,
                       up.back().second,
                       down.front().second,
                       down.back().second);
  };
  const auto grows = [](const Curve& up, const Curve& down) {
    return up.back().second > up.front().second && down.back().second > down.front().second;
  };
  const double slow_up = growth_exponent(partial_up);
  const double slow_down = growth_exponent(partial_down);
  const Sample& exact = example->partial_down.smps;
  out.judgements = {
      {.id = "T17-fig76",
       .measured = fmt::format("{:.3f} SMPs, deviation {:.3f}", exact.mean(), exact.deviation()),
       .expected = "18.571 SMPs, deviation 4.436",
       .holds =
           std::abs(exact.mean() - 18.571) < 0.001 && std::abs(exact.deviation() - 4.436) < 0.001},
      {.id = "H4",
       .measured = smps.print(),
       .expected = "0.75 to 1.25 times",
       .holds = smps.within(0.25)},
      {.id = "H4-grows",
       .measured = range(smps_up, smps_down),
       .expected = "more at the greatest size than at the smallest",
       .holds = grows(smps_up, smps_down)},
      {.id = "H5",
       .measured = time.print(),
       .expected = "0.75 to 1.25 times",
       .holds = time.within(0.25)},
      {.id = "H5-grows",
       .measured = range(time_up, time_down),
       .expected = "more at the greatest size than at the smallest",
       .holds = grows(time_up, time_down)},
      {.id = "H6-partial",
       .measured = fmt::format(
           "nodes^{:.3f} (activation), nodes^{:.3f} (deactivation)", slow_up, slow_down),
       .expected = "below nodes^0.8",
       .holds = slow_up < 0.8 && slow_down < 0.8},
  };
  return out;
}

}  // namespace

Experiment partial_discovery() {
  return {.name = "003-partial-discovery",
          .source = "thesis, Tables 16 and 17, Figure 73",
          .about = "SMPs and time of partial against full discovery after one switch came or went",
          .claims = kClaims,
          .run = run};
}

}  // namespace smd::sim
