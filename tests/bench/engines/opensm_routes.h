// What one of OpenSM's engines computes for a fabric, and how long it takes: Debian's opensm on
// Debian's ibsim, with the route probe inside.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "smd/routing/tables.h"

namespace smd::bench {

struct OpensmRoutes {
  LidMap lids;           // OpenSM's
  RoutingTables tables;  // path_sls: what it would give the first host at each switch; else 0
};

struct OpensmAnswer {
  enum class Kind { Routed, Failed, OverLimit, Broken };

  Kind kind = Kind::Broken;
  double ms = 0;              // in its engine's two callbacks
  unsigned lanes_needed = 0;  // what it says in its log; 0 when it says nothing
  std::string why;            // when it did not route
  OpensmRoutes routes;        // when it did
};

/// `options` are further lines of its configuration. It is ended as soon as it has routed, `limit`
/// after it has seen the whole fabric at the latest.
[[nodiscard]] OpensmAnswer ask_opensm(const Fabric& fabric,
                                      const std::filesystem::path& net,
                                      const std::string& engine,
                                      const std::string& options,
                                      std::chrono::seconds limit);

}  // namespace smd::bench
