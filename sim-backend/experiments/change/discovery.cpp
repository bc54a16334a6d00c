// Discovery after a change: everything asked again, by directed routes, against only what changed,
// for one switch that comes or goes, and for several at once.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim-backend/experiments/change/presets.h"
#include "sim-backend/experiments/change/published.h"
#include "sim-backend/experiments/change/subnet.h"
#include "sim-backend/experiments/tables.h"
#include "sim-backend/lab/parallel.h"
#include "smd/base/rng.h"

namespace smd::sim::discovery {
namespace {

/// Of many single changes.
struct ChangeCosts {
  Sample smps;
  Sample time;  // seconds

  void add(const DiscoveryCost& cost) {
    smps.add(static_cast<double>(cost.smps));
    time.add(seconds(cost.time));
  }

  void add(const ChangeCosts& other) {
    smps.add(other.smps);
    time.add(other.time);
  }
};

/// By direction: a switch that comes, one that goes.
using Costs = std::array<ChangeCosts, 2>;

/// Of full and partial discovery.
using BothCosts = std::array<Costs, 2>;

constexpr std::array<const char*, 2> kDirections = {"activation", "deactivation"};

void add_row(Findings& out,
             const Preset& preset,
             const NetworkSize& size,
             std::string_view mechanism,
             std::size_t direction,
             const Costs& costs,
             const Published& published_smps,
             const Published& published_time) {
  const auto& [smps, time] = costs[direction];
  out.add_row({{"preset", preset.name},
               {"switches", size.switches},
               {"nodes", size.nodes},
               {"mechanism", mechanism},
               {"change", kDirections[direction]},
               {"runs", smps.size()},
               {"smps_mean", smps.mean()},
               {"smps_stddev", smps.deviation()},
               {"time_mean_s", time.mean()},
               {"time_stddev_s", time.deviation()},
               {"published_smps", published_smps.of(direction == 0)},
               {"published_time_s", published_time.of(direction == 0)}});
}

// Full discovery.

constexpr ClaimSpec kFullDiscovery[] = {
    {.id = "T17-full",
     .text = "full discovery takes the published number of SMPs",
     .source = "thesis, Table 17",
     .measured = kFitsWorst,
     .expected = "0.85 to 1.15 times"},
    {.id = "T16-full",
     .text = "full discovery takes the published time",
     .source = "thesis, Table 16",
     .measured = kFitsWorst,
     .expected = "0.75 to 1.25 times"},
    {.id = "H6-full",
     .text = "the cost of full discovery grows in proportion to the network",
     .source = "thesis, Table 17",
     .must_hold = true,
     .measured = "nodes^{most:.3f}",
     .expected = "nodes^0.85 to nodes^1.15"},
};

/// The sweep that notices is counted: one request for each switch known before, before one comes
/// to those that it cuts off as well (`all_known`) or not.
Result<Costs> measure_full(const std::string& fabric, const Preset& preset, bool all_known) {
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
    const std::uint64_t known = all_known ? switches - 1 : without.snapshot().switch_count();
    // Whichever switch comes, afterwards the network is the same.
    costs[0].add({all->smps + known, all->time});
    costs[1].add({rest->smps + switches, rest->time});
  }
  return costs;
}

Result<Findings> full_discovery(const ExperimentOptions& options) {
  const std::size_t sizes = options.quick ? 3 : kTables16And17.size();
  const auto groups = collect_sizes<Costs>(options.jobs,
                                           kTables16And17,
                                           sizes,
                                           options.quick ? 1u : 5u,
                                           [](const std::string& fabric, const Preset& preset) {
                                             return measure_full(fabric, preset, true);
                                           });
  if (!groups) return tl::unexpected<Error>(groups.error());

  Findings out{.plot = {.title = "SMPs of full discovery after one change",
                        .x_label = "switches",
                        .y_label = "SMPs",
                        .log_x = true,
                        .log_y = true}};
  Range smps, time;
  std::vector<std::pair<double, double>> growth;
  for (std::size_t g = 0; g < groups->size(); ++g) {
    const Costs& costs = (*groups)[g];
    const Preset& preset = kPresets[g / sizes];
    const PublishedDiscovery& published = kTables16And17[g % sizes];
    for (std::size_t d = 0; d < 2; ++d) {
      add_row(
          out, preset, published.size, "full", d, costs, published.full_smps, published.full_time);
      if (g >= sizes && d > 0) continue;
      out.plot.add_point(fmt::format("{}, {}", preset.name, kDirections[d]),
                         published.size.switches,
                         costs[d].smps.mean());
      if (g >= sizes) continue;
      smps.add(costs[d].smps.mean() / published.full_smps.of(d == 0));
      time.add(costs[d].time.mean() / published.full_time.of(d == 0));
    }
    if (g < sizes) growth.emplace_back(published.size.nodes, costs[0].smps.mean());
  }
  out.verdicts =
      decide(kFullDiscovery,
             {{"T17-full", smps}, {"T16-full", time}, {"H6-full", growth_exponent(growth)}});
  return out;
}

// Partial discovery.

constexpr ClaimSpec kPartialDiscovery[] = {
    {.id = "T17-fig76",
     .text = "partial discovery after the death of each switch of the example takes the published "
             "number of SMPs to the digit",
     .source = "thesis, Table 17, 8 switches",
     .must_hold = true,
     .expected = "18.571 SMPs, deviation 4.436"},
    {.id = "H4",
     .text = "partial discovery saves the published factor of SMPs",
     .source = "thesis, Table 17",
     .measured = kFitsWorst,
     .expected = "0.75 to 1.25 times"},
    {.id = "H4-grows",
     .text = "the factor of SMPs grows with the network, for both kinds of change",
     .source = "thesis, Table 17",
     .must_hold = true,
     .expected = "more at the greatest size than at the smallest"},
    {.id = "H5",
     .text = "partial discovery saves the published factor of time",
     .source = "thesis, Table 16",
     .measured = kFitsWorst,
     .expected = "0.75 to 1.25 times"},
    {.id = "H5-grows",
     .text = "the factor of time grows with the network, for both kinds of change",
     .source = "thesis, Figure 73",
     .must_hold = true,
     .expected = "more at the greatest size than at the smallest"},
    {.id = "H6-partial",
     .text = "the SMPs of partial discovery grow more slowly than the network",
     .source = "thesis, Table 17",
     .must_hold = true,
     .expected = "below nodes^0.8"},
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

Result<BothCosts> measure_both(const std::string& fabric, const Preset& preset) {
  const auto full = measure_full(fabric, preset, false);
  if (!full) return tl::unexpected<Error>(full.error());
  BothCosts costs{*full};
  for (const std::uint32_t node : Subnet(fabric, {.preset = preset}).other_switches()) {
    for (std::size_t d = 0; d < 2; ++d) {
      const auto cost = partial_cost(fabric, preset, node, d == 0);
      if (!cost) return tl::unexpected<Error>(cost.error());
      costs[1][d].add(*cost);
    }
  }
  return costs;
}

/// Full over partial, by size; for either direction.
using Curve = std::array<std::vector<double>, 2>;

Measured grows(std::string_view id, const Curve& factors) {
  const auto& [up, down] = factors;
  return {id,
          fmt::format("{:.2f} to {:.2f} times fewer (activation), {:.2f} to {:.2f} (deactivation)",
                      up.front(),
                      up.back(),
                      down.front(),
                      down.back()),
          up.back() > up.front() && down.back() > down.front()};
}

Result<Findings> partial_discovery(const ExperimentOptions& options) {
  const std::size_t sizes = options.quick ? 3 : kTables16And17.size();
  const auto example = measure_both("example:name=fig76", kPresets[0]);
  if (!example) return tl::unexpected<Error>(example.error());
  const auto groups = collect_sizes<BothCosts>(
      options.jobs, kTables16And17, sizes, options.quick ? 1u : 3u, measure_both);
  if (!groups) return tl::unexpected<Error>(groups.error());

  Findings out{.plot = {.title = "SMPs of discovery after one change, thesis preset",
                        .x_label = "switches",
                        .y_label = "SMPs",
                        .log_x = true,
                        .log_y = true}};
  Range smps, time;
  Curve smps_factors, time_factors;
  std::array<std::vector<std::pair<double, double>>, 2> growth;
  for (std::size_t g = 0; g < groups->size(); ++g) {
    const auto& [full, partial] = (*groups)[g];
    const auto& [size, full_time, partial_time, full_smps, partial_smps] =
        kTables16And17[g % sizes];
    const auto tell = [&](const char* mechanism,
                          const Costs& costs,
                          const Published& published_smps,
                          const Published& published_time) {
      for (std::size_t d = 0; d < 2; ++d) {
        add_row(
            out, kPresets[g / sizes], size, mechanism, d, costs, published_smps, published_time);
        if (g >= sizes) continue;
        out.plot.add_point(
            fmt::format("{}, {}", mechanism, kDirections[d]), size.switches, costs[d].smps.mean());
      }
    };
    tell("full", full, full_smps, full_time);
    tell("partial", partial, partial_smps, partial_time);
    if (g >= sizes) continue;
    for (std::size_t d = 0; d < 2; ++d) {
      const bool comes = d == 0;
      growth[d].emplace_back(size.nodes, partial[d].smps.mean());
      smps_factors[d].push_back(full[d].smps.mean() / partial[d].smps.mean());
      time_factors[d].push_back(full[d].time.mean() / partial[d].time.mean());
      smps.add(smps_factors[d].back() / (full_smps.of(comes) / partial_smps.of(comes)));
      time.add(time_factors[d].back() / (full_time.of(comes) / partial_time.of(comes)));
    }
  }
  const double slow_up = growth_exponent(growth[0]);
  const double slow_down = growth_exponent(growth[1]);
  const Sample& exact = (*example)[1][1].smps;
  Range slow(slow_up);
  slow.add(slow_down);
  out.verdicts = decide(
      kPartialDiscovery,
      {{"T17-fig76",
        fmt::format("{:.3f} SMPs, deviation {:.3f}", exact.mean(), exact.deviation()),
        std::abs(exact.mean() - 18.571) < 0.001 && std::abs(exact.deviation() - 4.436) < 0.001},
       {"H4", smps},
       grows("H4-grows", smps_factors),
       {"H5", time},
       grows("H5-grows", time_factors),
       {"H6-partial",
        fmt::format("nodes^{:.3f} (activation), nodes^{:.3f} (deactivation)", slow_up, slow_down),
        slow}});
  return out;
}

// Several switches at once: what partial discovery saves shrinks with what is left unchanged.

constexpr ClaimSpec kMultipleChanges[] = {
    {.id = "H8",
     .text = "when everything but the manager's node is new, partial discovery costs what full "
             "discovery costs",
     .source = "thesis, Figure 74",
     .measured = "{most:.3f} times the SMPs",
     .expected = "0.9 to 1.1 times"},
    {.id = "H8-gain",
     .text = "the gain after activations grows with the share of switches that are unchanged",
     .source = "thesis, Figure 74",
     .must_hold = true,
     .expected = "falling"},
    {.id = "H9-full",
     .text = "full discovery gets cheaper the more switches vanish",
     .source = "thesis, Figure 75",
     .must_hold = true,
     .expected = "falling"},
    {.id = "H9-gain",
     .text = "the gain after deactivations shrinks with the share of switches that vanish",
     .source = "thesis, Figure 75",
     .must_hold = true,
     .expected = "falling"},
};

constexpr NetworkSize kSize{32, 53};

struct MultipleCost {
  DiscoveryCost full, partial;
};

struct MultipleCosts {
  ChangeCosts full, partial;

  void add(const MultipleCost& cost) {
    full.add(cost.full);
    partial.add(cost.partial);
  }
};

Result<MultipleCost> measure_multiple(const Preset& preset,
                                      bool comes,
                                      unsigned switches,
                                      std::uint64_t seed) {
  Subnet subnet(irregular4(kSize, seed), {.preset = preset});
  std::vector<std::uint32_t> chosen = subnet.other_switches();
  Rng rng(seed);
  for (std::size_t i = chosen.size(); i > 1; --i) std::swap(chosen[i - 1], chosen[rng.below(i)]);
  chosen.resize(std::min<std::size_t>(switches, chosen.size()));
  const auto turn = [&](bool on) {
    for (const std::uint32_t node : chosen) subnet.fabric.set_node(node, on);
  };
  if (comes) turn(false);
  if (auto up = subnet.bring_up(); !up) return tl::unexpected<Error>(up.error());
  if (auto calm = subnet.calm_down(); !calm) return tl::unexpected<Error>(calm.error());
  const std::uint64_t known = subnet.snapshot().switch_count();
  turn(comes);
  const auto partial = subnet.discover_partially();
  if (!partial) return tl::unexpected<Error>(partial.error());
  const auto full = subnet.discover_fully();
  if (!full) return tl::unexpected<Error>(full.error());
  return MultipleCost{{full->smps + known, full->time}, *partial};
}

Result<Findings> multiple_changes(const ExperimentOptions& options) {
  const std::vector<unsigned> counts =
      options.quick ? std::vector<unsigned>{1, 16, 31} : std::vector<unsigned>{1, 4, 8, 16, 24, 31};
  // Groups: presets, directions, counts.
  const auto direction = [&](std::size_t group) { return group / counts.size() % 2; };
  const auto preset = [&](std::size_t group) { return group / counts.size() / 2; };
  const auto groups = collect_groups<MultipleCosts>(
      options.jobs,
      kPresets.size() * 2 * counts.size(),
      options.quick ? 3u : 10u,
      [&](std::size_t group, std::size_t seed) {
        return measure_multiple(
            kPresets[preset(group)], direction(group) == 0, counts[group % counts.size()], seed);
      });
  if (!groups) return tl::unexpected<Error>(groups.error());

  Findings out{.plot = {.title = "SMPs after several changes at once, 32 switches, thesis preset",
                        .x_label = "switches that changed",
                        .y_label = "SMPs"}};
  std::array<std::vector<double>, 2> gain;  // full over partial
  std::vector<double> full_down;
  for (std::size_t g = 0; g < groups->size(); ++g) {
    const auto& [full, partial] = (*groups)[g];
    const unsigned count = counts[g % counts.size()];
    const char* change = kDirections[direction(g)];
    out.add_row({{"preset", kPresets[preset(g)].name},
                 {"change", change},
                 {"switches", kSize.switches},
                 {"changed", count},
                 {"runs", full.smps.size()},
                 {"full_smps", full.smps.mean()},
                 {"partial_smps", partial.smps.mean()},
                 {"full_s", full.time.mean()},
                 {"partial_s", partial.time.mean()}});
    if (preset(g) > 0) continue;
    out.plot.add_point(fmt::format("full, {}", change), count, full.smps.mean());
    out.plot.add_point(fmt::format("partial, {}", change), count, partial.smps.mean());
    gain[direction(g)].push_back(full.smps.mean() / partial.smps.mean());
    if (direction(g) == 1) full_down.push_back(full.smps.mean());
  }
  const auto falls =
      [](std::string_view id, const char* text, const std::vector<double>& values) -> Measured {
    return {id,
            fmt::format(fmt::runtime(text), fmt::join(values, ", ")),
            std::ranges::is_sorted(values, std::greater{})};
  };
  out.verdicts =
      decide(kMultipleChanges,
             {{"H8", 1 / gain[0].back()},
              falls("H8-gain", "full over partial {:.2f} as more switches are new", gain[0]),
              falls("H9-full", "{:.2f} SMPs as more switches vanish", full_down),
              falls("H9-gain", "full over partial {:.2f} as more switches vanish", gain[1])});
  return out;
}

}  // namespace
}  // namespace smd::sim::discovery

namespace smd::sim {

std::vector<Experiment> discovery_tables() {
  return {{.name = "003-full-discovery",
           .source = "thesis, Tables 16 and 17, full discovery",
           .about = "SMPs and time of full discovery after one switch came or went",
           .claims = discovery::kFullDiscovery,
           .run = discovery::full_discovery},
          {.name = "003-multiple-changes",
           .source = "thesis, Figures 74 and 75",
           .about = "partial against full discovery when several switches come or go at once",
           .claims = discovery::kMultipleChanges,
           .run = discovery::multiple_changes},
          {.name = "003-partial-discovery",
           .source = "thesis, Tables 16 and 17, Figure 73",
           .about = "SMPs and time of partial against full discovery after one switch came or went",
           .claims = discovery::kPartialDiscovery,
           .run = discovery::partial_discovery}};
}

}  // namespace smd::sim
