#include "sim-backend/experiments/congestion/pulse_set.h"

#include "sim-backend/lab/parallel.h"
#include "smd/base/check.h"

namespace smd::sim {

Result<PulseResults> run_pulses(unsigned jobs, const std::vector<PulseCase>& cases) {
  auto measured = collect<PulseResult>(jobs, cases.size(), [&](std::size_t i) {
    return run_pulse(cases[i].network, cases[i].mechanism, cases[i].rate, 1);
  });
  if (!measured) return tl::unexpected<Error>(measured.error());
  PulseResults out;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const bool is_new = out.emplace(cases[i].name, std::move((*measured)[i])).second;
    SMD_CHECK(is_new, "two pulses have one name");
  }
  return out;
}

Findings tell_pulses(const std::vector<PulseCase>& cases, const PulseResults& results) {
  Findings out{.columns = {"case",
                           "bytes_per_cycle_and_host",
                           "cold_mean_cycles",
                           "cold_peak_cycles",
                           "hot_mean_cycles",
                           "hot_peak_cycles",
                           "drained_cycles",
                           "link_share",
                           "longest_gap_cycles",
                           "cold_rate_before",
                           "least_cold_rate",
                           "cold_fully_marked",
                           "hot_fully_marked"}};
  for (const PulseCase& each : cases) {
    const PulseResult& p = results.at(each.name);
    out.rows.push_back({each.name,
                        each.rate,
                        p.cold.mean_latency,
                        p.cold.peak_latency,
                        p.hot.mean_latency,
                        p.hot.peak_latency,
                        p.drained,
                        p.link_share,
                        p.longest_gap,
                        p.cold_rate_before,
                        p.least_cold_rate,
                        p.cold.fully_marked,
                        p.hot.fully_marked});
  }
  return out;
}

PulseNetwork study_network(bool quick) {
  PulseNetwork network;
  if (quick) {
    network.fabric = "bmin:k=4,stages=3";
    network.traffic.warm_packets = 1000;
  }
  return network;
}

CongestionSpec mechanism_of(std::string_view name) {
  CongestionSpec spec;
  const bool known = find_mechanism(name, spec);
  SMD_CHECK(known, "a mechanism that nobody knows");
  return spec;
}

CongestionSpec with_marking(std::string_view name) {
  CongestionSpec spec = mechanism_of("mvcm");
  const bool known = find_marking(name, spec.marking);
  SMD_CHECK(known, "a marking that nobody knows");
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

CongestionSpec marks_alone(std::string_view marking) {
  const CongestionSpec whole = with_marking(marking);
  return {.marking = whole.marking, .thresholds = whole.thresholds};
}

}  // namespace smd::sim
