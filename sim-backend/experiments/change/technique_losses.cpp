// Ways to keep deadlocks out while tables are distributed, and provisional routes before the final
// ones, after partial discovery: packets thrown away for one switch that comes or goes; when they
// are lost, millisecond by millisecond; and what still arrives meanwhile.
#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "sim-backend/experiments/change/loss_runs.h"
#include "sim-backend/experiments/change/published.h"
#include "sim-backend/experiments/change/subnet.h"
#include "sim-backend/experiments/tables.h"
#include "sim-backend/lab/parallel.h"

namespace smd::sim::technique_losses {
namespace {

enum Technique : std::size_t { kFull, kPorts, kDependencies, kNone, kProvisional, kProved };

constexpr std::array<ChangeMode, 6> kTechniques{{
    {"full", "partial+fera+deactivate-all+whole+literal"},
    {"cut-ports", "partial+fera+cut-ports+whole+literal"},
    {"cut-dependencies", "partial+fera+cut-dependencies+whole+literal"},
    {"none", "partial+fera+none+whole+literal"},
    {"full, provisional", "partial+pira-fera+deactivate-all+whole+literal"},
    {"certified", "certified"},
}};

// All that is lost.

constexpr std::string_view kPartOfIt = "{least:.3f} to {most:.3f} of it";

constexpr ClaimSpec kTechniqueLosses[] = {
    {.id = "T25-full",
     .text = "full deactivation throws away the published number of packets for a new switch",
     .source = "thesis, Table 25",
     .measured = kFitsWorst,
     .expected = "0.7 to 1.3 times"},
    {.id = "H17-ports",
     .text = "for a new switch cut-node ports throw away a fraction of what full deactivation does",
     .source = "thesis, Table 25",
     .measured = kPartOfIt,
     .expected = "0.05 to 0.45"},
    {.id = "H17-dependencies",
     .text = "for a new switch cut-node dependencies throw away a few percent of it",
     .source = "thesis, Table 25",
     .measured = kPartOfIt,
     .expected = "at most 0.10"},
    {.id = "H17-none",
     .text = "for a new switch cut-node dependencies hardly throw away more than doing nothing",
     .source = "thesis, Table 25",
     .measured = "at most {most:.3f} of full deactivation's more",
     .expected = "at most 0.01 more"},
    {.id = "H18-ports",
     .text = "for a dead switch cut-node ports throw away most of what full deactivation does",
     .source = "thesis, Table 25",
     .measured = kPartOfIt,
     .expected = "0.5 to 0.9"},
    {.id = "H18-dependencies",
     .text = "and cut-node dependencies hardly less",
     .source = "thesis, Table 25",
     .measured = kPartOfIt,
     .expected = "0.5 to 0.9"},
    {.id = "H18-rest",
     .text = "for by far the most of it is lost at the dead switch's ports, whatever is done",
     .source = "thesis, Table 25",
     .measured = "at least {least:.3f}",
     .expected = "at least 0.9"},
    {.id = "H20",
     .text = "blocked turns throw away fewer packets than deactivated ports do",
     .source = "thesis, Figures 95 to 98",
     .measured = kPartOfIt,
     .expected = "at most 0.5"},
    {.id = "H14-activation",
     .text = "provisional routes throw away a little more for a new switch",
     .source = "thesis, Table 22",
     .measured = kPartOfIt,
     .expected = "1.00 to 1.15"},
    {.id = "H14-deactivation",
     .text = "provisional routes throw away fewer packets for a dead switch of larger networks",
     .source = "thesis, Table 22",
     .measured = kPartOfIt,
     .expected = "less than 1 from 16 switches on"},
    {.id = "certified-activation",
     .text = "with certified transitions a new switch costs no packet",
     .source = "proved transitions",
     .must_hold = true,
     .measured = "at most {most:.0f} packets",
     .expected = "none"},
    {.id = "certified-deactivation",
     .text = "with certified transitions a dead switch costs but what it takes with it",
     .source = "proved transitions",
     .must_hold = true,
     .measured = "at most {most:.0f} others",
     .expected = "none"},
};

/// Of larger networks as many switches as make a run of minutes, spread over all.
std::vector<std::uint32_t> choose(const std::vector<std::uint32_t>& all, std::size_t most) {
  std::vector<std::uint32_t> out;
  const std::size_t count = std::min(all.size(), most);
  for (std::size_t i = 0; i < count; ++i) out.push_back(all[i * all.size() / count]);
  return out;
}

std::vector<Verdict> decide_techniques(const LossResult& result) {
  Range full, new_ports, new_turns, over_none, dead_ports, dead_turns, rest, turns, new_first,
      dead_first, certified, unexplained;
  over_none.add(0);
  result.each([&](std::size_t size, bool comes) {
    const LossGroup group = result.at(size, comes);
    const auto lost = [&](Technique technique) { return group[technique].discarded.mean(); };
    const double whole = lost(kFull);
    turns.add(group[kDependencies].mean_of(Discard::Unmappable) /
              std::max(1.0, group[kPorts].mean_of(Discard::DeactivatedPort)));
    unexplained.add(group[kProved].unexplained.max());
    if (comes) {
      full.add(whole / kTable25[size].discarded[kFull].activation);
      new_ports.add(lost(kPorts) / whole);
      new_turns.add(lost(kDependencies) / whole);
      over_none.add((lost(kDependencies) - lost(kNone)) / whole);
      new_first.add(lost(kProvisional) / whole);
      certified.add(group[kProved].discarded.max());
      return;
    }
    dead_ports.add(lost(kPorts) / whole);
    dead_turns.add(lost(kDependencies) / whole);
    rest.add(group[kDependencies].mean_of(Discard::InactivePort) / lost(kDependencies));
    if (kTable25[size].size.switches >= 16) dead_first.add(lost(kProvisional) / whole);
  });
  return decide(
      kTechniqueLosses,
      {{"T25-full", full},
       {"H17-ports", new_ports},
       {"H17-dependencies", new_turns},
       {"H17-none", over_none},
       {"H18-ports", dead_ports},
       {"H18-dependencies", dead_turns},
       {"H18-rest", rest},
       {"H20", turns},
       {"H14-activation", new_first},
       {"H14-deactivation", dead_first.empty() ? "networks of 8 switches only" : "", dead_first},
       {"certified-activation", certified},
       {"certified-deactivation", unexplained}});
}

std::optional<Published> printed(std::size_t size, std::size_t mode) {
  if (mode < kTable25[size].discarded.size()) return kTable25[size].discarded[mode];
  if (mode == kProvisional) return kTable22[size].provisional;
  return std::nullopt;
}

Result<Findings> technique_losses(const ExperimentOptions& options) {
  LossGrid grid{.modes = kTechniques, .at_phases = false};
  for (std::size_t size = 0; size < (options.quick ? 1 : kTable25.size()); ++size) {
    const std::string fabric = irregular4(kTable25[size].size, 1);
    const std::size_t most = options.quick ? 2 : std::array<std::size_t, 4>{7, 8, 4, 2}[size];
    grid.places.push_back(
        {.x = double(kTable25[size].size.switches),
         .change = {.fabric = fabric, .preset = kPresets[0], .load = kTable29[size].load()},
         .switches = choose(Subnet(fabric, {}).other_switches(), most)});
  }
  const auto result = run_losses(options.jobs, std::move(grid));
  if (!result) return tl::unexpected<Error>(result.error());
  Findings out{.plot = {.title = "Packets thrown away for one new switch, 25 % load",
                        .x_label = "switches",
                        .y_label = "packets"}};
  result->each([&](std::size_t size, bool comes) {
    for (std::size_t mode = 0; mode < kTechniques.size(); ++mode) {
      const LossSums& sums = result->at(size, comes)[mode];
      const double switches = result->grid.places[size].x;
      const auto published = printed(size, mode);
      std::vector<NamedCell> row{
          {"switches", switches},
          {"change", print_direction(comes)},
          {"mode", kTechniques[mode].name},
          {"runs", sums.discarded.size()},
          {"discarded_mean", sums.discarded.mean()},
          {"discarded_stddev", sums.discarded.deviation()},
          {"published_discarded", published ? TableCell(published->of(comes)) : TableCell()},
          {"unexplained_mean", sums.unexplained.mean()},
          {"time_mean_s", sums.time.mean()}};
      append_causes(row, sums);
      out.add_row(row);
      if (comes) out.plot.add_point(kTechniques[mode].name, switches, sums.discarded.mean());
    }
  });
  out.verdicts = decide_techniques(*result);
  return out;
}

// In time.

constexpr ClaimSpec kLossCourse[] = {
    {.id = "H15-activation",
     .text = "a new switch costs no packet before tables are written",
     .source = "thesis, Figures 84 and 85",
     .measured = "at most {most:.0f} packets",
     .expected = "none"},
    {.id = "H15-deactivation",
     .text = "a dead switch costs packets from the change itself on until tables are written",
     .source = "thesis, Figures 84 and 85",
     .measured = "in each run at least {least:.1f} % of the milliseconds before have a loss",
     .expected = "at least 95 %"},
    {.id = "H15-end",
     .text = "once tables are in, nothing is lost but what hosts that are cut off send or are sent",
     .source = "thesis, Figures 84 and 85",
     .measured = "at most {most:.0f} packets",
     .expected = "none"},
    {.id = "H19-valley",
     .text = "while everything is deactivated hardly anything arrives",
     .source = "thesis, Figures 99 to 101",
     .measured = "in the worst millisecond at most {most:.1f} % of what arrived before, in every "
                 "run",
     .expected = "at most 10 %"},
    {.id = "H19-dependencies",
     .text = "with cut-node dependencies there is no such valley",
     .source = "thesis, Figures 99 to 101",
     .measured = "in the worst millisecond at least {least:.1f} %",
     .expected = "at least 80 %"},
    {.id = "certified-flat",
     .text = "with certified transitions there is none either",
     .source = "proved transitions",
     .measured = "in the worst millisecond at least {least:.1f} %",
     .expected = "at least 80 %"},
    {.id = "certified-loss",
     .text = "a certified transition loses no packet but what the dead switch takes with it",
     .source = "proved transitions",
     .must_hold = true,
     .measured = "{most:.0f} packets",
     .expected = "none"},
};

constexpr Technique kOrder[] = {kFull, kProvisional, kPorts, kDependencies, kNone, kProved};

constexpr Picos kSample = kMilli;

struct Case {
  Technique mode = kFull;
  ManagedChange change;
  unsigned switches = 0;
};

std::vector<Case> cases_of(const ExperimentOptions& options) {
  std::vector<Case> out;
  for (std::size_t size = 0; size < (options.quick ? 1u : 2u); ++size) {
    const PublishedDiscards& row = kTable29[size];
    const std::string fabric = irregular4(row.size, 1);
    const std::vector<std::uint32_t> switches = Subnet(fabric, {}).other_switches();
    const std::size_t step = options.quick ? switches.size() : size + 1;
    for (const bool comes : {true, false}) {
      for (std::size_t i = 0; i < switches.size(); i += step) {
        for (const Technique mode : kOrder) {
          out.push_back({mode,
                         {.fabric = fabric,
                          .preset = kPresets[0],
                          .how = mode_of(kTechniques[mode].words),
                          .node = switches[i],
                          .comes = comes,
                          .load = row.load(),
                          .after = std::chrono::milliseconds(20),
                          .sample = Duration{kSample / kNano}},
                         row.size.switches});
        }
      }
    }
  }
  return out;
}

double lost(const Interval& interval) {
  double sum = 0;
  for (const std::uint64_t count : interval.discarded) sum += double(count);
  return sum;
}

/// One run, by its three periods: until tables are written, meanwhile, and once they are in.
/// Intervals that a boundary falls into are of the one in the middle.
struct Course {
  double writing = 0;  // seconds from the change
  double in = 0;
  double lost_before = 0;
  double lost_writing = 0;
  double lost_after = 0;         // but for what severed hosts lose
  double lossy_before = 0;       // share of the samples before, in which something is lost
  double lowest = 1;             // of what arrives, as a share of the last ones before writing
  std::vector<double> arriving;  // per sample

  explicit Course(const AssimilationCost& cost) {
    writing = cost.detected + cost.discovery + cost.computing;
    in = cost.detected + cost.time();
    const auto whole = [](double time) { return static_cast<Picos>(time * double(kSecond)); };
    const Picos begin = whole(writing);
    const Picos end = whole(in) + kSample;
    Sample before, level;
    for (const auto& [interval, severed] : cost.timeline) {
      if (interval.end - interval.begin < kSample) continue;  // cut short where something happened
      arriving.push_back(double(interval.delivered));
      if (interval.end <= begin) {
        if (interval.begin >= 0) before.add(lost(interval) > 0 ? 1 : 0);
        lost_before += lost(interval);
        if (interval.end + 10 * kSample > begin) level.add(double(interval.delivered));
      } else if (interval.begin < end) {
        lost_writing += lost(interval);
        const bool inside = interval.begin >= begin && interval.end <= whole(in);
        if (inside) lowest = std::min(lowest, double(interval.delivered) / level.mean());
      } else {
        lost_after += lost(interval) - double(severed);
      }
    }
    lossy_before = before.mean();
  }
};

Result<Findings> loss_course(const ExperimentOptions& options) {
  const std::vector<Case> cases = cases_of(options);
  const auto costs = collect<AssimilationCost>(
      options.jobs, cases.size(), [&](std::size_t i) { return measure_change(cases[i].change); });
  if (!costs) return tl::unexpected<Error>(costs.error());
  Findings out{.plot = {.title = "Packets that arrive while a switch comes, 25 % load",
                        .x_label = "milliseconds",
                        .y_label = "packets per millisecond"}};
  Range early, lossy, late, valley, dependencies, certified;
  double unexplained = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto& [mode, change, switches] = cases[i];
    const Course course((*costs)[i]);
    out.add_row({{"switches", switches},
                 {"change", print_direction(change.comes)},
                 {"mode", kTechniques[mode].name},
                 {"node", change.node},
                 {"writing_s", course.writing},
                 {"in_s", course.in},
                 {"lost_before_writing", course.lost_before},
                 {"lost_while_writing", course.lost_writing},
                 {"lost_after", course.lost_after},
                 {"lossy_samples_before", course.lossy_before},
                 {"lowest_arriving", course.lowest},
                 {"unexplained", (*costs)[i].unexplained}});
    if (mode == kFull || mode == kProvisional) valley.add(100 * course.lowest);
    if (mode == kDependencies) dependencies.add(100 * course.lowest);
    if (mode == kProved) {
      certified.add(100 * course.lowest);
      unexplained += (*costs)[i].unexplained;
    } else {
      if (change.comes) early.add(course.lost_before);
      if (!change.comes) lossy.add(100 * course.lossy_before);
      late.add(course.lost_after);
    }
    if (i >= std::size(kOrder)) continue;
    for (std::size_t k = 0; k < course.arriving.size(); ++k) {
      out.plot.add_point(kTechniques[mode].name, double(k), course.arriving[k]);
    }
  }
  out.verdicts = decide(kLossCourse,
                        {{"H15-activation", early},
                         {"H15-deactivation", lossy},
                         {"H15-end", late},
                         {"H19-valley", valley},
                         {"H19-dependencies", dependencies},
                         {"certified-flat", certified},
                         {"certified-loss", unexplained}});
  return out;
}

}  // namespace
}  // namespace smd::sim::technique_losses

namespace smd::sim {

std::vector<Experiment> technique_tables() {
  return {{.name = "003-loss-course",
           .source = "thesis, Figures 84, 85 and 99 to 101",
           .about = "when packets are technique_losses::lost while a change is taken in, and what "
                    "still arrives",
           .claims = technique_losses::kLossCourse,
           .run = technique_losses::loss_course},
          {.name = "003-technique-losses",
           .source = "thesis, Tables 22 and 25, Figures 95 to 98",
           .about = "packets thrown away by each way to distribute tables, and provisional routes",
           .claims = technique_losses::kTechniqueLosses,
           .run = technique_losses::technique_losses}};
}

}  // namespace smd::sim
