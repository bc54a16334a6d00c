// A pulse of a fifth of the hosts to one of them in a bidirectional multistage network, under every
// mechanism. Chosen, where the source is silent: a batch of 14 packets per hot source, exponential
// gaps, a speed-up of 2, slots up to k^n, peaks as means of windows of 10,000 cycles.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "sim-backend/experiments/congestion/network_cases.h"
#include "sim-backend/experiments/tables.h"
#include "sim-backend/lab/parallel.h"

namespace smd::sim::hot_spot_mechanisms {
namespace {

constexpr ClaimSpec kClaims[] = {
    {.id = "R1",
     .text =
         "IPM and RPM mark 93 percent of hot packets, OPM 98; 5 to 11 percent of cold ones, RPM "
         "more of them than IPM",
     .source = "Ferrer 2012, Figure 4.3",
     .expected = "93, 93, 98 (5 points) and 5 to 11 (3 points), rpm above ipm"},
    {.id = "R2",
     .text = "IOPM gives both marks to 98 percent of hot packets and 3 percent of cold ones",
     .source = "Ferrer 2012, Figure 4.7",
     .expected = "98 (5 points) and 3 (3 points)"},
    {.id = "R3",
     .text = "MVPM validates 97 percent of hot packets and 0.1 percent of cold ones",
     .source = "Ferrer 2012, Figure 4.11",
     .expected = "97 (5 points) and 0.1 (1 point)"},
    {.id = "R6",
     .text = "without congestion control cold packets take more than 140,000 cycles and their "
             "throughput collapses",
     .source = "Ferrer 2012, Figures 8.4 to 8.6",
     .expected = "above 140000 (less 30 %), below 0.5"},
    {.id = "R7-cold",
     .text = "MVCM keeps cold packets below 4,000 cycles at medium load, at least 35 times less",
     .source = "Ferrer 2012, Figure 8.7",
     .expected = "below 4000 (and 30 %), 35 times"},
    {.id = "R7-link",
     .text = "MVCM keeps the hot spot's link busy throughout",
     .source = "Ferrer 2012, Figure 8.10",
     .expected = "1.00, at least 0.97"},
    {.id = "R8",
     .text =
         "at low and high load MVCM cuts the peak from 100,000 to 2,000 and from 300,000 to 4,000",
     .source = "Ferrer 2012, Figure 8.11",
     .expected = "100000 to 2000, 300000 to 4000 (30 %)"},
    {.id = "R11",
     .text =
         "at medium and high load cold latency grows from IOCM and MVCM over Pfister and Renato "
         "to none",
     .source = "Ferrer 2012, Figure 8.20",
     .expected = "ascending"},
    {.id = "R12",
     .text =
         "at medium load all four stay below 10,000; MVCM and IOCM are 3 times below Renato and "
         "2 times below Pfister",
     .source = "Ferrer 2012, Figure 8.21",
     .expected = "below 10000 each; 3 and 2 times (30 %)"},
    {.id = "R13",
     .text = "hot packets: Renato takes longest, Pfister leaves gaps that MVCM does not",
     .source = "Ferrer 2012, Figure 8.22",
     .expected = "renato last, pfister's gaps longer than mvcm's"},
    {.id = "R14",
     .text = "at low load the four are alike, at high load Renato and Pfister fall behind",
     .source = "Ferrer 2012, Figures 8.23 and 8.24",
     .expected = "low within 2 times; high: renato and pfister above the others"},
    {.id = "R19",
     .text =
         "windows with slots are best at high load and as good as windows alone below; slots alone "
         "are worse",
     .source = "Ferrer 2012, Figure 8.31",
     .expected = "low and medium alike to 10 %; high: both below window below slots"},
    {.id = "R20",
     .text = "windows alone beat slots alone under every marking",
     .source = "Ferrer 2012, Figure 8.32",
     .expected = "the first below the second"},
    {.id = "R21",
     .text = "slots without a cap leave gaps that capped ones do not",
     .source = "Ferrer 2012, Figure 8.33",
     .expected = "uncapped longer, capped below 2780 (10 packets)"},
    {.id = "R22",
     .text = "MVCM, even uncapped, drains the pulse sooner and with a lower peak than Pfister",
     .source = "Ferrer 2012, Figures 8.33 and 8.34",
     .expected = "the first below the second"},
    {.id = "R23",
     .text = "immediate recovery is no different at low load and better at medium and high",
     .source = "Ferrer 2012, Figure 8.35",
     .expected = "low alike to 5 %, then the first below the second"},
};

/// Those whose windows and slots are run apart at high load, beside MVPM at every load.
constexpr std::array kOtherMarkings{"ipm", "rpm", "opm", "iopm"};

struct Case {
  std::string name;
  std::size_t level;  // of kHotSpotLevels
  CongestionSpec spec;
};

/// "MECHANISM", "MARKING window", "MARKING slots" or "MARKING marks", each once per level.
std::vector<Case> list_cases() {
  std::vector<Case> out;
  for (std::size_t level = 0; level < kHotSpotLevels.size(); ++level) {
    for (const char* name : {"none", "standard", "renato", "pfister", "iocm", "mvcm"}) {
      out.push_back({name, level, mechanism_of(name)});
    }
    out.push_back({"mvpm window", level, window_alone(mechanism_of("mvcm"))});
    out.push_back({"mvpm slots", level, slots_alone(mechanism_of("mvcm"))});
    CongestionSpec progressive = mechanism_of("mvcm");
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
  CongestionSpec uncapped = mechanism_of("mvcm");
  uncapped.cap = cc::WaitCap::None;
  out.push_back({"mvcm uncapped", 1, uncapped});
  return out;
}

/// By name and level of a case.
using ByCase = std::map<std::pair<std::string, std::size_t>, HotSpotResult>;

using Out = std::vector<Measured>;

const HotSpotResult& at(const ByCase& results, const std::string& name, std::size_t level) {
  return results.at({name, level});
}

/// Latencies of cold packets, in cycles.
struct Cold {
  const ByCase& results;

  [[nodiscard]] double peak(const std::string& name, std::size_t level) const {
    return at(results, name, level).cold.peak_latency;
  }

  [[nodiscard]] double mean(const std::string& name, std::size_t level) const {
    return at(results, name, level).cold.mean_latency;
  }
};

std::string peaks(const Cold& cold, std::size_t level) {
  return fmt::format("renato {:.0f}, pfister {:.0f}, iocm {:.0f}, mvcm {:.0f}",
                     cold.peak("renato", level),
                     cold.peak("pfister", level),
                     cold.peak("iocm", level),
                     cold.peak("mvcm", level));
}

constexpr double kReading = 1.3;  // peaks are read off figures: 30 percent

/// Marks that nobody acts on: hot and cold packets that bear all that there are, in percent.
void measure_marks(const ByCase& r, Out& out) {
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
  out.push_back(
      {"R1", fmt::format("{}, {}, {} percent", pair("ipm"), pair("rpm"), pair("opm")), one_bit});
  out.push_back(
      {"R2", pair("iopm") + " percent", near(hot("iopm"), 98, 5) && near(cold("iopm"), 3, 3)});
  out.push_back(
      {"R3", pair("mvpm") + " percent", near(hot("mvpm"), 97, 5) && near(cold("mvpm"), 0.1, 1)});
}

/// The best mechanism against none.
void measure_control(const ByCase& r, Out& out) {
  const Cold cold{r};
  const HotSpotResult& none = at(r, "none", 1);
  const HotSpotResult& mvcm = at(r, "mvcm", 1);
  const double drop = none.least_cold_rate / none.cold_rate_before;
  out.push_back(
      {"R6",
       fmt::format("peak {:.0f} cycles, throughput down to {:.2f}", cold.peak("none", 1), drop),
       cold.peak("none", 1) > 140'000 / kReading && drop < 0.5});
  out.push_back({"R7-cold",
                 fmt::format("{:.0f} cycles, {:.1f} times less",
                             cold.peak("mvcm", 1),
                             cold.peak("none", 1) / cold.peak("mvcm", 1)),
                 cold.peak("mvcm", 1) < 4000 * kReading &&
                     cold.peak("none", 1) >= 35 * cold.peak("mvcm", 1)});
  out.push_back(
      {"R7-link",
       fmt::format("{:.3f} of it, without control {:.3f}", mvcm.link_share, none.link_share),
       mvcm.link_share >= 0.97});
  out.push_back(
      {"R8",
       fmt::format("{:.0f} to {:.0f}, {:.0f} to {:.0f}",
                   cold.peak("none", 0),
                   cold.peak("mvcm", 0),
                   cold.peak("none", 2),
                   cold.peak("mvcm", 2)),
       cold.peak("none", 0) > 100'000 / kReading && cold.peak("mvcm", 0) < 2000 * kReading &&
           cold.peak("none", 2) > 300'000 / kReading && cold.peak("mvcm", 2) < 4000 * kReading});
}

/// Mechanisms against each other.
void measure_rivals(const ByCase& r, Out& out) {
  const Cold cold{r};
  const HotSpotResult& mvcm = at(r, "mvcm", 1);
  const HotSpotResult& renato = at(r, "renato", 1);
  const HotSpotResult& pfister = at(r, "pfister", 1);
  bool ordered = true;
  std::string means;
  for (const std::size_t level : {1u, 2u}) {
    means +=
        fmt::format("{}{}: iocm {:.0f}, mvcm {:.0f}, pfister {:.0f}, renato {:.0f}, none {:.0f}",
                    means.empty() ? "" : "; ",
                    kHotSpotLevels[level].name,
                    cold.mean("iocm", level),
                    cold.mean("mvcm", level),
                    cold.mean("pfister", level),
                    cold.mean("renato", level),
                    cold.mean("none", level));
    const double best = std::max(cold.mean("iocm", level), cold.mean("mvcm", level));
    ordered = ordered && best < cold.mean("pfister", level) &&
              cold.mean("pfister", level) < cold.mean("renato", level) &&
              cold.mean("renato", level) < cold.mean("none", level);
  }
  out.push_back({"R11", means, ordered});

  const double ours = std::max(cold.peak("iocm", 1), cold.peak("mvcm", 1));
  out.push_back(
      {"R12",
       peaks(cold, 1),
       std::max({ours, cold.peak("renato", 1), cold.peak("pfister", 1)}) < 10'000 * kReading &&
           cold.peak("renato", 1) > 3 / kReading * ours &&
           cold.peak("pfister", 1) > 2 / kReading * ours});
  out.push_back(
      {"R13",
       fmt::format("drained after {:.0f} (renato), {:.0f} (pfister), {:.0f} (mvcm); gaps of {:.0f} "
                   "(pfister), {:.0f} (mvcm)",
                   renato.drained,
                   pfister.drained,
                   mvcm.drained,
                   pfister.longest_gap,
                   mvcm.longest_gap),
       renato.drained > std::max(pfister.drained, mvcm.drained) &&
           pfister.longest_gap > mvcm.longest_gap});
  const double low_best = std::min({cold.peak("renato", 0),
                                    cold.peak("pfister", 0),
                                    cold.peak("iocm", 0),
                                    cold.peak("mvcm", 0)});
  const double low_worst = std::max({cold.peak("renato", 0),
                                     cold.peak("pfister", 0),
                                     cold.peak("iocm", 0),
                                     cold.peak("mvcm", 0)});
  const double high = std::max(cold.peak("iocm", 2), cold.peak("mvcm", 2));
  out.push_back({"R14",
                 fmt::format("low: {}; high: {}", peaks(cold, 0), peaks(cold, 2)),
                 low_worst < 2 * low_best && cold.peak("renato", 2) > high &&
                     cold.peak("pfister", 2) > high});
}

/// What the parts of a mechanism are worth.
void measure_parts(const ByCase& r, Out& out) {
  const Cold cold{r};
  const HotSpotResult& mvcm = at(r, "mvcm", 1);
  const HotSpotResult& pfister = at(r, "pfister", 1);
  const HotSpotResult& uncapped = at(r, "mvcm uncapped", 1);
  const auto ablation = [&](std::size_t level) {
    return fmt::format("{}: both {:.0f}, window {:.0f}, slots {:.0f}",
                       kHotSpotLevels[level].name,
                       cold.mean("mvcm", level),
                       cold.mean("mvpm window", level),
                       cold.mean("mvpm slots", level));
  };
  const auto alike = [](double a, double b) { return std::max(a, b) < 1.1 * std::min(a, b); };
  out.push_back({"R19",
                 fmt::format("{}; {}; {}", ablation(0), ablation(1), ablation(2)),
                 alike(cold.mean("mvcm", 0), cold.mean("mvpm window", 0)) &&
                     alike(cold.mean("mvcm", 1), cold.mean("mvpm window", 1)) &&
                     cold.mean("mvcm", 2) < cold.mean("mvpm window", 2) &&
                     cold.mean("mvpm window", 2) < cold.mean("mvpm slots", 2)});
  bool windows = cold.mean("mvpm window", 2) < cold.mean("mvpm slots", 2);
  std::string pairs = fmt::format(
      "mvpm {:.0f} and {:.0f}", cold.mean("mvpm window", 2), cold.mean("mvpm slots", 2));
  for (const std::string name : kOtherMarkings) {
    const double window = cold.mean(name + " window", 2), slots = cold.mean(name + " slots", 2);
    windows = windows && window < slots;
    pairs += fmt::format(", {} {:.0f} and {:.0f}", name, window, slots);
  }
  out.push_back({"R20", pairs, windows});
  out.push_back(
      {"R21",
       fmt::format(
           "gaps of {:.0f} uncapped, {:.0f} capped", uncapped.longest_gap, mvcm.longest_gap),
       uncapped.longest_gap > mvcm.longest_gap && mvcm.longest_gap < 2780});
  out.push_back(
      {"R22",
       fmt::format("drained after {:.0f} and {:.0f}, peaks of {:.0f} and {:.0f}",
                   uncapped.drained,
                   pfister.drained,
                   uncapped.hot.peak_latency,
                   pfister.hot.peak_latency),
       uncapped.drained < pfister.drained && uncapped.hot.peak_latency < pfister.hot.peak_latency});
  const auto recovery = [&](std::size_t level) {
    return fmt::format("{}: {:.0f} and {:.0f}",
                       kHotSpotLevels[level].name,
                       cold.mean("mvcm", level),
                       cold.mean("mvcm progressive", level));
  };
  out.push_back({"R23",
                 fmt::format("{}; {}; {}", recovery(0), recovery(1), recovery(2)),
                 std::abs(cold.mean("mvcm", 0) / cold.mean("mvcm progressive", 0) - 1) < 0.05 &&
                     cold.mean("mvcm", 1) < cold.mean("mvcm progressive", 1) &&
                     cold.mean("mvcm", 2) < cold.mean("mvcm progressive", 2)});
}

Result<Findings> run(const ExperimentOptions& options) {
  HotSpotNetwork network;
  if (options.quick) {
    network.fabric = "bmin:k=4,stages=3";
    network.traffic.warm_packets = 3000;
  }
  const std::vector<Case> all = list_cases();
  auto measured = collect<HotSpotResult>(options.jobs, all.size(), [&](std::size_t i) {
    return run_hot_spot(network, all[i].spec, kHotSpotLevels[all[i].level].rate, 1);
  });
  if (!measured) return tl::unexpected<Error>(measured.error());

  Findings out{.plot = {.title = "Peak latency of cold packets during the pulse",
                        .x_label = "bytes per cycle and host",
                        .y_label = "cycles",
                        .log_y = true}};
  ByCase results;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const HotSpotResult& p = (*measured)[i];
    results[{all[i].name, all[i].level}] = p;
    const HotSpotLevel& level = kHotSpotLevels[all[i].level];
    out.add_row({{"mechanism", all[i].name},
                 {"load", level.name},
                 {"cold_mean_cycles", p.cold.mean_latency},
                 {"cold_peak_cycles", p.cold.peak_latency},
                 {"hot_mean_cycles", p.hot.mean_latency},
                 {"hot_peak_cycles", p.hot.peak_latency},
                 {"drained_cycles", p.drained},
                 {"link_share", p.link_share},
                 {"least_link_share", p.least_link_share},
                 {"longest_gap_cycles", p.longest_gap},
                 {"cold_rate_before", p.cold_rate_before},
                 {"least_cold_rate", p.least_cold_rate},
                 {"cold_marked", p.cold.marked},
                 {"hot_marked", p.hot.marked},
                 {"hot_fully_marked", p.hot.fully_marked},
                 {"notices", p.notices}});
    out.plot.add_point(all[i].name, level.rate, p.cold.peak_latency);
  }
  std::erase_if(out.plot.series,
                [](const Series& line) { return line.points.size() != kHotSpotLevels.size(); });
  std::ranges::sort(out.plot.series, {}, &Series::name);
  Out found;
  measure_marks(results, found);
  measure_control(results, found);
  measure_rivals(results, found);
  measure_parts(results, found);
  out.verdicts = decide(kClaims, found);
  return out;
}

}  // namespace
}  // namespace smd::sim::hot_spot_mechanisms

namespace smd::sim {

std::vector<Experiment> hot_spot_tables() {
  return {{.name = "004-hot-spot-pulse",
           .source = "Ferrer 2012, BMIN 4-ary 5-fly, 512 hosts, pattern I",
           .about = "what a pulse to one host does to everybody else, under every mechanism",
           .claims = hot_spot_mechanisms::kClaims,
           .run = hot_spot_mechanisms::run}};
}

}  // namespace smd::sim
