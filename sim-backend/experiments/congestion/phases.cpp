// Two parallel programs on a multistage network of 64 hosts, under every mechanism. The source
// replayed traces of CPMD for the whole run and of DL_POLY once that was stable, until the latter
// was consumed; neither the traces nor their sizes and compression are printed. Ours are made:
// transposes and sums all the time, then a step in domains that ends with everybody's output to one
// rank. The output's size is chosen for the printed peak without control; nothing else is.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>

#include "sim-backend/experiments/congestion/network_cases.h"
#include "sim-backend/experiments/congestion/phases_run.h"
#include "sim-backend/experiments/tables.h"
#include "sim-backend/lab/parallel.h"

namespace smd::sim::phases {
namespace {

constexpr std::string_view kSource = "Ferrer 2012, Figure 8.26";

constexpr ClaimSpec kClaims[] = {
    {.id = "R15-none",
     .text = "without control the mean latency rises to 100,000 cycles",
     .source = kSource,
     .expected = "100000 (30 %), which the output was chosen for"},
    {.id = "R15-ours",
     .text = "IOCM and MVCM keep it below 5,000 cycles, at some 1,000 on average, both alike",
     .source = kSource,
     .expected = "below 5000 and near 1000, alike (30 %)"},
    {.id = "R15-rivals",
     .text = "Renato's and Pfister's keep it at some 4,000 on average, with peaks near 10,000",
     .source = kSource,
     .expected = "near 10000 and near 4000 (30 %)"},
    {.id = "R15-order",
     .text =
         "peaks of IOCM and MVCM are below those of Renato's and Pfister's, and these below none",
     .source = kSource,
     .expected = "the first two below the next two, these below the last"},
    {.id = "R15-throughput",
     .text = "throughput comes back under all four, and swings least under IOCM and MVCM",
     .source = kSource,
     .expected = "0.95 or more of it, and the first two deviate less than the others"},
};

constexpr std::array kMechanisms{"none", "renato", "pfister", "iocm", "mvcm"};

struct PhasesCase {
  std::string name;
  PhasesSetup setup;
};

constexpr std::uint32_t kBytes = 256;

/// The first program's load is `rate` of a link while it sends, besides headers.
PhasesSetup setup_of(std::uint32_t ranks, double rate, std::string output) {
  // A step is a round to each other rank, and a round per doubling.
  const std::uint32_t rounds = ranks - 1 + static_cast<std::uint32_t>(std::bit_width(ranks)) - 1;
  const double step = rounds * kBytes / rate;
  PhasesSetup out{
      .ranks = ranks,
      .first = {.phases = {"all-to-all:bytes=256", "all-reduce:bytes=256"},
                .repeat = 60,
                .bytes_per_cycle = rate,
                .jitter = 1000},
      .second = {.phases = {"halo:bytes=512", "all-reduce:bytes=160", std::move(output)},
                 .jitter = 1000}};
  out.rate_window = static_cast<std::uint64_t>(step);
  out.second_at = 4 * out.rate_window;
  return out;
}

/// What was chosen where the source is silent, first, and other readings.
std::vector<PhasesCase> phases_cases(bool quick) {
  const auto chosen = [&] {
    if (!quick) return setup_of(64, 0.3, "gather:bytes=3072");
    PhasesSetup out = setup_of(16, 0.3, "gather:bytes=3072");
    out.fabric = "bmin:k=4,stages=2";
    return out;
  };
  std::vector<PhasesCase> out{{"chosen", chosen()}};
  const auto other = [&](std::string name, auto change) {
    PhasesSetup setup = chosen();
    change(setup);
    out.push_back({std::move(name), std::move(setup)});
  };
  other("output of 1,536 bytes",
        [](PhasesSetup& s) { s.second.phases.back() = "gather:bytes=1536"; });
  if (quick) return out;
  other("output of 6,144 bytes",
        [](PhasesSetup& s) { s.second.phases.back() = "gather:bytes=6144"; });
  other("three outputs, to ranks 0, 21 and 42", [](PhasesSetup& s) {
    s.second.phases.back() = "gather:bytes=1024";
    s.second.phases.push_back("gather:bytes=1024,root=21");
    s.second.phases.push_back("gather:bytes=1024,root=42");
  });
  other("no output; faces of 4,096 bytes", [](PhasesSetup& s) {
    s.second.phases = {"halo:bytes=4096", "all-reduce:bytes=160"};
  });
  out.push_back({"first program at 0.15", setup_of(64, 0.15, "gather:bytes=3072")});
  out.push_back({"first program at 0.45", setup_of(64, 0.45, "gather:bytes=3072")});
  other("ranks in step", [](PhasesSetup& s) { s.first.jitter = s.second.jitter = 0; });
  other("ranks up to 10,000 cycles apart",
        [](PhasesSetup& s) { s.first.jitter = s.second.jitter = 10'000; });
  return out;
}

constexpr double kReading = 1.3;                      // peaks are read off figures: 30 percent
using Results = std::map<std::string, PhasesResult>;  // of what was chosen, by mechanism

std::string peaks_and_means(const Results& r, std::initializer_list<const char*> names) {
  std::string out;
  for (const char* name : names) {
    out += fmt::format("{}{} {:.0f} and {:.0f}",
                       out.empty() ? "" : ", ",
                       name,
                       r.at(name).peak_latency,
                       r.at(name).all.mean_latency);
  }
  return out;
}

bool near(double value, double to) { return value < to * kReading && value > to / kReading; }

std::vector<Measured> measure(const Results& r) {
  const auto peak = [&](const char* name) { return r.at(name).peak_latency; };
  const auto mean = [&](const char* name) { return r.at(name).all.mean_latency; };
  std::vector<Measured> out;
  out.push_back(
      {"R15-none", fmt::format("{:.0f} cycles", peak("none")), near(peak("none"), 100'000)});
  out.push_back({"R15-ours",
                 "peaks and means: " + peaks_and_means(r, {"iocm", "mvcm"}),
                 std::max(peak("iocm"), peak("mvcm")) < 5000 * kReading &&
                     near(mean("iocm"), 1000) && near(mean("mvcm"), 1000) &&
                     near(peak("iocm"), peak("mvcm"))});
  out.push_back({"R15-rivals",
                 "peaks and means: " + peaks_and_means(r, {"renato", "pfister"}),
                 near(peak("renato"), 10'000) && near(peak("pfister"), 10'000) &&
                     near(mean("renato"), 4000) && near(mean("pfister"), 4000)});
  const double ours = std::max(peak("iocm"), peak("mvcm"));
  const double best_rival = std::min(peak("renato"), peak("pfister"));
  const double worst_rival = std::max(peak("renato"), peak("pfister"));
  out.push_back({"R15-order",
                 fmt::format("iocm {:.0f}, mvcm {:.0f}, renato {:.0f}, pfister {:.0f}, none {:.0f}",
                             peak("iocm"),
                             peak("mvcm"),
                             peak("renato"),
                             peak("pfister"),
                             peak("none")),
                 ours < best_rival && worst_rival < peak("none")});
  std::string rates;
  bool back = true;
  for (const char* name : {"iocm", "mvcm", "renato", "pfister"}) {
    const PhasesResult& p = r.at(name);
    rates += fmt::format("{}{} {:.2f} of what it was, deviation {:.2f}",
                         rates.empty() ? "" : "; ",
                         name,
                         p.rate_after / p.rate_before,
                         p.rate_deviation);
    back = back && p.rate_after > 0.95 * p.rate_before;
  }
  const auto swing = [&](const char* name) { return r.at(name).rate_deviation; };
  out.push_back({"R15-throughput",
                 rates,
                 back && std::max(swing("iocm"), swing("mvcm")) <
                             std::min(swing("renato"), swing("pfister"))});
  return out;
}

Result<Findings> run(const ExperimentOptions& options) {
  const std::vector<PhasesCase> all = phases_cases(options.quick);
  const std::size_t each = kMechanisms.size();
  const auto measured = collect<PhasesResult>(options.jobs, all.size() * each, [&](std::size_t i) {
    return run_phases(all[i / each].setup, mechanism_of(kMechanisms[i % each]), 1);
  });
  if (!measured) return tl::unexpected<Error>(measured.error());
  Findings out{.plot = {.title = "Mean latency since the second program began",
                        .x_label = "cycles",
                        .y_label = "cycles",
                        .log_y = true}};
  Results chosen;
  for (std::size_t i = 0; i < measured->size(); ++i) {
    const PhasesResult& p = (*measured)[i];
    const char* mechanism = kMechanisms[i % each];
    out.add_row({{"reading", all[i / each].name},
                 {"mechanism", mechanism},
                 {"mean_cycles", p.all.mean_latency},
                 {"first_mean_cycles", p.first.mean_latency},
                 {"second_mean_cycles", p.second.mean_latency},
                 {"peak_cycles", p.peak_latency},
                 {"first_peak_cycles", p.peak_first},
                 {"mean_before_cycles", p.mean_before},
                 {"consumed_cycles", p.consumed},
                 {"rate_before", p.rate_before},
                 {"least_rate", p.least_rate},
                 {"rate_after", p.rate_after},
                 {"rate_deviation", p.rate_deviation},
                 {"most_packets_waiting", p.backlog}});
    if (i >= each) continue;
    chosen[mechanism] = p;
    for (const PhasesWindow& w : p.windows) {
      out.plot.add_point(mechanism, w.begins, w.mean_latency);
    }
  }
  out.verdicts = decide(kClaims, measure(chosen));
  return out;
}

}  // namespace
}  // namespace smd::sim::phases

namespace smd::sim {

std::vector<Experiment> phases_tables() {
  return {
      {.name = "004-phases",
       .source = "Ferrer 2012, Figure 8.26, BMIN 4-ary 3-fly, CPMD and DL_POLY",
       .about = "two parallel programs at once, made of the phases of MPI, under every mechanism",
       .claims = phases::kClaims,
       .run = phases::run}};
}

}  // namespace smd::sim
