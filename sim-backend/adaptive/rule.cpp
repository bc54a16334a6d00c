#include "sim-backend/adaptive/rule.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "smd/base/check.h"

namespace smd::sim {
namespace {

struct RuleName {
  std::string_view name;
  RuleKind rule;
};

constexpr std::array kRules{RuleName{"tables", RuleKind::Tables},
                            RuleName{"min", RuleKind::Minimal},
                            RuleName{"min-adaptive", RuleKind::MinimalAdaptive},
                            RuleName{"valiant", RuleKind::Valiant},
                            RuleName{"ugal-l", RuleKind::UgalLocal},
                            RuleName{"ugal-g", RuleKind::UgalGlobal},
                            RuleName{"par", RuleKind::Progressive},
                            RuleName{"piggyback", RuleKind::Piggyback},
                            RuleName{"dal", RuleKind::Dal}};

/// Of the numbers of one draw that which draws a gateway: no other choice goes by it.
constexpr std::uint64_t kGatewayDraw = 0x200;

/// A second, third … number of one draw.
std::uint64_t redraw(std::uint64_t draw, std::uint64_t which) {
  std::uint64_t word = (draw ^ which * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
  word = (word ^ word >> 29) * 0x94d049bb133111ebu;
  return word ^ word >> 32;
}

std::size_t below(std::uint64_t draw, std::size_t count) {
  return static_cast<std::size_t>((draw >> 32) * count >> 32);
}

std::uint64_t flow_of(const RouteView& view) {
  return redraw(std::uint64_t{view.source} << 32 | view.to, 1);
}

}  // namespace

bool find_rule(std::string_view name, RuleKind& out) {
  const auto* found = std::ranges::find(kRules, name, &RuleName::name);
  if (found == kRules.end()) return false;
  out = found->rule;
  return true;
}

std::string_view rule_name(RuleKind rule) {
  return std::ranges::find(kRules, rule, &RuleName::rule)->name;
}

std::string check_rule(const Shape& shape, const RuleSpec& spec) {
  constexpr std::size_t kMostDimensions = 15;       // a VL each
  constexpr std::size_t kMostAstrayDimensions = 7;  // two each
  const bool butterfly = shape.kind() == ShapeKind::Butterfly;
  if (spec.rule == RuleKind::Progressive || spec.rule == RuleKind::Piggyback) {
    return butterfly ? "is for dragonflies" : "";
  }
  if (spec.rule == RuleKind::MinimalAdaptive) {
    if (!butterfly) {
      return "is for flattened butterflies; on a dragonfly it is \"min\" with routes.gateway = "
             "\"jsq\"";
    }
    return shape.sides().size() > kMostDimensions ? "is for up to 15 dimensions" : "";
  }
  if (spec.rule != RuleKind::Dal) return {};
  if (!butterfly) return "is for flattened butterflies";
  return shape.sides().size() > kMostAstrayDimensions ? "is for up to 7 dimensions" : "";
}

AdaptiveRoutes::AdaptiveRoutes(Shape shape, const RuleSpec& spec)
    : shape_(std::move(shape)),
      spec_(spec),
      paths_(shape_,
             {.via = spec.via,
              .any_dimension = spec.rule == RuleKind::MinimalAdaptive || spec.rule == RuleKind::Dal,
              .goes_astray = spec.rule == RuleKind::Dal,
              .diverts = spec.rule == RuleKind::Progressive}) {
  SMD_CHECK(spec.rule != RuleKind::Tables, "tables are no rule");
}

bool AdaptiveRoutes::looks_far() const {
  return spec_.rule == RuleKind::UgalGlobal || spec_.rule == RuleKind::Piggyback;
}

unsigned AdaptiveRoutes::vls() const {
  const bool butterfly = shape_.kind() == ShapeKind::Butterfly;
  if (spec_.rule == RuleKind::Minimal) return butterfly ? 1 : 2;
  if (spec_.rule == RuleKind::MinimalAdaptive) return static_cast<unsigned>(shape_.sides().size());
  if (spec_.rule == RuleKind::Dal) {
    unsigned hops = 0;
    for (const std::uint32_t side : shape_.sides()) hops += side > 2 ? 2 : 1;
    return hops;
  }
  if (butterfly) return 2;
  return spec_.via == IntermediateKind::ByRouter || spec_.rule == RuleKind::Progressive ? 4 : 3;
}

/// Gateway first, then one of its parallel cables.
const Candidate& AdaptiveRoutes::pick(const CandidateSet& from,
                                      Router at,
                                      const RouteView& view,
                                      const PortFill& fill) const {
  const std::uint32_t node = shape_.node_of(at);
  const auto& all = from.all;
  if (all.size() == 1) return all.front();
  // The place of the chosen one among those that `is_in` picks out.
  const auto choose_in = [&](Spread how, auto is_in, std::uint64_t draw) -> const Candidate& {
    const Candidate* best = nullptr;
    std::size_t count = 0;
    if (how == Spread::ShortestQueue) {
      unsigned least = 0;
      for (const Candidate& each : all) {
        if (!is_in(each)) continue;
        const unsigned used = fill.used(node, each.port, each.vl);
        if (best != nullptr && used > least) continue;
        // Each of those equal so far is kept with the same probability.
        if (best == nullptr || used < least) count = 0;
        ++count;
        if (count == 1 || below(redraw(draw, count), count) == 0) best = &each;
        least = used;
      }
      return *best;
    }
    for (const Candidate& each : all) count += is_in(each);
    std::size_t place = below(how == Spread::Hash ? redraw(flow_of(view), 2) : draw, count);
    for (const Candidate& each : all) {
      if (is_in(each) && place-- == 0) return each;
    }
    return all.front();
  };
  std::uint16_t gate = 0;
  if (all.back().gate != 0 && spec_.gateway == Spread::ShortestQueue) {
    const auto any = [](const Candidate&) { return true; };
    gate = choose_in(Spread::ShortestQueue, any, redraw(view.draw, kGatewayDraw)).gate;
  } else if (all.back().gate != 0) {
    const bool own_first =
        spec_.gateway == Spread::OwnFirst && std::ranges::any_of(all, &Candidate::own);
    const auto offered = [&](const Candidate& each) { return each.own || !own_first; };
    // The first cable of each gateway stands for it.
    const auto is_first = [&](const Candidate& each) {
      return offered(each) && (&each == all.begin() || (&each)[-1].gate != each.gate);
    };
    const auto count = static_cast<std::size_t>(std::ranges::count_if(all, is_first));
    std::size_t place = below(spec_.gateway == Spread::Hash ? flow_of(view) : view.draw, count);
    for (const Candidate& each : all) {
      if (is_first(each) && place-- == 0) gate = each.gate;
    }
  }
  const Spread trunk = spec_.trunk == Spread::OwnFirst ? Spread::Random : spec_.trunk;
  return choose_in(
      trunk, [gate](const Candidate& each) { return each.gate == gate; }, redraw(view.draw, 2));
}

/// The shortest queue of those that lead on, or one astray that is shorter by hops.
const Candidate& AdaptiveRoutes::pick_dimension(const CandidateSet& from,
                                                Router at,
                                                Router to,
                                                const RouteView& view,
                                                const PortFill& fill) const {
  struct Shortest {
    const Candidate* candidate = nullptr;
    long used = 0;
    std::size_t equal = 0;
  };

  Shortest on, astray;
  for (const Candidate& each : from.all) {
    Shortest& least = each.astray ? astray : on;
    const auto used = static_cast<long>(fill.used(shape_.node_of(at), each.port, each.vl));
    if (least.candidate != nullptr && used > least.used) continue;
    if (least.candidate == nullptr || used < least.used) least.equal = 0;
    // Each of those equal so far is kept with the same probability.
    if (below(redraw(view.draw, 4 + each.port), ++least.equal) == 0) least.candidate = &each;
    least.used = used;
  }
  if (astray.candidate == nullptr) return *on.candidate;
  long left = 0;
  for (std::size_t d = 0; d < shape_.sides().size(); ++d) {
    left += shape_.coordinate(at, d) != shape_.coordinate(to, d);
  }
  return left * on.used <= (left + 1) * astray.used + spec_.threshold ? *on.candidate
                                                                      : *astray.candidate;
}

/// The queues of the whole way as they are now, each hop by the shortest.
unsigned AdaptiveRoutes::queues_ahead(
    const RouteView& view, Router at, Router to, PathState state, const PortFill& fill) const {
  CandidateSet next;
  Router from = kNowhere;
  unsigned sum = 0;
  for (;;) {
    paths_.list(at, from, to, state, next);
    if (next.all.empty()) return sum;
    const Candidate& taken = pick(next, at, view, fill);
    sum += fill.used(shape_.node_of(at), taken.port, taken.vl);
    state = CandidatePaths::after(next, taken);
    from = std::exchange(at, taken.next);
  }
}

/// The global cable of the minimal way, told by its router to its group: fuller than twice the
/// average of that router's other ones, and by more than a few packets (after Jiang and others,
/// 2009, whose average is of all: of two cables none would ever be above it).
bool AdaptiveRoutes::is_congested(Router at, Router to, const PortFill& fill) const {
  constexpr unsigned kMargin = 4;
  if (shape_.kind() != ShapeKind::Dragonfly || shape_.group(at) == shape_.group(to)) return false;
  const auto gateways = shape_.gateways(shape_.group(at), shape_.group(to));
  const auto own = std::ranges::find(gateways, at, &Gateway::router);
  const Gateway& gateway = own != gateways.end() ? *own : gateways.front();
  const std::uint32_t node = shape_.node_of(gateway.router);
  unsigned sum = 0, cables = 0;
  for (std::uint32_t group = 0; group < shape_.groups(); ++group) {
    if (group == shape_.group(at)) continue;
    for (const Gateway& each : shape_.gateways(shape_.group(at), group)) {
      if (each.router != gateway.router || each.port == gateway.port) continue;
      sum += fill.used(node, each.port, 0);
      ++cables;
    }
  }
  cables = std::max(1u, cables);
  return fill.used(node, gateway.port, 0) * cables > 2 * sum + kMargin * cables;
}

/// UGAL's choice between the minimal way and one by a place that is drawn.
PathState AdaptiveRoutes::weigh(const RouteView& view,
                                Router at,
                                Router from,
                                Router to,
                                const PathState& minimal,
                                const PortFill& fill) const {
  const Router source = shape_.router_of_host(view.source);
  const std::uint32_t via = paths_.draw_via(spec_.among, source, to, redraw(view.draw, 3));
  if (via == kNowhere) return minimal;
  PathState detour = minimal;
  detour.via = via;
  detour.phase = PathPhase::Toward;
  detour.diverted = from != kNowhere;
  if (spec_.rule == RuleKind::UgalGlobal) {
    const auto straight = static_cast<long>(queues_ahead(view, at, to, minimal, fill));
    const auto around = static_cast<long>(queues_ahead(view, at, to, detour, fill));
    return straight <= around + spec_.threshold ? minimal : detour;
  }
  CandidateSet next;
  const auto queue = [&](const PathState& state) -> long {
    paths_.list(at, state.phase == PathPhase::Minimal ? from : kNowhere, to, state, next);
    if (next.all.empty()) return 0;
    const Candidate& taken = pick(next, at, view, fill);
    return static_cast<long>(fill.used(shape_.node_of(at), taken.port, taken.vl));
  };
  const long straight = queue(minimal), around = queue(detour);
  const bool by_global = shape_.kind() == ShapeKind::Dragonfly;
  // A dragonfly's global cables are what counts: one against two.
  const long short_way = by_global ? 1 : static_cast<long>(paths_.hops(at, to, minimal));
  const long long_way = by_global ? 2 : static_cast<long>(paths_.hops(at, to, detour));
  const bool is_minimal = short_way * straight <= long_way * around + spec_.threshold;
  if (!is_minimal) return detour;
  return spec_.rule == RuleKind::Piggyback && is_congested(at, to, fill) ? detour : minimal;
}

PathState AdaptiveRoutes::begin(const RouteView& view,
                                Router at,
                                Router to,
                                const PortFill& fill) const {
  if (spec_.rule == RuleKind::Minimal || paths_.options().any_dimension) return {};
  if (spec_.rule != RuleKind::Valiant) return weigh(view, at, kNowhere, to, {}, fill);
  const std::uint32_t via = paths_.draw_via(spec_.among, at, to, redraw(view.draw, 3));
  return via == kNowhere ? PathState{} : PathState{.via = via, .phase = PathPhase::Toward};
}

std::optional<RouteAnswer> AdaptiveRoutes::choose(const RouteView& view,
                                                  const PortFill& fill) const {
  const Router at = shape_.router_of(view.node);
  const Router to = shape_.router_of_host(view.to);
  const Router from = shape_.peer(at, view.in);
  PathState state =
      view.hops == 0 ? begin(view, at, to, fill) : PathState::unpack(view.via, view.phase);
  bool turns_off = false;
  if (spec_.rule == RuleKind::Progressive && view.hops == 1 && state.phase == PathPhase::Minimal &&
      shape_.kind() == ShapeKind::Dragonfly && shape_.group(from) == shape_.group(at) &&
      shape_.group(at) != shape_.group(to)) {
    state = weigh(view, at, from, to, state, fill);
    turns_off = state.phase == PathPhase::Toward;
  }
  CandidateSet next;
  // Who turns off here may go to any gateway, as at the first router.
  paths_.list(at, turns_off ? kNowhere : from, to, state, next);
  if (next.all.empty()) return RouteAnswer{.out = shape_.port_of_host(view.to)};
  const Candidate& taken = paths_.options().any_dimension ? pick_dimension(next, at, to, view, fill)
                                                          : pick(next, at, view, fill);
  const PathState after = CandidatePaths::after(next, taken);
  return RouteAnswer{.out = taken.port, .vl = taken.vl, .via = after.via, .phase = after.pack()};
}

}  // namespace smd::sim
