// The pulse of 004-hot-spot-pulse at medium load, where every parameter that its source leaves open
// is set otherwise, one at a time, and two that it states, to see what they weigh: which published
// claims are borne out then.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "sim-backend/experiments/congestion/network_cases.h"
#include "sim-backend/experiments/tables.h"

namespace smd::sim::open_parameters {
namespace {

constexpr ClaimSpec kClaims[] = {
    {.id = "P1",
     .text = "there is a reading of what the source leaves open under which what it claims holds",
     .source = "Ferrer 2012, 8.2 and 8.4, medium load: R6, R7, R11, R12, R13",
     .expected = "6"},
    {.id = "P2",
     .text = "no reading of one open parameter bears out more of it than the one chosen",
     .source = "ours",
     .expected = "as many"},
};

constexpr std::array<std::string_view, 5> kMechanisms{"none", "renato", "pfister", "iocm", "mvcm"};

struct Reading {
  std::string_view name;
  std::function<void(HotSpotNetwork&, CongestionSpec&)> set;  // empty: runs are those of the chosen
  std::string_view of = "none renato pfister iocm mvcm";      // whom it changes
  std::size_t peaks_over = 10;                                // bins
  bool open = true;                                           // the source does not state it

  [[nodiscard]] bool changes(std::string_view mechanism) const {
    return set && of.find(mechanism) != std::string_view::npos;
  }
};

constexpr unsigned kPorts = 8;  // of a switch

void set_buffers(HotSpotNetwork& network, unsigned bytes) {
  network.packet.switches.input_buffer_bytes = bytes;
  network.packet.switches.output_buffer_bytes = bytes;
}

std::vector<Reading> readings() {
  using N = HotSpotNetwork;
  using C = CongestionSpec;
  return {
      {"chosen", [](N&, C&) {}},
      {"hot spot: host 100", [](N& n, C&) { n.traffic.hot_spot = 100; }},
      {"hot spot: host 300", [](N& n, C&) { n.traffic.hot_spot = 300; }},
      {"routes of ftree", [](N& n, C&) { n.engine = "ftree"; }},
      {"equal gaps", [](N& n, C&) { n.traffic.arrivals = ArrivalKind::Constant; }},
      {"batch of 10", [](N& n, C&) { n.traffic.batch = 10; }},
      {"batch of 28", [](N& n, C&) { n.traffic.batch = 28; }},
      {"speed-up of 1", [](N& n, C&) { n.packet.switches.speed_up_percent = 100; }},
      {"speed-up of 4", [](N& n, C&) { n.packet.switches.speed_up_percent = 400; }},
      {.name = "peaks over 50,000", .set = {}, .peaks_over = 50},
      {.name = "peaks over 100,000", .set = {}, .peaks_over = 100},
      {"cap k^(n-1)", [](N&, C& c) { c.cap = cc::WaitCap::StagesMinusOne; }, "iocm mvcm"},
      {"cap k^3", [](N&, C& c) { c.stages = 3; }, "iocm mvcm"},
      {"cap k^2", [](N&, C& c) { c.stages = 2; }, "iocm mvcm"},
      {"Pfister's slot: hot sources", [](N&, C& c) { c.hot_sources = 102 * kPorts; }, "pfister"},
      {"Renato with FIMD", [](N&, C& c) { c.pace = PaceKind::Fimd; }, "renato"},
      {"Renato by window alone", [](N&, C& c) { c.pace = PaceKind::None; }, "renato"},
      {"windows of hosts", [](N&, C& c) { c.scope = Scope::Host; }, "renato iocm mvcm"},
      {.name = "buffers of 8 packets",
       .set = [](N& n, C&) { set_buffers(n, 2048); },
       .open = false},
      {.name = "buffers of 8, host 100, cap k^(n-1)",
       .set =
           [](N& n, C& c) {
             set_buffers(n, 2048);
             n.traffic.hot_spot = 100;
             c.cap = cc::WaitCap::StagesMinusOne;
           },
       .open = false},
  };
}

std::string case_name(std::string_view mechanism, std::string_view reading) {
  return fmt::format("{}, {}", mechanism, reading);
}

/// What a reading bears out of what is published for medium load.
std::vector<std::string_view> weigh(const NetworkResults& results, const Reading& reading) {
  const auto at = [&](std::string_view mechanism) -> HotSpotResult {
    const bool own = reading.changes(mechanism);
    HotSpotResult out = results.at(case_name(mechanism, own ? reading.name : "chosen"));
    out.cold.peak_latency = peak_latency(out, &HotSpotBin::cold, reading.peaks_over);
    return out;
  };
  const HotSpotResult none = at("none"), renato = at("renato"), pfister = at("pfister"),
                      iocm = at("iocm"), mvcm = at("mvcm");
  constexpr double kReading = 1.3;  // as in 004-hot-spot-pulse
  const double ours = std::max(iocm.cold.peak_latency, mvcm.cold.peak_latency);
  const double best = std::max(iocm.cold.mean_latency, mvcm.cold.mean_latency);
  std::vector<std::string_view> out;
  const auto add = [&](std::string_view claim, bool holds) {
    if (holds) out.push_back(claim);
  };
  add("R6",
      none.cold.peak_latency > 140'000 / kReading &&
          none.least_cold_rate < 0.5 * none.cold_rate_before);
  add("R7-cold",
      mvcm.cold.peak_latency < 4000 * kReading &&
          none.cold.peak_latency >= 35 * mvcm.cold.peak_latency);
  add("R7-link", mvcm.link_share >= 0.97);
  add("R11",
      best < pfister.cold.mean_latency && pfister.cold.mean_latency < renato.cold.mean_latency &&
          renato.cold.mean_latency < none.cold.mean_latency);
  add("R12",
      std::max({ours, renato.cold.peak_latency, pfister.cold.peak_latency}) < 10'000 * kReading &&
          renato.cold.peak_latency > 3 / kReading * ours &&
          pfister.cold.peak_latency > 2 / kReading * ours);
  add("R13",
      renato.drained > std::max(pfister.drained, mvcm.drained) &&
          pfister.longest_gap > mvcm.longest_gap);
  return out;
}

constexpr std::size_t kWeighed = 6;

Result<Findings> run(const ExperimentOptions& options) {
  const std::vector<Reading> all = readings();
  std::vector<NetworkCase> cases;
  for (const Reading& reading : all) {
    for (const std::string_view mechanism : kMechanisms) {
      if (!reading.changes(mechanism)) continue;
      NetworkCase each{.name = case_name(mechanism, reading.name),
                       .network = study_network(options.quick),
                       .mechanism = mechanism_of(mechanism)};
      reading.set(each.network, each.mechanism);
      if (options.quick) each.network.traffic.hot_spot %= 64;
      cases.push_back(std::move(each));
    }
  }
  const auto results = run_cases(options.jobs, cases);
  if (!results) return tl::unexpected<Error>(results.error());
  Findings out = tabulate_cases(cases, *results);
  out.plot = {.title = "Claims that a reading bears out",
              .x_label = "reading, in the order of the table",
              .y_label = "of six"};
  std::size_t most = 0;
  std::string best, each;
  std::size_t chosen = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::vector<std::string_view> claims = weigh(*results, all[i]);
    const std::size_t count = claims.size();
    const std::string in_words = fmt::format("{}", fmt::join(claims, " "));
    out.plot.add_point("claims", double(i + 1), double(count));
    each += fmt::format("; {} {}", all[i].name, claims.empty() ? "none" : in_words);
    if (i == 0) chosen = count;
    if (!all[i].open) continue;
    if (best.empty() || count > most) {
      most = count;
      best = fmt::format("{} ({})", all[i].name, in_words);
    }
  }
  out.verdicts = decide(
      kClaims,
      {{"P1", fmt::format("{} of {} at most, {}{}", most, kWeighed, best, each), most == kWeighed},
       {"P2", fmt::format("{} as chosen, {} at most", chosen, most), chosen == most}});
  return out;
}

}  // namespace
}  // namespace smd::sim::open_parameters

namespace smd::sim {

std::vector<Experiment> open_parameter_tables() {
  return {{.name = "004-open-parameters",
           .source = "Ferrer 2012, BMIN 4-ary 5-fly, 512 hosts, pattern I",
           .about = "what the published study leaves open, one by one",
           .claims = open_parameters::kClaims,
           .run = open_parameters::run}};
}

}  // namespace smd::sim
