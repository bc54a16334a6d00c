#include "sim-backend/experiments/congestion/network_cases.h"

#include "sim-backend/lab/parallel.h"
#include "smd/base/check.h"

namespace smd::sim {

Result<NetworkResults> run_cases(unsigned jobs, const std::vector<NetworkCase>& cases) {
  auto measured = collect<HotSpotResult>(jobs, cases.size(), [&](std::size_t i) {
    return run_hot_spot(cases[i].network, cases[i].mechanism, cases[i].rate, 1);
  });
  if (!measured) return tl::unexpected<Error>(measured.error());
  NetworkResults out;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const bool is_new = out.emplace(cases[i].name, std::move((*measured)[i])).second;
    SMD_CHECK(is_new, "two pulses have one name");
  }
  return out;
}

Findings tabulate_cases(const std::vector<NetworkCase>& cases, const NetworkResults& results) {
  Findings out;
  for (const NetworkCase& each : cases) {
    const HotSpotResult& p = results.at(each.name);
    out.add_row({{"case", each.name},
                 {"bytes_per_cycle_and_host", each.rate},
                 {"cold_mean_cycles", p.cold.mean_latency},
                 {"cold_peak_cycles", p.cold.peak_latency},
                 {"hot_mean_cycles", p.hot.mean_latency},
                 {"hot_peak_cycles", p.hot.peak_latency},
                 {"drained_cycles", p.drained},
                 {"link_share", p.link_share},
                 {"longest_gap_cycles", p.longest_gap},
                 {"cold_rate_before", p.cold_rate_before},
                 {"least_cold_rate", p.least_cold_rate},
                 {"cold_fully_marked", p.cold.fully_marked},
                 {"hot_fully_marked", p.hot.fully_marked}});
  }
  return out;
}

HotSpotNetwork study_network(bool quick) {
  HotSpotNetwork network;
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
