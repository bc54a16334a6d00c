// A pulse of a fifth of the hosts to one of them in a bidirectional multistage network, under every
// mechanism. Chosen, where the source is silent: a batch of 14 packets per hot source, exponential
// gaps, a speed-up of 2, slots up to k^n, peaks as means of windows of 10,000 cycles.
#include "sim-backend/experiments/hot_spot_pulse.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>

#include "sim-backend/experiments/parallel.h"
#include "sim-backend/experiments/pulse_run.h"

namespace smd::sim {
namespace {

constexpr std::string_view kSource = "Ferrer 2012, BMIN 4-ary 5-fly, 512 hosts, pattern I";

constexpr ClaimSpec kClaims[] = {
    {.id = "R1",
     .text =
         "IPM and RPM mark 93 percent of hot packets, OPM 98; 5 to 11 percent of cold ones, RPM "
         "more of them than IPM",
     .source = "Ferrer 2012, Figure 4.3"},
    {.id = "R2",
     .text = "IOPM gives both marks to 98 percent of hot packets and 3 percent of cold ones",
     .source = "Ferrer 2012, Figure 4.7"},
    {.id = "R3",
     .text = "MVPM validates 97 percent of hot packets and 0.1 percent of cold ones",
     .source = "Ferrer 2012, Figure 4.11"},
    {.id = "R6",
     .text = "without congestion control cold packets take more than 140,000 cycles and their "
             "throughput collapses",
     .source = "Ferrer 2012, Figures 8.4 to 8.6"},
    {.id = "R7-cold",
     .text = "MVCM keeps cold packets below 4,000 cycles at medium load, at least 35 times less",
     .source = "Ferrer 2012, Figure 8.7"},
    {.id = "R7-link",
     .text = "MVCM keeps the hot spot's link busy throughout",
     .source = "Ferrer 2012, Figure 8.10"},
    {.id = "R8",
     .text =
         "at low and high load MVCM cuts the peak from 100,000 to 2,000 and from 300,000 to 4,000",
     .source = "Ferrer 2012, Figure 8.11"},
    {.id = "R11",
     .text =
         "at medium and high load cold latency grows from IOCM and MVCM over Pfister and Renato "
         "to none",
     .source = "Ferrer 2012, Figure 8.20"},
    {.id = "R12",
     .text =
         "at medium load all four stay below 10,000; MVCM and IOCM are 3 times below Renato and "
         "2 times below Pfister",
     .source = "Ferrer 2012, Figure 8.21"},
    {.id = "R13",
     .text = "hot packets: Renato takes longest, Pfister leaves gaps that MVCM does not",
     .source = "Ferrer 2012, Figure 8.22"},
    {.id = "R14",
     .text = "at low load the four are alike, at high load Renato and Pfister fall behind",
     .source = "Ferrer 2012, Figures 8.23 and 8.24"},
    {.id = "R19",
     .text =
         "windows with slots are best at high load and as good as windows alone below; slots alone "
         "are worse",
     .source = "Ferrer 2012, Figure 8.31"},
    {.id = "R20",
     .text = "windows alone beat slots alone under every marking",
     .source = "Ferrer 2012, Figure 8.32"},
    {.id = "R21",
     .text = "slots without a cap leave gaps that capped ones do not",
     .source = "Ferrer 2012, Figure 8.33"},
    {.id = "R22",
     .text = "MVCM, even uncapped, drains the pulse sooner and with a lower peak than Pfister",
     .source = "Ferrer 2012, Figures 8.33 and 8.34"},
    {.id = "R23",
     .text = "immediate recovery is no different at low load and better at medium and high",
     .source = "Ferrer 2012, Figure 8.35"},
};

struct Level {
  std::string_view name;
  double rate;  // bytes per cycle and host: Table 8.2, over four hosts of a switch
};

constexpr std::array kLevels{Level{"low", 0.0625}, Level{"medium", 0.1325}, Level{"high", 0.19}};

struct Case {
  std::string name;
  std::size_t level;
  CongestionSpec spec;
};

CongestionSpec preset(std::string_view name) {
  CongestionSpec spec;
  (void)find_mechanism(name, spec);
  return spec;
}

CongestionSpec with_marking(std::string_view name) {
  CongestionSpec spec = preset("mvcm");
  (void)find_marking(name, spec.marking);
  if (spec.marking == MarkingKind::Opm) spec.thresholds.output = 90;
  return spec;
}

CongestionSpec window_alone(CongestionSpec spec) {
  spec.pace = PaceKind::None;
  return spec;
}

CongestionSpec slots_alone(CongestionSpec spec) {
  spec.window = {};
  return spec;
}

CongestionSpec marks_alone(std::string_view name) {
  const CongestionSpec whole = with_marking(name);
  return {.marking = whole.marking, .thresholds = whole.thresholds};
}

constexpr std::array kOtherMarkings{"ipm", "rpm", "opm", "iopm"};

std::vector<Case> cases() {
  std::vector<Case> out;
  for (std::size_t level = 0; level < kLevels.size(); ++level) {
    for (const char* name : {"none", "standard", "renato", "pfister", "iocm", "mvcm"}) {
      out.push_back({name, level, preset(name)});
    }
    out.push_back({"mvpm window", level, window_alone(preset("mvcm"))});
    out.push_back({"mvpm slots", level, slots_alone(preset("mvcm"))});
    CongestionSpec progressive = preset("mvcm");
    progressive.recovery = Recovery::Progressive;
    out.push_back({"mvcm progressive", level, progressive});
  }
  for (const char* name : kOtherMarkings) {
    out.push_back({fmt::format("{} window", name), 2, window_alone(with_marking(name))});
    out.push_back({fmt::format("{} slots", name), 2, slots_alone(with_marking(name))});
  }
  for (const char* name : {"ipm", "rpm", "opm", "iopm", "mvpm"}) {
    out.push_back({fmt::format("{} marks", name), 1, marks_alone(name)});
  }
  CongestionSpec uncapped = preset("mvcm");
  uncapped.cap = cc::WaitCap::None;
  out.push_back({"mvcm uncapped", 1, uncapped});
  return out;
}

using Results = std::map<std::pair<std::string, std::size_t>, PulseResult>;

const PulseResult& at(const Results& results, const std::string& name, std::size_t level) {
  return results.at({name, level});
}

std::string peaks(const Results& results, std::size_t level) {
  const auto peak = [&](const char* name) { return at(results, name, level).cold.peak_latency; };
  return fmt::format("renato {:.0f}, pfister {:.0f}, iocm {:.0f}, mvcm {:.0f}",
                     peak("renato"),
                     peak("pfister"),
                     peak("iocm"),
                     peak("mvcm"));
}

constexpr double kReading = 1.3;  // peaks are read off figures: 30 percent

/// Marks that nobody acts on: hot and cold packets that bear all that there are, in percent.
void judge_marks(const Results& r, std::vector<Judgement>& out) {
  const auto hot = [&](const std::string& name) {
    return 100 * at(r, name + " marks", 1).hot.fully_marked;
  };
  const auto cold = [&](const std::string& name) {
    return 100 * at(r, name + " marks", 1).cold.fully_marked;
  };
  const auto pair = [&](const std::string& name) {
    return fmt::format("{} {:.1f} and {:.1f}", name, hot(name), cold(name));
  };
  const auto near = [](double value, double to, double by) { return std::abs(value - to) <= by; };
  bool one_bit = near(hot("ipm"), 93, 5) && near(hot("rpm"), 93, 5) && near(hot("opm"), 98, 5) &&
                 cold("rpm") > cold("ipm");
  for (const char* name : {"ipm", "rpm", "opm"}) one_bit = one_bit && near(cold(name), 8, 6);
  out.push_back({"R1",
                 fmt::format("{}, {}, {} percent", pair("ipm"), pair("rpm"), pair("opm")),
                 "93, 93, 98 (5 points) and 5 to 11 (3 points), rpm above ipm",
                 one_bit});
  out.push_back({"R2",
                 pair("iopm") + " percent",
                 "98 (5 points) and 3 (3 points)",
                 near(hot("iopm"), 98, 5) && near(cold("iopm"), 3, 3)});
  out.push_back({"R3",
                 pair("mvpm") + " percent",
                 "97 (5 points) and 0.1 (1 point)",
                 near(hot("mvpm"), 97, 5) && near(cold("mvpm"), 0.1, 1)});
}

std::vector<Judgement> judge(const Results& r) {
  const auto cold = [&](const std::string& name, std::size_t level) {
    return at(r, name, level).cold.peak_latency;
  };
  const auto mean = [&](const std::string& name, std::size_t level) {
    return at(r, name, level).cold.mean_latency;
  };
  std::vector<Judgement> out;
  const auto add =
      [&](std::string_view id, std::string measured, std::string expected, bool holds) {
        out.push_back({id, std::move(measured), std::move(expected), holds});
      };
  const PulseResult& none = at(r, "none", 1);
  const PulseResult& mvcm = at(r, "mvcm", 1);
  const PulseResult& renato = at(r, "renato", 1);
  const PulseResult& pfister = at(r, "pfister", 1);
  const PulseResult& uncapped = at(r, "mvcm uncapped", 1);

  judge_marks(r, out);
  const double drop = none.least_cold_rate / none.cold_rate_before;
  add("R6",
      fmt::format("peak {:.0f} cycles, throughput down to {:.2f}", cold("none", 1), drop),
      "above 140000 (less 30 %), below 0.5",
      cold("none", 1) > 140'000 / kReading && drop < 0.5);
  add("R7-cold",
      fmt::format(
          "{:.0f} cycles, {:.1f} times less", cold("mvcm", 1), cold("none", 1) / cold("mvcm", 1)),
      "below 4000 (and 30 %), 35 times",
      cold("mvcm", 1) < 4000 * kReading && cold("none", 1) >= 35 * cold("mvcm", 1));
  add("R7-link",
      fmt::format("{:.3f} of it, without control {:.3f}", mvcm.link_share, none.link_share),
      "1.00, at least 0.97",
      mvcm.link_share >= 0.97);
  add("R8",
      fmt::format("{:.0f} to {:.0f}, {:.0f} to {:.0f}",
                  cold("none", 0),
                  cold("mvcm", 0),
                  cold("none", 2),
                  cold("mvcm", 2)),
      "100000 to 2000, 300000 to 4000 (30 %)",
      cold("none", 0) > 100'000 / kReading && cold("mvcm", 0) < 2000 * kReading &&
          cold("none", 2) > 300'000 / kReading && cold("mvcm", 2) < 4000 * kReading);

  bool ordered = true;
  std::string means;
  for (const std::size_t level : {1u, 2u}) {
    means +=
        fmt::format("{}{}: iocm {:.0f}, mvcm {:.0f}, pfister {:.0f}, renato {:.0f}, none {:.0f}",
                    means.empty() ? "" : "; ",
                    kLevels[level].name,
                    mean("iocm", level),
                    mean("mvcm", level),
                    mean("pfister", level),
                    mean("renato", level),
                    mean("none", level));
    const double best = std::max(mean("iocm", level), mean("mvcm", level));
    ordered = ordered && best < mean("pfister", level) &&
              mean("pfister", level) < mean("renato", level) &&
              mean("renato", level) < mean("none", level);
  }
  add("R11", means, "ascending", ordered);

  const double ours = std::max(cold("iocm", 1), cold("mvcm", 1));
  add("R12",
      peaks(r, 1),
      "below 10000 each; 3 and 2 times (30 %)",
      std::max({ours, cold("renato", 1), cold("pfister", 1)}) < 10'000 * kReading &&
          cold("renato", 1) > 3 / kReading * ours && cold("pfister", 1) > 2 / kReading * ours);
  add("R13",
      fmt::format("drained after {:.0f} (renato), {:.0f} (pfister), {:.0f} (mvcm); gaps of {:.0f} "
                  "(pfister), {:.0f} (mvcm)",
                  renato.drained,
                  pfister.drained,
                  mvcm.drained,
                  pfister.longest_gap,
                  mvcm.longest_gap),
      "renato last, pfister's gaps longer than mvcm's",
      renato.drained > std::max(pfister.drained, mvcm.drained) &&
          pfister.longest_gap > mvcm.longest_gap);
  const double low_best =
      std::min({cold("renato", 0), cold("pfister", 0), cold("iocm", 0), cold("mvcm", 0)});
  const double low_worst =
      std::max({cold("renato", 0), cold("pfister", 0), cold("iocm", 0), cold("mvcm", 0)});
  const double high = std::max(cold("iocm", 2), cold("mvcm", 2));
  add("R14",
      fmt::format("low: {}; high: {}", peaks(r, 0), peaks(r, 2)),
      "low within 2 times; high: renato and pfister above the others",
      low_worst < 2 * low_best && cold("renato", 2) > high && cold("pfister", 2) > high);

  const auto ablation = [&](std::size_t level) {
    return fmt::format("{}: both {:.0f}, window {:.0f}, slots {:.0f}",
                       kLevels[level].name,
                       mean("mvcm", level),
                       mean("mvpm window", level),
                       mean("mvpm slots", level));
  };
  const auto alike = [](double a, double b) { return std::max(a, b) < 1.1 * std::min(a, b); };
  add("R19",
      fmt::format("{}; {}; {}", ablation(0), ablation(1), ablation(2)),
      "low and medium alike to 10 %; high: both below window below slots",
      alike(mean("mvcm", 0), mean("mvpm window", 0)) &&
          alike(mean("mvcm", 1), mean("mvpm window", 1)) &&
          mean("mvcm", 2) < mean("mvpm window", 2) &&
          mean("mvpm window", 2) < mean("mvpm slots", 2));
  bool windows = mean("mvpm window", 2) < mean("mvpm slots", 2);
  std::string pairs =
      fmt::format("mvpm {:.0f} and {:.0f}", mean("mvpm window", 2), mean("mvpm slots", 2));
  for (const std::string name : kOtherMarkings) {
    const double window = mean(name + " window", 2), slots = mean(name + " slots", 2);
    windows = windows && window < slots;
    pairs += fmt::format(", {} {:.0f} and {:.0f}", name, window, slots);
  }
  add("R20", pairs, "the first below the second", windows);
  add("R21",
      fmt::format("gaps of {:.0f} uncapped, {:.0f} capped", uncapped.longest_gap, mvcm.longest_gap),
      "uncapped longer, capped below 2780 (10 packets)",
      uncapped.longest_gap > mvcm.longest_gap && mvcm.longest_gap < 2780);
  add("R22",
      fmt::format("drained after {:.0f} and {:.0f}, peaks of {:.0f} and {:.0f}",
                  uncapped.drained,
                  pfister.drained,
                  uncapped.hot.peak_latency,
                  pfister.hot.peak_latency),
      "the first below the second",
      uncapped.drained < pfister.drained && uncapped.hot.peak_latency < pfister.hot.peak_latency);
  const auto recovery = [&](std::size_t level) {
    return fmt::format("{}: {:.0f} and {:.0f}",
                       kLevels[level].name,
                       mean("mvcm", level),
                       mean("mvcm progressive", level));
  };
  add("R23",
      fmt::format("{}; {}; {}", recovery(0), recovery(1), recovery(2)),
      "low alike to 5 %, then the first below the second",
      std::abs(mean("mvcm", 0) / mean("mvcm progressive", 0) - 1) < 0.05 &&
          mean("mvcm", 1) < mean("mvcm progressive", 1) &&
          mean("mvcm", 2) < mean("mvcm progressive", 2));
  return out;
}

Result<Findings> run(const ExperimentOptions& options) {
  PulseNetwork network;
  if (options.quick) {
    network = {.fabric = "bmin:k=4,stages=3", .warm_packets = 3000, .batch = 14};
  }
  const std::vector<Case> all = cases();
  auto measured = collect<PulseResult>(options.jobs, all.size(), [&](std::size_t i) {
    return run_pulse(network, all[i].spec, kLevels[all[i].level].rate, 1);
  });
  if (!measured) return tl::unexpected<Error>(measured.error());

  Findings out{.columns = {"mechanism",
                           "load",
                           "cold_mean_cycles",
                           "cold_peak_cycles",
                           "hot_mean_cycles",
                           "hot_peak_cycles",
                           "drained_cycles",
                           "link_share",
                           "least_link_share",
                           "longest_gap_cycles",
                           "cold_rate_before",
                           "least_cold_rate",
                           "cold_marked",
                           "hot_marked",
                           "hot_fully_marked",
                           "notices"},
               .plot = {.title = "Peak latency of cold packets during the pulse",
                        .x_label = "bytes per cycle and host",
                        .y_label = "cycles",
                        .log_y = true}};
  Results results;
  std::map<std::string, Series> lines;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const PulseResult& p = (*measured)[i];
    results[{all[i].name, all[i].level}] = p;
    const Level& level = kLevels[all[i].level];
    out.rows.push_back({all[i].name,
                        std::string(level.name),
                        p.cold.mean_latency,
                        p.cold.peak_latency,
                        p.hot.mean_latency,
                        p.hot.peak_latency,
                        p.drained,
                        p.link_share,
                        p.least_link_share,
                        p.longest_gap,
                        p.cold_rate_before,
                        p.least_cold_rate,
                        p.cold.marked,
                        p.hot.marked,
                        p.hot.fully_marked,
                        double(p.notices)});
    Series& line = lines[all[i].name];
    line.name = all[i].name;
    line.points.emplace_back(level.rate, p.cold.peak_latency);
  }
  for (auto& [name, line] : lines) {
    if (line.points.size() == kLevels.size()) out.plot.series.push_back(std::move(line));
  }
  out.judgements = judge(results);
  return out;
}

}  // namespace

Experiment hot_spot_pulse() {
  return {.name = "004-hot-spot-pulse",
          .source = kSource,
          .about = "what a pulse to one host does to everybody else, under every mechanism",
          .claims = kClaims,
          .run = run};
}

}  // namespace smd::sim
