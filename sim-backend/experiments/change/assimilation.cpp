// A change from its detection until routes are in: the basic manager against the improved one, and
// what provisional routes are worth by themselves.
#include "sim-backend/experiments/change/experiments.h"

#include <fmt/core.h>

#include <map>

#include "sim-backend/experiments/change/managed_change.h"
#include "sim-backend/experiments/change/published.h"
#include "sim-backend/lab/parallel.h"
#include "sim-backend/lab/statistics.h"
#include "smd/base/check.h"

namespace smd::sim {
namespace {

constexpr ClaimSpec kClaims[] = {
    {.id = "H13-provisional",
     .text = "provisional routes are in after the published share of the time without them",
     .source = "thesis, Table 21"},
    {.id = "H13-final",
     .text = "final routes after provisional ones take little longer than final ones alone",
     .source = "thesis, Table 21"},
    {.id = "H24-activation",
     .text = "the improved manager takes in a new switch faster by the published factors",
     .source = "thesis, Table 28"},
    {.id = "H24-deactivation",
     .text = "the improved manager takes in a dead switch faster by the published factors",
     .source = "thesis, Table 28"},
    {.id = "H24-grows",
     .text = "the gain of the improved manager grows with the network",
     .source = "thesis, Table 28",
     .must_hold = true},
    {.id = "H25-gain",
     .text = "the largest share of the gain is computing routes",
     .source = "thesis, Figure 115"},
    {.id = "H25-phase",
     .text = "computing routes is the longest phase of both managers",
     .source = "thesis, Figure 115"},
    {.id = "H26", .text = "the improved manager sends fewer SMPs", .source = "thesis, Figure 116"},
    {.id = "H26-discovery",
     .text = "it saves them mostly in discovery",
     .source = "thesis, Figure 116"},
};

struct Mode {
  const char* name;
  const char* words;
};

enum : std::size_t { kBasic, kImproved, kFeraAlone, kProvisional, kModes };

constexpr std::array<Mode, kModes> kModeTable{{
    {"basic", "basic"},
    {"improved", "improved"},
    {"final-only", "partial+fera+deactivate-all+whole+literal"},
    {"provisional", "partial+pira-fera+deactivate-all+whole+literal"},
}};

struct Sums {
  Sample time, until_final, discovery, computing, distribution;
  Sample smps, discovery_smps, distribution_smps, all_smps;

  void add(const AssimilationCost& cost) {
    time.add(cost.time());
    until_final.add(cost.until_final);
    discovery.add(cost.discovery);
    computing.add(cost.computing);
    distribution.add(cost.distribution);
    smps.add(cost.smps());
    discovery_smps.add(cost.discovery_smps);
    distribution_smps.add(cost.distribution_smps);
    all_smps.add(cost.all_smps);
  }
};

/// Of one preset, size and kind of change.
using ByMode = std::array<Sums, kModes>;

struct Case {
  std::size_t group = 0;
  std::size_t mode = 0;
  ManagedChange change;
};

double published_time(const PublishedAssimilation& table28,
                      const PublishedProvisional& table21,
                      std::size_t mode,
                      bool comes) {
  const std::array<Published, kModes> means{
      table28.basic, table28.improved, table21.basic, table21.provisional};
  return comes ? means[mode].activation : means[mode].deactivation;
}

/// What was measured of one size and kind of change, in the thesis preset.
struct Group {
  std::size_t size = 0;  // place in the published tables
  bool comes = false;
  ByMode modes;
};

class Verdicts {
 public:
  void add(const Group& group) {
    const ByMode& m = group.modes;
    const auto pick = [&](const Published& p) {
      return group.comes ? p.activation : p.deactivation;
    };
    const auto share = [&](double sample, double base, const Published& p, const Published& q) {
      return (sample / base) / (pick(p) / pick(q));
    };
    const PublishedProvisional& t21 = kTable21[group.size];
    const PublishedAssimilation& t28 = kTable28[group.size];
    const double alone = m[kFeraAlone].time.mean();
    provisional_.add(share(m[kProvisional].time.mean(), alone, t21.provisional, t21.basic));
    most_final_ = std::max(most_final_, m[kProvisional].until_final.mean() / alone);
    least_final_ = std::min(least_final_, m[kProvisional].until_final.mean() / alone);

    const Sums& basic = m[kBasic];
    const Sums& improved = m[kImproved];
    const double gain = basic.time.mean() / improved.time.mean();
    gains_[group.comes ? 0 : 1].push_back(gain);
    (group.comes ? up_ : down_)
        .add(share(basic.time.mean(), improved.time.mean(), t28.basic, t28.improved));

    const double saved = basic.time.mean() - improved.time.mean();
    const double computing = basic.computing.mean() - improved.computing.mean();
    least_gain_share_ = std::min(least_gain_share_, computing / saved);
    for (const Sums* each : {&basic, &improved}) {
      const double other = std::max(each->discovery.mean(), each->distribution.mean());
      least_dominance_ = std::min(least_dominance_, each->computing.mean() / other);
    }
    const double smps = basic.smps.mean() - improved.smps.mean();
    const double discovery = basic.discovery_smps.mean() - improved.discovery_smps.mean();
    most_smps_ = std::max(most_smps_, improved.smps.mean() / basic.smps.mean());
    most_all_smps_ = std::max(most_all_smps_, improved.all_smps.mean() / basic.smps.mean());
    least_discovery_ = std::min(least_discovery_, discovery / smps);
  }

  [[nodiscard]] std::vector<Judgement> judge() const {
    const auto gains = [&](std::size_t k) {
      std::string text;
      for (const double gain : gains_[k])
        text += fmt::format("{}{:.2f}", text.empty() ? "" : ", ", gain);
      return text;
    };
    const bool grows = std::ranges::is_sorted(gains_[0]) && std::ranges::is_sorted(gains_[1]);
    return {
        {.id = "H13-provisional",
         .measured = "a share that is " + provisional_.print(),
         .expected = "within 15 % of the published",
         .holds = provisional_.within(0.15)},
        {.id = "H13-final",
         .measured = fmt::format("{:.3f} to {:.3f} times the time", least_final_, most_final_),
         .expected = "1.0 to 1.25 times",
         .holds = least_final_ >= 1 && most_final_ <= 1.25},
        {.id = "H24-activation",
         .measured = fmt::format("factors {}; {}", gains(0), up_.print()),
         .expected = "within 20 % of the published",
         .holds = up_.within(0.2)},
        {.id = "H24-deactivation",
         .measured = fmt::format("factors {}; {}", gains(1), down_.print()),
         .expected = "within 20 % of the published",
         .holds = down_.within(0.2)},
        {.id = "H24-grows",
         .measured = fmt::format("factors {} and {}", gains(0), gains(1)),
         .expected = "rising with the size",
         .holds = grows},
        {.id = "H25-gain",
         .measured = fmt::format("{:.3f} of the gain where it is least", least_gain_share_),
         .expected = "more than 0.5",
         .holds = least_gain_share_ > 0.5},
        {.id = "H25-phase",
         .measured = fmt::format("{:.2f} times the next phase where it is least", least_dominance_),
         .expected = "more than 1 at every size",
         .holds = least_dominance_ > 1},
        {.id = "H26",
         .measured = fmt::format("at most {:.3f} times the SMPs until routes are in; {:.3f} times "
                                 "until they are final",
                                 most_smps_,
                                 most_all_smps_),
         .expected = "fewer until routes are in",
         .holds = most_smps_ < 1},
        {.id = "H26-discovery",
         .measured = fmt::format("{:.3f} of what is saved where it is least", least_discovery_),
         .expected = "more than 0.5",
         .holds = least_discovery_ > 0.5},
    };
  }

 private:
  Farthest provisional_, up_, down_;
  double least_final_ = 1e9, most_final_ = 0;
  std::array<std::vector<double>, 2> gains_;
  double least_gain_share_ = 1e9;
  double least_dominance_ = 1e9;
  double most_smps_ = 0, most_all_smps_ = 0;
  double least_discovery_ = 1e9;
};

std::vector<Case> cases_of(const ExperimentOptions& options, std::size_t sizes) {
  const std::size_t seeds = options.quick ? 1 : 3;
  std::vector<Case> out;
  std::size_t group = 0;
  for (const Preset& preset : kPresets) {
    for (std::size_t size = 0; size < sizes; ++size) {
      for (const bool comes : {true, false}) {
        for (std::size_t seed = 1; seed <= seeds; ++seed) {
          const std::string fabric = irregular4(kTable28[size].size, seed);
          const std::vector<std::uint32_t> switches =
              Subnet(fabric, {.preset = preset}).other_switches();
          const std::size_t step = options.quick ? switches.size() / 3 : 1;
          for (std::size_t i = 0; i < switches.size(); i += step) {
            for (std::size_t mode = 0; mode < kModes; ++mode) {
              const auto how = parse_reconfiguration_mode(kModeTable[mode].words);
              SMD_CHECK(how.has_value(), "a mode that is no mode");
              out.push_back({group, mode, {fabric, preset, *how, switches[i], comes}});
            }
          }
        }
        ++group;
      }
    }
  }
  return out;
}

Result<Findings> run(const ExperimentOptions& options) {
  const std::size_t sizes = options.quick ? 2 : kTable28.size();
  const std::vector<Case> cases = cases_of(options, sizes);
  const auto costs = collect<AssimilationCost>(
      options.jobs, cases.size(), [&](std::size_t i) { return measure_change(cases[i].change); });
  if (!costs) return tl::unexpected<Error>(costs.error());
  std::vector<ByMode> groups(2 * sizes * kPresets.size());
  for (std::size_t i = 0; i < cases.size(); ++i)
    groups[cases[i].group][cases[i].mode].add((*costs)[i]);

  Findings out{.columns = {"preset",
                           "switches",
                           "nodes",
                           "change",
                           "mode",
                           "runs",
                           "time_mean_s",
                           "time_stddev_s",
                           "until_final_mean_s",
                           "discovery_s",
                           "computing_s",
                           "distribution_s",
                           "smps_mean",
                           "discovery_smps",
                           "distribution_smps",
                           "all_smps_mean",
                           "published_time_s"},
               .plot = {.title = "From detection until routes are in, thesis preset",
                        .x_label = "switches",
                        .y_label = "seconds",
                        .log_y = true}};
  Verdicts verdicts;
  std::map<std::string, Series> lines;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const Group group{.size = g / 2 % sizes, .comes = g % 2 == 0, .modes = groups[g]};
    const std::size_t preset = g / 2 / sizes;
    const NetworkSize size = kTable28[group.size].size;
    const std::string change = group.comes ? "activation" : "deactivation";
    for (std::size_t mode = 0; mode < kModes; ++mode) {
      const Sums& s = group.modes[mode];
      out.rows.push_back(
          {std::string(kPresets[preset].name),
           double(size.switches),
           double(size.nodes),
           change,
           std::string(kModeTable[mode].name),
           double(s.time.size()),
           s.time.mean(),
           s.time.deviation(),
           s.until_final.mean(),
           s.discovery.mean(),
           s.computing.mean(),
           s.distribution.mean(),
           s.smps.mean(),
           s.discovery_smps.mean(),
           s.distribution_smps.mean(),
           s.all_smps.mean(),
           published_time(kTable28[group.size], kTable21[group.size], mode, group.comes)});
      if (preset > 0 || mode > kImproved) continue;
      Series& line = lines[std::string(kModeTable[mode].name) + ", " + change];
      line.points.emplace_back(size.switches, s.time.mean());
    }
    if (preset == 0) verdicts.add(group);
  }
  for (auto& [name, line] : lines) {
    line.name = name;
    out.plot.series.push_back(std::move(line));
  }
  out.judgements = verdicts.judge();
  return out;
}

}  // namespace

Experiment assimilation() {
  return {.name = "003-assimilation",
          .source = "thesis, Tables 21 and 28, Figures 115 and 116",
          .about = "from the detection of a change until routes are in, basic against improved",
          .claims = kClaims,
          .run = run};
}

}  // namespace smd::sim
