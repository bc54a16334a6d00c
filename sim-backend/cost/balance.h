// Whether flattened butterflies and dragonflies are in balance (Benito, 2014, equations 3.3, 3.5 to
// 3.7 and 4.3 to 4.5): no kind of cable is full long before the others are. And what they carry.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim-backend/adaptive/limits.h"

namespace smd::sim {

/// One equation with its two sides in figures.
struct BalanceEquation {
  std::string id;     // "3.5"
  std::string text;   // "t (K - 1) is the same in every dimension"
  std::string sides;  // "5 in dimension 0, 15 in dimension 1"
  bool holds = false;
  std::string cure;  // what would make it hold; nothing where it holds
};

/// Requires: every router has as many hosts. K sides, t trunks, c hosts of a router; a routers in
/// each of b groups, h cables of a router to other groups.
///
/// 3.4 as printed, t K (K - 1) / 2 alike in all dimensions, does not follow from 3.5 where sides
/// differ, and is not among them.
[[nodiscard]] std::vector<BalanceEquation> balance_equations(const Shape& shape);

/// Parallel cables in each dimension of a butterfly that make 3.5 and 3.6 hold, each the least;
/// nothing where none do.
[[nodiscard]] std::optional<std::vector<std::uint32_t>> balanced_trunks(
    const std::vector<std::uint32_t>& sides);

struct LoadLimit {
  RuleKind rule = RuleKind::Minimal;
  RouterPattern pattern = RouterPattern::Uniform;
  std::optional<double> counted;  // nothing where that would take too many ways
  std::optional<double> closed;   // nothing where there is no closed form
};

/// Of minimal and of Valiant's routes, under uniform traffic and under patterns that are worst for
/// minimal ones: mdn and hrn of a butterfly, adv+1 of a dragonfly. Requires: as above.
[[nodiscard]] std::vector<LoadLimit> load_limits(const FabricSpec& spec,
                                                 const ShapeKeys& keys = {});

/// The largest balanced networks that switches of a radix make.
struct LargestButterfly {
  std::uint64_t side = 0, hosts = 0;  // as many hosts per router as a side has routers
};

struct LargestDragonfly {
  std::uint64_t routers = 0, globals = 0, groups = 0, hosts = 0;  // of a group; of a router; all
};

[[nodiscard]] LargestButterfly largest_butterfly(unsigned radix, unsigned dimensions);
[[nodiscard]] LargestDragonfly largest_dragonfly(unsigned radix);

/// Of each router as many; nothing where they differ or there are none.
[[nodiscard]] std::optional<std::uint32_t> hosts_of_each(const Shape& shape);

}  // namespace smd::sim
