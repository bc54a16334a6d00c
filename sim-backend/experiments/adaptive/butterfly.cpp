// Flattened butterflies: what is accepted against the limits, behind saturation too; thresholds;
// trunks where sides differ.
#include <fmt/core.h>

#include "sim-backend/experiments/adaptive/network_runs.h"
#include "sim-backend/experiments/tables.h"

namespace smd::sim::butterfly {
namespace {

RoutesSpec rule_of(RuleKind kind, int threshold = 0) {
  return {.rule = {.rule = kind, .threshold = threshold}, .shape = {}};
}

constexpr RunSize kQuick{.warm_up = 1500, .measured = 1000};
constexpr RunSize kFull{.warm_up = 2000, .measured = 1000};
// As the source has it: what falls behind saturation does so over ten thousands of cycles.
constexpr RunSize kLong{.warm_up = 30'000, .measured = 10'000};
constexpr RunSize kQuickLong{.warm_up = 15'000, .measured = 5'000};

// 002-butterfly

constexpr ClaimSpec kButterflyClaims[] = {
    {.id = "E1-uniform-min",
     .text = "under uniform traffic minimal routes carry all of it",
     .source = "Benito 2014, figure 3.4",
     .must_hold = true,
     .measured = "{least:.3f}",
     .expected = "at least 0.95"},
    {.id = "E1-uniform-valiant",
     .text = "under uniform traffic Valiant's routes carry half of it",
     .source = "Benito 2014, figure 3.4",
     .must_hold = true,
     .measured = "{least:.3f}",
     .expected = "0.475 to 0.525"},
    {.id = "E1-mdn-min",
     .text = "under adverse traffic minimal routes carry one host's share of a router's",
     .source = "Benito 2014, figure 3.5",
     .must_hold = true,
     .measured = "{least:.3f} times 1/c",
     .expected = "0.97 to 1.03 times"},
    {.id = "E1-mdn-valiant",
     .text = "under adverse traffic Valiant's routes carry half of it at their best",
     .source = "Benito 2014, figure 3.5",
     .must_hold = true,
     .measured = "{least:.3f}",
     .expected = "0.45 to 0.55"},
    {.id = "E6-mdn",
     .text = "behind saturation Valiant's routes carry less of the traffic to the next diagonal",
     .source = "Benito 2014, figure 3.19",
     .measured = "{least:.3f} of the peak at a load of 1",
     .expected = "less than 0.9"},
    {.id = "E6-hrn",
     .text = "behind saturation they carry as much of the traffic to the next router",
     .source = "Benito 2014, figure 3.19",
     .measured = "{least:.3f} of the peak at a load of 1",
     .expected = "at least 0.95"},
    {.id = "E6-three",
     .text = "in three dimensions they carry less of either",
     .source = "Benito 2014, figure 3.19",
     .measured = "{least:.3f} and {most:.3f} of the peak at a load of 1",
     .expected = "less than 0.9"},
    {.id = "E6-cause",
     .text =
         "behind saturation they carry what they can where the packet that is in the network for "
         "longest crosses first, or input buffers are four times as large",
     .source = "of BookSim the same (docs/packet-level.md)",
     .measured = "{least:.3f} and {most:.3f} of the limit at a load of 1",
     .expected = "at least 0.95"},
};

/// Valiant's routes behind saturation: two patterns on squares and cubes, and the first of these
/// with one thing changed at a time that may make throughput fall.
void add_behind_saturation(bool quick, std::vector<Curve>& curves) {
  const std::uint32_t side = quick ? 4 : 6;
  const auto add = [&](const char* pattern,
                       std::vector<std::uint32_t> dims,
                       std::vector<double> loads,
                       const char* what,
                       std::function<void(PacketOptions&)> change) {
    std::string sides;
    for (const std::uint32_t k : dims) sides += fmt::format("{}{}", sides.empty() ? "" : ".", k);
    curves.push_back({.name = fmt::format("{}, valiant, {}, long{}", pattern, sides, what),
                      .fabric = fmt::format("hamming:dims={},hosts={}", sides, dims[0]),
                      .routes = rule_of(RuleKind::Valiant),
                      .pattern = pattern,
                      .dims = std::move(dims),
                      .loads = std::move(loads),
                      .change = std::move(change),
                      .length = quick ? kQuickLong : kLong});
  };
  const auto as_it_is = [](PacketOptions&) {};
  for (const char* pattern : {"mdn", "hrn"})
    add(pattern, {side, side}, {0.4, 0.5, 1.0}, "", as_it_is);
  const std::uint32_t cube = quick ? 3 : 4;
  for (const char* pattern : {"mdn", "hrn"})
    add(pattern, {cube, cube, cube}, {0.4, 0.5, 1.0}, "", as_it_is);
  const auto vary = [&](const char* what, std::function<void(PacketOptions&)> change) {
    add("mdn", {side, side}, {1.0}, what, std::move(change));
  };
  vary(", oldest first", [](PacketOptions& p) { p.switches.oldest_first = true; });
  vary(", input buffers of 256 flits",
       [](PacketOptions& p) { p.switches.input_buffer_bytes = 16384; });
  if (quick) return;
  vary(", output buffers of 2048 flits",
       [](PacketOptions& p) { p.switches.output_buffer_bytes = 131072; });
  vary(", no speed-up", [](PacketOptions& p) { p.switches.speed_up_percent = 100; });
  vary(", sources of 4 packets", [](PacketOptions& p) { p.adapters.most_waiting = 4; });
  vary(", VLs share the crossbar", [](PacketOptions& p) { p.switches.multiplexed = true; });
}

Result<Findings> run_butterfly(const ExperimentOptions& options) {
  const std::uint32_t side = options.quick ? 4 : 8;
  const std::string fabric = fmt::format("hamming:dims={0}.{0},hosts={0}", side);
  const std::vector<double> loads =
      options.quick ? std::vector{0.5, 1.0} : std::vector{0.3, 0.5, 0.6, 1.0};
  const RoutesSpec minimal = rule_of(RuleKind::Minimal), valiant = rule_of(RuleKind::Valiant);
  const RoutesSpec ugal = rule_of(RuleKind::UgalLocal);
  std::vector<Curve> curves;
  const auto add = [&](std::string name, const RoutesSpec& routes, std::string pattern) -> Curve& {
    curves.push_back({.name = std::move(name),
                      .fabric = fabric,
                      .routes = routes,
                      .pattern = std::move(pattern),
                      .dims = {side, side},
                      .loads = loads});
    return curves.back();
  };
  add("uniform, min", minimal, "uniform-self");
  add("uniform, valiant", valiant, "uniform-self");
  add("uniform, ugal-l", ugal, "uniform-self");
  add("mdn, min", minimal, "mdn");
  add("mdn, valiant", valiant, "mdn");
  add("mdn, ugal-l", ugal, "mdn");
  const std::size_t behind = curves.size();
  add_behind_saturation(options.quick, curves);
  const auto measured = run_curves(curves, options.quick ? kQuick : kFull, options.jobs);
  if (!measured) return tl::unexpected<Error>(measured.error());
  Findings out{.plot = {.title = "Flattened butterfly", .x_label = "load", .y_label = "accepted"}};
  add_curves(curves, *measured, out);
  const auto& m = *measured;
  const auto kept = [&](std::size_t c) { return m[behind + c].at(1.0) / m[behind + c].peak(); };
  Range three, cause;  // the limit is 0.5
  three.add(kept(2));
  three.add(kept(3));
  cause.add(2 * m[behind + 4].at(1.0));
  cause.add(2 * m[behind + 5].at(1.0));
  out.verdicts = decide(kButterflyClaims,
                        {{"E1-uniform-min", m[0].at(1.0)},
                         {"E1-uniform-valiant", m[1].peak()},
                         {"E1-mdn-min", m[3].peak() * side},
                         {"E1-mdn-valiant", m[4].peak()},
                         {"E6-mdn", kept(0)},
                         {"E6-hrn", kept(1)},
                         {"E6-three", three},
                         {"E6-cause", cause}});
  return out;
}

// 002-threshold

constexpr ClaimSpec kThresholdClaims[] = {
    {.id = "E2-low",
     .text = "thresholds of -257 to -32 lose more than a tenth of what uniform traffic could have",
     .source = "Benito 2014, figure 3.9",
     .measured = "{most:.3f} of the best at most",
     .expected = "less than 0.9"},
    {.id = "E2-high",
     .text = "thresholds of 16 to 128 lose more than a tenth of what adverse traffic could have",
     .source = "Benito 2014, figure 3.9",
     .must_hold = true,
     .measured = "{most:.3f} of the best at most",
     .expected = "less than 0.9"},
    {.id = "E2-both",
     .text = "-16 and 0 serve both patterns",
     .source = "Benito 2014, figure 3.9",
     .measured = "{least:.3f} of the best at least",
     .expected = "at least 0.9"},
};

std::vector<int> thresholds_of(bool quick) {
  if (quick) return {-257, -16, 0, 128};
  return {-257, -128, -64, -32, -16, 0, 16, 32, 64, 128};
}

Result<Findings> run_threshold(const ExperimentOptions& options) {
  const std::uint32_t side = options.quick ? 4 : 8;
  const std::vector<int> thresholds = thresholds_of(options.quick);
  std::vector<Curve> curves;
  for (const char* pattern : {"uniform-self", "mdn"}) {
    for (const int threshold : thresholds) {
      curves.push_back({.name = fmt::format("{}, T = {}", pattern, threshold),
                        .fabric = fmt::format("hamming:dims={0}.{0},hosts={0}", side),
                        .routes = rule_of(RuleKind::UgalLocal, threshold),
                        .pattern = pattern,
                        .dims = {side, side},
                        .loads = {0.5, 1.0}});
    }
  }
  const auto measured = run_curves(curves, options.quick ? kQuick : kFull, options.jobs);
  if (!measured) return tl::unexpected<Error>(measured.error());
  Findings out{.plot = {.title = "UGAL on a flattened butterfly, by threshold",
                        .x_label = "load",
                        .y_label = "accepted"}};
  add_curves(curves, *measured, out);
  const auto best = [&](std::size_t pattern) {
    double most = 0;
    for (std::size_t t = 0; t < thresholds.size(); ++t) {
      most = std::max(most, (*measured)[pattern * thresholds.size() + t].peak());
    }
    return most;
  };
  const double uniform = best(0), adverse = best(1);
  Range low, high, both;
  for (std::size_t t = 0; t < thresholds.size(); ++t) {
    const double of_uniform = (*measured)[t].peak() / uniform;
    const double of_adverse = (*measured)[thresholds.size() + t].peak() / adverse;
    if (thresholds[t] <= -32) {
      low.add(of_uniform);
    } else if (thresholds[t] >= 16) {
      high.add(of_adverse);
    } else {
      both.add(of_uniform);
      both.add(of_adverse);
    }
  }
  out.verdicts = decide(kThresholdClaims, {{"E2-low", low}, {"E2-high", high}, {"E2-both", both}});
  return out;
}

// 002-trunk

constexpr ClaimSpec kTrunkClaims[] = {
    {.id = "E3-min",
     .text = "with trunks of 1, 2 and 3 the short dimension of 6 x 16 lets a router have 6, 12 and "
             "16 flits per cycle",
     .source = "Benito 2014, figure 3.14",
     .must_hold = true,
     .measured = "{least:.3f} to {most:.3f} times",
     .expected = "0.95 to 1.05 times"},
    {.id = "E3-valiant",
     .text = "and by Valiant's routes 3, 6 and 8",
     .source = "Benito 2014, figure 3.14",
     .must_hold = true,
     .measured = "{least:.3f} to {most:.3f} times",
     .expected = "0.95 to 1.05 times"},
    {.id = "E4-min",
     .text = "under adverse traffic minimal routes let a router have 1, whatever the trunk",
     .source = "Benito 2014, figure 3.15",
     .must_hold = true,
     .measured = "{least:.3f} to {most:.3f} flits per cycle",
     .expected = "0.95 to 1.05 flits per cycle"},
    {.id = "E4-valiant",
     .text = "there Valiant's routes gain by trunks",
     .source = "Benito 2014, figure 3.15",
     .must_hold = true,
     .measured = "{least:.3f} times from each trunk to the next",
     .expected = "more than 1.05"},
    {.id = "E4-end",
     .text = "there they end lower with trunk 3 than with trunk 2",
     .source = "Benito 2014, figure 3.15",
     .measured = "{least:.3f} times at a load of 1",
     .expected = "less than 1"},
    {.id = "E5",
     .text = "in three dimensions trunks take a router from 4 of 7 flits per cycle to all",
     .source = "Benito 2014, figures 3.17 and 3.18",
     .must_hold = true,
     .measured = "{least:.3f} to {most:.3f} times",
     .expected = "0.95 to 1.05 times"},
};

Result<Findings> run_trunk(const ExperimentOptions& options) {
  // The same ratios of sides, hosts and trunks on an eighth of the hosts, for a quick look.
  const std::vector<std::uint32_t> sides =
      options.quick ? std::vector<std::uint32_t>{3, 8} : std::vector<std::uint32_t>{6, 16};
  const std::uint32_t hosts = sides[1];
  std::vector<Curve> curves;
  const std::vector<double> loads = options.quick ? std::vector{1.0} : std::vector{0.5, 1.0};
  for (const char* pattern : {"uniform-self", "mdn"}) {
    for (const RuleKind kind : {RuleKind::Minimal, RuleKind::Valiant, RuleKind::UgalLocal}) {
      for (const int trunk : {1, 2, 3}) {
        if (options.quick && kind == RuleKind::UgalLocal) continue;
        curves.push_back({.name = fmt::format("{}, {}, trunk {}", pattern, rule_name(kind), trunk),
                          .fabric = fmt::format(
                              "hamming:dims={0}.{1},hosts={1},trunk={2}.1", sides[0], hosts, trunk),
                          .routes = rule_of(kind),
                          .pattern = pattern,
                          .dims = sides,
                          .loads = loads});
      }
    }
  }
  const std::size_t three = curves.size();
  const std::vector<const char*> three_sides =
      options.quick
          ? std::vector{"hamming:dims=2.2.3,hosts=3", "hamming:dims=2.2.3,hosts=3,trunk=2.2.1"}
          : std::vector{"hamming:dims=4.4.7,hosts=7",
                        "hamming:dims=4.4.7,hosts=7,trunk=2.2.1",
                        "hamming:dims=4.7.7,hosts=7",
                        "hamming:dims=4.7.7,hosts=7,trunk=2.1.1"};
  for (const char* fabric : three_sides) {
    curves.push_back({.name = fmt::format("uniform-self, {}", fabric),
                      .fabric = fabric,
                      .routes = rule_of(RuleKind::Minimal),
                      .loads = {1.0}});
  }
  const std::size_t ends = curves.size();
  for (const int trunk : {2, 3}) {
    curves.push_back({.name = fmt::format("mdn, valiant, trunk {}, long", trunk),
                      .fabric = fmt::format(
                          "hamming:dims={0}.{1},hosts={1},trunk={2}.1", sides[0], hosts, trunk),
                      .routes = rule_of(RuleKind::Valiant),
                      .pattern = "mdn",
                      .dims = sides,
                      .length = options.quick ? kQuickLong : kLong});
  }
  const auto measured = run_curves(curves, options.quick ? kQuick : kFull, options.jobs);
  if (!measured) return tl::unexpected<Error>(measured.error());
  Findings out{.plot = {.title = "Trunks in a flattened butterfly of 6 x 16",
                        .x_label = "load",
                        .y_label = "accepted"}};
  add_curves(curves, *measured, out);
  const std::size_t rules = options.quick ? 2 : 3;
  const auto& m = *measured;
  const auto peak = [&](std::size_t pattern, std::size_t rule, std::size_t trunk) {
    return hosts * m[(pattern * rules + rule) * 3 + trunk].peak();
  };
  Range minimal, valiant, adverse, gain, dims;
  const double share = hosts / 16.0;
  const std::array of_minimal{6 * share, 12 * share, 16 * share};
  const std::array of_valiant{3 * share, 6 * share, 8 * share};
  for (std::size_t t = 0; t < 3; ++t) {
    minimal.add(peak(0, 0, t) / of_minimal[t]);
    valiant.add(peak(0, 1, t) / of_valiant[t]);
    adverse.add(peak(1, 0, t));
    if (t > 0) gain.add(peak(1, 1, t) / peak(1, 1, t - 1));
  }
  for (std::size_t c = three; c < ends; ++c) {
    dims.add(m[c].peak() / ((c - three) % 2 != 0 ? 1.0 : options.quick ? 2.0 / 3 : 4.0 / 7));
  }
  out.verdicts = decide(kTrunkClaims,
                        {{"E3-min", minimal},
                         {"E3-valiant", valiant},
                         {"E4-min", adverse},
                         {"E4-valiant", gain},
                         {"E4-end", m[ends + 1].at(1.0) / m[ends].at(1.0)},
                         {"E5", dims}});
  return out;
}

}  // namespace
}  // namespace smd::sim::butterfly

namespace smd::sim {

std::vector<Experiment> butterfly_tables() {
  return {{.name = "002-butterfly",
           .source = "Benito 2014, figures 3.4, 3.5 and 3.19",
           .about = "what a flattened butterfly accepts by rule, pattern and load, and why less",
           .claims = butterfly::kButterflyClaims,
           .run = butterfly::run_butterfly},
          {.name = "002-threshold",
           .source = "Benito 2014, figure 3.9",
           .about = "the threshold of UGAL on a flattened butterfly",
           .claims = butterfly::kThresholdClaims,
           .run = butterfly::run_threshold},
          {.name = "002-trunk",
           .source = "Benito 2014, figures 3.14, 3.15, 3.17 and 3.18",
           .about = "parallel cables where a butterfly's sides differ",
           .claims = butterfly::kTrunkClaims,
           .run = butterfly::run_trunk}};
}

}  // namespace smd::sim
