// The verdict on dumped tables: what `smd verify` measures and prints.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "smd/bin/verify_input.h"
#include "smd/multicast/mft_plan.h"
#include "smd/multicast/tree_quality.h"
#include "smd/routing/verify/channel_load.h"
#include "smd/routing/verify/check_routes.h"
#include "smd/routing/verify/load_bound.h"
#include "smd/routing/verify/patterns.h"
#include "smd/routing/verify/route_measures.h"
#include "smd/subnet/cycle_report.h"

namespace smd::bin {

struct NamedLoad {
  std::string pattern;  // "uniform", "shift-1", …
  PatternLoad load;
};

// Multicast tables that somebody dumped, judged with the unicast ones.

struct MulticastInput {
  MftGoals masks;
  /// By MLID; nothing where nobody says who is in the groups: then whoever is at a switch may send,
  /// and nobody is missed.
  std::optional<std::map<Lid, std::vector<TreeMember>>> members;
};

struct MulticastReport {
  std::size_t mlids = 0;
  std::size_t members = 0;
  // MLIDs, each counted once for each kind of fault.
  std::size_t loops = 0;       // packets go round
  std::size_t duplicates = 0;  // somebody gets two copies
  std::size_t missed = 0;      // a receiver gets none
  std::size_t strays = 0;      // copies to adapters that are not in the group
  std::vector<std::string> first_faults;
  std::optional<bool> acyclic;  // with unicast routes; nothing: routes change VLs on the way
  std::string cycle;
  std::optional<bool> lock_step;  // likewise, where copies move on all at once or not at all
  std::string lock_step_cycle;
  TreeQuality quality;  // sums over all trees
  LinkShares cables;
  std::string fullest;  // cable, in words

  [[nodiscard]] bool sound() const {
    return loops == 0 && duplicates == 0 && missed == 0 && acyclic != false;
  }
};

/// Switches and ports are matched by GUID. Members at ports that the fabric does not have are a
/// fault, as are entries for ports that a switch does not have.
[[nodiscard]] Parsed<MulticastInput> join_multicast(
    const VerifyInput& input,
    const std::vector<DumpedCopies>& copies,
    const std::string& file,
    const std::optional<std::vector<DumpedMember>>& members,
    const std::string& member_file);

/// Where one member of a group joined to send alone, nobody else is taken to send: what others send
/// may miss receivers, but neither goes round nor comes twice.
void silence_others(MulticastInput& multicast);

[[nodiscard]] MulticastReport verify_multicast(const VerifyInput& input,
                                               const MulticastInput& multicast);

[[nodiscard]] std::string print_multicast(const MulticastReport& report);

[[nodiscard]] nlohmann::ordered_json multicast_json(const MulticastReport& report);

// All that is said of the dumped tables.

struct VerifyReport {
  FabricCounts counts;
  std::string shape;  // in words
  RouteReport routes;
  std::string cycle;                   // as text
  std::uint64_t between_switches = 0;  // unreachable pairs of switches: no host's data is lost
  LoadReport load;
  LoadBound bound;
  PathSetReport path_sets;
  std::vector<NamedLoad> patterns;
  EffectiveBisection bisection;
  RouteMeasures measures;     // shifts; the rest stands in `patterns` and `bisection`
  unsigned permutations = 0;  // that the bisection is the mean of
  bool any_sl = false;
  std::vector<std::string> notes;
  std::optional<MulticastReport> multicast;

  /// No loops, no credit loops, and hosts reach every LID and are reached from everywhere; the same
  /// of groups, where their tables were given.
  [[nodiscard]] bool sound() const {
    return routes.loops == 0 && routes.acyclic && routes.unreachable == between_switches &&
           (!multicast || multicast->sound());
  }
};

/// Pure, and the same for the same input. Patterns take hosts in the order of the fabric file.
[[nodiscard]] VerifyReport verify_tables(const VerifyInput& input,
                                         bool any_sl,
                                         unsigned permutations);

[[nodiscard]] std::string print_verify(const VerifyReport& report);

[[nodiscard]] nlohmann::ordered_json verify_json(const VerifyReport& report);

}  // namespace smd::bin
