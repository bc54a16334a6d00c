// Packets thrown away for one switch that comes or goes, in the hands of the basic manager, the
// improved one, and ours, from the change until its routes are in: over sizes, and over what the
// thesis varies besides. Traffic is among the hosts in service before the change: those behind a
// switch that comes have none, those behind one that goes are sent to as before, in vain.
#include <fmt/core.h>

#include <algorithm>

#include "sim-backend/experiments/change/loss_runs.h"
#include "sim-backend/experiments/change/published.h"
#include "sim-backend/experiments/change/subnet.h"
#include "sim-backend/experiments/tables.h"

namespace smd::sim::losses {
namespace {

/// Packets: fewer say nothing about a ratio.
constexpr double kEnough = 100;

/// The smaller of the published sizes.
std::vector<LossPlace> published_places(bool quick) {
  std::vector<LossPlace> out;
  for (std::size_t size = 0; size < (quick ? 1u : 2u); ++size) {
    const PublishedDiscards& row = kTable29[size];
    const std::string fabric = irregular4(row.size, 1);
    out.push_back({.x = double(row.size.switches),
                   .change = {.fabric = fabric, .preset = kPresets[0], .load = row.load()},
                   .switches = choose_switches(fabric, quick)});
  }
  return out;
}

std::vector<NamedCell> size_keys(const NetworkSize& size, bool comes) {
  return {{"switches", size.switches}, {"nodes", size.nodes}, {"change", print_direction(comes)}};
}

/// Runs that differ by one factor of two levels.
LossGrid compare(bool quick, std::string_view factor, std::vector<LossLevel> levels) {
  return {.places = published_places(quick),
          .keys = [](std::size_t at, bool comes) { return size_keys(kTable29[at].size, comes); },
          .factor = factor,
          .levels = std::move(levels)};
}

/// What the second level costs, as a ratio of what the first one does.
struct Ratio {
  std::string_view claim;
  double (*of)(const LossSums& sums);
  bool only_dead = false;       // of switches that go
  bool only_published = false;  // of the managers of the thesis
  double least = 0;             // fewer at the first level say nothing
};

Measured measure(const LossResult& result, const Ratio& ratio) {
  Range all;
  result.each([&](std::size_t place, bool comes) {
    if (comes && ratio.only_dead) return;
    for (std::size_t mode = 0; mode < result.grid.modes.size(); ++mode) {
      if (ratio.only_published && mode == kCertified) continue;
      const double first = ratio.of(result.at(place, comes, 0)[mode]);
      const double second = ratio.of(result.at(place, comes, 1)[mode]);
      // Nothing lost at either level says nothing.
      if (first >= ratio.least) all.add_known(second / first);
    }
  });
  return {ratio.claim, all};
}

double time_of(const LossSums& sums) { return sums.time.mean(); }

double detection_of(const LossSums& sums) { return sums.detection.mean(); }

double discarded_of(const LossSums& sums) { return sums.discarded.mean(); }

double published_of(const LossSums& sums) { return sums.published.mean(); }

double at_down_ports(const LossSums& sums) { return sums.mean_of(Discard::InactivePort); }

double elsewhere(const LossSums& sums) { return published_of(sums) - at_down_ports(sums); }

// Sizes.

constexpr ClaimSpec kDataLoss[] = {
    {.id = "H27-activation",
     .text = "for a new switch the improved manager throws away a fraction of what the basic one "
             "does",
     .source = "thesis, Table 29",
     .measured = "at most {most:.3f} of what the basic one throws away",
     .expected = "at most 0.2"},
    {.id = "H27-deactivation",
     .text = "for a dead switch it throws away less than half",
     .source = "thesis, Table 29",
     .measured = "at most {most:.3f} of what the basic one throws away",
     .expected = "at most 0.5"},
    {.id = "T29-basic",
     .text = "the basic manager throws away as many packets as published for a new switch",
     .source = "thesis, Table 29",
     .measured = kFitsWorst,
     .expected = "0.7 to 1.3 times"},
    {.id = "certified-activation",
     .text = "with certified transitions a new switch costs no packet",
     .source = "proved transitions",
     .measured = "at most {most:.0f} packets",
     .expected = "none"},
    {.id = "certified-deactivation",
     .text = "with certified transitions a dead switch costs fewer packets than with the improved "
             "manager",
     .source = "proved transitions",
     .measured = "at most {most:.3f} of what the improved one throws away",
     .expected = "less than 1"},
    kCertifiedLoss,
};

Result<Findings> data_loss(const ExperimentOptions& options) {
  LossGrid grid{.places = published_places(options.quick),
                .keys =
                    [](std::size_t at, bool comes) {
                      const PublishedDiscards& row = kTable29[at];
                      std::vector<NamedCell> out = size_keys(row.size, comes);
                      out.emplace_back("published_basic", row.basic.of(comes));
                      out.emplace_back("published_improved", row.improved.of(comes));
                      return out;
                    },
                .modes = kLossModes};
  const auto result = run_losses(options.jobs, std::move(grid));
  if (!result) return tl::unexpected<Error>(result.error());
  Findings out = tell_losses(*result, "Packets thrown away for one switch, 25 % load");
  out.plot.log_y = true;
  Range activation, deactivation, basic, certified_new, certified_dead;
  result->each([&](std::size_t place, bool comes) {
    const LossGroup group = result->at(place, comes);
    const auto share = [&](LossMode mode, LossMode base) {
      const double of = group[base].published.mean();
      return of == 0 ? 0 : group[mode].published.mean() / of;
    };
    if (comes) {
      activation.add(share(kImproved, kBasic));
      certified_new.add(group[kCertified].discarded.max());
      basic.add(group[kBasic].published.mean() / kTable29[place].basic.activation);
    } else {
      deactivation.add(share(kImproved, kBasic));
      certified_dead.add(share(kCertified, kImproved));
    }
  });
  out.verdicts = decide(kDataLoss,
                        {{"H27-activation", activation},
                         {"H27-deactivation", deactivation},
                         {"T29-basic", basic},
                         {"certified-activation", certified_new},
                         {"certified-deactivation", certified_dead},
                         certified_loss(*result)});
  return out;
}

// Tables sent whole, and only the blocks that differ.

constexpr ClaimSpec kDeltaGain[] = {
    {.id = "H30-time",
     .text = "sending only blocks that differ makes the improved manager slightly faster",
     .source = "thesis, Figures 119 to 121",
     .measured = "{least:.3f} to {most:.3f} times the time",
     .expected = "0.7 to 1 times"},
    {.id = "H30-losses",
     .text = "and it throws away slightly fewer packets for a dead switch",
     .source = "thesis, Figure 122",
     .measured = "at most {most:.3f} times the packets",
     .expected = "at most 1"},
};

Result<Findings> delta_gain(const ExperimentOptions& options) {
  LossGrid grid =
      compare(options.quick, "tables", {{"whole", {}}, {"differences", [](ManagedChange& change) {
                                                          change.how = mode_of("improved+delta");
                                                        }}});
  grid.modes = std::span(kLossModes).subspan(kImproved, 1);
  const auto result = run_losses(options.jobs, std::move(grid));
  if (!result) return tl::unexpected<Error>(result.error());
  Findings out = tell_losses(*result, "Seconds until routes are in, whole tables and differences");
  out.plot.y_label = "seconds";
  out.plot.series.clear();
  result->each([&](std::size_t place, bool comes) {
    for (const std::size_t delta : {0, 1}) {
      out.plot.add_point(
          fmt::format("{}, {}", delta ? "differences" : "whole", print_direction(comes)),
          result->grid.places[place].x,
          result->at(place, comes, delta)[0].time.mean());
    }
  });
  out.verdicts =
      decide(kDeltaGain,
             {measure(*result, {.claim = "H30-time", .of = time_of}),
              measure(*result, {.claim = "H30-losses", .of = published_of, .only_dead = true})});
  return out;
}

// A quarter of what hosts' links carry, as far as such a network takes it, and twice as much.

constexpr ClaimSpec kDoubleLoad[] = {
    {.id = "H31-time",
     .text = "twice the load leaves the time until routes are in as it is",
     .source = "thesis, Table 30",
     .measured = "{least:.4f} to {most:.4f} times the time",
     .expected = "0.98 to 1.02 times"},
    {.id = "H31-losses",
     .text = "twice the load loses twice the packets",
     .source = "thesis, Table 31",
     .measured = "{least:.3f} to {most:.3f} times the packets",
     .expected = "1.8 to 2.2 times"},
    {.id = "T31-basic",
     .text = "the basic manager throws away as many packets as published for a new switch",
     .source = "thesis, Table 31",
     .measured = kFitsWorst,
     .expected = "0.7 to 1.3 times"},
    kCertifiedLoss,
};

// Links four times as wide, with as many packets a second as on narrow ones.

constexpr ClaimSpec kFastLinks[] = {
    {.id = "H32-time",
     .text = "4x links leave the time until routes are in as it is",
     .source = "thesis, Figure 125",
     .measured = "{least:.4f} to {most:.4f} times the time",
     .expected = "0.95 to 1.05 times"},
    {.id = "H32-losses",
     .text = "4x links leave the packets that are lost as they are",
     .source = "thesis, Figure 126",
     .measured = "{least:.3f} to {most:.3f} times the packets",
     .expected = "0.9 to 1.1 times"},
    kCertifiedLoss,
};

// Sweeps alone, and traps beside them.

constexpr ClaimSpec kTrapGain[] = {
    {.id = "H33-detection",
     .text = "with traps a change is detected long before the next sweep",
     .source = "thesis, Figures 127 and 128",
     .measured = "at most {most:.3f} of the time that sweeps take",
     .expected = "at most 0.2"},
    {.id = "H33-time",
     .text = "from there on everything takes as long as before",
     .source = "thesis, Figures 127 and 128",
     .measured = "{least:.3f} to {most:.3f} times the time",
     .expected = "0.9 to 1.1 times"},
    {.id = "H33-inactive",
     .text = "fewer packets are lost at ports that are Down because of a dead switch",
     .source = "thesis, Figure 128",
     .measured = "at most {most:.3f} times the packets",
     .expected = "less than 0.9"},
    {.id = "H33-others",
     .text = "what is lost for other reasons is as it was",
     .source = "thesis, Figure 128",
     .measured = "{least:.3f} to {most:.3f} times the packets",
     .expected = "0.9 to 1.1 times"},
    kCertifiedLoss,
};

/// Experiments on runs that differ by one factor, the loss of certified transitions among their
/// claims.
struct LossTable {
  std::string_view name, source, about;
  std::span<const ClaimSpec> claims;
  const char* title;
  std::string_view factor;
  std::vector<LossLevel> levels;
  std::vector<Ratio> ratios;
  /// Of the basic manager at the second level, for a claim of its own.
  std::span<const PublishedDoubleLoad> published = {};
};

std::vector<LossTable> tables() {
  return {
      {.name = "003-double-load",
       .source = "thesis, Tables 30 and 31",
       .about = "what one switch that comes or goes costs at half load, beside a quarter",
       .claims = kDoubleLoad,
       .title = "Packets thrown away for one switch, by load",
       .factor = "load",
       .levels = {{0.25, {}}, {0.5, [](ManagedChange& change) { change.load *= 2; }}},
       .ratios = {{.claim = "H31-time", .of = time_of},
                  {.claim = "H31-losses", .of = discarded_of, .least = kEnough}},
       .published = kTable31},
      {.name = "003-fast-links",
       .source = "thesis, Figures 124 to 126",
       .about = "what one switch that comes or goes costs over 4x links, beside 1x",
       .claims = kFastLinks,
       .title = "Packets thrown away for one switch, over 4x links",
       .factor = "width",
       .levels = {{"1x", {}},
                  {"4x",
                   [](ManagedChange& change) {
                     change.fabric += ",width=4x";
                     change.load /= 4;
                   }}},
       .ratios = {{.claim = "H32-time", .of = time_of},
                  {.claim = "H32-losses", .of = published_of, .least = kEnough}}},
      {.name = "003-trap-gain",
       .source = "thesis, Figures 127 and 128",
       .about = "what one switch that comes or goes costs when it is reported by traps",
       .claims = kTrapGain,
       .title = "Packets thrown away for one switch, with traps",
       .factor = "detection",
       .levels = {{"sweeps", {}},
                  {"sweeps and traps", [](ManagedChange& change) { change.traps = true; }}},
       .ratios = {
           {.claim = "H33-detection", .of = detection_of},
           {.claim = "H33-time", .of = time_of, .only_published = true},
           {.claim = "H33-inactive",
            .of = at_down_ports,
            .only_dead = true,
            .only_published = true},
           {.claim = "H33-others", .of = elsewhere, .only_published = true, .least = kEnough}}}};
}

Result<Findings> run(const LossTable& table, const ExperimentOptions& options) {
  const auto result = run_losses(options.jobs, compare(options.quick, table.factor, table.levels));
  if (!result) return tl::unexpected<Error>(result.error());
  std::vector<Measured> measured;
  for (const Ratio& ratio : table.ratios) measured.push_back(measure(*result, ratio));
  if (!table.published.empty()) {
    Range basic;
    for (std::size_t size = 0; size < result->grid.places.size(); ++size) {
      basic.add(published_of(result->at(size, true, 1)[kBasic]) /
                table.published[size].basic.activation);
    }
    measured.emplace_back("T31-basic", basic);
  }
  measured.push_back(certified_loss(*result));
  Findings out = tell_losses(*result, table.title);
  out.verdicts = decide(table.claims, measured);
  return out;
}

// The busiest of 32 switches with 40 adapters: when routes are in again.

constexpr ClaimSpec kServiceGap[] = {
    {.id = "H28-activation",
     .text = "for a new switch the improved manager throws nothing away where the basic one throws "
             "away 106,000 packets",
     .source = "thesis, Figure 108",
     .measured = "{most:.4f} of the basic one's",
     .expected = "at most 0.01"},
    {.id = "H28-deactivation",
     .text = "for a dead switch it throws away 84,000 of the basic one's 361,000 packets",
     .source = "thesis, Figure 109",
     .measured = "{most:.4f} of the basic one's",
     .expected = "0.13 to 0.33, published 0.23"},
    {.id = "H28-service-new",
     .text = "routes to a new switch are in about 2 s earlier",
     .source = "thesis, Figure 108",
     .measured = "{most:.3f} s earlier",
     .expected = "1.5 to 2.5 s"},
    {.id = "H28-service-dead",
     .text = "routes round a dead one are in more than 1.5 s earlier",
     .source = "thesis, Figure 109",
     .measured = "{most:.3f} s earlier",
     .expected = "more than 1.5 s"},
    {.id = "certified-gap",
     .text = "certified routes round a dead switch are in earlier than the improved manager's",
     .source = "proved transitions",
     .expected = "earlier"},
    kCertifiedLoss,
};

/// The first of those with most cables to other switches: others go over it.
std::uint32_t find_busiest(const std::string& fabric) {
  const Subnet subnet(fabric, {});
  const auto cables = [&](std::uint32_t node) {
    const std::vector<NodeSpec>& nodes = subnet.fabric.spec().nodes;
    return std::ranges::count_if(nodes[node].ports, [&](const PortSpec& port) {
      return port.peer_node != kNoNode && nodes[port.peer_node].type == NodeType::Switch;
    });
  };
  const std::vector<std::uint32_t> all = subnet.other_switches();
  return *std::ranges::max_element(all, {}, cables);
}

Result<Findings> service_gap(const ExperimentOptions& options) {
  const PublishedDiscards& row = kTable29[3];
  const std::string fabric = irregular4(row.size, 1);
  // The time between routes is the same with a fraction of the packets.
  const double share = options.quick ? 1.0 / 40 : 1;
  const auto result = run_losses(
      options.jobs,
      {.places = {{.change = {.fabric = fabric, .preset = kPresets[0], .load = row.load() * share},
                   .switches = {find_busiest(fabric)}}},
       .keys = [&](std::size_t, bool comes) { return size_keys(row.size, comes); }});
  if (!result) return tl::unexpected<Error>(result.error());
  Findings out = tell_losses(*result, "From detection until routes are in, 32 switches");
  out.plot.x_label = "0: activation, 1: deactivation";
  out.plot.y_label = "seconds";
  out.plot.series.clear();
  for (const bool comes : {true, false}) {
    for (std::size_t mode = 0; mode < result->grid.modes.size(); ++mode) {
      out.plot.add_point(
          kLossModes[mode].name, comes ? 0 : 1, result->at(0, comes)[mode].time.mean());
    }
  }
  const LossGroup fresh = result->at(0, true), dead = result->at(0, false);
  const auto lost = [](const LossGroup& group) {
    return published_of(group[kImproved]) / published_of(group[kBasic]);
  };
  const auto earlier = [](const LossGroup& group, LossMode than, LossMode mode) {
    return group[than].time.mean() - group[mode].time.mean();
  };
  const double certified = earlier(dead, kImproved, kCertified);
  out.verdicts =
      decide(kServiceGap,
             {{"H28-activation", lost(fresh)},
              {"H28-deactivation", lost(dead)},
              {"H28-service-new", earlier(fresh, kBasic, kImproved)},
              {"H28-service-dead", earlier(dead, kBasic, kImproved)},
              {"certified-gap", fmt::format("{:.3f} s earlier", certified), certified > 0},
              certified_loss(*result)});
  return out;
}

// A middle switch of the folded Clos network of three middle and four edge switches. FERa and PIRa
// send everything over one of them.

constexpr ClaimSpec kClosChange[] = {
    {.id = "H29-activation",
     .text = "for a new middle switch the improved manager throws nothing away",
     .source = "thesis, Figure 118",
     .measured = "at most {most:.0f} packets",
     .expected = "none"},
    {.id = "H29-free",
     .text = "with the improved manager it costs nearly nothing when any middle switch but the one "
             "that all routes use dies",
     .source = "thesis, Figure 118",
     .expected = "at most 0.05 of what the one that all use costs"},
    kCertifiedLoss,
};

Result<Findings> clos_change(const ExperimentOptions& options) {
  constexpr const char* kFabric = "clos:m=3,n=1,r=4,width=1x,speed=SDR";
  constexpr std::size_t kMiddle = 3;
  const std::vector<std::uint32_t> switches = Subnet(kFabric, {}).other_switches();
  LossGrid grid{.keys = [](std::size_t middle, bool comes) -> std::vector<NamedCell> {
    return {{"middle_switch", middle}, {"change", print_direction(comes)}};
  }};
  for (std::size_t i = 0; i < kMiddle; ++i) {
    grid.places.push_back({.x = double(i),
                           .change = {.fabric = kFabric, .preset = kPresets[0], .load = 0.25},
                           .switches = {switches[switches.size() - kMiddle + i]}});
  }
  const auto result = run_losses(options.jobs, std::move(grid));
  if (!result) return tl::unexpected<Error>(result.error());
  Range fresh;
  std::vector<double> dead;
  for (std::size_t i = 0; i < kMiddle; ++i) {
    fresh.add(result->at(i, true)[kImproved].discarded.max());
    dead.push_back(result->at(i, false)[kImproved].discarded.mean());
  }
  std::ranges::sort(dead);
  Findings out = tell_losses(*result, "Packets thrown away for one middle switch");
  out.plot.x_label = "middle switch";
  out.verdicts =
      decide(kClosChange,
             {{"H29-activation", fresh},
              {"H29-free",
               fmt::format("{:.0f}, {:.0f} and {:.0f} packets", dead[0], dead[1], dead[2]),
               dead[kMiddle - 2] / dead.back()},
              certified_loss(*result)});
  return out;
}

}  // namespace
}  // namespace smd::sim::losses

namespace smd::sim {

std::vector<Experiment> loss_tables() {
  std::vector<Experiment> out = {
      {.name = "003-clos-change",
       .source = "thesis, Figures 117 and 118",
       .about = "what a middle switch of a Clos network costs that comes or goes",
       .claims = losses::kClosChange,
       .run = losses::clos_change},
      {.name = "003-data-loss",
       .source = "thesis, Table 29",
       .about = "data packets thrown away for one switch that comes or goes",
       .claims = losses::kDataLoss,
       .run = losses::data_loss},
      {.name = "003-delta-gain",
       .source = "thesis, Figures 119 to 122",
       .about = "what the improved manager gains by sending only blocks that differ",
       .claims = losses::kDeltaGain,
       .run = losses::delta_gain},
      {.name = "003-service-gap",
       .source = "thesis, Figures 107 to 109",
       .about = "how long one switch that comes or goes leaves hosts without routes",
       .claims = losses::kServiceGap,
       .run = losses::service_gap}};
  for (const losses::LossTable& each : losses::tables()) {
    out.push_back(
        {.name = each.name,
         .source = each.source,
         .about = each.about,
         .claims = each.claims,
         .run = [each](const ExperimentOptions& options) { return losses::run(each, options); }});
  }
  return out;
}

}  // namespace smd::sim
