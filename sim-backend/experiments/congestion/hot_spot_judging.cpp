#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "sim-backend/experiments/congestion/hot_spot_claims.h"

namespace smd::sim {
namespace {

const PulseResult& at(const HotSpotResults& results, const std::string& name, std::size_t level) {
  return results.at({name, level});
}

using Out = std::vector<Judgement>;

/// Latencies of cold packets, in cycles.
struct Cold {
  const HotSpotResults& results;

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
void judge_marks(const HotSpotResults& r, Out& out) {
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

/// The best mechanism against none.
void judge_control(const HotSpotResults& r, Out& out) {
  const Cold cold{r};
  const PulseResult& none = at(r, "none", 1);
  const PulseResult& mvcm = at(r, "mvcm", 1);
  const double drop = none.least_cold_rate / none.cold_rate_before;
  out.push_back(
      {"R6",
       fmt::format("peak {:.0f} cycles, throughput down to {:.2f}", cold.peak("none", 1), drop),
       "above 140000 (less 30 %), below 0.5",
       cold.peak("none", 1) > 140'000 / kReading && drop < 0.5});
  out.push_back({"R7-cold",
                 fmt::format("{:.0f} cycles, {:.1f} times less",
                             cold.peak("mvcm", 1),
                             cold.peak("none", 1) / cold.peak("mvcm", 1)),
                 "below 4000 (and 30 %), 35 times",
                 cold.peak("mvcm", 1) < 4000 * kReading &&
                     cold.peak("none", 1) >= 35 * cold.peak("mvcm", 1)});
  out.push_back(
      {"R7-link",
       fmt::format("{:.3f} of it, without control {:.3f}", mvcm.link_share, none.link_share),
       "1.00, at least 0.97",
       mvcm.link_share >= 0.97});
  out.push_back(
      {"R8",
       fmt::format("{:.0f} to {:.0f}, {:.0f} to {:.0f}",
                   cold.peak("none", 0),
                   cold.peak("mvcm", 0),
                   cold.peak("none", 2),
                   cold.peak("mvcm", 2)),
       "100000 to 2000, 300000 to 4000 (30 %)",
       cold.peak("none", 0) > 100'000 / kReading && cold.peak("mvcm", 0) < 2000 * kReading &&
           cold.peak("none", 2) > 300'000 / kReading && cold.peak("mvcm", 2) < 4000 * kReading});
}

/// Mechanisms against each other.
void judge_rivals(const HotSpotResults& r, Out& out) {
  const Cold cold{r};
  const PulseResult& mvcm = at(r, "mvcm", 1);
  const PulseResult& renato = at(r, "renato", 1);
  const PulseResult& pfister = at(r, "pfister", 1);
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
  out.push_back({"R11", means, "ascending", ordered});

  const double ours = std::max(cold.peak("iocm", 1), cold.peak("mvcm", 1));
  out.push_back(
      {"R12",
       peaks(cold, 1),
       "below 10000 each; 3 and 2 times (30 %)",
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
       "renato last, pfister's gaps longer than mvcm's",
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
                 "low within 2 times; high: renato and pfister above the others",
                 low_worst < 2 * low_best && cold.peak("renato", 2) > high &&
                     cold.peak("pfister", 2) > high});
}

/// What the parts of a mechanism are worth.
void judge_parts(const HotSpotResults& r, Out& out) {
  const Cold cold{r};
  const PulseResult& mvcm = at(r, "mvcm", 1);
  const PulseResult& pfister = at(r, "pfister", 1);
  const PulseResult& uncapped = at(r, "mvcm uncapped", 1);
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
                 "low and medium alike to 10 %; high: both below window below slots",
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
  out.push_back({"R20", pairs, "the first below the second", windows});
  out.push_back(
      {"R21",
       fmt::format(
           "gaps of {:.0f} uncapped, {:.0f} capped", uncapped.longest_gap, mvcm.longest_gap),
       "uncapped longer, capped below 2780 (10 packets)",
       uncapped.longest_gap > mvcm.longest_gap && mvcm.longest_gap < 2780});
  out.push_back(
      {"R22",
       fmt::format("drained after {:.0f} and {:.0f}, peaks of {:.0f} and {:.0f}",
                   uncapped.drained,
                   pfister.drained,
                   uncapped.hot.peak_latency,
                   pfister.hot.peak_latency),
       "the first below the second",
       uncapped.drained < pfister.drained && uncapped.hot.peak_latency < pfister.hot.peak_latency});
  const auto recovery = [&](std::size_t level) {
    return fmt::format("{}: {:.0f} and {:.0f}",
                       kHotSpotLevels[level].name,
                       cold.mean("mvcm", level),
                       cold.mean("mvcm progressive", level));
  };
  out.push_back({"R23",
                 fmt::format("{}; {}; {}", recovery(0), recovery(1), recovery(2)),
                 "low alike to 5 %, then the first below the second",
                 std::abs(cold.mean("mvcm", 0) / cold.mean("mvcm progressive", 0) - 1) < 0.05 &&
                     cold.mean("mvcm", 1) < cold.mean("mvcm progressive", 1) &&
                     cold.mean("mvcm", 2) < cold.mean("mvcm progressive", 2)});
}

}  // namespace

std::vector<Judgement> judge_hot_spot(const HotSpotResults& results) {
  Out out;
  judge_marks(results, out);
  judge_control(results, out);
  judge_rivals(results, out);
  judge_parts(results, out);
  return out;
}

}  // namespace smd::sim
