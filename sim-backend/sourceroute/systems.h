// How the routes of a network are made, by name: the systems of Flich (2001), who sends every
// message on a route that is known before. Which ways are candidates, which are kept, and where a
// host takes the message in so that nothing can wait in a circle.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sim-backend/sourceroute/route_set.h"

namespace smd::sim {

enum class ItbHostRule : std::uint8_t { Random, ByInput, ByOutput, RoundRobin };

struct SystemOptions {
  std::uint32_t root = 0;  // switch: of breadth-first orders
  std::uint64_t seed = 1;
  std::size_t per_pair = 10;  // candidates at most
  std::size_t keep = 1;       // routes that a pair has at the end; systems that balance keep one
  ItbHostRule host = ItbHostRule::Random;
};

struct RouteSystem {
  std::string_view name;
  std::string_view meaning;
  Result<RouteSet> (*build)(const RouteNet&, const SystemOptions&);
};

/// UD, DFS, SMART_LIKE; UD_MITB, UD_ITB, DFS_ITB, BSMART_ITB, RANDOM_ITB; B33_ITB, B50_ITB,
/// B66_ITB, BMAX_ITB, BMIN_ITB; SHORTEST, which deadlocks.
[[nodiscard]] std::span<const RouteSystem> route_systems();

/// Null when there is none of that name.
[[nodiscard]] const RouteSystem* find_system(std::string_view name);

/// "UD, DFS, …".
[[nodiscard]] std::string list_systems();

}  // namespace smd::sim
