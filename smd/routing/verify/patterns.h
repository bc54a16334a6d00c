// Traffic patterns, and what given routes do to them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "smd/base/rng.h"
#include "smd/fabric/hosts.h"
#include "smd/routing/tables.h"

namespace smd {

// Who sends to whom: the patterns that show what routes are worth. Hosts are known by number, 0 to
// n - 1; find_hosts() says which they are in a fabric.

using HostNum = std::uint32_t;

/// Every host sends all it can, spread evenly over the hosts of one set.
struct TrafficPattern {
  static constexpr std::uint32_t kSilent = 0xffffffff;

  std::vector<std::uint32_t> target;       // by host: the set it sends to, or kSilent
  std::vector<std::vector<HostNum>> sets;  // each host at most once
};

/// Hosts linked to a switch, with a LID: in node order, then by port. Adapters that send no data
/// are none.
[[nodiscard]] std::vector<PortIdx> find_hosts(const Fabric& fabric, const LidMap& lids);

/// Everybody to everybody, oneself included, as a random destination would have it; so are other
/// adapters of the same host.
[[nodiscard]] TrafficPattern uniform_pattern(HostNum hosts);

/// Everybody to everybody of the same rail, oneself included: adapters of equal numbers, as
/// programs of machines with several adapters use them.
[[nodiscard]] TrafficPattern rail_pattern(const HostPorts& ports);

/// Host i to host to[i]; itself: silent. Requires: every entry is a host.
[[nodiscard]] TrafficPattern permutation_pattern(std::span<const HostNum> to);

/// i to i + by, modulo n.
[[nodiscard]] std::vector<HostNum> shift(HostNum hosts, HostNum by);

/// The bits of i backwards, where there are 2^b hosts; of other numbers the first 2^b take part.
[[nodiscard]] std::vector<HostNum> bit_reversal(HostNum hosts);

/// Row r, column c to row c, column r of the largest square of hosts; the rest is silent.
[[nodiscard]] std::vector<HostNum> transpose(HostNum hosts);

[[nodiscard]] std::vector<HostNum> random_permutation(HostNum hosts, Rng& rng);

/// Every host of group g to a random host of group next[g]. Requires: the groups do not overlap,
/// and next[g] is a group with hosts.
[[nodiscard]] TrafficPattern group_pattern(const std::vector<std::vector<HostNum>>& groups,
                                           std::span<const std::uint32_t> next,
                                           HostNum hosts);

/// The hosts of each switch that has some, in switch order.
[[nodiscard]] std::vector<std::vector<HostNum>> group_by_switch(const Fabric& fabric,
                                                                std::span<const PortIdx> hosts);

/// g to g + 1, modulo n. Over the switches of a flattened butterfly: "HRN"; over the groups of a
/// dragonfly: "adversarial +1".
[[nodiscard]] std::vector<std::uint32_t> next_group(std::uint32_t groups);

/// The group whose every coordinate is one more, modulo its dimension ("MDN"). Groups are numbered
/// as mixed-radix numbers, the last dimension running fastest.
[[nodiscard]] std::vector<std::uint32_t> next_diagonally(std::span<const std::uint32_t> dims);

// What routes give to a traffic pattern, counted exactly: no simulation. Routes to the base LIDs.

struct PatternLoad {
  std::uint64_t flows = 0;  // pairs of hosts that send, on different switches or not
  std::uint64_t lost = 0;   // of those: without a route

  // Per channel between switches, in what one host sends at full rate.
  double max = 0;
  double mean = 0;
  double stddev = 0;  // population

  double max_host = 0;    // what the busiest host is sent
  double throughput = 1;  // of its full rate that every host can send at once, at most 1
};

/// What most hosts send at; of several rates that as many have, the highest. A few that are slower,
/// old ones or with a bad cable, say nothing of the others.
struct FullRate {
  std::uint64_t mbps = 0;  // 0: of no host is it known
  std::size_t others = 0;  // hosts with another rate

  friend bool operator==(const FullRate&, const FullRate&) = default;
};

[[nodiscard]] FullRate find_full_rate(const Fabric& fabric, std::span<const PortIdx> hosts);

/// By channel between switches: what it carries, in what a host sends at full rate. 1 where a rate
/// is unknown.
[[nodiscard]] IndexVector<PortIdx, double> find_capacities(const Fabric& fabric,
                                                           std::span<const PortIdx> hosts);

/// Channels that are faster or slower than most hosts' links carry accordingly more or less; an
/// unknown rate is taken for the same, and every host sends at full rate. Requires: pattern is
/// about `hosts`.
[[nodiscard]] PatternLoad measure_pattern(const Fabric& fabric,
                                          const LidMap& lids,
                                          const ForwardingTables& tables,
                                          std::span<const PortIdx> hosts,
                                          const TrafficPattern& pattern);

struct EffectiveBisection {
  double mean = 1;   // share of its full rate that a flow gets; one without a route gets nothing
  double worst = 1;  // of the permutations: the mean of the worst one
  std::uint64_t lost = 0;
};

/// Over random permutations of the hosts: a flow gets one part in as many as there are flows on the
/// busiest channel of its path (Schneider, Hoefler and Lumsdaine, ORCS, 2009), of what that channel
/// carries.
[[nodiscard]] EffectiveBisection measure_effective_bisection(const Fabric& fabric,
                                                             const LidMap& lids,
                                                             const ForwardingTables& tables,
                                                             std::span<const PortIdx> hosts,
                                                             unsigned permutations,
                                                             std::uint64_t seed);

// What tables hold beyond the routes that are needed: entries for LIDs that nobody has, and LIDs of
// one port (LMC) that lead to it by the same path. No fault, but room that is not used.

struct PathSetReport {
  std::uint64_t unused_entries = 0;   // of LIDs without an owner
  std::uint64_t paths = 0;            // from switches with hosts to LIDs of ports with several
  std::uint64_t duplicate_paths = 0;  // of those: as the path to an earlier LID of the same port

  friend bool operator==(const PathSetReport&, const PathSetReport&) = default;
};

[[nodiscard]] PathSetReport measure_path_sets(const Fabric& fabric,
                                              const LidMap& lids,
                                              const ForwardingTables& tables);

}  // namespace smd
