// Markings with one reaction, windows without slots, and both over time, against a pulse to one
// host. Chosen, where the source is silent: as in 004-hot-spot-pulse. A scheme "starts" in the bin
// of 1,000 cycles by which ten marked packets have arrived; marks of IOPM are those of either bit,
// marks of MVPM those that are validated.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim-backend/experiments/congestion/network_cases.h"
#include "sim-backend/experiments/tables.h"

namespace smd::sim::ablations {
namespace {

constexpr ClaimSpec kClaims[] = {
    {.id = "R4",
     .text = "OPM marks before IPM and RPM, which are alike, IOPM first of all and MVPM last; "
             "marks of IOPM outlast the pulse and outnumber those of MVPM",
     .source = "Ferrer 2012, Figure 4.12",
     .expected =
         "iopm, opm, then ipm and rpm (two bins apart at most), then mvpm; iopm more, also after"},
    {.id = "R16",
     .text = "with one reaction the five markings are alike, IPM and RPM slightly behind at "
             "medium and high load",
     .source = "Ferrer 2012, Figure 8.27",
     .expected = "within 2 times; ipm and rpm above the others' mean at medium and high"},
    {.id = "R17",
     .text = "windows alone: alike at low load; of static ones 2 is best and 1 too few, 8 and "
             "more are alike; a dynamic one of 2 is best of all, then one of 4",
     .source = "Ferrer 2012, Figure 8.29",
     .expected =
         "low alike to 10 %; then DW=2, DW=4, SW=2, the other static ones; 8 and 16 alike to 5 %"},
    {.id = "R18",
     .text = "at high load a static window of 1 has the lowest latency during the pulse, which "
             "then goes on rising; 4 is worse than 2",
     .source = "Ferrer 2012, Figures 5.1 and 8.30",
     .expected = "1 lowest, rising later; 2 below 4"},
    {.id = "R24",
     .text = "IOCM is slightly better than MVCM, acts earlier, and its marks go on after the pulse",
     .source = "Ferrer 2012, Figures 8.36 and 8.37",
     .expected = "iocm below mvcm by 30 % at most, earlier, with more marks after it"},
    {.id = "R25",
     .text = "IOCM acts upon more cold packets than MVCM, when the pulse begins",
     .source = "Ferrer 2012, Figures 8.38 and 8.39",
     .expected = "iocm above mvcm, more than half of them in the first quarter"},
};

constexpr std::array kMarkings{"ipm", "rpm", "opm", "iopm", "mvpm"};
constexpr std::array kStaticWindows{1u, 2u, 4u, 8u, 16u};
constexpr std::array kDynamicWindows{2u, 4u};
constexpr Picos kAfter = 100'000 * kNano;

/// "ipm both, high": a marking with windows and slots. `level`: of kHotSpotLevels.
std::string marked_case(std::string_view marking, std::size_t level) {
  return fmt::format("{} both, {}", marking, kHotSpotLevels[level].name);
}

/// "SW=2, high", "DW=4, low": a window without slots.
std::string window_case(char kind, unsigned packets, std::size_t level) {
  return fmt::format("{}W={}, {}", kind, packets, kHotSpotLevels[level].name);
}

/// Those, and "ipm marks" that nobody acts on, at medium load.
std::vector<NetworkCase> list_cases(bool quick) {
  std::vector<NetworkCase> out;
  HotSpotNetwork network = study_network(quick);
  const auto add = [&](std::string name, const CongestionSpec& spec, std::size_t level) {
    out.push_back({std::move(name), network, spec, kHotSpotLevels[level].rate});
  };
  for (std::size_t level = 0; level < kHotSpotLevels.size(); ++level) {
    for (const char* marking : kMarkings) {
      network.after = level == 1 ? kAfter : 0;
      add(marked_case(marking, level), with_marking(marking), level);
    }
    network.after = 0;
    const auto window = [&](WindowKind kind, unsigned packets) {
      CongestionSpec spec = window_alone(with_marking("mvpm"));
      spec.window = {.kind = kind, .most = packets};
      const char letter = kind == WindowKind::Static ? 'S' : 'D';
      add(window_case(letter, packets, level), spec, level);
    };
    for (const unsigned packets : kStaticWindows) {
      network.after = level == 2 && packets <= 4 ? kAfter : 0;
      window(WindowKind::Static, packets);
    }
    network.after = 0;
    for (const unsigned packets : kDynamicWindows) window(WindowKind::Dynamic, packets);
  }
  network.after = kAfter;
  for (const char* marking : kMarkings) {
    add(fmt::format("{} marks", marking), marks_alone(marking), 1);
  }
  return out;
}

using Bins = std::span<const HotSpotBin>;

unsigned marked_in(const HotSpotBin& bin, bool fully) {
  return fully ? bin.cold.fully_marked + bin.hot.fully_marked : bin.cold.marked + bin.hot.marked;
}

unsigned marked_in(Bins bins, bool fully) {
  return std::accumulate(bins.begin(), bins.end(), 0u, [&](unsigned sum, const HotSpotBin& bin) {
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
  for (const HotSpotBin& bin : bins) {
    latency += bin.cold.latency;
    packets += bin.cold.packets;
  }
  return packets == 0 ? 0 : latency / packets;
}

struct Results {
  const NetworkResults& results;

  [[nodiscard]] const HotSpotResult& at(const std::string& name) const { return results.at(name); }

  [[nodiscard]] double cold(const std::string& name) const { return at(name).cold.mean_latency; }

  [[nodiscard]] Measured timeline() const {
    const auto fully = [](std::string_view marking) { return marking == "mvpm"; };
    std::map<std::string_view, std::size_t> start;
    std::string starts;
    for (const std::string_view marking : kMarkings) {
      const HotSpotResult& p = at(fmt::format("{} marks", marking));
      start[marking] = bins_until(
          p.bins, 10, [&](const HotSpotBin& bin) { return marked_in(bin, fully(marking)); });
      starts += fmt::format("{}{} {}", starts.empty() ? "" : ", ", marking, start[marking]);
    }
    const HotSpotResult& iopm = at("iopm marks");
    const HotSpotResult& mvpm = at("mvpm marks");
    const unsigned after[] = {marked_in(iopm.trailer, false), marked_in(mvpm.trailer, true)};
    const unsigned during[] = {marked_in(iopm.bins, false), marked_in(mvpm.bins, true)};
    const std::size_t inputs = std::max(start["ipm"], start["rpm"]);
    return {"R4",
            fmt::format("starts after thousands of cycles: {}; marks of iopm {} and {} after the "
                        "pulse, of mvpm {} and {}",
                        starts,
                        during[0],
                        after[0],
                        during[1],
                        after[1]),
            start["iopm"] <= start["opm"] && start["opm"] < std::min(start["ipm"], start["rpm"]) &&
                inputs - std::min(start["ipm"], start["rpm"]) <= 2 && inputs <= start["mvpm"] &&
                during[0] > during[1] && after[0] > after[1]};
  }

  [[nodiscard]] Measured markings() const {
    std::string means;
    bool alike = true, behind = true;
    for (std::size_t level = 0; level < kHotSpotLevels.size(); ++level) {
      double least = 1e18, most = 0;
      means += fmt::format("{}{}:", level == 0 ? "" : "; ", kHotSpotLevels[level].name);
      for (const char* marking : kMarkings) {
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
    return {"R16", means, alike && behind};
  }

  [[nodiscard]] Measured windows() const {
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
    return {"R17", means, low && order};
  }

  [[nodiscard]] Measured static_in_time() const {
    const auto during = [&](unsigned packets) {
      return at(window_case('S', packets, 2)).cold.peak_latency;
    };
    const HotSpotResult& one = at(window_case('S', 1, 2));
    const double before =
        mean_cold(Bins(one.bins).last(std::min<std::size_t>(50, one.bins.size())));
    const double after =
        mean_cold(Bins(one.trailer).last(std::min<std::size_t>(50, one.trailer.size())));
    return {"R18",
            fmt::format("peaks of {:.0f} (1), {:.0f} (2), {:.0f} (4); with 1 from {:.0f} at "
                        "the end of the pulse to {:.0f} 100,000 cycles later",
                        during(1),
                        during(2),
                        during(4),
                        before,
                        after),
            during(1) < during(2) && during(2) < during(4) && after > before};
  }

  [[nodiscard]] Measured two_bits() const {
    std::string means;
    bool slightly = true;
    for (std::size_t level = 0; level < kHotSpotLevels.size(); ++level) {
      const double iocm = cold(marked_case("iopm", level));
      const double mvcm = cold(marked_case("mvpm", level));
      means += fmt::format("{}: {:.0f} and {:.0f}; ", kHotSpotLevels[level].name, iocm, mvcm);
      slightly = slightly && iocm <= mvcm && iocm > 0.7 * mvcm;
    }
    const HotSpotResult& iocm = at(marked_case("iopm", 1));
    const HotSpotResult& mvcm = at(marked_case("mvpm", 1));
    const auto acted = [](const HotSpotResult& p) {
      return bins_until(p.bins, 10, [](const HotSpotBin& bin) { return bin.actions; });
    };
    const unsigned late[] = {marked_in(iocm.trailer, false), marked_in(mvcm.trailer, true)};
    return {"R24",
            fmt::format("{}first actions after {} and {} thousand cycles; marks after the "
                        "pulse {} and {}",
                        means,
                        acted(iocm),
                        acted(mvcm),
                        late[0],
                        late[1]),
            slightly && acted(iocm) < acted(mvcm) && late[0] > late[1]};
  }

  [[nodiscard]] Measured wrong_actions() const {
    const HotSpotResult& iocm = at(marked_case("iopm", 1));
    const HotSpotResult& mvcm = at(marked_case("mvpm", 1));
    const auto wrong = [](Bins bins) {
      return std::accumulate(bins.begin(), bins.end(), 0u, [](unsigned sum, const HotSpotBin& bin) {
        return sum + bin.wrong_actions;
      });
    };
    const unsigned all[] = {wrong(iocm.bins), wrong(mvcm.bins)};
    const unsigned early = wrong(Bins(iocm.bins).first(iocm.bins.size() / 4));
    return {"R25",
            fmt::format("{} of iocm, {} of them in the first quarter of the pulse, {} of "
                        "mvcm",
                        all[0],
                        early,
                        all[1]),
            all[0] > all[1] && 2 * early > all[0]};
  }
};

Result<Findings> run(const ExperimentOptions& options) {
  const std::vector<NetworkCase> cases = list_cases(options.quick);
  const auto results = run_cases(options.jobs, cases);
  if (!results) return tl::unexpected<Error>(results.error());
  Findings out = tabulate_cases(cases, *results);
  out.plot = {.title = "Mean latency of cold packets during the pulse, windows alone",
              .x_label = "bytes per cycle and host",
              .y_label = "cycles",
              .log_y = true};
  const auto line = [&](char kind, unsigned packets) {
    for (std::size_t level = 0; level < kHotSpotLevels.size(); ++level) {
      out.plot.add_point(fmt::format("{}W={}", kind, packets),
                         kHotSpotLevels[level].rate,
                         results->at(window_case(kind, packets, level)).cold.mean_latency);
    }
  };
  for (const unsigned packets : kStaticWindows) line('S', packets);
  for (const unsigned packets : kDynamicWindows) line('D', packets);
  const Results of{*results};
  out.verdicts = decide(kClaims,
                        {of.timeline(),
                         of.markings(),
                         of.windows(),
                         of.static_in_time(),
                         of.two_bits(),
                         of.wrong_actions()});
  return out;
}

}  // namespace
}  // namespace smd::sim::ablations

namespace smd::sim {

std::vector<Experiment> ablation_tables() {
  return {{.name = "004-ablations",
           .source = "Ferrer 2012, chapters 4 and 8.4, BMIN 4-ary 5-fly, pattern I",
           .about = "what markings and windows are worth by themselves, and when marks are set",
           .claims = ablations::kClaims,
           .run = ablations::run}};
}

}  // namespace smd::sim
