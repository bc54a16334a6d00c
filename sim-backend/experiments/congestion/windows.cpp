// What thresholds and windows are derived from: the fill of buffers and the round trip under
// uniform traffic near saturation, against the published figures and the formula of the window; and
// the use that rate rules make of a hot link. Near saturation: 95 % of what is accepted of 0.9.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sim-backend/experiments/congestion/network_cases.h"
#include "sim-backend/experiments/congestion/uniform_run.h"
#include "sim-backend/experiments/tables.h"
#include "sim-backend/lab/parallel.h"
#include "smd/congestion/throttle.h"

namespace smd::sim::windows {
namespace {

constexpr ClaimSpec kClaims[] = {
    {.id = "R5",
     .text = "under uniform traffic near saturation buffers are 66 percent full at inputs and 33 "
             "percent at outputs, in all networks",
     .source = "Ferrer 2012, Figure 8.2",
     .expected = "66 and 33 (10 points)"},
    {.id = "R31",
     .text = "the window is 1.28 and 1.07 by formula and 1.4 and 1.27 by simulation (BMIN, 256 and "
             "1,024 bytes), 1.14 and 1.04, 1.2 and 1.09 (UMIN)",
     .source = "Ferrer 2012, 8.2",
     .expected =
         "1.28 and 1.4, 1.07 and 1.27, 1.14 and 1.2, 1.04 and 1.09 (0.01 by formula, 10 % by run)"},
    {.id = "R33",
     .text = "AIMD uses up to 10 percent less of the hot link than FIMD and LIPD",
     .source = "Santos, Turner, Janakiraman 2003, as cited by Ferrer 2012",
     .expected = "aimd below both, by 0.1 at most"},
};

struct Network {
  UniformNetwork network;
  unsigned path = 0;   // switches
  double formula = 0;  // published windows; 0: none
  double by_run = 0;
};

std::vector<Network> networks(bool quick) {
  if (quick) {
    return {{{"bmin 4-ary 3-fly, 256", "bmin:k=4,stages=3"}, 5, 1.19, 0},
            {{"umin 4-ary 3-fly, 256", "umin:k=4,stages=3", 2}, 3, 1.14, 0}};
  }
  return {{{"bmin 4-ary 5-fly, 256", "bmin:k=4,stages=5,hosts=512"}, 9, 1.28, 1.4},
          {{"bmin 4-ary 5-fly, 1024", "bmin:k=4,stages=5,hosts=512", 1, 1024}, 9, 1.07, 1.27},
          {{"umin 8-ary 3-fly, 256", "umin:k=8,stages=3", 2}, 3, 1.14, 1.2},
          {{"umin 8-ary 3-fly, 1024", "umin:k=8,stages=3", 2, 1024}, 3, 1.04, 1.09},
          {{"bmin 4-ary 3-fly, 256", "bmin:k=4,stages=3"}, 5, 0, 0},
          {{"bmin 8-ary 3-fly, 256", "bmin:k=8,stages=3"}, 5, 0, 0},
          {{"umin 4-ary 4-fly, 256", "umin:k=4,stages=4", 2}, 4, 0, 0}};
}

struct Measured {
  UniformResult full, near;
};

Result<Measured> measure(const Network& network, bool quick) {
  const unsigned cycles = (quick ? 9000 : 30'000) * (network.network.payload / 256);
  const auto full = run_uniform(network.network, 0.9, cycles);
  if (!full) return tl::unexpected<Error>(full.error());
  const auto near = run_uniform(network.network, 0.95 * full->accepted, cycles);
  if (!near) return tl::unexpected<Error>(near.error());
  return Measured{*full, *near};
}

double window_of(const Network& network, double round_trip) {
  return round_trip / (network.network.payload + 22);
}

double formula_of(const Network& network) {
  return cc::compute_window({.switches = network.path,
                             .hop_time = 3,
                             .bytes_per_time = 1,
                             .head_bytes = 22,
                             .ack_bytes = 22},
                            network.network.payload);
}

constexpr std::array kRules{"aimd", "fimd", "lipd"};

std::vector<NetworkCase> rate_cases(bool quick) {
  std::vector<NetworkCase> out;
  for (const char* rule : kRules) {
    CongestionSpec spec = mechanism_of("renato");
    (void)find_pace(rule, spec.pace);
    out.push_back({rule, study_network(quick), spec, 0.1325});
  }
  return out;
}

Result<Findings> run(const ExperimentOptions& options) {
  const std::vector<Network> all = networks(options.quick);
  auto measured = collect<Measured>(
      options.jobs, all.size(), [&](std::size_t i) { return measure(all[i], options.quick); });
  if (!measured) return tl::unexpected<Error>(measured.error());
  const auto rates = run_cases(options.jobs, rate_cases(options.quick));
  if (!rates) return tl::unexpected<Error>(rates.error());

  Findings out{.plot = {.title = "Windows by run and by formula",
                        .x_label = "network, in the order of the table",
                        .y_label = "packets"}};
  std::string fills, windows;
  bool full_as_published = true, windows_as_published = true;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Network& network = all[i];
    const UniformResult& near = (*measured)[i].near;
    const double window = window_of(network, near.round_trip);
    const double formula = formula_of(network);
    out.add_row({{"network", network.network.name},
                 {"saturation_bytes_per_cycle_and_host", (*measured)[i].full.accepted},
                 {"offered", 0.95 * (*measured)[i].full.accepted},
                 {"input_fill", near.input_fill},
                 {"output_fill", near.output_fill},
                 {"fullest_fill", near.fullest_fill},
                 {"round_trip_cycles", near.round_trip},
                 {"window_by_run", window},
                 {"window_by_formula", formula}});
    out.plot.add_point("run", double(i + 1), window);
    out.plot.add_point("formula", double(i + 1), formula);
    const char* gap = i == 0 ? "" : "; ";
    fills += fmt::format("{}{}: {:.0f} and {:.0f}",
                         gap,
                         network.network.name,
                         100 * near.input_fill,
                         100 * near.output_fill);
    full_as_published = full_as_published && std::abs(near.input_fill - 0.66) < 0.1 &&
                        std::abs(near.output_fill - 0.33) < 0.1;
    if (network.formula == 0) continue;
    windows += fmt::format("{}{}: {:.2f} and {:.2f}", gap, network.network.name, formula, window);
    windows_as_published = windows_as_published && std::abs(formula - network.formula) < 0.01;
    if (network.by_run > 0) {
      windows_as_published = windows_as_published && std::abs(window / network.by_run - 1) < 0.1;
    }
  }
  const auto share = [&](const char* rule) { return rates->at(rule).link_share; };
  const double better = std::max(share("fimd"), share("lipd"));
  out.verdicts = decide(
      kClaims,
      {{"R5", fills + " percent", full_as_published},
       {"R31", windows + " packets", windows_as_published},
       {"R33",
        fmt::format("aimd {:.3f}, fimd {:.3f}, lipd {:.3f} of the link",
                    share("aimd"),
                    share("fimd"),
                    share("lipd")),
        share("aimd") < std::min(share("fimd"), share("lipd")) && share("aimd") >= better - 0.1}});
  return out;
}

}  // namespace
}  // namespace smd::sim::windows

namespace smd::sim {

std::vector<Experiment> window_tables() {
  return {{.name = "004-windows",
           .source = "Ferrer 2012, 8.2",
           .about = "what windows and thresholds are derived from, against runs",
           .claims = windows::kClaims,
           .run = windows::run}};
}

}  // namespace smd::sim
