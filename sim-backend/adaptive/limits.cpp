#include "sim-backend/adaptive/limits.h"

#include <algorithm>
#include <utility>

#include "smd/base/check.h"

namespace smd::sim {
namespace {

/// Packets per channel when every host sends one.
class Count {
 public:
  explicit Count(const AdaptiveRoutes& routes)
      : routes_(routes), load_(std::size_t{routes.shape().routers()} * kPorts, 0) {}

  void send(Router source, Router to, double amount) {
    const CandidatePaths& paths = routes_.paths();
    if (routes_.spec().rule != RuleKind::Valiant) return walk(source, kNowhere, to, {}, amount);
    std::uint32_t places = 0;
    const IntermediateSet among = routes_.spec().among;
    for (std::uint32_t via = 0; via < paths.places(); ++via) {
      places += paths.allows(among, source, to, via);
    }
    for (std::uint32_t via = 0; via < paths.places(); ++via) {
      if (!paths.allows(among, source, to, via)) continue;
      walk(source, kNowhere, to, {.via = via, .phase = PathPhase::Toward}, amount / places);
    }
  }

  [[nodiscard]] double most() const { return std::ranges::max(load_); }

 private:
  static constexpr std::size_t kPorts = 256;

  void walk(Router at, Router from, Router to, const PathState& state, double amount) {
    CandidateSet next;
    routes_.paths().list(at, from, to, state, next);
    if (next.all.empty()) return;
    const bool own_first = routes_.spec().gateway == Spread::OwnFirst &&
                           std::ranges::any_of(next.all, &Candidate::own);
    const auto offered = [&](const Candidate& each) { return each.own || !own_first; };
    std::uint32_t gates = 0;
    for (const Candidate& each : next.all) {
      gates += offered(each) && (&each == next.all.begin() || (&each)[-1].gate != each.gate);
    }
    for (const Candidate *first = next.all.begin(), *last = first; first != next.all.end();
         first = last) {
      while (last != next.all.end() && last->gate == first->gate) ++last;
      if (!offered(*first)) continue;
      const double share = amount / gates;
      for (const Candidate* each = first; each != last; ++each) {
        load_[at * kPorts + each->port] += share / static_cast<double>(last - first);
      }
      // Parallel cables lead to the same place.
      walk(first->next, at, to, CandidatePaths::after(next, *first), share);
    }
  }

  const AdaptiveRoutes& routes_;
  std::vector<double> load_;  // by router and port
};

/// The routers that one sends to, each as much.
std::vector<Router> targets_of(const Shape& shape, Router source, RouterPattern pattern) {
  std::vector<Router> out;
  std::vector<std::uint32_t> place;
  switch (pattern) {
    case RouterPattern::NextDiagonal:
      for (std::size_t d = 0; d < shape.sides().size(); ++d) {
        place.push_back((shape.coordinate(source, d) + 1) % shape.sides()[d]);
      }
      return {shape.at(place)};
    case RouterPattern::NextRouter:
      return {(source + 1) % shape.routers()};
    default:
      break;
  }
  for (Router to = 0; to < shape.routers(); ++to) {
    const std::uint32_t ahead =
        (shape.group(to) + shape.groups() - shape.group(source)) % shape.groups();
    if (pattern == RouterPattern::Uniform || (pattern == RouterPattern::NextGroup && ahead == 1) ||
        (pattern == RouterPattern::BetweenGroups && ahead != 0)) {
      out.push_back(to);
    }
  }
  return out;
}

double hosts_per_router(const Shape& shape) {
  std::vector<std::uint32_t> count(shape.routers(), 0);
  for (HostNum host = 0; host < shape.hosts(); ++host) ++count[shape.router_of_host(host)];
  const auto [least, most] = std::ranges::minmax(count);
  SMD_CHECK(least == most && least > 0, "a limit is of routers with as many hosts each");
  return least;
}

}  // namespace

std::string_view pattern_name(RouterPattern pattern) {
  switch (pattern) {
    case RouterPattern::Uniform:
      return "uniform";
    case RouterPattern::BetweenGroups:
      return "uniform between groups";
    case RouterPattern::NextDiagonal:
      return "mdn";
    case RouterPattern::NextRouter:
      return "hrn";
    case RouterPattern::NextGroup:
      return "adv+1";
  }
  return "";
}

double count_limit(const AdaptiveRoutes& routes, RouterPattern pattern) {
  SMD_CHECK(routes.spec().rule == RuleKind::Minimal ||
                routes.spec().rule == RuleKind::MinimalAdaptive ||
                routes.spec().rule == RuleKind::Valiant,
            "a rule that weighs minimal ways against others has no shares of its own to count");
  const Shape& shape = routes.shape();
  const double hosts = hosts_per_router(shape);
  Count count(routes);
  for (Router source = 0; source < shape.routers(); ++source) {
    const std::vector<Router> targets = targets_of(shape, source, pattern);
    for (const Router to : targets) {
      count.send(source, to, hosts / static_cast<double>(targets.size()));
    }
  }
  return std::min(1.0, 1 / count.most());
}

std::optional<double> closed_limit(const AdaptiveRoutes& routes, RouterPattern pattern) {
  const Shape& shape = routes.shape();
  const double c = hosts_per_router(shape);
  const bool minimal =
      routes.spec().rule == RuleKind::Minimal || routes.spec().rule == RuleKind::MinimalAdaptive;
  if (shape.kind() == ShapeKind::Butterfly) {
    // In whatever order a packet takes its dimensions, it takes one cable in each that differs: the
    // cables of a dimension that it may take carry the same together, and these patterns look alike
    // from every router, so that none of them carries less than its share in order.
    double least_trunk = 1e9, least_product = 1e9;
    for (std::size_t d = 0; d < shape.sides().size(); ++d) {
      least_trunk = std::min<double>(least_trunk, shape.trunk(d));
      least_product = std::min<double>(least_product, shape.trunk(d) * shape.sides()[d]);
    }
    if (!minimal) {
      if (routes.spec().among != IntermediateSet::All) return std::nullopt;
      return std::min(1.0, least_product / c / 2);
    }
    if (pattern == RouterPattern::Uniform) return std::min(1.0, least_product / c);
    if (pattern == RouterPattern::NextDiagonal) return std::min(1.0, least_trunk / c);
    return std::nullopt;
  }
  const double a = shape.sides()[1], b = shape.groups(), t = shape.trunk(0);
  const double per_group = a * c;
  if (minimal) {
    switch (pattern) {
      case RouterPattern::Uniform:
        return std::min(1.0, t * b / per_group);
      case RouterPattern::BetweenGroups:
        return std::min(1.0, t * (b - 1) / per_group);
      case RouterPattern::NextGroup:
        return std::min(1.0, t / per_group);
      default:
        return std::nullopt;
    }
  }
  if (routes.spec().via == IntermediateKind::ByRouter &&
      routes.spec().among != IntermediateSet::All)
    return std::nullopt;
  switch (pattern) {
    case RouterPattern::Uniform:
      if (routes.spec().among != IntermediateSet::All) return std::nullopt;
      return std::min(1.0, t * b / per_group / 2);
    case RouterPattern::NextGroup: {
      const double places = b - static_cast<double>(routes.spec().among);
      return std::min(1.0, t * places / per_group / 2);
    }
    default:
      return std::nullopt;
  }
}

}  // namespace smd::sim
