// 000-regular: a torus, one with express channels, CPLANT; under up*/down* with and without stops.
// 000-regular-patterns: the same under traffic that is not uniform.
#include <fmt/core.h>

#include <cmath>
#include <map>

#include "sim-backend/experiments/tables.h"
#include "sim-backend/experiments/wormhole/worm_loads.h"
#include "sim-backend/lab/parallel.h"

namespace smd::sim::torus_networks {
namespace {

constexpr ClaimSpec kClaims[] = {
    {.id = "H11-values",
     .text = "the torus accepts 0.015 flits per ns and switch under UD, 0.029 under UD_ITB",
     .source = "Flich 2001, section 5.3.1",
     .measured = "{farthest:.3f} times",
     .expected = "0.85 to 1.15 times the published"},
    {.id = "H11-ratio",
     .text = "UD_ITB carries 1.93 times what UD does on the torus",
     .source = "Flich 2001, section 5.3.1",
     .measured = "{least:.3f}",
     .expected = "1.68 to 2.18"},
    {.id = "H12-values",
     .text = "with express channels 0.066 and 0.12",
     .source = "Flich 2001, section 5.3.1",
     .measured = "{farthest:.3f} times",
     .expected = "0.85 to 1.15 times the published"},
    {.id = "H12-ratio",
     .text = "UD_ITB carries 1.71 times what UD does there",
     .source = "Flich 2001, section 5.3.1",
     .measured = "{least:.3f}",
     .expected = "1.46 to 1.96"},
    {.id = "H13-values",
     .text = "CPLANT accepts 0.05 and 0.085",
     .source = "Flich 2001, section 5.3.1",
     .measured = "{farthest:.3f} times",
     .expected = "0.85 to 1.15 times the published"},
    {.id = "H13-ratio",
     .text = "UD_ITB carries 1.7 times what UD does there",
     .source = "Flich 2001, section 5.3.1",
     .measured = "{least:.3f}",
     .expected = "1.45 to 1.95"},
};

Result<Findings> run(const ExperimentOptions& options) {
  struct Net {
    const char *name, *fabric;
    double ud, itb;  // published
  };

  const std::vector<Net> nets{{"torus", "torus:dims=8.8,hosts=8", 0.015, 0.029},
                              {"express", "express-torus:dims=8.8,hosts=8", 0.066, 0.12},
                              {"CPLANT", "cplant:", 0.05, 0.085}};
  const MessageCount length = options.quick ? MessageCount{.warm_up = 5000, .measured = 5000}
                                            : MessageCount{.warm_up = 50'000, .measured = 100'000};
  const auto results = collect<double>(options.jobs, 2 * nets.size(), [&](std::size_t i) {
    return find_most_accepted(
        {.fabric = nets[i / 2].fabric, .system = i % 2 == 0 ? "UD" : "UD_ITB"}, length);
  });
  if (!results) return tl::unexpected<Error>(results.error());
  Findings out{.plot = {.title = "Regular networks",
                        .x_label = "0: torus, 1: express channels, 2: CPLANT",
                        .y_label = "most accepted, flits per ns and switch"}};
  std::vector<Range> values(nets.size()), ratios(nets.size());
  for (std::size_t i = 0; i < nets.size(); ++i) {
    const double ud = (*results)[2 * i], itb = (*results)[2 * i + 1];
    values[i].add(ud / nets[i].ud);
    values[i].add(itb / nets[i].itb);
    ratios[i].add(itb / ud);
    for (const auto& [system, value, published] :
         {std::tuple{"UD", ud, nets[i].ud}, {"UD_ITB", itb, nets[i].itb}}) {
      out.add_row({{"network", nets[i].name},
                   {"system", system},
                   {"most_accepted", value},
                   {"published", published}});
      out.plot.add_point(system, static_cast<double>(i), value);
    }
  }
  out.verdicts = decide(kClaims,
                        {{"H11-values", values[0]},
                         {"H11-ratio", ratios[0]},
                         {"H12-values", values[1]},
                         {"H12-ratio", ratios[1]},
                         {"H13-values", values[2]},
                         {"H13-ratio", ratios[2]}});
  return out;
}

constexpr ClaimSpec pattern_claim(std::string_view id, std::string_view text) {
  return {.id = id,
          .text = text,
          .source = "Flich 2001, tables 12 to 14 and section 5.3.2",
          .measured = "{most:.2f} off",
          .expected = "at most 0.25"};
}

constexpr ClaimSpec kPatternClaims[] = {
    pattern_claim("T12", "what UD_ITB carries to what UD does on the torus, by pattern"),
    pattern_claim("T13", "what UD_ITB carries to what UD does with express channels, by pattern"),
    pattern_claim("T14", "what UD_ITB carries to what UD does on CPLANT, by pattern"),
};

struct PatternCase {
  const char *claim, *fabric, *pattern;
  unsigned per_cent_or_radius;
  double published;
};

Result<Findings> run_patterns(const ExperimentOptions& options) {
  constexpr auto kTorus = "torus:dims=8.8,hosts=8", kExpress = "express-torus:dims=8.8,hosts=8",
                 kCplant = "cplant:";
  const std::vector<PatternCase> cases{{"T12", kTorus, "bit-reversal", 0, 1.71},
                                       {"T12", kTorus, "hot-spot", 5, 2.13},
                                       {"T12", kTorus, "hot-spot", 10, 1.40},
                                       {"T12", kTorus, "local", 3, 1.30},
                                       {"T12", kTorus, "local", 4, 1.33},
                                       {"T13", kExpress, "bit-reversal", 0, 1.57},
                                       {"T13", kExpress, "hot-spot", 3, 1.13},
                                       {"T13", kExpress, "hot-spot", 5, 1.08},
                                       {"T13", kExpress, "local", 4, 1.50},
                                       {"T14", kCplant, "hot-spot", 5, 1.24},
                                       {"T14", kCplant, "local", 4, 1.81}};
  const unsigned most_places = options.quick ? 1 : 3;  // of a hot spot
  const MessageCount length = options.quick ? MessageCount{.warm_up = 3000, .measured = 3000}
                                            : MessageCount{.warm_up = 20'000, .measured = 40'000};
  const auto results =
      collect<double>(options.jobs, cases.size() * most_places * 2, [&](std::size_t i) {
        const PatternCase& one = cases[i / 2 / most_places];
        const auto place = static_cast<unsigned>(i / 2 % most_places);
        const bool hot = std::string_view(one.pattern) == "hot-spot";
        if (!hot && place > 0) return Result<double>(0);
        return find_most_accepted({.fabric = one.fabric,
                                   .system = i % 2 == 0 ? "UD" : "UD_ITB",
                                   .pattern = one.pattern,
                                   .share = one.per_cent_or_radius / 100.0,
                                   .radius = one.per_cent_or_radius,
                                   .traffic_seed = 1 + place},
                                  length);
      });
  if (!results) return tl::unexpected<Error>(results.error());
  Findings out{.plot = {.title = "Regular networks under other patterns",
                        .x_label = "case, in the order of the table",
                        .y_label = "UD_ITB to UD"}};
  std::map<std::string_view, std::pair<std::string, Range>> by_claim;
  for (std::size_t c = 0; c < cases.size(); ++c) {
    const PatternCase& one = cases[c];
    double ud = 0, itb = 0;
    const unsigned places = std::string_view(one.pattern) == "hot-spot" ? most_places : 1;
    for (unsigned place = 0; place < places; ++place) {
      ud += (*results)[2 * (c * most_places + place)] / places;
      itb += (*results)[2 * (c * most_places + place) + 1] / places;
    }
    const double ratio = itb / ud;
    std::string name = one.pattern;
    if (one.per_cent_or_radius > 0) name += fmt::format(" {}", one.per_cent_or_radius);
    out.add_row({{"fabric", one.fabric},
                 {"pattern", name},
                 {"UD", ud},
                 {"UD_ITB", itb},
                 {"ratio", ratio},
                 {"published", one.published}});
    out.plot.add_point(one.claim, static_cast<double>(c), ratio);
    auto& [text, off] = by_claim[one.claim];
    text +=
        fmt::format("{}{} {:.2f} ({:.2f})", text.empty() ? "" : ", ", name, ratio, one.published);
    off.add(std::abs(ratio - one.published));
  }
  std::vector<Measured> measured;
  for (const auto& [claim, what] : by_claim) {
    measured.emplace_back(
        claim,
        fmt::format(
            "{:.2f} off where farthest; ours (published): {}", what.second.most(), what.first),
        what.second);
  }
  out.verdicts = decide(kPatternClaims, measured);
  return out;
}

}  // namespace
}  // namespace smd::sim::torus_networks

namespace smd::sim {

std::vector<Experiment> regular_network_tables() {
  return {{.name = "000-regular",
           .source = "Flich 2001, section 5.3",
           .about = "Torus, torus with express channels and CPLANT under UD and UD_ITB",
           .claims = torus_networks::kClaims,
           .run = torus_networks::run},
          {.name = "000-regular-patterns",
           .source = "Flich 2001, tables 12 to 14",
           .about = "The same under bit reversal, hot spots and local traffic",
           .claims = torus_networks::kPatternClaims,
           .run = torus_networks::run_patterns}};
}

}  // namespace smd::sim
