// Who sends to whom, by name. A pattern is a mixture of simple ones, each with its share of the
// messages; smd/routing/patterns.h has the simple ones, which routes are judged by too.
//
// Hosts are ports of adapters here. Those of one host with several adapters need no network between
// them: what a pattern would have them send each other is not sent.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "smd/base/result.h"
#include "smd/base/rng.h"
#include "smd/fabric/hosts.h"
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
  HostPorts ports;                           // which are of one host; empty: each is by itself
  bool among_rails = false;                  // each rail has the pattern to itself
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

/// The row's pattern among all hosts, or in every rail among its own: then numbers, switches' hosts
/// and neighbours are those of the rail, and every rail draws alike.
[[nodiscard]] Result<PatternMix> build_pattern(const PatternRow& row, const PatternInput& in);

/// Draws destinations from a mixture.
class Destinations {
 public:
  /// `host_of`: by number; equal ones send each other nothing. Empty: all differ.
  Destinations(PatternMix mix, bool includes_self, std::vector<std::uint32_t> host_of = {});

  /// TrafficPattern::kSilent when the host sends nothing this time.
  [[nodiscard]] HostNum draw(HostNum source, Rng& rng) const;

  /// Whether the host ever sends.
  [[nodiscard]] bool sends(HostNum source) const;

 private:
  static constexpr std::uint32_t kMany = 0xffffffff;

  [[nodiscard]] bool is_own(HostNum source, HostNum to) const {
    return to == source || (!host_of_.empty() && host_of_[to] == host_of_[source]);
  }

  /// Nobody of the set is of another host than the source.
  [[nodiscard]] bool is_alone(HostNum source, const PatternShare& share, std::uint32_t set) const;

  PatternMix mix_;  // weights summed up
  bool includes_self_;
  std::vector<std::uint32_t> host_of_;
  std::vector<std::vector<std::uint32_t>> only_host_;  // by share and set: whose all are, or kMany
};

}  // namespace smd::sim
