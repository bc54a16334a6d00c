#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim-backend/experiments/congestion/ablation_cases.h"
#include "sim-backend/experiments/congestion/hot_spot_cases.h"

namespace smd::sim {
namespace {

using Bins = std::span<const PulseBin>;

unsigned marked_in(const PulseBin& bin, bool fully) {
  return fully ? bin.cold.fully_marked + bin.hot.fully_marked : bin.cold.marked + bin.hot.marked;
}

unsigned marked_in(Bins bins, bool fully) {
  return std::accumulate(bins.begin(), bins.end(), 0u, [&](unsigned sum, const PulseBin& bin) {
    return sum + marked_in(bin, fully);
  });
}

/// Bins until so many were counted; all of them when they never were.
template <class Count>
std::size_t bins_until(Bins bins, unsigned least, Count count) {
  unsigned seen = 0;
  for (std::size_t at = 0; at < bins.size(); ++at) {
    seen += count(bins[at]);
    if (seen >= least) return at + 1;
  }
  return bins.size();
}

double mean_cold(Bins bins) {
  double latency = 0;
  unsigned packets = 0;
  for (const PulseBin& bin : bins) {
    latency += bin.cold.latency;
    packets += bin.cold.packets;
  }
  return packets == 0 ? 0 : latency / packets;
}

struct Judge {
  const PulseResults& results;
  std::vector<Judgement> out;

  [[nodiscard]] const PulseResult& at(const std::string& name) const { return results.at(name); }

  [[nodiscard]] double cold(const std::string& name) const { return at(name).cold.mean_latency; }

  void timeline() {
    const auto fully = [](std::string_view marking) { return marking == "mvpm"; };
    std::map<std::string_view, std::size_t> start;
    std::string starts;
    for (const std::string_view marking : kAblatedMarkings) {
      const PulseResult& p = at(fmt::format("{} marks", marking));
      start[marking] = bins_until(
          p.bins, 10, [&](const PulseBin& bin) { return marked_in(bin, fully(marking)); });
      starts += fmt::format("{}{} {}", starts.empty() ? "" : ", ", marking, start[marking]);
    }
    const PulseResult& iopm = at("iopm marks");
    const PulseResult& mvpm = at("mvpm marks");
    const unsigned after[] = {marked_in(iopm.trailer, false), marked_in(mvpm.trailer, true)};
    const unsigned during[] = {marked_in(iopm.bins, false), marked_in(mvpm.bins, true)};
    const std::size_t inputs = std::max(start["ipm"], start["rpm"]);
    out.push_back(
        {"R4",
         fmt::format("starts after thousands of cycles: {}; marks of iopm {} and {} after the "
                     "pulse, of mvpm {} and {}",
                     starts,
                     during[0],
                     after[0],
                     during[1],
                     after[1]),
         "iopm, opm, then ipm and rpm (two bins apart at most), then mvpm; iopm more, also after",
         start["iopm"] <= start["opm"] && start["opm"] < std::min(start["ipm"], start["rpm"]) &&
             inputs - std::min(start["ipm"], start["rpm"]) <= 2 && inputs <= start["mvpm"] &&
             during[0] > during[1] && after[0] > after[1]});
  }

  void markings() {
    std::string means;
    bool alike = true, behind = true;
    for (std::size_t level = 0; level < kHotSpotLevels.size(); ++level) {
      double least = 1e18, most = 0;
      means += fmt::format("{}{}:", level == 0 ? "" : "; ", kHotSpotLevels[level].name);
      for (const char* marking : kAblatedMarkings) {
        const double mean = cold(marked_case(marking, level));
        means += fmt::format(" {} {:.0f}", marking, mean);
        least = std::min(least, mean);
        most = std::max(most, mean);
      }
      alike = alike && most < 2 * least;
      if (level == 0) continue;
      const auto of = [&](const char* name) { return cold(marked_case(name, level)); };
      behind = behind && (of("ipm") + of("rpm")) / 2 > (of("opm") + of("iopm") + of("mvpm")) / 3;
    }
    out.push_back({"R16",
                   means,
                   "within 2 times; ipm and rpm above the others' mean at medium and high",
                   alike && behind});
  }

  void windows() {
    std::string means;
    bool low = true, order = true;
    for (std::size_t level = 0; level < kHotSpotLevels.size(); ++level) {
      means += fmt::format("{}{}:", level == 0 ? "" : "; ", kHotSpotLevels[level].name);
      double best_static = 1e18, least = 1e18, most = 0;
      const auto of = [&](char kind, unsigned packets) {
        return cold(window_case(kind, packets, level));
      };
      for (const unsigned packets : kStaticWindows) {
        means += fmt::format(" SW={} {:.0f}", packets, of('S', packets));
        best_static = std::min(best_static, of('S', packets));
        most = std::max(most, of('S', packets));
      }
      for (const unsigned packets : kDynamicWindows) {
        means += fmt::format(" DW={} {:.0f}", packets, of('D', packets));
        most = std::max(most, of('D', packets));
        least = std::min(least, of('D', packets));
      }
      if (level == 0) {
        low = most < 1.1 * std::min(least, best_static);
        continue;
      }
      order = order && of('S', 2) == best_static && of('S', 4) < of('S', 8) &&
              std::abs(of('S', 8) / of('S', 16) - 1) < 0.05 && of('D', 2) < of('D', 4) &&
              of('D', 4) < best_static;
    }
    out.push_back({"R17",
                   means,
                   "low alike to 10 %; then DW=2, DW=4, SW=2, the other static ones; 8 and 16 "
                   "alike to 5 %",
                   low && order});
  }

  void static_in_time() {
    const auto during = [&](unsigned packets) {
      return at(window_case('S', packets, 2)).cold.peak_latency;
    };
    const PulseResult& one = at(window_case('S', 1, 2));
    const double before =
        mean_cold(Bins(one.bins).last(std::min<std::size_t>(50, one.bins.size())));
    const double after =
        mean_cold(Bins(one.trailer).last(std::min<std::size_t>(50, one.trailer.size())));
    out.push_back({"R18",
                   fmt::format("peaks of {:.0f} (1), {:.0f} (2), {:.0f} (4); with 1 from {:.0f} at "
                               "the end of the pulse to {:.0f} 100,000 cycles later",
                               during(1),
                               during(2),
                               during(4),
                               before,
                               after),
                   "1 lowest, rising later; 2 below 4",
                   during(1) < during(2) && during(2) < during(4) && after > before});
  }

  void two_bits() {
    std::string means;
    bool slightly = true;
    for (std::size_t level = 0; level < kHotSpotLevels.size(); ++level) {
      const double iocm = cold(marked_case("iopm", level));
      const double mvcm = cold(marked_case("mvpm", level));
      means += fmt::format("{}: {:.0f} and {:.0f}; ", kHotSpotLevels[level].name, iocm, mvcm);
      slightly = slightly && iocm <= mvcm && iocm > 0.7 * mvcm;
    }
    const PulseResult& iocm = at(marked_case("iopm", 1));
    const PulseResult& mvcm = at(marked_case("mvpm", 1));
    const auto acted = [](const PulseResult& p) {
      return bins_until(p.bins, 10, [](const PulseBin& bin) { return bin.actions; });
    };
    const unsigned late[] = {marked_in(iocm.trailer, false), marked_in(mvcm.trailer, true)};
    out.push_back({"R24",
                   fmt::format("{}first actions after {} and {} thousand cycles; marks after the "
                               "pulse {} and {}",
                               means,
                               acted(iocm),
                               acted(mvcm),
                               late[0],
                               late[1]),
                   "iocm below mvcm by 30 % at most, earlier, with more marks after it",
                   slightly && acted(iocm) < acted(mvcm) && late[0] > late[1]});
    const auto wrong = [](Bins bins) {
      return std::accumulate(bins.begin(), bins.end(), 0u, [](unsigned sum, const PulseBin& bin) {
        return sum + bin.wrong_actions;
      });
    };
    const unsigned all[] = {wrong(iocm.bins), wrong(mvcm.bins)};
    const unsigned early = wrong(Bins(iocm.bins).first(iocm.bins.size() / 4));
    out.push_back({"R25",
                   fmt::format("{} of iocm, {} of them in the first quarter of the pulse, {} of "
                               "mvcm",
                               all[0],
                               early,
                               all[1]),
                   "iocm above mvcm, more than half of them in the first quarter",
                   all[0] > all[1] && 2 * early > all[0]});
  }
};

}  // namespace

std::vector<Judgement> judge_ablations(const PulseResults& results) {
  Judge judge{.results = results, .out = {}};
  judge.timeline();
  judge.markings();
  judge.windows();
  judge.static_in_time();
  judge.two_bits();
  return std::move(judge.out);
}

}  // namespace smd::sim
