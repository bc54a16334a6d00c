// The verdict on dumped tables: what `smd verify` measures and prints.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "smd/bin/verify_input.h"
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

  /// No loops, no credit loops, and hosts reach every LID and are reached from everywhere.
  [[nodiscard]] bool sound() const {
    return routes.loops == 0 && routes.acyclic && routes.unreachable == between_switches;
  }
};

/// Pure, and the same for the same input. Patterns take hosts in the order of the fabric file.
[[nodiscard]] VerifyReport verify_tables(const VerifyInput& input,
                                         bool any_sl,
                                         unsigned permutations);

[[nodiscard]] std::string print_verify(const VerifyReport& report);

[[nodiscard]] nlohmann::ordered_json verify_json(const VerifyReport& report);

}  // namespace smd::bin
