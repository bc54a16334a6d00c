// A hot-spot pulse with other packet sizes, and in other multistage networks, two of them
// unidirectional: hosts send into the first stage and receive from the last. Buffers are four of
// the largest packets each, as published; the rest as in 004-hot-spot-pulse.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "sim-backend/experiments/congestion/network_cases.h"
#include "sim-backend/experiments/tables.h"

namespace smd::sim::networks {
namespace {

constexpr ClaimSpec kClaims[] = {
    {.id = "R9-variable",
     .text = "with packets of 64 and 512 bytes cold ones wait longer than with 256, and MVCM still "
             "cuts it, at a small penalty",
     .source = "Ferrer 2012, Figures 8.12 and 8.13",
     .expected =
         "the first above the second; mvcm 5 times below none, within 2 times of 256 bytes"},
    {.id = "R9-sizes",
     .text = "packets of 512 and 1,024 bytes behave as those of 256",
     .source = "Ferrer 2012, 8.3",
     .expected = "within 2 times of 256 bytes"},
    {.id = "R10",
     .text = "four other networks behave alike",
     .source = "Ferrer 2012, Figures 8.14 to 8.19",
     .expected = "5 times less at medium and high"},
};

struct Sizes {
  std::string_view name;
  std::uint16_t payload, other;
  unsigned buffer;
  double mean_packet;  // with headers
};

constexpr std::array kSizes{Sizes{"256 bytes", 256, 0, 1024, 278},
                            Sizes{"64 or 512 bytes", 64, 512, 2048, 310},
                            Sizes{"512 bytes", 512, 0, 2048, 534},
                            Sizes{"1024 bytes", 1024, 0, 4096, 1046}};

struct Network {
  std::string_view name, fabric;
  unsigned ports;
  std::array<double, 3> rates;  // bytes per cycle and host: Table 8.2, over the hosts of a switch
};

constexpr std::array kNetworks{
    Network{"bmin 4-ary 3-fly", "bmin:k=4,stages=3", 1, {0.0625, 0.1125, 0.155}},
    Network{"bmin 8-ary 3-fly", "bmin:k=8,stages=3", 1, {0.0625, 0.1125, 0.1875}},
    Network{"umin 4-ary 4-fly", "umin:k=4,stages=4", 2, {0.0625, 0.1125, 0.15}},
    Network{"umin 8-ary 3-fly", "umin:k=8,stages=3", 2, {0.075, 0.1375, 0.2}}};

constexpr std::array kLevels{"low", "medium", "high"};
constexpr std::array kMechanisms{"none", "mvcm"};

std::string size_case(std::string_view mechanism, const Sizes& sizes) {
  return fmt::format("{}, {}", mechanism, sizes.name);
}

std::string network_case(std::string_view mechanism, const Network& network, std::size_t level) {
  return fmt::format("{}, {}, {}", mechanism, network.name, kLevels[level]);
}

std::vector<NetworkCase> list_cases(bool quick) {
  std::vector<NetworkCase> out;
  for (const char* mechanism : kMechanisms) {
    const CongestionSpec spec = mechanism_of(mechanism);
    for (const Sizes& sizes : kSizes) {
      HotSpotNetwork network = study_network(quick);
      network.traffic.payload = sizes.payload;
      network.traffic.other_payload = sizes.other;
      network.packet.switches.input_buffer_bytes = sizes.buffer;
      network.packet.switches.output_buffer_bytes = sizes.buffer;
      out.push_back({size_case(mechanism, sizes), network, spec, 0.1325});
    }
    for (const Network& each : kNetworks) {
      HotSpotNetwork network = study_network(quick);
      network.fabric = each.fabric;
      if (quick) network.fabric = each.ports == 2 ? "umin:k=4,stages=3" : "bmin:k=4,stages=3";
      network.traffic.ports = each.ports;
      for (std::size_t level = 0; level < kLevels.size(); ++level) {
        out.push_back({network_case(mechanism, each, level), network, spec, each.rates[level]});
      }
    }
  }
  return out;
}

std::vector<Measured> measure(const NetworkResults& results) {
  std::vector<Measured> out;
  const auto peak = [&](std::string_view mechanism, const Sizes& sizes) {
    return results.at(size_case(mechanism, sizes)).cold.peak_latency;
  };
  const Sizes& usual = kSizes[0];
  const Sizes& mixed = kSizes[1];
  out.push_back({"R9-variable",
                 fmt::format("none {:.0f}, of 256 bytes {:.0f}; mvcm {:.0f}, of 256 bytes {:.0f}",
                             peak("none", mixed),
                             peak("none", usual),
                             peak("mvcm", mixed),
                             peak("mvcm", usual)),
                 peak("none", mixed) > peak("none", usual) &&
                     peak("none", mixed) > 5 * peak("mvcm", mixed) &&
                     peak("mvcm", mixed) < 2 * peak("mvcm", usual)});
  std::string packets;
  bool alike = true;
  for (const char* mechanism : kMechanisms) {
    const double base = peak(mechanism, usual) / usual.mean_packet;
    packets += fmt::format("{}{}: {:.0f}", packets.empty() ? "" : "; ", mechanism, base);
    for (const Sizes& sizes : {kSizes[2], kSizes[3]}) {
      const double here = peak(mechanism, sizes) / sizes.mean_packet;
      packets += fmt::format(", {:.0f}", here);
      alike = alike && here < 2 * base && base < 2 * here;
    }
  }
  out.push_back({"R9-sizes", packets + " packet times", alike});

  std::string peaks;
  bool cut = true;
  for (const Network& network : kNetworks) {
    peaks += fmt::format("{}{}:", peaks.empty() ? "" : "; ", network.name);
    for (std::size_t level = 0; level < kLevels.size(); ++level) {
      const HotSpotResult& none = results.at(network_case("none", network, level));
      const HotSpotResult& mvcm = results.at(network_case("mvcm", network, level));
      peaks += fmt::format(
          " {} {:.0f} to {:.0f}", kLevels[level], none.cold.peak_latency, mvcm.cold.peak_latency);
      if (level > 0) cut = cut && none.cold.peak_latency > 5 * mvcm.cold.peak_latency;
    }
  }
  out.push_back({"R10", peaks, cut});
  return out;
}

Result<Findings> run(const ExperimentOptions& options) {
  const std::vector<NetworkCase> cases = list_cases(options.quick);
  const auto results = run_cases(options.jobs, cases);
  if (!results) return tl::unexpected<Error>(results.error());
  Findings out = tabulate_cases(cases, *results);
  out.plot = {.title = "Peak latency of cold packets during the pulse",
              .x_label = "bytes per cycle and host",
              .y_label = "cycles",
              .log_y = true};
  for (const char* mechanism : kMechanisms) {
    for (const Network& network : kNetworks) {
      for (std::size_t level = 0; level < kLevels.size(); ++level) {
        out.plot.add_point(fmt::format("{}, {}", mechanism, network.name),
                           network.rates[level],
                           results->at(network_case(mechanism, network, level)).cold.peak_latency);
      }
    }
  }
  out.verdicts = decide(kClaims, measure(*results));
  return out;
}

}  // namespace
}  // namespace smd::sim::networks

namespace smd::sim {

std::vector<Experiment> network_tables() {
  return {{.name = "004-networks",
           .source = "Ferrer 2012, 8.3, pattern I",
           .about = "a pulse to one host with other packet sizes and in other networks",
           .claims = networks::kClaims,
           .run = networks::run}};
}

}  // namespace smd::sim
