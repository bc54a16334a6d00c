// The packet level against a flit-level simulator: latencies and throughput of the same networks,
// loads and packets. The other's figures are those of booksim2 (commit 28f43299) with two virtual
// channels of 64 flits per port, 16-flit packets, one packet through the crossbar per input port,
// routers of three cycles, cables of one, one seed.
#include <fmt/core.h>

#include <cmath>

#include "sim-backend/experiments/tables.h"
#include "sim-backend/lab/parallel.h"
#include "sim-backend/scenario/run.h"

namespace smd::sim::flit_level_points {
namespace {

constexpr std::string_view kSource = "booksim2 28f43299, two virtual channels of 64 flits";

constexpr ClaimSpec kClaims[] = {
    {.id = "zero-load",
     .text = "an empty network takes 4.06 cycles per router and 17 more",
     .source = kSource,
     .expected = "0.98 to 1.02 times"},
    {.id = "latency",
     .text = "mean packet latencies at loads of 0.1, 0.3 and 0.5 are those of the flit level",
     .source = kSource,
     .expected = "0.95 to 1.05 times"},
    {.id = "throughput",
     .text = "what is accepted of an offered load of 0.9 (dragonfly 0.7) is what the flit level "
             "accepts",
     .source = kSource,
     .expected = "0.92 to 1.08 times"},
};

struct Network {
  std::string_view name;
  std::string_view fabric;
  std::string_view engine;
  double routers;                 // passed on average, oneself included
  std::array<double, 3> latency;  // packet latency at 0.1, 0.3, 0.5, cycles; 0: not measured
  double accepted;                // of `full`
  double full = 0.9;
  double empty = 0;         // network latency at 0.01, cycles; 0: by the law
  unsigned vl_blocks = 64;  // buffer of a port and lane, in blocks of 64 bytes
  LinkModel links = PacketOptions::cycles().links;
};

/// 10 cycles within a group, 100 between groups.
LinkModel dragonfly_links() {
  LinkModel links = PacketOptions::cycles().links;
  links.group_switches = 8;
  links.within_groups = 10 * links.propagation;
  links.between_groups = 100 * links.propagation;
  return links;
}

// Fat trees: routes by destination (dmodk), as a forwarding table has them.
const Network kNetworks[] = {
    {"torus8x8", "torus:dims=8.8,hosts=1", "dor", 5.0, {41.0, 56.3, 132.7}, 0.478},
    {"ft4_3",
     "pgft:levels=3,down=4.4.4,up=1.4.4,parallel=1.1.1",
     "ftree",
     4.375,
     {37.2, 46.5, 68.5},
     0.758},
    {"ft8_3",
     "pgft:levels=3,down=8.8.8,up=1.8.8,parallel=1.1.1",
     "ftree",
     4.734,
     {39.1, 51.2, 82.9},
     0.682},
    {"ff8x8c4", "hamming:dims=8.8,hosts=4", "hamming", 2.75, {30.5, 37.9, 53.2}, 0.821},
    {"df4",
     "dragonfly:a=8,c=4,h=4,groups=33",
     "dragonfly",
     3.70,
     {0, 167.3, 259.7},
     0.561,
     0.7,
     143.6,
     256,
     dragonfly_links()},
};

constexpr std::array kLoads{0.01, 0.1, 0.3, 0.5};  // and what is too much

double load_of(const Network& network, std::size_t place) {
  return place < kLoads.size() ? kLoads[place] : network.full;
}

constexpr std::size_t kPlaces = kLoads.size() + 1;
constexpr Picos kCycle = 1024;
constexpr std::uint32_t kPacket = 1024;  // bytes: 16 flits of 64

Result<PreparedScenario> prepare(const Network& network, bool quick) {
  Scenario s;
  s.file = network.name;
  s.fabric = network.fabric;
  s.packet = PacketOptions::cycles();
  s.packet.switches.input_buffer_bytes = network.vl_blocks * 64;
  s.packet.links = network.links;
  s.program.engine = network.engine;
  s.program.vls = s.packet.vls;
  s.traffic.pattern = "uniform-self";
  s.traffic.arrivals = {.kind = ArrivalKind::Bernoulli, .slot = kCycle};
  s.traffic.sizes = {{kPacket, 1}};
  // Where the routes leave it open, packets are spread over both lanes.
  const bool free = network.engine != "dor" && network.engine != "dragonfly";
  s.traffic.sl_choice = free ? SlChoice::Random : SlChoice::Path;
  s.traffic.sl = 1;
  s.measure.plan = {.warm_up = (quick ? 3000 : 10'000) * kCycle,
                    .interval = (quick ? 1000 : 2000) * kCycle,
                    .least_intervals = 10,
                    .most_intervals = 10};
  auto prepared = PreparedScenario::prepare(std::move(s));
  if (!prepared) return fail(Errc::Invalid, print_fault(prepared.error().at(0)));
  return std::move(*prepared);
}

struct Point {
  Sample latency, network, hops, accepted;  // over seeds; cycles
};

/// Of several ratios the one farthest from 1, and where it is.
struct Worst {
  void add(double measured, double expected, std::string place) {
    const double ratio = measured / expected;
    if (where.empty() || std::abs(ratio - 1) > std::abs(farthest - 1)) {
      farthest = ratio;
      where = std::move(place);
    }
  }

  [[nodiscard]] Measured of(std::string_view claim) const {
    return {claim, fmt::format("{:.3f} times where it fits worst ({})", farthest, where), farthest};
  }

  double farthest = 1;
  std::string where;
};

Result<Findings> run(const ExperimentOptions& options) {
  const std::size_t seeds = options.quick ? 2 : 5;
  const std::size_t networks = options.quick ? 2 : std::size(kNetworks);
  std::vector<PreparedScenario> prepared;
  for (std::size_t n = 0; n < networks; ++n) {
    auto one = prepare(kNetworks[n], options.quick);
    if (!one) return tl::unexpected<Error>(one.error());
    prepared.push_back(std::move(*one));
  }
  std::vector<PointResult> results(networks * kPlaces * seeds);
  run_all(options.jobs, results.size(), [&](std::size_t i) {
    const std::size_t point = i / seeds;
    const std::size_t n = point / kPlaces;
    results[i] = prepared[n].run(load_of(kNetworks[n], point % kPlaces), 1 + i % seeds);
  });

  Findings out{.plot = {.title = "Mean packet latency, packet level and flit level",
                        .x_label = "offered load",
                        .y_label = "cycles",
                        .log_y = true}};
  Worst empty, latency, throughput;
  for (std::size_t n = 0; n < networks; ++n) {
    const Network& network = kNetworks[n];
    for (std::size_t l = 0; l < kPlaces; ++l) {
      Point point;
      RunState state = RunState::Stable;
      for (std::size_t k = 0; k < seeds; ++k) {
        const PointResult& result = results[(n * kPlaces + l) * seeds + k];
        if (!result.audit.empty()) return fail(Errc::Invalid, result.audit);
        point.latency.add(result.latency.mean / kCycle);
        point.network.add(result.network_latency.mean / kCycle);
        point.hops.add(result.mean_hops);
        point.accepted.add(result.steady.accepted_load);
        state = std::max(state, result.steady.state);
      }
      const double load = load_of(network, l);
      const std::string place = fmt::format("{} at {}", network.name, load);
      const bool is_full = l == kLoads.size();
      const bool compared = l >= 1 && !is_full && network.latency[l - 1] > 0;
      if (l == 0) {
        const double law = 4.06 * point.hops.mean() + 17;
        empty.add(point.network.mean(), network.empty > 0 ? network.empty : law, place);
      } else if (compared) {
        latency.add(point.latency.mean(), network.latency[l - 1], place);
        out.plot.add_point(
            fmt::format("{}, flit level", network.name), load, network.latency[l - 1]);
      } else if (is_full) {
        throughput.add(point.accepted.mean(), network.accepted, place);
      }
      if (!is_full) out.plot.add_point(network.name, load, point.latency.mean());
      out.add_row({{"network", network.name},
                   {"load", load},
                   {"runs", seeds},
                   {"state", print_run_state(state)},
                   {"accepted", point.accepted.mean()},
                   {"latency_cycles", point.latency.mean()},
                   {"network_latency_cycles", point.network.mean()},
                   {"routers", point.hops.mean()},
                   {"flit_level_latency_cycles",
                    compared ? TableCell(network.latency[l - 1]) : TableCell()},
                   {"flit_level_accepted", is_full ? TableCell(network.accepted) : TableCell()}});
    }
  }
  out.verdicts =
      decide(kClaims, {empty.of("zero-load"), latency.of("latency"), throughput.of("throughput")});
  return out;
}

}  // namespace
}  // namespace smd::sim::flit_level_points

namespace smd::sim {

std::vector<Experiment> flit_level_tables() {
  return {{.name = "003-flit-level-points",
           .source = flit_level_points::kSource,
           .about = "latency and throughput of networks that a flit-level simulator has measured",
           .claims = flit_level_points::kClaims,
           .run = flit_level_points::run}};
}

}  // namespace smd::sim
