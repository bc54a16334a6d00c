// How small source queues may be before cold packets of a pulse wait longer
// than with a queue per destination, under MVCM at medium load, and what they
// cost in memory and silicon. Chosen: "enough" is a mean within 10 % of FVOQ's;
// bursts of pattern II are of 10 packets (published: 100).
#include <fmt/core.h>

#include <array>
#include <cmath>

#include "sim-backend/congestion/source_memory.h"
#include "sim-backend/experiments/congestion/network_cases.h"
#include "sim-backend/experiments/tables.h"

namespace smd::sim::source_sizes {
namespace {

constexpr ClaimSpec kClaims[] = {
    {.id = "R26",
     .text = "a pool of 25 kB does what a queue per destination does, 128 "
             "shared queues as well, "
             "fewer not",
     .source = "Ferrer 2012, Figure 8.40",
     .expected = "the second above the first by 10 %, the others not"},
    {.id = "R27",
     .text = "so it is with packets of 64 and 512 bytes, and when all hosts "
             "burst to the hot spot",
     .source = "Ferrer 2012, Figures 8.41 to 8.44",
     .expected = "the second above the first by 10 %, the others not"},
    {.id = "R28",
     .text = "for 64 hosts a pool of 3 kB is enough, 16 shared queues are, "
             "fewer are not",
     .source = "Ferrer 2012, Figures 8.45 to 8.48",
     .expected = "the second above the first by 10 %, the others not"},
    {.id = "R29",
     .text = "memory of FVOQ, PVOQ and SB for 512, 256 and 64 hosts, in kB",
     .source = "Ferrer 2012, Table 8.5"},
    {.id = "R30",
     .text = "silicon at 45 nm shrinks as memory does: PVOQ by 88 percent, SB "
             "by 91",
     .source = "Ferrer 2012, Table 8.6",
     .expected = "memory saves as much as area, to 3 points"},
};

struct Published {
  unsigned hosts;
  double fvoq, pvoq, pvoq_longer,
      sb;                             // Table 8.5, kB; for 5,000 and 10,000 cycles
  double fvoq_mm2, pvoq_mm2, sb_mm2;  // Table 8.6, 45 nm
  unsigned stages;
};

constexpr std::array kPublished{Published{512, 256, 32, 64, 25, 57.39, 6.71, 5.24, 5},
                                Published{256, 128, 16, 32, 12, 28.72, 3.38, 2.51, 4},
                                Published{64, 32, 4, 4, 3, 7.21, 0.88, 0.63, 3}};

struct Queues {
  std::string name;
  SourceQueues kind;
  unsigned size;  // queues, or bytes
};

struct Setup {
  std::string_view name;
  bool small;  // 64 hosts
  std::uint16_t payload, other;
  unsigned burst;
};

constexpr std::array kSetups{Setup{"pattern I", false, 256, 0, 0},
                             Setup{"64 or 512 bytes", false, 64, 512, 0},
                             Setup{"pattern II", false, 256, 0, 10},
                             Setup{"64 hosts", true, 256, 0, 10}};

std::vector<Queues> queues_of(const Setup& setup) {
  const unsigned enough = setup.small ? 16 : 128;
  const unsigned pool = setup.small ? 3000 : 25'600;
  return {{"fvoq", SourceQueues::PerDestination, 1},
          {fmt::format("pvoq {}", enough / 8), SourceQueues::Hashed, enough / 8},
          {fmt::format("pvoq {}", enough), SourceQueues::Hashed, enough},
          {fmt::format("sb {}", pool), SourceQueues::Pool, pool}};
}

std::string case_name(const Setup& setup, const Queues& queues) {
  return fmt::format("{}, {}", queues.name, setup.name);
}

std::vector<NetworkCase> list_cases(bool quick) {
  std::vector<NetworkCase> out;
  for (const Setup& setup : kSetups) {
    for (const Queues& queues : queues_of(setup)) {
      HotSpotNetwork network = study_network(quick || setup.small);
      network.traffic.payload = setup.payload;
      network.traffic.other_payload = setup.other;
      network.traffic.burst = setup.burst;
      const unsigned buffer = setup.other > 0 ? 2048 : 1024;
      network.packet.switches.input_buffer_bytes = buffer;
      network.packet.switches.output_buffer_bytes = buffer;
      network.packet.adapters.waiting = queues.kind;
      if (queues.kind == SourceQueues::Hashed) network.packet.adapters.queues = queues.size;
      if (queues.kind == SourceQueues::Pool) network.packet.adapters.pool_bytes = queues.size;
      out.push_back(
          {case_name(setup, queues), network, mechanism_of("mvcm"), setup.small ? 0.1125 : 0.1325});
    }
  }
  return out;
}

/// Cold means in the order of queues_of(): the second too many, the last two
/// enough.
Measured measure_sizes(std::string_view id,
                       const NetworkResults& results,
                       std::initializer_list<const Setup*> setups) {
  std::string text;
  bool holds = true;
  for (const Setup* setup : setups) {
    std::vector<double> means;
    text += fmt::format("{}{}:", text.empty() ? "" : "; ", setup->name);
    for (const Queues& queues : queues_of(*setup)) {
      means.push_back(results.at(case_name(*setup, queues)).cold.mean_latency);
      text += fmt::format(" {} {:.0f}", queues.name, means.back());
    }
    holds = holds && means[1] > 1.1 * means[0] && means[2] <= 1.1 * means[0] &&
            means[3] <= 1.1 * means[0];
  }
  return {id, text + " cycles", holds};
}

SourceNeeds needs_of(const Published& row) {
  return {.destinations = row.hosts, .window = 2, .packet_bytes = 256, .stages = row.stages};
}

Measured measure_memory() {
  std::string text, expected;
  bool holds = true;
  for (const Published& row : kPublished) {
    const SourceNeeds needs = needs_of(row);
    const auto kib = [](std::uint64_t bytes) { return double(bytes) / 1024; };
    const double fvoq = kib(fvoq_memory(needs).data_bytes);
    const double pvoq = kib(pvoq_memory(needs, published_queues(row.hosts)).data_bytes);
    const double longer = kib(
        pvoq_memory(needs,
                    row.hosts > 64 ? 2 * published_queues(row.hosts) : published_queues(row.hosts))
            .data_bytes);
    const double pool = kib(published_pool(needs));
    const char* gap = text.empty() ? "" : "; ";
    text += fmt::format(
        "{}{} hosts: {:.0f}, {:.0f}, {:.0f}, {:.1f}", gap, row.hosts, fvoq, pvoq, longer, pool);
    expected += fmt::format(
        "{}{:.0f}, {:.0f}, {:.0f}, {:.0f}", gap, row.fvoq, row.pvoq, row.pvoq_longer, row.sb);
    holds = holds && fvoq == row.fvoq && pvoq == row.pvoq && longer == row.pvoq_longer &&
            std::abs(pool - row.sb) <= 1;
  }
  return {"R29", text + " kB", holds, expected + " (pool: 1)"};
}

/// Shares by which area and memory, control included, are below FVOQ's.
Measured measure_silicon() {
  std::string text;
  bool holds = true;
  for (const Published& row : kPublished) {
    const SourceNeeds needs = needs_of(row);
    const double whole = double(fvoq_memory(needs).bytes());
    const auto saved = [&](double area, const SourceMemory& memory) {
      const double by_area = 100 * (1 - area / row.fvoq_mm2);
      const double by_memory = 100 * (1 - double(memory.bytes()) / whole);
      text += fmt::format(" {:.1f} and {:.1f}", by_area, by_memory);
      holds = holds && std::abs(by_area - by_memory) <= 3;
    };
    text += fmt::format("{}{} hosts:", text.empty() ? "" : "; ", row.hosts);
    saved(row.pvoq_mm2, pvoq_memory(needs, published_queues(row.hosts)));
    saved(row.sb_mm2, pool_memory(needs, static_cast<std::uint64_t>(row.sb * 1024)));
  }
  return {"R30", text + " percent", holds};
}

Result<Findings> run(const ExperimentOptions& options) {
  const std::vector<NetworkCase> cases = list_cases(options.quick);
  const auto results = run_cases(options.jobs, cases);
  if (!results) return tl::unexpected<Error>(results.error());
  Findings out = tabulate_cases(cases, *results);
  out.plot = {.title = "Mean latency of cold packets by source queues",
              .x_label = "fvoq, few and enough queues, pool",
              .y_label = "cycles",
              .log_y = true};
  for (const Setup& setup : kSetups) {
    double at = 0;
    for (const Queues& queues : queues_of(setup)) {
      out.plot.add_point(setup.name, ++at, results->at(case_name(setup, queues)).cold.mean_latency);
    }
  }
  out.verdicts = decide(kClaims,
                        {measure_sizes("R26", *results, {&kSetups[0]}),
                         measure_sizes("R27", *results, {&kSetups[1], &kSetups[2]}),
                         measure_sizes("R28", *results, {&kSetups[3]}),
                         measure_memory(),
                         measure_silicon()});
  return out;
}

}  // namespace
}  // namespace smd::sim::source_sizes

namespace smd::sim {

std::vector<Experiment> source_memory_tables() {
  return {{.name = "004-source-memory",
           .source = "Ferrer 2012, 8.6",
           .about = "how small source queues may be, and what they cost",
           .claims = source_sizes::kClaims,
           .run = source_sizes::run}};
}

}  // namespace smd::sim
