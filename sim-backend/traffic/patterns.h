// Who sends to whom, by name. A pattern is a mixture of simple ones, each with its share of the
// messages; smd/routing/patterns.h has the simple ones, which routes are judged by too.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "smd/base/result.h"
#include "smd/base/rng.h"
#include "smd/routing/verify/patterns.h"

namespace smd::sim {

/// What a pattern may ask for.
struct PatternInput {
  HostNum hosts = 0;
  std::vector<std::vector<HostNum>> groups;  // the hosts of each switch that has some
  std::vector<std::vector<HostNum>> near;    // by host: those at most `radius` switch hops away
  std::vector<std::uint32_t> dims;           // of the switches' grid, the last running fastest
  std::uint32_t switches_per_group = 0;      // adv+1: of a dragonfly's group
  double share = 0.2;                        // of messages that are special: hot-spot, local
  std::uint32_t targets = 1;                 // hot spots
  std::uint64_t seed = 1;                    // of random permutations and places
};

struct PatternShare {
  double weight = 1;
  TrafficPattern pattern;
};

using PatternMix = std::vector<PatternShare>;

struct PatternRow {
  std::string_view name;
  std::string_view meaning;
  Result<PatternMix> (*build)(const PatternInput&);
  bool includes_self = false;  // a host may draw itself
};

/// In the order of the listing.
[[nodiscard]] std::span<const PatternRow> traffic_patterns();

/// Null when there is none of that name.
[[nodiscard]] const PatternRow* find_pattern(std::string_view name);

/// Draws destinations from a mixture.
class Destinations {
 public:
  Destinations(PatternMix mix, bool includes_self);

  /// TrafficPattern::kSilent when the host sends nothing this time.
  [[nodiscard]] HostNum draw(HostNum source, Rng& rng) const;

  /// Whether the host ever sends.
  [[nodiscard]] bool sends(HostNum source) const;

 private:
  PatternMix mix_;  // weights summed up
  bool includes_self_;
};

}  // namespace smd::sim
