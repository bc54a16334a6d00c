// Dragonflies: what is accepted against the limits; trunks between groups, within them, and as wide
// as groups.
#include <fmt/core.h>

#include "sim-backend/adaptive/limits.h"
#include "sim-backend/experiments/adaptive/network_runs.h"
#include "sim-backend/experiments/tables.h"

namespace smd::sim::dragonfly {
namespace {

constexpr RunSize kQuick{.warm_up = 1500, .measured = 1000};
constexpr RunSize kFull{.warm_up = 2000, .measured = 1000};

Curve curve_of(std::string_view network,
               std::string fabric,
               std::uint32_t group,
               RuleSpec rule,
               std::string pattern,
               std::vector<double> loads = {1.0}) {
  return {.name = fmt::format("{}, {}, {}", network, pattern, rule_name(rule.rule)),
          .fabric = std::move(fabric),
          .routes = {.rule = rule, .shape = {.dims = {}, .group = group}},
          .pattern = std::move(pattern),
          .group = group,
          .loads = std::move(loads)};
}

// 002-dragonfly

constexpr ClaimSpec kDragonflyClaims[] = {
    {.id = "E7-uniform-min",
     .text = "under uniform traffic minimal routes carry all of it",
     .source = "Benito 2014, figure 4.3",
     .must_hold = true,
     .measured = "{least:.3f}",
     .expected = "at least 0.95"},
    {.id = "E7-adverse-min",
     .text = "under adverse traffic they carry one cable's share of a group's",
     .source = "Benito 2014, figure 4.4",
     .must_hold = true,
     .measured = "{least:.3f} times 0.1",
     .expected = "0.95 to 1.05 times"},
    {.id = "E7-routers",
     .text = "by any router as the random place both patterns get 0.55",
     .source = "Benito 2014, figures 4.3 and 4.4, the set derived",
     .must_hold = true,
     .measured = "{least:.3f} to {most:.3f} times 0.55",
     .expected = "0.95 to 1.05 times"},
    {.id = "E7-groups",
     .text = "by a third group as the random place adverse traffic gets 0.45",
     .source = "Benito 2014, figure 4.4, the set derived",
     .must_hold = true,
     .measured = "{least:.3f} times 0.45",
     .expected = "0.95 to 1.05 times"},
    {.id = "E8-compromise",
     .text = "UGAL with a threshold of -16 serves both patterns, with lanes of 64 and of 256",
     .source = "Benito 2014, figures 4.7 and 4.8",
     .measured = "{least:.3f} of the best at least",
     .expected = "at least 0.9"},
    {.id = "E8-uniform",
     .text = "with -32 uniform traffic is held back",
     .source = "Benito 2014, figures 4.7 and 4.8",
     .measured = "{most:.3f} of the best at most",
     .expected = "less than 0.9"},
};

constexpr const char* kEleven = "dragonfly:a=5,c=2,h=2";

Result<Findings> run_dragonfly(const ExperimentOptions& options) {
  const std::vector<double> loads =
      options.quick ? std::vector{0.6, 1.0} : std::vector{0.3, 0.5, 0.6, 1.0};
  const RuleSpec routers{.rule = RuleKind::Valiant, .via = IntermediateKind::ByRouter};
  const RuleSpec groups{.rule = RuleKind::Valiant, .among = IntermediateSet::Others};
  const char* const name = "11 groups";
  std::vector<Curve> curves{
      curve_of(name, kEleven, 5, {.rule = RuleKind::Minimal}, "uniform-self", loads),
      curve_of(name, kEleven, 5, {.rule = RuleKind::Minimal}, "adv+1", loads),
      curve_of("11 groups by router", kEleven, 5, routers, "uniform-self", loads),
      curve_of("11 groups by router", kEleven, 5, routers, "adv+1", loads),
      curve_of("11 groups by group", kEleven, 5, groups, "adv+1", loads)};
  // Rows without a printed value.
  for (const RuleKind rule : {RuleKind::UgalGlobal, RuleKind::Progressive, RuleKind::Piggyback}) {
    for (const char* pattern : {"uniform-self", "adv+1"}) {
      if (options.quick) continue;
      curves.push_back(curve_of(name, kEleven, 5, {.rule = rule}, pattern, loads));
    }
  }
  const std::size_t sweep = curves.size();
  const std::vector<int> thresholds =
      options.quick ? std::vector{-32, -16, 32}
                    : std::vector{-513, -256, -32, -16, 0, 4, 8, 16, 32, 64, 128, 256};
  const std::vector<unsigned> lanes = options.quick ? std::vector{64u} : std::vector{64u, 256u};
  for (const unsigned lane : lanes) {
    for (const char* pattern : {"uniform-self", "adv+1"}) {
      for (const int threshold : thresholds) {
        Curve curve = curve_of(fmt::format("lanes of {}, T = {}", lane, threshold),
                               kEleven,
                               5,
                               {.rule = RuleKind::UgalLocal, .threshold = threshold},
                               pattern,
                               {1.0});
        curve.change = [lane](PacketOptions& p) { p.switches.input_buffer_bytes = 64 * lane; };
        curves.push_back(std::move(curve));
      }
    }
  }
  const auto measured = run_curves(curves, options.quick ? kQuick : kFull, options.jobs);
  if (!measured) return tl::unexpected<Error>(measured.error());
  Findings out{
      .plot = {.title = "Dragonfly of 11 groups of 5", .x_label = "load", .y_label = "accepted"}};
  add_curves(curves, *measured, out);
  const auto& m = *measured;
  Range any_router(m[2].peak() / 0.55), compromise, held_back;
  any_router.add(m[3].peak() / 0.55);
  for (std::size_t set = 0; set < 2 * lanes.size(); ++set) {
    const std::size_t first = sweep + set * thresholds.size();
    double best = 0;
    for (std::size_t t = 0; t < thresholds.size(); ++t) best = std::max(best, m[first + t].peak());
    for (std::size_t t = 0; t < thresholds.size(); ++t) {
      if (thresholds[t] == -16) compromise.add(m[first + t].peak() / best);
      if (thresholds[t] == -32 && set % 2 == 0) held_back.add(m[first + t].peak() / best);
    }
  }
  out.verdicts = decide(kDragonflyClaims,
                        {{"E7-uniform-min", m[0].at(1.0)},
                         {"E7-adverse-min", m[1].peak() / 0.1},
                         {"E7-routers", any_router},
                         {"E7-groups", m[4].peak() / 0.45},
                         {"E8-compromise", compromise},
                         {"E8-uniform", held_back}});
  return out;
}

// 002-global-trunk, 002-local-trunk

constexpr ClaimSpec kGlobalClaims[] = {
    {.id = "E9-uniform-min",
     .text = "with half of the groups half of uniform traffic is carried, with a trunk all of it",
     .source = "Benito 2014, figure 4.10",
     .must_hold = true,
     .measured = "{least:.3f} to {most:.3f} times the limit",
     .expected = "0.95 to 1.05 times"},
    {.id = "E9-uniform-valiant",
     .text = "and by Valiant's routes half of each",
     .source = "Benito 2014, figure 4.11",
     .must_hold = true,
     .measured = "{least:.3f} to {most:.3f} times the limit",
     .expected = "0.95 to 1.05 times"},
    {.id = "E9-adverse-valiant",
     .text = "under adverse traffic too",
     .source = "Benito 2014, figure 4.11",
     .must_hold = true,
     .measured = "{least:.3f} to {most:.3f} times the limit",
     .expected = "0.95 to 1.05 times"},
    {.id = "E9-gateways",
     .text =
         "with a trunk of 2 and a router's own cable first Valiant's routes get the less that is "
         "counted for them",
     .source = "Benito 2014, figure 4.11 (b), counted",
     .must_hold = true,
     .measured = "{least:.3f} times",
     .expected = "0.95 to 1.05 times"},
};

struct Network {
  std::string_view name;
  const char* fabric;
};

struct GroupSet {
  std::vector<Network> networks;  // half of the groups, without and with a trunk; all of them
  std::uint32_t switches;         // of a group
};

GroupSet groups_of(bool quick) {
  if (quick) {
    return {.networks = {{"11 groups", "dragonfly:a=7,c=3,h=2,groups=11"},
                         {"11 groups, trunk 2", "dragonfly:a=7,c=3,h=3,groups=11,global-trunk=2"}},
            .switches = 7};
  }
  return {.networks = {{"19 groups", "dragonfly:a=9,c=4,h=2,groups=19"},
                       {"19 groups, trunk 2", "dragonfly:a=9,c=4,h=4,groups=19,global-trunk=2"},
                       {"37 groups", "dragonfly:a=9,c=4,h=4,groups=37"}},
          .switches = 9};
}

Result<double> limit_of(const Curve& curve, RouterPattern pattern) {
  const auto spec = load_fabric(curve.fabric);
  if (!spec) return fail(Errc::Invalid, print_fault(spec.error().at(0)));
  auto shape = Shape::find(*spec, curve.routes.shape);
  if (!shape) return tl::unexpected<Error>(shape.error());
  return count_limit(AdaptiveRoutes(std::move(*shape), curve.routes.rule), pattern);
}

Result<Findings> run_global_trunk(const ExperimentOptions& options) {
  const GroupSet set = groups_of(options.quick);
  const std::uint32_t group = set.switches;
  std::vector<Curve> curves;
  std::vector<RouterPattern> patterns;
  const RuleSpec valiant{
      .rule = RuleKind::Valiant, .among = IntermediateSet::NotOwn, .gateway = Spread::Random};
  RuleSpec anywhere = valiant;
  anywhere.among = IntermediateSet::All;
  for (const Network& t : set.networks) {
    curves.push_back(
        curve_of(t.name, t.fabric, group, {.rule = RuleKind::Minimal}, "uniform-self"));
    curves.push_back(curve_of(t.name, t.fabric, group, anywhere, "uniform-self"));
    curves.push_back(curve_of(t.name, t.fabric, group, valiant, "adv+1"));
    patterns.insert(patterns.end(),
                    {RouterPattern::Uniform, RouterPattern::Uniform, RouterPattern::NextGroup});
  }
  const std::size_t own = curves.size();
  RuleSpec own_first = valiant;
  own_first.gateway = Spread::OwnFirst;
  curves.push_back(
      curve_of("trunk 2, own cable first", set.networks[1].fabric, group, own_first, "adv+1"));
  const auto measured = run_curves(
      curves, options.quick ? RunSize{.warm_up = 1000, .measured = 500} : kFull, options.jobs);
  if (!measured) return tl::unexpected<Error>(measured.error());
  Findings out{
      .plot = {.title = "Trunks between groups", .x_label = "load", .y_label = "accepted"}};
  add_curves(curves, *measured, out);
  std::array<Range, 3> ratio;
  for (std::size_t c = 0; c < own; ++c) {
    const auto limit = limit_of(curves[c], patterns[c]);
    if (!limit) return tl::unexpected<Error>(limit.error());
    ratio[c % 3].add((*measured)[c].peak() / *limit);
  }
  const auto own_limit = limit_of(curves[own], RouterPattern::NextGroup);
  if (!own_limit) return tl::unexpected<Error>(own_limit.error());
  out.verdicts = decide(kGlobalClaims,
                        {{"E9-uniform-min", ratio[0]},
                         {"E9-uniform-valiant", ratio[1]},
                         {"E9-adverse-valiant", ratio[2]},
                         {"E9-gateways", (*measured)[own].peak() / *own_limit}});
  return out;
}

constexpr ClaimSpec kLocalClaims[] = {
    {.id = "E11",
     .text = "a router gets 4.0 flits per cycle in 37 groups, 4.5 in 73, and 8.0 with two cables "
             "between neighbours",
     .source = "Benito 2014, figures 4.14 and 4.15",
     .must_hold = true,
     .measured = "{least:.3f} to {most:.3f} times",
     .expected = "0.95 to 1.05 times"},
};

Result<Findings> run_local_trunk(const ExperimentOptions& options) {
  // The same ratio of local to global cables in a quarter of the routers, for a quick look.
  const std::vector<Network> networks =
      options.quick ? std::vector<Network>{{"10 groups", "dragonfly:a=3,c=3,h=3,groups=10"},
                                           {"10 groups, local trunk 3",
                                            "dragonfly:a=3,c=3,h=3,groups=10,local-trunk=3"}}
                    : std::vector<Network>{{"37 groups", "dragonfly:a=9,c=4,h=4,groups=37"},
                                           {"73 groups", "dragonfly:a=9,c=8,h=8,groups=73"},
                                           {"73 groups, local trunk 2",
                                            "dragonfly:a=9,c=8,h=8,groups=73,local-trunk=2"}};
  std::vector<Curve> curves;
  for (const Network& t : networks) {
    curves.push_back(curve_of(
        t.name, t.fabric, options.quick ? 3 : 9, {.rule = RuleKind::Minimal}, "uniform-self"));
  }
  const RunSize length{.warm_up = options.quick ? 1500u : 1000u,
                       .measured = options.quick ? 1000u : 500u};
  const auto measured = run_curves(curves, length, options.jobs);
  if (!measured) return tl::unexpected<Error>(measured.error());
  Findings out{.plot = {.title = "Trunks within groups", .x_label = "load", .y_label = "accepted"}};
  add_curves(curves, *measured, out);
  const std::array flits{4.0, 4.5, 8.0}, hosts{4.0, 8.0, 8.0};
  Range ratio;
  for (std::size_t c = 0; c < curves.size(); ++c) {
    if (!options.quick) {
      ratio.add((*measured)[c].at(1.0) * hosts[c] / flits[c]);
      continue;
    }
    const auto limit = limit_of(curves[c], RouterPattern::Uniform);
    if (!limit) return tl::unexpected<Error>(limit.error());
    ratio.add((*measured)[c].at(1.0) / *limit);
  }
  out.verdicts = decide(kLocalClaims, {{"E11", ratio}});
  return out;
}

// 002-extreme-trunk

constexpr ClaimSpec kExtremeClaims[] = {
    {.id = "E10-alike",
     .text = "a dragonfly with as many cables between groups as routers in one accepts what a "
             "butterfly does",
     .source = "Benito 2014, figures 4.12 and 4.13",
     .must_hold = true,
     .measured = "{least:.3f} to {most:.3f} times",
     .expected = "0.95 to 1.05 times"},
    {.id = "E10-behind",
     .text = "with as many hosts as global cables per router nothing falls behind saturation",
     .source = "Benito 2014, figure 4.13",
     .measured = "{least:.3f} of the peak at a load of 1",
     .expected = "at least 0.95"},
};

Result<Findings> run_extreme_trunk(const ExperimentOptions& options) {
  const std::uint32_t side = options.quick ? 5 : 9;
  const std::string dragonfly =
      fmt::format("dragonfly:a={0},c={1},h={1},groups={0},global-trunk={0}", side, side - 1);
  const std::string butterfly = fmt::format("hamming:dims={0}.{0},hosts={1}", side, side - 1);
  const std::vector<double> loads =
      options.quick ? std::vector{0.4, 1.0} : std::vector{0.3, 0.5, 1.0};
  std::vector<Curve> curves;
  for (const char* pattern : {"uniform-self", "mdn"}) {
    for (const RuleKind rule : {RuleKind::Minimal, RuleKind::Valiant}) {
      const RuleSpec spec{.rule = rule, .via = IntermediateKind::ByRouter};
      for (const bool groups : {true, false}) {
        curves.push_back(
            {.name = fmt::format(
                 "{}, {}, {}", groups ? "dragonfly" : "butterfly", pattern, rule_name(rule)),
             .fabric = groups ? dragonfly : butterfly,
             .routes = {.rule = spec, .shape = {.dims = {}, .group = groups ? side : 0}},
             .pattern = pattern,
             .dims = {side, side},
             .loads = loads});
      }
    }
  }
  const auto measured = run_curves(curves, options.quick ? kQuick : kFull, options.jobs);
  if (!measured) return tl::unexpected<Error>(measured.error());
  Findings out{.plot = {.title = "A trunk as wide as a group, and a butterfly",
                        .x_label = "load",
                        .y_label = "accepted"}};
  add_curves(curves, *measured, out);
  Range alike, behind;
  for (std::size_t c = 0; c < curves.size(); c += 2) {
    for (std::size_t l = 0; l < loads.size(); ++l) {
      alike.add((*measured)[c].points[l].accepted / (*measured)[c + 1].points[l].accepted);
    }
    behind.add((*measured)[c].at(1.0) / (*measured)[c].peak());
  }
  out.verdicts = decide(kExtremeClaims, {{"E10-alike", alike}, {"E10-behind", behind}});
  return out;
}

}  // namespace
}  // namespace smd::sim::dragonfly

namespace smd::sim {

std::vector<Experiment> dragonfly_tables() {
  return {{.name = "002-dragonfly",
           .source = "Benito 2014, figures 4.3, 4.4, 4.7 and 4.8",
           .about = "what a dragonfly accepts by rule, pattern, load and threshold",
           .claims = dragonfly::kDragonflyClaims,
           .run = dragonfly::run_dragonfly},
          {.name = "002-global-trunk",
           .source = "Benito 2014, figures 4.10 and 4.11",
           .about = "parallel cables between the groups of a smaller dragonfly",
           .claims = dragonfly::kGlobalClaims,
           .run = dragonfly::run_global_trunk},
          {.name = "002-local-trunk",
           .source = "Benito 2014, figures 4.14 and 4.15",
           .about = "parallel cables within the groups of a larger dragonfly",
           .claims = dragonfly::kLocalClaims,
           .run = dragonfly::run_local_trunk},
          {.name = "002-extreme-trunk",
           .source = "Benito 2014, figures 4.12 and 4.13",
           .about = "a dragonfly whose trunks are as wide as its groups, beside a butterfly",
           .claims = dragonfly::kExtremeClaims,
           .run = dragonfly::run_extreme_trunk}};
}

}  // namespace smd::sim
