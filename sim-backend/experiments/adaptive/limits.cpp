// What butterflies and dragonflies carry at most, counted way by way, in closed form, and as a
// study of 2014 (Benito) has it.
#include <fmt/core.h>

#include "sim-backend/adaptive/limits.h"
#include "sim-backend/experiments/tables.h"
#include "sim-backend/lab/parallel.h"

namespace smd::sim::limits {
namespace {

constexpr ClaimSpec kClaims[] = {
    {.id = "A8-closed",
     .text = "limits counted way by way are those of the closed forms",
     .source = "Benito 2014, 3.1.1 and 4.1.1, derived again",
     .must_hold = true,
     .measured = "{least:.4f} to {most:.4f} times",
     .expected = "0.995 to 1.005 times"},
    {.id = "A8-published",
     .text = "they are those of the published networks",
     .source = "Benito 2014, tables 3.1 to 3.3, 4.1 and 4.2",
     .must_hold = true,
     .measured = "{least:.4f} to {most:.4f} times",
     .expected = "0.995 to 1.005 times"},
};

constexpr auto kMin = RuleKind::Minimal;
constexpr auto kVal = RuleKind::Valiant;

struct Row {
  std::string_view network;
  const char* fabric;
  ShapeKeys shape;
  RuleSpec rule;
  RouterPattern pattern;
  double published = 0;  // 0: none, or one that is wrong
  bool large = false;
};

std::vector<Row> rows() {
  using enum RouterPattern;
  std::vector<Row> out;
  const auto both = [&](std::string_view name, const char* fabric, bool large, double c) {
    out.push_back({name, fabric, {}, {.rule = kMin}, Uniform, 1, large});
    out.push_back({name, fabric, {}, {.rule = kMin}, NextDiagonal, 1 / c, large});
    out.push_back({name, fabric, {}, {.rule = kVal}, Uniform, 0.5, large});
    out.push_back({name, fabric, {}, {.rule = kVal}, NextDiagonal, 0.5, large});
  };
  both("butterfly 4 x 4", "hamming:dims=4.4,hosts=4", false, 4);
  both("butterfly 16 x 16", "hamming:dims=16.16,hosts=16", true, 16);
  const std::array trunks{"hamming:dims=6.16,hosts=16,trunk=1.1",
                          "hamming:dims=6.16,hosts=16,trunk=2.1",
                          "hamming:dims=6.16,hosts=16,trunk=3.1"};
  for (std::size_t t = 0; t < trunks.size(); ++t) {
    const std::array minimal{0.375, 0.75, 1.0};
    const std::array valiant{0.1875, 0.375, 0.5};
    const std::string_view name = "butterfly 6 x 16, trunks";
    out.push_back({name, trunks[t], {}, {.rule = kMin}, Uniform, minimal[t]});
    out.push_back({name, trunks[t], {}, {.rule = kVal}, Uniform, valiant[t]});
    out.push_back({name, trunks[t], {}, {.rule = kMin}, NextDiagonal, 1.0 / 16});
  }
  const auto uniform = [&](std::string_view name, const char* fabric, double limit) {
    out.push_back({name, fabric, {}, {.rule = kMin}, Uniform, limit});
  };
  uniform("butterfly 4 x 4 x 7", "hamming:dims=4.4.7,hosts=7", 4.0 / 7);
  uniform("butterfly 4 x 4 x 7, trunks", "hamming:dims=4.4.7,hosts=7,trunk=2.2.1", 1);
  uniform("butterfly 4 x 7 x 7", "hamming:dims=4.7.7,hosts=7", 4.0 / 7);
  uniform("butterfly 4 x 7 x 7, trunks", "hamming:dims=4.7.7,hosts=7,trunk=2.1.1", 1);

  const char* const eleven = "dragonfly:a=5,c=2,h=2";
  const std::string_view small = "dragonfly of 11 groups";
  out.push_back({small, eleven, {}, {.rule = kMin}, Uniform, 1});
  out.push_back({small, eleven, {}, {.rule = kMin}, NextGroup, 0.1});
  out.push_back({small, eleven, {}, {.rule = kVal}, Uniform, 0.55});
  out.push_back(
      {small, eleven, {}, {.rule = kVal, .among = IntermediateSet::NotOwn}, NextGroup, 0.5});
  out.push_back({small, eleven, {}, {.rule = kVal, .among = IntermediateSet::Others}, NextGroup});
  out.push_back({small, eleven, {}, {.rule = kVal, .via = IntermediateKind::ByRouter}, Uniform});
  out.push_back({small, eleven, {}, {.rule = kVal, .via = IntermediateKind::ByRouter}, NextGroup});

  struct Network {
    std::string_view name;
    const char* fabric;
    double minimal, adversarial, valiant;
    bool large;
  };

  for (const Network& t : {Network{"dragonfly of 19 groups",
                                   "dragonfly:a=9,c=4,h=2,groups=19",
                                   0.5,
                                   1.0 / 36,
                                   19.0 / 72,
                                   false},
                           Network{"dragonfly of 19 groups, trunk 2",
                                   "dragonfly:a=9,c=4,h=4,groups=19,global-trunk=2",
                                   1,
                                   2.0 / 36,
                                   19.0 / 36,
                                   false},
                           Network{"dragonfly of 37 groups",
                                   "dragonfly:a=9,c=4,h=4,groups=37",
                                   1,
                                   1.0 / 36,
                                   37.0 / 72,
                                   true}}) {
    out.push_back({t.name, t.fabric, {}, {.rule = kMin}, BetweenGroups, t.minimal, t.large});
    out.push_back({t.name, t.fabric, {}, {.rule = kMin}, NextGroup, t.adversarial, t.large});
    // Two cables of a pair are loaded alike where every router takes any of them.
    const RuleSpec any{.rule = kVal, .gateway = Spread::Random};
    out.push_back({t.name, t.fabric, {}, any, Uniform, t.valiant, t.large});
  }
  out.push_back({"dragonfly of 9 groups, trunk 9",
                 "dragonfly:a=9,c=8,h=8,groups=9,global-trunk=9",
                 {.group = 9},
                 {.rule = kMin},
                 NextGroup,
                 0.125});
  return out;
}

Result<Findings> run(const ExperimentOptions& options) {
  std::vector<Row> all;
  for (const Row& row : rows()) {
    if (!row.large || !options.quick) all.push_back(row);
  }

  struct Limit {
    double counted;
    std::optional<double> closed;
  };

  const auto limits = collect<Limit>(options.jobs, all.size(), [&](std::size_t i) -> Result<Limit> {
    const auto spec = load_fabric(all[i].fabric);
    if (!spec) return fail(Errc::Invalid, print_fault(spec.error().at(0)));
    auto shape = Shape::find(*spec, all[i].shape);
    if (!shape) return tl::unexpected<Error>(shape.error());
    const AdaptiveRoutes routes(std::move(*shape), all[i].rule);
    return Limit{count_limit(routes, all[i].pattern), closed_limit(routes, all[i].pattern)};
  });
  if (!limits) return tl::unexpected<Error>(limits.error());

  Findings out{.plot = {.title = "Limits of accepted load, by row of the table",
                        .x_label = "row",
                        .y_label = "share of the hosts' links"}};
  Range closed, published;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Row& row = all[i];
    const auto& [counted, formula] = (*limits)[i];
    if (formula) closed.add(counted / *formula);
    if (row.published > 0) published.add(counted / row.published);
    out.plot.add_point("counted", static_cast<double>(i + 1), counted);
    out.add_row({{"network", row.network},
                 {"fabric", row.fabric},
                 {"rule", rule_name(row.rule.rule)},
                 {"pattern", pattern_name(row.pattern)},
                 {"counted", counted},
                 {"closed_form", formula ? TableCell(*formula) : TableCell()},
                 {"published", row.published > 0 ? TableCell(row.published) : TableCell()}});
  }
  out.verdicts = decide(kClaims, {{"A8-closed", closed}, {"A8-published", published}});
  return out;
}

}  // namespace
}  // namespace smd::sim::limits

namespace smd::sim {

std::vector<Experiment> limit_tables() {
  return {{.name = "002-limits",
           .source = "Benito 2014, tables 3.1 to 3.3, 4.1 and 4.2",
           .about = "what flattened butterflies and dragonflies carry at most, by rule and pattern",
           .claims = limits::kClaims,
           .run = limits::run}};
}

}  // namespace smd::sim
