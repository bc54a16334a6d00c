// The course of a change, millisecond by millisecond: when packets are lost, and what still arrives
// while tables are written, by how deadlocks are kept out meanwhile.
#include "sim-backend/experiments/change/experiments.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "sim-backend/experiments/change/managed_change.h"
#include "sim-backend/experiments/change/published.h"
#include "sim-backend/lab/parallel.h"
#include "sim-backend/lab/statistics.h"
#include "smd/base/check.h"

namespace smd::sim {
namespace {

constexpr ClaimSpec kClaims[] = {
    {.id = "H15-activation",
     .text = "a new switch costs no packet before tables are written",
     .source = "thesis, Figures 84 and 85"},
    {.id = "H15-deactivation",
     .text = "a dead switch costs packets from the change itself on until tables are written",
     .source = "thesis, Figures 84 and 85"},
    {.id = "H15-end",
     .text = "once tables are in, nothing is lost but what hosts that are cut off send or are sent",
     .source = "thesis, Figures 84 and 85"},
    {.id = "H19-valley",
     .text = "while everything is deactivated hardly anything arrives",
     .source = "thesis, Figures 99 to 101"},
    {.id = "H19-dependencies",
     .text = "with cut-node dependencies there is no such valley",
     .source = "thesis, Figures 99 to 101"},
    {.id = "certified-flat",
     .text = "with certified transitions there is none either",
     .source = "proved transitions"},
    {.id = "certified-loss",
     .text = "a certified transition loses no packet but what the dead switch takes with it",
     .source = "proved transitions",
     .must_hold = true},
};

struct Mode {
  std::string_view name;
  std::string_view words;
};

enum : std::size_t { kFull, kProvisional, kPorts, kDependencies, kNone, kCertified, kModes };

constexpr std::array<Mode, kModes> kModeTable{{
    {"full", "partial+fera+deactivate-all+whole+literal"},
    {"full, provisional", "partial+pira-fera+deactivate-all+whole+literal"},
    {"cut-ports", "partial+fera+cut-ports+whole+literal"},
    {"cut-dependencies", "partial+fera+cut-dependencies+whole+literal"},
    {"none", "partial+fera+none+whole+literal"},
    {"certified", "certified"},
}};

constexpr Picos kSample = kMilli;

struct Case {
  std::size_t mode = 0;
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
        for (std::size_t mode = 0; mode < kModes; ++mode) {
          const auto how = parse_reconfiguration_mode(kModeTable[mode].words);
          SMD_CHECK(how.has_value(), "a mode that is no mode");
          out.push_back({mode,
                         {.fabric = fabric,
                          .preset = kPresets[0],
                          .how = *how,
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

/// One run, by its three stretches: until tables are written, meanwhile, and once they are in.
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

class Verdicts {
 public:
  void add(const Case& run, const AssimilationCost& cost, const Course& course) {
    if (run.mode == kCertified) {
      worst_certified_ = std::min(worst_certified_, course.lowest);
      unexplained_ += cost.unexplained;
      return;
    }
    if (run.change.comes) {
      early_ = std::max(early_, course.lost_before);
    } else {
      least_lossy_ = std::min(least_lossy_, course.lossy_before);
    }
    late_ = std::max(late_, course.lost_after);
    if (run.mode == kFull || run.mode == kProvisional) valley_ = std::max(valley_, course.lowest);
    if (run.mode == kDependencies) dependencies_ = std::min(dependencies_, course.lowest);
  }

  [[nodiscard]] std::vector<Judgement> judge() const {
    const auto percent = [](const char* text, double share) {
      return fmt::format("{} {:.1f} %", text, 100 * share);
    };
    return {{.id = "H15-activation",
             .measured = fmt::format("at most {:.0f} packets", early_),
             .expected = "none",
             .holds = early_ == 0},
            {.id = "H15-deactivation",
             .measured = percent("in each run at least", least_lossy_) +
                         " of the milliseconds before have a loss",
             .expected = "at least 95 %",
             .holds = least_lossy_ >= 0.95},
            {.id = "H15-end",
             .measured = fmt::format("at most {:.0f} packets", late_),
             .expected = "none",
             .holds = late_ == 0},
            {.id = "H19-valley",
             .measured = percent("in the worst millisecond at most", valley_) +
                         " of what arrived before, in every run",
             .expected = "at most 10 %",
             .holds = valley_ <= 0.1},
            {.id = "H19-dependencies",
             .measured = percent("in the worst millisecond at least", dependencies_),
             .expected = "at least 80 %",
             .holds = dependencies_ >= 0.8},
            {.id = "certified-flat",
             .measured = percent("in the worst millisecond at least", worst_certified_),
             .expected = "at least 80 %",
             .holds = worst_certified_ >= 0.8},
            {.id = "certified-loss",
             .measured = fmt::format("{:.0f} packets", unexplained_),
             .expected = "none",
             .holds = unexplained_ == 0}};
  }

 private:
  double early_ = 0, late_ = 0, unexplained_ = 0, valley_ = 0;
  double least_lossy_ = 1, dependencies_ = 1, worst_certified_ = 1;
};

Result<Findings> run(const ExperimentOptions& options) {
  const std::vector<Case> cases = cases_of(options);
  const auto costs = collect<AssimilationCost>(
      options.jobs, cases.size(), [&](std::size_t i) { return measure_change(cases[i].change); });
  if (!costs) return tl::unexpected<Error>(costs.error());
  Findings out{.columns = {"switches",
                           "change",
                           "mode",
                           "node",
                           "writing_s",
                           "in_s",
                           "lost_before_writing",
                           "lost_while_writing",
                           "lost_after",
                           "lossy_samples_before",
                           "lowest_arriving",
                           "unexplained"},
               .plot = {.title = "Packets that arrive while a switch comes, 25 % load",
                        .x_label = "milliseconds",
                        .y_label = "packets per millisecond"}};
  Verdicts verdicts;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const ManagedChange& change = cases[i].change;
    const Course course((*costs)[i]);
    verdicts.add(cases[i], (*costs)[i], course);
    out.rows.push_back({double(cases[i].switches),
                        std::string(change.comes ? "activation" : "deactivation"),
                        std::string(kModeTable[cases[i].mode].name),
                        double(change.node),
                        course.writing,
                        course.in,
                        course.lost_before,
                        course.lost_writing,
                        course.lost_after,
                        course.lossy_before,
                        course.lowest,
                        (*costs)[i].unexplained});
    if (i >= kModes) continue;
    Series line{.name = std::string(kModeTable[i].name)};
    for (std::size_t k = 0; k < course.arriving.size(); ++k) {
      line.points.emplace_back(double(k), course.arriving[k]);
    }
    out.plot.series.push_back(std::move(line));
  }
  out.judgements = verdicts.judge();
  return out;
}

}  // namespace

Experiment loss_course() {
  return {.name = "003-loss-course",
          .source = "thesis, Figures 84, 85 and 99 to 101",
          .about = "when packets are lost while a change is taken in, and what still arrives",
          .claims = kClaims,
          .run = run};
}

}  // namespace smd::sim
