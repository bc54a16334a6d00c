#include "sim-backend/cost/balance.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "smd/base/check.h"

namespace smd::sim {
namespace {

/// "5 in dimension 0, 15 in dimension 1".
std::string by_dimension(const std::vector<std::uint32_t>& values) {
  std::string out;
  for (std::size_t d = 0; d < values.size(); ++d) {
    out += fmt::format("{}{} in dimension {}", d > 0 ? ", " : "", values[d], d);
  }
  return out;
}

BalanceEquation equation(
    const char* id, const char* text, std::string sides, bool holds, std::string cure) {
  if (holds) cure.clear();
  return {id, text, std::move(sides), holds, std::move(cure)};
}

std::vector<BalanceEquation> of_butterfly(const Shape& shape, std::uint32_t hosts) {
  const std::vector<std::uint32_t>& sides = shape.sides();
  std::vector<std::uint32_t> trunks, carries, neighbours;
  for (std::size_t d = 0; d < sides.size(); ++d) {
    trunks.push_back(shape.trunk(d));
    carries.push_back(trunks[d] * sides[d]);
    neighbours.push_back(trunks[d] * (sides[d] - 1));
  }
  const auto least = std::ranges::min(carries);
  const auto [few, many] = std::ranges::minmax(neighbours);
  const auto balanced = balanced_trunks(sides);
  const std::string cure = balanced ? fmt::format("trunks of {}", fmt::join(*balanced, ", "))
                                    : "no trunks of whole cables do";
  std::vector<BalanceEquation> out;
  out.push_back(equation(
      "3.3",
      "c is at most t K in every dimension, for uniform traffic at full rate",
      fmt::format("c {}, t K {}", hosts, by_dimension(carries)),
      hosts <= least,
      fmt::format("{} hosts per router, or more cables where t K is less than {}", least, hosts)));
  out.push_back(equation("3.5",
                         "t (K - 1) is the same in every dimension",
                         by_dimension(neighbours),
                         few == many,
                         cure));
  out.push_back(equation("3.6",
                         "the least t is 1",
                         by_dimension(trunks),
                         std::ranges::min(trunks) == 1,
                         "fewer cables in every dimension carry as much for fewer hosts"));
  out.push_back(equation("3.7",
                         "c is t (K - 1) + 1",
                         fmt::format("c {}, t (K - 1) + 1 at least {}", hosts, few + 1),
                         few == many && hosts == few + 1,
                         fmt::format("{} hosts per router", many + 1)));
  return out;
}

std::vector<BalanceEquation> of_dragonfly(const Shape& shape, std::uint32_t hosts) {
  const std::uint32_t a = shape.sides()[1], b = shape.groups();
  const std::uint32_t t = shape.trunk(0), within = shape.trunk(1);
  std::vector<std::uint32_t> globals(shape.routers(), 0);
  std::uint64_t cables = 0;
  std::size_t widest = 0;
  for (std::uint32_t g = 0; g < b; ++g) {
    for (std::uint32_t other = 0; other < b; ++other) {
      if (g == other) continue;
      const auto gateways = shape.gateways(g, other);
      widest = std::max(widest, gateways.size());
      cables += gateways.size();
      for (const Gateway& gateway : gateways) ++globals[gateway.router];
    }
  }
  const auto [least, most] = std::ranges::minmax(globals);
  // As much of a group's cables as of the hosts below them: for each router, in whole ones.
  const double h = static_cast<double>(cables) / shape.routers();
  const double share = a > 1 ? h / (a - 1) / within : 1;
  std::vector<BalanceEquation> out;
  out.push_back(equation(
      "4.3",
      "a h = t (b - 1) = alpha t_local a (a - 1), alpha of 1/2 to 1",
      fmt::format("a h {:g}, t (b - 1) {}, alpha {:.3g}", a * h, t * (b - 1), share),
      widest == t && share >= 0.5 - 1e-9 && share <= 1 + 1e-9,
      widest != t   ? "as many cables between any two groups"
      : share < 0.5 ? fmt::format("{:g} cables to other groups on each router, as more "
                                  "groups or trunks",
                                  (a - 1) * within / 2.0)
                    : fmt::format("a trunk of {:.0f} within groups", std::ceil(h / (a - 1)))));
  out.push_back(
      equation("4.4",
               "h = t (b - 1) / a",
               least == most ? fmt::format("h {}", most) : fmt::format("h {} to {}", least, most),
               least == most,
               "a whole number of cables to other groups on each router"));
  // With a trunk of a it is a butterfly, and fewer ways have three cables.
  const double wanted = t == 1 ? 2 * h : h;
  out.push_back(equation(
      "4.5",
      t == 1 ? "t_local (a - 1) = 2 h" : "t_local (a - 1) of h to 2 h",
      fmt::format("t_local (a - 1) {}, 2 h {:g}", within * (a - 1), 2 * h),
      t == 1 ? within * (a - 1) == 2 * h : within * (a - 1) >= wanted && within * (a - 1) <= 2 * h,
      within * (a - 1) < wanted
          ? fmt::format("a trunk of {:.0f} within groups", std::ceil(wanted / std::max(1u, a - 1)))
          : "more groups, or wider trunks between them"));
  out.push_back(equation("c = h",
                         "as many hosts on a router as cables to other groups",
                         fmt::format("c {}, h {:g}", hosts, h),
                         hosts == h,
                         fmt::format("{:g} hosts per router", h)));
  return out;
}

}  // namespace

std::optional<std::uint32_t> hosts_of_each(const Shape& shape) {
  std::vector<std::uint32_t> count(shape.routers(), 0);
  for (HostNum host = 0; host < shape.hosts(); ++host) ++count[shape.router_of_host(host)];
  const auto [least, most] = std::ranges::minmax(count);
  return least == most && least > 0 ? std::optional(least) : std::nullopt;
}

std::vector<BalanceEquation> balance_equations(const Shape& shape) {
  const auto hosts = hosts_of_each(shape);
  SMD_CHECK(hosts, "balance is of routers with as many hosts each");
  return shape.kind() == ShapeKind::Butterfly ? of_butterfly(shape, *hosts)
                                              : of_dragonfly(shape, *hosts);
}

std::optional<std::vector<std::uint32_t>> balanced_trunks(const std::vector<std::uint32_t>& sides) {
  const std::uint32_t most = std::ranges::max(sides) - 1;
  std::vector<std::uint32_t> out;
  for (const std::uint32_t side : sides) {
    // The longest dimension has single cables, since the least trunk is to be 1.
    if (side < 2 || most % (side - 1) != 0) return std::nullopt;
    out.push_back(most / (side - 1));
  }
  return out;
}

std::vector<LoadLimit> load_limits(const FabricSpec& spec, const ShapeKeys& keys) {
  constexpr std::uint64_t kMostWays = 50'000'000;
  std::vector<LoadLimit> out;
  for (const RuleKind rule : {RuleKind::Minimal, RuleKind::Valiant}) {
    const AdaptiveRoutes routes(Shape::find(spec, keys).value(), {.rule = rule});
    const Shape& shape = routes.shape();
    const bool butterfly = shape.kind() == ShapeKind::Butterfly;
    std::vector patterns{RouterPattern::Uniform};
    if (butterfly) {
      patterns.push_back(RouterPattern::NextDiagonal);
      patterns.push_back(RouterPattern::NextRouter);
    } else {
      patterns.push_back(RouterPattern::NextGroup);
    }
    for (const RouterPattern pattern : patterns) {
      const std::uint64_t targets = pattern == RouterPattern::Uniform     ? shape.routers()
                                    : pattern == RouterPattern::NextGroup ? shape.sides()[1]
                                                                          : 1;
      const std::uint64_t ways =
          shape.routers() * targets * (rule == RuleKind::Valiant ? routes.paths().places() : 1);
      LoadLimit limit{.rule = rule, .pattern = pattern, .counted = {}, .closed = {}};
      limit.closed = closed_limit(routes, pattern);
      if (ways <= kMostWays) limit.counted = count_limit(routes, pattern);
      out.push_back(limit);
    }
  }
  return out;
}

LargestButterfly largest_butterfly(unsigned radix, unsigned dimensions) {
  // c + n (K - 1) ports with c = K.
  LargestButterfly out{.side = (radix + dimensions) / (dimensions + 1), .hosts = 1};
  for (unsigned d = 0; d <= dimensions; ++d) out.hosts *= out.side;
  return out;
}

LargestDragonfly largest_dragonfly(unsigned radix) {
  // c + (a - 1) + h ports with c = h and a - 1 = 2 h.
  LargestDragonfly out{.globals = radix / 4};
  out.routers = 2 * out.globals + 1;
  out.groups = out.routers * out.globals + 1;
  out.hosts = out.routers * out.globals * out.groups;
  return out;
}

}  // namespace smd::sim
